#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lower/torchscript/library.h"

namespace anyshape::lower::script {

// An attribute of a module, or an item of a list in one, that the program changed.
struct Change {
  std::string path;  // "decoder.hidden"
  std::shared_ptr<Instance> owner;
  std::string attribute;
  bool read_first = false;  // its old value was used before
};

// The objects of the archive as values, each made when it is first asked for, and what the program does to them.
class Modules {
 public:
  // The value of an expression that a class holds.
  using Eval = std::function<Result<Value>(const torchscript::Expr&)>;
  // Lets an object of a class with __setstate__ take the state that the archive holds.
  using Restore = std::function<Status(const std::shared_ptr<Instance>&, Value)>;

  Modules(const torchscript::Script& script, Lowering& lowering, Numbers& numbers, Library& library, Journal& journal,
          Eval eval, Restore restore)
      : script_(script),
        in_(lowering),
        numbers_(numbers),
        library_(library),
        journal_(journal),
        eval_(std::move(eval)),
        restore_(std::move(restore)) {}

  std::shared_ptr<Instance> root();
  // An attribute that is not as the archive holds it: "path.name".
  void set_state(const std::string& path, Value value) { given_state_[path] = std::move(value); }
  const torchscript::Class* find_class(const std::string& name) const;
  // CONSTANTS.cN of the program.
  Result<Value> constant(size_t index);
  size_t constants() const { return script_.constants.root->items.size(); }
  // "__torch__.Color.RED"; nullopt: there is none.
  Result<std::optional<Value>> enumerator(const std::string& path);

  Result<Value> attribute(const std::shared_ptr<Instance>& owner, const std::string& name);
  void set_attribute(const std::shared_ptr<Instance>& owner, const std::string& name, Value value);
  bool was_set(const Instance* owner, const std::string& name) const { return set_.count({owner, name}) != 0; }
  // Attributes that were set, and tensors that were written into, in order of their paths.
  std::vector<Change> changes() const;

  // Parameters, buffers and constants read so far.
  const std::vector<std::pair<std::string, Var>>& tensors() const { return tensors_; }
  // Whether the container is one of the archive.
  bool holds(const void* container) const;

 private:
  Result<Value> unpickled(const torchscript::Pickled& value, const std::string& path, bool in_modules);
  Value unpickled_tensor(const torchscript::Pickled& value, const std::string& path, bool in_modules);
  Result<Value> unpickled_container(const torchscript::Pickled& value, const std::string& path, bool in_modules);
  Result<Value> quantized_tensor(const torchscript::Pickled& value, const std::string& path);
  Result<Value> unpickled_object(const torchscript::Pickled& value, const std::string& path, bool in_modules);
  Result<Value> unpickled_enumerator(const torchscript::Pickled& value, const std::string& path);
  Status restore(const std::shared_ptr<Instance>& owner);
  Result<Value> class_attribute(const Instance& owner, const std::string& name);

  const torchscript::Script& script_;
  Lowering& in_;
  Numbers& numbers_;
  Library& library_;
  Journal& journal_;
  Eval eval_;
  Restore restore_;
  std::unordered_map<const torchscript::Pickled*, Value> unpickled_;
  std::map<std::string, Var> storages_;
  std::map<std::string, Value> given_state_;
  std::map<std::string, std::shared_ptr<const Enumerator>> enumerators_;
  std::vector<std::shared_ptr<Instance>> modules_;
  std::vector<std::pair<std::string, Var>> tensors_;
  std::set<std::pair<const Instance*, std::string>> set_, read_first_;
  std::shared_ptr<Instance> root_;
};

}  // namespace anyshape::lower::script
