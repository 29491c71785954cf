#include "anyshape/c.h"

#include <algorithm>
#include <string>
#include <vector>

#include "anyshape/custom.h"
#include "anyshape/session.h"
#include "anyshape/version.h"
#include "anyshape/work.h"
#include "api/c_impl.h"
#include "tensor/datum.h"
#include "tensor/own.h"

struct anyshape_context {
  anyshape::Context context;
  std::vector<std::string> names;  // of inputs
  std::vector<anyshape::AnyValue> inputs, outputs, last;
};

struct anyshape_work {
  anyshape::WorkScope scope;
};

struct anyshape_node {
  const anyshape::CustomNode& node;
};

namespace {

using namespace anyshape;

DType dtype_of(int32_t type) { return dtype_from_onnx(type).value_or(DType::undefined); }

// The value points at the caller's memory.
void point_at(AnyValue& value, const anyshape_tensor& tensor) {
  if (!value.datum().is_tensor()) forget(value.datum());
  value.datum().tensor().point_at(dtype_of(tensor.type), {tensor.dims, static_cast<size_t>(tensor.rank)},
                                  static_cast<const std::byte*>(tensor.data));
  value.datum().settle();
}

// Room for the sizes of a tensor, so that runs need none.
void make_room(AnyValue& value) {
  constexpr int64_t kSizes[8] = {};
  value.datum().tensor().point_at(DType::u8, kSizes, nullptr);
  forget(value.datum());
}

anyshape_error* check_tensors(const anyshape_tensor* tensors, size_t given, size_t wanted, const char* what) {
  if (given != wanted)
    return usage_failure("run.inputs",
                         std::to_string(wanted) + " " + what + " are needed, " + std::to_string(given) + " are given");
  for (size_t i = 0; i < given; ++i) {
    const DType dtype = dtype_of(tensors[i].type);
    const bool typed = tensors[i].data == nullptr || (dtype != DType::undefined && dtype != DType::string);
    const bool sized = tensors[i].rank == 0 || (tensors[i].rank > 0 && tensors[i].dims &&
                                                std::all_of(tensors[i].dims, tensors[i].dims + tensors[i].rank,
                                                            [](int64_t d) { return d >= 0; }));
    if (!sized || !typed)
      return usage_failure("tensor.dims",
                           std::string(what) + " number " + std::to_string(i) + " is no tensor of numbers");
  }
  return nullptr;
}

anyshape_error* check_data(const anyshape_tensor* inputs, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const bool empty = std::any_of(inputs[i].dims, inputs[i].dims + inputs[i].rank, [](int64_t d) { return d == 0; });
    if (!inputs[i].data && !empty)
      return usage_failure("tensor.data", "input number " + std::to_string(i) + " has no data");
  }
  return nullptr;
}

Shapes shapes_of_c(const anyshape_context& context, const anyshape_tensor* inputs) {
  Shapes shapes;
  for (size_t i = 0; i < context.names.size(); ++i)
    shapes[context.names[i]].assign(inputs[i].dims, inputs[i].dims + inputs[i].rank);
  return shapes;
}

anyshape_tensor tensor_of(const AnyValue& value) {
  return {static_cast<int32_t>(value.type()), static_cast<int32_t>(value.shape().size()), value.shape().data(),
          const_cast<void*>(value.data())};
}

bool is_time(double seconds) { return seconds >= 0; }

const std::atomic<bool>* flag_of(const anyshape_cancel* cancel) { return cancel ? &cancel->flag : nullptr; }

anyshape_error* run_in(anyshape_context& context, const RunOptions& options, const anyshape_tensor* inputs,
                       size_t input_count, anyshape_tensor* outputs, size_t output_count) {
  if (auto* wrong = check_tensors(inputs, input_count, context.inputs.size(), "inputs")) return wrong;
  if (auto* wrong = check_data(inputs, input_count)) return wrong;
  if (output_count != context.outputs.size())
    return usage_failure("run.outputs", "the model has " + std::to_string(context.outputs.size()) + " outputs");
  for (size_t i = 0; i < input_count; ++i) point_at(context.inputs[i], inputs[i]);
  for (size_t i = 0; i < output_count; ++i) {
    if (outputs[i].data) {
      point_at(context.outputs[i], outputs[i]);
    } else {
      forget(context.outputs[i].datum());
    }
  }
  Status ran = context.context.run_into(context.inputs, context.outputs, options);
  if (!ran) return failure(std::move(ran).error());
  for (size_t i = 0; i < output_count; ++i)
    if (!outputs[i].data) {
      std::swap(context.last[i], context.outputs[i]);
      outputs[i] = tensor_of(context.last[i]);
    }
  return nullptr;
}

const char* name_at(const std::vector<IoInfo>& list, size_t index) {
  return index < list.size() ? list[index].name.c_str() : nullptr;
}

