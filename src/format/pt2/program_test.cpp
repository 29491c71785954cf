#include "format/pt2/program.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/zip.h"
#include "format/pt2/archive_bytes_test.h"
#include "format/pt2/program_dump_test.h"

namespace anyshape::pt2 {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

Result<ExportedProgram> read_file(const std::string& name) {
  TRY(auto file, MappedFile::open(kFixtures / name));
  return read_program(ZipFile(std::move(file)));
}

class Archive : public testing::TestWithParam<const char*> {};

// NAME.pt2 read and printed is NAME.txt.
TEST_P(Archive, IsReadAsRecorded) {
  const auto program = read_file(std::string(GetParam()) + ".pt2");
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_EQ(dump(*program), text_of(kFixtures / (std::string(GetParam()) + ".txt")));
}

INSTANTIATE_TEST_SUITE_P(Pt2, Archive,
                         testing::Values("linear", "weights", "cond", "nested", "counter", "lstm", "sizes", "masked",
                                         "guarded", "guarded_strict"));

std::string named(const ExportedProgram& program, std::string_view name) {
  const auto index = input_named(program, name);
  return index ? program.inputs[*index].argument.text : "-";
}

TEST(Guards, NameInputs) {
  const auto program = read_file("guarded.pt2");
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_EQ(named(*program, "x"), "x");
  EXPECT_EQ(named(*program, "args[0]"), "args_0");
  EXPECT_EQ(named(*program, "d['k'][1]"), "d_k_1");
  EXPECT_EQ(named(*program, "kwargs['n']"), "n");
  EXPECT_EQ(named(*program, "flat_args[0]"), "x");
  EXPECT_EQ(named(*program, "flat_args[4]"), "d_k_1");
  for (const char* nothing : {"", "y", "args[7]", "flat_args[99]", "flat_args[x]", "d['k']", "kwargs['']", "args["}) {
    EXPECT_EQ(named(*program, nothing), "-") << nothing;
  }
}

// All that a guard of these programs talks about is found among the inputs.
void expect_found(const ExportedProgram& program, const Expression& e) {
  const bool input = e.kind == Expression::Kind::size || e.kind == Expression::Kind::symbol;
  EXPECT_TRUE(!input || input_named(program, e.name)) << e.name;
  for (const Expression& arg : e.args) expect_found(program, arg);
}

TEST(Guards, FindTheirInputs) {
  for (const char* name : {"guarded.pt2", "guarded_strict.pt2", "sizes.pt2"}) {
    const auto program = read_file(name);
    ASSERT_TRUE(program) << program.error().text();
    EXPECT_FALSE(program->guards.empty());
    for (const std::string& guard : program->guards) {
      const auto parsed = parse_python(guard);
      ASSERT_TRUE(parsed) << guard;
      expect_found(*program, *parsed);
    }
  }
}

TEST(Weights, PointIntoTheArchive) {
  const auto program = read_file("weights.pt2");
  ASSERT_TRUE(program) << program.error().text();
  const auto at = [&](const char* fqn) { return program->weights.at(fqn); };
  EXPECT_EQ(at("a.weight").storage, at("b.weight").storage);
  EXPECT_EQ(at("a.weight").tensor.bytes().data(), at("b.weight").tensor.bytes().data());
  EXPECT_NE(at("tail").storage, at("transposed").storage);
  EXPECT_EQ(at("tail").tensor.at<float>(0), 9.0F);
  EXPECT_EQ(at("transposed").tensor.at<float>(1), 4.0F);
}

}  // namespace
}  // namespace anyshape::pt2
