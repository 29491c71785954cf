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
  int32_t exact;     /* convolutions add up the plain products: no transforms that round otherwise */
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
