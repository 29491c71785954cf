/* The C API, from C: loads, runs, reserves, asks for shapes, fails, stops, registers an operator. */
#include <anyshape/c.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_expect.h"

static void expect_error(anyshape_error* error, enum anyshape_error_kind kind, const char* code) {
  EXPECT(error != NULL);
  if (!error) return;
  EXPECT(anyshape_error_get_kind(error) == kind);
  if (strcmp(anyshape_error_code(error), code) != 0) {
    fprintf(stderr, "expected %s, got %s\n", code, anyshape_error_text(error));
    ++failures;
  }
  EXPECT(strlen(anyshape_error_message(error)) > 0);
  EXPECT(anyshape_error_place(error) != NULL);
  anyshape_error_free(error);
}

static float weight(int64_t i) { return (float)(7 * i % 11 - 5) / 8; }

static anyshape_session* load(const char* path) {
  anyshape_session* session = NULL;
  must(anyshape_session_load(path, &session));
  return session;
}

/* next = tanh(x * w + h * u), twice: the first output is the input of the second run. */
static void test_state(void) {
  anyshape_session* session = load("tests/fixtures/run/state.onnx");
  anyshape_context* context = NULL;
  const int64_t x_dims[] = {1, 4}, h_dims[] = {1, 8};
  float x[4] = {1, -1, 0.5f, 2}, h[8] = {0}, want[8];
  anyshape_tensor inputs[2] = {{1, 2, x_dims, x}, {1, 2, h_dims, h}}, output = {0};
  EXPECT(anyshape_session_input_count(session) == 2);
  EXPECT(anyshape_session_output_count(session) == 1);
  EXPECT(strcmp(anyshape_session_input_name(session, 1), "h") == 0);
  EXPECT(strcmp(anyshape_session_output_name(session, 0), "next") == 0);
  EXPECT(anyshape_session_input_name(session, 2) == NULL);
  EXPECT(anyshape_session_output_name(session, 1) == NULL);
  EXPECT(anyshape_session_input_type(session, 0) == 1);
  EXPECT(anyshape_session_output_type(session, 0) == 1);
  EXPECT(anyshape_session_input_type(session, 9) == 0);
  must(anyshape_context_create(session, 1, &context));
  anyshape_session_free(session);
  memcpy(want, h, sizeof want);
  for (int round = 0; round < 5; ++round) {
    float next[8];
    for (int j = 0; j < 8; ++j) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum += x[k] * weight(k * 8 + j);
      for (int k = 0; k < 8; ++k) sum += want[k] * weight(k * 8 + j);
      next[j] = (float)tanh(sum);
    }
    memcpy(want, next, sizeof want);
    output.data = NULL;
    must(anyshape_context_run(context, inputs, 2, &output, 1));
    EXPECT(output.type == 1 && output.rank == 2 && output.dims[0] == 1 && output.dims[1] == 8);
    for (int j = 0; j < 8; ++j) EXPECT(fabsf(((const float*)output.data)[j] - want[j]) < 1e-4f);
    inputs[1] = output;
  }
  anyshape_context_free(context);
}

