#include "ops/elementwise/program_of.h"

#include <algorithm>
#include <limits>

namespace anyshape::ops {
namespace {

// Writes a program one instruction at a time.
struct Writer {
  ElementwiseProgram p;

  // Constants come before results in the numbering, so all are made first.
  int constant(float value) {
    p.constants.push_back(value);
    return p.registers() - 1;
  }
  int emit(ElementOp op, int a, int b = 0, int c = 0) {
    p.code.push_back({op, a, b, c});
    return p.registers() - 1;
  }
};

struct Named {
  std::string_view type;
  ElementOp op;
  std::string_view attribute1 = "", attribute2 = "";
};

// Operators that are one operation on their inputs, then on attributes.
constexpr Named kPlain[] = {
    {"Abs", ElementOp::abs},
    {"Add", ElementOp::add},
    {"And", ElementOp::logical_and},
    {"Ceil", ElementOp::ceil},
    {"Celu", ElementOp::celu, "alpha"},
    {"Cos", ElementOp::cos},
    {"Div", ElementOp::div},
    {"Elu", ElementOp::elu, "alpha"},
    {"Equal", ElementOp::equal},
    {"Erf", ElementOp::erf},
    {"Exp", ElementOp::exp},
    {"Floor", ElementOp::floor},
    {"Greater", ElementOp::greater},
    {"GreaterOrEqual", ElementOp::greater_equal},
    {"HardSigmoid", ElementOp::hard_sigmoid, "alpha", "beta"},
    {"HardSwish", ElementOp::hard_swish},
    {"Identity", ElementOp::copy},
    {"IsNaN", ElementOp::is_nan},
    {"LeakyRelu", ElementOp::leaky_relu, "alpha"},
    {"Less", ElementOp::less},
    {"LessOrEqual", ElementOp::less_equal},
    {"Log", ElementOp::log},
    {"Mul", ElementOp::mul},
    {"Neg", ElementOp::neg},
    {"Not", ElementOp::logical_not},
    {"Or", ElementOp::logical_or},
    {"Pow", ElementOp::pow},
    {"PRelu", ElementOp::leaky_relu},
    {"Reciprocal", ElementOp::reciprocal},
    {"Relu", ElementOp::relu},
    {"Round", ElementOp::round},
    {"Sigmoid", ElementOp::sigmoid},
    {"Sign", ElementOp::sign},
    {"Sin", ElementOp::sin},
    {"Softplus", ElementOp::softplus},
    {"Sqrt", ElementOp::sqrt},
    {"Sub", ElementOp::sub},
    {"Tanh", ElementOp::tanh},
    {"Where", ElementOp::where},
    {"Xor", ElementOp::logical_xor},
};

void write_clip(const Call& call, Writer& w) {
  if (call.version() < 11) {
    const int low = w.constant(call.f("min")), high = w.constant(call.f("max"));
    w.emit(ElementOp::clip, 0, low, high);
  } else if (call.has(1) && call.has(2)) {
    w.emit(ElementOp::clip, 0, 1, 2);
  } else if (call.has(1) || call.has(2)) {
    // The limit first: where it is NaN the entry is lost, where the entry is NaN it stays.
    w.emit(call.has(1) ? ElementOp::max : ElementOp::min, 0, call.has(1) ? 1 : 2);
  } else {
    w.emit(ElementOp::copy, 0);
  }
}

void write_variadic(const Call& call, Writer& w) {
  const std::string_view type = call.type();
  const int n = static_cast<int>(call.inputs());
  const int by = type == "Mean" ? w.constant(static_cast<float>(n)) : 0;
  const ElementOp op = type == "Max" ? ElementOp::max : type == "Min" ? ElementOp::min : ElementOp::add;
  int sum = 0;
  for (int i = 1; i < n; ++i) sum = w.emit(op, sum, i);
  if (type == "Mean")
    w.emit(ElementOp::div, sum, by);
  else if (n == 1)
    w.emit(ElementOp::copy, 0);
}

void write_selu(const Call& call, Writer& w) {
  const int alpha = w.constant(call.f("alpha"));
  const int gamma = w.constant(call.f("gamma"));
  w.emit(ElementOp::mul, w.emit(ElementOp::elu, 0, alpha), gamma);
}

void write_thresholded(const Call& call, Writer& w) {
  const int alpha = w.constant(call.f("alpha")), zero = w.constant(0);
  w.emit(ElementOp::where, w.emit(ElementOp::greater, 0, alpha), 0, zero);
}

void write_swish(const Call& call, Writer& w) {
  if (const float alpha = call.f("alpha"); alpha == 1) {
    w.emit(ElementOp::silu, 0);
  } else {
    const int by = w.constant(alpha);
    w.emit(ElementOp::mul, 0, w.emit(ElementOp::sigmoid, w.emit(ElementOp::mul, 0, by)));
  }
}

void write_softsign(const Call&, Writer& w) {
  const int one = w.constant(1);
  w.emit(ElementOp::div, 0, w.emit(ElementOp::add, w.emit(ElementOp::abs, 0), one));
}

void write_mish(const Call&, Writer& w) {
  w.emit(ElementOp::mul, 0, w.emit(ElementOp::tanh, w.emit(ElementOp::softplus, 0)));
}

void write_gelu(const Call& call, Writer& w) {
  w.emit(call.s("approximate") == "tanh" ? ElementOp::gelu_tanh : ElementOp::gelu, 0);
}

struct Special {
  std::string_view type;
  void (*write)(const Call&, Writer&);
};
constexpr Special kSpecial[] = {
    {"Clip", write_clip},
    {"Gelu", write_gelu},
    {"Max", write_variadic},
    {"Mean", write_variadic},
    {"Min", write_variadic},
    {"Mish", write_mish},
    {"Selu", write_selu},
    {"Softsign", write_softsign},
    {"Sum", write_variadic},
    {"Swish", write_swish},
    {"ThresholdedRelu", write_thresholded},
};

bool write(const Call& call, Writer& w) {
  const std::string_view type = call.type();
  for (const Special& s : kSpecial)
    if (s.type == type) return s.write(call, w), true;
  const auto* found =
      std::find_if(std::begin(kPlain), std::end(kPlain), [&](const Named& n) { return n.type == type; });
  if (found == std::end(kPlain)) return false;
  const int n = info_of(found->op).operands;
  int operands[] = {0, n > 1 ? 1 : 0, n > 2 ? 2 : 0};
  int constants = 0;
  for (std::string_view attribute : {found->attribute1, found->attribute2})
    if (!attribute.empty()) operands[++constants] = w.constant(call.f(attribute));
  w.emit(found->op, operands[0], operands[1], operands[2]);
  return true;
}

}  // namespace

Result<ElementwiseProgram> program_of(const Call& call) {
  if (call.op()->domain == "anyshape" && call.op()->name == "Elementwise") {
    const auto* code = call.ints("code");
    const auto* constants = call.floats("constants");
    return decode_program(static_cast<int>(call.inputs()), code ? *code : std::vector<int64_t>(),
                          constants ? *constants : std::vector<float>());
  }
  Writer w;
  w.p.inputs = static_cast<int>(call.inputs());
  if (!call.op()->domain.empty() || !write(call, w))
    return unknown("elementwise", "{} is no elementwise program", call.type());
  return w.p;
}

}  // namespace anyshape::ops
