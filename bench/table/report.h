#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace anyshape::bench {

// What was found out about a row; a column that is not there was not measured.
struct Record {
  std::string section, name, shape;
  std::map<std::string, double, std::less<>> numbers;
  std::string trouble;  // why the row was not measured

  bool has(std::string_view key) const { return numbers.contains(key); }
  double at(std::string_view key) const { return numbers.find(key)->second; }
};

// A column shows a number; one whose key ends in `_ratio` marks those under 1.
struct Column {
  std::string key, title;
};

struct Table {
  std::string title, note;
  std::vector<Column> columns;
  std::vector<const Record*> rows;
};

std::string text_of(const Table& table);
// The geometric mean of a column over the rows that have it; 0 where none has.
double geometric_mean(const std::vector<const Record*>& rows, std::string_view key);
std::string json_of(const std::vector<std::pair<std::string, double>>& machine, const std::vector<std::string>& facts,
                    const std::vector<Record>& records, const std::vector<Table>& tables);

}  // namespace anyshape::bench
