#include "base/running_command.h"

#include <gtest/gtest.h>

namespace anyshape {
namespace {

TEST(RunningCommand, AdviceIsTheArgumentsWhereNoneIsTold) {
  set_running_command({});
  EXPECT_EQ(corrected_command({"allow", "z:1", "x:1"}, "--allow x:1"), "--allow x:1");
  EXPECT_EQ(running_command_with("--allow x:1"), "--allow x:1");
}

TEST(RunningCommand, AdviceIsTheCommandWithTheArgumentMended) {
  struct Row {
    std::vector<std::string> words;
    Correction correction;
    std::string expected;
  };
  const Row rows[] = {
      {{"check", "a b.onnx", "--allow", "z:1"}, {"allow", "z:1", "x:1"}, "anyshape check 'a b.onnx' --allow x:1"},
      {{"check", "m.onnx", "--allow=z:1"}, {"allow", "z:1", "x:1"}, "anyshape check m.onnx --allow=x:1"},
      {{"check", "m.onnx", "--allow", "y:1", "--allow", "z:1"},
       {"allow", "z:1", "x:1"},
       "anyshape check m.onnx --allow y:1 --allow x:1"},
      {{"fix", "sq.onnx", "-o", "sq", "--freeze", "sq=4"},
       {"freeze", "sq", "seq"},
       "anyshape fix sq.onnx -o sq --freeze seq=4"},
      {{"check", "m.onnx", "--require", "hh + h >= 2"},
       {"require", "h", "height"},
       "anyshape check m.onnx --require 'hh + height >= 2'"},
      {{"explain", "yy.onnx", "yy:1"}, {"", "yy", "y"}, "anyshape explain yy.onnx y:1"},
      {{"explain", "m.onnx", "--quiet", "/Resshape"},
       {"", "/Resshape", "/Reshape"},
       "anyshape explain m.onnx --quiet /Reshape"},
      {{"chek", "chek.onnx"}, {"", "chek", "check"}, "anyshape check chek.onnx"},
      {{"check", "m.onnx", "--requires=x >= 1"},
       {"", "--requires", "--require"},
       "anyshape check m.onnx '--require=x >= 1'"},
      // Out of a file of settings: it is not in the command.
      {{"check", "m.onnx"}, {"allow", "z:1", "x:1"}, R"("x:1" in place of "z:1")"},
      {{"check", "m.onnx"}, {"allow", "", "x:1"}, R"("x:1" in place of "")"},
  };
  for (const Row& row : rows) {
    set_running_command(row.words);
    EXPECT_EQ(corrected_command(row.correction, ""), row.expected);
  }
  set_running_command({"run", "it's.onnx"});
  EXPECT_EQ(running_command_with("--random 'x y=1'"), R"(anyshape run 'it'\''s.onnx' --random 'x y=1')");
  set_running_command({});
}

}  // namespace
}  // namespace anyshape
