#include "format/onnx/commit.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "base/os/dying_test.h"
#include "base/os/folder_test.h"
#include "format/onnx/walk.h"
#include "format/onnx/wire_test.h"
#include "format/onnx/write.h"

namespace anyshape::onnx {
namespace {

namespace fs = std::filesystem;
using wire::block;
using wire::number;

constexpr size_t kElements = 2000;

// A tensor of bytes: `fill` inside the model, or in the file `location`.
std::string tensor(std::string_view name, char fill, std::string_view location = {}) {
  const auto entry = [](std::string_view key, std::string_view value) {
    return block(13, block(1, key) + block(2, value));
  };
  const std::string start = number(1, kElements) + number(2, 2) + block(8, name);
  if (location.empty()) return block(5, start + block(9, std::string(kElements, fill)));
  return block(5, start + entry("location", location) + entry("length", std::to_string(kElements)) + number(14, 1));
}

std::string data(char fill) { return std::string(kElements, fill); }

using Tensors = std::map<std::string, std::string>;

// Name and content of all tensors, or why they cannot be read.
Tensors load(const fs::path& path) {
  const auto model = read_model(path);
  if (!model) return {{"error", model.error().text()}};
  Tensors out;
  for_each_tensor(model->proto, [&](const TensorProto& t, TensorRole) {
    const auto bytes = model->tensor(t);
    out[std::string(t.name)] =
        bytes ? std::string(reinterpret_cast<const char*>(bytes->bytes.data()), bytes->bytes.size())
              : bytes.error().text();
  });
  return out;
}

enum Outcome { kDone, kMore, kError };

using Prepare = std::function<Result<ModelCommit>()>;

int die_after(size_t steps, const Prepare& prepare) {
  return run_and_die([&] {
    // Never destroyed: leaving this function is not the death that is meant.
    auto* commit = new Result<ModelCommit>(prepare());
    if (!*commit) return kError;
    for (size_t i = 0; i < steps && !(*commit)->done(); ++i) {
      if (!(*commit)->step()) return kError;
    }
    return (*commit)->done() ? kDone : kMore;
  });
}

// The new model has the tensors a (inside the file) and b (outside); the old one has a and c.
std::string new_model(std::string_view location) { return block(7, tensor("a", 'A') + tensor("b", 'B', location)); }
std::string old_model(std::string_view location) { return block(7, tensor("a", 'o') + tensor("c", 'c', location)); }

using Files = std::map<std::string, std::string>;

constexpr std::string_view kTarget = "out/m.onnx";

struct Case {
  std::string name;
  std::string source;
  Files out;  // the target's folder before the write
  std::string external_data;
  uint64_t largest_model;
  std::set<std::string> after;  // the files beside and below the target, itself not
  size_t steps;

