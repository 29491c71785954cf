#ifndef ANYSHAPE_C_H_
#define ANYSHAPE_C_H_

/* The C API. Every function that can fail gives NULL when it succeeds and an error otherwise; the caller frees it.
 * A session may be used by any number of threads at once; a context by one thread at a time. Strings that functions
 * return belong to the object they were asked from. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ANYSHAPE_C_API __attribute__((visibility("default")))

typedef struct anyshape_session anyshape_session;
typedef struct anyshape_context anyshape_context;
typedef struct anyshape_error anyshape_error;
typedef struct anyshape_node anyshape_node;

enum anyshape_error_kind {
  ANYSHAPE_REFUSED = 0, /* the model, shape or request breaks a rule */
  ANYSHAPE_UNKNOWN = 1, /* no rule can tell */
  ANYSHAPE_USAGE = 2,   /* a wrong argument, or a path that cannot be opened */
  ANYSHAPE_SYSTEM = 3   /* out of memory, disk full; the work was cancelled or took too long */
};

ANYSHAPE_C_API enum anyshape_error_kind anyshape_error_get_kind(const anyshape_error* error);
ANYSHAPE_C_API const char* anyshape_error_code(const anyshape_error* error);    /* "reshape.count" */
ANYSHAPE_C_API const char* anyshape_error_place(const anyshape_error* error);   /* file, node, axis */
ANYSHAPE_C_API const char* anyshape_error_message(const anyshape_error* error); /* one sentence */
ANYSHAPE_C_API const char* anyshape_error_text(const anyshape_error* error);    /* all of it on one line */
ANYSHAPE_C_API void anyshape_error_free(anyshape_error* error);                 /* NULL is fine */

ANYSHAPE_C_API const char* anyshape_version(void);

/* A flag that ends work. Any thread may set it at any time, a signal handler too; it stays set until it is reset. It
 * must live as long as something looks at it. */
typedef struct anyshape_cancel anyshape_cancel;
ANYSHAPE_C_API anyshape_error* anyshape_cancel_create(anyshape_cancel** cancel);
ANYSHAPE_C_API void anyshape_cancel_set(anyshape_cancel* cancel);
ANYSHAPE_C_API void anyshape_cancel_reset(anyshape_cancel* cancel);
ANYSHAPE_C_API void anyshape_cancel_free(anyshape_cancel* cancel);

/* Limits of all calls that a thread makes from begin to end; scopes may be nested. A call that they end fails with
 * "work.cancelled" or "work.timeout" and leaves nothing behind. `size` is sizeof(anyshape_work_limits), for later
 * versions that have more; 0 and NULL: no limit. A scope ends on the thread that has begun it. Usage error work.limits.
 */
typedef struct anyshape_work_limits {
  size_t size;
  const anyshape_cancel* cancel;
  double timeout;    /* seconds from the begin */
  int64_t max_bytes; /* of each run, as in anyshape_run_options */
} anyshape_work_limits;
typedef struct anyshape_work anyshape_work;
ANYSHAPE_C_API anyshape_error* anyshape_work_begin(const anyshape_work_limits* limits, anyshape_work** work);
ANYSHAPE_C_API void anyshape_work_end(anyshape_work* work); /* NULL is fine */

/* A dense row-major tensor. `type` is a number of ONNX's TensorProto.DataType (1: float, 7: int64, ...). */
typedef struct anyshape_tensor {
  int32_t type;
  int32_t rank;
  const int64_t* dims;
  void* data;
} anyshape_tensor;

ANYSHAPE_C_API anyshape_error* anyshape_session_load(const char* path, anyshape_session** session);
/* The bytes are copied. */
ANYSHAPE_C_API anyshape_error* anyshape_session_load_memory(const void* bytes, size_t size, anyshape_session** session);
/* `size` is sizeof(anyshape_session_options), for later versions that have more; the other fields are truth values. */
typedef struct anyshape_session_options {
  size_t size;
  int32_t reference; /* reference kernels only: slow, for comparing */
  int32_t exact;     /* no transforms that round otherwise: plain products in convolutions, f16 rounded by every node */
  int32_t strict;    /* refuse what ONNX Runtime runs although no operator's text promises it (lenient.*) */
} anyshape_session_options;
/* The same with options. NULL options: without. Usage error session.options. */
ANYSHAPE_C_API anyshape_error* anyshape_session_load_with(const char* path, const anyshape_session_options* options,
                                                          anyshape_session** session);
ANYSHAPE_C_API anyshape_error* anyshape_session_load_memory_with(const void* bytes, size_t size,
                                                                 const anyshape_session_options* options,
                                                                 anyshape_session** session);
