#pragma once

#include <string>
#include <utility>
#include <vector>

namespace anyshape::bench {

// What the machine can do at most, by its number of threads; measured.
class Machine {
 public:
  static Machine measure(const std::vector<int>& threads);

  // Seconds that the work takes at least: at the peak of the multiply-add units, or at the bandwidth of the level of
  // memory that all the bytes fit into.
  double least_seconds(int threads, double operations, double bytes) const;
  // "GFLOP/s, 2 threads" and so on.
  std::vector<std::pair<std::string, double>> numbers() const;

 private:
  std::vector<int> threads_;
  std::vector<double> peaks_;               // by threads
  std::vector<std::vector<double>> rates_;  // by level, by threads
};

// The instruction set of the vectors, as Highway calls it: "AVX2".
std::string vector_name();
// The processor's name, its cores, instruction set, compiler.
std::vector<std::string> machine_facts();

}  // namespace anyshape::bench
