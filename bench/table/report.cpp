#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace anyshape::bench {
namespace {

// Four digits that matter, never an exponent.
std::string digits(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  const int before = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(4 - before, 0, 3));
}

std::string cell(const Record& row, const Column& column) {
  if (!row.has(column.key)) return "-";
  const double value = row.at(column.key);
  if (!column.key.ends_with("_ratio")) return digits(value);
  return fmt::format("{:.2f}{}", value, value < 1 ? " <" : "  ");
}

std::vector<std::vector<std::string>> cells_of(const Table& table) {
  std::vector<std::vector<std::string>> out(1, {"row", "shape"});
  for (const Column& column : table.columns) out[0].push_back(column.title);
  for (const Record* row : table.rows) {
    out.push_back({row->name, row->shape});
    for (const Column& column : table.columns) out.back().push_back(cell(*row, column));
  }
  return out;
}

std::string object_of(const auto& numbers) {
  std::string out;
  for (const auto& [key, value] : numbers)
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", json_quote(key),
                       std::isfinite(value) ? fmt::format("{:.6g}", value) : "null");
  return out;
}

std::string list_of(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + json_quote(text);
  return "[" + out + "]";
}

}  // namespace

std::string text_of(const Table& table) {
  const auto cells = cells_of(table);
  std::vector<size_t> widths(cells[0].size());
  for (const auto& row : cells)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out = "\n" + table.title + "\n";
  for (size_t r = 0; r < cells.size(); ++r) {
    for (size_t i = 0; i < cells[r].size(); ++i)
      out += i < 2 ? fmt::format("{:<{}}  ", cells[r][i], widths[i]) : fmt::format("{:>{}}  ", cells[r][i], widths[i]);
    if (r > 0 && !table.rows[r - 1]->trouble.empty()) out += table.rows[r - 1]->trouble;
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return table.note.empty() ? out : out + table.note + "\n";
}

double geometric_mean(const std::vector<const Record*>& rows, std::string_view key) {
  double sum = 0;
  int count = 0;
  for (const Record* row : rows)
    if (row->has(key)) sum += std::log(row->at(key)), ++count;
  return count == 0 ? 0 : std::exp(sum / count);
}

std::string json_of(const std::vector<std::pair<std::string, double>>& machine, const std::vector<std::string>& facts,
                    const std::vector<Record>& records, const std::vector<Table>& tables) {
  std::string out =
      fmt::format("{{\n\"machine\": {{{}}},\n\"facts\": {},\n\"rows\": [", object_of(machine), list_of(facts));
  for (const Record& row : records)
    out += fmt::format("{}\n  {{\"section\": {}, \"name\": {}, \"shape\": {}, \"trouble\": {}, \"numbers\": {{{}}}}}",
                       &row == &records.front() ? "" : ",", json_quote(row.section), json_quote(row.name),
                       json_quote(row.shape), json_quote(row.trouble), object_of(row.numbers));
  out += "\n],\n\"tables\": [";
  for (const Table& table : tables) {
    out += fmt::format("{}\n  {{\"title\": {}, \"note\": {}, \"cells\": [", &table == &tables.front() ? "" : ",",
                       json_quote(table.title), json_quote(table.note));
    const auto cells = cells_of(table);
    for (const auto& row : cells) out += (&row == &cells.front() ? "\n    " : ",\n    ") + list_of(row);
    out += "]}";
  }
  return out + "\n]\n}\n";
}

}  // namespace anyshape::bench