static void test_memory_and_shapes(void) {
  anyshape_session* session = NULL;
  anyshape_context* context = NULL;
  FILE* file = fopen("tests/fixtures/run/mlp.onnx", "rb");
  char bytes[4096];
  float x[40], y[20];
  const int64_t x_dims[] = {5, 8}, y_dims[] = {5, 4}, wrong_dims[] = {4, 5}, odd_dims[] = {5, 7};
  const int64_t huge_dims[] = {INT64_C(1) << 40, 8}, negative_dims[] = {-1, 8};
  int64_t dims[4] = {0};
  int32_t rank = 4;
  anyshape_tensor input = {1, 2, x_dims, x}, output = {1, 2, y_dims, y};
  size_t size;
  EXPECT(file != NULL);
  if (!file) return;
  size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  must(anyshape_session_load_memory(bytes, size, &session));
  memset(bytes, 0, sizeof bytes);
  must(anyshape_context_create(session, 0, &context));
  for (int i = 0; i < 40; ++i) x[i] = (float)i / 16;
  must(anyshape_context_reserve(context, &input, 1));
  must(anyshape_context_output_shape(context, &input, 1, 0, dims, &rank));
  EXPECT(rank == 2 && dims[0] == 5 && dims[1] == 4);
  rank = 1;
  expect_error(anyshape_context_output_shape(context, &input, 1, 0, dims, &rank), ANYSHAPE_USAGE, "output.rank");
  expect_error(anyshape_context_output_shape(context, &input, 1, 1, dims, &rank), ANYSHAPE_USAGE, "output.index");
  must(anyshape_context_run(context, &input, 1, &output, 1));

  output.dims = wrong_dims;
  expect_error(anyshape_context_run(context, &input, 1, &output, 1), ANYSHAPE_REFUSED, "output.shape");
  output.dims = y_dims;
  input.type = 11;
  expect_error(anyshape_context_run(context, &input, 1, &output, 1), ANYSHAPE_REFUSED, "input.dtype");
  input.type = 99;
  expect_error(anyshape_context_run(context, &input, 1, &output, 1), ANYSHAPE_USAGE, "tensor.dims");
  input.type = 1;
  input.rank = -1;
  expect_error(anyshape_context_run(context, &input, 1, &output, 1), ANYSHAPE_USAGE, "tensor.dims");
  input.rank = 2;
  expect_error(anyshape_context_run(context, &input, 0, &output, 1), ANYSHAPE_USAGE, "run.inputs");
  expect_error(anyshape_context_run(context, &input, 1, &output, 0), ANYSHAPE_USAGE, "run.outputs");
  input.data = NULL;
  expect_error(anyshape_context_run(context, &input, 1, &output, 1), ANYSHAPE_USAGE, "tensor.data");
  input.data = x;
  input.dims = odd_dims;
  expect_error(anyshape_context_run(context, &input, 1, &output, 1), ANYSHAPE_REFUSED, "input.dim");
  input.dims = negative_dims;
  expect_error(anyshape_context_run(context, &input, 1, &output, 1), ANYSHAPE_USAGE, "tensor.dims");
  expect_error(anyshape_context_reserve(context, &input, 1), ANYSHAPE_USAGE, "tensor.dims");
  input.dims = huge_dims;
  output.data = NULL;
  expect_error(anyshape_context_run(context, &input, 1, &output, 1), ANYSHAPE_SYSTEM, "tensor.memory");
  expect_error(anyshape_context_reserve(context, &input, 1), ANYSHAPE_SYSTEM, "tensor.memory");

  input.dims = x_dims;
  output.data = NULL;
  must(anyshape_context_run(context, &input, 1, &output, 1));
  EXPECT(memcmp(output.data, y, sizeof y) == 0);
  anyshape_context_free(context);
  anyshape_session_free(session);
}

static void test_sizes_that_depend_on_data(void) {
  anyshape_session* session = load("tests/fixtures/run/mask.onnx");
  anyshape_context* context = NULL;
  const int64_t x_dims[] = {3, 4}, keep_dims[] = {3};
  float x[12] = {0};
  unsigned char keep[3] = {1, 0, 1};
  int64_t dims[4];
  int32_t rank = 4;
  anyshape_tensor inputs[2] = {{1, 2, x_dims, x}, {9, 1, keep_dims, keep}}, outputs[2] = {{0}, {0}};
  must(anyshape_context_create(session, 2, &context));
  must(anyshape_context_output_shape(context, inputs, 2, 0, dims, &rank));
  EXPECT(rank == -1);
  must(anyshape_context_run(context, inputs, 2, outputs, 2));
  EXPECT(outputs[0].rank == 2 && outputs[0].dims[0] == 2 && outputs[0].dims[1] == 3);
  EXPECT(outputs[1].type == 7 && outputs[1].dims[1] == 2 && ((const int64_t*)outputs[1].data)[1] == 2);
  anyshape_context_free(context);
  anyshape_session_free(session);
}