ANYSHAPE_C_API void anyshape_session_free(anyshape_session* session);
ANYSHAPE_C_API size_t anyshape_session_input_count(const anyshape_session* session);
ANYSHAPE_C_API size_t anyshape_session_output_count(const anyshape_session* session);
/* NULL, 0 past the last one. */
ANYSHAPE_C_API const char* anyshape_session_input_name(const anyshape_session* session, size_t index);
ANYSHAPE_C_API const char* anyshape_session_output_name(const anyshape_session* session, size_t index);
ANYSHAPE_C_API int32_t anyshape_session_input_type(const anyshape_session* session, size_t index);
ANYSHAPE_C_API int32_t anyshape_session_output_type(const anyshape_session* session, size_t index);

/* Inputs with a default value, which are not among the inputs above. */
ANYSHAPE_C_API size_t anyshape_session_optional_count(const anyshape_session* session);
ANYSHAPE_C_API const char* anyshape_session_optional_name(const anyshape_session* session, size_t index);
ANYSHAPE_C_API int32_t anyshape_session_optional_type(const anyshape_session* session, size_t index);
/* A session for callers that feed these, too: they are among its inputs. Both are freed on their own. Usage error
 * input.unknown. */
ANYSHAPE_C_API anyshape_error* anyshape_session_overriding(const anyshape_session* session, const char* const* names,
                                                           size_t count, anyshape_session** overriding);

/* `threads`: how many work on one run; 0: all cores. The session may be freed before the context. */
ANYSHAPE_C_API anyshape_error* anyshape_context_create(const anyshape_session* session, int threads,
                                                       anyshape_context** context);
/* A pool of the caller, which works on runs instead of threads of the process: it calls work(state, first, last) for
 * ranges first..last - 1 that have every task of 0..tasks - 1 once, in any order and by any threads, and returns when
 * all calls have returned. A run fails with run.pool when tasks are left out or done twice. Usage error context.pool
 * for NULL. */
typedef void (*anyshape_task)(void* state, int64_t first, int64_t last);
typedef void (*anyshape_parallel)(void* user, int64_t tasks, anyshape_task work, void* state);
ANYSHAPE_C_API anyshape_error* anyshape_context_create_with_pool(const anyshape_session* session,
                                                                 anyshape_parallel parallel, void* user,
                                                                 anyshape_context** context);
ANYSHAPE_C_API void anyshape_context_free(anyshape_context* context);
/* Runs up to these input shapes allocate nothing, but for values whose size depends on data, strings, sequences, bodies
 * of control flow and operators of the caller. `inputs` in order of the session's inputs; data is not looked at. */
ANYSHAPE_C_API anyshape_error* anyshape_context_reserve(anyshape_context* context, const anyshape_tensor* inputs,
                                                        size_t count);
/* The shape of one output at these input shapes, without running. `dims` has room for `*rank` sizes; `*rank` becomes
 * their number, or -1 when the shape depends on data. Error output.rank when there is not enough room. */
ANYSHAPE_C_API anyshape_error* anyshape_context_output_shape(anyshape_context* context, const anyshape_tensor* inputs,
                                                             size_t count, size_t output, int64_t* dims, int32_t* rank);
/* An output whose data is not NULL is written to where it is and must have the right type and shape. One whose data is
 * NULL is set to memory of the context, which stays as it is until the end of the next run of the context: it may be an
 * input of that run. Only tensors of numbers; use the C++ API for strings, sequences and maps. */
ANYSHAPE_C_API anyshape_error* anyshape_context_run(anyshape_context* context, const anyshape_tensor* inputs,
                                                    size_t input_count, anyshape_tensor* outputs, size_t output_count);

/* `size` is sizeof(anyshape_run_options), for later versions that have more; 0 and NULL: no limit. */
typedef struct anyshape_run_options {
  size_t size;
  const anyshape_cancel* cancel; /* looked at between steps and tasks: error run.cancelled */
  double timeout;                /* seconds: error work.timeout */
  int64_t max_bytes;             /* of all that the run makes, outputs that are not given too: error run.memory */
  uint64_t seed;                 /* of random operators that have no seed of their own */
} anyshape_run_options;
/* The same within limits. NULL options: without. Usage error run.options. */
ANYSHAPE_C_API anyshape_error* anyshape_context_run_with(anyshape_context* context, const anyshape_run_options* options,
                                                         const anyshape_tensor* inputs, size_t input_count,
                                                         anyshape_tensor* outputs, size_t output_count);

