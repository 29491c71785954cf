#include <cmath>
#include <numbers>

#include "lower/aten/distance.h"

namespace anyshape::lower {
namespace {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

Ref reduced(Lowering& l, const Args& a, Ref loss) {
  const int64_t how = a.i("reduction", kMean);
  if (how == kNone || l->rank(loss) == 0) return loss;
  return l.reduce(how == kMean ? "ReduceMean" : "ReduceSum", loss, {}, false);
}

struct Values {
  Ref x, y;
};

Values values_of(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "target");
  return {x, y};
}

Ref constant(Lowering& l, double value, Ref like) { return l->number(value, l->dtype(like)); }
Ref above_zero(Lowering& l, Ref x) { return l.op("Relu", {x}); }
Ref one_less(Lowering& l, Ref x) { return l.op("Sub", {constant(l, 1, x), x}); }

Arg l1(Lowering& l, const Args& a) {
  const Values v = values_of(l, a);
  return reduced(l, a, l.op("Abs", {l.op("Sub", {v.x, v.y})}));
}

Arg mse(Lowering& l, const Args& a) {
  const Values v = values_of(l, a);
  const Ref apart = l.op("Sub", {v.x, v.y});
  return reduced(l, a, l.op("Mul", {apart, apart}));
}

Arg smooth_l1(Lowering& l, const Args& a) {
  const double beta = a.f("beta", 1);
  if (beta == 0) return l1(l, a);
  const Values v = values_of(l, a);
  const Ref apart = l.op("Abs", {l.op("Sub", {v.x, v.y})});
  const Ref near = times(l, l.op("Mul", {apart, apart}), 0.5 / beta);
  const Ref far = l.op("Sub", {apart, constant(l, 0.5 * beta, apart)});
  return reduced(l, a, l.op("Where", {l.op("Less", {apart, constant(l, beta, apart)}), near, far}));
}

Arg huber(Lowering& l, const Args& a) {
  const double delta = a.f("delta", 1);
  const Values v = values_of(l, a);
  const Ref apart = l.op("Abs", {l.op("Sub", {v.x, v.y})});
  const Ref near = times(l, l.op("Mul", {apart, apart}), 0.5);
  const Ref far = times(l, l.op("Sub", {apart, constant(l, 0.5 * delta, apart)}), delta);
  return reduced(l, a, l.op("Where", {l.op("Greater", {apart, constant(l, delta, apart)}), far, near}));
}

Arg bce(Lowering& l, const Args& a) {
  const Values v = values_of(l, a);
  const Ref lowest = constant(l, -100, v.x);
  const auto log_of = [&](Ref x) { return l.op("Max", {l.op("Log", {x}), lowest}); };
  Ref loss =
      l.op("Neg",
           {l.op("Add", {l.op("Mul", {v.y, log_of(v.x)}), l.op("Mul", {one_less(l, v.y), log_of(one_less(l, v.x))})})});
  if (const Ref weight = a.tensor("weight")) loss = l.op("Mul", {loss, weight});
  return reduced(l, a, loss);
}

Arg bce_with_logits(Lowering& l, const Args& a) {
  const Values v = values_of(l, a);
  Ref negative = l.op("Softplus", {l.op("Neg", {v.x})});
  if (const Ref positive = a.tensor("pos_weight")) {
    const Ref more = l.op("Sub", {positive, constant(l, 1, positive)});
    negative = l.op("Mul", {negative, l.op("Add", {l.op("Mul", {more, v.y}), constant(l, 1, v.x)})});
  }
  Ref loss = l.op("Add", {l.op("Mul", {one_less(l, v.y), v.x}), negative});
  if (const Ref weight = a.tensor("weight")) loss = l.op("Mul", {loss, weight});
  return reduced(l, a, loss);
}

Arg kl_div(Lowering& l, const Args& a) {
  const Values v = values_of(l, a);
  if (a.flag("log_target")) return reduced(l, a, l.op("Mul", {l.op("Exp", {v.y}), l.op("Sub", {v.y, v.x})}));
  const Ref none = constant(l, 0, v.y);
  const Ref entropy = l.op("Where", {l.op("Equal", {v.y, none}), none, l.op("Mul", {v.y, l.op("Log", {v.y})})});
  return reduced(l, a, l.op("Sub", {entropy, l.op("Mul", {v.y, v.x})}));
}

// What the classes weigh and which entries count, shaped like the target.
struct Chosen {
  Ref safe;     // the target, 0 where it is ignored
  Ref ignored;  // bool
  Ref weight;   // of the target's class, 0 where ignored
  Ref row;      // the weights of all classes along `axis`; absent: 1
  int64_t axis = 1;
};

Chosen chosen_of(Lowering& l, const Args& a, Ref x, Ref target) {
  Chosen c;
  c.axis = l->rank(x) == 1 ? 0 : 1;
  const Ref none = l->integer(0, l->dtype(target));
  c.ignored = l.op("Equal", {target, l->integer(a.i("ignore_index", -100), l->dtype(target))});
  c.safe = l.op("Where", {c.ignored, none, target});
  const Ref weight = a.tensor("weight");
  const Ref full = weight ? l->gather(weight, c.safe, 0) : constant(l, 1, x);
  c.weight = l.op("Where", {c.ignored, constant(l, 0, x), full});
  if (weight) c.row = with_trailing_ones(l, weight, l->rank(x) < 2 ? 0 : l->rank(x) - 2);
  return c;
}

Ref picked(Lowering& l, Ref x, const Chosen& c) {
  const Ref at = l->unsqueeze(c.safe, {c.axis});
  return l->squeeze(l.op("GatherElements", {x, at}, {attr("axis", c.axis)}), {c.axis});
}

// The mean is one over what the targets weigh.
Ref weighed(Lowering& l, const Args& a, Ref loss, const Chosen& c) {
  const int64_t how = a.i("reduction", kMean);
  if (how == kNone) return loss;
  const Ref sum = l->rank(loss) == 0 ? loss : l.reduce("ReduceSum", loss, {}, false);
  if (how == kSum) return sum;
  const Ref total = l->rank(c.weight) == 0 ? c.weight : l.reduce("ReduceSum", c.weight, {}, false);
  return l.op("Div", {sum, total});
}

struct Likelihood {
  Ref loss, total;
};

Likelihood nll_of(Lowering& l, const Args& a) {
  const Ref x = a.self(), target = a.tensor("target");
  if (!l.need_rank(x, 1, 8)) return {};
  const Chosen c = chosen_of(l, a, x, target);
  const Ref raw = l.op("Neg", {l.op("Mul", {picked(l, x, c), c.weight})});
  const Ref loss = l.op("Where", {c.ignored, constant(l, 0, x), raw});
  const Ref total = l->rank(c.weight) == 0 ? c.weight : l.reduce("ReduceSum", c.weight, {}, false);
  return {weighed(l, a, loss, c), total};
}

Arg nll(Lowering& l, const Args& a) { return nll_of(l, a).loss; }

Arg nll_forward(Lowering& l, const Args& a) {
  const Likelihood both = nll_of(l, a);
  return Arguments{both.loss, both.total};
}

// Targets that are probabilities of the classes.
Arg soft_cross_entropy(Lowering& l, const Args& a, Ref scores, Ref target, double smoothing) {
  const int64_t axis = l->rank(scores) == 1 ? 0 : 1;
  const Dim classes = l->dim(scores, static_cast<size_t>(axis));
  const DType dtype = l->dtype(scores);
  target = l->cast(target, dtype);
  if (smoothing > 0) {
    const Ref share = l.op("Div", {l->number(smoothing, dtype), l->cast(l->scalar(classes), dtype)});
    target = l.op("Add", {times(l, target, 1 - smoothing), share});
  }
  Ref parts = l.op("Mul", {scores, target});
  if (const Ref weight = a.tensor("weight"))
    parts = l.op("Mul", {parts, with_trailing_ones(l, weight, l->rank(scores) < 2 ? 0 : l->rank(scores) - 2)});
  return reduced(l, a, l.op("Neg", {l.reduce("ReduceSum", parts, {axis}, false)}));
}

Arg cross_entropy(Lowering& l, const Args& a) {
  const Ref x = a.self(), target = a.tensor("target");
  if (!l.need_rank(x, 1, 8)) return {};
  const double smoothing = a.f("label_smoothing");
  const int64_t axis = l->rank(x) == 1 ? 0 : 1;
  const Ref scores = l.softmax(x, axis, true);
  if (is_float(l->dtype(target))) return soft_cross_entropy(l, a, scores, target, smoothing);
  const Chosen c = chosen_of(l, a, x, target);
  const Ref none = constant(l, 0, x);
  const auto unless_ignored = [&](Ref loss) { return l.op("Where", {c.ignored, none, loss}); };
  const Ref plain = unless_ignored(l.op("Neg", {l.op("Mul", {picked(l, scores, c), c.weight})}));
  if (smoothing == 0) return weighed(l, a, plain, c);
  const Ref rows = c.row ? l.op("Mul", {scores, c.row}) : scores;
  const Ref even = unless_ignored(l.op("Neg", {l.reduce("ReduceSum", rows, {axis}, false)}));
  const DType dtype = l->dtype(x);
  const Ref share =
      l.op("Div", {l->number(smoothing, dtype), l->cast(l->scalar(l->dim(x, static_cast<size_t>(axis))), dtype)});
  return weighed(l, a, l.op("Add", {times(l, plain, 1 - smoothing), l.op("Mul", {even, share})}), c);
}

Arg margin_ranking(Lowering& l, const Args& a) {
  const Ref apart = l.op("Sub", {a.tensor("input1"), a.tensor("input2")});
  const Ref target = l->cast(a.tensor("target"), l->dtype(apart));
  const Ref below = l.op("Sub", {constant(l, a.f("margin"), apart), l.op("Mul", {target, apart})});
  return reduced(l, a, above_zero(l, below));
}

// Losses with targets 1 and -1: one value for either, 0 for any other target.
Ref by_sign(Lowering& l, Ref target, Ref positive, Ref negative) {
  const Ref none = constant(l, 0, positive);
  const auto when = [&](int64_t sign, Ref value) {
    const Ref wanted = is_float(l->dtype(target)) ? l->number(static_cast<double>(sign), l->dtype(target))
                                                  : l->integer(sign, l->dtype(target));
    return l.op("Where", {l.op("Equal", {target, wanted}), value, none});
  };
  return l.op("Add", {when(1, positive), when(-1, negative)});
}

Arg hinge_embedding(Lowering& l, const Args& a) {
  const Ref x = a.self(), target = a.tensor("target");
  const Ref below = above_zero(l, l.op("Sub", {constant(l, a.f("margin", 1), x), x}));
  return reduced(l, a, by_sign(l, target, x, below));
}

Arg cosine_embedding(Lowering& l, const Args& a) {
  const Ref x = a.tensor("input1"), y = a.tensor("input2"), target = a.tensor("target");
  constexpr double kLeast = 1e-12;
  const auto dot = [&](Ref p, Ref q) { return l.reduce("ReduceSum", l.op("Mul", {p, q}), {-1}, false); };
  const auto size = [&](Ref p) { return l.op("Add", {dot(p, p), constant(l, kLeast, p)}); };
  const Ref cosine = l.op("Div", {dot(x, y), l.op("Sqrt", {l.op("Mul", {size(x), size(y)})})});
  const Ref beyond = above_zero(l, l.op("Sub", {cosine, constant(l, a.f("margin"), cosine)}));
  return reduced(l, a, by_sign(l, target, one_less(l, cosine), beyond));
}

Arg soft_margin(Lowering& l, const Args& a) {
  const Values v = values_of(l, a);
  return reduced(l, a, l.op("Softplus", {l.op("Neg", {l.op("Mul", {v.y, v.x})})}));
}

Arg triplet_margin(Lowering& l, const Args& a) {
  const Ref anchor = a.tensor("anchor"), positive = a.tensor("positive"), negative = a.tensor("negative");
  const auto apart = [&](Ref x, Ref y) { return pairwise(l, x, y, a.f("p", 2), a.f("eps", 1e-6), false); };
  const Ref near = apart(anchor, positive);
  Ref far = apart(anchor, negative);
  if (a.flag("swap")) far = l.op("Min", {far, apart(positive, negative)});
  const Ref loss = above_zero(l, l.op("Add", {l.op("Sub", {near, far}), constant(l, a.f("margin", 1), near)}));
  return reduced(l, a, loss);
}

Arg poisson_nll(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "input", "target");
  const double eps = a.f("eps", 1e-8);
  Ref loss = a.flag("log_input", true)
                 ? l.op("Sub", {l.op("Exp", {x}), l.op("Mul", {y, x})})
                 : l.op("Sub", {x, l.op("Mul", {y, l.op("Log", {l.op("Add", {x, constant(l, eps, x)})})})});
  if (a.flag("full")) {
    const Ref stirling = l.op("Add", {l.op("Sub", {l.op("Mul", {y, l.op("Log", {y})}), y}),
                                      times(l, l.op("Log", {times(l, y, 2 * std::numbers::pi)}), 0.5)});
    const Ref counts = l.op("Greater", {y, constant(l, 1, y)});
    loss = l.op("Add", {loss, l.op("Where", {counts, stirling, constant(l, 0, y)})});
  }
  return reduced(l, a, loss);
}

constexpr AtenOp kLossOps[] = {
    {"binary_cross_entropy", bce},
    {"binary_cross_entropy_with_logits", bce_with_logits},
    {"cosine_embedding_loss", cosine_embedding},
    {"cross_entropy_loss", cross_entropy},
    {"hinge_embedding_loss", hinge_embedding},
    {"huber_loss", huber},
    {"kl_div", kl_div},
    {"l1_loss", l1},
    {"margin_ranking_loss", margin_ranking},
    {"mse_loss", mse},
    {"nll_loss", nll},
    {"nll_loss2d", nll},
    {"nll_loss2d_forward", nll_forward},
    {"nll_loss_forward", nll_forward},
    {"nll_loss_nd", nll},
    {"poisson_nll_loss", poisson_nll},
    {"smooth_l1_loss", smooth_l1},
    {"soft_margin_loss", soft_margin},
    {"triplet_margin_loss", triplet_margin},
};

}  // namespace

std::span<const AtenOp> loss_ops() { return kLossOps; }

}  // namespace anyshape::lower
