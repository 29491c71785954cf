#include "lower/pt2/from_pt2.h"

#include <algorithm>
#include <unordered_map>

#include "lower/assemble.h"
#include "lower/pt2/interpreter.h"
#include "sym/node.h"

namespace anyshape::lower {
namespace {

using pt2::Argument;
using pt2::Expression;
using pt2::InputSpec;
using pt2::OutputSpec;

const pt2::TensorMeta* meta_of(const pt2::Graph& graph, const Argument& argument) {
  const auto it = argument.kind == Argument::Kind::tensor ? graph.tensors.find(argument.text) : graph.tensors.end();
  return it == graph.tensors.end() ? nullptr : &it->second;
}

// `e >= 2`, where `e` has no number of its own and is no difference of sizes that may be negative.
bool says_at_least_two(const Condition& condition, const Assumptions& known) {
  const auto& any_of = condition.any_of();
  if (any_of.size() != 1 || any_of[0].size() != 1 || any_of[0][0].kind != Relation::Kind::ge) return false;
  const DimNode* left = any_of[0][0].expr.node();
  if (!left || left->constant != -2) return false;
  const auto positive = [](const Term& term) { return term.coefficient > 0; };
  return std::all_of(left->terms.begin(), left->terms.end(), positive) ||
         known.proves(Condition::ge(any_of[0][0].expr + 2, 0));
}

// The whole way from a program to a graph; each step is one method, in order.
class FromPt2Driver {
 public:
  FromPt2Driver(const pt2::ExportedProgram& program, const Request& request, const OpTable& ops)
      : program_(program),
        request_(request),
        symbols_(std::make_shared<Symbols>()),
        assumptions_(*symbols_),
        lowering_(ops, assumptions_, request.opset, LoweringOptions::of(request)),
        interpreter_(lowering_, request) {}

  Result<Lowered> run();

 private:
  Status collect_inputs();
  Status name_inputs();
  Status bind_sizes();
  Status bind_inputs();
  Result<NamedRefs> outputs(Assembly& assembly);
  void read_guards(Assembly& assembly);
  void read_ranges(Assembly& assembly);
  // `e >= 2` is what PyTorch notes for every size it met, also of tensors in between; what follows from that for the
  // inputs says no more.
  bool is_zero_one_rule(const Condition& condition);
  // What PyTorch recorded of a size that is free now says nothing.
  bool is_of_freed(const Condition& condition) const;
  // Sizes of inputs the program holds by another: nothing in the graph demands it.
  void tie(const Condition& condition);
  std::optional<Dim> leaf(const Expression& expression) const;

