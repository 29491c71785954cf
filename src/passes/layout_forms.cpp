#include <algorithm>

#include "ir/call.h"
#include "ops/elementwise/program_of.h"
#include "passes/layout.h"

namespace anyshape::layout {
namespace {

bool is_of_microsoft(const Node& node, std::string_view name) {
  return node.op && node.op->domain == "com.microsoft" && node.op->name == name;
}

bool has(const Node& node, size_t input) { return input < node.in.size() && node.in[input] != kNoValue; }

const std::vector<int64_t>* integers(const Node& node, std::string_view name) {
  const Attribute* attribute = node.attribute(name);
  return attribute ? std::get_if<std::vector<int64_t>>(&attribute->value) : nullptr;
}

// So few filters leave most lanes empty, which costs more than reordering what they read: over plain channels the lanes
// are places.
bool better_plain(const Node& node, const Tensor& w, int64_t lanes) {
  constexpr int64_t kMostProducts = 1024, kReorder = 32;  // of an entry of the output, per entry that is reordered
  const int64_t filters = w.dims()[0], products = w.count() / filters, area = products / w.dims()[1];
  const auto* strides = integers(node, "strides");
  const bool neighbours = !strides || strides->empty() || strides->back() == 1;
  return neighbours && 2 * filters <= lanes && products <= kMostProducts && area * (lanes - filters) > kReorder;
}

std::optional<Form> convolution(const Draft& draft, const Node& node, int64_t lanes) {
  if (!is_op(node, "Conv") && !is_of_microsoft(node, "FusedConv")) return std::nullopt;
  const Tensor* w = has(node, 1) ? draft.constant(node.in[1]) : nullptr;
  const Fact &x = draft.facts[node.in[0]], &y = draft.facts[node.out[0]];
  if (!w || w->dtype() != DType::f32 || w->count() == 0 || !can_be_blocked(x) || w->rank() != x.rank())
    return std::nullopt;
  const int64_t groups = node.integer("group"), from = channels_of(x), to = channels_of(y);
  const bool depthwise = w->dims()[1] == 1 && to == groups && groups > 1;
  const bool whole = groups == 1 || depthwise || (from / groups % lanes == 0 && to / groups % lanes == 0);
  if (groups < 1 || !whole || (groups == 1 && better_plain(node, *w, lanes))) return std::nullopt;
  Form form{Form::Kind::convolution, std::vector<Operand>(node.in.size(), Operand::as_it_is)};
  form.in[0] = Operand::blocked;
  if (has(node, 3)) form.in[3] = Operand::blocked;
  form.depth = w->count() / w->dims()[0];
  form.pointwise = form.depth == w->dims()[1] && !depthwise;
  form.stem = groups == 1 && from < lanes;
  // Few channels waste most lanes, but where much is read for them that is still less than a reorder.
  const bool few = 2 * to < lanes || (2 * from < lanes && !form.stem);
  return few && from < lanes ? std::nullopt : std::optional(std::move(form));
}

// Windows that do not overlap, whole: the kernel is the stride.
std::optional<Form> transposed(const Draft& draft, const Node& node, int64_t lanes) {
  if (!is_op(node, "ConvTranspose") || node.integer("group") != 1) return std::nullopt;
  const Tensor* w = has(node, 1) ? draft.constant(node.in[1]) : nullptr;
  const Fact& x = draft.facts[node.in[0]];
  if (!w || w->dtype() != DType::f32 || w->count() == 0 || !can_be_blocked(x) || w->rank() != x.rank())
    return std::nullopt;
  const auto all = [&](std::string_view name, int64_t entry) {
    const auto* given = integers(node, name);
    return !given || std::all_of(given->begin(), given->end(), [&](int64_t i) { return i == entry; });
  };
  const auto *strides = integers(node, "strides"), *shape = integers(node, "output_shape");
  const Attribute* pad = node.attribute("auto_pad");
  const std::string* auto_pad = pad ? std::get_if<std::string>(&pad->value) : nullptr;
  if (!strides || !std::equal(strides->begin(), strides->end(), w->dims().begin() + 2, w->dims().end()))
    return std::nullopt;
  if (!all("pads", 0) || !all("output_padding", 0) || !all("dilations", 1) || (shape && !shape->empty()) ||
      (pad && (!auto_pad || *auto_pad != "NOTSET")))
    return std::nullopt;
  Form form{Form::Kind::transposed, std::vector<Operand>(node.in.size(), Operand::as_it_is)};
  form.in[0] = Operand::blocked;
  return 2 * w->dims()[1] < lanes ? std::nullopt : std::optional(std::move(form));
}

bool has_text(const Node& node, std::string_view name, std::initializer_list<std::string_view> texts) {
  const Attribute* attribute = node.attribute(name);
  const std::string* text = attribute ? std::get_if<std::string>(&attribute->value) : nullptr;
  return attribute && (!text || std::find(texts.begin(), texts.end(), *text) != texts.end());
}

// By constant factors of the spatial axes.
std::optional<Form> resize(const Draft& draft, const Node& node) {
  if (!is_op(node, "Resize") || node.version < 11 || !has(node, 2) || has(node, 3)) return std::nullopt;
  const Tensor* scales = draft.constant(node.in[2]);
  const Fact& x = draft.facts[node.in[0]];
  if (!scales || scales->dtype() != DType::f32 || !can_be_blocked(x)) return std::nullopt;
  if (scales->count() != static_cast<int64_t>(x.rank()) || scales->at<float>(0) != 1 || scales->at<float>(1) != 1)
    return std::nullopt;
  if (has_text(node, "mode", {"cubic"}) || has_text(node, "coordinate_transformation_mode", {"tf_crop_and_resize"}) ||
      node.attribute("axes") || node.attribute("antialias"))
    return std::nullopt;
  Form form{Form::Kind::resize, std::vector<Operand>(node.in.size(), Operand::as_it_is)};
  form.in[0] = Operand::blocked;
  form.in[2] = Operand::scales;
  return form;
}

std::optional<Form> pool(const Draft& draft, const Node& node) {
  const bool max = is_op(node, "MaxPool") && (node.out.size() < 2 || node.out[1] == kNoValue);
  if ((!max && !is_op(node, "AveragePool")) || !can_be_blocked(draft.facts[node.in[0]])) return std::nullopt;
  return Form{Form::Kind::pool, {Operand::blocked}};
}

bool is_one(Dim d) { return d == Dim(1); }

// Of a value that broadcasts to `whole`, which is [n, c, spatial...]; nothing where it differs along other axes.
std::optional<Operand> operand_of(const Fact& fact, const Dims& whole) {
  if (!fact.is_tensor() || fact.dtype != DType::f32 || !fact.dims || fact.rank() > whole.size()) return std::nullopt;
  Dims dims(whole.size() - fact.rank(), Dim(1));
  dims.insert(dims.end(), fact.dims->begin(), fact.dims->end());
  if (std::all_of(dims.begin(), dims.end(), is_one)) return Operand::as_it_is;
  if (dims == whole && fact.rank() == whole.size()) return Operand::blocked;
  // Sizes of places may be written in another way, or be 1: they broadcast as they did.
  const bool has_places = !std::all_of(dims.begin() + 2, dims.end(), is_one);
  if (dims[1] == whole[1] && has_places && fact.rank() == whole.size()) return Operand::blocked;
  if (!is_one(dims[0]) && dims[0] != whole[0]) return std::nullopt;
  if (dims[1] == whole[1] && std::all_of(dims.begin() + 2, dims.end(), is_one)) return Operand::channels;
  const bool spatial =
      std::equal(dims.begin() + 2, dims.end(), whole.begin() + 2, [](Dim d, Dim all) { return is_one(d) || d == all; });
  return is_one(dims[1]) && spatial ? std::optional(Operand::places) : std::nullopt;
}

std::optional<Form> elementwise(const Draft& draft, const Node& node) {
  const Fact& out = draft.facts[node.out[0]];
  if (node.out.size() != 1 || (node.op->domain.empty() && node.version < 7)) return std::nullopt;
  Form form{Form::Kind::elementwise, {}};
  std::vector<const Fact*> facts;
  for (ValueId id : node.in) {
    facts.push_back(id == kNoValue ? nullptr : &draft.facts[id]);
    const auto operand = id == kNoValue ? Operand::as_it_is : operand_of(draft.facts[id], *out.dims);
    if (!operand) return std::nullopt;
    if (*operand == Operand::blocked && draft.constant(id)) return std::nullopt;
    // [c, 1...] would first have to get an axis for the batch.
    if (*operand == Operand::channels && !draft.constant(id) && draft.facts[id].rank() < out.rank())
      return std::nullopt;
    form.in.push_back(*operand);
  }
  const Call call(node, node.name, facts);
  if (!ops::program_of(call) || !draft.target.choose(call).kernel) return std::nullopt;
  return form;
}

std::optional<Form> concat(const Draft& draft, const Node& node, int64_t lanes) {
  if (!is_op(node, "Concat") || node.in.size() < 2 || node.version < 4) return std::nullopt;
  const Fact& out = draft.facts[node.out[0]];
  const int64_t axis = node.integer("axis");
  if (!can_be_blocked(out) || (axis != 1 && axis + static_cast<int64_t>(out.rank()) != 1)) return std::nullopt;
  for (size_t i = 0; i < node.in.size(); ++i) {
    const Fact& fact = draft.facts[node.in[i]];
    if (!can_be_blocked(fact) || draft.constant(node.in[i])) return std::nullopt;
    if (i + 1 < node.in.size() && channels_of(fact) % lanes != 0) return std::nullopt;
  }
  return Form{Form::Kind::concat, std::vector<Operand>(node.in.size(), Operand::blocked)};
}

// The axes of a ReduceMean, counted from the front; empty: not known or all.
std::vector<int64_t> reduced_axes(const Draft& draft, const Node& node, size_t rank) {
  std::vector<int64_t> axes;
  if (node.version < 18) {
    if (const auto* given = integers(node, "axes")) axes = *given;
  } else if (const Tensor* given = has(node, 1) ? draft.constant(node.in[1]) : nullptr) {
    for (int64_t i = 0; i < given->count(); ++i) axes.push_back(given->int_at(i));
  }
  for (int64_t& axis : axes)
    if (axis < 0) axis += static_cast<int64_t>(rank);
  std::sort(axes.begin(), axes.end());
  return axes;
}

std::optional<Form> reduce(const Draft& draft, const Node& node) {
  const Fact& x = draft.facts[node.in[0]];
  const bool global = is_op(node, "GlobalAveragePool");
  if ((!global && !is_op(node, "ReduceMean")) || !can_be_blocked(x)) return std::nullopt;
  std::vector<int64_t> spatial{2};
  if (x.rank() == 4) spatial.push_back(3);
  if (!global && reduced_axes(draft, node, x.rank()) != spatial) return std::nullopt;
  Form form{Form::Kind::reduce, std::vector<Operand>(node.in.size(), Operand::as_it_is)};
  form.in[0] = Operand::blocked;
  form.axes = std::move(spatial);
  return form;
}

void keep(const Node& from, Node& to, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    if (const Attribute* attribute = from.attribute(name)) to.attributes.push_back(*attribute);
}

Node pool_in_form(const Node& node, Node out) {
  const bool max = is_op(node, "MaxPool");
  set_op(out, "anyshape", max ? "BlockedMaxPool" : "BlockedAveragePool", 1);
  keep(node, out, {"auto_pad", "kernel_shape", "pads", "strides"});
  if (node.version >= 10) keep(node, out, {"ceil_mode"});
  if (node.version >= (max ? 10 : 19)) keep(node, out, {"dilations"});
  if (!max && node.version >= 7) keep(node, out, {"count_include_pad"});
  return out;
}

}  // namespace

int64_t channels_of(const Fact& fact) { return (*fact.dims)[1].constant().value_or(0); }

bool can_be_blocked(const Fact& fact) {
  return fact.is_tensor() && fact.dtype == DType::f32 && fact.dims && (fact.rank() == 3 || fact.rank() == 4) &&
         (*fact.dims)[1].is_constant() && channels_of(fact) > 0;
}

std::optional<Form> form_of(const Draft& draft, const Node& node, int64_t lanes) {
  if (!node.op || node.in.empty() || node.in[0] == kNoValue || node.out.empty() || node.out[0] == kNoValue)
    return std::nullopt;
  if (draft.is_demanding(node)) return std::nullopt;
  if (auto form = reduce(draft, node)) return form;
  if (!can_be_blocked(draft.facts[node.out[0]])) return std::nullopt;
  if (auto form = convolution(draft, node, lanes)) return form;
  if (auto form = transposed(draft, node, lanes)) return form;
  if (auto form = resize(draft, node)) return form;
  if (auto form = pool(draft, node)) return form;
  if (auto form = concat(draft, node, lanes)) return form;
  return elementwise(draft, node);
}

Node in_form(const Node& node, const Form& form, const Target& target) {
  Node out = node;
  if (form.kind == Form::Kind::elementwise) return out;
  out.attributes.clear();
  switch (form.kind) {
    case Form::Kind::convolution:
      set_op(out, "anyshape", "BlockedConv", 1);
      out.attributes = node.attributes;
      out.attributes.push_back({"lanes", target.lanes});
      if (target.exact) out.attributes.push_back({"exact", int64_t{1}});
      break;
    case Form::Kind::transposed:
      set_op(out, "anyshape", "BlockedConvTranspose", 1);
      keep(node, out, {"strides"});
      out.attributes.push_back({"lanes", target.lanes});
      break;
    case Form::Kind::resize:
      out.attributes = node.attributes;
      out.in[1] = kNoValue;  // the region, which is not asked for
      break;
    case Form::Kind::pool:
      out = pool_in_form(node, std::move(out));
      out.attributes.push_back({"lanes", target.lanes});
      break;
    case Form::Kind::concat:
      out.attributes.push_back({"axis", int64_t{1}});
      break;
    default:
      set_op(out, "", "ReduceMean", 13);
      out.in.resize(1);
      out.attributes.push_back({"axes", form.axes});
      out.attributes.push_back({"keepdims", is_op(node, "ReduceMean") ? node.integer("keepdims") : int64_t{1}});
  }
  return out;
}

}  // namespace anyshape::layout
