#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lower/torchscript/frames.h"
#include "lower/torchscript/journal.h"
#include "lower/torchscript/numbers.h"

namespace anyshape::lower::script {

// The arguments of one call.
struct Call {
  std::string name;
  Values args;
  std::vector<std::pair<std::string, Value>> named;

  // Positional `i`, or the keyword; null where neither is given.
  const Value* arg(size_t i, std::string_view keyword = {}) const;
};

// What a program can call without the archive holding its code: torch.*, ops.*, methods of lists, dicts, texts and
// tensors, Python's own functions. Needs the frames for places only.
class Library {
 public:
  // `version`: of the archive's format.
  Library(Lowering& lowering, Numbers& numbers, Journal& journal, const Frames& frames, int64_t version)
      : in_(lowering), numbers_(numbers), journal_(journal), frames_(frames), version_(version) {}

  // A sentence for the report.
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

  // What operators of extensions become: see custom_name.
  void set_custom(std::vector<std::pair<std::string, std::string>> names) { custom_ = std::move(names); }
  // The tensor stands for a number of Python's: it does not decide the type of a result.
  void add_wrapped(const Var& tensor) { wrapped_.insert(tensor.get()); }
  const std::vector<std::string>& notes() const { return notes_; }

  // torch.NAME, also as a method of its first argument.
  Result<Value> torch_call(Call call);
  // ops.SPACE.NAME.
  Result<Value> op_call(const std::string& space, Call call);
  // int, float, range, ...
  Result<Value> builtin(Call call);
  // prim.NAME; nullopt: there is none.
  Result<std::optional<Value>> prim(const Call& call);

  Result<Value> item_of(const Value& owner, const Value& index);
  Result<Value> equal(const Value& a, const Value& b);

 private:
  using Maybe = Result<std::optional<Value>>;

  Result<Value> aten(const Call& call);
  std::optional<Arg> operand(const Value& value);
  Result<Value> custom(const std::string& space, const Call& call);
  Maybe primitive(const Call& call);
  Maybe setting(const Call& call);
  Maybe range_primitive(const Call& call);

  Maybe container_primitive(const Call& call);
  Maybe list_primitive(const Call& call, const std::shared_ptr<List>& list);
  Maybe list_change(const Call& call, const std::shared_ptr<List>& list);
  Maybe list_summary(const Call& call, const List& list);
  Maybe dict_primitive(const Call& call, const std::shared_ptr<Dict>& dict);
  Maybe text_primitive(const Call& call, const std::string& text);
  Result<Value> sliced(const List& list, const Value* start, const Value* stop, const Value* step);
  Result<int64_t> index_in(const Value& index, size_t size);
  Result<Value> contains(const Value& owner, const Value& item);
  Result<bool> decided(const Value& truth, std::string_view what);
  Result<std::string> text_of(const Value& value);
  Maybe formatted(const Call& call, const std::string& pattern);

  Maybe tensor_primitive(const Call& call);
  Maybe tensor_property(std::string_view name, const Var& tensor, const Call& call);
  Maybe make_tensor(const Call& call);
  Result<Ref> tensor_of(const Value& data, std::optional<DType> dtype);
  void assume_some(Ref stacked);
  Maybe stacked_primitive(const Call& call);

  Lowering& in_;
  Numbers& numbers_;
  Journal& journal_;
  const Frames& frames_;
  int64_t version_;
  bool padding_checked_ = false;  // the program asks whether a mask is left-aligned
  std::vector<std::pair<std::string, std::string>> custom_;
  std::unordered_set<const Variable*> wrapped_;
  std::vector<std::string> notes_;
};

}  // namespace anyshape::lower::script
