#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tensor/small_float.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

// What the attributes of Cast say about floats of 8 bits and less.
struct CastRules {
  bool saturate = true;
  PowerRounding rounding = PowerRounding::up;
};

// to[i] = from[i] as another element type: bool, integers, floats and strings, also those under 8 bits. Integers keep
// their low bits; floats are cut towards zero, those out of range become the smallest value of the integer type as x86
// does; anything but zero is true. Strings: see number_text and parse_number; code "cast.string" where one holds no
// number. Error kind unknown for complex types. REQUIRES: equal count.
Status convert(const Tensor& from, Tensor& to, const CastRules& rules = {});

// A float as int64, cut towards zero; INT64_MIN when it is out of range or no number.
int64_t truncate_to_int64(double value);

// Element i as text: integers in decimal, bool as True or False, floats with the fewest digits that give them back,
// with ".0" where they are whole, with an exponent below 1e-4 and from 1e16 on, nan, inf. REQUIRES: no complex number.
std::string number_text(const Tensor& tensor, int64_t i);

// A decimal number, inf or nan in any case, spaces around it ignored; nullopt for other texts.
std::optional<double> parse_number(std::string_view text);

}  // namespace anyshape::kernels
