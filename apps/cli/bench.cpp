#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <list>
#include <thread>

#include "anyshape/check.h"
#include "anyshape/session.h"
#include "cli.h"

namespace anyshape::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kRounds = 10, kLeastRounds = 3;
constexpr Seconds kSlice(0.05), kLongest(10);

// One engine with one number of threads.
struct Contender {
  int threads;
  Context context;
  double best = std::numeric_limits<double>::infinity();
};

struct Side {
  std::string engine;
  std::list<Contender> contenders;

  Contender& best() {
    return *std::min_element(contenders.begin(), contenders.end(),
                             [](const Contender& a, const Contender& b) { return a.best < b.best; });
  }
};

// An input named again starts the next group; inputs not named there keep their sizes.
Result<std::vector<Shapes>> groups_of(const std::vector<std::string>& texts) {
  std::vector<Shapes> groups(1);
  std::vector<std::string> named;
  for (const std::string& text : texts) {
    auto shape = parse_shape(text);
    if (!shape) return fail(shape.error());
    if (std::find(named.begin(), named.end(), shape->first) != named.end()) {
      groups.push_back(groups.back());
      named.clear();
    }
    named.push_back(shape->first);
    groups.back()[shape->first] = std::move(shape->second);
  }
  return groups;
}

std::vector<int> thread_counts(int wanted) {
  if (wanted > 0) return {wanted};
  return std::thread::hardware_concurrency() >= 2 ? std::vector<int>{1, 2} : std::vector<int>{1};
}

class Bench {
 public:
  Bench(const BenchArguments& arguments, const Model& model) : arguments_(arguments), model_(model) {}

  Status add_side(const std::string& engine);
  Status run(const Shapes& shapes);
  std::string table() const;

 private:
  Status compare(const std::vector<AnyValue>& inputs, const std::string& shape);
  Status add_right(const EngineArguments& how, bool optimize, const std::vector<AnyValue>& inputs,
                   const std::vector<AnyValue>& beside);
  Status find_noise(const std::vector<AnyValue>& inputs, const std::vector<AnyValue>& ours,
                    const std::vector<AnyValue>& theirs);
  // Whether what is between the output of anyshape and another one is noise.
  Result<bool> is_noise(const std::vector<AnyValue>& inputs, const std::vector<AnyValue>& ours,
                        const std::vector<AnyValue>& theirs, size_t output);
  static Status run_slice(Contender& contender, const std::vector<AnyValue>& inputs);
  Result<std::string> reference_share(const std::vector<AnyValue>& inputs);

  const BenchArguments& arguments_;
  const Model& model_;
  std::list<Session> sessions_;
  std::vector<Side> sides_;
  std::vector<std::vector<std::string>> rows_;
  // Of the inputs being compared; empty: not needed yet.
  std::vector<std::vector<Computations>> right_;  // of each output
  std::vector<AnyValue> plain_;                   // the outputs as plain loops make them
  std::vector<std::string> notes_;
};

Status Bench::add_side(const std::string& engine) {
  Side side{engine, {}};
  for (const int threads : thread_counts(arguments_.threads)) {
    auto session = make_session(model_, {engine, arguments_.library, threads});
    if (!session) return fail(session.error());
    sessions_.push_back(*std::move(session));
    side.contenders.push_back({threads, Context(sessions_.back(), threads)});
  }
  side.engine = sessions_.back().engine();
  sides_.push_back(std::move(side));
  return {};
}

// One more computation of every output, held against the one the engine gave.
Status Bench::add_right(const EngineArguments& how, bool optimize, const std::vector<AnyValue>& inputs,
                        const std::vector<AnyValue>& beside) {
  SessionOptions options = session_options(how);
  options.optimize = optimize;
  const auto session = Session::from_model(model_, options);
  if (!session) return fail(session.error());
  Context context(*session, how.threads);
  const auto outputs = context.run(inputs);
  if (!outputs) return fail(outputs.error());
  for (size_t i = 0; i < right_.size(); ++i) {
    auto kept = (*outputs)[i].kept();
    if (!kept) return fail(kept.error());
    right_[i].push_back({beside[i], *std::move(kept)});
  }
  return {};
}

