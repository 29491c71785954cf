#include <algorithm>
#include <cmath>

#include "passes/activation.h"
#include "passes/product.h"

namespace anyshape {
namespace {

// Joins to products what is computed from them alone, node by node.
class ProductJoiner {
 public:
  explicit ProductJoiner(Draft& draft) : draft_(draft), readers_(draft), dead_(draft.graph.nodes.size(), false) {}

  Status run() {
    for (uint32_t i = 0; i < dead_.size(); ++i) {
      if (dead_[i] || draft_.is_demanding(node(i))) continue;
      if (is_product(draft_, node(i))) take_scale_of_input(node(i));
      TRY_OK(join(i));
    }
    draft_.drop(dead_);
    return {};
  }

 private:
  Node& node(uint32_t index) { return draft_.graph.nodes[index]; }

  // The product that makes a value for this many reads and no others; kNoValue: none does.
  uint32_t product_of(ValueId id, uint32_t reads = 1) {
    if (id == kNoValue || readers_.uses[id] != reads || readers_.pinned.contains(id)) return kNoValue;
    const uint32_t maker = readers_.producers[id];
    return maker != kNoValue && !dead_[maker] && is_product(draft_, node(maker)) ? maker : kNoValue;
  }

  bool same_dims(ValueId a, ValueId b) const {
    const Fact &x = draft_.facts[a], &y = draft_.facts[b];
    return x.is_tensor() && y.is_tensor() && x.dtype == y.dtype && x.dims && y.dims && *x.dims == *y.dims;
  }

  // Node `at` is computed with the product from now on.
  void replace(uint32_t at, uint32_t maker, Node product) {
    product.name = draft_.graph.label(node(maker));
    product.out = node(at).out;
    dead_[maker] = true;
    node(at) = std::move(product);
  }

  Status join(uint32_t at) {
    if (const auto found = find_activation(draft_, readers_, at)) {
      const uint32_t maker = product_of(found->in, found->reads);
      if (maker != kNoValue) join_activation(at, maker, *found);
      return {};
    }
    const Node& last = node(at);
    if (is_op(last, "BatchNormalization")) return join_norm(at);
    const bool add = is_op(last, "Add"), mul = is_op(last, "Mul"), div = is_op(last, "Div");
    if ((!add && !mul && !div) || last.version < 7) return {};
    for (size_t i : {0u, 1u}) {
      const uint32_t maker = product_of(last.in[i]);
      if (maker == kNoValue || !same_dims(last.in[i], last.out[0]) || (div && i == 1)) continue;
      const ValueId other = last.in[1 - i];
      TRY(const bool done, add ? join_sum(at, maker, other) : join_scale(at, maker, other, div));
      if (done) return {};
    }
    return {};
  }

  void join_activation(uint32_t at, uint32_t maker, const FoundActivation& found) {
    Node product = node(maker);
    make_fused(product);
    product.attributes.push_back({"activation", found.name});
    if (!found.params.empty()) product.attributes.push_back({"activation_params", found.params});
    for (uint32_t index : found.nodes) dead_[index] = index != at;
    replace(at, maker, std::move(product));
  }

  Result<bool> join_sum(uint32_t at, uint32_t maker, ValueId other) {
    Node product = node(maker);
    const Fact& out = draft_.facts[product.out[0]];
    if (const auto shift = per_column(draft_, other, out)) {
      const bool is_row = draft_.constant(other)->rank() > 0 && draft_.facts[other].dims->back() == out.dims->back();
      if (takes_bias(product) && is_row) {
        set_input(product, 2, other);
      } else {
        TRY(const bool done, scale_columns(draft_, product, std::vector<double>(shift->size(), 1), *shift));
        if (!done) return false;
      }
    } else if (same_dims(other, product.out[0]) && !(product.in.size() > 3 && product.in[3] != kNoValue)) {
      set_input(product, 3, other);
    } else {
      return false;
    }
    replace(at, maker, std::move(product));
    return true;
  }

