#include "lower/torchscript/evaluator.h"

namespace anyshape::lower::script {

using torchscript::Expr;
using Kind = Expr::Kind;

namespace {

constexpr size_t kMaxFrames = 150;

}  // namespace

Result<Call> Evaluator::arguments(const Expr& expr) {
  Call call;
  for (size_t i = 1; i < expr.args.size(); ++i) {
    const Expr& arg = expr.args[i];
    TRY(Value value, eval(arg.kind == Kind::star ? arg.args[0] : arg));
    if (arg.kind == Kind::star) {
      const List* list = value.list();
      if (list == nullptr || list->stacked) return refuse("script.type", "{} is no list of arguments", print(arg));
      call.args.insert(call.args.end(), list->items.begin(), list->items.end());
    } else if (!expr.keywords[i - 1].empty()) {
      call.named.emplace_back(expr.keywords[i - 1], std::move(value));
    } else {
      call.args.push_back(std::move(value));
    }
  }
  return call;
}

// The forms whose arguments are types.
Result<std::optional<Value>> Evaluator::special_form(std::string_view name, const Expr& expr) {
  if (name == "uninitialized") return std::optional<Value>(Missing{"a variable is used before it has a value", true});
  if ((name == "annotate" || name == "unchecked_cast") && expr.args.size() == 3) {
    TRY(Value value, eval(expr.args[2]));
    const std::string type = print(expr.args[1]);
    if (value.is_tensor() && (type == "number" || type == "Scalar"))
      return numbers_.item(*value.get<Var>()).map([](Value v) { return std::optional(v); });
    if (value.is_tensor() && type == "int") return numbers_.to_int(value).map([](Value v) { return std::optional(v); });
    if (value.is_tensor() && type == "float")
      return numbers_.to_float(value).map([](Value v) { return std::optional(v); });
    return std::optional(std::move(value));
  }
  if ((name == "isinstance" || name == "ops.prim.isinstance") && expr.args.size() == 3) {
    TRY(const Value value, eval(expr.args[1]));
    TRY(const bool match, is_instance(value, expr.args[2]));
    return std::optional<Value>(match);
  }
  return std::nullopt;
}

Result<Value> Evaluator::eval_call(const Expr& expr) {
  const Expr& callee = expr.args[0];
  if (const auto path = dotted(callee)) {
    TRY(auto special, special_form(*path, expr));
    if (special) return *std::move(special);
    TRY(Call call, arguments(expr));
    if (path->starts_with("torch.")) {
      call.name = path->substr(6);
      return library_.torch_call(std::move(call));
    }
    if (path->starts_with("ops.")) {
      const size_t dot = path->find('.', 4);
      if (dot == std::string::npos) return refuse("script.name", "{} is no operator", *path);
      call.name = path->substr(dot + 1);
      return library_.op_call(path->substr(4, dot - 4), std::move(call));
    }
    if (callee.kind == Kind::attribute && callee.text == "__new__") {
      return construct(path->substr(0, path->size() - 8), {});
    }
    if (path->starts_with("__torch__")) {
      TRY(const Value value, named_value(*path, callee));
      return call_value(value, std::move(call));
    }
    call.name = *path;
    return call_builtin(std::move(call));
  }
  if (callee.kind == Kind::attribute) {
    TRY(const Value owner, eval(callee.args[0]));
    TRY(Call call, arguments(expr));
    if (const auto* self = owner.get<std::shared_ptr<Instance>>()) {
      return call_method(*self, callee.text, std::move(call));
    }
    call.name = callee.text;
    call.args.insert(call.args.begin(), owner);
    return library_.torch_call(std::move(call));
  }
  TRY(const Value value, eval(callee));
  TRY(Call call, arguments(expr));
  return call_value(value, std::move(call));
}

// Python's own functions; those that look at objects and call functions need the evaluator.
Result<Value> Evaluator::call_builtin(Call call) {
  const bool named = call.args.size() >= 2 && call.args[1].text();
  if (call.name == "getattr" && named) return attribute(call.args[0], *call.args[1].text());
  if (call.name == "hasattr" && named && call.args.size() == 2)
    return Value(attribute(call.args[0], *call.args[1].text()).has_value());
  if (call.name == "fork" && !call.args.empty()) {
    Call inner;
    inner.args.assign(call.args.begin() + 1, call.args.end());
    return call_value(call.args[0], std::move(inner));
  }
  return library_.builtin(std::move(call));
}

Result<Value> Evaluator::construct(const std::string& type_name, Call call) {
  const torchscript::Class* type = modules_.find_class(type_name);
  if (type == nullptr) return refuse("script.class", "the archive has no code for the class {}", type_name);
  if (type->base == "NamedTuple") {
    auto tuple = std::make_shared<List>();
    tuple->items = std::move(call.args);
    tuple->tuple = true;
    tuple->named = type;
    return Value(std::move(tuple));
  }
  auto made = std::make_shared<Instance>();
  made->type = type;
  made->type_name = type_name;
  return Value(std::move(made));
}

Result<Value> Evaluator::call_value(const Value& callee, Call call) {
  const Callable* callable = callee.callable();
  if (callable == nullptr) return refuse("script.type", "{} cannot be called", kind_of(callee));
  switch (callable->kind) {
    case Callable::Kind::function:
      return call_function(*callable->function, std::nullopt, std::move(call), frame().module);
    case Callable::Kind::method:
      return call_method(*callable->self.get<std::shared_ptr<Instance>>(), callable->name, std::move(call));
    case Callable::Kind::closure:
      return call_function(*callable->function, std::nullopt, std::move(call), frame().module,
                           callable->captured.get());
    case Callable::Kind::torch:
      call.name = callable->name;
      return library_.torch_call(std::move(call));
    case Callable::Kind::type: {
      TRY(Value made, construct(callable->name, call));
      const auto* self = made.get<std::shared_ptr<Instance>>();
      if (self != nullptr && (*self)->type->methods.count("__init__") != 0) {
        TRY_OK(call_method(*self, "__init__", std::move(call)).map([](Value) {}));
      }
      return made;
    }
    default:
      call.name = callable->name;
      return call_builtin(std::move(call));
  }
}

Result<Value> Evaluator::call_method(const std::shared_ptr<Instance>& self, const std::string& name, Call call) {
  if (self->type == nullptr) {
    return refuse("script.class", "the class {} is native code, which an archive does not hold", self->type_name);
  }
  const auto found = self->type->methods.find(name);
  if (found == self->type->methods.end()) {
    return refuse("script.name", "the class {} has no method {}", self->type_name, name);
  }
  if (name == "forward" && !self->type->hooks.empty()) {
    return refuse("script.hooks", "the module {} has hooks, which are not exported; remove them before saving",
                  self->path.empty() ? self->type_name : self->path);
  }
  const std::string module = self->module || frames_.empty() ? self->path : frame().module;
  return call_function(found->second, Value(self), std::move(call), module);
}

Result<Value> Evaluator::bind(const torchscript::Function& function, const torchscript::Parameter& parameter,
                              size_t index, const Call& call) {
  if (const Value* given = call.arg(index, parameter.name)) {
    const std::string type = parameter.annotation ? print(*parameter.annotation) : "";
    if (given->is_tensor() && type == "int") return numbers_.to_int(*given);
    if (given->is_tensor() && type == "float") return numbers_.to_float(*given);
    return *given;
  }
  if (parameter.fallback) return eval(*parameter.fallback);
  return refuse("script.call", "{} lacks its argument {}", function.name, parameter.name);
}

Result<Value> Evaluator::call_function(const torchscript::Function& function, std::optional<Value> self, Call call,
                                       std::string module, const Names* captured) {
  if (frames_.size() >= kMaxFrames) return refuse("script.depth", "the program calls itself too deeply");
  Frame& made = frames_.push(function);
  made.module = std::move(module);
  if (captured != nullptr) made.names = *captured;
  const size_t skipped = self ? 1 : 0;
  if (self && !function.parameters.empty()) frame().names[function.parameters[0].name] = *std::move(self);
  for (size_t i = skipped; i < function.parameters.size(); ++i) {
    TRY(Value value, bind(function, function.parameters[i], i - skipped, call));
    frame().names.insert_or_assign(function.parameters[i].name, std::move(value));
  }
  if (call.args.size() + skipped > function.parameters.size()) {
    return refuse("script.call", "{} takes {} arguments", function.name, function.parameters.size() - skipped);
  }
  TRY_OK(run(function.body).map([](Flow) {}));
  Value result = std::move(frame().result);
  frames_.pop();
  return result;
}

}  // namespace anyshape::lower::script
