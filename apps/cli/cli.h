#pragma once

#include <string>
#include <vector>

#include "anyshape/check.h"
#include "anyshape/error.h"

namespace anyshape::cli {

// Exit codes of the contract.
inline constexpr int kDone = 0, kFault = 1, kUsage = 2, kRefused = 3;

// The graver of two exit codes: our fault, then usage, then a refusal.
int worse(int a, int b);
// Prints `error[CODE] place: sentence` on standard error and gives the exit code of the error.
int report_error(const Error& error);
// Writes to the file, or to standard output when none is given.
int write_output(const std::string& file, const std::string& text);

struct CheckArguments {
  std::vector<std::string> models, shapes, require;
  std::string shapes_file, against, fail_on = "error", format = "text", output;
  CheckOptions options;
  bool quiet = false;
};

int run_check(const CheckArguments& arguments);
int run_explain(const std::string& model, const std::string& value);
int run_infer(const std::string& model, const std::string& output, bool expressions);
int run_info(const std::string& model);
int run_rules();

}  // namespace anyshape::cli
