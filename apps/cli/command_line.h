#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "anyshape/work.h"
#include "cli.h"

namespace anyshape::cli {

// All commands with their options, and what they were given; `command` does what was asked for once `app` has parsed.
struct CommandLine {
  CLI::App app{"Proves which input shapes an ONNX model takes, and runs all of them.", "anyshape"};
  CheckArguments check;
  RunArguments run;
  TestArguments test;
  BenchArguments bench;
  ExportArguments exporting;
  std::vector<std::string> custom_shapes;
  std::string model, value, output, dims = "names", shell;
  PlanArguments plan;
  FixArguments fixing;
  Mql5Arguments for_mql5;
  VerifyArguments verifying;
  WorkLimits limits;
  std::function<int()> command;
  bool quiet = false;  // of commands that have nothing else to be quiet about

  CommandLine();

 private:
  void add_export();
  void add_check();
  void add_run();
  void add_plan();
  void add_test();
  void add_bench();
  void add_fix();
  void add_mql5();
  void add_verify();
  void add_others();
  void add_completion();
  void add_limits(CLI::App* sub);
  void add_target(CLI::App* sub, std::string& target);
  void add_custom_shapes(CLI::App* sub);
  void add_budget(CLI::App* sub);
  // Registers the rules of --custom-shape, then does it.
  template <class Run>
  int with_custom_shapes(Run go_on);
  int run_check_command();
};

}  // namespace anyshape::cli
