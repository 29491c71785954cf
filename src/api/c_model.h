#pragma once

#include <string>
#include <vector>

#include "anyshape/c.h"
#include "anyshape/model.h"
#include "anyshape/report.h"

namespace anyshape {

// Values as C sees them: what the structs point at stays where it is.
class CValues {
 public:
  explicit CValues(std::vector<ValueType> values);
  CValues(CValues&&) = default;
  CValues(const CValues&) = delete;

  size_t size() const { return types_.size(); }
  // NULL past the last one.
  const anyshape_value_type* at(size_t index) const { return index < types_.size() ? &types_[index] : nullptr; }

 private:
  std::vector<ValueType> values_;
  std::vector<std::vector<const char*>> dims_;
  std::vector<std::vector<int64_t>> sizes_;
  std::vector<anyshape_value_type> types_;
};

}  // namespace anyshape

struct anyshape_model {
  anyshape_model(anyshape::Model its_model, anyshape::Report its_report);

  anyshape::Model model;
  anyshape::Report report;  // without findings
  std::string accepted;
  anyshape::CValues inputs, outputs, optional;
  std::vector<anyshape_condition> conditions;
};

namespace anyshape {

inline std::string_view words_of(const char* options) { return options ? options : ""; }

// The error, or nullptr and the thing in `out`.
anyshape_error* give_text(Result<std::string> text, anyshape_text** out);
anyshape_error* give_model(Result<Model> model, anyshape_model** out);

}  // namespace anyshape
