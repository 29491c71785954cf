#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anyshape/report.h"
#include "base/error.h"
#include "solve/solve.h"

// A page of one file, which asks for nothing from anywhere.
namespace anyshape::picture {

// What the script of the page draws; docs/picture.md describes it.
std::string picture_json(const Typed& typed);

// The report beside the graph; null: there is none to show.
std::string check_page(const Report& report, const Typed* typed);

// A plan at one shape; `json` is that of plan_json().
struct PlanToShow {
  std::string model, shapes, json;
  std::vector<std::string> steps;  // their names
  std::optional<std::string_view> trace;
};

// Its memory and, where there is a trace of `run --profile`, its time, step by step. Usage error "plan.profile".
Result<std::string> plan_page(const PlanToShow& plan);

// The page of a plan with this data.
std::string plan_frame(const std::string& title, const std::string& data);

}  // namespace anyshape::picture
