#pragma once

#include <string_view>

#include "anyshape/api.h"
#include "anyshape/check.h"
#include "anyshape/error.h"
#include "anyshape/export.h"
#include "anyshape/fix.h"
#include "anyshape/model.h"
#include "anyshape/verify.h"

// The options of the program's commands as one text, "--dynamic x:0=batch --opset 18", for callers that have texts
// rather than structs. Blanks separate words; quotes and backslashes keep them together as in a shell; `--name=value`
// is
// `--name value`. What has to do with files that are read or written, and with printing, is no option here. Usage
// errors: options.unknown, options.value, options.quote, and those of each option.
namespace anyshape {

ANYSHAPE_API Result<ReadOptions> parse_read_options(std::string_view text);
ANYSHAPE_API Result<CheckOptions> parse_check_options(std::string_view text);
ANYSHAPE_API Result<ExportOptions> parse_export_options(std::string_view text);
ANYSHAPE_API Result<FixOptions> parse_fix_options(std::string_view text);
ANYSHAPE_API Result<VerifyOptions> parse_verify_options(std::string_view text);

}  // namespace anyshape
