#include "api/c_model.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "anyshape/check.h"
#include "anyshape/options.h"
#include "anyshape/work.h"
#include "api/c_impl.h"
#include "base/error.h"

struct anyshape_answer {
  anyshape::Answer answer;
  anyshape::CValues outputs;
};

namespace anyshape {
namespace {

// The number a dim is; -1 for an expression.
int64_t size_of_dim(const std::string& dim) {
  int64_t value = 0;
  const auto [end, wrong] = std::from_chars(dim.data(), dim.data() + dim.size(), value);
  return wrong == std::errc() && end == dim.data() + dim.size() ? value : -1;
}

int32_t c_kind(ValueType::Kind kind) {
  switch (kind) {
    case ValueType::Kind::tensor:
      return ANYSHAPE_TENSOR;
    case ValueType::Kind::sparse_tensor:
      return ANYSHAPE_SPARSE_TENSOR;
    case ValueType::Kind::sequence:
      return ANYSHAPE_SEQUENCE;
    case ValueType::Kind::optional:
      return ANYSHAPE_OPTIONAL;
    case ValueType::Kind::map:
      return ANYSHAPE_MAP;
    case ValueType::Kind::unknown:
      break;
  }
  return ANYSHAPE_ANYTHING;
}

int32_t c_type(const ValueType& value) {
  return static_cast<int32_t>(parse_dtype(value.dtype).value_or(DType::undefined));
}

Result<Shapes> shapes_of_c_model(const anyshape_shape* shapes, size_t count) {
  Shapes out;
  for (size_t i = 0; i < count; ++i) {
    const anyshape_shape& one = shapes[i];
    const bool sized = one.rank == 0 || (one.rank > 0 && one.dims &&
                                         std::all_of(one.dims, one.dims + one.rank, [](int64_t d) { return d >= 0; }));
    if (!one.input || !sized) return usage("tensor.dims", "number {} of the shapes is none", i);
    if (!out.emplace(one.input, std::vector<int64_t>(one.dims, one.dims + one.rank)).second)
      return usage("shape.syntax", "the input {:?} is there twice", one.input);
  }
  return out;
}

anyshape_answer* c_answer(Answer answer) {
  CValues outputs(answer.outputs);
  return new anyshape_answer{std::move(answer), std::move(outputs)};
}

Result<Answer> answer_to(const Model& model, const Shapes& shapes) {
  TRY_OK(check_input_names(model, shapes));
  Answer answer = accepts(model, shapes);
  TRY_OK(check_work());
  return answer;
}

Answer answer_of(Proof proof) {
  Answer out;
  if (proof.kind == Proof::Kind::refuted) {
    out = std::move(proof.answer);
    out.sentence = fmt::format("{} is refused: {}", to_text(proof.shapes), out.sentence);
  } else if (proof.kind == Proof::Kind::unproved) {
    out.kind = Answer::Kind::unknown;
    out.code = "check.unproved";
    out.sentence = std::move(proof.why);
  }
  return out;
}

Result<Answer> answer_to_set(const Model& model, const std::vector<std::string>& wanted) {
  TRY(Proof proof, accepts_all(model, wanted));
  return answer_of(std::move(proof));
}

anyshape_error* give_answer(Result<Answer> answer, anyshape_answer** out) {
  if (!answer) return failure(std::move(answer).error());
  *out = c_answer(*std::move(answer));
  return nullptr;
}

Result<std::string> check_text(const Model& model, const char* options, anyshape_format format) {
  TRY(const CheckOptions asked, parse_check_options(words_of(options)));
  TRY(const Report report, check(model, asked));
  switch (format) {
    case ANYSHAPE_FORMAT_TEXT:
      return to_text(report);
    case ANYSHAPE_FORMAT_JSON:
      return to_json({report});
    case ANYSHAPE_FORMAT_SARIF:
      return to_sarif({report});
  }
  return usage("options.format", "there is no format number {}", static_cast<int>(format));
}

Status save_model(const Model& model, const char* path, const char* external_data) {
  if (!path) return usage("file.open", "no path is given");
  return external_data ? model.save(path, external_data) : model.save(path);
}

}  // namespace

CValues::CValues(std::vector<ValueType> values) : values_(std::move(values)) {
  for (const ValueType& value : values_) {
    auto& dims = dims_.emplace_back();
    auto& sizes = sizes_.emplace_back();
    if (value.dims)
      for (const std::string& dim : *value.dims) {
        dims.push_back(dim.c_str());
        sizes.push_back(size_of_dim(dim));
      }
    const int32_t rank = value.dims ? static_cast<int32_t>(dims.size()) : -1;
    types_.push_back(
        {value.name.c_str(), value.type.c_str(), c_kind(value.kind), c_type(value), rank, dims.data(), sizes.data()});
  }
}

anyshape_error* give_text(Result<std::string> text, anyshape_text** out) {
  if (!text) return failure(std::move(text).error());
  *out = new anyshape_text{*std::move(text)};
  return nullptr;
}

anyshape_error* give_model(Result<Model> model, anyshape_model** out) {
  if (!model) return failure(std::move(model).error());
  CheckOptions shapes_only;
  shapes_only.findings = false;
  Result<Report> report = check(*model, shapes_only);
  if (!report) return failure(std::move(report).error());
  *out = new anyshape_model(*std::move(model), *std::move(report));
  return nullptr;
}

}  // namespace anyshape

