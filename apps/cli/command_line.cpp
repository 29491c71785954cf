#include "command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

#include "anyshape/custom.h"
#include "anyshape/version.h"
#include "completion.h"
#include "help.h"

namespace anyshape::cli {
namespace {

constexpr double kLargestTolerance = 1e9;
constexpr double kShortestTimeout = 1e-3, kLongestTimeout = 1e9;

// An option that may be given several times, one value each.
template <class T>
CLI::Option* add_repeated(CLI::App* app, const std::string& flag, T& values, const std::string& help) {
  return app->add_option(flag, values, help)->allow_extra_args(false)->type_size(1)->default_str("");
}

std::string version_line() { return fmt::format("anyshape {}", version()); }

void add_all(CLI::App* sub, bool& all) { sub->add_flag("--all", all, "print long lists and formulas to their end"); }

std::vector<std::string> pass_names(std::vector<std::string> and_these = {}) {
  for (const PassInfo& pass : passes()) and_these.push_back(pass.name);
  return and_these;
}

void add_without(CLI::App* sub, std::vector<std::string>& without) {
  add_repeated(sub, "--without", without, "leave out a pass over the graph")->check(CLI::IsMember(pass_names()));
}

void add_exact(CLI::App* sub, bool& exact) {
  sub->add_flag("--exact", exact, "convolutions add up the plain products only, f16 is rounded after every node");
}

void add_engine(CLI::App* sub, EngineArguments& arguments) {
  sub->add_option("--engine", arguments.engine, "which engine runs the model")->check(CLI::IsMember(engines()));
  sub->add_option("--ort-lib", arguments.library,
                  "ONNX Runtime's library, or a folder with it; default: where it is found");
  sub->add_flag("--reference", arguments.reference)->group("");
  add_without(sub, arguments.without);
  add_exact(sub, arguments.exact);
}

CLI::Option* add_threads(CLI::App* sub, int& threads) {
  return sub->add_option("--threads", threads, "how many threads work on one run; 0: all cores")
      ->check(CLI::Range(0, 1024));
}

}  // namespace

CommandLine::CommandLine() {
  app.set_version_flag("-V,--version", version_line(), "print the version and exit");
  app.option_defaults()->always_capture_default();
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  add_export();
  add_check();
  add_others();
  add_fix();
  add_mql5();
  add_run();
  add_plan();
  add_test();
  add_verify();
  add_bench();
  add_completion();
  for (CLI::App* sub : app.get_subcommands({})) add_limits(sub);
  for (CLI::App* sub : app.get_subcommands({}))
    if (!sub->get_option_no_throw("--quiet")) sub->add_flag("--quiet", quiet, "show no progress");
  add_footers(app);
}

void CommandLine::add_limits(CLI::App* sub) {
  if (sub->get_name() != "export" && sub->get_name() != "rules")
    sub->add_flag("--strict", reading().strict, "refuse what only ONNX Runtime takes (lenient.*)");
  sub->add_option("--timeout", limits.timeout, "give up after so many seconds, exit 3; default: no limit")
      ->check(CLI::Range(kShortestTimeout, kLongestTimeout))
      ->default_str("");
  sub->add_option("--max-memory", limits.max_bytes,
                  "bytes that a run may take, exit 1 beyond; 512M, 2G; default: no limit")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::PositiveNumber)
      ->default_str("");
}

