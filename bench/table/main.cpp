// The speed table: anyshape beside ONNX Runtime, both in this process, taking turns. See docs/benchmarks.md.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "row_bench.h"

namespace anyshape::bench {
namespace {

struct Arguments {
  Settings settings;
  File rows = "build/bench/rows.tsv", json = "build/bench/result.json";
  std::vector<std::string> only;  // parts of titles
};

constexpr const char* kUsage =
    "speed_table [--quick] [--threads N] [--seconds S] [--rows FILE] [--json FILE] [PART OF A ROW'S NAME]...\n";

std::vector<int> thread_counts() {
  return std::thread::hardware_concurrency() >= 2 ? std::vector<int>{1, 2} : std::vector<int>{1};
}

// False: they are not understood.
bool parse(int count, char** words, Arguments& out) {
  out.settings.threads = thread_counts();
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool more = i + 1 < count;
    if (word == "--quick") {
      out.settings.quick = true;
    } else if (word == "--threads" && more) {
      out.settings.threads = {std::max(1, std::atoi(words[++i]))};
    } else if (word == "--seconds" && more) {
      out.settings.seconds = std::atof(words[++i]);
    } else if (word == "--rows" && more) {
      out.rows = words[++i];
    } else if (word == "--json" && more) {
      out.json = words[++i];
    } else if (word.starts_with("--")) {
      return false;
    } else {
      out.only.push_back(word);
    }
  }
  return true;
}

bool wanted(const Row& row, const std::vector<std::string>& only) {
  const auto within = [&](const std::string& part) { return row.title().find(part) != std::string::npos; };
  return only.empty() || std::any_of(only.begin(), only.end(), within);
}

std::vector<const Record*> section(const std::vector<Record>& records, std::string_view name) {
  std::vector<const Record*> out;
  for (const Record& record : records)
    if (record.section == name) out.push_back(&record);
  return out;
}

const std::vector<Column> kSteady = {{"ours_us", "anyshape us"},   {"ours_threads", "threads"},
                                     {"ort_us", "ORT us"},         {"ort_threads", "threads"},
                                     {"steady_ratio", "ratio"},    {"ours_items", "items/s"},
                                     {"ort_items", "ORT items/s"}, {"roofline", "% of roofline"}};

std::string summary(const std::vector<const Record*>& rows) {
  const auto under = std::count_if(rows.begin(), rows.end(), [](const Record* row) {
    return row->has("steady_ratio") && row->at("steady_ratio") < 1;
  });
  return fmt::format("geometric mean {:.2f}, {} of {} rows under 1 (<)", geometric_mean(rows, "steady_ratio"), under,
                     rows.size());
}

void add_table(std::vector<Table>& tables, std::string title, const std::vector<const Record*>& rows) {
  if (!rows.empty()) tables.push_back({std::move(title), summary(rows), kSteady, rows});
}

std::vector<Record> measure(const std::vector<Row>& rows, const Arguments& arguments, const Machine& machine) {
  std::vector<Record> records;
  for (const Row& row : rows) {
    if (!wanted(row, arguments.only)) continue;
    records.push_back({row.section, row.name, row.shape, {}, ""});
    const Status done = RowBench(row, arguments.settings, machine, records.back()).run();
    if (!done) records.back().trouble = done.error().text();
    std::fprintf(stderr, "\r\033[K%s %s", row.title().c_str(), done ? "" : done.error().text().c_str());
  }
  std::fprintf(stderr, "\r\033[K");
  return records;
}

int run(const Arguments& arguments) {
  const auto rows = read_rows(arguments.rows);
  if (!rows) {
    fmt::print(stderr, "{}\n", rows.error().text());
    return 2;
  }
  const auto facts = machine_facts();
  const Machine machine = Machine::measure(arguments.settings.threads);
  fmt::print("{}\n", fmt::join(facts, ", "));
  for (const auto& [name, value] : machine.numbers()) fmt::print("{:>24} {:8.1f}\n", name, value);
  const std::vector<Record> records = measure(*rows, arguments, machine);
  std::vector<Table> tables;
  add_table(tables, "steady: least time of a call, best number of threads", section(records, "rows"));
  add_table(tables, "further models", section(records, "further"));
  add_table(tables, "real models", section(records, "real"));
  for (const Table& table : tables) fmt::print("{}", text_of(table));
  std::ofstream(arguments.json) << json_of(machine.numbers(), facts, records, tables);
  fmt::print("\ngeomean vs onnxruntime: {:.2f}x\n", geometric_mean(section(records, "rows"), "steady_ratio"));
  return std::all_of(records.begin(), records.end(), [](const Record& r) { return r.trouble.empty(); }) ? 0 : 1;
}

}  // namespace
}  // namespace anyshape::bench

int main(int count, char** words) {
  anyshape::bench::Arguments arguments;
  if (!anyshape::bench::parse(count, words, arguments)) {
    std::fputs(anyshape::bench::kUsage, stderr);
    return 2;
  }
  return anyshape::bench::run(arguments);
}
