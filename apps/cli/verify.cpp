#include "anyshape/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli.h"
#include "progress.h"

namespace anyshape::cli {
namespace {

void print_compared(const Compared& one) {
  if (one.kind == Compared::Kind::only_first || one.kind == Compared::Kind::only_second) return;
  Waiting::clear();
  print_line(stdout, "{}", to_text(one));
}

// The shapes that one of them takes and the other does not, in one line.
std::string taken_by_one(const std::vector<Compared>& all, Compared::Kind kind, const std::string& model,
                         bool in_full) {
  constexpr size_t kShown = 4;
  std::vector<std::string> shapes;
  std::string why;
  for (const Compared& one : all) {
    if (one.kind != kind) continue;
    if (why.empty()) why = one.sentence;
    shapes.push_back(to_text(one.shapes));
  }
  if (shapes.empty()) return {};
  std::string more;
  if (!in_full && shapes.size() > kShown) {
    more = fmt::format(" (and {} more: --all)", shapes.size() - kShown);
    shapes.resize(kShown);
  }
  return line("only {} takes {}{}: {}", model, fmt::join(shapes, ", "), more, why);
}

Result<VerifyOptions> options_of(const VerifyArguments& arguments, const Model& model) {
  VerifyOptions out;
  out.relative = arguments.tolerance.relative;
  out.absolute = arguments.tolerance.absolute;
  out.seed = static_cast<uint64_t>(arguments.seed);
  out.session = session_options(arguments.engine);
  out.threads = arguments.engine.threads;
  if (!arguments.quiet) out.each = print_compared;
  if (arguments.shapes_file.empty()) return out;
  auto shapes = read_shapes_file(arguments.shapes_file);
  if (!shapes) return fail(shapes.error());
  if (shapes->empty())
    return fail({Error::Kind::usage, "shapes.empty", arguments.shapes_file, "the file holds no shapes", ""});
  for (const Shapes& one : *shapes)
    if (auto known = check_input_names(model, one); !known) return fail(known.error());
  out.shapes = *std::move(shapes);
  return out;
}

Status run_both(const VerifyArguments& arguments) {
  const auto model = load_model(arguments.model);
  if (!model) return fail(model.error());
  const auto other = load_model(arguments.other);
  if (!other) return fail(other.error());
  const auto options = options_of(arguments, *model);
  if (!options) return fail(options.error());
  const auto compared = verify(*model, *other, *options);
  if (!compared) return fail(compared.error());
  if (!arguments.quiet)
    fmt::print("{}{}", taken_by_one(*compared, Compared::Kind::only_first, arguments.model, arguments.all),
               taken_by_one(*compared, Compared::Kind::only_second, arguments.other, arguments.all));
  // A shape that was asked for is to be taken by both.
  if (const Status judged = judge(*model, *other, *compared, !arguments.shapes_file.empty()); !judged) return judged;
  const auto same = std::count_if(compared->begin(), compared->end(),
                                  [](const Compared& one) { return one.kind == Compared::Kind::same; });
  if (!arguments.quiet) fmt::print("the same at {} of {} shapes, seed {}\n", same, compared->size(), arguments.seed);
  return {};
}

}  // namespace

int run_verify(const VerifyArguments& arguments) {
  const Status done = run_both(arguments);
  return done ? kDone : report_error(done.error());
}

}  // namespace anyshape::cli
