#pragma once

#include <string_view>

#include "base/error.h"
#include "tensor/datum.h"

namespace anyshape {

// The same value in memory that stays as it is: tensors over memory of a caller or an arena are copied. `always`: all
// are, because memory that somebody shares is about to be written.
Result<Datum> own(const Datum& datum, bool always = false);

// `to` becomes what `from` is, with no share in the memory of a tensor of numbers. Allocates nothing where it had as
// many axes before.
void lend(Datum& to, const Datum& from);
// What is lent may stay; all else is forgotten.
void forget_shares(Datum& datum);

// Makes it absent, but keeps its memory for sizes: a tensor of as many axes can be put there without allocating.
void forget(Datum& datum);

// Copies the entries of `from` to where `to` is. Error "output.shape" when they are not of one type and shape.
Status copy_into(Datum& to, const Datum& from, std::string_view output);

}  // namespace anyshape
