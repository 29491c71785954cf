#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/box.h"
#include "base/error.h"
#include "base/few.h"
#include "base/special_members.h"
#include "format/onnx/proto_codes.h"

// The messages of onnx.proto and onnx-data.proto (onnx 1.23, IR version 14) as plain structs, field by field, with the
// schema's own names.
//
// - Strings and bytes point into the buffer that was parsed (or into whatever the maker of the message keeps alive).
// - Presence is kept as in proto2: std::optional for numbers, Box for messages, and for string_view and Bytes
//   data() == nullptr means "absent", so "" set from a literal is present and empty.
// - Every message keeps the fields it does not know, undecoded, and writes them back.
namespace anyshape::onnx {

using Bytes = std::span<const std::byte>;
using UnknownFields = Few<Bytes>;

// A repeated number as it lies in the file: the concatenation of the chunks is the field's packed encoding
// (little-endian for float and double, varints for integers). decode() in tensor.h gives the numbers.
template <class T>
struct Packed {
  Few<Bytes> chunks;
  bool empty() const { return chunks.empty(); }
};

struct AttributeProto;
struct GraphProto;
struct TypeProto;
struct SequenceProto;
struct MapProto;
struct OptionalProto;

struct StringStringEntryProto {
  std::string_view key;
  std::string_view value;
  UnknownFields unknown;
};
using Metadata = Few<StringStringEntryProto>;

struct OperatorSetIdProto {
  std::string_view domain;
  std::optional<int64_t> version;
  UnknownFields unknown;
};

struct TensorProto {
  struct Segment {
    std::optional<int64_t> begin;
    std::optional<int64_t> end;
    UnknownFields unknown;
  };

  std::vector<int64_t> dims;
  std::optional<int32_t> data_type;
  Box<Segment> segment;
  Packed<float> float_data;
  Packed<int32_t> int32_data;
  Few<std::string_view> string_data;
  Packed<int64_t> int64_data;
  std::string_view name;
  std::string_view doc_string;
  Bytes raw_data;
  Few<StringStringEntryProto> external_data;
  std::optional<int32_t> data_location;
  Packed<double> double_data;
  Packed<uint64_t> uint64_data;
  Metadata metadata_props;
  UnknownFields unknown;

  ANYSHAPE_SPECIAL_MEMBERS(TensorProto);
};

struct SparseTensorProto {
  Box<TensorProto> values;
  Box<TensorProto> indices;
  std::vector<int64_t> dims;
  UnknownFields unknown;
};

struct TensorShapeProto {
  // At most one of dim_value and dim_param is present.
  struct Dimension {
    std::optional<int64_t> dim_value;
    std::string_view dim_param;
    std::string_view denotation;
    UnknownFields unknown;
  };

  std::vector<Dimension> dim;
  UnknownFields unknown;
};

// At most one of the six kinds of type is present.
struct TypeProto {
  struct Tensor {
    std::optional<int32_t> elem_type;
    Box<TensorShapeProto> shape;
    UnknownFields unknown;
  };
  struct SparseTensor {
    std::optional<int32_t> elem_type;
    Box<TensorShapeProto> shape;
    UnknownFields unknown;
  };
  struct Sequence {
    Box<TypeProto> elem_type;
    UnknownFields unknown;
  };
  struct Optional {
    Box<TypeProto> elem_type;
    UnknownFields unknown;
  };
  struct Map {
    std::optional<int32_t> key_type;
    Box<TypeProto> value_type;
    UnknownFields unknown;
  };
  struct Opaque {
    std::string_view domain;
    std::string_view name;
    UnknownFields unknown;
  };

  Box<Tensor> tensor_type;
  Box<Sequence> sequence_type;
  Box<Map> map_type;
  Box<Opaque> opaque_type;
  Box<SparseTensor> sparse_tensor_type;
  Box<Optional> optional_type;
  std::string_view denotation;
  UnknownFields unknown;

