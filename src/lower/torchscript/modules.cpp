#include "lower/torchscript/modules.h"

#include <algorithm>

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

const torchscript::Class* Modules::find_class(const std::string& name) const {
  const auto found = script_.classes.find(name);
  return found == script_.classes.end() ? nullptr : &found->second;
}

Result<std::optional<Value>> Modules::enumerator(const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string type_name = path.substr(0, dot);
  const torchscript::Class* type = find_class(type_name);
  if (type == nullptr || type->base != "Enum") return std::nullopt;
  if (const auto known = enumerators_.find(path); known != enumerators_.end()) return Value(known->second);
  for (const torchscript::Attribute& attribute : type->attributes) {
    if (attribute.name != path.substr(dot + 1) || !attribute.value) continue;
    auto made = std::make_shared<Enumerator>();
    made->type = type_name;
    made->name = attribute.name;
    TRY(made->value, eval_(*attribute.value));
    enumerators_[path] = made;
    return Value(std::shared_ptr<const Enumerator>(std::move(made)));
  }
  return std::nullopt;
}

std::shared_ptr<Instance> Modules::root() {
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

Value Modules::unpickled_tensor(const Pickled& value, const std::string& path, bool in_modules) {
  Var& shared = storages_[storage_key(value.tensor->view, !in_modules)];
  if (!shared) {
    const std::string name = in_modules ? path : fmt::format("constants.{}", path);
    shared = in_.memory().variable(in_.weight(value.tensor->tensor, name), name);
    tensors_.emplace_back(name, shared);
  }
  return shared;
}

Result<Value> Modules::unpickled_container(const Pickled& value, const std::string& path, bool in_modules) {
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

Result<Value> Modules::quantized_tensor(const Pickled& value, const std::string& path) {
  const torchscript::Quantizer& held = *value.tensor->quantizer;
  const Ref integers = in_->constant(value.tensor->tensor, path);
  const Arg scale(in_->constant(held.scale)), zero(in_->constant(held.zero_point));
  const auto scheme = in_.quantized().scheme(scale, zero, in_->dtype(integers), held.axis);
  const Ref made = in_.quantized().of(integers, scheme);
  if (in_->failed()) return tl::unexpected(in_->status().error());
  return Value(in_.memory().variable(made, path));
}

Result<Value> Modules::unpickled_object(const Pickled& value, const std::string& path, bool in_modules) {
  // What PyTorch packs for its kernels is its state: weight, bias, and what else the packing was asked for.
  const bool native = value.text.starts_with("__torch__.torch.classes.");
  if (native && value.items.size() == 1 && value.items[0]->kind == Pickled::Kind::tuple)
    return unpickled(*value.items[0], path, in_modules);
  auto instance = std::make_shared<Instance>();
  instance->type_name = value.text;
  instance->type = find_class(value.text);
  instance->origin = &value;
  instance->module = in_modules && instance->type != nullptr && instance->type->base == "Module";
  instance->path = path;
  if (in_modules) modules_.push_back(instance);
  return Value(std::move(instance));
}

Result<Value> Modules::unpickled_enumerator(const Pickled& value, const std::string& path) {
  Value made;
  const torchscript::Class* type = find_class(value.text);
  TRY(const Value wanted, unpickled(*value.items[0], path, false));
  for (const torchscript::Attribute& attribute : type ? type->attributes : std::vector<torchscript::Attribute>()) {
    TRY(const auto member, enumerator(fmt::format("{}.{}", value.text, attribute.name)));
    if (!member) continue;
    TRY(const Value same, library_.equal((*member->get<std::shared_ptr<const Enumerator>>())->value, wanted));
    if (numbers_.decide(same) == true) made = *member;
  }
  return made;
}

Result<Value> Modules::constant(size_t index) {
  const Pickled& held = *script_.constants.root->items[index];
  TRY(Value value, unpickled(held, fmt::format("c{}", index), false));
  // What was a number of Python's when the module was traced.
  if (value.is_tensor() && held.tensor->view.sizes.empty()) library_.add_wrapped(*value.get<Var>());
  return value;
}

bool Modules::holds(const void* container) const {
  return std::any_of(unpickled_.begin(), unpickled_.end(), [&](const auto& entry) {
    const Value& value = entry.second;
    return value.list() == container || static_cast<const void*>(value.dict()) == container;
  });
}

Result<Value> Modules::unpickled(const Pickled& value, const std::string& path, bool in_modules) {
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
      if (value.tensor->quantizer) {
        TRY(made, quantized_tensor(value, path));
      } else {
        made = unpickled_tensor(value, path, in_modules);
      }
      break;
    case Pickled::Kind::list:
    case Pickled::Kind::tuple:
    case Pickled::Kind::dict: {
      TRY(made, unpickled_container(value, path, in_modules));
      break;
    }
    case Pickled::Kind::object: {
      TRY(made, unpickled_object(value, path, in_modules));
      break;
    }
    case Pickled::Kind::enumerator: {
      TRY(made, unpickled_enumerator(value, path));
      break;
    }
    default:
      return Value(None{});
  }
  unpickled_.emplace(&value, made);
  return made;
}

Result<Value> Modules::class_attribute(const Instance& owner, const std::string& name) {
  if (owner.type != nullptr) {
    for (const torchscript::Attribute& attribute : owner.type->attributes) {
      if (attribute.name == name && attribute.value) return eval_(*attribute.value);
    }
  }
  return refuse("script.name", "the class {} has no attribute {}", owner.type_name, name);
}

// The attributes that __setstate__ makes are the archive's, no doing of the program.
Status Modules::restore(const std::shared_ptr<Instance>& owner) {
  const bool stated = owner->origin && owner->origin->items.size() == 1 && owner->type != nullptr &&
                      owner->origin->items[0]->kind == Pickled::Kind::tuple &&
                      owner->type->methods.count("__setstate__") != 0;
  if (!stated || !owner->attributes.empty()) return {};
  TRY(Value state, unpickled(*owner->origin->items[0], owner->path, true));
  TRY_OK(restore_(owner, std::move(state)));
  std::erase_if(set_, [&](const auto& one) { return one.first == owner.get(); });
  return {};
}

Result<Value> Modules::attribute(const std::shared_ptr<Instance>& owner, const std::string& name) {
  TRY_OK(restore(owner));
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

void Modules::set_attribute(const std::shared_ptr<Instance>& owner, const std::string& name, Value value) {
  journal_.note(owner);
  set_.emplace(owner.get(), name);
  owner->attributes.insert_or_assign(name, std::move(value));
}

std::vector<Change> Modules::changes() const {
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
