#include "format/onnx/import_tensor.h"

#include "format/onnx/tensor.h"
#include "tensor/bools.h"

namespace anyshape::onnx {
namespace {

constexpr int kMaxTypeDepth = 32;

Result<DType> element_type(std::optional<int32_t> code) {
  if (!code || *code == 0) return DType::undefined;
  const auto dtype = dtype_from_onnx(*code);
  if (!dtype) return refuse("tensor.dtype", "{} is no element type of ONNX", *code);
  return *dtype;
}

std::optional<std::vector<DeclaredDim>> declared_dims(const Box<TensorShapeProto>& shape) {
  if (!shape) return std::nullopt;
  std::vector<DeclaredDim> dims;
  for (const auto& d : shape->dim) dims.push_back({d.dim_value, std::string(d.dim_param)});
  return dims;
}

Result<Declared> import_type_at(const TypeProto& proto, int depth);

Result<Declared> with_item(Fact::Kind kind, const Box<TypeProto>& item, int depth) {
  Declared declared{kind, DType::undefined, {}, {}};
  if (item) {
    TRY(Declared inner, import_type_at(*item, depth + 1));
    declared.item = std::make_shared<const Declared>(std::move(inner));
  }
  return declared;
}

template <class T>
Result<Declared> tensor_type(Fact::Kind kind, const T& type) {
  TRY(const DType dtype, element_type(type.elem_type));
  return Declared{kind, dtype, declared_dims(type.shape), {}};
}

Result<Declared> import_type_at(const TypeProto& proto, int depth) {
  if (depth > kMaxTypeDepth) return refuse("type.depth", "types are nested more than {} deep", kMaxTypeDepth);
  if (proto.tensor_type) return tensor_type(Fact::Kind::tensor, *proto.tensor_type);
  if (proto.sparse_tensor_type) return tensor_type(Fact::Kind::sparse_tensor, *proto.sparse_tensor_type);
  if (proto.sequence_type) return with_item(Fact::Kind::sequence, proto.sequence_type->elem_type, depth);
  if (proto.optional_type) return with_item(Fact::Kind::optional, proto.optional_type->elem_type, depth);
  if (proto.map_type) {
    TRY(Declared declared, with_item(Fact::Kind::map, proto.map_type->value_type, depth));
    TRY(declared.dtype, element_type(proto.map_type->key_type));
    return declared;
  }
  return Declared{};
}

}  // namespace

Result<Tensor> import_tensor(const TensorProto& proto, const Source& source) {
  TRY(TensorBytes bytes, tensor_bytes(proto, source.external));
  const auto dtype = dtype_from_onnx(static_cast<int64_t>(bytes.dtype));
  if (!dtype) return refuse("tensor.dtype", "{} is no element type of ONNX", static_cast<int64_t>(bytes.dtype));
  if (*dtype == DType::string)
    return Tensor::of_strings(std::move(bytes.dims), {bytes.strings.begin(), bytes.strings.end()});
  return clean_bools(
      Tensor::borrow(*dtype, std::move(bytes.dims), bytes.bytes, bytes.owner ? bytes.owner : source.owner));
}

Result<SparseTensor> import_sparse(const SparseTensorProto& proto, const Source& source) {
  if (!proto.values || !proto.indices) return refuse("tensor.sparse", "a sparse tensor needs values and indices");
  SparseTensor sparse;
  TRY(sparse.values, import_tensor(*proto.values, source));
  TRY(sparse.indices, import_tensor(*proto.indices, source));
  if (!anyshape::element_count(proto.dims))
    return refuse("tensor.dims", "the dims of a sparse tensor do not describe a tensor");
  sparse.dims = proto.dims;
  return sparse;
}

Result<Declared> import_type(const TypeProto& proto) { return import_type_at(proto, 0); }

Fact fact_of(const Declared& declared) {
  Fact fact;
  fact.kind = declared.kind;
  fact.dtype = declared.dtype;
  if (declared.dims) {
    fact.dims.emplace();
    for (const auto& d : *declared.dims)
      fact.dims->push_back(d.value && *d.value >= 0 ? Dim(*d.value) : Dim::unknown());
  }
  if (declared.item) fact.item = std::make_shared<const Fact>(fact_of(*declared.item));
  return fact;
}

AttributeType type_of(const AttributeProto& proto) {
  if (proto.type && *proto.type != 0) return static_cast<AttributeType>(*proto.type);
  if (proto.f) return AttributeType::float_;
  if (proto.i) return AttributeType::int_;
  if (proto.s.data()) return AttributeType::string;
  if (proto.t) return AttributeType::tensor;
  if (proto.g) return AttributeType::graph;
  if (!proto.floats.empty()) return AttributeType::floats;
  if (!proto.ints.empty()) return AttributeType::ints;
  if (!proto.strings.empty()) return AttributeType::strings;
  if (!proto.tensors.empty()) return AttributeType::tensors;
  if (!proto.graphs.empty()) return AttributeType::graphs;
  if (proto.sparse_tensor) return AttributeType::sparse_tensor;
  if (proto.tp) return AttributeType::type_proto;
  return AttributeType::undefined;
}

}  // namespace anyshape::onnx
