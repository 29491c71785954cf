#include <algorithm>

#include "passes/draft.h"

namespace anyshape {
namespace {

bool is_convolution(const Node& node) {
  return is_op(node, "Conv") || (node.op && node.op->domain == "com.microsoft" && node.op->name == "FusedConv");
}

std::string_view text(const Node& node, std::string_view name) {
  const Attribute* attribute = node.attribute(name);
  const auto* value = attribute ? std::get_if<std::string>(&attribute->value) : nullptr;
  return value ? std::string_view(*value) : "";
}

bool pads_zeros(const Draft& draft, const Node& pad) {
  if (const auto mode = text(pad, "mode"); !mode.empty() && mode != "constant") return false;
  if (pad.version < 11) return pad.real("value") == 0;
  if (pad.in.size() < 3 || pad.in[2] == kNoValue) return true;
  const Tensor* value = draft.constant(pad.in[2]);
  return value && value->dtype() == DType::f32 && value->count() == 1 && value->at<float>(0) == 0;
}

std::optional<std::vector<int64_t>> integers(const Draft& draft, const Node& node, size_t input) {
  const Tensor* tensor = input < node.in.size() ? draft.constant(node.in[input]) : nullptr;
  if (!tensor || tensor->rank() != 1 || !is_integer(tensor->dtype())) return std::nullopt;
  std::vector<int64_t> out;
  for (int64_t i = 0; i < tensor->count(); ++i) out.push_back(tensor->int_at(i));
  return out;
}

// Of all axes, before and after, where the node pads zeros and nothing is cut off or only known at run time.
std::optional<std::vector<int64_t>> zero_pads(const Draft& draft, const Node& pad, size_t rank) {
  if (!is_op(pad, "Pad") || pad.version < 2 || !pads_zeros(draft, pad)) return std::nullopt;
  std::optional<std::vector<int64_t>> given, axes;
  if (pad.version < 11) {
    const Attribute* attribute = pad.attribute("pads");
    if (const auto* list = attribute ? std::get_if<std::vector<int64_t>>(&attribute->value) : nullptr) given = *list;
  } else {
    given = integers(draft, pad, 1);
  }
  if (pad.in.size() > 3 && pad.in[3] != kNoValue) {
    axes = integers(draft, pad, 3);
    if (!axes) return std::nullopt;
  }
  const size_t count = axes ? axes->size() : rank;
  if (!given || given->size() != 2 * count) return std::nullopt;
  std::vector<int64_t> out(2 * rank, 0);
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis =
        axes ? (*axes)[i] + ((*axes)[i] < 0 ? static_cast<int64_t>(rank) : 0) : static_cast<int64_t>(i);
    if (axis < 0 || axis >= static_cast<int64_t>(rank)) return std::nullopt;
    out[static_cast<size_t>(axis)] = (*given)[i];
    out[rank + static_cast<size_t>(axis)] = (*given)[count + i];
  }
  constexpr int64_t kMost = int64_t{1} << 30;
  const bool legal = std::all_of(out.begin(), out.end(), [](int64_t p) { return p >= 0 && p < kMost; });
  return legal && out[0] + out[1] + out[rank] + out[rank + 1] == 0 ? std::optional(out) : std::nullopt;
}

// The pads of the convolution become larger by these; false: it has none of its own that could.
bool widen(Node& conv, const std::vector<int64_t>& by, size_t rank) {
  const std::string_view kind = text(conv, "auto_pad");
  if (!kind.empty() && kind != "NOTSET" && kind != "VALID") return false;
  std::vector<int64_t> pads(2 * (rank - 2), 0);
  if (const Attribute* own = conv.attribute("pads"); own && kind != "VALID") {
    const auto* list = std::get_if<std::vector<int64_t>>(&own->value);
    if (!list || (!list->empty() && list->size() != pads.size())) return false;
    if (!list->empty()) pads = *list;
  }
  for (size_t i = 0; i + 2 < rank; ++i) {
    pads[i] += by[i + 2];
    pads[rank - 2 + i] += by[rank + i + 2];
  }
  std::erase_if(conv.attributes, [](const Attribute& a) { return a.name == "pads" || a.name == "auto_pad"; });
  conv.attributes.push_back({"pads", std::move(pads)});
  return true;
}

}  // namespace

Status fold_pads(Draft& draft) {
  const auto uses = draft.uses();
  const auto pinned = draft.pinned();
  const auto producers = draft.producers();
  std::vector<bool> dead(draft.graph.nodes.size(), false);
  for (Node& conv : draft.graph.nodes) {
    if (!is_convolution(conv) || draft.is_demanding(conv) || conv.in.empty() || conv.in[0] == kNoValue) continue;
    const ValueId padded = conv.in[0];
    if (uses[padded] != 1 || pinned.contains(padded) || producers[padded] == kNoValue) continue;
    const Node& pad = draft.graph.nodes[producers[padded]];
    const Fact& fact = draft.facts[padded];
    if (draft.is_demanding(pad) || !fact.is_tensor() || fact.dtype != DType::f32 || !fact.dims || fact.rank() < 3)
      continue;
    const auto pads = zero_pads(draft, pad, fact.rank());
    if (!pads || !widen(conv, *pads, fact.rank())) continue;
    conv.in[0] = pad.in[0];
    dead[producers[padded]] = true;
  }
  draft.drop(dead);
  return {};
}

}  // namespace anyshape
