#pragma once

#include <concepts>
#include <type_traits>

#include "format/onnx/proto.h"

// The schema, stated once: visit_fields(v, m) calls v(number, name, member, others...) for every field of a message in
// the order of the numbers. `others` are the members of the same oneof. Reader, writer and comparison are visitors.
namespace anyshape::onnx {

template <class M, class T>
concept Is = std::same_as<std::remove_const_t<M>, T>;

template <class V, Is<StringStringEntryProto> M>
void visit_fields(V& v, M& m) {
  v(1, "key", m.key);
  v(2, "value", m.value);
}

template <class V, Is<OperatorSetIdProto> M>
void visit_fields(V& v, M& m) {
  v(1, "domain", m.domain);
  v(2, "version", m.version);
}

template <class V, Is<TensorProto::Segment> M>
void visit_fields(V& v, M& m) {
  v(1, "begin", m.begin);
  v(2, "end", m.end);
}

template <class V, Is<TensorProto> M>
void visit_fields(V& v, M& m) {
  v(1, "dims", m.dims);
  v(2, "data_type", m.data_type);
  v(3, "segment", m.segment);
  v(4, "float_data", m.float_data);
  v(5, "int32_data", m.int32_data);
  v(6, "string_data", m.string_data);
  v(7, "int64_data", m.int64_data);
  v(8, "name", m.name);
  v(9, "raw_data", m.raw_data);
  v(10, "double_data", m.double_data);
  v(11, "uint64_data", m.uint64_data);
  v(12, "doc_string", m.doc_string);
  v(13, "external_data", m.external_data);
  v(14, "data_location", m.data_location);
  v(16, "metadata_props", m.metadata_props);
}

template <class V, Is<SparseTensorProto> M>
void visit_fields(V& v, M& m) {
  v(1, "values", m.values);
  v(2, "indices", m.indices);
  v(3, "dims", m.dims);
}

template <class V, Is<TensorShapeProto::Dimension> M>
void visit_fields(V& v, M& m) {
  v(1, "dim_value", m.dim_value, m.dim_param);
  v(2, "dim_param", m.dim_param, m.dim_value);
  v(3, "denotation", m.denotation);
}

template <class V, Is<TensorShapeProto> M>
void visit_fields(V& v, M& m) {
  v(1, "dim", m.dim);
}

template <class V, class M>
requires(Is<M, TypeProto::Tensor> || Is<M, TypeProto::SparseTensor>) void visit_fields(V& v, M& m) {
  v(1, "elem_type", m.elem_type);
  v(2, "shape", m.shape);
}

template <class V, class M>
requires(Is<M, TypeProto::Sequence> || Is<M, TypeProto::Optional>) void visit_fields(V& v, M& m) {
  v(1, "elem_type", m.elem_type);
}

template <class V, Is<TypeProto::Map> M>
void visit_fields(V& v, M& m) {
  v(1, "key_type", m.key_type);
  v(2, "value_type", m.value_type);
}

template <class V, Is<TypeProto::Opaque> M>
void visit_fields(V& v, M& m) {
  v(1, "domain", m.domain);
  v(2, "name", m.name);
}

template <class V, Is<TypeProto> M>
void visit_fields(V& v, M& m) {
  auto& [tensor, sequence, map, opaque, sparse, optional, denotation, unknown] = m;
  static_cast<void>(unknown);
  v(1, "tensor_type", tensor, sequence, map, opaque, sparse, optional);
  v(4, "sequence_type", sequence, tensor, map, opaque, sparse, optional);
  v(5, "map_type", map, tensor, sequence, opaque, sparse, optional);
  v(6, "denotation", denotation);
  v(7, "opaque_type", opaque, tensor, sequence, map, sparse, optional);
  v(8, "sparse_tensor_type", sparse, tensor, sequence, map, opaque, optional);
  v(9, "optional_type", optional, tensor, sequence, map, opaque, sparse);
}

template <class V, Is<ValueInfoProto> M>
void visit_fields(V& v, M& m) {
  v(1, "name", m.name);
  v(2, "type", m.type);
  v(3, "doc_string", m.doc_string);
  v(4, "metadata_props", m.metadata_props);
}

template <class V, Is<IntIntListEntryProto> M>
void visit_fields(V& v, M& m) {
  v(1, "key", m.key);
  v(2, "value", m.value);
}

template <class V, Is<SimpleShardedDimProto> M>
void visit_fields(V& v, M& m) {
  v(1, "dim_value", m.dim_value, m.dim_param);
  v(2, "dim_param", m.dim_param, m.dim_value);
  v(3, "num_shards", m.num_shards);
}

template <class V, Is<ShardedDimProto> M>
void visit_fields(V& v, M& m) {
  v(1, "axis", m.axis);
  v(2, "simple_sharding", m.simple_sharding);
}

template <class V, Is<ShardingSpecProto> M>
void visit_fields(V& v, M& m) {
  v(1, "tensor_name", m.tensor_name);
  v(2, "device", m.device);
  v(3, "index_to_device_group_map", m.index_to_device_group_map);
  v(4, "sharded_dim", m.sharded_dim);
}

template <class V, Is<NodeDeviceConfigurationProto> M>
void visit_fields(V& v, M& m) {
  v(1, "configuration_id", m.configuration_id);
  v(2, "sharding_spec", m.sharding_spec);
  v(3, "pipeline_stage", m.pipeline_stage);
}

template <class V, Is<NodeProto> M>
void visit_fields(V& v, M& m) {
  v(1, "input", m.input);
  v(2, "output", m.output);
  v(3, "name", m.name);
  v(4, "op_type", m.op_type);
  v(5, "attribute", m.attribute);
  v(6, "doc_string", m.doc_string);
  v(7, "domain", m.domain);
  v(8, "overload", m.overload);
  v(9, "metadata_props", m.metadata_props);
  v(10, "device_configurations", m.device_configurations);
}

template <class V, Is<TensorAnnotation> M>
void visit_fields(V& v, M& m) {
  v(1, "tensor_name", m.tensor_name);
  v(2, "quant_parameter_tensor_names", m.quant_parameter_tensor_names);
}

template <class V, Is<GraphProto> M>
void visit_fields(V& v, M& m) {
  v(1, "node", m.node);
  v(2, "name", m.name);
  v(5, "initializer", m.initializer);
  v(10, "doc_string", m.doc_string);
  v(11, "input", m.input);
  v(12, "output", m.output);
  v(13, "value_info", m.value_info);
  v(14, "quantization_annotation", m.quantization_annotation);
  v(15, "sparse_initializer", m.sparse_initializer);
  v(16, "metadata_props", m.metadata_props);
}

template <class V, Is<AttributeProto> M>
void visit_fields(V& v, M& m) {
  v(1, "name", m.name);
  v(2, "f", m.f);
  v(3, "i", m.i);
  v(4, "s", m.s);
  v(5, "t", m.t);
  v(6, "g", m.g);
  v(7, "floats", m.floats);
  v(8, "ints", m.ints);
  v(9, "strings", m.strings);
  v(10, "tensors", m.tensors);
  v(11, "graphs", m.graphs);
  v(13, "doc_string", m.doc_string);
  v(14, "tp", m.tp);
  v(15, "type_protos", m.type_protos);
  v(20, "type", m.type);
  v(21, "ref_attr_name", m.ref_attr_name);
  v(22, "sparse_tensor", m.sparse_tensor);
  v(23, "sparse_tensors", m.sparse_tensors);
}

template <class V, Is<FunctionProto> M>
void visit_fields(V& v, M& m) {
  v(1, "name", m.name);
  v(4, "input", m.input);
  v(5, "output", m.output);
  v(6, "attribute", m.attribute);
  v(7, "node", m.node);
  v(8, "doc_string", m.doc_string);
  v(9, "opset_import", m.opset_import);
  v(10, "domain", m.domain);
  v(11, "attribute_proto", m.attribute_proto);
  v(12, "value_info", m.value_info);
  v(13, "overload", m.overload);
  v(14, "metadata_props", m.metadata_props);
}

template <class V, Is<TrainingInfoProto> M>
void visit_fields(V& v, M& m) {
  v(1, "initialization", m.initialization);
  v(2, "algorithm", m.algorithm);
  v(3, "initialization_binding", m.initialization_binding);
  v(4, "update_binding", m.update_binding);
}

template <class V, Is<DeviceConfigurationProto> M>
void visit_fields(V& v, M& m) {
  v(1, "name", m.name);
  v(2, "num_devices", m.num_devices);
  v(3, "device", m.device);
}

template <class V, Is<ModelProto> M>
void visit_fields(V& v, M& m) {
  v(1, "ir_version", m.ir_version);
  v(2, "producer_name", m.producer_name);
  v(3, "producer_version", m.producer_version);
  v(4, "domain", m.domain);
  v(5, "model_version", m.model_version);
  v(6, "doc_string", m.doc_string);
  v(7, "graph", m.graph);
  v(8, "opset_import", m.opset_import);
  v(14, "metadata_props", m.metadata_props);
  v(20, "training_info", m.training_info);
  v(25, "functions", m.functions);
  v(26, "configuration", m.configuration);
}

template <class V, Is<SequenceProto> M>
void visit_fields(V& v, M& m) {
  v(1, "name", m.name);
  v(2, "elem_type", m.elem_type);
  v(3, "tensor_values", m.tensor_values);
  v(4, "sparse_tensor_values", m.sparse_tensor_values);
  v(5, "sequence_values", m.sequence_values);
  v(6, "map_values", m.map_values);
  v(7, "optional_values", m.optional_values);
}

template <class V, Is<MapProto> M>
void visit_fields(V& v, M& m) {
  v(1, "name", m.name);
  v(2, "key_type", m.key_type);
  v(3, "keys", m.keys);
  v(4, "string_keys", m.string_keys);
  v(5, "values", m.values);
}

template <class V, Is<OptionalProto> M>
void visit_fields(V& v, M& m) {
  v(1, "name", m.name);
  v(2, "elem_type", m.elem_type);
  v(3, "tensor_value", m.tensor_value);
  v(4, "sparse_tensor_value", m.sparse_tensor_value);
  v(5, "sequence_value", m.sequence_value);
  v(6, "map_value", m.map_value);
  v(7, "optional_value", m.optional_value);
}

}  // namespace anyshape::onnx
