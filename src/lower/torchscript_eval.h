#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lower/torchscript_numbers.h"
#include "lower/torchscript_value.h"

namespace anyshape::lower::script {

// A condition the program checks by raising an exception.
struct Checked {
  Condition condition;  // holds where the program goes on
  std::string message, place;
};

// The arguments of one call.
struct Call {
  std::string name;
  Values args;
  std::vector<std::pair<std::string, Value>> named;

  // Positional `i`, or the keyword; null where neither is given.
  const Value* arg(size_t i, std::string_view keyword = {}) const;
};

// An attribute of a module, or an item of a list in one, that the program changed.
struct Change {
  std::string path;  // "decoder.hidden"
  std::shared_ptr<Instance> owner;
  std::string attribute;
  bool read_first = false;  // its old value was used before
};

struct Spot;
enum class Carrier;

// Runs the source of a TorchScript archive over a Lowering: tensors are values of the graph, sizes are expressions,
// everything else is what Python makes of it. One evaluator runs one call of a method of the module.
class Evaluator {
 public:
  Evaluator(const torchscript::Script& script, Lowering& lowering);

  // The archive's module.
  std::shared_ptr<Instance> root();
  // Attributes of modules that are not as the archive holds them: "path.name".
  void set_state(const std::string& path, Value value) { given_state_[path] = std::move(value); }

  Result<Value> call_method(const std::shared_ptr<Instance>& self, const std::string& name, Call call);
  // An expression outside of the program: a literal.
  Result<Value> literal(const torchscript::Expr& expr);
  // Attributes of modules that were set, and tensors of modules that were written into, in order of their paths.
  std::vector<Change> changes() const;

  const std::vector<Checked>& checked() const { return checked_; }
  const std::vector<std::string>& notes() const { return notes_; }
  Numbers& numbers() { return numbers_; }
  // What operators of extensions become: see custom_name.
  void set_custom(std::vector<std::pair<std::string, std::string>> names) { custom_ = std::move(names); }
  // A size of an input: conditions over such sizes are conditions on shapes.
  void add_input_symbol(Dim symbol) { input_symbols_.insert(symbol); }

 private:
  using Body = std::vector<torchscript::Statement>;
  struct Frame {
    const torchscript::Function* function = nullptr;
    Names names;
    std::string module;  // path
    Value result;
    int line = 0;
    // The blocks that run now, outermost first, each with the statement it goes on with.
    std::vector<std::pair<const Body*, size_t>> open;
    int held = 0;  // > 0: the rest of the function is not only what `open` says (a loop, one way of a branch)
  };
  enum class Flow { next, leave, again, give };
  using Maybe = Result<std::optional<Value>>;

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

  // Branches and loops that only the running model decides.
  struct Mark;
  struct Outcome;
  struct LoopPart;
  struct LoopPlan;
  using Emit = std::function<Refs(const Outcome&)>;
  using Way = std::function<Result<Flow>()>;
  struct Fork;
  Result<Flow> conditional(const torchscript::Statement& statement, const Value& truth);
  Result<Flow> to_the_end(const torchscript::Statement& statement, const Value& truth);
  Status learn(Fork& fork);
  Status join(const Fork& fork);
  bool torn(const Fork& fork);
  Refs parts_on(const Fork& fork, bool first, const Outcome& outcome);
  Result<Outcome> run_way(const Way& way, const Condition& path, const std::string& name, const Emit& emit,
                          std::shared_ptr<Graph>& graph);
  Value joined(const Value& a, const Value& b, const std::optional<Condition>& condition,
               const std::function<Value(const Value&, const Value&, Carrier)>& choose);
  Result<Flow> looped(const torchscript::Statement& statement, const Value* count);
  Result<bool> loop_once(const torchscript::Statement& statement, const Value* count, LoopPlan& plan,
                         std::shared_ptr<Graph>& graph);
  Result<bool> extend_plan(LoopPlan& plan, const Outcome& outcome, const Mark& mark);
  Result<bool> widen(LoopPart& part, const Value& after, const Spot& spot);
  Status add_parts(const Spot& spot, size_t count, const Outcome& outcome, Refs& outputs);
  Fact carried_fact(const Value& value);
  Ref carried_ref(const Value& value);
  Value carried_value(Carrier carrier, Ref ref);
  bool from_inputs(Dim dim) const;
  Ref stand_in(const Value& like);
  void remember_fact(const Value& value);
  void open_mark(Mark& mark);
  Outcome since(const Mark& mark);
  void put_back(Mark& mark);
  Status put(const Spot& spot, Value value);
  void settle();
  void note_change(const std::shared_ptr<List>& list);
  void note_change(const std::shared_ptr<Dict>& dict);
  void note_change(const std::shared_ptr<Instance>& instance);
  // The tensors the program can still name, each once; `seen` gets all containers on the way to them.
  std::vector<Var> reachable(std::unordered_set<const void*>* seen = nullptr) const;
  bool was_there(const Mark& mark, const void* container) const;

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
  Result<std::optional<Value>> special_form(std::string_view name, const torchscript::Expr& expr);
  Result<Call> arguments(const torchscript::Expr& expr);
  Result<Value> call_value(const Value& callee, Call call);
  Result<Value> call_function(const torchscript::Function& function, std::optional<Value> self, Call call,
                              std::string module, const Names* captured = nullptr);
  Result<Value> bind(const torchscript::Function& function, const torchscript::Parameter& parameter, size_t index,
                     const Call& call);
  Result<Value> construct(const std::string& type, Call call);
  // "torch.add" where the expression is names with dots between and the first is no variable.
  std::optional<std::string> dotted(const torchscript::Expr& expr) const;
  Result<Value> named_value(const std::string& path, const torchscript::Expr& expr);
  Maybe enumerator(const std::string& path);
  const torchscript::Class* find_class(const std::string& name) const;
  Result<bool> is_instance(const Value& value, const torchscript::Expr& type);