// How far right computations of the outputs lie apart: the peer without its optimizer and from inputs a rounding step
// away, anyshape with exact kernels.
Status Bench::find_noise(const std::vector<AnyValue>& inputs, const std::vector<AnyValue>& ours,
                         const std::vector<AnyValue>& theirs) {
  if (!right_.empty()) return {};
  right_.resize(ours.size());
  EngineArguments exact{"anyshape", arguments_.library, 1};
  exact.exact = true;
  if (auto added = add_right(exact, true, inputs, ours); !added) return added;
  if (arguments_.peer.empty()) return {};
  const EngineArguments peer{arguments_.peer, arguments_.library, 1};
  if (auto added = add_right(peer, false, inputs, theirs); !added) return added;
  std::vector<AnyValue> near;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto moved = inputs[i].nudged(i);
    if (!moved) return fail(moved.error());
    near.push_back(*std::move(moved));
  }
  return add_right(peer, true, near, theirs);
}

Result<bool> Bench::is_noise(const std::vector<AnyValue>& inputs, const std::vector<AnyValue>& ours,
                             const std::vector<AnyValue>& theirs, size_t output) {
  if (auto found = find_noise(inputs, ours, theirs); !found) return fail(found.error());
  if (difference(ours[output], theirs[output], Tolerance(), right_[output]).empty()) return true;
  if (plain_.empty()) {
    SessionOptions options;
    options.optimize = false;
    const auto session = Session::from_model(model_, options);
    if (!session) return fail(session.error());
    Context context(*session, 1);
    const auto outputs = context.run(inputs);
    if (!outputs) return fail(outputs.error());
    for (const AnyValue& value : *outputs) {
      auto kept = value.kept();
      if (!kept) return fail(kept.error());
      plain_.push_back(*std::move(kept));
    }
  }
  return equally_right(ours[output], theirs[output], plain_[output]);
}

// Every contender gives the same outputs, up to the noise in them, or nothing is timed.
Status Bench::compare(const std::vector<AnyValue>& inputs, const std::string& shape) {
  std::vector<AnyValue> first;
  right_.clear();
  plain_.clear();
  for (Side& side : sides_)
    for (Contender& contender : side.contenders) {
      auto outputs = contender.context.run(inputs);
      if (!outputs) return fail(outputs.error());
      if (first.empty()) first = *outputs;
      for (size_t i = 0; i < first.size(); ++i) {
        const std::string wrong = difference(first[i], (*outputs)[i], Tolerance());
        if (wrong.empty()) continue;
        const auto noise = is_noise(inputs, first, *outputs, i);
        if (!noise) return fail(noise.error());
        if (!*noise)
          return fail({Error::Kind::refused, "bench.differs", model_.name(),
                       fmt::format("at {}, output {} of {} is not that of {} with {} threads: {}", shape, i,
                                   sides_[0].engine, side.engine, contender.threads, wrong),
                       ""});
        notes_.push_back(line("at {}, output {} of {} with {} threads: {}, which is the noise in it", shape, i,
                              side.engine, contender.threads, wrong));
      }
    }
  return {};
}

// The first run finds the caches of another engine and does not count, unless it fills the slice alone.
Status Bench::run_slice(Contender& contender, const std::vector<AnyValue>& inputs) {
  const auto begin = Clock::now();
  for (int i = 0;; ++i) {
    const auto start = Clock::now();
    const auto outputs = contender.context.run(inputs);
    const auto end = Clock::now();
    if (!outputs) return fail(outputs.error());
    const bool full = end - begin >= kSlice;
    if (i > 0 || full) contender.best = std::min(contender.best, Seconds(end - start).count());
    if (full) return {};
  }
}

