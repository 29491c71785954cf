#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape {

class Symbols;
class Condition;
struct DimNode;  // interned polynomial, private to sym/

// An integer expression over the symbols of one Symbols: a constant, or a handle to an interned canonical form.
//
// Laws. `==` is identity of canonical forms and proves nothing; reasoning is a named call (sym/assumptions.h).
// The only division is floor, towards minus infinity, by a divisor > 0. Arithmetic that overflows int64, or grows past
// the size limits of sym/limits.h, gives `unknown()`, which every further operation keeps. Mixing the symbols of two
// Symbols is a programming error.
class Dim {
 public:
  constexpr Dim() = default;
  template <std::integral T>
  constexpr Dim(T value) : value_(static_cast<int64_t>(value)) {}  // NOLINT: a number is an expression
  static Dim unknown();

  bool is_unknown() const;
  bool is_constant() const { return node_ == nullptr; }
  std::optional<int64_t> constant() const { return node_ ? std::nullopt : std::optional(value_); }
  // True when the expression is exactly one symbol.
  bool is_symbol() const;
  // The symbols that occur anywhere in the expression, each once, in order of creation.
  std::vector<Dim> symbols() const;
  bool mentions(Dim symbol) const;

  friend bool operator==(const Dim&, const Dim&) = default;
  friend Dim operator+(Dim a, Dim b);
  friend Dim operator-(Dim a, Dim b);
  friend Dim operator*(Dim a, Dim b);
  Dim operator-() const { return Dim(0) - *this; }

  const DimNode* node() const { return node_; }
  explicit Dim(const DimNode* node) : node_(node) {}

 private:
  const DimNode* node_ = nullptr;
  int64_t value_ = 0;
};

using Dims = std::vector<Dim>;

// Floor division. A divisor that is a constant <= 0 gives unknown(); a symbolic divisor is taken to be >= 1 (the caller
// requires it).
Dim floordiv(Dim a, Dim b);
Dim ceildiv(Dim a, Dim b);
// a - b * floordiv(a, b); printed as a % b.
Dim mod(Dim a, Dim b);
Dim min(Dim a, Dim b);
Dim max(Dim a, Dim b);
// The extent two axes broadcast to: a when b == 1, b when a == 1, a when a == b. The caller requires that one of these
// holds.
Dim broadcast(Dim a, Dim b);
// a where the condition holds, else b.
Dim select(const Condition& condition, Dim a, Dim b);
// The quotient when b divides a as polynomials (coefficients and atoms), e.g. exact_div(6*b*s, 2*s) = 3*b. Takes b !=
// 0.
std::optional<Dim> exact_div(Dim a, Dim b);
Dim product(const Dims& dims);

// The name as it is, without quotes. REQUIRES: is_symbol().
std::string_view symbol_name(Dim symbol);

// The text of an expression, e.g. "(h + 1)//2", "2*w - 3", "min(s, 512)", "h % 32". parse(print(d)) == d.
std::string print(Dim dim);
std::string print(const Dims& dims);  // "[batch, seq, 1]"

// The symbols of one model and every expression made of them. Not thread-safe. Dims are valid as long as it lives.
class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // The symbol of that name, made at first use. Any non-empty text is a name; print quotes what is not an identifier.
  Dim symbol(std::string_view name);
  // A new symbol whose name starts with `stem` and is not in use ("u", "u.1", ...).
  Dim fresh(std::string_view stem);
  std::optional<Dim> find(std::string_view name) const;
  std::string_view name(Dim symbol) const;

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// "(h + 2*p - 3)//2 + 1", "min(a, b)", "max(a, b)", "broadcast(a, b)", "a % 32", "select(a >= b, x, y)"; names that are
// no identifiers stand in single quotes. On failure nullopt and, if given, a sentence with the column.
std::optional<Dim> parse_dim(std::string_view text, Symbols& symbols, std::string* error = nullptr);

// Values for symbols. A symbol without a value makes evaluation fail.
using Binding = std::function<std::optional<int64_t>(Dim symbol)>;
// The exact value, or nullopt: an unbound symbol, overflow, a divisor <= 0, unknown().
std::optional<int64_t> evaluate(Dim dim, const Binding& binding);
// Every symbol with an entry in `values` replaced, recanonicalised. Where all of its symbols have one, the values may
// be of another Symbols: so is the result then.
Dim substitute(Dim dim, const std::vector<std::pair<Dim, Dim>>& values);

}  // namespace anyshape

template <>
struct std::hash<anyshape::Dim> {
  size_t operator()(const anyshape::Dim& d) const {
    return std::hash<const void*>()(d.node()) ^ std::hash<int64_t>()(d.constant().value_or(0));
  }
};
