#include "row_bench.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace anyshape::bench {
namespace {

constexpr double kMicro = 1e6;
// Of the largest entry of an output. One step of a quantised activation is 1/255 of its range, and where two engines
// round to different sides it goes on through the layers.
constexpr double kLimit = 1e-4, kQuantisedLimit = 5e-2;
constexpr int kNewShapes = 24, kSharing = 4;

const Contender& best_of(const std::vector<Contender>& side) {
  return *std::min_element(side.begin(), side.end(),
                           [](const Contender& a, const Contender& b) { return a.best < b.best; });
}

// With the feed bound.
Result<Contender> ready(std::string_view engine, int threads, Result<RunnerPtr> runner, const Feed& feed) {
  if (!runner) return tl::unexpected(std::move(runner).error());
  TRY_OK((*runner)->bind(feed));
  return Contender{.engine = std::string(engine), .threads = threads, .runner = *std::move(runner)};
}

std::vector<Contender> together(std::vector<Contender> a, std::vector<Contender> b) {
  for (Contender& contender : b) a.push_back(std::move(contender));
  return a;
}

}  // namespace

Status RowBench::load(const EngineName& engine, std::vector<Contender>& side) const {
  for (const int threads : settings_.threads) {
    TRY(Contender contender, ready(engine.name, threads, engine.load(row_.model, threads), feed_));
    side.push_back(std::move(contender));
  }
  return {};
}

double RowBench::limit() const { return row_.name.starts_with("quantised") ? kQuantisedLimit : kLimit; }

// Twice: the second run goes into memory that has been written before.
Status RowBench::compare() {
  TRY(want_, theirs_.front().runner->outputs());
  for (std::vector<Contender>* side : {&ours_, &theirs_})
    for (Contender& contender : *side)
      for (int times = 0; times < 2; ++times) {
        TRY(const auto got, contender.runner->outputs());
        if (const std::string wrong = difference_of(got, want_, limit(), row_.scale); !wrong.empty())
          return refuse("bench.differs", "{} with {} threads: {}", contender.engine, contender.threads, wrong);
        TRY_OK(contender.runner->run());
      }
  return {};
}

void RowBench::set_pair(const std::string& key, double ours, double theirs) {
  record_.numbers["ours_" + key] = ours;
  record_.numbers["ort_" + key] = theirs;
}

Status RowBench::steady() {
  const size_t count = ours_.size();
  std::vector<Contender> all = together(std::move(ours_), std::move(theirs_));
  const Status done = take_turns(all, settings_.seconds / static_cast<double>(count));
  ours_.clear(), theirs_.clear();
  for (size_t i = 0; i < all.size(); ++i) (i < count ? ours_ : theirs_).push_back(std::move(all[i]));
  TRY_OK(done);
  const Contender &mine = best_of(ours_), &other = best_of(theirs_);
  set_pair("us", mine.best * kMicro, other.best * kMicro);
  set_pair("threads", mine.threads, other.threads);
  record_.numbers["steady_ratio"] = other.best / mine.best;
  set_pair("items", row_.items / mine.mean(), row_.items / other.mean());
  for (const Contender& contender : ours_)
    record_.numbers["ours_us_on_" + std::to_string(contender.threads)] = contender.best * kMicro;
  for (const Contender& contender : theirs_)
    record_.numbers["ort_us_on_" + std::to_string(contender.threads)] = contender.best * kMicro;
  if (row_.bytes > 0)
    record_.numbers["roofline"] = 100 * machine_.least_seconds(mine.threads, row_.operations, row_.bytes) / mine.best;
  return {};
}

Status RowBench::calls() {
  std::vector<Contender> pair;
  for (const Contender* best : {&best_of(ours_), &best_of(theirs_)}) {
    TRY(Contender contender, ready(best->engine, best->threads, best->runner->twin(), feed_));
    pair.push_back(std::move(contender));
  }
  TRY_OK(keep_times(pair, row_.section == "rows" ? settings_.call_seconds : settings_.call_seconds / 4));
  set_pair("p50", percentile(pair[0].times, 0.5) * kMicro, percentile(pair[1].times, 0.5) * kMicro);
  set_pair("p99", percentile(pair[0].times, 0.99) * kMicro, percentile(pair[1].times, 0.99) * kMicro);
  return {};
}

