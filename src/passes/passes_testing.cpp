#include "passes/passes_testing.h"

#include <algorithm>
#include <string>

#include "passes/print.h"
#include "run/cpu/target.h"

namespace anyshape::testing {
namespace {

// Without inputs and outputs, types of values, labels of nodes, and programs of elementwise ones.
std::string shortened(const Graph& graph, const Facts& facts) {
  std::string out, text = print_graph(graph, facts);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at + 2, end - at - 2);
    at = end + 1;
    if (line.starts_with("input") || line.starts_with("output")) continue;
    const size_t arrow = line.find(" <- "), label = std::min(line.rfind("  \""), line.find(" code="));
    out += arrow == std::string::npos ? line : line.substr(0, line.find(' ')) + line.substr(arrow, label - arrow);
    out += "\n";
  }
  return out;
}

std::string trimmed(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (const size_t first = line.find_first_not_of(' '); first != std::string_view::npos)
      out += std::string(line.substr(first)) + "\n";
  }
  return out;
}

}  // namespace

void check_passes(std::string_view passes, const Target& target, std::initializer_list<PassRow> rows) {
  PassOptions options;
  options.verify = true;
  for (const Pass& pass : all_passes())
    if ((" " + std::string(passes) + " ").find(" " + std::string(pass.name) + " ") == std::string::npos)
      options.without.emplace_back(pass.name);
  ASSERT_LT(options.without.size(), all_passes().size());
  for (const PassRow& row : rows) {
    SCOPED_TRACE(row.before);
    const Typed typed = solve(parse_graph(row.before));
    ASSERT_FALSE(typed.refusal()) << typed.refusal()->text();
    const auto program = rewritten(typed, target, options);
    ASSERT_TRUE(program) << program.error().text();
    const std::string wanted = row.after.empty() ? shortened(typed.graph(), typed.facts()) : trimmed(row.after);
    EXPECT_EQ(shortened(*program->graph, program->facts), wanted);
  }
}

void check_passes(std::string_view passes, std::initializer_list<PassRow> rows) {
  check_passes(passes, cpu::target(), rows);
}

}  // namespace anyshape::testing
