#include "format/onnx/walk.h"

#include <string_view>
#include <type_traits>

#include "format/onnx/fields.h"

namespace anyshape::onnx {
namespace {

template <class T>
struct IsBox : std::false_type {};
template <class M>
struct IsBox<Box<M>> : std::true_type {};

template <class T>
concept Message = requires(T& message) {
  message.unknown;
};

template <class Visit>
struct TensorWalk {
  const Visit& visit;

  template <class T, class... Others>
  void operator()(uint32_t, const char* name, T& member, Others&...) {
    using Member = std::remove_const_t<T>;
    if constexpr (IsBox<Member>::value) {
      if (member) enter(name, *member);
    } else if constexpr (requires { member.begin(); }) {
      for (auto& element : member) enter(name, element);
    }
  }

  template <class T>
  void enter(std::string_view field, T& value) {
    if constexpr (Is<T, TensorProto>) {
      visit(value, field == "initializer" ? TensorRole::initializer : TensorRole::other);
    } else if constexpr (Message<T>) {
      visit_fields(*this, value);
    }
  }
};

}  // namespace

void for_each_tensor(ModelProto& model, const std::function<void(TensorProto&, TensorRole)>& visit) {
  TensorWalk<std::function<void(TensorProto&, TensorRole)>> walk{visit};
  visit_fields(walk, model);
}

void for_each_tensor(const ModelProto& model, const std::function<void(const TensorProto&, TensorRole)>& visit) {
  TensorWalk<std::function<void(const TensorProto&, TensorRole)>> walk{visit};
  visit_fields(walk, model);
}

bool equal(const ModelProto& a, const ModelProto& b) { return serialize(a).bytes() == serialize(b).bytes(); }

void for_each_graph(GraphProto& graph, const std::function<void(GraphProto&)>& visit) {
  visit(graph);
  for (NodeProto& node : graph.node)
    for (AttributeProto& attribute : node.attribute) {
      if (attribute.g) for_each_graph(*attribute.g, visit);
      for (GraphProto& body : attribute.graphs) for_each_graph(body, visit);
    }
}

void for_each_graph(const GraphProto& graph, const std::function<void(const GraphProto&)>& visit) {
  for_each_graph(const_cast<GraphProto&>(graph), [&](GraphProto& one) { visit(one); });
}

}  // namespace anyshape::onnx