  WriteOptions options() const {
    WriteOptions out_options{.largest_model = largest_model};
    if (!external_data.empty()) out_options.external_data = external_data;
    return out_options;
  }
};

const Files& sources() {
  static const Files files = {
      {"in/one.onnx", new_model("w.bin")},
      {"in/two.onnx", block(7, tensor("b", 'B', "w.bin") + tensor("d", 'D', "sub/v.bin"))},
      {"in/three.onnx",
       block(7, tensor("b", 'B', "w.bin") + tensor("d", 'D', "sub/v.bin") + tensor("f", 'F', "u.bin"))},
      {"in/w.bin", data('B')},
      {"in/sub/v.bin", data('D')},
      {"in/u.bin", data('F')},
  };
  return files;
}

std::vector<Case> cases() {
  const std::string one = "in/one.onnx";
  const std::string itself(kTarget);
  const Files old = {{"m.onnx", old_model("w.bin")}, {"w.bin", data('c')}};
  const Files old_in_sub = {{"m.onnx", old_model("sub/w.bin")}, {"sub/w.bin", data('c')}};
  const Files old_split = {{"m.onnx", old_model("m.onnx.data")}, {"m.onnx.data", data('c')}};
  const Files own = {{"m.onnx", new_model("w.bin")}, {"w.bin", data('B')}};
  const Files own_other_name = {{"m.onnx", new_model("v.bin")}, {"v.bin", data('B')}};
  const Files old_two = {{"m.onnx", block(7, tensor("c", 'c', "w.bin") + tensor("e", 'e', "sub/v.bin"))},
                         {"w.bin", data('c')},
                         {"sub/v.bin", data('e')}};
  const Files old_one_same = {{"m.onnx", block(7, tensor("c", 'c', "w.bin") + tensor("e", 'D', "sub/v.bin"))},
                              {"w.bin", data('c')},
                              {"sub/v.bin", data('D')}};
  const Files cut_short = {
      {"m.onnx", old_model("w.bin.anyshape-1")}, {"w.bin.anyshape-1", data('c')}, {"w.bin", data('c')}};
  return {
      {"first write", one, {}, "w.bin", kLargestModel, {"w.bin"}, 2},
      {"named, over another model", one, old, "w.bin", kLargestModel, {"w.bin"}, 4},
      {"named, over itself", itself, own, "w.bin", kLargestModel, {"w.bin"}, 4},
      {"named in a folder", one, old_in_sub, "sub/w.bin", kLargestModel, {"sub/w.bin"}, 4},
      {"named otherwise: the old data stays", itself, own_other_name, "w.bin", kLargestModel, {"v.bin", "w.bin"}, 2},
      {"too large", one, old_split, "", 1000, {"m.onnx.data"}, 4},
      {"copied", "in/two.onnx", old_two, "", kLargestModel, {"w.bin", "sub/v.bin"}, 6},
      {"copied, one name new, one file the same",
       "in/three.onnx",
       old_one_same,
       "",
       kLargestModel,
       {"w.bin", "sub/v.bin", "u.bin"},
       5},
      {"after a write that was cut short", one, cut_short, "w.bin", kLargestModel, {"w.bin"}, 5},
  };
}

class CommitTest : public FolderTest {
 protected:
  void restore(const Case& test) {
    for (const auto& entry : fs::directory_iterator(folder_)) fs::remove_all(entry.path());
    fs::create_directories(folder_ / "out");
    for (const auto& [name, text] : sources()) put(name, text);
    for (const auto& [name, text] : test.out) put("out/" + name, text);
  }
  std::set<std::string> beside() {
    std::set<std::string> out;
    for (const std::string& name : names()) {
      if (name.starts_with("out/") && name != kTarget) out.insert(name.substr(4));
    }
    return out;
  }
};

TEST_F(CommitTest, EveryStateIsACompleteModel) {
  for (const Case& test : cases()) {
    SCOPED_TRACE(test.name);
    restore(test);
    const bool replaces = fs::exists(folder_ / kTarget);
    const Tensors before = replaces ? load(folder_ / kTarget) : Tensors();
    const Tensors wanted = load(folder_ / test.source);
    const Prepare prepare = [&]() -> Result<ModelCommit> {
      TRY(const ModelFile model, read_model(folder_ / test.source));
      return prepare_write(model, folder_ / kTarget, test.options());
    };
    bool renewed = false;
    for (size_t steps = 0;; ++steps) {
      SCOPED_TRACE(fmt::format("{} steps", steps));
      restore(test);
      const int code = die_after(steps, prepare);
      ASSERT_TRUE(code == kDone || code == kMore) << code;
      const Tensors found = fs::exists(folder_ / kTarget) ? load(folder_ / kTarget) : Tensors();
      EXPECT_TRUE(found == wanted || (!renewed && found == before)) << ::testing::PrintToString(found);
      renewed = renewed || found == wanted;
      if (code == kDone) {
        EXPECT_EQ(found, wanted);
        EXPECT_EQ(beside(), test.after);
        EXPECT_EQ(steps, test.steps);
        break;
      }
      EXPECT_EQ(die_after(99, prepare), kDone);
      EXPECT_EQ(load(folder_ / kTarget), wanted) << "written again after the death";
    }
  }
}

TEST_F(CommitTest, AnAbandonedWriteLeavesNothing) {
  for (const Case& test : cases()) {
    SCOPED_TRACE(test.name);
    restore(test);
    const std::set<std::string> before = names();
    const auto model = read_model(folder_ / test.source);
    ASSERT_TRUE(model.has_value());
    { ASSERT_TRUE(prepare_write(*model, folder_ / kTarget, test.options()).has_value()); }
    EXPECT_EQ(names(), before);
  }
}

TEST_F(CommitTest, AFailedRenameLeavesTheOldModel) {
  put("m.onnx", old_model("w.bin"));
  put("w.bin", data('c'));
  put("in/m.onnx", new_model("w.bin"));
  put("in/w.bin", data('B'));
  const Tensors before = load(folder_ / "m.onnx");
  const auto model = read_model(folder_ / "in/m.onnx");
  {
    auto commit = prepare_write(*model, folder_ / "m.onnx", {.external_data = "w.bin"});
    ASSERT_TRUE(commit.has_value());
    fs::rename(folder_ / "m.onnx", folder_ / "old.onnx");
    fs::create_directory(folder_ / "m.onnx");
    EXPECT_EQ(commit->step().error().code, "file.write");
  }
  EXPECT_EQ(load(folder_ / "old.onnx"), before);
  EXPECT_EQ(names(), (std::set<std::string>{"old.onnx", "w.bin", "in/m.onnx", "in/w.bin"}));
}

TEST_F(CommitTest, FilesOfOtherModelsAreNotReplaced) {
  put("in/m.onnx", new_model("w.bin"));
  put("in/w.bin", data('B'));
  put("out/other.onnx", old_model("w.bin"));
  put("out/w.bin", data('c'));
  const Tensors other = load(folder_ / "out/other.onnx");
  const auto model = read_model(folder_ / "in/m.onnx");
  ASSERT_TRUE(write_model(*model, folder_ / "out/m.onnx").has_value());
  EXPECT_EQ(load(folder_ / "out/m.onnx"), load(folder_ / "in/m.onnx"));
  EXPECT_EQ(load(folder_ / "out/other.onnx"), other);
  EXPECT_EQ(get(folder_ / "out/w.1.bin"), data('B'));

  put("out/n.onnx.data", data('x'));
  ASSERT_TRUE(write_model(*model, folder_ / "out/n.onnx", {.largest_model = 1000}).has_value());
  EXPECT_EQ(load(folder_ / "out/n.onnx"), load(folder_ / "in/m.onnx"));
  EXPECT_EQ(get(folder_ / "out/n.onnx.data"), data('x'));
  EXPECT_TRUE(fs::exists(folder_ / "out/n.onnx.1.data"));
}

TEST_F(CommitTest, TheModelThatIsReadKeepsItsFiles) {
  put("m.onnx", new_model("w.bin"));
  put("w.bin", data('B'));
  const Tensors before = load(folder_ / "m.onnx");
  const auto model = read_model(folder_ / "m.onnx");
  for (const char* name : {"w.bin", "m.onnx", "./w.bin"}) {
    const Status status = write_model(*model, folder_ / "n.onnx", {.external_data = name});
    ASSERT_FALSE(status.has_value()) << name;
    EXPECT_EQ(status.error().code, "external.path") << name;
    EXPECT_NE(status.error().message.find("belongs to the model that is read"), std::string::npos);
  }
  ASSERT_TRUE(write_model(*model, folder_ / "w.onnx").has_value()) << "shares w.bin";
  ASSERT_TRUE(write_model(*model, folder_ / "n.onnx", {.external_data = "v.bin"}).has_value());
  for (const char* name : {"m.onnx", "n.onnx", "w.onnx"}) EXPECT_EQ(load(folder_ / name), before) << name;
}

TEST_F(CommitTest, DataStaysInTheFolder) {
  put("in/m.onnx", new_model("sub/w.bin"));
  put("in/sub/w.bin", data('B'));
  put("elsewhere/w.bin", data('x'));
  fs::create_directories(folder_ / "out");
  fs::create_directory_symlink("../elsewhere", folder_ / "out/sub");
  const auto model = read_model(folder_ / "in/m.onnx");
  EXPECT_EQ(write_model(*model, folder_ / "out/m.onnx").error().code, "external.path");
  EXPECT_EQ(write_model(*model, folder_ / "out/m.onnx", {.external_data = "sub/w.bin"}).error().code, "external.path");
  EXPECT_EQ(get(folder_ / "elsewhere/w.bin"), data('x'));
  EXPECT_FALSE(fs::exists(folder_ / "out/m.onnx"));
}

TEST_F(CommitTest, InterimNames) {
  EXPECT_TRUE(is_interim_name("w.bin.anyshape-1", "w.bin"));
  EXPECT_TRUE(is_interim_name("sub/w.anyshape-17", "sub/w"));
  EXPECT_TRUE(is_interim_name("sub/data.anyshape-1", "sub/" + std::string(250, 'n')));
  for (const char* name : {"w.bin", "w.bin.anyshape-", "w.bin.anyshape-1x", "v.bin.anyshape-1", "w.bin.anyshape1"}) {
    EXPECT_FALSE(is_interim_name(name, "w.bin")) << name;
  }
  const std::string longest(255, 'n');
  put("m.onnx", new_model(longest));
  put(longest, data('B'));
  const auto model = read_model(folder_ / "m.onnx");
  const Status status = write_model(*model, folder_ / "m.onnx", {.external_data = longest});
  ASSERT_TRUE(status.has_value()) << status.error().text();
  EXPECT_EQ(names(), (std::set<std::string>{"m.onnx", longest}));
}

}  // namespace
}  // namespace anyshape::onnx
