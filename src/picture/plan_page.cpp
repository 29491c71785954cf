#include <fmt/format.h>
#include <simdjson.h>

#include <unordered_map>

#include "base/json.h"
#include "picture/page.h"

namespace anyshape::picture {
namespace {

namespace dom = simdjson::dom;

tl::unexpected<Error> no_profile(std::string_view why) {
  return usage("plan.profile", "it is not what anyshape run --profile writes: {}", why);
}

// Nanoseconds of each step, the events of one name added up.
Result<std::unordered_map<std::string, double>> times_by_name(std::string_view trace) {
  dom::parser parser;
  dom::element root;
  if (const auto error = parser.parse(trace.data(), trace.size()).get(root)) {
    return no_profile(simdjson::error_message(error));
  }
  dom::array events;
  if (root["traceEvents"].get(events)) return no_profile("there are no traceEvents");
  std::unordered_map<std::string, double> out;
  for (const dom::element event : events) {
    std::string_view name;
    double microseconds = 0;
    if (event["name"].get(name) || event["dur"].get(microseconds)) return no_profile("an event has no name or no dur");
    out[std::string(name)] += microseconds * 1e3;
  }
  return out;
}

// By step; of several steps of one name the first has it all.
Result<std::string> times_text(std::span<const std::string> steps, std::string_view trace) {
  TRY(auto times, times_by_name(trace));
  std::string out = "[";
  size_t known = 0;
  for (const std::string& step : steps) {
    const auto time = times.find(step);
    known += time != times.end();
    out += fmt::format("{}{:.0f}", out.size() > 1 ? "," : "", time == times.end() ? 0.0 : time->second);
    if (time != times.end()) times.erase(time);
  }
  if (known == 0 && !steps.empty()) return no_profile("none of its names is a step of this plan");
  return out + "]";
}

}  // namespace

Result<std::string> plan_page(const PlanToShow& plan) {
  std::string times = "null";
  if (plan.trace) {
    TRY(times, times_text(plan.steps, *plan.trace));
  }
  return plan_frame(plan.model, fmt::format("{{\"model\": {}, \"shapes\": {}, \"times\": {},\n\"plan\": {}}}\n",
                                            json_quote(plan.model), json_quote(plan.shapes), times, plan.json));
}

}  // namespace anyshape::picture
