/* The C API for tools, from C: describes models, asks for shapes, checks, changes, exports, compares. */
#include <anyshape/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_expect.h"

#define EXPECT_TEXT(got, want) expect_text(__LINE__, got, want)

static void expect_text(int line, const char* got, const char* want) {
  if (got && strcmp(got, want) == 0) return;
  fprintf(stderr, "%s:%d: expected \"%s\", got \"%s\"\n", __FILE__, line, want, got ? got : "(null)");
  ++failures;
}

static void expect_error(anyshape_error* error, enum anyshape_error_kind kind, const char* code) {
  EXPECT(error != NULL);
  if (!error) return;
  EXPECT(anyshape_error_get_kind(error) == kind);
  EXPECT_TEXT(anyshape_error_code(error), code);
  anyshape_error_free(error);
}

static anyshape_model* load(const char* path) {
  anyshape_model* model = NULL;
  must(anyshape_model_load(path, NULL, &model));
  return model;
}

static void test_describe(void) {
  anyshape_model* model = load("examples/lstm_baked.onnx");
  const anyshape_value_type* x = anyshape_model_input(model, 0);
  const anyshape_value_type* y = anyshape_model_output(model, 0);
  const anyshape_condition* condition = anyshape_model_condition(model, 1);
  EXPECT(anyshape_model_input_count(model) == 1 && anyshape_model_output_count(model) == 1);
  EXPECT(x && y && condition);
  if (!x || !y || !condition) exit(1);
  EXPECT_TEXT(x->name, "x");
  EXPECT_TEXT(x->text, "f32[batch, seq, 1]");
  EXPECT(x->kind == ANYSHAPE_TENSOR && x->type == 1 && x->rank == 3);
  EXPECT_TEXT(x->dims[1], "seq");
  EXPECT_TEXT(x->dims[2], "1");
  EXPECT(x->sizes[0] == -1 && x->sizes[2] == 1);
  EXPECT(y->rank == 2);
  EXPECT(anyshape_model_input(model, 1) == NULL && anyshape_model_output(model, 1) == NULL);
  EXPECT_TEXT(anyshape_model_accepted(model), "x[batch, seq, 1] where batch >= 1; seq == 120");
  EXPECT(anyshape_model_condition_count(model) == 2 && anyshape_model_condition(model, 2) == NULL);
  EXPECT_TEXT(condition->text, "seq == 120");
  EXPECT_TEXT(condition->op, "Reshape");
  EXPECT(strlen(condition->node) > 0 && strlen(condition->sentence) > 0);
  EXPECT_TEXT(condition->code, "reshape.count");
  EXPECT(anyshape_model_is_exact(model) == 1);
  anyshape_model_free(model);

  model = load("tests/fixtures/run/sequence.onnx");
  EXPECT(anyshape_model_output_count(model) > 0);
  anyshape_model_free(model);
  anyshape_model_free(NULL);
}

