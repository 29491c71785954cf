#include "anyshape/verify.h"

#include <fmt/format.h>

#include "cli.h"

namespace anyshape::cli {
namespace {

void print_compared(const Compared& one) {
  const std::string shapes = to_text(one.shapes);
  if (one.kind == Compared::Kind::same)
    print_line(stdout, "same     {}  largest relative error {:.1e}", shapes, one.worst);
  else
    print_line(stdout, "{}  {}  {}", one.kind == Compared::Kind::differs ? "differs" : "refused", shapes, one.sentence);
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
  const auto model = Model::load(arguments.model);
  if (!model) return fail(model.error());
  const auto other = Model::load(arguments.other);
  if (!other) return fail(other.error());
  const auto options = options_of(arguments, *model);
  if (!options) return fail(options.error());
  const auto compared = verify(*model, *other, *options);
  if (!compared) return fail(compared.error());
  size_t same = 0;
  const Compared* worst = nullptr;
  for (const Compared& one : *compared) {
    same += one.kind == Compared::Kind::same;
    if (one.kind == Compared::Kind::differs && !worst) worst = &one;
  }
  if (worst)
    return fail({Error::Kind::refused, "verify.differs", arguments.other,
                 fmt::format("at {} it is not as {}: {}", to_text(worst->shapes), arguments.model, worst->sentence),
                 ""});
  if (!arguments.quiet) fmt::print("the same at {} of {} shapes, seed {}\n", same, compared->size(), arguments.seed);
  return {};
}

}  // namespace

int run_verify(const VerifyArguments& arguments) {
  const Status done = run_both(arguments);
  return done ? kDone : report_error(done.error());
}

}  // namespace anyshape::cli
