/* What the C tests of the library count and print. */
#ifndef ANYSHAPE_TESTS_API_C_EXPECT_H
#define ANYSHAPE_TESTS_API_C_EXPECT_H

#include <anyshape/c.h>
#include <stdio.h>
#include <stdlib.h>

static int failures = 0;

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

/* Ends the program where there is an error. */
static void must(anyshape_error* error) {
  if (!error) return;
  fprintf(stderr, "%s\n", anyshape_error_text(error));
  anyshape_error_free(error);
  exit(1);
}

#endif
