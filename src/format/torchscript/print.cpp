#include <cmath>

#include "format/torchscript/source.h"

namespace anyshape::torchscript {
namespace {

using Kind = Expr::Kind;

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) {
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string join(const std::vector<Expr>& args, size_t from) {
  std::string out;
  for (size_t i = from; i < args.size(); ++i) out += fmt::format("{}{}", i > from ? ", " : "", print(args[i]));
  return out;
}

std::string call(const Expr& expr) {
  std::string out = print(expr.args[0]) + "(";
  for (size_t i = 1; i < expr.args.size(); ++i) {
    if (i > 1) out += ", ";
    if (!expr.keywords[i - 1].empty()) out += expr.keywords[i - 1] + "=";
    out += print(expr.args[i]);
  }
  return out + ")";
}

std::string dict(const Expr& expr) {
  std::string out = "{";
  for (size_t i = 0; i + 1 < expr.args.size(); i += 2) {
    out += fmt::format("{}{}: {}", i > 0 ? ", " : "", print(expr.args[i]), print(expr.args[i + 1]));
  }
  return out + "}";
}

std::string slice(const Expr& expr) {
  std::string out;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    if (i > 0) out += ":";
    if (expr.args[i].kind != Kind::none) out += print(expr.args[i]);
  }
  return out;
}

// A tuple needs no brackets there, and must have none where it holds a slice.
std::string index(const Expr& expr) {
  if (expr.kind != Kind::tuple || expr.args.empty()) return print(expr);
  return join(expr.args, 0) + (expr.args.size() == 1 ? "," : "");
}

std::string infix(const Expr& expr, std::string_view op) {
  return fmt::format("({} {} {})", print(expr.args[0]), op, print(expr.args[1]));
}

std::string operation(const Expr& expr) {
  switch (expr.kind) {
    case Kind::unary:
      return fmt::format("({}{}{})", expr.text, expr.text == "not" ? " " : "", print(expr.args[0]));
    case Kind::both:
      return infix(expr, "and");
    case Kind::either:
      return infix(expr, "or");
    case Kind::ternary:
      return fmt::format("({} if {} else {})", print(expr.args[0]), print(expr.args[1]), print(expr.args[2]));
    default:
      return infix(expr, expr.text);
  }
}

}  // namespace

std::string print(const Expr& expr) {
  switch (expr.kind) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return expr.integer != 0 ? "True" : "False";
    case Kind::integer:
      return fmt::format("{}", expr.integer);
    case Kind::real:
      return number(expr.real);
    case Kind::imaginary:
      return number(expr.real) + "j";
    case Kind::text:
      return quoted(expr.text);
    case Kind::name:
      return expr.text;
    case Kind::attribute:
      return fmt::format("{}.{}", print(expr.args[0]), expr.text);
    case Kind::call:
      return call(expr);
    case Kind::star:
      return fmt::format("*{}", print(expr.args[0]));
    case Kind::subscript:
      return fmt::format("{}[{}]", print(expr.args[0]), index(expr.args[1]));
    case Kind::slice:
      return slice(expr);
    case Kind::list:
      return fmt::format("[{}]", join(expr.args, 0));
    case Kind::tuple:
      return fmt::format("({}{})", join(expr.args, 0), expr.args.size() == 1 ? "," : "");
    case Kind::dict:
      return dict(expr);
    default:
      return operation(expr);
  }
}

}  // namespace anyshape::torchscript