  const pt2::ExportedProgram& program_;
  const Request& request_;
  std::shared_ptr<Symbols> symbols_;
  Assumptions assumptions_;
  Lowering lowering_;
  Pt2Interpreter interpreter_;
  std::vector<size_t> user_inputs_;  // tensors, as indices into program_.inputs
  std::vector<RecordedInput> recorded_;
  Axes axes_;
  std::vector<std::pair<Var, std::string>> buffers_;
  std::vector<Condition> ties_;
};

Status FromPt2Driver::collect_inputs() {
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    const InputSpec& spec = program_.inputs[i];
    const pt2::TensorMeta* meta = meta_of(program_.graph, spec.argument);
    if (spec.kind != InputSpec::Kind::user || !meta) continue;
    RecordedInput input;
    const size_t index = user_inputs_.size();
    input.name = index < request_.input_names.size() ? request_.input_names[index] : spec.argument.text;
    for (const pt2::Size& size : meta->sizes) {
      RecordedAxis axis;
      axis.number = size.number ? size.number : size.hint;
      if (!size.number)
        axis.symbol = size.expression.kind == Expression::Kind::symbol ? size.expression.name : print(size.expression);
      input.axes.push_back(std::move(axis));
    }
    user_inputs_.push_back(i);
    recorded_.push_back(std::move(input));
  }
  if (request_.input_names.size() > user_inputs_.size())
    return usage("names.inputs", "{} input names are given, the program has {} inputs", request_.input_names.size(),
                 user_inputs_.size());
  return {};
}

Status FromPt2Driver::name_inputs() {
  std::vector<std::pair<std::string, size_t>> outputs;
  std::vector<size_t> user;
  for (size_t i = 0; i < program_.outputs.size(); ++i)
    if (program_.outputs[i].kind == OutputSpec::Kind::user) user.push_back(i);
  for (size_t k = 0; k < user.size(); ++k) {
    const pt2::TensorMeta* meta = meta_of(program_.graph, program_.outputs[user[k]].argument);
    const std::string path = k < program_.output_paths.size() ? program_.output_paths[k] : std::string();
    outputs.emplace_back(output_name(request_, k, user.size(), path), meta ? meta->sizes.size() : 0);
  }
  TRY(axes_, name_axes(recorded_, outputs, request_, *symbols_));
  return {};
}

// Symbols that are no axis by themselves but part of one (an input of 2*s rows) follow from that axis.
Status FromPt2Driver::bind_sizes() {
  for (size_t i = 0; i < user_inputs_.size(); ++i) {
    const pt2::TensorMeta* meta = meta_of(program_.graph, program_.inputs[user_inputs_[i]].argument);
    for (size_t k = 0; k < meta->sizes.size(); ++k) {
      const Expression& expression = meta->sizes[k].expression;
      if (meta->sizes[k].number || expression.kind == Expression::Kind::symbol) continue;
      Symbols scratch;
      std::string inner;
      const auto read = to_dim(expression, [&](const Expression& e) {
        inner = e.name;
        return std::optional(scratch.symbol(e.name));
      });
      const Dim axis = axes_.dims[i][k];
      if (!read || read->symbols().size() != 1) continue;
      if (axes_.symbols.contains(inner)) {
        const auto same =
            to_dim(expression, [&](const Expression& e) { return std::optional(axes_.symbols.at(e.name)); });
        if (same) tie(Condition::eq(axis, *same));
        continue;
      }
      const Dim symbol = read->symbols()[0];
      const Dim at_zero = substitute(*read, {{symbol, 0}}), at_one = substitute(*read, {{symbol, 1}});
      const Dim step = at_one - at_zero;
      if (!step.is_constant() || *step.constant() < 1 || !(*read == symbol * step + at_zero)) continue;
      axes_.symbols[inner] = floordiv(axis - Dim(*at_zero.constant()), Dim(*step.constant()));
      tie(Condition::divisible(axis - Dim(*at_zero.constant()), Dim(*step.constant())));
    }
  }
  return {};
}

void FromPt2Driver::tie(const Condition& condition) {
  assumptions_.assume(condition);
  ties_.push_back(condition);
}

std::optional<Dim> FromPt2Driver::leaf(const Expression& expression) const {
  if (expression.kind == Expression::Kind::symbol) {
    const auto it = axes_.symbols.find(expression.name);
    return it == axes_.symbols.end() ? std::nullopt : std::optional(it->second);
  }
  if (expression.kind != Expression::Kind::size) return std::nullopt;
  const auto input = pt2::input_named(program_, expression.name);
  const auto it = input ? std::find(user_inputs_.begin(), user_inputs_.end(), *input) : user_inputs_.end();
  if (it == user_inputs_.end()) return std::nullopt;
  const Dims& dims = axes_.dims[static_cast<size_t>(it - user_inputs_.begin())];
  const auto axis = static_cast<size_t>(expression.integer);
  return axis < dims.size() ? std::optional(dims[axis]) : std::nullopt;
}

Status FromPt2Driver::bind_inputs() {
  size_t next = 0;
  std::unordered_map<std::string, Ref> shared;  // tied weights
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    const InputSpec& spec = program_.inputs[i];
    const std::string& name = spec.argument.text;
    if (spec.kind == InputSpec::Kind::user) {
      const pt2::TensorMeta* meta = meta_of(program_.graph, spec.argument);
      if (!meta) {
        TRY_OK(interpreter_.bind_plain_input(spec.argument, name));
        continue;
      }
      for (Dim d : axes_.dims[next])
        if (d.is_symbol()) assumptions_.assume(Condition::ge(d, 0));
      const Ref value = lowering_.input(recorded_[next].name, Fact::tensor(meta->dtype, axes_.dims[next]));
      ++next;
      interpreter_.bind(name, lowering_.memory().variable(value, recorded_[next - 1].name));
    } else if (spec.kind == InputSpec::Kind::constant) {
      interpreter_.bind(spec.target, interpreter_.literal(spec.argument));
    } else {
      const auto it = program_.weights.find(spec.target);
      if (it == program_.weights.end()) return refuse("pt2.weight", "the archive holds no data for {:?}", spec.target);
      const auto [known, first] = shared.try_emplace(it->second.storage);
      if (first || it->second.storage.empty()) known->second = lowering_.weight(it->second.tensor, spec.target);
      const Var variable = lowering_.memory().variable(known->second, spec.target);
      if (spec.kind == InputSpec::Kind::buffer) buffers_.emplace_back(variable, spec.target);
      interpreter_.bind(name, variable);
    }
  }
  return {};
}

