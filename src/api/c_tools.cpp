#include <memory>

#include "anyshape/options.h"
#include "api/c_impl.h"
#include "api/c_model.h"
#include "base/error.h"
#include "base/printable.h"

namespace anyshape {
namespace {

std::string lines_of(const std::vector<std::string>& sentences) {
  std::string out;
  for (const std::string& one : sentences) out += line("{}", one);
  return out;
}

// Nothing where nobody wants it.
anyshape_text* c_text(anyshape_text** wanted, std::string text) {
  return wanted ? new anyshape_text{std::move(text)} : nullptr;
}

// Both of them or none.
anyshape_error* give_both(Model model, std::string told, anyshape_model** out, anyshape_text** text) {
  std::unique_ptr<anyshape_text> made_text(c_text(text, std::move(told)));
  if (auto* wrong = give_model(std::move(model), out)) return wrong;
  if (text) *text = made_text.release();
  return nullptr;
}

Result<Exported> export_with(const char* program, const char* options) {
  if (!program) return usage("file.open", "no path is given");
  TRY(const ExportOptions asked, parse_export_options(words_of(options)));
  return export_program(program, asked);
}

Result<Fixed> fix_with(const Model& model, const char* options) {
  TRY(const FixOptions asked, parse_fix_options(words_of(options)));
  return fix(model, asked);
}

// The lines come in `told`, also where the models differ.
Status verify_with(const Model& model, const Model& other, const char* options, std::string& told) {
  TRY(const VerifyOptions asked, parse_verify_options(words_of(options)));
  for (const Shapes& shapes : asked.shapes) TRY_OK(check_input_names(model, shapes));
  TRY(const std::vector<Compared> compared, verify(model, other, asked));
  for (const Compared& one : compared) told += to_text(one) + "\n";
  return judge(model, other, compared, !asked.shapes.empty());
}

}  // namespace
}  // namespace anyshape

extern "C" {

using namespace anyshape;

anyshape_error* anyshape_export(const char* program, const char* options, anyshape_model** model,
                                anyshape_text** report) {
  return guarded([&] {
    Result<Exported> exported = export_with(program, options);
    if (!exported) return failure(std::move(exported).error());
    std::string told = lines_of(warnings(exported->report, program));
    for (const std::string& note : exported->report.notes) told += line("note: {}", note);
    return give_both(std::move(exported->model), std::move(told), model, report);
  });
}

anyshape_error* anyshape_model_fix(const anyshape_model* model, const char* options, anyshape_model** fixed,
                                   anyshape_text** changes) {
  return guarded([&] {
    Result<Fixed> done = fix_with(model->model, options);
    if (!done) return failure(std::move(done).error());
    std::string told = lines_of(done->changes);
    return give_both(std::move(done->model), std::move(told), fixed, changes);
  });
}

anyshape_error* anyshape_model_verify(const anyshape_model* model, const anyshape_model* other, const char* options,
                                      anyshape_text** report) {
  return guarded([&]() -> anyshape_error* {
    std::string told;
    Status same = verify_with(model->model, other->model, options, told);
    if (report) *report = told.empty() ? nullptr : new anyshape_text{std::move(told)};
    return same ? nullptr : failure(std::move(same).error());
  });
}

}  // extern "C"
