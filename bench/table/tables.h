#pragma once

#include "report.h"

namespace anyshape::bench {

std::vector<const Record*> section(const std::vector<Record>& records, std::string_view name);

// All tables that the records have numbers for. They point into `records`.
std::vector<Table> tables_of(const std::vector<Record>& records);

}  // namespace anyshape::bench