Result<NamedRefs> FromPt2Driver::outputs(Assembly& assembly) {
  NamedRefs out;
  size_t count = 0, index = 0;
  for (const OutputSpec& spec : program_.outputs) count += spec.kind == OutputSpec::Kind::user;
  lowering_->set_place("");
  for (const OutputSpec& spec : program_.outputs) {
    if (spec.kind != OutputSpec::Kind::user) continue;
    const std::string path = index < program_.output_paths.size() ? program_.output_paths[index] : std::string();
    const std::string name = output_name(request_, index++, count, path);
    const Arg value = interpreter_.value(spec.argument);
    if (value.is_none()) continue;
    const Ref ref =
        value.is_tensor() ? lowering_.ref(value) : lowering_.operand(value, lowering_.common_type({&value}));
    out.emplace_back(name, ref);
  }
  for (const OutputSpec& spec : program_.outputs)
    if (spec.kind == OutputSpec::Kind::buffer_mutation || spec.kind == OutputSpec::Kind::input_mutation)
      if (const Arg value = interpreter_.value(spec.argument); value.is_tensor())
        assembly.state(out, spec.target, lowering_.ref(value), false);
  for (const auto& [buffer, name] : buffers_)
    if (buffer->writes > 0) assembly.state(out, name, lowering_.memory().read(buffer), false);
  TRY_OK(assembly.check_names(out, count));
  return out;
}

bool FromPt2Driver::is_of_freed(const Condition& condition) const {
  return std::any_of(axes_.freed.begin(), axes_.freed.end(),
                     [&](const auto& freed) { return condition.mentions(freed.first); });
}

bool FromPt2Driver::is_zero_one_rule(const Condition& condition) {
  if (says_at_least_two(condition, assumptions_)) return true;
  const Assumptions::Scope scope(assumptions_);
  for (const Dims& dims : axes_.dims)
    for (Dim size : dims)
      if (size.is_symbol()) assumptions_.assume(Condition::ge(size, 2));
  return assumptions_.proves(condition) && !assumptions_.proves(Condition::never());
}

void FromPt2Driver::read_ranges(Assembly& assembly) {
  constexpr int64_t kNoBound = int64_t{1} << 40;
  for (const auto& [name, range] : program_.ranges) {
    const auto it = axes_.symbols.find(name);
    if (it == axes_.symbols.end() || it->second.is_constant()) continue;
    // 2 is what PyTorch writes for every dynamic axis, and from it follow others (a size that is halved is at least 4).
    const Condition least = range.lo && *range.lo > 2 ? Condition::ge(it->second, *range.lo) : Condition::always();
    const Condition most =
        range.hi && *range.hi < kNoBound ? Condition::le(it->second, *range.hi) : Condition::always();
    for (const Condition& bound : {least, most})
      if (!assumptions_.proves(bound) && !is_of_freed(bound))
        assembly.guard(bound, "torch.export: range", bound == least);
  }
}

void FromPt2Driver::read_guards(Assembly& assembly) {
  for (const Condition& condition : ties_)
    if (!is_of_freed(condition)) assembly.guard(condition, "torch.export: sizes of inputs");
  for (const std::string& text : program_.guards) {
    const auto parsed = pt2::parse_python(text);
    const auto condition =
        parsed ? to_condition(*parsed, [&](const Expression& e) { return leaf(e); }) : std::optional<Condition>();
    if (!condition || condition->is_opaque())
      assembly.note(fmt::format("a guard of the program could not be read and is not kept: {}", text));
    else if (!assumptions_.proves(*condition) && !is_of_freed(*condition))
      assembly.guard(*condition, "torch.export: guard",
                     is_zero_one_rule(*condition) || interpreter_.accidents().explain(*condition));
  }
}

Result<Lowered> FromPt2Driver::run() {
  TRY_OK(collect_inputs());
  TRY_OK(name_inputs());
  TRY_OK(bind_sizes());
  TRY_OK(bind_inputs());
  interpreter_.set_sizes([this](const Expression& e) { return leaf(e); }, axes_.example);
  lowering_.captured().watch(axes_.freed);
  interpreter_.run(program_.graph);
  if (lowering_->failed()) return tl::unexpected(lowering_->status().error());
  Assembly assembly(lowering_, symbols_, request_, axes_);
  TRY(NamedRefs results, outputs(assembly));
  read_guards(assembly);
  read_ranges(assembly);
  TRY(Lowered out, assembly.finish(std::move(results)));
  out.custom_shapes = interpreter_.custom_shapes();
  return out;
}

}  // namespace

Result<Lowered> from_pt2(const pt2::ExportedProgram& program, const Request& request, const OpTable& ops) {
  return FromPt2Driver(program, request, ops).run();
}

}  // namespace anyshape::lower