  // Attributes and archive values.
  Result<Value> attribute(const Value& owner, const std::string& name);
  Result<Value> module_attribute(const std::shared_ptr<Instance>& owner, const std::string& name);
  Result<Value> class_attribute(const Instance& owner, const std::string& name);
  Status set_attribute(const Value& owner, const std::string& name, Value value);
  Result<Value> unpickled(const torchscript::Pickled& value, const std::string& path, bool in_modules);
  Value unpickled_tensor(const torchscript::Pickled& value, const std::string& path, bool in_modules);
  Result<Value> unpickled_container(const torchscript::Pickled& value, const std::string& path, bool in_modules);

  // Calls of torch.* and ops.*.
  Result<Value> torch_call(Call call);
  Result<Value> op_call(const std::string& space, Call call);
  Result<Value> aten(const Call& call);
  std::optional<Arg> operand(const Value& value);
  Result<Value> custom(const std::string& space, const Call& call);
  Result<Value> builtin(Call call);
  Maybe primitive(const Call& call);
  Maybe container_primitive(const Call& call);
  Maybe list_primitive(const Call& call, const std::shared_ptr<List>& list);
  Maybe list_change(const Call& call, const std::shared_ptr<List>& list);
  Maybe list_summary(const Call& call, const List& list);
  Maybe dict_primitive(const Call& call, const std::shared_ptr<Dict>& dict);
  Maybe text_primitive(const Call& call, const std::string& text);
  Maybe tensor_primitive(const Call& call);
  Maybe tensor_property(std::string_view name, const Var& tensor, const Call& call);
  Maybe prim(const Call& call);
  Maybe setting(const Call& call);
  Maybe range_primitive(const Call& call);
  Maybe make_tensor(const Call& call);
  void assume_some(Ref stacked);
  Maybe stacked_primitive(const Call& call);
  Result<Ref> tensor_of(const Value& data, std::optional<DType> dtype);

  Result<Value> item_of(const Value& owner, const Value& index);
  Result<Value> sliced(const List& list, const Value* start, const Value* stop, const Value* step);
  Result<int64_t> index_in(const Value& index, size_t size);
  Result<Value> equal(const Value& a, const Value& b);
  Result<Value> contains(const Value& owner, const Value& item);
  Result<bool> decided(const Value& truth, std::string_view what);
  Result<std::string> text_of(const Value& value);
  Maybe formatted(const Call& call, const std::string& pattern);

  template <class... Args>
  tl::unexpected<Error> wrong(std::string_view code, fmt::format_string<Args...> text, Args&&... args) const {
    return refuse(code, text, std::forward<Args>(args)...);
  }
  std::string place() const;
  // The same error with the line of the program it came from, where it has none yet.
  tl::unexpected<Error> placed(Error error);
  Frame& frame() { return *frames_.back(); }
  const Frame& frame() const { return *frames_.back(); }
  void show_place();

  const torchscript::Script& script_;
  Lowering& in_;
  Numbers numbers_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::optional<std::string> placed_;  // the place given last: an error that has it goes up from an inner statement
  bool padding_checked_ = false;       // the program asks whether a mask is left-aligned
  int ends_ = 0;                       // branches whose ways run to the end of the function, now open
  std::unordered_map<const torchscript::Pickled*, Value> unpickled_;
  std::map<std::string, Var> storages_;
  std::map<std::string, Value> given_state_;
  std::vector<std::pair<std::string, std::string>> custom_;
  std::unordered_set<const Variable*> wrapped_;  // tensors that stand for a number
  std::map<std::string, std::shared_ptr<const Enumerator>> enumerators_;
  std::vector<std::shared_ptr<Instance>> modules_;
  std::vector<std::pair<std::string, Var>> module_tensors_;  // parameters and buffers read so far
  std::set<std::pair<const Instance*, std::string>> read_, set_, read_first_;
  std::shared_ptr<Instance> root_;
  std::vector<Mark*> marks_;  // open bodies
  // Every body made: the Builder knows bodies by their address, so none may take the place of another.
  std::vector<std::shared_ptr<const Graph>> bodies_;
  std::vector<Checked> checked_;
  std::vector<std::string> notes_;
  std::unordered_set<Dim> input_symbols_;
  std::unordered_map<const Variable*, Fact> closed_facts_;  // of tensors of bodies that are closed
  int64_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace anyshape::lower::script
