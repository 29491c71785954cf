#include "anyshape/test_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"

namespace anyshape {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSet = "test_data_set_", kManifest = "manifest.tsv";

struct Row {
  std::string kind, name;
  Tolerance tolerance;
  size_t sets = 0;
};

template <class Number>
bool read_number(std::string_view text, Number& to) {
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), to);
  return wrong == std::errc() && end == text.data() + text.size();
}

std::optional<Row> read_row(std::string_view line) {
  std::vector<std::string_view> fields;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  if (fields.size() < 5) return std::nullopt;
  Row row{std::string(fields[0]), std::string(fields[1]), {}, 0};
  if (!read_number(fields[2], row.tolerance.relative) || !read_number(fields[3], row.tolerance.absolute) ||
      !read_number(fields[4], row.sets))
    return std::nullopt;
  return row;
}

std::vector<Row> read_rows(const fs::path& root) {
  std::vector<Row> rows;
  std::ifstream file(root / kManifest);
  for (std::string line; std::getline(file, line);)
    if (auto row = read_row(line)) rows.push_back(*std::move(row));
  return rows;
}

std::vector<fs::path> sets_of(const fs::path& folder) {
  std::vector<fs::path> sets;
  std::error_code wrong;
  for (const auto& entry : fs::directory_iterator(folder, wrong))
    if (entry.path().filename().string().starts_with(kSet) && entry.is_directory(wrong)) sets.push_back(entry.path());
  std::sort(sets.begin(), sets.end(), [](const fs::path& a, const fs::path& b) {
    const std::string x = a.filename().string(), y = b.filename().string();
    return x.size() != y.size() ? x.size() < y.size() : x < y;
  });
  return sets;
}

// Folders below one root, with the tolerances of their manifests, each of which is read once.
class Finder {
 public:
  // True: it is one, and has sets.
  bool add(const fs::path& path) {
    TestFolder folder;
    folder.path = path;
    std::error_code wrong;
    if (!fs::is_regular_file(folder.model(), wrong)) return false;
    folder.sets = sets_of(path);
    const auto& tolerances = manifest(path.parent_path().parent_path());
    const auto listed = tolerances.find({path.parent_path().filename().string(), path.filename().string()});
    if (listed != tolerances.end()) folder.tolerance = listed->second;
    found_.push_back(std::move(folder));
    return !found_.back().sets.empty();
  }

  std::vector<TestFolder> sorted() {
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return std::move(found_);
  }

 private:
  using Tolerances = std::map<std::pair<std::string, std::string>, Tolerance>;

  const Tolerances& manifest(const fs::path& root) {
    const auto [entry, fresh] = manifests_.try_emplace(root);
    if (fresh)
      for (const Row& row : read_rows(root)) entry->second[{row.kind, row.name}] = row.tolerance;
    return entry->second;
  }

  std::map<fs::path, Tolerances> manifests_;
  std::vector<TestFolder> found_;
};

tl::unexpected<Error> cannot_open(const fs::path& path, const std::string& why) {
  return at(path.string(), usage("file.open", "{}", why).value());
}

}  // namespace

Result<std::vector<TestFolder>> find_test_folders(const fs::path& root) {
  std::error_code wrong;
  if (!fs::is_directory(root, wrong))
    return cannot_open(root, wrong ? "the folder cannot be opened: " + wrong.message() : "it is no folder");
  Finder finder;
  finder.add(root);
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(root, options, wrong), end; !wrong && it != end; it.increment(wrong))
    if (it->is_directory() && finder.add(it->path())) it.disable_recursion_pending();
  if (wrong) return cannot_open(root, "the folder cannot be read: " + wrong.message());
  return finder.sorted();
}

Result<std::vector<TestFolder>> listed_test_folders(const fs::path& root) {
  std::vector<TestFolder> out;
  for (const Row& row : read_rows(root)) {
    TestFolder folder{root / row.kind / row.name, {}, row.tolerance};
    folder.sets = sets_of(folder.path);
    if (folder.sets.size() != row.sets)
      return cannot_open(folder.path, fmt::format("it has {} sets, {} are listed", folder.sets.size(), row.sets));
    out.push_back(std::move(folder));
  }
  if (out.empty()) return cannot_open(root / kManifest, "it lists no test");
  return out;
}

fs::path value_file(const fs::path& set, std::string_view stem, size_t index) {
  return set / fmt::format("{}_{}.pb", stem, index);
}

}  // namespace anyshape
