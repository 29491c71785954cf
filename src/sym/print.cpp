#include "sym/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/printable.h"
#include "base/utf8.h"
#include "sym/condition.h"
#include "sym/node.h"

namespace anyshape {
namespace {

// Every byte of what is not seen as an escape, so that parsing gives back the name.
std::string quoted(std::string_view name) {
  std::string out = "'";
  while (!name.empty()) {
    const Utf8Character first = utf8_first(name);
    if (first.point == U'\'' || first.point == U'\\') out += '\\';
    if (first.point && !is_hidden(*first.point))
      out += first.bytes;
    else
      for (char c : first.bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    name.remove_prefix(first.bytes.size());
  }
  return out + "'";
}

std::string name_text(const std::string& name) { return is_identifier(name) ? name : quoted(name); }

bool stands_alone(Dim dim) {
  if (auto value = dim.constant()) return *value >= 0;
  const Atom* atom = atom_of(dim);
  return atom && atom->kind != AtomKind::floordiv;
}

// As an operand of // or %.
std::string operand(Dim dim) { return stands_alone(dim) ? print(dim) : parens(print(dim)); }

std::string list(const Dims& args) {
  std::string out;
  for (Dim arg : args) out += (out.empty() ? "" : ", ") + print(arg);
  return out;
}

std::string atom_text(const Atom& atom) {
  switch (atom.kind) {
    case AtomKind::symbol:
      return name_text(atom.name);
    case AtomKind::floordiv:
      return operand(atom.args[0]) + "//" + operand(atom.args[1]);
    case AtomKind::min:
      return fmt::format("min({})", list(atom.args));
    case AtomKind::max:
      return fmt::format("max({})", list(atom.args));
    case AtomKind::broadcast:
      return fmt::format("broadcast({})", list(atom.args));
    case AtomKind::select:
      return fmt::format("select({}, {})", print(*atom.condition), list(atom.args));
  }
  return {};
}

Summand summand(const Term& term) {
  Summand out{term.coefficient, {}, true};
  const auto& atoms = term.monomial->atoms;
  if (atoms.size() == 1) {
    out.text = atom_text(*atoms[0]);
    out.simple = atoms[0]->kind != AtomKind::floordiv;
    return out;
  }
  for (const Atom* atom : atoms) {
    std::string text = atom_text(*atom);
    if (atom->kind == AtomKind::floordiv) text = parens(text);
    out.text += (out.text.empty() ? "" : "*") + text;
  }
  return out;
}

// As the dividend of %: a product needs no parentheses.
std::string dividend_text(Dim dim) {
  const auto& terms = terms_of(dim);
  bool plain = terms.size() == 1 && constant_of(dim) == 0 && terms[0].coefficient > 0;
  if (plain && terms[0].monomial->atoms.size() == 1 && terms[0].coefficient == 1) return operand(dim);
  return plain ? print(dim) : parens(print(dim));
}

// -factor * divisor is what stands before the quotient in `term`; 0 when it is no multiple.
int64_t remainder_factor(const Term& term, const Atom& quotient) {
  auto rest = exact_div(dim_of(term), dim_of(&quotient));
  if (!rest) return 0;
  auto factor = exact_div(-*rest, quotient.args[1]);
  return factor && factor->is_constant() ? *factor->constant() : 0;
}

bool contains_terms(Dim dim, Dim part) {
  const auto& have = terms_of(dim);
  return std::all_of(terms_of(part).begin(), terms_of(part).end(),
                     [&](const Term& t) { return std::find(have.begin(), have.end(), t) != have.end(); });
}

// Takes one remainder e % d (times a factor) out of the sum.
std::optional<Summand> take_remainder(Dim& dim) {
  for (const Term& term : terms_of(dim))
    for (const Atom* atom : term.monomial->atoms) {
      if (atom->kind != AtomKind::floordiv) continue;
      int64_t factor = remainder_factor(term, *atom);
      Dim dividend = atom->args[0] * factor;
      if (factor == 0 || dividend.is_constant() || dividend.is_unknown() || !contains_terms(dim, dividend)) continue;
      Dim rest = dim - dividend - dim_of(term);
      if (rest.is_unknown()) continue;
      std::string text = dividend_text(atom->args[0]) + " % " + operand(atom->args[1]);
      dim = rest;
      return Summand{factor, std::move(text), false};
    }
  return std::nullopt;
}

void append(std::string& out, const Summand& s) {
  bool negative = s.coefficient < 0;
  bool unary = negative && out.empty();
  if (unary) out += '-';
  if (!unary && !out.empty()) out += negative ? " - " : " + ";
  uint64_t size = negative ? 0 - static_cast<uint64_t>(s.coefficient) : static_cast<uint64_t>(s.coefficient);
  bool factor = size != 1 || s.text.empty();
  if (factor) out += std::to_string(size);
  if (s.text.empty()) return;
  if (factor) out += "*";
  out += (factor || unary) && !s.simple ? parens(s.text) : s.text;
}

}  // namespace

std::string parens(std::string_view text) { return fmt::format("({})", text); }

bool is_identifier(std::string_view name) {
  for (std::string_view word : {"and", "or", "not", "in", "always", "never", "opaque"})
    if (name == word) return false;
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.empty() || !letter(name[0])) return false;
  for (size_t i = 1; i < name.size(); ++i) {
    if (letter(name[i]) || digit(name[i])) continue;
    bool inner = name[i] == '.' && i + 1 < name.size() && name[i + 1] != '.';
    if (!inner) return false;
  }
  return true;
}

std::vector<Summand> summands(Dim dim) {
  std::vector<Summand> out;
  std::vector<Summand> remainders;
  while (auto taken = take_remainder(dim)) remainders.push_back(*taken);
  for (const Term& term : terms_of(dim)) out.push_back(summand(term));
  out.insert(out.end(), remainders.begin(), remainders.end());
  if (int64_t constant = constant_of(dim)) out.push_back({constant, {}, true});
  return out;
}

std::string join(const std::vector<Summand>& sum) {
  if (sum.empty()) return "0";
  std::string out;
  auto first = std::find_if(sum.begin(), sum.end(), [](const Summand& s) { return s.coefficient > 0; });
  if (first != sum.end()) append(out, *first);
  for (auto it = sum.begin(); it != sum.end(); ++it)
    if (it != first) append(out, *it);
  return out;
}

std::string print(Dim dim) {
  if (dim.is_unknown()) return "?";
  if (auto value = dim.constant()) return std::to_string(*value);
  return join(summands(dim));
}

std::string print(const Dims& dims) { return fmt::format("[{}]", list(dims)); }

}  // namespace anyshape
