/* shapes MODEL [FIX]: prints what a model takes and gives, and why; with FIX, words of `anyshape fix`, also what it would
 * take then, and whether it would give the same answers. */
#include <anyshape/c.h>
#include <stdio.h>

static void print_values(const char* what, const anyshape_model* model, size_t count,
                         const anyshape_value_type* (*at)(const anyshape_model*, size_t)) {
  for (size_t i = 0; i < count; ++i) {
    const anyshape_value_type* value = at(model, i);
    printf("%s %s: %s\n", what, value->name, value->text);
    for (int32_t axis = 0; axis < value->rank; ++axis)
      if (value->sizes[axis] < 0) printf("  axis %d is %s\n", (int)axis, value->dims[axis]);
  }
}

static void print_model(const anyshape_model* model) {
  print_values("input", model, anyshape_model_input_count(model), anyshape_model_input);
  print_values("output", model, anyshape_model_output_count(model), anyshape_model_output);
  printf("takes %s\n", anyshape_model_accepted(model));
  for (size_t i = 0; i < anyshape_model_condition_count(model); ++i) {
    const anyshape_condition* condition = anyshape_model_condition(model, i);
    printf("  %s because %s (%s): %s\n", condition->text, condition->node, condition->op, condition->sentence);
  }
}

/* Every input with 2 for each axis that is no number, as far as there are eight inputs of eight axes. */
static anyshape_error* ask_twos(const anyshape_model* model) {
  enum { most = 8 };
  int64_t dims[most][most];
  anyshape_shape shapes[most];
  anyshape_answer* answer = NULL;
  anyshape_error* error;
  const size_t count = anyshape_model_input_count(model);
  if (count > most) return NULL;
  for (size_t i = 0; i < count; ++i) {
    const anyshape_value_type* input = anyshape_model_input(model, i);
    if (input->rank < 0 || input->rank > most) return NULL;
    for (int32_t axis = 0; axis < input->rank; ++axis) dims[i][axis] = input->sizes[axis] < 0 ? 2 : input->sizes[axis];
    shapes[i].input = input->name;
    shapes[i].rank = input->rank;
    shapes[i].dims = dims[i];
  }
  error = anyshape_model_accepts(model, shapes, count, &answer);
  if (error) return error;
  if (anyshape_answer_verdict(answer) == ANYSHAPE_ACCEPTS) {
    puts("2 everywhere: accepted");
  } else {
    printf("2 everywhere: %s: %s: %s\n", anyshape_answer_code(answer), anyshape_answer_place(answer),
           anyshape_answer_sentence(answer));
  }
  anyshape_answer_free(answer);
  return NULL;
}

static anyshape_error* try_fix(const anyshape_model* model, const char* options) {
  anyshape_model* fixed = NULL;
  anyshape_text *changes = NULL, *compared = NULL;
  anyshape_error* error = anyshape_model_fix(model, options, &fixed, &changes);
  if (!error) {
    printf("fixed:\n%s", anyshape_text_get(changes));
    print_model(fixed);
    error = ask_twos(fixed);
  }
  if (!error) error = anyshape_model_verify(model, fixed, NULL, &compared);
  if (compared) fputs(anyshape_text_get(compared), stdout);
  anyshape_text_free(changes);
  anyshape_text_free(compared);
  anyshape_model_free(fixed);
  return error;
}

int main(int argc, char** argv) {
  anyshape_model* model = NULL;
  anyshape_error* error;
  int failed;
  if (argc < 2 || argc > 3) {
    fputs("usage: shapes MODEL [FIX]\n", stderr);
    return 2;
  }
  error = anyshape_model_load(argv[1], NULL, &model);
  if (!error) {
    print_model(model);
    error = ask_twos(model);
  }
  if (!error && argc == 3) error = try_fix(model, argv[2]);
  failed = error != NULL;
  if (failed) fprintf(stderr, "%s\n", anyshape_error_text(error));
  anyshape_error_free(error);
  anyshape_model_free(model);
  return failed;
}