static void test_answers(void) {
  anyshape_model* model = load("examples/lstm_baked.onnx");
  const int64_t right[] = {3, 120, 1}, wrong[] = {3, 64, 1}, negative[] = {3, -1, 1};
  anyshape_shape shape = {"x", 3, right};
  anyshape_shape twice[2] = {{"x", 3, right}, {"x", 3, right}};
  anyshape_answer* answer = NULL;
  const anyshape_value_type* output;
  const char* held[] = {"seq == 120"};
  const char* open_set[] = {"x=[1..8, 1..512, 1]"};
  must(anyshape_model_accepts(model, &shape, 1, &answer));
  EXPECT(anyshape_answer_verdict(answer) == ANYSHAPE_ACCEPTS);
  EXPECT_TEXT(anyshape_answer_code(answer), "");
  output = anyshape_answer_output(answer, 0);
  EXPECT(output && output->rank == 2 && output->sizes[0] == 3);
  EXPECT(anyshape_answer_output(answer, 1) == NULL);
  anyshape_answer_free(answer);

  shape.dims = wrong;
  must(anyshape_model_accepts(model, &shape, 1, &answer));
  EXPECT(anyshape_answer_verdict(answer) == ANYSHAPE_REFUSES);
  EXPECT_TEXT(anyshape_answer_code(answer), "reshape.count");
  EXPECT(strlen(anyshape_answer_place(answer)) > 0 && strlen(anyshape_answer_sentence(answer)) > 0);
  EXPECT(anyshape_answer_output(answer, 0) == NULL);
  anyshape_answer_free(answer);

  must(anyshape_model_accepts_all(model, held, 1, &answer));
  EXPECT(anyshape_answer_verdict(answer) == ANYSHAPE_ACCEPTS);
  anyshape_answer_free(answer);
  must(anyshape_model_accepts_all(model, open_set, 1, &answer));
  EXPECT(anyshape_answer_verdict(answer) == ANYSHAPE_REFUSES);
  EXPECT(strstr(anyshape_answer_sentence(answer), "x=1x1x1 is refused: ") == anyshape_answer_sentence(answer));
  anyshape_answer_free(answer);
  anyshape_answer_free(NULL);

  open_set[0] = "x=[";
  expect_error(anyshape_model_accepts_all(model, open_set, 1, &answer), ANYSHAPE_USAGE, "require.syntax");
  shape.dims = negative;
  expect_error(anyshape_model_accepts(model, &shape, 1, &answer), ANYSHAPE_USAGE, "tensor.dims");
  shape.dims = right;
  shape.input = "y";
  expect_error(anyshape_model_accepts(model, &shape, 1, &answer), ANYSHAPE_USAGE, "input.unknown");
  shape.input = NULL;
  expect_error(anyshape_model_accepts(model, &shape, 1, &answer), ANYSHAPE_USAGE, "tensor.dims");
  expect_error(anyshape_model_accepts(model, twice, 2, &answer), ANYSHAPE_USAGE, "shape.syntax");
  anyshape_model_free(model);
}

static void test_check(void) {
  anyshape_model* model = load("examples/lstm_baked.onnx");
  anyshape_text *text = NULL, *fewer = NULL;
  must(anyshape_model_check(model, NULL, ANYSHAPE_FORMAT_TEXT, &text));
  EXPECT(strstr(anyshape_text_get(text), "accepts x[batch, seq, 1] iff") != NULL);
  EXPECT(strlen(anyshape_text_get(text)) == anyshape_text_size(text));
  must(anyshape_model_check(model, " --ignore 'pinned'\"-axis\"  --ignore=equal-names", ANYSHAPE_FORMAT_TEXT, &fewer));
  EXPECT(strstr(anyshape_text_get(text), "[pinned-axis]") != NULL);
  EXPECT(strstr(anyshape_text_get(fewer), "[pinned-axis]") == NULL);
  anyshape_text_free(text);
  anyshape_text_free(fewer);
  must(anyshape_model_check(model, "--policy batch-only", ANYSHAPE_FORMAT_JSON, &text));
  EXPECT(anyshape_text_get(text)[0] == '{' && strstr(anyshape_text_get(text), "policy.batch-only") != NULL);
  anyshape_text_free(text);
  must(anyshape_model_check(model, "", ANYSHAPE_FORMAT_SARIF, &text));
  EXPECT(strstr(anyshape_text_get(text), "\"2.1.0\"") != NULL);
  anyshape_text_free(text);
  anyshape_text_free(NULL);

  expect_error(anyshape_model_check(model, "--polcy any", ANYSHAPE_FORMAT_TEXT, &text), ANYSHAPE_USAGE,
               "options.unknown");
  expect_error(anyshape_model_check(model, "--policy some", ANYSHAPE_FORMAT_TEXT, &text), ANYSHAPE_USAGE,
               "options.value");
  expect_error(anyshape_model_check(model, "--policy", ANYSHAPE_FORMAT_TEXT, &text), ANYSHAPE_USAGE, "options.value");
  expect_error(anyshape_model_check(model, "--ignore-assumed=1", ANYSHAPE_FORMAT_TEXT, &text), ANYSHAPE_USAGE,
               "options.value");
  expect_error(anyshape_model_check(model, "--allow 'x:0", ANYSHAPE_FORMAT_TEXT, &text), ANYSHAPE_USAGE,
               "options.quote");
  expect_error(anyshape_model_check(model, "--target moon", ANYSHAPE_FORMAT_TEXT, &text), ANYSHAPE_USAGE,
               "target.unknown");
  expect_error(anyshape_model_check(model, NULL, (enum anyshape_format)3, &text), ANYSHAPE_USAGE, "options.format");
  anyshape_model_free(model);
}