/* A text that a function makes. */
typedef struct anyshape_text anyshape_text;
ANYSHAPE_C_API const char* anyshape_text_get(const anyshape_text* text); /* ends with a 0 */
ANYSHAPE_C_API size_t anyshape_text_size(const anyshape_text* text);     /* without it */
ANYSHAPE_C_API void anyshape_text_free(anyshape_text* text);             /* NULL is fine */

/* A model to be asked and changed; nothing is run. Loading it finds out which shapes it takes. Used by one thread at a
 * time. `options` are words of the command line, blanks between them and quoted as in a shell: here "--strict". NULL:
 * none. Usage errors options.*. */
typedef struct anyshape_model anyshape_model;
ANYSHAPE_C_API anyshape_error* anyshape_model_load(const char* path, const char* options, anyshape_model** model);
/* The bytes are copied. */
ANYSHAPE_C_API anyshape_error* anyshape_model_load_memory(const void* bytes, size_t size, const char* options,
                                                          anyshape_model** model);
/* The file is written completely or not at all. `external_data`: a file beside it for the larger weights, or NULL. */
ANYSHAPE_C_API anyshape_error* anyshape_model_save(const anyshape_model* model, const char* path,
                                                   const char* external_data);
ANYSHAPE_C_API void anyshape_model_free(anyshape_model* model); /* NULL is fine */
/* To run it. The model may be freed before the session. NULL options: without. Of options, `strict` is the model's. */
ANYSHAPE_C_API anyshape_error* anyshape_session_of_model(const anyshape_model* model,
                                                         const anyshape_session_options* options,
                                                         anyshape_session** session);

enum anyshape_kind {
  ANYSHAPE_ANYTHING = 0, /* it is not known */
  ANYSHAPE_TENSOR = 1,
  ANYSHAPE_SPARSE_TENSOR = 2,
  ANYSHAPE_SEQUENCE = 3,
  ANYSHAPE_OPTIONAL = 4,
  ANYSHAPE_MAP = 5
};

/* What is known of a value. The library makes these; later versions may have more at the end. */
typedef struct anyshape_value_type {
  const char* name;
  const char* text;        /* "f32[batch, seq, 1]", "seq(f32[n])", "?" */
  int32_t kind;            /* enum anyshape_kind */
  int32_t type;            /* of the entries of a tensor, as in anyshape_tensor; 0: not known */
  int32_t rank;            /* -1: no tensor, or it is not known */
  const char* const* dims; /* "120", or an expression of the symbols of the inputs */
  const int64_t* sizes;    /* the same as numbers; -1 for an expression */
} anyshape_value_type;

/* The inputs that have to be fed, and the outputs. NULL past the last one. */
ANYSHAPE_C_API size_t anyshape_model_input_count(const anyshape_model* model);
ANYSHAPE_C_API size_t anyshape_model_output_count(const anyshape_model* model);
ANYSHAPE_C_API const anyshape_value_type* anyshape_model_input(const anyshape_model* model, size_t index);
ANYSHAPE_C_API const anyshape_value_type* anyshape_model_output(const anyshape_model* model, size_t index);

/* Inputs with a default value, which are not among the inputs above: what is said holds for the default. */
ANYSHAPE_C_API size_t anyshape_model_optional_count(const anyshape_model* model);
ANYSHAPE_C_API const anyshape_value_type* anyshape_model_optional(const anyshape_model* model, size_t index);
/* The model for callers that feed these, too: they are among its inputs, and nothing is concluded from their default.
 * Both are freed on their own. Usage error input.unknown. */
ANYSHAPE_C_API anyshape_error* anyshape_model_overriding(const anyshape_model* model, const char* const* names,
                                                         size_t count, anyshape_model** overriding);

/* Why a condition holds: the node that demands it, and what it says. Made by the library, as above. */
typedef struct anyshape_condition {
  const char* text;     /* "seq == 120" */
  const char* node;     /* the last that had a part in it */
  const char* op;       /* its operator */
  const char* code;     /* "reshape.count" */
  const char* sentence; /* one sentence */
} anyshape_condition;

/* The shapes the model takes, on one line: "x[batch, seq, 1] where seq == 120". */
ANYSHAPE_C_API const char* anyshape_model_accepted(const anyshape_model* model);
/* The conditions one by one. NULL past the last one. */
ANYSHAPE_C_API size_t anyshape_model_condition_count(const anyshape_model* model);
ANYSHAPE_C_API const anyshape_condition* anyshape_model_condition(const anyshape_model* model, size_t index);
/* 0: there may be shapes among them that it does not take. */
ANYSHAPE_C_API int anyshape_model_is_exact(const anyshape_model* model);

enum anyshape_verdict {
  ANYSHAPE_ACCEPTS = 0,
  ANYSHAPE_REFUSES = 1,
  ANYSHAPE_CANNOT_TELL = 2 /* no rule can */
};