// Every call has a batch that was never seen before; the sums of their times are compared.
Status RowBench::new_shapes() {
  if (row_.inputs.starts_with('@')) return {};
  TRY(const RunnerPtr mine, best_of(ours_).runner->twin());
  TRY(const RunnerPtr other, best_of(theirs_).runner->twin());
  TRY_OK(mine->bind(feed_));
  TRY_OK(other->bind(feed_));
  double sums[2] = {0, 0};
  int made = 0;
  while (made < 3 || (made < kNewShapes && sums[0] + sums[1] < 2 * settings_.other_seconds)) {
    TRY(const Feed feed, make_feed(row_, ++made));
    for (const int side : {0, 1}) {
      const auto start = Clock::now();
      TRY_OK((side == 0 ? mine : other)->bind(feed));
      sums[side] += seconds_since(start);
    }
    TRY_OK(mine->bind(feed_));
    TRY_OK(other->bind(feed_));
  }
  set_pair("new_shape", sums[0] / made * kMicro, sums[1] / made * kMicro);
  record_.numbers["new_shape_ratio"] = sums[1] / sums[0];
  return {};
}

Status RowBench::frozen() {
  if (row_.frozen.empty()) return {};
  for (const auto& [key, side, engine] :
       {std::tuple("ours_frozen", &ours_, &kEngines[0]), std::tuple("ort_frozen", &theirs_, &kEngines[1])}) {
    const Contender& best = best_of(*side);
    std::vector<Contender> pair;
    TRY(Contender dynamic, ready(best.engine, best.threads, best.runner->twin(), feed_));
    TRY(Contender fixed, ready(best.engine, best.threads, engine->load(row_.frozen, best.threads), feed_));
    pair.push_back(std::move(dynamic));
    pair.push_back(std::move(fixed));
    TRY_OK(take_turns(pair, settings_.other_seconds));
    record_.numbers[key] = pair[0].best / pair[1].best;
  }
  return {};
}

Status RowBench::four_threads() {
  TRY(const double ours, shared_rate(*ours_.front().runner, feed_, kSharing, settings_.other_seconds));
  TRY(const double theirs, shared_rate(*theirs_.front().runner, feed_, kSharing, settings_.other_seconds));
  set_pair("shared", ours, theirs);
  record_.numbers["shared_ratio"] = ours / theirs;
  return {};
}

Status RowBench::openvino() {
  std::vector<Contender> contenders;
  if (!load(kEngines[2], contenders)) return {};
  for (Contender& contender : contenders) {
    const auto got = contender.runner->outputs();
    if (!got || !difference_of(*got, want_, limit(), row_.scale).empty()) return {};
  }
  const Contender& mine = best_of(ours_);
  TRY(Contender ours, ready(mine.engine, mine.threads, mine.runner->twin(), feed_));
  contenders.push_back(std::move(ours));
  TRY_OK(take_turns(contenders, settings_.other_seconds));
  const double best = contenders.back().best;
  contenders.pop_back();
  const Contender& other = best_of(contenders);
  record_.numbers["openvino_us"] = other.best * kMicro;
  record_.numbers["openvino_threads"] = other.threads;
  record_.numbers["openvino_ratio"] = other.best / best;
  return {};
}

Status RowBench::run() {
  TRY(feed_, make_feed(row_));
  TRY_OK(load(kEngines[0], ours_));
  TRY_OK(load(kEngines[1], theirs_));
  TRY_OK(compare());
  TRY_OK(steady());
  if (settings_.quick || row_.section == "real") return {};
  TRY_OK(calls());
  TRY_OK(new_shapes());
  TRY_OK(frozen());
  TRY_OK(four_threads());
  return openvino();
}

Status run_loaded(const Row& row, const Settings& settings, int busy, Record& record) {
  TRY(const Feed feed, make_feed(row));
  const int threads = settings.threads.back();
  std::vector<Contender> pair;
  for (const EngineName& engine : {kEngines[0], kEngines[1]}) {
    TRY(Contender contender, ready(engine.name, threads, engine.load(row.model, threads), feed));
    pair.push_back(std::move(contender));
  }
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (int i = 0; i < busy; ++i)
    others.emplace_back([&] {
      while (!stop) {
      }
    });
  const Status done = keep_times(pair, settings.call_seconds);
  stop = true;
  for (std::thread& other : others) other.join();
  TRY_OK(done);
  for (const auto& [key, contender] : {std::pair("ours_", &pair[0]), std::pair("ort_", &pair[1])}) {
    record.numbers[std::string(key) + "p50"] = percentile(contender->times, 0.5) * kMicro;
    record.numbers[std::string(key) + "p99"] = percentile(contender->times, 0.99) * kMicro;
  }
  return {};
}

}  // namespace anyshape::bench