static void test_load(void) {
  anyshape_model *model = NULL, *again = NULL;
  anyshape_session* session = NULL;
  FILE* file = fopen("tests/fixtures/run/mlp.onnx", "rb");
  char bytes[4096];
  size_t size;
  expect_error(anyshape_model_load("tests/fixtures/run/absent.onnx", NULL, &model), ANYSHAPE_USAGE, "file.open");
  expect_error(anyshape_model_load(NULL, NULL, &model), ANYSHAPE_USAGE, "file.open");
  expect_error(anyshape_model_load("tests/fixtures/run/mlp.onnx", "--stric", &model), ANYSHAPE_USAGE,
               "options.unknown");
  expect_error(anyshape_model_load_memory("no model", 8, NULL, &model), ANYSHAPE_REFUSED, "onnx.malformed");
  EXPECT(model == NULL && file != NULL);
  if (!file) return;
  size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  must(anyshape_model_load_memory(bytes, size, "--strict", &model));
  memset(bytes, 0, sizeof bytes);
  must(anyshape_session_of_model(model, NULL, &session));
  EXPECT(anyshape_session_input_count(session) == anyshape_model_input_count(model));
  must(anyshape_model_save(model, "build/c_model_test.onnx", NULL));
  expect_error(anyshape_model_save(model, NULL, NULL), ANYSHAPE_USAGE, "file.open");
  again = load("build/c_model_test.onnx");
  EXPECT_TEXT(anyshape_model_accepted(again), anyshape_model_accepted(model));
  remove("build/c_model_test.onnx");
  anyshape_model_free(again);
  anyshape_model_free(model);
  anyshape_session_free(session);
}

static void test_fix(void) {
  anyshape_model *model = load("examples/lstm_baked.onnx"), *fixed = NULL;
  anyshape_text* text = NULL;
  must(anyshape_model_fix(model, "--dynamic x:1=seq", &fixed, &text));
  EXPECT_TEXT(anyshape_model_accepted(fixed), "x[batch, seq, 1] where batch >= 1; seq >= 1");
  EXPECT(anyshape_text_size(text) > 0);
  anyshape_text_free(text);
  must(anyshape_model_verify(model, fixed, "--seed 7 --threads 1", &text));
  EXPECT(strncmp(anyshape_text_get(text), "same     x=", 11) == 0);
  anyshape_text_free(text);
  must(anyshape_model_verify(model, fixed, NULL, NULL));
  anyshape_model_free(fixed);

  must(anyshape_model_fix(model, "--freeze batch=2 --rename 'x=the input'", &fixed, NULL));
  EXPECT_TEXT(anyshape_model_input(fixed, 0)->name, "the input");
  EXPECT(anyshape_model_input(fixed, 0)->sizes[0] == 2);
  anyshape_model_free(fixed);
  fixed = NULL;
  expect_error(anyshape_model_fix(model, "--freeze batch", &fixed, &text), ANYSHAPE_USAGE, "freeze.syntax");
  expect_error(anyshape_model_fix(model, "--freeze nothing=3", &fixed, &text), ANYSHAPE_USAGE, "freeze.symbol");
  expect_error(anyshape_model_fix(model, "-o there.onnx", &fixed, &text), ANYSHAPE_USAGE, "options.unknown");
  EXPECT(fixed == NULL);
  anyshape_model_free(model);
}

