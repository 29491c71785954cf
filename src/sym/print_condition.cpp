#include <algorithm>
#include <set>

#include "sym/condition.h"
#include "sym/node.h"
#include "sym/print.h"
#include "sym/relation.h"

namespace anyshape {
namespace {

using Conjunction = Condition::Conjunction;
using Kind = Relation::Kind;

struct Sides {
  std::string left, right;
  bool left_bare = false;  // nothing but a number, or nothing at all
};

// expr split so that both sides have positive coefficients.
Sides sides(Dim expr) {
  std::vector<Summand> left, right;
  for (Summand s : summands(expr)) {
    if (s.coefficient > 0) {
      left.push_back(s);
    } else {
      s.coefficient = -s.coefficient;
      right.push_back(s);
    }
  }
  bool bare = std::all_of(left.begin(), left.end(), [](const Summand& s) { return s.text.empty(); });
  bool right_bare = std::all_of(right.begin(), right.end(), [](const Summand& s) { return s.text.empty(); });
  // "a - b + 1 == 0" reads better as a == b - 1 than as a + 1 == b.
  if (!right.empty() && !bare && !right_bare && !left.empty() && left.back().text.empty()) {
    Summand constant = left.back();
    left.pop_back();
    constant.coefficient = -constant.coefficient;
    right.push_back(constant);
  } else if (!bare && right_bare && left.back().text.empty()) {
    Summand constant = left.back();
    left.pop_back();
    constant.coefficient = -constant.coefficient;
    right = {constant};
  } else if (bare && !right_bare && !right.empty() && right.back().text.empty()) {
    Summand constant = right.back();
    right.pop_back();
    constant.coefficient = -constant.coefficient;
    left = {constant};
  }
  return {join(left), join(right), bare};
}

std::string relation_text(const Sides& s, const char* forward, const char* backward) {
  return s.left_bare ? s.right + " " + backward + " " + s.left : s.left + " " + forward + " " + s.right;
}

bool symbols_on_both_sides(Dim expr) {
  auto terms = summands(without_constant(expr));
  auto positive = [](const Summand& s) { return s.coefficient > 0; };
  return std::any_of(terms.begin(), terms.end(), positive) && !std::all_of(terms.begin(), terms.end(), positive);
}

std::string modulo_text(Dim expr, Dim divisor) {
  std::string left = print(expr), right = print(divisor);
  const auto& terms = terms_of(expr);
  bool product = terms.size() == 1 && constant_of(expr) == 0 && terms[0].coefficient > 0;
  bool quotient = product && terms[0].monomial->atoms.size() == 1 &&
                  terms[0].monomial->atoms[0]->kind == AtomKind::floordiv && terms[0].coefficient == 1;
  if ((!product || quotient) && !expr.is_constant()) left = parens(left);
  const Atom* atom = atom_of(divisor);
  bool plain = divisor.is_constant() || (atom && atom->kind != AtomKind::floordiv);
  return left + " % " + (plain ? right : parens(right));
}

// The part before "==" and the number after it, for relations that can join an `in {..}`.
struct Membership {
  std::string subject;
  Dim key, divisor = 0;
  int64_t value = 0;
};

std::optional<Membership> membership(const Relation& r) {
  if (r.kind == Kind::divisible) {
    auto d = r.divisor.constant();
    if (!d) return std::nullopt;
    Dim key = without_constant(r.expr);
    return Membership{modulo_text(key, *d), key, *d, floor_mod(-constant_of(r.expr), *d)};
  }
  auto bound = key_bound(r);
  if (r.kind != Kind::eq || !bound) return std::nullopt;
  auto sum = summands(bound->key);
  bool positive = std::all_of(sum.begin(), sum.end(), [](const Summand& s) { return s.coefficient > 0; });
  if (!positive) return std::nullopt;
  return Membership{join(sum), bound->key, 0, bound->value};
}

std::string text(const Relation& r) {
  if (auto m = membership(r)) return m->subject + " == " + std::to_string(m->value);
  switch (r.kind) {
    case Kind::eq:
      return relation_text(sides(r.expr), "==", "==");
    case Kind::ne:
      return relation_text(sides(r.expr), "!=", "!=");
    case Kind::ge:
      if (constant_of(r.expr) == -1 && symbols_on_both_sides(r.expr)) return relation_text(sides(r.expr + 1), ">", "<");
      return relation_text(sides(r.expr), ">=", "<=");
    case Kind::divisible:
      break;
  }
  return modulo_text(r.expr, r.divisor) + " == 0";
}

// "1 <= s <= 512" for a lower and an upper bound of the same expression.
std::optional<std::string> between(const Relation& a, const Relation& b) {
  if (a.kind != Kind::ge || b.kind != Kind::ge) return std::nullopt;
  auto x = key_bound(a), y = key_bound(b);
  if (!x || !y || x->key != y->key || !x->lower || y->lower || symbols_on_both_sides(x->key)) return std::nullopt;
  return std::to_string(x->value) + " <= " + print(x->key) + " <= " + std::to_string(y->value);
}

// A relation as it stands in a row; where it can join an `in {..}`, also the numbers after it.
struct Cell {
  Relation relation;
  std::optional<Membership> member;
  std::set<int64_t> values;

