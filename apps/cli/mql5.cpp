#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "anyshape/mqh.h"
#include "anyshape/terminal.h"
#include "cli.h"

namespace anyshape::cli {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || fs::is_directory(path)) return fail(usage_error("file.open", fmt::format("{:?} cannot be read", path)));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A program of PyTorch has to be exported first.
Status check_onnx(const std::string& model) {
  const fs::path ending = fs::path(model).extension();
  if (ending != ".pt" && ending != ".pt2") return {};
  return fail({Error::Kind::refused, "mql5.program", model, "this is a PyTorch program, the class embeds an ONNX model",
               fmt::format("anyshape export {} --target mql5 -o model.onnx", shell_word(model))});
}

// The model beside the .mqh must not be the one it was made of, unless nothing changes.
Status check_source_stays(const Mql5Arguments& a, const MqhFiles& files) {
  const fs::path made = fs::path(a.output).replace_extension(".onnx");
  std::error_code none;
  if (!fs::equivalent(made, a.model, none)) return {};
  const auto now = read_file(a.model);
  if (!now) return fail(now.error());
  const auto* bytes = reinterpret_cast<const char*>(files.model.data());
  if (std::equal(now->begin(), now->end(), bytes, bytes + files.model.size())) return {};
  return fail(usage_error("mql5.name", fmt::format("{} would replace the model it is made of", made.string()),
                          "another name for the class"));
}

Status make_class(Mql5Arguments& a) {
  if (auto onnx = check_onnx(a.model); !onnx) return onnx;
  if (auto parsed = parse_each(a.freeze, parse_freeze, a.options.freeze); !parsed) return parsed;
  auto name = mqh_name(a.output);
  if (!name) return fail(name.error());
  a.options.name = *std::move(name);
  if (!a.scaler.empty()) {
    auto text = read_file(a.scaler);
    if (!text) return fail(text.error());
    a.options.scaler = *std::move(text);
  }
  const auto model = load_model(a.model);
  if (!model) return fail(model.error());
  auto files = make_mqh(*model, a.options);
  if (!files && files.error().code == "mql5.scaler") files.error().place = a.scaler;
  if (!files) return fail(files.error());
  if (auto stays = check_source_stays(a, *files); !stays) return stays;
  if (auto written = write_mqh(*files, a.output); !written) return written;
  if (a.quiet) return {};
  for (const std::string& change : files->changes) print_line(stdout, "changed: {}", change);
  print_line(stdout, "{}: a class for MetaTrader 5", a.output);
  print_line(stdout, "{}: the model it embeds, {} bytes, SHA-256 {}",
             fs::path(a.output).replace_extension(".onnx").string(), files->model.size(), sha256(files->model));
  return {};
}

}  // namespace

int run_mql5(Mql5Arguments arguments) {
  const Status done = make_class(arguments);
  return done ? kDone : report_error(done.error());
}

}  // namespace anyshape::cli
