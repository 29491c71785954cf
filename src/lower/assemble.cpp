#include "lower/assemble.h"

#include <algorithm>

#include "base/among.h"
#include "ir/builder_tidy.h"
#include "ir/note.h"
#include "lower/naming.h"

namespace anyshape::lower {

std::string output_name(const Request& request, size_t index, size_t count, const std::string& path) {
  if (index < request.output_names.size()) return request.output_names[index];
  const std::string named = name_of_path(path);
  if (!named.empty()) return named;
  return count == 1 ? "output" : fmt::format("output_{}", index);
}

Assembly::Assembly(Lowering& lowering, std::shared_ptr<Symbols> symbols, const Request& request, const Axes& axes)
    : lowering_(lowering), request_(request), axes_(axes) {
  out_.symbols = std::move(symbols);
  notes(axes.notes);
}

void Assembly::guard(const Condition& condition, std::string origin, bool advisory) {
  if (condition.is_opaque()) return;
  Guard guard;
  guard.condition = condition;
  guard.text = print(condition);
  guard.origin = std::move(origin);
  guard.advisory = advisory && !among(guard.text, request_.insist) && !among(guard.text, request_.record);
  for (Dim symbol : condition.symbols()) {
    const auto place = axes_.places.find(std::string(out_.symbols->name(symbol)));
    if (place == axes_.places.end()) return;
    guard.symbols.insert(*place);
  }
  const auto same = std::find_if(out_.guards.begin(), out_.guards.end(),
                                 [&](const Guard& other) { return other.condition == condition; });
  if (same == out_.guards.end())
    out_.guards.push_back(std::move(guard));
  else if (same->advisory && !guard.advisory)
    *same = std::move(guard);
}

void Assembly::note(const std::string& sentence) {
  if (!among(sentence, out_.notes)) out_.notes.push_back(sentence);
}

void Assembly::notes(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) note(sentence);
}

void Assembly::state(NamedRefs& outputs, const std::string& name, Ref value, bool given, std::string_view how) {
  const std::string next = name + "_next";
  if (given || request_.training || among(next, request_.output_names))
    outputs.emplace_back(next, value);
  else
    note(
        fmt::format("the module changes its attribute {0}: the exported model begins with the archive's value each "
                    "time; the output name \"{0}_next\" asks for what it becomes{1}",
                    name, how));
}

Status Assembly::check_names(const NamedRefs& outputs, size_t results) const {
  for (size_t i = results; i < request_.output_names.size(); ++i) {
    const bool made = std::any_of(outputs.begin(), outputs.end(),
                                  [&](const auto& one) { return one.first == request_.output_names[i]; });
    if (!made)
      return usage("names.outputs", "{} output names are given, the program has {} outputs",
                   request_.output_names.size(), outputs.size());
  }
  return {};
}

Result<Lowered> Assembly::finish(NamedRefs outputs) {
  for (const auto& [condition, why] : lowering_.assumed()) guard(condition, why);
  if (request_.embed_guards && !outputs.empty()) {
    for (const Guard& guard : out_.guards) {
      if (guard.advisory || among(guard.text, request_.forget) || among(guard.text, request_.record)) continue;
      // Any runtime that fails there names the node, and so the condition.
      lowering_->set_place(fmt::format("/guard/{}", guard.text), {{std::string(kGuardNote), guard.text}});
      outputs[0].second = lowering_.guarded(outputs[0].second, guard.condition);
    }
  }
  lowering_->set_place("/guard");
  TRY(out_.graph, lowering_.finish(std::move(outputs)));
  out_.weights = lowering_.opened();
  Facts facts = lowering_->facts();
  for (const auto& [domain, version] : lowering_->domains()) out_.opsets.emplace_back(domain, version);
  std::sort(out_.opsets.begin(), out_.opsets.end());
  TRY_OK(name_outputs(*out_.graph, request_, lowering_->assumptions(), facts, out_.notes));
  declare_ends(*out_.graph, facts);
  return std::move(out_);
}

}  // namespace anyshape::lower