int32_t type_at(const std::vector<IoInfo>& list, size_t index) {
  return index < list.size() ? static_cast<int32_t>(list[index].type) : 0;
}

anyshape_context* made_context(const Session& session, Context context) {
  auto out = std::make_unique<anyshape_context>(anyshape_context{std::move(context), {}, {}, {}, {}});
  for (const IoInfo& input : session.inputs()) out->names.push_back(input.name);
  out->inputs.resize(session.inputs().size());
  out->outputs.resize(session.outputs().size());
  out->last.resize(session.outputs().size());
  for (auto* list : {&out->inputs, &out->outputs, &out->last})
    for (AnyValue& value : *list) make_room(value);
  return out.release();
}

}  // namespace

extern "C" {

anyshape_error_kind anyshape_error_get_kind(const anyshape_error* error) {
  return static_cast<anyshape_error_kind>(error->error.kind);
}
const char* anyshape_error_code(const anyshape_error* error) { return error->error.code.c_str(); }
const char* anyshape_error_place(const anyshape_error* error) { return error->error.place.c_str(); }
const char* anyshape_error_message(const anyshape_error* error) { return error->error.message.c_str(); }
const char* anyshape_error_text(const anyshape_error* error) { return error->text.c_str(); }
void anyshape_error_free(anyshape_error* error) { delete error; }

const char* anyshape_version(void) {
  static const std::string kVersion(version());
  return kVersion.c_str();
}

anyshape_error* anyshape_cancel_create(anyshape_cancel** cancel) {
  return guarded([&]() -> anyshape_error* {
    *cancel = new anyshape_cancel;
    return nullptr;
  });
}
void anyshape_cancel_set(anyshape_cancel* cancel) { cancel->flag = true; }
void anyshape_cancel_reset(anyshape_cancel* cancel) { cancel->flag = false; }
void anyshape_cancel_free(anyshape_cancel* cancel) { delete cancel; }

anyshape_error* anyshape_work_begin(const anyshape_work_limits* limits, anyshape_work** work) {
  return guarded([&]() -> anyshape_error* {
    anyshape_work_limits given{};
    if (!read_struct(limits, given) || !is_time(given.timeout) || given.max_bytes < 0)
      return usage_failure("work.limits", "size must be that of the struct, timeout and max_bytes at least 0");
    *work = new anyshape_work{WorkScope({flag_of(given.cancel), given.timeout, 0, given.max_bytes})};
    return nullptr;
  });
}
void anyshape_work_end(anyshape_work* work) { delete work; }

anyshape_error* anyshape_session_load(const char* path, anyshape_session** session) {
  return anyshape_session_load_with(path, nullptr, session);
}

anyshape_error* anyshape_session_load_memory(const void* bytes, size_t size, anyshape_session** session) {
  return anyshape_session_load_memory_with(bytes, size, nullptr, session);
}

anyshape_error* anyshape_session_load_with(const char* path, const anyshape_session_options* options,
                                           anyshape_session** session) {
  return guarded([&] {
    if (!path) return usage_failure("file.open", "no path is given");
    SessionOptions asked;
    if (auto* wrong = read_options(options, asked)) return wrong;
    return made(Session::load(path, asked), session);
  });
}

anyshape_error* anyshape_session_load_memory_with(const void* bytes, size_t size,
                                                  const anyshape_session_options* options, anyshape_session** session) {
  return guarded([&] {
    SessionOptions asked;
    if (auto* wrong = read_options(options, asked)) return wrong;
    const auto* begin = static_cast<const std::byte*>(bytes);
    return made(Session::from_bytes({begin, begin + size}, asked), session);
  });
}

void anyshape_session_free(anyshape_session* session) { delete session; }
size_t anyshape_session_input_count(const anyshape_session* session) { return session->session.inputs().size(); }
size_t anyshape_session_output_count(const anyshape_session* session) { return session->session.outputs().size(); }

const char* anyshape_session_input_name(const anyshape_session* session, size_t index) {
  return name_at(session->session.inputs(), index);
}

const char* anyshape_session_output_name(const anyshape_session* session, size_t index) {
  return name_at(session->session.outputs(), index);
}

int32_t anyshape_session_input_type(const anyshape_session* session, size_t index) {
  return type_at(session->session.inputs(), index);
}

int32_t anyshape_session_output_type(const anyshape_session* session, size_t index) {
  return type_at(session->session.outputs(), index);
}

size_t anyshape_session_optional_count(const anyshape_session* session) {
  return session->session.optional_inputs().size();
}

const char* anyshape_session_optional_name(const anyshape_session* session, size_t index) {
  return name_at(session->session.optional_inputs(), index);
}

int32_t anyshape_session_optional_type(const anyshape_session* session, size_t index) {
  return type_at(session->session.optional_inputs(), index);
}

anyshape_error* anyshape_session_overriding(const anyshape_session* session, const char* const* names, size_t count,
                                            anyshape_session** overriding) {
  return guarded([&] { return made(session->session.overriding({names, names + count}), overriding); });
}

anyshape_error* anyshape_context_create(const anyshape_session* session, int threads, anyshape_context** context) {
  return guarded([&]() -> anyshape_error* {
    *context = made_context(session->session, Context(session->session, threads));
    return nullptr;
  });
}

anyshape_error* anyshape_context_create_with_pool(const anyshape_session* session, anyshape_parallel parallel,
                                                  void* user, anyshape_context** context) {
  return guarded([&]() -> anyshape_error* {
    if (!parallel) return usage_failure("context.pool", "there is no function that does the tasks");
    *context = made_context(session->session, Context(session->session, TaskPool{parallel, user}));
    return nullptr;
  });
}

void anyshape_context_free(anyshape_context* context) { delete context; }

anyshape_error* anyshape_context_reserve(anyshape_context* context, const anyshape_tensor* inputs, size_t count) {
  return guarded([&]() -> anyshape_error* {
    if (auto* wrong = check_tensors(inputs, count, context->inputs.size(), "inputs")) return wrong;
    Status reserved = context->context.reserve(shapes_of_c(*context, inputs));
    return reserved ? nullptr : failure(std::move(reserved).error());
  });
}

anyshape_error* anyshape_context_output_shape(anyshape_context* context, const anyshape_tensor* inputs, size_t count,
                                              size_t output, int64_t* dims, int32_t* rank) {
  return guarded([&]() -> anyshape_error* {
    if (auto* wrong = check_tensors(inputs, count, context->inputs.size(), "inputs")) return wrong;
    if (output >= context->outputs.size()) return usage_failure("output.index", "there is no such output");
    auto shapes = context->context.output_shapes(shapes_of_c(*context, inputs));
    if (!shapes) return failure(std::move(shapes).error());
    const auto& shape = (*shapes)[output];
    if (!shape) {
      *rank = -1;
      return nullptr;
    }
    if (static_cast<int64_t>(shape->size()) > *rank)
      return usage_failure("output.rank", "the output has " + std::to_string(shape->size()) + " axes");
    std::copy(shape->begin(), shape->end(), dims);
    *rank = static_cast<int32_t>(shape->size());
    return nullptr;
  });
}

anyshape_error* anyshape_context_run(anyshape_context* context, const anyshape_tensor* inputs, size_t input_count,
                                     anyshape_tensor* outputs, size_t output_count) {
  return guarded([&] { return run_in(*context, {}, inputs, input_count, outputs, output_count); });
}

anyshape_error* anyshape_context_run_with(anyshape_context* context, const anyshape_run_options* options,
                                          const anyshape_tensor* inputs, size_t input_count, anyshape_tensor* outputs,
                                          size_t output_count) {
  return guarded([&] {
    anyshape_run_options given{};
    if (!read_struct(options, given) || !is_time(given.timeout) || given.max_bytes < 0)
      return usage_failure("run.options", "size must be that of the struct, timeout and max_bytes at least 0");
    RunOptions limits;
    limits.cancel = flag_of(given.cancel);
    limits.timeout = given.timeout;
    limits.max_bytes = given.max_bytes;
    limits.seed = given.seed;
    return run_in(*context, limits, inputs, input_count, outputs, output_count);
  });
}

anyshape_error* anyshape_register_op(const char* domain, const char* name, const char* rule, anyshape_kernel kernel,
                                     void* user) {
  return guarded([&]() -> anyshape_error* {
    CustomKernelFunction function;
    if (kernel)
      function = [kernel, user](std::span<const AnyValue> in, std::span<AnyValue> out,
                                const CustomNode& node) -> Status {
        std::vector<anyshape_tensor> inputs, outputs;
        for (const AnyValue& value : in) inputs.push_back(tensor_of(value));
        for (const AnyValue& value : out) outputs.push_back(tensor_of(value));
        const anyshape_node handle{node};
        const int code = kernel(&handle, inputs.data(), inputs.size(), outputs.data(), outputs.size(), user);
        if (code == 0) return {};
        return tl::unexpected(Error{Error::Kind::refused,
                                    "custom.kernel",
                                    {},
                                    "the kernel of the operator failed with code " + std::to_string(code),
                                    {}});
      };
    Status registered = register_op(domain, name, rule, std::move(function));
    return registered ? nullptr : failure(std::move(registered).error());
  });
}

int anyshape_node_integer(const anyshape_node* node, const char* attribute, int64_t* value) {
  const auto found = node->node.integer(attribute);
  if (found) *value = *found;
  return found ? 1 : 0;
}

int anyshape_node_number(const anyshape_node* node, const char* attribute, float* value) {
  const auto found = node->node.number(attribute);
  if (found) *value = *found;
  return found ? 1 : 0;
}

}  // extern "C"
