#pragma once

#include <initializer_list>
#include <string>
#include <vector>

// Kernels against the reference kernel of the same operator, on random entries.
namespace anyshape::cpu {

// in: inputs separated by ';': "f32[2, 3]", "const f32[3]" (known when the kernel is prepared), "bool[2]",
// "i32[2] = [3, 1]", "const i64[1] = [-1]", empty: absent. Attributes as in testing.h.
struct KernelTestRow {
  std::string op;
  int64_t version = 0;
  std::string in, attributes = "";
  size_t outputs = 1;
  double tolerance = 1e-5;  // relative to the largest entry of the output
  float size = 2;           // of random entries
};

// Each row with several seeds, dense and strided inputs, in place where allowed, tasks in one or several calls.
void check_kernels(std::initializer_list<KernelTestRow> rows);

// What accepts() of the first kernel for the operator says.
std::string refusal_of(const KernelTestRow& row);

}  // namespace anyshape::cpu
