#include "format/pt2/decode.h"
#include "format/pt2/paths.h"

namespace anyshape::pt2 {
namespace {

using FieldNames = std::map<std::string, std::vector<std::string>>;  // of the named tuples, by type

// A node of the tree that nested arguments are: a container with its children, or a leaf.
struct Tree {
  std::string type;  // empty: a leaf
  std::string context;
  std::vector<Tree> children;
};

Result<Tree> read_tree(const Json& json) {
  Tree out;
  TRY_OK(json_optional(json, "type", json_into(out.type, json_text)));
  TRY_OK(json_optional(json, "context", [&](const Json& item) -> Status {
    if (!json_is_text(item)) return {};
    TRY(out.context, json_text(item));
    return {};
  }));
  TRY_OK(json_member(json, "children_spec", json_list_into(out.children, read_tree)));
  return out;
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// [protocol, tree], as JSON inside a text.
Result<Tree> parse_tree(const std::string& text) {
  Tree out;
  TRY_OK(with_json(bytes_of(text), [&](const Json& root) -> Status {
    size_t i = 0;
    return json_items(root, [&](const Json& item) -> Status {
      if (i++ != 1) return {};
      TRY(out, read_tree(item));
      return {};
    });
  }));
  return out;
}

struct Key {
  std::string text;
  bool number = false;
};

Result<Key> read_key(const Json& json) {
  Key out;
  if (json_is_text(json)) {
    TRY(out.text, json_text(json));
    return out;
  }
  TRY(const int64_t number, json_integer(json));
  return Key{std::to_string(number), true};
}

// The keys in a container's context: [keys]; of a defaultdict {"dict_context": [keys]}; of a dataclass [[fields],
// [fields that are None]]. Empty where there are none.
std::vector<Key> keys_in(const std::string& context) {
  std::vector<Key> out;
  const Status status = with_json(bytes_of(context), [&](const Json& root) {
    const OnItem read = json_list_into(out, read_key);
    if (json_optional(root, "dict_context", read) || read(root)) return Status();
    size_t i = 0;
    return json_items(root, [&](const Json& item) { return i++ == 0 ? read(item) : Status(); });
  });
  if (!status) out.clear();
  return out;
}

bool is_sequence(std::string_view type) {
  return type == "builtins.tuple" || type == "builtins.list" || type == "collections.deque";
}

bool is_dict(std::string_view type) {
  return type == "builtins.dict" || type == "collections.OrderedDict" || type == "collections.defaultdict";
}

std::string step_to(const Key& key, bool in_dict) {
  if (key.number) return fmt::format("[{}]", key.text);
  return in_dict ? key_step(key.text) : fmt::format(".{}", key.text);
}

// The step from a container to each child. A class registered by the user has its fields' names in the context, where
// its author put them there.
std::vector<std::string> steps(const Tree& tree, const FieldNames& fields) {
  std::vector<std::string> out;
  if (tree.type == "collections.namedtuple") {
    if (const auto it = fields.find(tree.context); it != fields.end()) {
      for (const std::string& field : it->second) out.push_back(fmt::format(".{}", field));
    }
  } else if (!is_sequence(tree.type)) {
    for (const Key& key : keys_in(tree.context)) out.push_back(step_to(key, is_dict(tree.type)));
  }
  if (out.size() == tree.children.size()) return out;
  out.clear();
  for (size_t i = 0; i < tree.children.size(); ++i) out.push_back(fmt::format("[{}]", i));
  return out;
}

void collect(const Tree& tree, const FieldNames& fields, const std::string& path, std::vector<std::string>& out) {
  if (tree.type.empty()) return out.push_back(path);
  const auto names = steps(tree, fields);
  for (size_t i = 0; i < tree.children.size(); ++i) collect(tree.children[i], fields, path + names[i], out);
}

// The root is (args, kwargs): positional ones are named after forward's arguments, the others by their key.
void collect_arguments(const Tree& root, const FieldNames& fields, CallSpec& out) {
  if (root.children.size() != 2) return;
  const Tree& positional = root.children[0];
  const Tree& keywords = root.children[1];
  for (size_t i = 0; i < positional.children.size(); ++i) {
    const bool named = i < out.argument_names.size();
    const std::string path = named ? argument_path(out.argument_names[i]) : fmt::format("args[{}]", i);
    collect(positional.children[i], fields, path, out.inputs);
  }
  const auto keys = keys_in(keywords.context);
  for (size_t i = 0; i < keywords.children.size(); ++i) {
    const std::string path = i < keys.size() ? argument_path(keys[i].text) : fmt::format("kwargs[{}]", i);
    collect(keywords.children[i], fields, path, out.inputs);
  }
}

Result<std::vector<std::string>> read_fields(const Json& json) {
  std::vector<std::string> out;
  TRY_OK(json_member(json, "field_names", json_list_into(out, json_text)));
  return out;
}

OnItem tree_into(Tree& out) {
  return [&out](const Json& json) -> Status {
    TRY(const std::string text, json_text(json));
    TRY(out, parse_tree(text));
    return {};
  };
}

Status read_signature_call_spec(const Json& json, const FieldNames& fields, CallSpec& out) {
  TRY_OK(json_optional(json, "forward_arg_names", json_list_into(out.argument_names, json_text)));
  Tree in, result;
  TRY_OK(json_member(json, "in_spec", tree_into(in)));
  TRY_OK(json_member(json, "out_spec", tree_into(result)));
  collect_arguments(in, fields, out);
  collect(result, fields, "", out.outputs);
  return {};
}

}  // namespace

Result<CallSpec> read_call_spec(const Json& json) {
  CallSpec out;
  FieldNames fields;
  TRY_OK(json_optional(json, "treespec_namedtuple_fields", json_map_into(fields, read_fields)));
  const auto read_entry = [&](const Json& entry) -> Status {
    std::string fqn;
    TRY_OK(json_member(entry, "fqn", json_into(fqn, json_text)));
    if (!fqn.empty() || !out.inputs.empty()) return {};
    return json_optional(entry, "signature",
                         [&](const Json& item) { return read_signature_call_spec(item, fields, out); });
  };
  TRY_OK(json_optional(json, "module_call_graph", [&](const Json& item) { return json_items(item, read_entry); }));
  return out;
}

}  // namespace anyshape::pt2
