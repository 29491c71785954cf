#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lower/torchscript/undecided.h"

namespace anyshape::lower::script {

// A condition the program checks by raising an exception.
struct Checked {
  Condition condition;  // holds where the program goes on
  std::string message, place;
};

// Runs the source of a TorchScript archive over a Lowering: tensors are values of the graph, sizes are expressions,
// everything else is what Python makes of it. One evaluator runs one call of a method of the module.
class Evaluator {
 public:
  Evaluator(const torchscript::Script& script, Lowering& lowering);

  Modules& modules() { return modules_; }
  Library& library() { return library_; }
  Numbers& numbers() { return numbers_; }
  Undecided& undecided() { return undecided_; }

  Result<Value> call_method(const std::shared_ptr<Instance>& self, const std::string& name, Call call);
  // An expression outside of the program: a literal.
  Result<Value> literal(const torchscript::Expr& expr);

  const std::vector<Checked>& checked() const { return checked_; }

 private:
  friend class Undecided;

  // Statements.
  Result<Flow> run(const Body& body, size_t first = 0);
  Result<Flow> run_held(const Body& body);
  Result<Flow> run(const torchscript::Statement& statement);
  Result<Flow> run_simple(const torchscript::Statement& statement);
  Result<Flow> branch(const torchscript::Statement& statement);
  Result<Flow> repeat(const torchscript::Statement& statement);
  Result<Flow> iterate(const torchscript::Statement& statement);
  Result<Flow> scope(const torchscript::Statement& statement);
  Status assign(const torchscript::Statement& statement);
  Status assign_to(const torchscript::Expr& target, Value value);
  Status forget(const torchscript::Expr& target);
  std::string message_of(const Body& body);

  // Expressions.
  Result<Value> eval(const torchscript::Expr& expr);
  Result<Value> eval_inner(const torchscript::Expr& expr);
  Result<Value> eval_name(const torchscript::Expr& expr);
  Result<Value> eval_attribute(const torchscript::Expr& expr);
  Result<Value> eval_subscript(const torchscript::Expr& expr);
  Result<Value> eval_items(const torchscript::Expr& expr);
  Result<Value> eval_dict(const torchscript::Expr& expr);
  Result<Value> eval_operator(const torchscript::Expr& expr);
  Result<Value> eval_compare(const torchscript::Expr& expr);
  Result<Value> eval_logic(const torchscript::Expr& expr);
  Result<Value> eval_call(const torchscript::Expr& expr);
  // "torch.add" where the expression is names with dots between and the first is no variable.
  std::optional<std::string> dotted(const torchscript::Expr& expr) const;
  Result<Value> named_value(const std::string& path, const torchscript::Expr& expr);
  Result<bool> is_instance(const Value& value, const torchscript::Expr& type);
  Result<Value> attribute(const Value& owner, const std::string& name);
  Status set_attribute(const Value& owner, const std::string& name, Value value);

  // Calls.
  Result<std::optional<Value>> special_form(std::string_view name, const torchscript::Expr& expr);
  Result<Call> arguments(const torchscript::Expr& expr);
  Result<Value> call_value(const Value& callee, Call call);
  Result<Value> call_builtin(Call call);
  Result<Value> call_function(const torchscript::Function& function, std::optional<Value> self, Call call,
                              std::string module, const Names* captured = nullptr);
  Result<Value> bind(const torchscript::Function& function, const torchscript::Parameter& parameter, size_t index,
                     const Call& call);
  Result<Value> construct(const std::string& type, Call call);

  // The same error with the line of the program it came from, where it has none yet.
  tl::unexpected<Error> placed(Error error);
  Frame& frame() { return frames_.top(); }
  const Frame& frame() const { return frames_.top(); }

  const torchscript::Script& script_;
  Lowering& in_;
  Numbers numbers_;
  Frames frames_;
  Journal journal_;
  Library library_;
  Modules modules_;
  Undecided undecided_;
  std::optional<std::string> placed_;  // the place given last: an error that has it goes up from an inner statement
  std::vector<Checked> checked_;
  int64_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace anyshape::lower::script
