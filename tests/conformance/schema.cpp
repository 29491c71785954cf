// anyshape_onnx_schema: the fields of every message as format/onnx reads them: "MESSAGE NUMBER NAME TYPE ONEOF".
#include <iostream>
#include <string>

#include "format/onnx/fields.h"

namespace anyshape::onnx {
namespace {

template <class T>
struct TypeName;
template <class T>
std::string type_name() {
  return TypeName<T>::get();
}

#define ANYSHAPE_NAME(type, name)               \
  template <>                                   \
  struct TypeName<type> {                       \
    static std::string get() { return (name); } \
  }
ANYSHAPE_NAME(std::optional<int64_t>, "int64");
ANYSHAPE_NAME(std::optional<int32_t>, "int32");
ANYSHAPE_NAME(std::optional<float>, "float");
ANYSHAPE_NAME(std::string_view, "bytes");
ANYSHAPE_NAME(Bytes, "bytes");
ANYSHAPE_NAME(int64_t, "int64");
ANYSHAPE_NAME(float, "float");
ANYSHAPE_NAME(Packed<float>, "repeated packed float");
ANYSHAPE_NAME(Packed<double>, "repeated packed double");
ANYSHAPE_NAME(Packed<int32_t>, "repeated packed int32");
ANYSHAPE_NAME(Packed<int64_t>, "repeated packed int64");
ANYSHAPE_NAME(Packed<uint64_t>, "repeated packed uint64");
#undef ANYSHAPE_NAME

template <class T>
struct TypeName<Box<T>> {
  static std::string get() { return type_name<T>(); }
};
template <class T>
struct TypeName<std::vector<T>> {
  static std::string get() { return "repeated " + type_name<T>(); }
};
template <class T>
struct TypeName<Few<T>> : TypeName<std::vector<T>> {};

// clang-format off
#define ANYSHAPE_MESSAGES(X) \
  X(StringStringEntryProto) X(OperatorSetIdProto) X(TensorProto::Segment) X(TensorProto) \
  X(SparseTensorProto) X(TensorShapeProto::Dimension) X(TensorShapeProto) X(TypeProto::Tensor) \
  X(TypeProto::SparseTensor) X(TypeProto::Sequence) X(TypeProto::Optional) X(TypeProto::Map) \
  X(TypeProto::Opaque) X(TypeProto) X(ValueInfoProto) X(IntIntListEntryProto) \
  X(SimpleShardedDimProto) X(ShardedDimProto) X(ShardingSpecProto) X(NodeDeviceConfigurationProto) \
  X(NodeProto) X(TensorAnnotation) X(GraphProto) X(AttributeProto) X(FunctionProto) \
  X(TrainingInfoProto) X(DeviceConfigurationProto) X(ModelProto) X(SequenceProto) X(MapProto) \
  X(OptionalProto)
// clang-format on

#define ANYSHAPE_TYPE_NAME(type)                 \
  template <>                                    \
  struct TypeName<type> {                        \
    static std::string get() { return (#type); } \
  };
ANYSHAPE_MESSAGES(ANYSHAPE_TYPE_NAME)

struct Print {
  const char* message;

  template <class T, class... Others>
  void operator()(uint32_t number, const char* name, T&, Others&...) {
    std::cout << message << '\t' << number << '\t' << name << '\t' << type_name<T>() << '\t' << sizeof...(Others)
              << '\n';
  }
};

template <class M>
void print(const char* name) {
  M message;
  Print visitor{name};
  visit_fields(visitor, message);
}

}  // namespace
}  // namespace anyshape::onnx

int main() {
  using namespace anyshape::onnx;
#define ANYSHAPE_PRINT(type) print<type>(#type);
  ANYSHAPE_MESSAGES(ANYSHAPE_PRINT)
  return 0;
}
