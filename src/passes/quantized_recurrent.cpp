#include <algorithm>

#include "passes/draft.h"

// DynamicQuantizeLSTM computes with real numbers: with constant weights it is an LSTM.
namespace anyshape {
namespace {

// One entry for all, one per direction, or one per entry of the gates.
struct Parameters {
  const Tensor* values;
  int64_t directions, gates;

  bool fit() const {
    return values && (values->count() == 1 || values->count() == directions || values->count() == directions * gates);
  }
  int64_t index(int64_t direction, int64_t gate) const {
    if (values->count() == 1) return 0;
    return values->count() == directions ? direction : direction * gates + gate;
  }
};

// Quantised weights [directions, inputs, gates] as f32 [directions, gates, inputs]; an empty tensor: they are not
// known.
Result<Tensor> real_weights(const Draft& draft, const Node& node, size_t weights, size_t scale) {
  const Tensor* w = draft.constant(node.in[weights]);
  if (!w || w->rank() != 3 || (w->dtype() != DType::u8 && w->dtype() != DType::i8)) return Tensor();
  const int64_t directions = w->dims()[0], inputs = w->dims()[1], gates = w->dims()[2];
  const Parameters scales{draft.constant(node.in[scale]), directions, gates};
  const Parameters zeros{draft.constant(node.in[scale + 1]), directions, gates};
  if (!scales.fit() || !zeros.fit() || scales.values->dtype() != DType::f32) return Tensor();
  TRY(Tensor out, Tensor::allocate(DType::f32, {directions, gates, inputs}));
  float* to = out.as_mutable<float>().data();
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t g = 0; g < gates; ++g) {
      const auto factor = static_cast<double>(scales.values->at<float>(scales.index(d, g)));
      const int64_t zero = zeros.values->int_at(zeros.index(d, g));
      for (int64_t i = 0; i < inputs; ++i)
        *to++ = static_cast<float>(static_cast<double>(w->int_at((d * inputs + i) * gates + g) - zero) * factor);
    }
  return out;
}

constexpr std::string_view kAttributes[] = {"activation_alpha", "activation_beta", "activations", "clip",
                                            "direction",        "hidden_size",     "input_forget"};

Status dequantize(Draft& draft, Node& node) {
  if (node.in.size() < 12) return {};
  TRY(Tensor w, real_weights(draft, node, 1, 8));
  TRY(Tensor r, real_weights(draft, node, 2, 10));
  if (!w || !r) return {};
  Node lstm;
  lstm.name = draft.graph.label(node);
  set_op(lstm, "", "LSTM", 7);
  for (std::string_view name : kAttributes)
    if (const Attribute* attribute = node.attribute(name)) lstm.attributes.push_back(*attribute);
  lstm.in = {node.in[0], draft.add_constant(lstm.name + ".W", std::move(w)),
             draft.add_constant(lstm.name + ".R", std::move(r))};
  lstm.in.insert(lstm.in.end(), node.in.begin() + 3, node.in.begin() + 8);
  while (lstm.in.back() == kNoValue) lstm.in.pop_back();
  lstm.out = node.out;
  node = std::move(lstm);
  return {};
}

}  // namespace

Status dequantize_recurrent(Draft& draft) {
  if (!takes_op(draft.target, "", "LSTM", 7)) return {};
  for (Node& node : draft.graph.nodes)
    if (node.op && node.op->domain == "com.microsoft" && node.op->name == "DynamicQuantizeLSTM" &&
        !draft.is_demanding(node))
      TRY_OK(dequantize(draft, node));
  return {};
}

}  // namespace anyshape
