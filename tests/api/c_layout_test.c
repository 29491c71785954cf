/* The layout of the structs of c.h, and the numbers of its enumerators, which programs built with an older header rely
 * on: rows stay as they are, new members and enumerators get new ones. For 64-bit machines. */
#include <anyshape/c.h>
#include <stdio.h>

struct row {
  const char* what;
  long long is, must_be;
};

#define AT(type, member, offset) {#type "." #member, (long long)offsetof(type, member), offset}
#define SIZE(type, size) {"sizeof " #type, (long long)sizeof(type), size}
#define NUMBER(name, number) {#name, (long long)(name), number}

static const struct row rows[] = {
    AT(anyshape_tensor, type, 0),
    AT(anyshape_tensor, rank, 4),
    AT(anyshape_tensor, dims, 8),
    AT(anyshape_tensor, data, 16),
    SIZE(anyshape_tensor, 24),
    AT(anyshape_work_limits, size, 0),
    AT(anyshape_work_limits, cancel, 8),
    AT(anyshape_work_limits, timeout, 16),
    AT(anyshape_work_limits, max_bytes, 24),
    AT(anyshape_session_options, size, 0),
    AT(anyshape_session_options, reference, 8),
    AT(anyshape_session_options, exact, 12),
    AT(anyshape_session_options, strict, 16),
    AT(anyshape_run_options, size, 0),
    AT(anyshape_run_options, cancel, 8),
    AT(anyshape_run_options, timeout, 16),
    AT(anyshape_run_options, max_bytes, 24),
    AT(anyshape_run_options, seed, 32),
    AT(anyshape_value_type, name, 0),
    AT(anyshape_value_type, text, 8),
    AT(anyshape_value_type, kind, 16),
    AT(anyshape_value_type, type, 20),
    AT(anyshape_value_type, rank, 24),
    AT(anyshape_value_type, dims, 32),
    AT(anyshape_value_type, sizes, 40),
    AT(anyshape_condition, text, 0),
    AT(anyshape_condition, node, 8),
    AT(anyshape_condition, op, 16),
    AT(anyshape_condition, code, 24),
    AT(anyshape_condition, sentence, 32),
    AT(anyshape_shape, input, 0),
    AT(anyshape_shape, rank, 8),
    AT(anyshape_shape, dims, 16),
    SIZE(anyshape_shape, 24),
    SIZE(enum anyshape_error_kind, 4),
    NUMBER(ANYSHAPE_REFUSED, 0),
    NUMBER(ANYSHAPE_UNKNOWN, 1),
    NUMBER(ANYSHAPE_USAGE, 2),
    NUMBER(ANYSHAPE_SYSTEM, 3),
    SIZE(enum anyshape_kind, 4),
    NUMBER(ANYSHAPE_ANYTHING, 0),
    NUMBER(ANYSHAPE_TENSOR, 1),
    NUMBER(ANYSHAPE_SPARSE_TENSOR, 2),
    NUMBER(ANYSHAPE_SEQUENCE, 3),
    NUMBER(ANYSHAPE_OPTIONAL, 4),
    NUMBER(ANYSHAPE_MAP, 5),
    SIZE(enum anyshape_verdict, 4),
    NUMBER(ANYSHAPE_ACCEPTS, 0),
    NUMBER(ANYSHAPE_REFUSES, 1),
    NUMBER(ANYSHAPE_CANNOT_TELL, 2),
    SIZE(enum anyshape_format, 4),
    NUMBER(ANYSHAPE_FORMAT_TEXT, 0),
    NUMBER(ANYSHAPE_FORMAT_JSON, 1),
    NUMBER(ANYSHAPE_FORMAT_SARIF, 2),
};

int main(void) {
  int failures = 0;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    if (rows[i].is == rows[i].must_be) continue;
    fprintf(stderr, "%s is %lld, it was %lld\n", rows[i].what, rows[i].is, rows[i].must_be);
    ++failures;
  }
  printf(failures ? "%d rows have changed\n" : "all is as it was\n", failures);
  return failures ? 1 : 0;
}