static int twice(const anyshape_node* node, const anyshape_tensor* inputs, size_t input_count,
                 const anyshape_tensor* outputs, size_t output_count, void* user) {
  const int64_t count = outputs[0].dims[0] * outputs[0].dims[1], width = inputs[0].dims[1];
  int64_t times = 0;
  ++*(int*)user;
  if (input_count != 1 || output_count != 1 || !anyshape_node_integer(node, "times", &times)) return 1;
  for (int64_t i = 0; i < count; ++i)
    ((float*)outputs[0].data)[i] = ((const float*)inputs[0].data)[i / (times * width) * width + i % width];
  return 0;
}

static void test_custom(void) {
  int calls = 0;
  const int64_t x_dims[] = {1, 2};
  float x[2] = {3, 4};
  anyshape_tensor input = {1, 2, x_dims, x}, output = {0};
  anyshape_context* context = NULL;
  anyshape_session* session = NULL;
  expect_error(anyshape_session_load("tests/fixtures/run/custom.onnx", &session), ANYSHAPE_REFUSED, "run.missing");
  expect_error(anyshape_register_op("test", "Repeat", "y = ", twice, &calls), ANYSHAPE_USAGE, "custom.rule");
  must(anyshape_register_op("test", "Repeat", "y = [x0, 3*x1]", twice, &calls));
  session = load("tests/fixtures/run/custom.onnx");
  must(anyshape_context_create(session, 1, &context));
  must(anyshape_context_run(context, &input, 1, &output, 1));
  EXPECT(calls == 1);
  EXPECT(output.rank == 2 && output.dims[1] == 6 && ((const float*)output.data)[5] == 4);
  anyshape_context_free(context);
  anyshape_session_free(session);
}

/* y = x * scale, where scale is 3 unless it is fed. */
static void test_default(void) {
  anyshape_session *session = load("tests/fixtures/run/default.onnx"), *fed = NULL, *wrong = NULL;
  anyshape_context* context = NULL;
  const char *scale_name[] = {"scale"}, *x_name[] = {"x"};
  const int64_t dims[] = {2}, one[] = {1};
  float x[2] = {1, 2}, scale = 5;
  anyshape_tensor inputs[2] = {{1, 1, dims, x}, {1, 1, one, &scale}}, output = {0};
  EXPECT(anyshape_session_input_count(session) == 1);
  EXPECT(anyshape_session_optional_count(session) == 1);
  EXPECT(strcmp(anyshape_session_optional_name(session, 0), "scale") == 0);
  EXPECT(anyshape_session_optional_type(session, 0) == 1);
  EXPECT(anyshape_session_optional_name(session, 1) == NULL);
  expect_error(anyshape_session_overriding(session, x_name, 1, &wrong), ANYSHAPE_USAGE, "input.unknown");
  must(anyshape_session_overriding(session, scale_name, 1, &fed));
  anyshape_session_free(session);
  EXPECT(anyshape_session_input_count(fed) == 2);
  EXPECT(anyshape_session_optional_count(fed) == 0);
  must(anyshape_context_create(fed, 1, &context));
  must(anyshape_context_run(context, inputs, 2, &output, 1));
  EXPECT(((const float*)output.data)[0] == 5 && ((const float*)output.data)[1] == 10);
  anyshape_context_free(context);
  anyshape_session_free(fed);
}

