#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "format/pt2/expression.h"

namespace anyshape::pt2 {
namespace {

using Kind = Expression::Kind;

struct Sign {
  std::string_view name, text;
  int level;
  size_t most;  // operands
};

constexpr int kExpressionPrintNot = 3, kAdd = 8, kUnary = 10, kPower = 11, kAtom = 12;
constexpr std::array kExpressionPrintSigns = {
    Sign{"or", " or ", 1, SIZE_MAX}, Sign{"and", " and ", 2, SIZE_MAX}, Sign{"eq", " == ", 4, 2},
    Sign{"ne", " != ", 4, 2},        Sign{"le", " <= ", 4, 2},          Sign{"ge", " >= ", 4, 2},
    Sign{"lt", " < ", 4, 2},         Sign{"gt", " > ", 4, 2},           Sign{"add", " + ", kAdd, SIZE_MAX},
    Sign{"mul", "*", 9, SIZE_MAX},   Sign{"truediv", "/", 9, 2},        Sign{"floordiv", "//", 9, 2},
    Sign{"mod", " % ", 9, 2},        Sign{"pow", "**", kPower, 2},
};

const Sign* sign_of(const Expression& e) {
  const auto fits = [&](const Sign& s) { return s.name == e.name && e.args.size() >= 2 && e.args.size() <= s.most; };
  const auto* it = std::find_if(kExpressionPrintSigns.begin(), kExpressionPrintSigns.end(), fits);
  return it == kExpressionPrintSigns.end() ? nullptr : it;
}

bool is_negation(const Expression& e, std::string_view name) {
  return e.kind == Kind::call && e.name == name && e.args.size() == 1;
}

void write(const Expression& e, int level, std::string& out);

void write_list(const std::vector<Expression>& args, std::string& out) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (i > 0) out += ", ";
    write(args[i], 0, out);
  }
}

void write_operands(const Expression& e, const Sign& sign, std::string& out) {
  const bool power = sign.level == kPower;
  for (size_t i = 0; i < e.args.size(); ++i) {
    const Expression& arg = e.args[i];
    // The first operand binds as tightly as the sign itself where chains go to the left.
    const bool first = i == 0 && sign.level != 4 && !power;
    if (i > 0 && sign.level == kAdd && is_negation(arg, "neg")) {
      out += " - ";
      write(arg.args[0], kAdd + 1, out);
      continue;
    }
    if (i > 0) out += sign.text;
    write(arg, first ? sign.level : sign.level + 1, out);
  }
}

int level_of(const Expression& e) {
  if (e.kind == Kind::integer) return e.integer < 0 ? kUnary : kAtom;
  if (e.kind == Kind::real) return std::signbit(e.real) ? kUnary : kAtom;
  if (e.kind != Kind::call) return kAtom;
  if (is_negation(e, "neg")) return kUnary;
  if (is_negation(e, "not")) return kExpressionPrintNot;
  const Sign* sign = sign_of(e);
  return sign == nullptr ? kAtom : sign->level;
}

// With a point or an exponent, so that it is read as a real again.
std::string real_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  std::string out = fmt::format("{}", value);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

void write_call(const Expression& e, std::string& out) {
  if (is_negation(e, "neg")) {
    out += '-';
    // A number behind the sign would be read as a negative number.
    const bool number = e.args[0].kind == Kind::integer || e.args[0].kind == Kind::real;
    return write(e.args[0], number ? kAtom + 1 : kPower, out);
  }
  if (is_negation(e, "not")) {
    out += "not ";
    return write(e.args[0], kExpressionPrintNot, out);
  }
  if (const Sign* sign = sign_of(e)) return write_operands(e, *sign, out);
  out += e.name + "(";
  write_list(e.args, out);
  out += ')';
}

void write(const Expression& e, int level, std::string& out) {
  const bool brackets = level_of(e) < level;
  if (brackets) out += '(';
  switch (e.kind) {
    case Kind::integer:
      out += std::to_string(e.integer);
      break;
    case Kind::real:
      out += real_text(e.real);
      break;
    case Kind::boolean:
      out += e.integer != 0 ? "True" : "False";
      break;
    case Kind::symbol:
      out += e.name;
      break;
    case Kind::size:
      out += fmt::format("{}.size({})", e.name, e.integer);
      break;
    case Kind::call:
      write_call(e, out);
      break;
  }
  if (brackets) out += ')';
}

}  // namespace

std::string print(const Expression& expression) {
  std::string out;
  write(expression, 0, out);
  return out;
}

}  // namespace anyshape::pt2
