#include "tables.h"

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::bench {
namespace {

using Rows = std::vector<const Record*>;

const std::vector<Column> kSteady = {{"ours_us", "anyshape us"},   {"ours_threads", "threads"},
                                     {"ort_us", "ORT us"},         {"ort_threads", "threads"},
                                     {"steady_ratio", "ratio"},    {"ours_items", "items/s"},
                                     {"ort_items", "ORT items/s"}, {"roofline", "% of roofline"}};
const std::vector<Column> kCalls = {{"ours_p50", "p50 us"},           {"ort_p50", "ORT p50"},
                                    {"ours_p99", "p99 us"},           {"ort_p99", "ORT p99"},
                                    {"new_shape_ratio", "new shape"}, {"ours_frozen", "dynamic/frozen"},
                                    {"ort_frozen", "ORT dyn/froz"},   {"shared_ratio", "4 threads"}};
const std::vector<Column> kStart = {
    {"ours_load", "load us"},        {"ort_load", "ORT load"},   {"load_ratio", "ratio"},
    {"ours_first", "first call us"}, {"ort_first", "ORT first"}, {"first_ratio", "ratio"},
    {"ours_memory", "resident MiB"}, {"ort_memory", "ORT MiB"},  {"memory_ratio", "ratio"}};
const std::vector<Column> kOpenvino = {{"ours_us", "anyshape us"},
                                       {"openvino_us", "OpenVINO us"},
                                       {"openvino_threads", "threads"},
                                       {"openvino_ratio", "ratio"}};
const std::vector<Column> kLoaded = {
    {"ours_p50", "p50 us"}, {"ort_p50", "ORT p50"}, {"ours_p99", "p99 us"}, {"ort_p99", "ORT p99"}};

std::string summary(const Rows& rows, std::string_view key) {
  const auto measured = std::count_if(rows.begin(), rows.end(), [&](const Record* row) { return row->has(key); });
  const auto under =
      std::count_if(rows.begin(), rows.end(), [&](const Record* row) { return row->has(key) && row->at(key) < 1; });
  return fmt::format("geometric mean {:.2f}, {} of {} rows under 1 (<)", geometric_mean(rows, key), under, measured);
}

std::string call_note(const Rows& rows) {
  double most = 0;
  for (const Record* row : rows)
    if (row->has("ours_frozen")) most = std::max(most, row->at("ours_frozen"));
  return fmt::format(
      "new shape, 4 threads: ratio over ONNX Runtime, geometric means {:.2f} and {:.2f}; dynamic/frozen: time of the "
      "model as it is over that of the same frozen and simplified, at most {:.2f}, geometric means {:.2f} and {:.2f}",
      geometric_mean(rows, "new_shape_ratio"), geometric_mean(rows, "shared_ratio"), most,
      geometric_mean(rows, "ours_frozen"), geometric_mean(rows, "ort_frozen"));
}

Rows with(const Rows& rows, std::string_view key) {
  Rows out;
  for (const Record* row : rows)
    if (row->has(key)) out.push_back(row);
  return out;
}

}  // namespace

std::vector<const Record*> section(const std::vector<Record>& records, std::string_view name) {
  Rows out;
  for (const Record& record : records)
    if (record.section == name) out.push_back(&record);
  return out;
}

std::vector<Table> tables_of(const std::vector<Record>& records) {
  const Rows rows = section(records, "rows"), further = section(records, "further"), real = section(records, "real");
  Rows all = rows;
  all.insert(all.end(), further.begin(), further.end());
  std::vector<Table> out;
  const auto add = [&](const char* title, const std::vector<Column>& columns, const Rows& of, std::string note) {
    if (!of.empty()) out.push_back({title, std::move(note), columns, of});
  };
  add("Steady: least time of a call, with the better of 1 and 2 threads", kSteady, rows, summary(rows, "steady_ratio"));
  add("Further models", kSteady, further, summary(further, "steady_ratio"));
  add("Real models, out of wheels", kSteady, real, summary(real, "steady_ratio"));
  const Rows called = with(all, "ours_p50"), started = with(all, "ours_load");
  add("Calls: times of single calls, a new shape at every call, frozen, four threads that share a session", kCalls,
      called, call_note(called));
  add("Start: load, first call and resident memory of a process with the engine alone", kStart, started,
      fmt::format("geometric means: load {:.2f}, first call {:.2f}, memory {:.2f}",
                  geometric_mean(started, "load_ratio"), geometric_mean(started, "first_ratio"),
                  geometric_mean(started, "memory_ratio")));
  const Rows other = with(all, "openvino_us");
  add("OpenVINO, float32", kOpenvino, other, summary(other, "openvino_ratio"));
  add("Loaded: calls on two threads while twice as many threads as there are cores are busy", kLoaded,
      section(records, "loaded"), "");
  return out;
}

}  // namespace anyshape::bench
