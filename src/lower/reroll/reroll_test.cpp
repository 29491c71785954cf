#include "lower/reroll/reroll.h"

#include <gtest/gtest.h>

#include "ops/all.h"
#include "passes/testing.h"

namespace anyshape::lower::reroll {
namespace {

// A program as text at any length: lines before the loop, of a step, and after it. In them {n} is the length, {t} the
// step, {t-1} and {t+1} those around it, {t^2} its square, {n-t} the step counted from the end, {last} the last one; h*
// stands for the h of all steps, *h for the same from the last to the first.
struct Text {
  std::string_view before, step, after;
  int64_t first = 0;  // step of the loop
};

std::string replaced(std::string text, std::string_view from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string at_step(std::string_view text, int64_t length, int64_t step) {
  const std::pair<std::string_view, int64_t> numbers[] = {
      {"{n}", length},     {"{t}", step},          {"{t-1}", step - 1},    {"{t-2}", step - 2},
      {"{t+1}", step + 1}, {"{t^2}", step * step}, {"{last}", length - 1}, {"{n-t}", length - 1 - step},
  };
  std::string out(text);
  for (const auto& [name, number] : numbers) out = replaced(std::move(out), name, std::to_string(number));
  return out + "\n";
}

std::string program(const Text& text, int64_t length) {
  std::string out = at_step(text.before, length, 0), forth, back;
  for (int64_t t = text.first; t < length; ++t) {
    out += at_step(text.step, length, t);
    forth += fmt::format("{}h{}", t == text.first ? "" : ", ", t);
    back = fmt::format("h{}{}{}", t, t == text.first ? "" : ", ", back);
  }
  return out + replaced(replaced(at_step(text.after, length, 0), "h*", forth), "*h", back);
}

Capture capture(const Text& text, int64_t length) {
  Capture out;
  out.length = length;
  out.lowered.symbols = std::make_shared<Symbols>();
  out.lowered.graph = std::make_shared<Graph>(*testing::parse_graph(program(text, length)));
  out.lowered.opsets = {{"", 17}};
  return out;
}

std::string types_of(const Graph& graph) {
  std::string out;
  for (const Node& node : graph.nodes) {
    out += (out.empty() ? "" : " ") + node.type;
    for_each_body(node, [&](const Graph& body) { out += fmt::format("({})", types_of(body)); });
  }
  return out;
}

// The nodes of the model at any length, with those of bodies; or the code of the refusal.
std::string rerolled(const Text& text) {
  std::vector<Capture> captures;
  for (int64_t length : {6, 7, 9}) captures.push_back(capture(text, length));
  const auto made = reroll(captures, "seq", {}, all_ops());
  return made ? types_of(*made->graph) : made.error().code;
}

constexpr std::string_view kState = R"(input x f32[batch, {n}, 3]
                                       input s f32[batch, 3]
                                       constant w f32[3, 3]
                                       constant axis i64[1] = [1]
                                       h-1 <- Neg(s))";
constexpr std::string_view kStep = R"(constant i{t} i64[] = [{t}]
                                      x{t} <- Gather(x, i{t}) axis=1
                                      p{t} <- MatMul(h{t-1}, w)
                                      h{t} <- Add(p{t}, x{t}))";
constexpr std::string_view kBackwards = R"(constant i{t} i64[] = [{n-t}]
                                           x{t} <- Gather(x, i{t}) axis=1
                                           p{t} <- MatMul(h{t-1}, w)
                                           h{t} <- Add(p{t}, x{t}))";
// Its h has the axis that the steps are joined along.
constexpr std::string_view kKept = R"(constant i{t} i64[] = [{t}]
                                      x{t} <- Gather(x, i{t}) axis=1
                                      p{t} <- MatMul(g{t-1}, w)
                                      g{t} <- Add(p{t}, x{t})
                                      h{t} <- Unsqueeze(g{t}, axis))";

struct RerollRow {
  Text text;
  std::string_view nodes;
};

TEST(Reroll, WritesAScan) {
  const std::string kept = replaced(std::string(kState), "h-1", "g-1");
  const std::string kept_backwards = replaced(std::string(kKept), "= [{t}]", "= [{n-t}]");
  for (const RerollRow& row : {
           RerollRow{{kState, kStep, "y <- Relu(h{last})\noutput y"}, "Neg Scan(MatMul Add) Relu"},
           RerollRow{{kept, kKept, "y <- Concat(h*) axis=1\noutput y"}, "Neg Scan(MatMul Add Identity)"},
           // From the last entry to the first; the results in either order.
           RerollRow{{kState, kBackwards, "y <- Relu(h{last})\noutput y"}, "Neg Scan(MatMul Add) Relu"},
           RerollRow{{kept, kept_backwards, "y <- Concat(*h) axis=1\noutput y"}, "Neg Scan(MatMul Add Identity)"},
           // Joined along an axis on which each has more entries.
           RerollRow{{kState, kStep, "y <- Concat(h*) axis=1\noutput y"},
                     "Neg Scan(MatMul Add Identity) Transpose Flatten"},
       })
    EXPECT_EQ(rerolled(row.text), row.nodes) << row.text.step;
}

TEST(Reroll, PeelsWhatIsOtherAtTheBeginning) {
  // The state is the first entry, which the first step reads as well.
  constexpr std::string_view kFirst = R"(input x f32[batch, {n}, 3]
                                         constant w f32[3, 3]
                                         constant first i64[] = [0]
                                         h0 <- Gather(x, first) axis=1)";
  EXPECT_EQ(rerolled({kFirst, kStep, "y <- Relu(h{last})\noutput y", 1}),
            "Gather Shape Sub Squeeze Range Scan(MatMul Add Less Where) Relu");
}

TEST(Reroll, RefusesWhatFollowsNoRule) {
  constexpr std::string_view kSquares = R"(constant k{t} f32[] = [{t^2}]
                                           constant i{t} i64[] = [{t}]
                                           x{t} <- Gather(x, i{t}) axis=1
                                           p{t} <- Mul(h{t-1}, k{t})
                                           h{t} <- Add(p{t}, x{t}))";
  for (const RerollRow& row : {
           RerollRow{{kState, kSquares, "y <- Relu(h{last})\noutput y"}, "reroll.differs"},
           // No loop.
           RerollRow{{kState, "", "y <- MatMul(x, w)\noutput y"}, "reroll.none"},
       })
    EXPECT_EQ(rerolled(row.text), row.nodes) << row.text.step;
}

}  // namespace
}  // namespace anyshape::lower::reroll
