// soak RUNS: that many runs of several models at random shapes. Fails when the memory of the process grows after the
// first tenth of them.
#include <anyshape/session.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace anyshape;

constexpr int64_t kAllowedGrowth = 4 << 20;

int64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  int64_t kilobytes = -1;
  for (std::string word; kilobytes < 0 && status >> word;)
    if (word == "VmRSS:") status >> kilobytes;
  return kilobytes * 1024;
}

struct Case {
  std::string name;
  // The inputs at a random size.
  std::vector<AnyValue> (*inputs)(std::mt19937&);
};

AnyValue floats(std::vector<int64_t> shape, std::mt19937& engine) {
  return AnyValue::random(DType::f32, std::move(shape), engine()).value();
}

int64_t upto(int64_t most, std::mt19937& engine) {
  return static_cast<int64_t>(engine() % static_cast<uint64_t>(most + 1));
}

const Case kModels[] = {
    {"mlp",
     [](std::mt19937& e) {
       return std::vector{floats({upto(200, e), 8}, e)};
     }},
    {"cnn",
     [](std::mt19937& e) {
       return std::vector{floats({upto(2, e), 1, 2 + upto(14, e), 2 + upto(14, e)}, e)};
     }},
    {"mask",
     [](std::mt19937& e) {
       const int64_t n = upto(100, e);
       return std::vector{floats({n, 4}, e), AnyValue::random(DType::boolean, {n}, e()).value()};
     }},
    {"branch",
     [](std::mt19937& e) {
       return std::vector{floats({upto(30, e), 2}, e)};
     }},
    {"loop",
     [](std::mt19937& e) {
       AnyValue trips = AnyValue::zeros(DType::i64, {}).value();
       *static_cast<int64_t*>(trips.mutable_data()) = upto(6, e);
       return std::vector{trips, floats({upto(50, e)}, e)};
     }},
    {"text",
     [](std::mt19937& e) {
       const int64_t n = upto(5, e);
       const std::vector<std::string> words(static_cast<size_t>(n), std::string(static_cast<size_t>(upto(60, e)), 'a'));
       return std::vector(2, AnyValue::strings({n}, words).value());
     }},
    {"sequence",
     [](std::mt19937& e) {
       std::vector<AnyValue> items(static_cast<size_t>(upto(5, e)), floats({2}, e));
       return std::vector{AnyValue::sequence(DType::f32, items), floats({upto(9, e)}, e)};
     }},
    {"blocks",
     [](std::mt19937& e) {
       return std::vector{floats({upto(100, e), 2}, e)};
     }},
};

// False: something is wrong with the answer, not with the shape.
bool run_once(const Case& model, Context& context, std::mt19937& engine, int64_t& refused) {
  const auto inputs = model.inputs(engine);
  const auto outputs = context.run(inputs);
  if (outputs) return true;
  ++refused;
  if (outputs.error().code == "reshape.count") return true;
  std::fprintf(stderr, "%s: %s\n", model.name.c_str(), outputs.error().text().c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t runs = argc > 1 ? std::atoll(argv[1]) : 1000;
  std::mt19937 engine(11);
  std::vector<Context> contexts;
  for (const Case& model : kModels) {
    const auto session = Session::load("tests/fixtures/run/" + model.name + ".onnx");
    if (!session) {
      std::fprintf(stderr, "%s\n", session.error().text().c_str());
      return 1;
    }
    contexts.emplace_back(*session, 2);
  }
  int64_t start = 0, refused = 0;
  for (int64_t i = 0; i < runs; ++i) {
    const size_t which = engine() % std::size(kModels);
    if (!run_once(kModels[which], contexts[which], engine, refused)) return 1;
    if (i == runs / 10) start = resident_bytes();
  }
  const int64_t grown = resident_bytes() - start;
  std::printf("%lld runs, %lld refused shapes, memory grew by %lld bytes\n", static_cast<long long>(runs),
              static_cast<long long>(refused), static_cast<long long>(grown));
  return grown > kAllowedGrowth ? 1 : 0;
}