  ANYSHAPE_SPECIAL_MEMBERS(TypeProto);
};

struct ValueInfoProto {
  std::string_view name;
  Box<TypeProto> type;
  std::string_view doc_string;
  Metadata metadata_props;
  UnknownFields unknown;

  ANYSHAPE_SPECIAL_MEMBERS(ValueInfoProto);
};

struct IntIntListEntryProto {
  std::optional<int64_t> key;
  std::vector<int64_t> value;
  UnknownFields unknown;
};

// At most one of dim_value and dim_param is present.
struct SimpleShardedDimProto {
  std::optional<int64_t> dim_value;
  std::string_view dim_param;
  std::optional<int64_t> num_shards;
  UnknownFields unknown;
};

struct ShardedDimProto {
  std::optional<int64_t> axis;
  std::vector<SimpleShardedDimProto> simple_sharding;
  UnknownFields unknown;
};

struct ShardingSpecProto {
  std::string_view tensor_name;
  std::vector<int64_t> device;
  std::vector<IntIntListEntryProto> index_to_device_group_map;
  std::vector<ShardedDimProto> sharded_dim;
  UnknownFields unknown;
};

struct NodeDeviceConfigurationProto {
  std::string_view configuration_id;
  std::vector<ShardingSpecProto> sharding_spec;
  std::optional<int32_t> pipeline_stage;
  UnknownFields unknown;

  ANYSHAPE_SPECIAL_MEMBERS(NodeDeviceConfigurationProto);
};

struct NodeProto {
  std::vector<std::string_view> input;
  std::vector<std::string_view> output;
  std::string_view name;
  std::string_view op_type;
  std::vector<AttributeProto> attribute;
  std::string_view doc_string;
  std::string_view domain;
  std::string_view overload;
  Metadata metadata_props;
  Few<NodeDeviceConfigurationProto> device_configurations;
  UnknownFields unknown;

  ANYSHAPE_SPECIAL_MEMBERS(NodeProto);
};

struct TensorAnnotation {
  std::string_view tensor_name;
  std::vector<StringStringEntryProto> quant_parameter_tensor_names;
  UnknownFields unknown;
};

struct GraphProto {
  std::vector<NodeProto> node;
  std::string_view name;
  std::vector<TensorProto> initializer;
  std::string_view doc_string;
  std::vector<ValueInfoProto> input;
  std::vector<ValueInfoProto> output;
  std::vector<ValueInfoProto> value_info;
  std::vector<TensorAnnotation> quantization_annotation;
  std::vector<SparseTensorProto> sparse_initializer;
  Metadata metadata_props;
  UnknownFields unknown;

  ANYSHAPE_SPECIAL_MEMBERS(GraphProto);
};

struct AttributeProto {
  std::string_view name;
  std::optional<float> f;
  std::optional<int64_t> i;
  std::string_view s;
  Box<TensorProto> t;
  Box<GraphProto> g;
  Few<float> floats;
  std::vector<int64_t> ints;
  Few<std::string_view> strings;
  Few<TensorProto> tensors;
  Few<GraphProto> graphs;
  std::string_view doc_string;
  Box<TypeProto> tp;
  Few<TypeProto> type_protos;
  std::optional<int32_t> type;
  std::string_view ref_attr_name;
  Box<SparseTensorProto> sparse_tensor;
  Few<SparseTensorProto> sparse_tensors;
  UnknownFields unknown;

  ANYSHAPE_SPECIAL_MEMBERS(AttributeProto);
};

struct FunctionProto {
  std::string_view name;
  std::vector<std::string_view> input;
  std::vector<std::string_view> output;
  std::vector<std::string_view> attribute;
  std::vector<NodeProto> node;
  std::string_view doc_string;
  std::vector<OperatorSetIdProto> opset_import;
  std::string_view domain;
  std::vector<AttributeProto> attribute_proto;
  std::vector<ValueInfoProto> value_info;
  std::string_view overload;
  Metadata metadata_props;
  UnknownFields unknown;

