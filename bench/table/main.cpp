// The speed table: anyshape beside ONNX Runtime, both in this process, taking turns. See docs/benchmarks.md.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "anyshape/terminal.h"
#include "child.h"
#include "row_bench.h"
#include "tables.h"

namespace anyshape::bench {
namespace {

struct Arguments {
  Settings settings;
  double limit = 330;  // seconds for all rows; single calls are watched for a shorter time where it comes near
  File program, rows = "build/bench/rows.tsv", json = "build/bench/result.json";
  std::string child, count;       // an engine; a row: this process is asked for numbers
  std::vector<std::string> rest;  // parts of titles; of a child the place of the row
};

constexpr const char* kUsage =
    "speed_table [--quick] [--threads N] [--seconds S] [--limit S] [--rows FILE] [--json FILE] [PART OF A ROW'S "
    "NAME]...\n"
    "speed_table --child ENGINE INDEX     load and first call of a row (us), resident memory (MiB)\n"
    "speed_table --count MODEL INPUTS     ten runs of a model on one thread, for callgrind; \"load\": ten loads\n";

std::vector<int> thread_counts() {
  return std::thread::hardware_concurrency() >= 2 ? std::vector<int>{1, 2} : std::vector<int>{1};
}

// False: they are not understood.
bool parse(int count, char** words, Arguments& out) {
  out.settings.threads = thread_counts();
  out.program = words[0];
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--quick") {
      out.settings.quick = true;
    } else if (!word.starts_with("--")) {
      out.rest.push_back(word);
    } else if (++i == count) {
      return false;
    } else if (word == "--threads") {
      out.settings.threads = {std::max(1, std::atoi(words[i]))};
    } else if (word == "--seconds" || word == "--limit") {
      (word == "--seconds" ? out.settings.seconds : out.limit) = std::atof(words[i]);
    } else if (word == "--rows" || word == "--json") {
      (word == "--rows" ? out.rows : out.json) = words[i];
    } else if (word == "--child" || word == "--count") {
      (word == "--child" ? out.child : out.count) = words[i];
    } else {
      return false;
    }
  }
  return (out.child.empty() && out.count.empty()) || out.rest.size() == 1;
}

bool wanted(const Row& row, const std::vector<std::string>& only) {
  const auto within = [&](const std::string& part) { return row.title().find(part) != std::string::npos; };
  return only.empty() || std::any_of(only.begin(), only.end(), within);
}

// The line on a terminal that says where the run is.
void show(const std::string& text) {
  if (!progress_wanted()) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

// How long to watch single calls of each engine, with so many rows and seconds left; the rest of a row takes about
// three.
double call_seconds(double seconds, size_t rows, double most) {
  return std::clamp((seconds / static_cast<double>(rows) - 3) / 2, most / 10, most);
}

std::vector<Record> measure(const std::vector<Row>& rows, const Arguments& arguments, const Machine& machine) {
  const auto start = Clock::now();
  Settings settings = arguments.settings;
  std::vector<Record> records;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (!wanted(row, arguments.rest)) continue;
    show(row.title());
    settings.call_seconds =
        call_seconds(arguments.limit - seconds_since(start), rows.size() - i, arguments.settings.call_seconds);
    records.push_back({row.section, row.name, row.shape, {}, ""});
    Status done = RowBench(row, settings, machine, records.back()).run();
    if (done && !arguments.settings.quick && row.section != "real")
      done = measure_start(arguments.program, arguments.rows, i, records.back());
    if (!done) records.back().trouble = done.error().text();
  }
  show("");
  return records;
}

// The row of about 200 us, measured while twice as many threads as there are cores keep them busy.
std::vector<Record> measure_loaded(const std::vector<Row>& rows, const std::vector<Record>& records,
                                   const Settings& settings) {
  const Record* nearest = nullptr;
  const auto distance = [](const Record& r) { return std::abs(std::log(r.at("ort_us") / 200)); };
  for (const Record& record : records)
    if (record.section == "rows" && record.has("ort_us"))
      if (nearest == nullptr || distance(record) < distance(*nearest)) nearest = &record;
  if (nearest == nullptr) return {};
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& r) { return r.name == nearest->name && r.shape == nearest->shape; });
  std::vector<Record> out = {{"loaded", row->name, row->shape, {}, ""}};
  const int busy = 2 * static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (const Status done = run_loaded(*row, settings, busy, out[0]); !done) out[0].trouble = done.error().text();
  return out;
}

Status run_as_child(const Arguments& arguments, const std::vector<Row>& rows) {
  for (const EngineName& engine : kEngines)
    if (engine.name == arguments.child)
      return run_child(rows, static_cast<size_t>(std::atoi(arguments.rest[0].c_str())), engine);
  return usage("bench.engine", "no engine is called {}", arguments.child);
}

Status run_as_counted(const Arguments& arguments) {
  Row row;
  row.name = row.model = arguments.count;
  row.inputs = arguments.rest[0];
  return row.inputs == "load" ? load_counted(row, 10) : run_counted(row, 10);
}

void print_machine(const std::vector<std::string>& facts, const Machine& machine) {
  fmt::print("{}\n", fmt::join(facts, ", "));
  for (const auto& [name, value] : machine.numbers()) fmt::print("{:>24} {:8.1f}\n", name, value);
}

int run_table(const Arguments& arguments, const std::vector<Row>& rows) {
  std::vector<std::string> facts = machine_facts();
  facts.push_back("ONNX Runtime " + onnxruntime_version().value_or("is missing"));
  const Machine machine = Machine::measure(arguments.settings.threads);
  print_machine(facts, machine);
  std::vector<Record> records = measure(rows, arguments, machine);
  if (!arguments.settings.quick)
    for (Record& record : measure_loaded(rows, records, arguments.settings)) records.push_back(std::move(record));
  const std::vector<Table> tables = tables_of(records);
  for (const Table& table : tables) fmt::print("{}", text_of(table));
  if (const auto openvino = load_openvino(rows[0].model, 1); !openvino && !arguments.settings.quick)
    fmt::print("\nno table of OpenVINO: {}\n", openvino.error().text());
  const Status written = write_text(arguments.json, json_of(machine.numbers(), facts, records, tables));
  if (!written) fmt::print("{}\n", written.error().text());
  fmt::print("\ngeomean vs onnxruntime: {:.2f}x\n", geometric_mean(section(records, "rows"), "steady_ratio"));
  return std::all_of(records.begin(), records.end(), [](const Record& r) { return r.trouble.empty(); }) ? 0 : 1;
}

int run(const Arguments& arguments) {
  Status done;
  if (!arguments.count.empty()) {
    done = run_as_counted(arguments);
  } else {
    const auto rows = read_rows(arguments.rows);
    if (rows && arguments.child.empty()) return run_table(arguments, *rows);
    done = rows ? run_as_child(arguments, *rows) : tl::unexpected(rows.error());
  }
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().text());
  return 2;
}

}  // namespace
}  // namespace anyshape::bench

int main(int count, char** words) {
  using namespace anyshape::bench;
  Arguments arguments;
  if (!parse(count, words, arguments)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  return run(arguments);
}