anyshape_model::anyshape_model(anyshape::Model its_model, anyshape::Report its_report)
    : model(std::move(its_model)),
      report(std::move(its_report)),
      accepted(accepted_text(report)),
      inputs(report.inputs),
      outputs(report.outputs),
      optional(model.optional_inputs()) {
  for (const anyshape::ConditionText& one : report.accepted.conditions) {
    const anyshape::Reason& why = one.because.back();
    conditions.push_back({one.text.c_str(), why.node.c_str(), why.op.c_str(), why.code.c_str(), why.sentence.c_str()});
  }
}

extern "C" {

using namespace anyshape;

const char* anyshape_text_get(const anyshape_text* text) { return text->text.c_str(); }
size_t anyshape_text_size(const anyshape_text* text) { return text->text.size(); }
void anyshape_text_free(anyshape_text* text) { delete text; }

anyshape_error* anyshape_model_load(const char* path, const char* options, anyshape_model** model) {
  return guarded([&] {
    if (!path) return usage_failure("file.open", "no path is given");
    const auto asked = parse_read_options(words_of(options));
    if (!asked) return failure(asked.error());
    return give_model(Model::load(path, *asked), model);
  });
}

anyshape_error* anyshape_model_load_memory(const void* bytes, size_t size, const char* options,
                                           anyshape_model** model) {
  return guarded([&] {
    const auto asked = parse_read_options(words_of(options));
    if (!asked) return failure(asked.error());
    const auto* begin = static_cast<const std::byte*>(bytes);
    return give_model(Model::from_bytes({begin, begin + size}, "model", *asked), model);
  });
}

anyshape_error* anyshape_model_save(const anyshape_model* model, const char* path, const char* external_data) {
  return guarded([&]() -> anyshape_error* {
    Status saved = save_model(model->model, path, external_data);
    return saved ? nullptr : failure(std::move(saved).error());
  });
}

void anyshape_model_free(anyshape_model* model) { delete model; }

anyshape_error* anyshape_session_of_model(const anyshape_model* model, const anyshape_session_options* options,
                                          anyshape_session** session) {
  return guarded([&] {
    SessionOptions asked;
    if (auto* wrong = read_options(options, asked)) return wrong;
    return made(Session::from_model(model->model, asked), session);
  });
}

size_t anyshape_model_input_count(const anyshape_model* model) { return model->inputs.size(); }
size_t anyshape_model_output_count(const anyshape_model* model) { return model->outputs.size(); }

const anyshape_value_type* anyshape_model_input(const anyshape_model* model, size_t index) {
  return model->inputs.at(index);
}

const anyshape_value_type* anyshape_model_output(const anyshape_model* model, size_t index) {
  return model->outputs.at(index);
}

size_t anyshape_model_optional_count(const anyshape_model* model) { return model->optional.size(); }

const anyshape_value_type* anyshape_model_optional(const anyshape_model* model, size_t index) {
  return model->optional.at(index);
}

anyshape_error* anyshape_model_overriding(const anyshape_model* model, const char* const* names, size_t count,
                                          anyshape_model** overriding) {
  return guarded([&] { return give_model(model->model.overriding({names, names + count}), overriding); });
}

const char* anyshape_model_accepted(const anyshape_model* model) { return model->accepted.c_str(); }
size_t anyshape_model_condition_count(const anyshape_model* model) { return model->conditions.size(); }

const anyshape_condition* anyshape_model_condition(const anyshape_model* model, size_t index) {
  return index < model->conditions.size() ? &model->conditions[index] : nullptr;
}

int anyshape_model_is_exact(const anyshape_model* model) { return model->report.accepted.exact ? 1 : 0; }

anyshape_error* anyshape_model_accepts(const anyshape_model* model, const anyshape_shape* shapes, size_t count,
                                       anyshape_answer** answer) {
  return guarded([&] {
    const auto asked = shapes_of_c_model(shapes, count);
    if (!asked) return failure(asked.error());
    return give_answer(answer_to(model->model, *asked), answer);
  });
}

anyshape_error* anyshape_model_accepts_all(const anyshape_model* model, const char* const* wanted, size_t count,
                                           anyshape_answer** answer) {
  return guarded([&] { return give_answer(answer_to_set(model->model, {wanted, wanted + count}), answer); });
}

anyshape_verdict anyshape_answer_verdict(const anyshape_answer* answer) {
  switch (answer->answer.kind) {
    case Answer::Kind::accept:
      return ANYSHAPE_ACCEPTS;
    case Answer::Kind::refuse:
      return ANYSHAPE_REFUSES;
    case Answer::Kind::unknown:
      break;
  }
  return ANYSHAPE_CANNOT_TELL;
}

const char* anyshape_answer_code(const anyshape_answer* answer) { return answer->answer.code.c_str(); }
const char* anyshape_answer_place(const anyshape_answer* answer) { return answer->answer.place.c_str(); }
const char* anyshape_answer_sentence(const anyshape_answer* answer) { return answer->answer.sentence.c_str(); }

const anyshape_value_type* anyshape_answer_output(const anyshape_answer* answer, size_t index) {
  return answer->outputs.at(index);
}

void anyshape_answer_free(anyshape_answer* answer) { delete answer; }

anyshape_error* anyshape_model_check(const anyshape_model* model, const char* options, anyshape_format format,
                                     anyshape_text** report) {
  return guarded([&] { return give_text(check_text(model->model, options, format), report); });
}

}  // extern "C"