  static bool takes_bias(const Node& product) {
    const Attribute* beta = product.attribute("beta");
    return !(product.in.size() > 2 && product.in[2] != kNoValue) && (!beta || product.real("beta") == 1);
  }
  static void set_input(Node& product, size_t i, ValueId id) {
    make_fused(product);
    product.in.resize(std::max(product.in.size(), i + 1), kNoValue);
    product.in[i] = id;
  }

  Result<bool> join_scale(uint32_t at, uint32_t maker, ValueId other, bool divide) {
    Node product = node(maker);
    auto scale = per_column(draft_, other, draft_.facts[product.out[0]]);
    if (!scale) return false;
    if (divide)
      for (double& x : *scale) x = 1 / x;
    bool done = draft_.constant(other)->count() == 1 && !scale->empty() && scale_product(draft_, product, (*scale)[0]);
    if (!done) {
      TRY(done, scale_columns(draft_, product, *scale, std::vector<double>(scale->size(), 0)));
    }
    if (done) replace(at, maker, std::move(product));
    return done;
  }

  Status join_norm(uint32_t at) {
    const Node& norm = node(at);
    const auto present = std::count_if(norm.out.begin(), norm.out.end(), [](ValueId id) { return id != kNoValue; });
    const uint32_t maker = product_of(norm.in[0]);
    // The channels are the columns of a matrix, of more axes they are not.
    if (maker == kNoValue || present != 1 || norm.integer("training_mode") != 0 || norm.version < 7 ||
        norm.attribute("spatial") || draft_.facts[norm.in[0]].rank() != 2)
      return {};
    const Fact& out = draft_.facts[norm.in[0]];
    std::optional<std::vector<double>> parts[4];
    for (size_t i = 0; i < 4; ++i)
      if (!(parts[i] = per_column(draft_, norm.in[i + 1], out))) return {};
    std::vector<double> scale, shift;
    for (size_t i = 0; i < parts[0]->size(); ++i) {
      scale.push_back((*parts[0])[i] / std::sqrt((*parts[3])[i] + norm.real("epsilon")));
      shift.push_back((*parts[1])[i] - (*parts[2])[i] * scale.back());
    }
    Node product = node(maker);
    TRY(const bool done, scale_columns(draft_, product, scale, shift));
    if (done) replace(at, maker, std::move(product));
    return {};
  }

  // A = c * X for nobody else: the constant goes into B.
  void take_scale_of_input(Node& product) {
    const ValueId a = product.in[0];
    if (a == kNoValue || !readers_.is_private(a) || readers_.producers[a] == kNoValue) return;
    const uint32_t maker = readers_.producers[a];
    const Node& scaled = node(maker);
    const bool div = is_op(scaled, "Div");
    if ((!div && !is_op(scaled, "Mul")) || scaled.version < 7 || dead_[maker] || draft_.is_demanding(scaled)) return;
    for (size_t i : {0u, 1u}) {
      const Tensor* factor = draft_.constant(scaled.in[1 - i]);
      if (!factor || factor->dtype() != DType::f32 || factor->count() != 1 || !same_dims(scaled.in[i], a) ||
          (div && i == 1))
        continue;
      const double by = factor->at<float>(0);
      if (!scale_product(draft_, product, div ? 1 / by : by)) return;
      product.in[0] = scaled.in[i];
      dead_[maker] = true;
      return;
    }
  }

  Draft& draft_;
  const Readers readers_;
  std::vector<bool> dead_;
};

}  // namespace

Status fuse_products(Draft& draft) {
  const bool takes =
      takes_op(draft.target, "anyshape", "FusedMatMul", 1) && takes_op(draft.target, "anyshape", "FusedGemm", 1);
  return takes ? ProductJoiner(draft).run() : Status();
}

}  // namespace anyshape