void CommandLine::add_export() {
  CLI::App* sub = app.add_subcommand("export", "Export a PyTorch program (.pt2, .pt) to ONNX");
  ExportOptions& options = exporting.options;
  sub->add_option("PROGRAM", exporting.program, "a file of torch.export.save or torch.jit.save")->required();
  sub->add_option("-o", exporting.output, "the ONNX file to write")->required();
  add_repeated(sub, "--dynamic", exporting.dynamic, "NAME:AXIS=SYM[,AXIS=SYM]: axes of any size");
  sub->add_option("--dynamic-axes", exporting.dynamic_axes,
                  "the same as JSON, as torch.onnx.export takes it: a file; default: none");
  sub->add_flag("--static", options.all_static, "pin every axis that is not named");
  sub->add_flag("--strict-axes", options.strict_axes, "refuse where a dynamic axis does not take every size");
  add_repeated(sub, "--freeze", exporting.freeze, "SYM=N: pin one axis");
  add_repeated(sub, "--input", exporting.inputs, "NAME=f32[batch,120,?]: the type of an input of a scripted program");
  sub->add_option("--input-names", options.input_names, "names of the inputs, in order")
      ->delimiter(',')
      ->default_str("");
  sub->add_option("--output-names", options.output_names, "names of the outputs, in order")
      ->delimiter(',')
      ->default_str("");
  sub->add_option("--opset", options.opset,
                  "version of the operators, 11 to 28; default: the lowest from 17 that has them");
  sub->add_option("--ir-version", options.ir_version, "version of the format; default: the lowest for the opset");
  sub->add_option("--policy", exporting.policy, "which axes may be dynamic")
      ->check(CLI::IsMember({"any", "batch-only"}));
  add_repeated(sub, "--allow", options.allow, "NAME:AXIS may be dynamic under batch-only");
  add_target(sub, options.target);
  sub->add_option("--guards", exporting.guards, "conditions of the capture that no operator demands")
      ->check(CLI::IsMember({"record", "embed", "drop"}));
  add_repeated(sub, "--custom", exporting.custom, "NS::OP=DOMAIN::NAME, NS=DOMAIN: what a custom operator becomes");
  add_repeated(sub, "--custom-shape", exporting.custom_shapes,
               "\"ns::op: y = [x0, 2*x1]\": the rule of a custom operator");
  sub->add_option("--training", exporting.training,
                  "preserve: keep dropout and batch statistics; default: as in eval()")
      ->check(CLI::IsMember({"preserve"}));
  sub->add_option("--external-data", exporting.external_data,
                  "put the weights into this file beside the model; default: into the model");
  sub->add_flag("--verify", exporting.verify, "run the result at boundary shapes");
  add_repeated(sub, "--golden", exporting.golden, "inputs and outputs to compare with, an .npz");
  sub->add_flag("--quiet", exporting.quiet, "print warnings and errors only");
  sub->callback([this] { command = [this] { return run_export(exporting); }; });
}

void CommandLine::add_check() {
  CLI::App* sub = app.add_subcommand("check", "Check which input shapes a model takes, and why");
  sub->add_option("MODEL", check.models, "ONNX files; default: those that .anyshape.toml names")->default_str("");
  add_repeated(sub, "--shape", check.shapes, "NAME=1x120x1, NAME=scalar: is this shape accepted?");
  sub->add_option("--shapes-file", check.shapes_file, "one JSON object per line, {\"x\": [1, 120, 1]}; default: none");
  add_repeated(sub, "--require", check.require, "'x=[1..64, 1..512, 80]' or 'h % 32 == 0': is the whole set accepted?");
  sub->add_option("--against", check.against, "an older model: is all it accepts still accepted? default: none");
  sub->add_option("--policy", check.policy, "which axes may be dynamic; default: any")
      ->check(CLI::IsMember({"any", "batch-only"}));
  add_repeated(sub, "--allow", check.options.allow, "NAME:AXIS may be dynamic under batch-only");
  sub->add_option("--fail-on", check.fail_on, "exit 3 on findings of this severity and above; default: error")
      ->check(CLI::IsMember({"error", "warning", "never"}));
  add_repeated(sub, "--ignore", check.options.ignore, "RULE or RULE@NODE: leave these findings out");
  sub->add_flag("--ignore-assumed", check.options.ignore_assumed, "conditions recorded by an exporter demand nothing");
  sub->add_option("--format", check.format, "form of the report")
      ->check(CLI::IsMember({"text", "json", "sarif", "trtexec", "html"}));
  sub->add_option("--baseline", check.baseline,
                  "a report of --format json: findings in it are known, and left out; default: none");
  CLI::Option* config = sub->add_option("--config", check.config, "settings; default: .anyshape.toml, here or above");
  sub->add_flag("--no-config", check.no_config, "read no .anyshape.toml")->excludes(config);
  sub->add_option("-o", check.output, "write the report to this file; default: standard output");
  sub->add_flag("--quiet", check.quiet, "print errors only");
  add_all(sub, check.all);
  add_target(sub, check.options.target);
  add_custom_shapes(sub);
  add_budget(sub);
  sub->callback([this] { command = [this] { return run_check_command(); }; });
}

void CommandLine::add_target(CLI::App* sub, std::string& target) {
  sub->add_option("--target", target, "where the model is to run: mql5 (MetaTrader 5); default: anywhere");
}

void CommandLine::add_custom_shapes(CLI::App* sub) {
  add_repeated(sub, "--custom-shape", custom_shapes, "\"ns::op: y = [x0, 2*x1]\": the rule of a custom operator");
}

void CommandLine::add_budget(CLI::App* sub) {
  sub->add_option("--budget", limits.budget,
                  "seconds for proofs: what is not known by then is unknown; default: no limit")
      ->check(CLI::Range(0.0, kLongestTimeout))
      ->default_str("");
}

template <class Run>
int CommandLine::with_custom_shapes(Run go_on) {
  for (const std::string& text : custom_shapes)
    if (const auto registered = register_shape_rule(text); !registered) return report_error(registered.error());
  return go_on();
}

int CommandLine::run_check_command() {
  return with_custom_shapes([this] { return run_check(check); });
}