// Of the time of all steps in one more run of anyshape, outside of bodies.
Result<std::string> Bench::reference_share(const std::vector<AnyValue>& inputs) {
  Context& context = sides_[0].best().context;
  int64_t all = 0, reference = 0;
  context.observe([&](const ProfiledStep& step) {
    all += step.end_ns - step.begin_ns;
    if (step.kernel == "reference") reference += step.end_ns - step.begin_ns;
  });
  const auto outputs = context.run(inputs);
  context.observe({});
  if (!outputs) return fail(outputs.error());
  return fmt::format("{:.0f} %", all == 0 ? 0.0 : 100.0 * static_cast<double>(reference) / static_cast<double>(all));
}

Status Bench::run(const Shapes& shapes) {
  const auto inputs = random_inputs(model_, sessions_.front(), shapes, 0, "--shape");
  if (!inputs) return fail(inputs.error());
  const std::string shape = shapes.empty() ? "as declared" : printable(to_text(shapes));
  if (auto same = compare(*inputs, shape); !same) return same;
  for (Side& side : sides_)
    for (Contender& contender : side.contenders) contender.best = std::numeric_limits<double>::infinity();
  const auto begin = Clock::now();
  for (int round = 0; round < kRounds && (round < kLeastRounds || Clock::now() - begin < kLongest); ++round)
    for (Side& side : sides_)
      for (Contender& contender : side.contenders)
        if (auto ran = run_slice(contender, *inputs); !ran) return ran;
  std::vector<std::string> row = {shape};
  for (Side& side : sides_) row.push_back(fmt::format("{:.4f} ms ({})", side.best().best * 1e3, side.best().threads));
  if (sides_.size() == 2) row.push_back(fmt::format("{:.2f}", sides_[1].best().best / sides_[0].best().best));
  auto share = reference_share(*inputs);
  if (!share) return fail(share.error());
  row.push_back(*std::move(share));
  rows_.push_back(std::move(row));
  return {};
}

std::string Bench::table() const {
  std::vector<std::vector<std::string>> rows = {{"shape"}};
  for (const Side& side : sides_) rows[0].push_back(side.engine);
  if (sides_.size() == 2) rows[0].push_back("ratio");
  rows[0].push_back("in reference kernels");
  rows.insert(rows.end(), rows_.begin(), rows_.end());
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out =
      line("{}: best run (threads){}", model_.name(), sides_.size() == 2 ? "; ratio over 1: anyshape is faster" : "");
  for (const auto& row : rows) {
    out += fmt::format("  {:<{}}", row[0], widths[0]);
    for (size_t i = 1; i < row.size(); ++i) out += fmt::format("  {:>{}}", row[i], widths[i]);
    out += '\n';
  }
  for (const std::string& note : notes_) out += note;
  return out;
}

Status run_all(const BenchArguments& arguments, std::string& text) {
  const auto groups = groups_of(arguments.shapes);
  if (!groups) return fail(groups.error());
  const auto loaded = load_model(arguments.model);
  if (!loaded) return fail(loaded.error());
  Shapes named;
  for (const Shapes& shapes : *groups) {
    if (auto known = check_input_names(*loaded, shapes); !known) return known;
    named.insert(shapes.begin(), shapes.end());
  }
  const auto model = fed_with(*loaded, named);
  if (!model) return fail(model.error());
  Bench bench(arguments, *model);
  if (auto added = bench.add_side("anyshape"); !added) return added;
  if (!arguments.peer.empty())
    if (auto added = bench.add_side(arguments.peer); !added) return added;
  for (const Shapes& shapes : *groups)
    if (auto ran = bench.run(shapes); !ran) return ran;
  text = bench.table();
  return {};
}

}  // namespace

int run_bench(const BenchArguments& arguments) {
  std::string text;
  const Status done = run_all(arguments, text);
  return done ? write_output("", text) : report_error(done.error());
}

}  // namespace anyshape::cli
