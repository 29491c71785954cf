#include "lower/torchscript/evaluator.h"

#include <algorithm>

namespace anyshape::lower::script {

using torchscript::Expr;
using Kind = Expr::Kind;

namespace {

constexpr int kMaxDepth = 1500;

}  // namespace

Evaluator::Evaluator(const torchscript::Script& script, Lowering& lowering)
    : script_(script),
      in_(lowering),
      numbers_(lowering),
      library_(lowering, numbers_, journal_, frames_, script.version),
      modules_(
          script, lowering, numbers_, library_, journal_, [this](const Expr& expr) { return eval(expr); },
          [this](const std::shared_ptr<Instance>& owner, Value state) -> Status {
            TRY_OK(call_method(owner, "__setstate__", {{}, {std::move(state)}, {}}));
            return {};
          }),
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

}  // namespace anyshape::lower::script