/* A loop that would never end. */
static void test_limits(void) {
  anyshape_session *session = load("tests/fixtures/run/loop.onnx"), *other = NULL;
  anyshape_context* context = NULL;
  anyshape_cancel* cancel = NULL;
  int64_t trips = INT64_C(1) << 60;
  const int64_t dims[] = {2};
  float x[2] = {1, 2};
  const anyshape_tensor inputs[2] = {{7, 0, NULL, &trips}, {1, 1, dims, x}};
  anyshape_tensor outputs[2] = {{0}, {0}};
  anyshape_run_options options = {sizeof options, NULL, 0, 0, 0};
  anyshape_work_limits limits = {sizeof limits, NULL, 0, 0};
  anyshape_work *outer = NULL, *inner = NULL;
  must(anyshape_context_create(session, 1, &context));
  must(anyshape_cancel_create(&cancel));

  options.timeout = 0.05;
  expect_error(anyshape_context_run_with(context, &options, inputs, 2, outputs, 2), ANYSHAPE_SYSTEM, "work.timeout");
  options.timeout = 0;
  options.max_bytes = 100000;
  expect_error(anyshape_context_run_with(context, &options, inputs, 2, outputs, 2), ANYSHAPE_SYSTEM, "run.memory");
  options.max_bytes = 0;
  options.cancel = cancel;
  anyshape_cancel_set(cancel);
  expect_error(anyshape_context_run_with(context, &options, inputs, 2, outputs, 2), ANYSHAPE_REFUSED, "run.cancelled");
  anyshape_cancel_reset(cancel);
  trips = 3;
  must(anyshape_context_run_with(context, &options, inputs, 2, outputs, 2));
  EXPECT(outputs[1].rank == 2 && outputs[1].dims[0] == 3);
  outputs[0].data = outputs[1].data = NULL;
  must(anyshape_context_run_with(context, NULL, inputs, 2, outputs, 2));

  options.size = sizeof options + 8;
  expect_error(anyshape_context_run_with(context, &options, inputs, 2, outputs, 2), ANYSHAPE_USAGE, "run.options");
  options.size = 0;
  expect_error(anyshape_context_run_with(context, &options, inputs, 2, outputs, 2), ANYSHAPE_USAGE, "run.options");
  options.size = sizeof options.size; /* an older version that has nothing else: all else is 0 */
  options.max_bytes = -1;
  outputs[0].data = outputs[1].data = NULL;
  must(anyshape_context_run_with(context, &options, inputs, 2, outputs, 2));

  /* All calls of this thread. */
  limits.cancel = cancel;
  must(anyshape_work_begin(&limits, &outer));
  limits.cancel = NULL;
  limits.timeout = 1e-9;
  must(anyshape_work_begin(&limits, &inner));
  expect_error(anyshape_session_load("tests/fixtures/run/mlp.onnx", &other), ANYSHAPE_SYSTEM, "work.timeout");
  anyshape_cancel_set(cancel);
  expect_error(anyshape_session_load("tests/fixtures/run/mlp.onnx", &other), ANYSHAPE_SYSTEM, "work.cancelled");
  anyshape_work_end(outer);
  outputs[0].data = outputs[1].data = NULL;
  expect_error(anyshape_context_run(context, inputs, 2, outputs, 2), ANYSHAPE_SYSTEM, "work.timeout");
  anyshape_work_end(inner);
  anyshape_work_end(NULL);
  must(anyshape_context_run(context, inputs, 2, outputs, 2));
  limits.timeout = -1;
  expect_error(anyshape_work_begin(&limits, &outer), ANYSHAPE_USAGE, "work.limits");
  anyshape_cancel_free(cancel);
  anyshape_context_free(context);
  anyshape_session_free(session);
}

/* Does the tasks one by one, the last one first, and counts the calls. */
static void backwards(void* user, int64_t tasks, anyshape_task work, void* state) {
  ++*(int*)user;
  for (int64_t i = tasks; i-- > 0;) work(state, i, i + 1);
}

static void test_pool(void) {
  anyshape_session* session = load("tests/fixtures/run/product.onnx");
  anyshape_context *alone = NULL, *with_pool = NULL;
  const int64_t dims[] = {6000, 8};
  float* x = malloc(6000 * 8 * sizeof(float));
  anyshape_tensor input = {1, 2, dims, x}, first = {0}, second = {0};
  int calls = 0;
  for (int i = 0; i < 6000 * 8; ++i) x[i] = weight(i);
  expect_error(anyshape_context_create_with_pool(session, NULL, NULL, &with_pool), ANYSHAPE_USAGE, "context.pool");
  must(anyshape_context_create(session, 1, &alone));
  must(anyshape_context_create_with_pool(session, backwards, &calls, &with_pool));
  must(anyshape_context_run(alone, &input, 1, &first, 1));
  must(anyshape_context_run(with_pool, &input, 1, &second, 1));
  EXPECT(calls > 0);
  EXPECT(memcmp(first.data, second.data, 6000 * 4 * sizeof(float)) == 0);
  anyshape_context_free(alone);
  anyshape_context_free(with_pool);
  anyshape_session_free(session);
  free(x);
}

