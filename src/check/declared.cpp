#include <algorithm>

#include "check/rules.h"
#include "solve/axes.h"

namespace anyshape::rules {
namespace {

struct Claim {
  const Graph& graph;
  const Value& value;
  const Fact& fact;

  std::string node() const { return graph.label(graph.nodes[value.producer]); }  // that makes it
};

// The declared values that a node makes: outputs, or all others.
template <class Visit>
void for_each_claim(const Typed& typed, bool outputs, Visit visit) {
  const Graph& graph = typed.graph();
  std::vector<bool> is_output(graph.values.size(), false);
  for (ValueId id : graph.outputs) is_output[id] = true;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    if (value.declared && value.producer != kNoValue && is_output[id] == outputs)
      visit(Claim{graph, value, typed.facts()[id]});
  }
}

bool comparable(const Claim& claim) {
  return claim.fact.dims && claim.value.declared->dims && claim.fact.rank() == claim.value.declared->dims->size();
}

// Which type it does not have; empty when nothing is wrong.
std::string wrong_type(const Claim& claim) {
  const Declared& declared = *claim.value.declared;
  const Fact& fact = claim.fact;
  const std::string& value = claim.value.name;
  if (fact.kind == Fact::Kind::unknown || declared.kind == Fact::Kind::unknown) return {};
  if (fact.kind != declared.kind) return fmt::format("{:?} is declared as another kind of value", value);
  if (fact.dtype != DType::undefined && declared.dtype != DType::undefined && fact.dtype != declared.dtype)
    return fmt::format("{:?} is declared as {}, but is {}", value, name(declared.dtype), name(fact.dtype));
  return {};
}

// Which size it has at no shape; empty when nothing is wrong, or its type is.
std::string wrong_size(const LintContext& context, const Claim& claim) {
  const Declared& declared = *claim.value.declared;
  const Fact& fact = claim.fact;
  const std::string& value = claim.value.name;
  if (fact.kind != declared.kind || !wrong_type(claim).empty()) return {};
  if (fact.dims && declared.dims && fact.rank() != declared.dims->size())
    return fmt::format("{:?} is declared with {} axes, but has {}", value, declared.dims->size(), fact.rank());
  if (!comparable(claim)) return {};
  for (size_t i = 0; i < fact.rank(); ++i) {
    const auto number = fixed_size((*declared.dims)[i]);
    const Dim size = (*fact.dims)[i];
    if (number && context.world.prove(Condition::eq(size, *number)) == Tri::no)
      return fmt::format("axis {} of {:?} is declared as {}, but is {}", i, value, *number, print(size));
  }
  return {};
}

std::string correction(const LintContext& context) { return "write what is true: " + context.command("infer"); }

// What `wrong` says of each declared value.
template <class Wrong>
void mismatches(const LintContext& context, Findings& out, bool outputs, Wrong wrong) {
  for_each_claim(context.typed, outputs, [&](const Claim& claim) {
    if (std::string text = wrong(claim); !text.empty()) out.add(claim.node(), std::move(text), correction(context));
  });
}

}  // namespace

void declared_output_mismatch(const LintContext& context, Findings& out) {
  mismatches(context, out, true, [&](const Claim& claim) { return wrong_size(context, claim); });
}

void declared_output_type(const LintContext& context, Findings& out) { mismatches(context, out, true, wrong_type); }

void declared_inner_mismatch(const LintContext& context, Findings& out) {
  mismatches(context, out, false, [&](const Claim& claim) {
    std::string text = wrong_type(claim);
    return text.empty() ? wrong_size(context, claim) : text;
  });
}

void dynamic_output_declared_static(const LintContext& context, Findings& out) {
  for_each_claim(context.typed, true, [&](const Claim& claim) {
    if (!comparable(claim)) return;
    for (size_t i = 0; i < claim.fact.rank(); ++i) {
      const auto number = fixed_size((*claim.value.declared->dims)[i]);
      const Dim size = (*claim.fact.dims)[i];
      if (!number || size.is_constant()) continue;
      const bool never = context.world.prove(Condition::eq(size, *number)) == Tri::no;
      if (never || !may_differ(context, size, *number)) continue;
      out.add(
          claim.node(),
          fmt::format("axis {} of {:?} is declared as {}, but changes: {}", i, claim.value.name, *number, print(size)),
          correction(context));
    }
  });
}

void static_output_declared_dynamic(const LintContext& context, Findings& out) {
  for_each_claim(context.typed, true, [&](const Claim& claim) {
    if (!comparable(claim)) return;
    for (size_t i = 0; i < claim.fact.rank(); ++i) {
      const DeclaredDim& dim = (*claim.value.declared->dims)[i];
      const auto size = (*claim.fact.dims)[i].constant();
      if (dim.value || dim.name.empty() || !size) continue;
      out.add(claim.node(),
              fmt::format("axis {} of {:?} is declared dynamic ({}), but is always {}", i, claim.value.name, dim.name,
                          *size),
              correction(context));
    }
  });
}

}  // namespace anyshape::rules