typedef struct anyshape_shape {
  const char* input;
  int32_t rank;
  const int64_t* dims;
} anyshape_shape;

/* Does the model take these shapes? Inputs whose sizes are all numbers may be left out. Usage errors input.unknown,
 * tensor.dims. */
typedef struct anyshape_answer anyshape_answer;
ANYSHAPE_C_API anyshape_error* anyshape_model_accepts(const anyshape_model* model, const anyshape_shape* shapes,
                                                      size_t count, anyshape_answer** answer);
/* Does it take all of a set, in texts as --require has them: "x=[1..64, 80]", "h % 32 == 0"? The answer that refuses
 * has the smallest shape that is not taken in its sentence. Usage errors require.*. */
ANYSHAPE_C_API anyshape_error* anyshape_model_accepts_all(const anyshape_model* model, const char* const* wanted,
                                                          size_t count, anyshape_answer** answer);
ANYSHAPE_C_API enum anyshape_verdict anyshape_answer_verdict(const anyshape_answer* answer);
/* Of answers that do not accept; else "". */
ANYSHAPE_C_API const char* anyshape_answer_code(const anyshape_answer* answer);
ANYSHAPE_C_API const char* anyshape_answer_place(const anyshape_answer* answer);
ANYSHAPE_C_API const char* anyshape_answer_sentence(const anyshape_answer* answer);
/* The outputs at an accepted shape. NULL past the last one, and where no single shape was asked for. */
ANYSHAPE_C_API const anyshape_value_type* anyshape_answer_output(const anyshape_answer* answer, size_t index);
ANYSHAPE_C_API void anyshape_answer_free(anyshape_answer* answer); /* NULL is fine */

enum anyshape_format {
  ANYSHAPE_FORMAT_TEXT = 0,
  ANYSHAPE_FORMAT_JSON = 1, /* docs/check.schema.json */
  ANYSHAPE_FORMAT_SARIF = 2
};
/* The report of `anyshape check`. Options: --policy, --allow, --ignore, --ignore-assumed, --target. Usage errors
 * options.*, check.*. */
ANYSHAPE_C_API anyshape_error* anyshape_model_check(const anyshape_model* model, const char* options,
                                                    enum anyshape_format format, anyshape_text** report);

/* A PyTorch program (.pt2, .pt) as a model, as `anyshape export` makes it; anyshape_model_save writes it. Options:
 * those of the command that say what is made. `report` gets its warnings and notes, a line each; NULL: nobody wants
 * them. Errors as export_program() in export.h, options.*. */
ANYSHAPE_C_API anyshape_error* anyshape_export(const char* program, const char* options, anyshape_model** model,
                                               anyshape_text** report);
/* The model with its axes changed, as `anyshape fix` does it. `changes` gets what was changed, a line each; NULL:
 * nobody wants it. Errors as fix() in fix.h, options.*. */
ANYSHAPE_C_API anyshape_error* anyshape_model_fix(const anyshape_model* model, const char* options,
                                                  anyshape_model** fixed, anyshape_text** changes);
/* Do two models give the same answers? Options: those of `anyshape verify`. `report` gets a line for each shape, also
 * where they differ, which is the error verify.differs; it is NULL where none was tried. NULL: nobody wants it. Errors
 * as verify() in verify.h, options.*. */
ANYSHAPE_C_API anyshape_error* anyshape_model_verify(const anyshape_model* model, const anyshape_model* other,
                                                     const char* options, anyshape_text** report);

/* A kernel of a custom operator. Absent inputs have type 0. Outputs are zero-filled and have the type and shape of the
 * rule. 0: done; anything else ends the run with an error that names the node. May be called by several threads. */
typedef int (*anyshape_kernel)(const anyshape_node* node, const anyshape_tensor* inputs, size_t input_count,
                               const anyshape_tensor* outputs, size_t output_count, void* user);
/* Makes an operator known to sessions loaded from now on, in the whole process. The rule: see register_op in custom.h,
 * "(x, w) -> y = [x0, w1] where x1 == w0". A NULL kernel: models with it can be checked, not run. */
ANYSHAPE_C_API anyshape_error* anyshape_register_op(const char* domain, const char* name, const char* rule,
                                                    anyshape_kernel kernel, void* user);
/* 1 and the value when the node has the attribute, else 0. */
ANYSHAPE_C_API int anyshape_node_integer(const anyshape_node* node, const char* attribute, int64_t* value);
ANYSHAPE_C_API int anyshape_node_number(const anyshape_node* node, const char* attribute, float* value);

#ifdef __cplusplus
}
#endif

#endif /* ANYSHAPE_C_H_ */