/* y = x * scale, where scale is 3 unless it is fed. */
static void test_default(void) {
  anyshape_model *model = load("tests/fixtures/run/default.onnx"), *fed = NULL, *wrong = NULL;
  const char *scale[] = {"scale"}, *x[] = {"x"};
  EXPECT(anyshape_model_input_count(model) == 1 && anyshape_model_optional_count(model) == 1);
  EXPECT_TEXT(anyshape_model_optional(model, 0)->name, "scale");
  EXPECT(anyshape_model_optional(model, 1) == NULL);
  expect_error(anyshape_model_overriding(model, x, 1, &wrong), ANYSHAPE_USAGE, "input.unknown");
  must(anyshape_model_overriding(model, scale, 1, &fed));
  anyshape_model_free(model);
  EXPECT(anyshape_model_input_count(fed) == 2 && anyshape_model_optional_count(fed) == 0);
  anyshape_model_free(fed);
}

static void test_limits(void) {
  anyshape_model *model = load("examples/lstm_baked.onnx"), *other = NULL;
  anyshape_work_limits limits = {sizeof limits, NULL, 1e-9, 0};
  anyshape_work* work = NULL;
  anyshape_answer* answer = NULL;
  anyshape_text* text = NULL;
  const int64_t dims[] = {3, 120, 1};
  const anyshape_shape shape = {"x", 3, dims};
  must(anyshape_work_begin(&limits, &work));
  expect_error(anyshape_model_load("examples/unet.onnx", NULL, &other), ANYSHAPE_SYSTEM, "work.timeout");
  expect_error(anyshape_model_accepts(model, &shape, 1, &answer), ANYSHAPE_SYSTEM, "work.timeout");
  expect_error(anyshape_model_fix(model, "--freeze batch=1", &other, &text), ANYSHAPE_SYSTEM, "work.timeout");
  EXPECT(other == NULL && answer == NULL && text == NULL);
  anyshape_work_end(work);
  must(anyshape_model_accepts(model, &shape, 1, &answer));
  anyshape_answer_free(answer);
  anyshape_model_free(model);
}

static void test_verify(void) {
  anyshape_model *model = load("tests/fixtures/run/mlp.onnx"), *other = load("tests/fixtures/run/product.onnx");
  anyshape_text* text = NULL;
  anyshape_error* error = anyshape_model_verify(model, other, NULL, &text);
  EXPECT(error != NULL && anyshape_error_get_kind(error) == ANYSHAPE_REFUSED);
  anyshape_error_free(error);
  anyshape_text_free(text);
  expect_error(anyshape_model_verify(model, other, "--rtol much", NULL), ANYSHAPE_USAGE, "options.value");
  expect_error(anyshape_model_verify(model, other, "--engine steam", NULL), ANYSHAPE_USAGE, "engine.unknown");
  expect_error(anyshape_model_verify(model, other, "--shapes-file /none", NULL), ANYSHAPE_USAGE, "file.open");
  anyshape_model_free(model);
  anyshape_model_free(other);
}

static void test_export(void) {
  anyshape_model* model = NULL;
  anyshape_text* text = NULL;
  must(anyshape_export("tests/fixtures/export_cli/tied.pt2", "--opset=18", &model, &text));
  EXPECT(anyshape_model_input_count(model) > 0);
  must(anyshape_model_save(model, "build/c_model_exported.onnx", NULL));
  remove("build/c_model_exported.onnx");
  anyshape_model_free(model);
  anyshape_text_free(text);
  model = NULL;
  expect_error(anyshape_export("tests/fixtures/export_cli/absent.pt2", NULL, &model, NULL), ANYSHAPE_USAGE,
               "file.open");
  expect_error(anyshape_export(NULL, NULL, &model, NULL), ANYSHAPE_USAGE, "file.open");
  expect_error(anyshape_export("tests/fixtures/export_cli/tied.pt2", "--guards keep", &model, NULL), ANYSHAPE_USAGE,
               "options.value");
  expect_error(anyshape_export("tests/fixtures/export_cli/tied.pt2", "--opset", &model, NULL), ANYSHAPE_USAGE,
               "options.value");
  EXPECT(model == NULL);
}

int main(void) {
  test_load();
  test_describe();
  test_answers();
  test_check();
  test_fix();
  test_default();
  test_limits();
  test_verify();
  test_export();
  printf(failures ? "%d checks failed\n" : "all is well\n", failures);
  return failures ? 1 : 0;
}