void CommandLine::add_fix() {
  CLI::App* sub =
      app.add_subcommand("fix", "Fix the axes of a model: make them dynamic, freeze or rename them; simplify it");
  FixOptions& options = fixing.options;
  sub->add_option("MODEL", fixing.model, "an ONNX file")->required();
  sub->add_option("-o", fixing.output, "the file to write")->required();
  add_repeated(sub, "--dynamic", fixing.dynamic, "NAME:AXIS=SYM[,AXIS=SYM]: axes of inputs that are to have any size");
  add_repeated(sub, "--freeze", fixing.freeze, "SYM=N: pin one axis");
  add_repeated(sub, "--rename", fixing.rename, "OLD=NEW: another name for an axis, an input or an output");
  sub->add_flag("--simplify", options.simplify, "constants where sizes are computed, no nodes that do nothing");
  sub->add_option("--policy", fixing.policy, "which axes may be dynamic in the result")
      ->check(CLI::IsMember({"any", "batch-only"}));
  add_repeated(sub, "--allow", options.allow, "NAME:AXIS may be dynamic under batch-only");
  add_target(sub, options.target);
  sub->add_option("--dims", dims, "how to write sizes that are expressions")
      ->check(CLI::IsMember({"names", "expressions"}));
  sub->add_option("--external-data", fixing.external_data,
                  "put the weights into this file beside the model; default: into the model");
  add_custom_shapes(sub);
  add_budget(sub);
  sub->add_flag("--quiet", fixing.quiet, "print errors only");
  sub->callback([this] {
    command = [this] {
      if (dims == "expressions") fixing.options.dims = DimText::expressions;
      return with_custom_shapes([this] { return run_fix(fixing); });
    };
  });
}

void CommandLine::add_mql5() {
  CLI::App* sub = app.add_subcommand("mql5", "Write a class for MetaTrader 5: NAME.mqh and the NAME.onnx it embeds");
  MqhOptions& options = for_mql5.options;
  sub->add_option("MODEL", for_mql5.model, "an ONNX file")->required();
  sub->add_option("-o", for_mql5.output, "NAME.mqh; NAME.onnx is written beside it")->required();
  add_repeated(sub, "--freeze", for_mql5.freeze, "SYM=N: pin one axis");
  sub->add_option("--batch", options.batch, "rows of each call, several symbols at once; default: 1")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24));
  sub->add_option("--scaler", for_mql5.scaler,
                  "JSON with mean and std of training, to be done inside of the model; default: none");
  add_repeated(sub, "--allow", options.allow, "NAME:AXIS stays dynamic, the class sets it before a run");
  add_custom_shapes(sub);
  add_budget(sub);
  sub->add_flag("--quiet", for_mql5.quiet, "print errors only");
  sub->callback([this] { command = [this] { return with_custom_shapes([this] { return run_mql5(for_mql5); }); }; });
}

void CommandLine::add_others() {
  CLI::App* explain = app.add_subcommand("explain", "Explain why an axis is what it is, node by node");
  explain->add_option("MODEL", model, "an ONNX file")->required();
  explain->add_option("VALUE", value, "VALUE or VALUE:AXIS")->required();
  add_budget(explain);
  explain->callback([this] { command = [this] { return run_explain(model, value); }; });

  CLI::App* infer = app.add_subcommand("infer", "Infer the type of every value and write it into the model");
  infer->add_option("MODEL", model, "an ONNX file")->required();
  infer->add_option("-o", output, "the file to write")->required();
  infer->add_option("--dims", dims, "how to write sizes that are expressions")
      ->check(CLI::IsMember({"names", "expressions"}));
  add_budget(infer);
  infer->callback([this] { command = [this] { return run_infer(model, output, dims == "expressions"); }; });

  CLI::App* info = app.add_subcommand("info", "Show what is in a model");
  info->add_option("MODEL", model, "an ONNX file")->required();
  info->callback([this] { command = [this] { return run_info(model); }; });

  CLI::App* rules = app.add_subcommand("rules", "List the rules behind the findings of check");
  rules->callback([this] { command = [] { return run_rules(); }; });
}

void CommandLine::add_completion() {
  CLI::App* sub = app.add_subcommand("completion", "Print what a shell needs to complete command lines");
  sub->add_option("SHELL", shell, "which shell")->required()->check(CLI::IsMember({"bash", "zsh"}));
  sub->add_option("-o", output, "the file to write; default: standard output");
  sub->callback([this] { command = [this] { return write_output(output, completion(app, shell)); }; });
}

