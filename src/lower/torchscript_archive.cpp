#include <algorithm>

#include "lower/torchscript_eval.h"

namespace anyshape::lower::script {

using torchscript::Pickled;

namespace {

std::string path_of(const std::string& path, const std::string& name) {
  return path.empty() ? name : fmt::format("{}.{}", path, name);
}

// Two tensors with one such text are one tensor.
std::string storage_key(const torchscript::StorageView& view, bool constant) {
  return fmt::format("{}{}:{}:{}:{}:{}", constant ? "c" : "d", view.key, static_cast<int>(view.dtype), view.offset,
                     fmt::join(view.sizes, ","), fmt::join(view.strides, ","));
}

}  // namespace

std::shared_ptr<Instance> Evaluator::root() {
  if (!root_) {
    root_ = std::make_shared<Instance>();
    root_->type_name = script_.data.root->text;
    root_->type = find_class(root_->type_name);
    root_->module = true;
    root_->origin = script_.data.root;
    unpickled_.emplace(script_.data.root, Value(root_));
    modules_.push_back(root_);
  }
  return root_;
}

Value Evaluator::unpickled_tensor(const Pickled& value, const std::string& path, bool in_modules) {
  Var& shared = storages_[storage_key(value.tensor->view, !in_modules)];
  if (!shared) {
    const std::string name = in_modules ? path : fmt::format("constants.{}", path);
    shared = in_.variable(in_.constant(value.tensor->tensor, name), name);
    module_tensors_.emplace_back(name, shared);
  }
  return shared;
}

Result<Value> Evaluator::unpickled_container(const Pickled& value, const std::string& path, bool in_modules) {
  if (value.kind == Pickled::Kind::dict) {
    auto dict = std::make_shared<Dict>();
    for (size_t i = 0; i + 1 < value.items.size(); i += 2) {
      const Pickled& key = *value.items[i];
      const std::string name = key.kind == Pickled::Kind::text ? key.text : std::to_string(i / 2);
      TRY(Value first, unpickled(key, path_of(path, name), in_modules));
      TRY(Value second, unpickled(*value.items[i + 1], path_of(path, name), in_modules));
      dict->entries.emplace_back(std::move(first), std::move(second));
    }
    return Value(std::move(dict));
  }
  Values items;
  for (size_t i = 0; i < value.items.size(); ++i) {
    TRY(Value item, unpickled(*value.items[i], path_of(path, std::to_string(i)), in_modules));
    items.push_back(std::move(item));
  }
  return value.kind == Pickled::Kind::list ? list_of(std::move(items)) : tuple_of(std::move(items));
}

Result<Value> Evaluator::unpickled(const Pickled& value, const std::string& path, bool in_modules) {
  if (const auto known = unpickled_.find(&value); known != unpickled_.end()) return known->second;
  Value made;
  switch (value.kind) {
    case Pickled::Kind::boolean:
      return Value(value.integer != 0);
    case Pickled::Kind::integer:
      return Value(Dim(value.integer));
    case Pickled::Kind::real:
      return Value(value.real);
    case Pickled::Kind::complex:
      return Value(std::complex<double>(value.real, value.imaginary));
    case Pickled::Kind::text:
      return Value(value.text);
    case Pickled::Kind::device:
      return Value(Device{value.text});
    case Pickled::Kind::tensor:
      made = unpickled_tensor(value, path, in_modules);
      break;
    case Pickled::Kind::list:
    case Pickled::Kind::tuple:
    case Pickled::Kind::dict: {
      TRY(made, unpickled_container(value, path, in_modules));
      break;
    }
    case Pickled::Kind::object: {
      auto instance = std::make_shared<Instance>();
      instance->type_name = value.text;
      instance->type = find_class(value.text);
      instance->origin = &value;
      instance->module = in_modules && instance->type != nullptr && instance->type->base == "Module";
      instance->path = path;
      if (in_modules) modules_.push_back(instance);
      made = Value(std::move(instance));
      break;
    }
    case Pickled::Kind::enumerator: {
      const torchscript::Class* type = find_class(value.text);
      TRY(const Value wanted, unpickled(*value.items[0], path, false));
      for (const torchscript::Attribute& attribute : type ? type->attributes : std::vector<torchscript::Attribute>()) {
        TRY(const auto member, enumerator(fmt::format("{}.{}", value.text, attribute.name)));
        if (!member) continue;
        TRY(const Value same, equal((*member->get<std::shared_ptr<const Enumerator>>())->value, wanted));
        if (numbers_.decide(same) == true) made = *member;
      }
      break;
    }
    default:
      return Value(None{});
  }
  unpickled_.emplace(&value, made);
  return made;
}

Result<Value> Evaluator::class_attribute(const Instance& owner, const std::string& name) {
  if (owner.type != nullptr) {
    for (const torchscript::Attribute& attribute : owner.type->attributes) {
      if (attribute.name == name && attribute.value) return eval(*attribute.value);
    }
  }
  return wrong("script.name", "the class {} has no attribute {}", owner.type_name, name);
}

Result<Value> Evaluator::module_attribute(const std::shared_ptr<Instance>& owner, const std::string& name) {
  const std::pair<const Instance*, std::string> key(owner.get(), name);
  if (set_.count(key) == 0) read_first_.insert(key);
  if (const auto found = owner->attributes.find(name); found != owner->attributes.end()) return found->second;
  const std::string path = path_of(owner->path, name);
  Value value;
  if (const auto given = given_state_.find(path); given != given_state_.end() && owner->origin) {
    value = given->second;
  } else if (const Pickled* held = owner->origin ? owner->origin->find(name) : nullptr) {
    TRY(value, unpickled(*held, path, true));
  } else if (owner->type != nullptr && owner->type->methods.count(name) != 0) {
    auto method = std::make_shared<Callable>();
    method->kind = Callable::Kind::method;
    method->name = name;
    method->self = Value(owner);
    return Value(std::move(method));
  } else {
    return class_attribute(*owner, name);
  }
  owner->attributes.insert_or_assign(name, value);
  return value;
}

Result<Value> Evaluator::attribute(const Value& owner, const std::string& name) {
  if (const auto* instance = owner.get<std::shared_ptr<Instance>>()) return module_attribute(*instance, name);
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
  TRY(auto value, prim({name, {owner}, {}}));
  if (value) return *std::move(value);
  return wrong("script.name", "{} has no attribute {}", kind_of(owner), name);
}

Status Evaluator::set_attribute(const Value& owner, const std::string& name, Value value) {
  const auto* instance = owner.get<std::shared_ptr<Instance>>();
  if (instance == nullptr) return wrong("script.type", "{} has no attributes to set", kind_of(owner));
  note_change(*instance);
  set_.emplace(instance->get(), name);
  (*instance)->attributes.insert_or_assign(name, std::move(value));
  return {};
}

std::vector<Change> Evaluator::changes() const {
  std::map<std::string, Change> found;
  for (const auto& owner : modules_) {
    for (const auto& [name, value] : owner->attributes) {
      const std::pair<const Instance*, std::string> key(owner.get(), name);
      const bool set = set_.count(key) != 0;
      const Var* tensor = value.get<Var>();
      const bool written = tensor != nullptr && !(*tensor)->base && (*tensor)->writes > 0;
      if (!set && !written) continue;
      const std::string path = path_of(owner->path, name);
      found.try_emplace(path, Change{path, owner, name, read_first_.count(key) != 0});
    }
  }
  std::vector<Change> changes;
  for (auto& [path, change] : found) changes.push_back(std::move(change));
  return changes;
}

}  // namespace anyshape::lower::script
