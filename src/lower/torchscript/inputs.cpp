#include "lower/torchscript/inputs.h"

#include <algorithm>
#include <charconv>

#include "base/nearest.h"
#include "base/printable.h"
#include "base/running_command.h"
#include "lower/naming.h"

namespace anyshape::lower::script {

using torchscript::Expr;
using torchscript::Pickled;

namespace {

// "List" of the type List[Tensor], "Tensor" of Tensor.
std::string_view head_of(const Expr& type) {
  return type.kind == Expr::Kind::subscript ? type.args[0].text : type.text;
}

bool mentions_tensor(const Expr& type) {
  return type.text == "Tensor" || std::any_of(type.args.begin(), type.args.end(), mentions_tensor);
}

class Collector {
 public:
  Collector(const torchscript::Script& script, const torchscript::Function& forward, const Request& request)
      : script_(script), forward_(forward), request_(request), used_(request.inputs.size()) {}

  Result<Inputs> run() {
    const auto examples = script_.example_inputs();
    for (size_t i = 1; i < forward_.parameters.size(); ++i) {
      const torchscript::Parameter& parameter = forward_.parameters[i];
      Argument argument;
      if (i - 1 < examples.size()) {
        TRY(argument, from_example(*examples[i - 1], parameter.name));
      } else {
        TRY(argument, from_type(parameter));
      }
      if (argument.kind != Argument::Kind::absent) out_.arguments.emplace_back(parameter.name, std::move(argument));
    }
    TRY_OK(add_state());
    return std::move(out_);
  }

 private:
  // The type a user gave for an input, under its own or its new name.
  const InputType* given(const std::string& name) {
    const size_t index = out_.tensors.size();
    const std::string renamed = index < request_.input_names.size() ? request_.input_names[index] : name;
    for (size_t i = 0; i < request_.inputs.size(); ++i) {
      if (request_.inputs[i].name != name && request_.inputs[i].name != renamed) continue;
      used_[i] = true;
      return &request_.inputs[i];
    }
    return nullptr;
  }

  Argument add(TensorInput input) {
    const size_t index = out_.tensors.size();
    input.name = index < request_.input_names.size() ? request_.input_names[index] : input.given;
    out_.tensors.push_back(std::move(input));
    Argument argument;
    argument.kind = Argument::Kind::tensor;
    argument.tensor = index;
    return argument;
  }

  // Names in place of sizes ask for a dynamic axis.
  Result<Argument> typed(const InputType& type, const std::string& name) {
    TensorInput input;
    input.given = name;
    input.dtype = type.dtype;
    const size_t index = out_.tensors.size();
    const std::string called = index < request_.input_names.size() ? request_.input_names[index] : name;
    for (size_t k = 0; k < type.sizes.size(); ++k) {
      const std::string& size = type.sizes[k];
      RecordedAxis axis;
      int64_t number = 0;
      const auto parsed = std::from_chars(size.data(), size.data() + size.size(), number);
      if (parsed.ec == std::errc() && parsed.ptr == size.data() + size.size()) {
        axis.number = number;
      } else {
        const std::string symbol = size == "?" ? fmt::format("{}.{}", called, k) : size;
        out_.dynamic.push_back({called, static_cast<int64_t>(k), symbol});
      }
      input.axes.push_back(std::move(axis));
    }
    return add(std::move(input));
  }

  Result<Argument> from_example(const Pickled& example, const std::string& name) {
    Argument argument;
    switch (example.kind) {
      case Pickled::Kind::tensor: {
        if (const InputType* type = given(name)) return typed(*type, name);
        TensorInput input;
        input.given = name;
        input.dtype = example.tensor->view.dtype;
        for (const int64_t size : example.tensor->view.sizes) input.axes.push_back({size, {}});
        return add(std::move(input));
      }
      case Pickled::Kind::list:
      case Pickled::Kind::tuple:
        argument.kind = example.kind == Pickled::Kind::list ? Argument::Kind::list : Argument::Kind::tuple;
        for (size_t i = 0; i < example.items.size(); ++i) {
          TRY(Argument item, from_example(*example.items[i], fmt::format("{}_{}", name, i)));
          argument.items.push_back(std::move(item));
        }
        return argument;
      case Pickled::Kind::dict:
        argument.kind = Argument::Kind::dict;
        for (size_t i = 0; i + 1 < example.items.size(); i += 2) {
          const std::string key = example.items[i]->text;
          TRY(Argument item, from_example(*example.items[i + 1], fmt::format("{}_{}", name, key)));
          argument.keys.push_back(key);
          argument.items.push_back(std::move(item));
        }
        return argument;
      default:
        break;
    }
    argument.kind = Argument::Kind::plain;
    argument.plain.kind = example.kind == Pickled::Kind::integer   ? Expr::Kind::integer
                          : example.kind == Pickled::Kind::real    ? Expr::Kind::real
                          : example.kind == Pickled::Kind::boolean ? Expr::Kind::boolean
                          : example.kind == Pickled::Kind::text    ? Expr::Kind::text
                                                                   : Expr::Kind::none;
    argument.plain.integer = example.integer;
    argument.plain.real = example.real;
    argument.plain.text = example.text;
    return argument;
  }