static void test_session_options(void) {
  anyshape_session_options options = {sizeof options, 1, 1, 0};
  anyshape_session *usual = load("tests/fixtures/run/cnn.onnx"), *plain = NULL, *wrong = NULL;
  anyshape_context *first = NULL, *second = NULL;
  const int64_t dims[] = {1, 1, 6, 5};
  float x[30];
  const anyshape_tensor input = {1, 4, dims, x};
  anyshape_tensor one = {0}, other = {0};
  for (int i = 0; i < 30; ++i) x[i] = weight(i);
  must(anyshape_session_load_with("tests/fixtures/run/cnn.onnx", &options, &plain));
  must(anyshape_context_create(usual, 1, &first));
  must(anyshape_context_create(plain, 1, &second));
  must(anyshape_context_run(first, &input, 1, &one, 1));
  must(anyshape_context_run(second, &input, 1, &other, 1));
  EXPECT(one.rank == 2 && other.rank == 2 && one.dims[1] == 3 && other.dims[1] == 3);
  for (int i = 0; i < 3; ++i) EXPECT(fabsf(((float*)one.data)[i] - ((float*)other.data)[i]) < 1e-4f);
  anyshape_context_free(first);
  anyshape_context_free(second);
  anyshape_session_free(usual);
  anyshape_session_free(plain);

  options.size = sizeof options + 8;
  expect_error(anyshape_session_load_with("tests/fixtures/run/cnn.onnx", &options, &wrong), ANYSHAPE_USAGE,
               "session.options");
  options.size = 0;
  expect_error(anyshape_session_load_memory_with(x, 1, &options, &wrong), ANYSHAPE_USAGE, "session.options");
  options.size = sizeof options.size; /* an older version that has nothing else: all else is 0 */
  must(anyshape_session_load_with("tests/fixtures/run/cnn.onnx", &options, &usual));
  anyshape_session_free(usual);
  must(anyshape_session_load_with("tests/fixtures/run/cnn.onnx", NULL, &usual));
  anyshape_session_free(usual);
}

static void test_errors(void) {
  anyshape_session* session = NULL;
  const int64_t dims[] = {1};
  const anyshape_tensor words = {8, 1, dims, NULL};
  anyshape_tensor inputs[2], outputs[2] = {{0}, {0}};
  anyshape_context* context = NULL;
  expect_error(anyshape_session_load("tests/fixtures/run/absent.onnx", &session), ANYSHAPE_USAGE, "file.open");
  EXPECT(session == NULL);
  expect_error(anyshape_session_load_memory("no model", 8, &session), ANYSHAPE_REFUSED, "onnx.malformed");
  expect_error(anyshape_session_load(NULL, &session), ANYSHAPE_USAGE, "file.open");
  anyshape_error_free(NULL);
  anyshape_session_free(NULL);
  anyshape_context_free(NULL);
  EXPECT(strlen(anyshape_version()) > 0);
  /* Strings are not for C. */
  session = load("tests/fixtures/run/text.onnx");
  must(anyshape_context_create(session, 1, &context));
  inputs[0] = inputs[1] = words;
  {
    anyshape_error* error = anyshape_context_run(context, inputs, 2, outputs, 2);
    EXPECT(error != NULL);
    anyshape_error_free(error);
  }
  anyshape_context_free(context);
  anyshape_session_free(session);
}

int main(void) {
  test_state();
  test_memory_and_shapes();
  test_sizes_that_depend_on_data();
  test_custom();
  test_default();
  test_session_options();
  test_limits();
  test_pool();
  test_errors();
  printf(failures ? "%d checks failed\n" : "all is well\n", failures);
  return failures ? 1 : 0;
}