void CommandLine::add_run() {
  CLI::App* sub = app.add_subcommand("run", "Run a model on files or random numbers");
  sub->add_option("MODEL", run.model, "an ONNX file")->required();
  add_repeated(sub, "--input", run.inputs.files, "NAME=FILE.npy or NAME=FILE.pb");
  sub->add_option("--npz", run.inputs.npz, "inputs by name; arrays of other names are left out; default: none");
  add_repeated(sub, "--random", run.inputs.random, "NAME=1x120x1, NAME=scalar; NAME alone: the smallest size");
  sub->add_option("--seed", run.inputs.seed, "of random inputs and random operators")
      ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max()));
  sub->add_option("--repeat", run.repeat, "run so many times more and print the times; default: once only")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}))
      ->default_str("");
  CLI::Option* folder =
      sub->add_option("-o", run.output, "the folder for the outputs; default: a summary is printed only");
  sub->add_option("--output-format", run.format, "output_0.npy, ..., outputs.npz, or output_0.pb, ...")
      ->check(CLI::IsMember({"npy", "npz", "pb"}))
      ->needs(folder);
  add_engine(sub, run.engine);
  add_threads(sub, run.engine.threads);
  sub->add_option("--profile", run.profile, "write a Chrome trace of the last run, one row per step; default: none");
  sub->callback([this] { command = [this] { return run_run(run); }; });
}

void CommandLine::add_plan() {
  CLI::App* sub = app.add_subcommand(
      "plan",
      "Show how a model will run: steps, kernels, memory as formulas; up64(n) is n rounded up to a multiple of 64");
  sub->add_option("MODEL", plan.model, "an ONNX file")->required();
  add_repeated(sub, "--shape", plan.shapes, "NAME=1x120x1, NAME=scalar: the formulas as numbers, too");
  add_without(sub, plan.without);
  add_exact(sub, plan.exact);
  sub->add_option("--format", plan.format, "html: a page of the memory of each step at the sizes of --shape")
      ->check(CLI::IsMember({"text", "html"}));
  sub->add_option("--profile", plan.profile,
                  "what run --profile wrote: the page shows the time of each step, too; default: none");
  sub->add_option("-o", plan.output, "write the plan to this file; default: standard output");
  sub->add_option("--lanes", plan.lanes,
                  "channels of a block in blocked layouts; 0: none are blocked; default: as for this processor")
      ->check(CLI::Range(0, 64));
  add_repeated(sub, "--dump", plan.dump, "print the graph after this pass instead of the plan")
      ->check(CLI::IsMember(pass_names({"all", "source"})));
  add_budget(sub);
  sub->callback([this] { command = [this] { return run_plan(plan); }; });
}

void CommandLine::add_test() {
  CLI::App* sub = app.add_subcommand("test", "Run ONNX test folders and compare");
  sub->add_option("DIR", test.folders, "folders with model.onnx and test_data_set_*, at any depth")
      ->required()
      ->default_str("");
  add_engine(sub, test.engine);
  add_threads(sub, test.engine.threads);
  sub->add_flag("--quiet", test.quiet, "print failures and the last line only");
  sub->callback([this] { command = [this] { return run_test(test); }; });
}

void CommandLine::add_verify() {
  CLI::App* sub = app.add_subcommand("verify", "Compare the answers of two models");
  sub->add_option("A", verifying.model, "an ONNX file")->required();
  sub->add_option("B", verifying.other, "an ONNX file")->required();
  sub->add_option(
      "--shapes-file", verifying.shapes_file,
      "one JSON object per line, {\"x\": [1, 120, 1]}; default: boundary and typical shapes of what they take");
  sub->add_option("--rtol", verifying.tolerance.relative, "how far entries may be apart, as a part of the one of A")
      ->check(CLI::Range(0.0, kLargestTolerance));
  sub->add_option("--atol", verifying.tolerance.absolute, "and this much more")
      ->check(CLI::Range(0.0, kLargestTolerance));
  sub->add_option("--seed", verifying.seed, "of the random inputs")
      ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max()));
  add_engine(sub, verifying.engine);
  add_threads(sub, verifying.engine.threads);
  sub->add_flag("--quiet", verifying.quiet, "print errors only");
  add_all(sub, verifying.all);
  sub->callback([this] { command = [this] { return run_verify(verifying); }; });
}

void CommandLine::add_bench() {
  CLI::App* sub = app.add_subcommand("bench", "Measure how long a run takes, also against another engine");
  sub->add_option("MODEL", bench.model, "an ONNX file")->required();
  add_repeated(sub, "--shape", bench.shapes, "NAME=1x120x1; an input named again starts the next group of shapes");
  sub->add_option("--peer", bench.peer, "time this engine, too, in turns; default: none")
      ->check(CLI::IsMember({"onnxruntime"}));
  sub->add_option("--ort-lib", bench.library,
                  "ONNX Runtime's library, or a folder with it; default: where it is found");
  sub->add_option("--threads", bench.threads, "threads of each engine; default: the better of 1 and 2")
      ->check(CLI::Range(1, 1024))
      ->default_str("");
  sub->callback([this] { command = [this] { return run_bench(bench); }; });
}

}  // namespace anyshape::cli