  Error missing(const std::string& name, bool tensor) const {
    auto error = tensor
                     ? usage("input.missing",
                             "the archive does not say what the input {:?} of forward is: its type and sizes are to be "
                             "given, names among them are dynamic axes",
                             name)
                     : usage("input.missing", "the archive does not say what the input {:?} of forward is", name);
    Error out = std::move(error).value();
    out.hint = running_command_with("--input " + shell_word(name + (tensor ? "=f32[batch,10]" : "=VALUE")));
    return out;
  }

  Result<Argument> from_type(const torchscript::Parameter& parameter) {
    Expr tensor;
    tensor.kind = Expr::Kind::name;
    tensor.text = "Tensor";
    TRY(Argument argument, of_type(parameter.annotation ? *parameter.annotation : tensor, parameter.name));
    if (argument.kind != Argument::Kind::absent || parameter.fallback) return argument;
    const Expr& type = parameter.annotation ? *parameter.annotation : tensor;
    if (head_of(type) == "Optional") {
      argument.kind = Argument::Kind::plain;
      return argument;
    }
    return tl::unexpected(missing(first_missing_.empty() ? parameter.name : first_missing_, mentions_tensor(type)));
  }

  // Absent where the request says nothing of it.
  Result<Argument> of_type(const Expr& type, const std::string& name) {
    const std::string_view head = head_of(type);
    if (head == "Optional") return of_type(type.args[1], name);
    if (head == "List" || head == "Tuple") return items_of_type(type, head, name);
    if (head == "Dict") return entries_of_type(type, name);
    const InputType* found = given(name);
    if (found == nullptr) {
      if (first_missing_.empty()) first_missing_ = name;
      return Argument();
    }
    if (!found->value.empty()) return literal(*found);
    return typed(*found, name);
  }

  Result<Argument> literal(const InputType& type) {
    auto parsed = torchscript::parse_expression(type.value);
    if (!parsed) return usage("input.type", "{:?} is no value for the input {:?}", type.value, type.name);
    Argument argument;
    argument.kind = Argument::Kind::plain;
    argument.plain = *std::move(parsed);
    return argument;
  }

  Result<Argument> items_of_type(const Expr& type, std::string_view head, const std::string& name) {
    Argument argument;
    const Expr& inner = type.args[1];
    const bool several = head == "Tuple" && inner.kind == Expr::Kind::tuple;
    for (size_t i = 0; !several || i < inner.args.size(); ++i) {
      TRY(Argument item, of_type(several ? inner.args[i] : inner, fmt::format("{}_{}", name, i)));
      if (item.kind == Argument::Kind::absent) break;
      argument.items.push_back(std::move(item));
      if (head == "Tuple" && !several) break;
    }
    if (argument.items.empty()) return argument;
    if (several && argument.items.size() != inner.args.size()) return tl::unexpected(missing(first_missing_, true));
    argument.kind = head == "Tuple" ? Argument::Kind::tuple : Argument::Kind::list;
    first_missing_.clear();
    return argument;
  }

  Result<Argument> entries_of_type(const Expr& type, const std::string& name) {
    Argument argument;
    const std::string prefix = name + "_";
    for (const InputType& input : request_.inputs) {
      if (!input.name.starts_with(prefix) || type.args[1].kind != Expr::Kind::tuple) continue;
      TRY(Argument item, of_type(type.args[1].args[1], input.name));
      argument.keys.push_back(input.name.substr(prefix.size()));
      argument.items.push_back(std::move(item));
    }
    if (!argument.items.empty()) argument.kind = Argument::Kind::dict;
    if (argument.items.empty() && first_missing_.empty()) first_missing_ = prefix + "KEY";
    return argument;
  }

  // "decoder.hidden" in the tree of modules.
  bool is_attribute(std::string_view path) const {
    const Pickled* owner = script_.data.root;
    while (owner != nullptr) {
      if (owner->find(path) != nullptr) return true;
      const size_t dot = path.find('.');
      if (dot == std::string_view::npos) return false;
      owner = owner->find(path.substr(0, dot));
      path.remove_prefix(dot + 1);
    }
    return false;
  }

  // Types that are given for something else than an input of forward.
  Status add_state() {
    std::vector<std::string> names;
    for (size_t i = 1; i < forward_.parameters.size(); ++i) names.push_back(forward_.parameters[i].name);
    for (size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) continue;
      const InputType& input = request_.inputs[i];
      if (is_attribute(input.name)) {
        TRY(Argument argument, input.value.empty() ? typed(input, input.name) : literal(input));
        out_.state.emplace_back(input.name, std::move(argument));
        continue;
      }
      const std::string near = nearest(input.name, names);
      return usage("input.unknown", "forward has no input {:?}{}; there are: {}", input.name,
                   near.empty() ? "" : fmt::format(", did you mean {:?}?", near), fmt::join(names, ", "));
    }
    if (request_.input_names.size() > out_.tensors.size()) {
      return usage("names.inputs", "{} input names are given, forward has {} tensors", request_.input_names.size(),
                   out_.tensors.size());
    }
    return {};
  }

  const torchscript::Script& script_;
  const torchscript::Function& forward_;
  const Request& request_;
  std::vector<bool> used_;
  std::string first_missing_;
  Inputs out_;
};

}  // namespace

Result<Inputs> inputs_of(const torchscript::Script& script, const torchscript::Function& forward,
                         const Request& request) {
  return Collector(script, forward, request).run();
}

}  // namespace anyshape::lower::script
