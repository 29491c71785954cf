#include "lower/torchscript/evaluator.h"

#include <algorithm>

namespace anyshape::lower::script {

using torchscript::Expr;
using Kind = Expr::Kind;

namespace {

constexpr int kMaxDepth = 1500;
constexpr size_t kMaxFrames = 150;

}  // namespace

Evaluator::Evaluator(const torchscript::Script& script, Lowering& lowering)
    : script_(script),
      in_(lowering),
      numbers_(lowering),
      library_(lowering, numbers_, journal_, frames_, script.version),
      modules_(script, lowering, numbers_, library_, journal_, [this](const Expr& expr) { return eval(expr); }),
      undecided_(*this) {}

tl::unexpected<Error> Evaluator::placed(Error error) {
  if (placed_ && error.place == *placed_) return tl::unexpected(std::move(error));
  std::string where = frames_.place();
  if (!frame().module.empty()) where += fmt::format(": module {}", frame().module);
  auto made = at(where, std::move(error));
  placed_ = made.value().place;
  return made;
}

Result<Value> Evaluator::eval(const Expr& expr) {
  if (++depth_ > kMaxDepth) return refuse("script.depth", "the program nests its calls too deeply");
  auto value = eval_inner(expr);
  --depth_;
  return value;
}

Result<Value> Evaluator::eval_inner(const Expr& expr) {
  switch (expr.kind) {
    case Kind::none:
      return Value(None{});
    case Kind::boolean:
      return Value(expr.integer != 0);
    case Kind::integer:
      return Value(Dim(expr.integer));
    case Kind::real:
      return Value(expr.real);
    case Kind::imaginary:
      return Value(std::complex<double>(0, expr.real));
    case Kind::text:
      return Value(expr.text);
    case Kind::name:
      return eval_name(expr);
    case Kind::attribute:
      return eval_attribute(expr);
    case Kind::call:
      return eval_call(expr);
    case Kind::subscript:
      return eval_subscript(expr);
    case Kind::list:
    case Kind::tuple:
      return eval_items(expr);
    case Kind::dict:
      return eval_dict(expr);
    case Kind::compare:
      return eval_compare(expr);
    case Kind::both:
    case Kind::either:
    case Kind::ternary:
      return eval_logic(expr);
    case Kind::unary:
    case Kind::binary:
      return eval_operator(expr);
    case Kind::star:
    case Kind::slice:
      break;
  }
  return refuse("script.syntax", "{} has no value", print(expr));
}

Result<Value> Evaluator::literal(const Expr& expr) {
  static const torchscript::Function kNowhere;
  frames_.push(kNowhere);
  auto value = eval(expr);
  frames_.pop();
  return value;
}

Result<Value> Evaluator::eval_name(const Expr& expr) {
  const auto found = frame().names.find(expr.text);
  if (found != frame().names.end()) {
    const auto* missing = found->second.get<Missing>();
    if (missing && !missing->declared) return refuse("script.value", "{}", missing->why);
    return found->second;
  }
  auto callable = std::make_shared<Callable>();
  callable->name = expr.text;
  return Value(std::move(callable));
}

std::optional<std::string> Evaluator::dotted(const Expr& expr) const {
  if (expr.kind == Kind::name) {
    if (frame().names.count(expr.text) != 0) return std::nullopt;
    return expr.text;
  }
  if (expr.kind != Kind::attribute) return std::nullopt;
  auto owner = dotted(expr.args[0]);
  if (owner) owner->append(".").append(expr.text);
  return owner;
}

Result<Value> Evaluator::named_value(const std::string& path, const Expr& expr) {
  if (path.starts_with("CONSTANTS.c")) {
    const std::string digits = path.substr(11);
    const bool number =
        !digits.empty() && digits.size() < 9 && digits.find_first_not_of("0123456789") == std::string::npos;
    if (!number || std::stoul(digits) >= modules_.constants()) {
      return refuse("script.value", "the archive has no constant {}", digits);
    }
    return modules_.constant(std::stoul(digits));
  }
  auto callable = std::make_shared<Callable>();
  callable->name = path;
  if (const auto found = script_.functions.find(path); found != script_.functions.end()) {
    callable->kind = Callable::Kind::function;
    callable->function = &found->second;
    return Value(std::move(callable));
  }
  if (modules_.find_class(path) != nullptr) {
    callable->kind = Callable::Kind::type;
    return Value(std::move(callable));
  }
  TRY(auto member, modules_.enumerator(path));
  if (member) return *member;
  if (path.starts_with("torch.")) {
    callable->kind = Callable::Kind::torch;
    callable->name = path.substr(6);
    return Value(std::move(callable));
  }
  return refuse("script.name", "the archive has no code for {}", print(expr));
}

Result<Value> Evaluator::attribute(const Value& owner, const std::string& name) {
  if (const auto* instance = owner.get<std::shared_ptr<Instance>>()) return modules_.attribute(*instance, name);
  if (const List* tuple = owner.list(); tuple && tuple->named) {
    const auto& fields = tuple->named->attributes;
    for (size_t i = 0; i < fields.size() && i < tuple->items.size(); ++i) {
      if (fields[i].name == name) return tuple->items[i];
    }
  }
  if (const auto* member = owner.get<std::shared_ptr<const Enumerator>>()) {
    if (name == "value") return (*member)->value;
    if (name == "name") return Value((*member)->name);
  }
  TRY(auto value, library_.prim({name, {owner}, {}}));
  if (value) return *std::move(value);
  return refuse("script.name", "{} has no attribute {}", kind_of(owner), name);
}

Status Evaluator::set_attribute(const Value& owner, const std::string& name, Value value) {
  const auto* instance = owner.get<std::shared_ptr<Instance>>();
  if (instance == nullptr) return refuse("script.type", "{} has no attributes to set", kind_of(owner));
  modules_.set_attribute(*instance, name, std::move(value));
  return {};
}

Result<Value> Evaluator::eval_attribute(const Expr& expr) {
  if (const auto path = dotted(expr)) return named_value(*path, expr);
  TRY(const Value owner, eval(expr.args[0]));
  return attribute(owner, expr.text);
}

Result<Value> Evaluator::eval_items(const Expr& expr) {
  Values items;
  for (const Expr& arg : expr.args) {
    TRY(Value item, eval(arg));
    items.push_back(std::move(item));
  }
  return expr.kind == Kind::list ? list_of(std::move(items)) : tuple_of(std::move(items));
}

Result<Value> Evaluator::eval_dict(const Expr& expr) {
  auto dict = std::make_shared<Dict>();
  for (size_t i = 0; i + 1 < expr.args.size(); i += 2) {
    TRY(Value key, eval(expr.args[i]));
    TRY(Value value, eval(expr.args[i + 1]));
    dict->entries.emplace_back(std::move(key), std::move(value));
  }
  return Value(std::move(dict));
}

Result<Value> Evaluator::eval_subscript(const Expr& expr) {
  TRY(const Value owner, eval(expr.args[0]));
  const Expr& index = expr.args[1];
  if (index.kind != Kind::slice) {
    TRY(const Value place, eval(index));
    return library_.item_of(owner, place);
  }
  Call call{"slice", {owner}, {}};
  if (owner.is_tensor()) call.args.push_back(Value(Dim(0)));
  for (const Expr& part : index.args) {
    TRY(Value value, eval(part));
    call.args.push_back(std::move(value));
  }
  return library_.torch_call(std::move(call));
}

Result<Value> Evaluator::eval_operator(const Expr& expr) {
  static const std::map<std::string, std::string> kNames = {
      {"+", "add"},       {"-", "sub"},    {"*", "mul"},    {"/", "div"},         {"//", "floordiv"},
      {"%", "remainder"}, {"**", "pow"},   {"@", "matmul"}, {"<<", "__lshift__"}, {">>", "__rshift__"},
      {"&", "__and__"},   {"|", "__or__"}, {"^", "__xor__"}};
  Call call;
  for (const Expr& arg : expr.args) {
    TRY(Value value, eval(arg));
    call.args.push_back(std::move(value));
  }
  if (expr.kind == Kind::unary) {
    if (expr.text == "+") return call.args[0];
    call.name = expr.text == "-" ? "neg" : expr.text == "~" ? "bitwise_not" : "__not__";
  } else {
    call.name = kNames.at(expr.text);
  }
  return library_.torch_call(std::move(call));
}

Result<Value> Evaluator::eval_compare(const Expr& expr) {
  static const std::map<std::string, std::string> kNames = {{"==", "eq"},
                                                            {"!=", "ne"},
                                                            {"<", "lt"},
                                                            {"<=", "le"},
                                                            {">", "gt"},
                                                            {">=", "ge"},
                                                            {"is", "__is__"},
                                                            {"is not", "__isnot__"},
                                                            {"in", "__contains__"},
                                                            {"not in", "__contains__"}};
  TRY(Value a, eval(expr.args[0]));
  TRY(Value b, eval(expr.args[1]));
  const bool in = expr.text == "in" || expr.text == "not in";
  if (in) std::swap(a, b);
  TRY(Value result, library_.torch_call({kNames.at(expr.text), {std::move(a), std::move(b)}, {}}));
  return expr.text == "not in" ? numbers_.negate(result) : result;
}

Result<Value> Evaluator::eval_logic(const Expr& expr) {
  TRY(const Value given, eval(expr.args[expr.kind == Kind::ternary ? 1 : 0]));
  TRY(const Value truth, numbers_.to_bool(given));
  const auto known = numbers_.decide(truth);
  if (expr.kind == Kind::ternary) {
    if (!known) return refuse("script.branch", "a choice inside an expression depends on data: {}", print(expr));
    return eval(expr.args[*known ? 0 : 2]);
  }
  if (known) return *known == (expr.kind == Kind::both) ? eval(expr.args[1]) : Result<Value>(truth);
  TRY(const Value other, eval(expr.args[1]));
  TRY(Value right, numbers_.to_bool(other));
  TRY(auto joined, numbers_.call(expr.kind == Kind::both ? "__and__" : "__or__", {truth, right}));
  if (!joined) return refuse("script.type", "{} joins no truths", print(expr));
  return *std::move(joined);
}

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

Result<bool> Evaluator::is_instance(const Value& value, const Expr& type) {
  if (type.kind == Kind::list || type.kind == Kind::tuple) {
    for (const Expr& one : type.args) {
      TRY(const bool match, is_instance(value, one));
      if (match) return true;
    }
    return false;
  }
  std::string name = print(type.kind == Kind::subscript ? type.args[0] : type);
  if (name == "Optional") {
    if (value.is_none()) return true;
    return is_instance(value, type.args[1]);
  }
  if (name == "Any") return true;
  if (name == "int") return value.get<Dim>() != nullptr;
  if (name == "float") return value.is_float();
  if (name == "bool") return value.is_truth();
  if (name == "number") return value.is_number();
  if (name == "str") return value.text() != nullptr;
  if (name == "Tensor") return value.is_tensor();
  if (name == "NoneType" || name == "None") return value.is_none();
  if (name == "List" || name == "list") return value.list() != nullptr && !value.list()->tuple;
  if (name == "Tuple" || name == "tuple") return value.list() != nullptr && value.list()->tuple;
  if (name == "Dict" || name == "dict") return value.dict() != nullptr;
  return value.instance() != nullptr && value.instance()->type_name == name;
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
