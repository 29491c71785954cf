#include "rows.h"

#include <fstream>
#include <sstream>

#include "anyshape/model.h"

namespace anyshape::bench {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) out.push_back(part);
  return out;
}

std::vector<int64_t> sizes_of(const std::string& text) {
  std::vector<int64_t> out;
  for (const std::string& size : split(text, 'x')) out.push_back(std::stoll(size));
  return out;
}

DType declared_type(const Model& model, std::string_view name) {
  for (const ValueType& input : model.inputs())
    if (input.name == name) return parse_dtype(input.dtype).value_or(DType::undefined);
  return DType::undefined;
}

}  // namespace

Result<std::vector<Row>> read_rows(const File& path) {
  std::ifstream file(path);
  if (!file) return usage("bench.rows", "{} is not there: bench/prepare.py writes it", path.string());
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    const auto cells = split(line, '\t');
    if (cells.size() != 10) return refuse("bench.rows", "a line of {} has {} cells", path.string(), cells.size());
    rows.push_back({cells[0], cells[1], cells[2], cells[3], cells[4] == "-" ? "" : cells[4], cells[5],
                    std::stod(cells[6]), std::stod(cells[7]), std::stod(cells[8]), std::stod(cells[9])});
  }
  return rows;
}

Result<Feed> make_feed(const Row& row, int64_t grown) {
  if (row.inputs.starts_with('@')) {
    if (grown != 0) return refuse("bench.grown", "inputs out of a file do not grow");
    return read_npz(row.inputs.substr(1));
  }
  TRY(const Model model, Model::load(row.model));
  Feed feed;
  for (const std::string& word : split(row.inputs, ' ')) {
    const size_t equals = word.rfind('=');
    const std::string name = word.substr(0, equals);
    auto sizes = sizes_of(word.substr(equals + 1));
    sizes[0] += grown;
    TRY(AnyValue value, AnyValue::random(declared_type(model, name), std::move(sizes), 1));
    feed.emplace_back(name, std::move(value));
  }
  return feed;
}

}  // namespace anyshape::bench