  ANYSHAPE_SPECIAL_MEMBERS(FunctionProto);
};

struct TrainingInfoProto {
  Box<GraphProto> initialization;
  Box<GraphProto> algorithm;
  std::vector<StringStringEntryProto> initialization_binding;
  std::vector<StringStringEntryProto> update_binding;
  UnknownFields unknown;
};

struct DeviceConfigurationProto {
  std::string_view name;
  std::optional<int32_t> num_devices;
  std::vector<std::string_view> device;
  UnknownFields unknown;
};

struct ModelProto {
  std::optional<int64_t> ir_version;
  std::string_view producer_name;
  std::string_view producer_version;
  std::string_view domain;
  std::optional<int64_t> model_version;
  std::string_view doc_string;
  Box<GraphProto> graph;
  std::vector<OperatorSetIdProto> opset_import;
  Metadata metadata_props;
  std::vector<TrainingInfoProto> training_info;
  std::vector<FunctionProto> functions;
  std::vector<DeviceConfigurationProto> configuration;
  UnknownFields unknown;

  ANYSHAPE_SPECIAL_MEMBERS(ModelProto);
};

// Values of SequenceProto.elem_type and OptionalProto.elem_type.
enum class ElementKind : int32_t { undefined = 0, tensor = 1, sparse_tensor = 2, sequence = 3, map = 4, optional = 5 };

struct SequenceProto {
  std::string_view name;
  std::optional<int32_t> elem_type;
  std::vector<TensorProto> tensor_values;
  std::vector<SparseTensorProto> sparse_tensor_values;
  std::vector<SequenceProto> sequence_values;
  std::vector<MapProto> map_values;
  std::vector<OptionalProto> optional_values;
  UnknownFields unknown;
};

struct MapProto {
  std::string_view name;
  std::optional<int32_t> key_type;
  std::vector<int64_t> keys;
  std::vector<std::string_view> string_keys;
  Box<SequenceProto> values;
  UnknownFields unknown;
};

struct OptionalProto {
  std::string_view name;
  std::optional<int32_t> elem_type;
  Box<TensorProto> tensor_value;
  Box<SparseTensorProto> sparse_tensor_value;
  Box<SequenceProto> sequence_value;
  Box<MapProto> map_value;
  Box<OptionalProto> optional_value;
  UnknownFields unknown;
};

// Messages may nest this deep (a subgraph takes three levels: node, attribute, graph).
inline constexpr int kMaxDepth = 200;

// The result points into `bytes`. Codes: onnx.truncated, onnx.malformed, onnx.depth, onnx.memory; the place is the
// message in which reading stopped, `graph.node[12].attribute[1].t`.
Result<ModelProto> parse_model(Bytes bytes);
Result<TensorProto> parse_tensor(Bytes bytes);
Result<SequenceProto> parse_sequence(Bytes bytes);
Result<OptionalProto> parse_optional(Bytes bytes);
Result<MapProto> parse_map(Bytes bytes);

// An encoded message as a list of pieces: long strings and bytes stay where they are, the rest is owned here.
class Encoded {
 public:
  Encoded() = default;
  Encoded(Encoded&&) noexcept = default;
  Encoded& operator=(Encoded&&) noexcept = default;

  uint64_t size() const { return size_; }
  const std::vector<Bytes>& pieces() const { return pieces_; }
  // One contiguous copy.
  std::vector<std::byte> bytes() const;

 private:
  friend struct Encoder;
  std::vector<std::byte> owned_;
  std::vector<Bytes> pieces_;
  uint64_t size_ = 0;
};

Encoded serialize(const ModelProto& model);
Encoded serialize(const TensorProto& tensor);
Encoded serialize(const SequenceProto& sequence);
Encoded serialize(const OptionalProto& optional);
Encoded serialize(const MapProto& map);
uint64_t serialized_size(const ModelProto& model);

}  // namespace anyshape::onnx
