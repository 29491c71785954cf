#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/infer.h"

// Rows of text for testing operator rules.
namespace anyshape::ops {

// One node, its inputs as facts, and what its rule must say.
//
// in:    facts separated by ';', an empty one is an absent input. "f32[b, s, 16]", "f32[...]" (rank not known),
// "bool[]",
//        "i64[3] = [0, -1, s]" (entries, a function of shapes), "f32[2] = [s, 3]/2", "f32[2] = [0.5, nan]" (a
//        constant), "i64[s] in 0..s - 1" (bounds), "i64[s] over 0..s - 1" (bounds that are taken, a function of
//        shapes), "seq(f32[a])", "optional(f32[])", "?". Every symbol is assumed to be
//        >= 0.
// attributes: separated by spaces: "axis=1 alpha=0.5 mode=linear pads=[1, 1] value=i64[2]=[3,4] to=@f32 names=[a, b]".
// out:   the outputs in the same form, separated by "; "; constants of a float type as "f32[2] = [0.5, nan]". A node
//        with fewer outputs than the rule gives is made by writing fewer. "error[CODE]" when the node is refused,
//        "unknown[CODE]" when no rule could answer.
// needs: the requirements, separated by "; ", then the codes of conditions on data as "data[CODE]",
//        those of leniencies as "lenient[CODE]".
struct Row {
  std::string op;  // "Gather", "com.microsoft:Gelu"
  int64_t version = 0;
  std::string in, attributes, out, needs = "";
  bool strict = false;  // of the graph
};

// What the rule says about the row, in the form of `out` and `needs`.
struct RowAnswer {
  std::string out, needs;
};
RowAnswer answer(const Row& row);

// Compares each row with its answer and reports each difference as a gtest failure.
void check_rows(std::initializer_list<Row> rows);

// The outputs of the reference kernel on constant inputs, printed as above; "error[CODE]" when it refuses. The rule
// gives dtype and dims, the entries are the kernel's alone.
std::string kernel_answer(const Row& row);
// Compares `out` of each row with kernel_answer().
void check_kernel_rows(std::initializer_list<Row> rows);

// Parts, for tests of other kinds. A text that cannot be read is a gtest failure and gives an empty fact.
Fact parse_fact(std::string_view text, Symbols& symbols);
std::vector<Attribute> parse_attributes(std::string_view text, Symbols& symbols);
// print(fact) plus bounds and float constants.
std::string print_all(const Fact& fact);

}  // namespace anyshape::ops