  bool same(const Cell& other) const {
    if (values.size() < 2 && other.values.size() < 2) return relation == other.relation;
    return same_subject(other) && values == other.values;
  }
  bool same_subject(const Cell& other) const {
    return member && other.member && member->key == other.member->key && member->divisor == other.member->divisor;
  }
};
using Row = std::vector<Cell>;

Row row_of(const Conjunction& all) {
  Row row;
  for (const Relation& r : all) {
    Cell cell{r, membership(r), {}};
    if (cell.member) cell.values.insert(cell.member->value);
    row.push_back(std::move(cell));
  }
  return row;
}

std::string text(const Cell& cell) {
  if (cell.values.size() < 2) return text(cell.relation);
  std::string list;
  for (int64_t value : cell.values) list += (list.empty() ? "" : ", ") + std::to_string(value);
  return cell.member->subject + " in {" + list + "}";
}

std::string text(const Row& row) {
  std::string out;
  for (size_t i = 0; i < row.size(); ++i) {
    std::optional<std::string> pair;
    if (i + 1 < row.size()) pair = between(row[i].relation, row[i + 1].relation);
    out += (out.empty() ? "" : " and ") + (pair ? *pair : text(row[i]));
    i += pair.has_value();
  }
  return out.empty() ? "always" : out;
}

// Takes `other` into `row` where they differ in nothing but the numbers of one subject.
bool absorb_print_condition(Row& row, const Row& other) {
  if (row.size() != other.size()) return false;
  std::optional<size_t> at;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i].same(other[i])) continue;
    if (at || !row[i].same_subject(other[i])) return false;
    at = i;
  }
  if (at) row[*at].values.insert(other[*at].values.begin(), other[*at].values.end());
  return true;
}

// The disjuncts, those joined that differ in the numbers of one subject only.
std::vector<Row> rows_of(const std::vector<Conjunction>& any) {
  std::vector<Row> rows;
  for (const Conjunction& all : any) rows.push_back(row_of(all));
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t j = i + 1; j < rows.size();) {
        if (!absorb_print_condition(rows[i], rows[j])) {
          ++j;
          continue;
        }
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(j));
        changed = true;
      }
  }
  return rows;
}

// Open bounds first. Several of them in parentheses where more follows.
std::string alternatives(const std::vector<Conjunction>& any, bool more_follows = false) {
  std::vector<std::string> bounds, parts;
  const std::vector<Row> rows = rows_of(any);
  for (const Row& row : rows) {
    bool bound = row.size() == 1 && row[0].relation.kind == Kind::ge;
    (bound ? bounds : parts).push_back(text(row));
  }
  std::string out;
  for (const auto* group : {&bounds, &parts})
    for (const std::string& part : *group) out += (out.empty() ? "" : " or ") + part;
  return more_follows && rows.size() > 1 ? parens(out) : out;
}

// Where the disjunction is the product of alternatives about separate subjects: those alternatives. Each disjunct must
// be one choice per subject, and every combination must occur.
using Column = std::vector<Conjunction>;
std::optional<std::vector<Column>> columns(const std::vector<Conjunction>& any) {
  auto subject = [](const Relation& r) {
    auto bound = key_bound(r);
    Dim key = bound ? bound->key : without_constant(r.expr);
    return std::pair(key, r.kind == Kind::divisible ? r.divisor : Dim(0));
  };
  std::vector<std::pair<Dim, Dim>> subjects;
  for (const auto& all : any)
    for (const Relation& r : all)
      if (std::find(subjects.begin(), subjects.end(), subject(r)) == subjects.end()) subjects.push_back(subject(r));
  if (subjects.size() < 2) return std::nullopt;
  std::vector<Column> out(subjects.size());
  for (const auto& all : any)
    for (size_t k = 0; k < subjects.size(); ++k) {
      Conjunction choice;
      for (const Relation& r : all)
        if (subject(r) == subjects[k]) choice.push_back(r);
      if (choice.empty()) return std::nullopt;
      if (std::find(out[k].begin(), out[k].end(), choice) == out[k].end()) out[k].push_back(choice);
    }
  size_t combinations = 1;
  for (const Column& column : out) combinations *= column.size();
  return combinations == any.size() ? std::optional(out) : std::nullopt;
}

std::string product_text(const std::vector<Column>& parts) {
  std::string out;
  for (const Column& column : parts) out += (out.empty() ? "" : " and ") + alternatives(column, true);
  return out;
}

// Relations that every disjunct has.
Conjunction common_part(const std::vector<Conjunction>& any) {
  Conjunction common;
  for (const Relation& r : any[0]) {
    bool everywhere = std::all_of(any.begin(), any.end(), [&](const Conjunction& all) {
      return std::find(all.begin(), all.end(), r) != all.end();
    });
    if (everywhere) common.push_back(r);
  }
  return common;
}

}  // namespace

std::string print(const Condition& condition) {
  if (condition.is_opaque()) return "opaque";
  if (condition.is_never()) return "never";
  std::vector<Conjunction> any = condition.any_of();
  if (any.size() == 1) return text(row_of(any[0]));
  if (auto parts = columns(any)) return product_text(*parts);
  Conjunction common = common_part(any);
  if (common.empty()) return alternatives(any);
  for (Conjunction& all : any)
    std::erase_if(all, [&](const Relation& r) { return std::find(common.begin(), common.end(), r) != common.end(); });
  return alternatives(any, true) + " and " + text(row_of(common));
}

}  // namespace anyshape
