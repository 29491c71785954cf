#include "format/pt2/program.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "format/pt2/program_dump_test.h"

namespace anyshape::pt2 {
namespace {

const std::filesystem::path kFolder = "tests/fixtures/pt2_reader";

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

class Archive : public testing::TestWithParam<const char*> {};

// NAME.pt2 read and printed is NAME.txt.
TEST_P(Archive, IsReadAsRecorded) {
  const auto program = read_program(kFolder / (std::string(GetParam()) + ".pt2"));
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_EQ(dump(*program), text_of(kFolder / (std::string(GetParam()) + ".txt")));
}

INSTANTIATE_TEST_SUITE_P(Pt2, Archive,
                         testing::Values("linear", "weights", "cond", "nested", "counter", "lstm", "sizes", "masked"));

}  // namespace
}  // namespace anyshape::pt2
