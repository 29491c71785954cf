#include "picture/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "base/printable.h"
#include "picture/scene.h"
#include "picture/spots.h"

namespace anyshape {
namespace embedded {
extern const char frame_html[], page_css[], base_js[], model_js[], graph_js[], view_js[], panel_js[], plan_js[];
}

namespace picture {
namespace {

std::string number(uint32_t one) { return one == kNone ? "-1" : fmt::format("{}", one); }

// What `text` makes of each entry, as an array on one line.
template <class List, class Text>
std::string array(const List& list, Text text) {
  std::string out = "[";
  for (const auto& entry : list) {
    if (out.size() > 1) out += ',';
    out += text(entry);
  }
  return out + ']';
}

// The same with a line for each entry.
template <class List, class Text>
std::string lines(std::string_view key, const List& list, Text text) {
  std::string out = fmt::format("\"{}\": [", key);
  bool first = true;
  for (const auto& entry : list) {
    out += std::exchange(first, false) ? "\n" : ",\n";
    out += text(entry);
  }
  return out + "]";
}

// Texts that occur often, by number.
class Pool {
 public:
  uint32_t of(const std::string& text) {
    const auto [it, made] = numbers_.try_emplace(text, static_cast<uint32_t>(texts.size()));
    if (made) texts.push_back(text);
    return it->second;
  }
  std::vector<std::string> texts;

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
};

constexpr size_t kMostEntries = 16;

std::string cut_list(const std::vector<std::string>& entries) {
  const size_t shown = std::min(entries.size(), kMostEntries);
  return fmt::format("[{}{}]", fmt::join(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(shown), ", "),
                     shown < entries.size() ? fmt::format(", and {} more", entries.size() - shown) : "");
}

// "[batch, 120]" of a small value whose entries are known, else nothing.
std::string entries_text(const Fact& fact) {
  if (!fact.is_tensor() || !fact.elements || fact.elements->size() > kMostEntries) return "";
  std::vector<std::string> out;
  for (Dim entry : *fact.elements) {
    if (entry.is_unknown()) return "";
    out.push_back(print(entry));
    if (fact.denominator != 1) out.back() = fmt::format("({})/{}", out.back(), fact.denominator);
  }
  return fact.rank() == 0 ? out.front() : cut_list(out);
}

struct AttributeText {
  std::string operator()(int64_t one) const { return fmt::format("{}", one); }
  std::string operator()(float one) const { return fmt::format("{}", one); }
  std::string operator()(const std::string& text) const { return fmt::format("{:?}", text.substr(0, kMostText)); }
  std::string operator()(const Box<Tensor>& tensor) const {
    return print(Fact::tensor(tensor->dtype(), Dims(tensor->dims().begin(), tensor->dims().end())));
  }
  template <class One>
  std::string operator()(const std::vector<One>& list) const {
    std::vector<std::string> out;
    for (const One& one : list) {
      out.push_back((*this)(one));
      if (out.back().empty()) return "";
    }
    return cut_list(out);
  }
  // Bodies are drawn; the rest is rare.
  template <class Other>
  std::string operator()(const Other&) const {
    return "";
  }

 private:
  static constexpr size_t kMostText = 200;
};

// "perm = [0, 2, 1]" of each that has a text, as an array of JSON.
std::string attributes_text(const Node& node) {
  std::vector<std::string> out;
  for (const Attribute& attribute : node.attributes)
    if (const std::string text = std::visit(AttributeText(), attribute.value); !text.empty())
      out.push_back(fmt::format("{} = {}", attribute.name, text));
  return array(out, json_quote);
}

std::string values_text(const Scene& scene, const Spots& spots, Pool& types, Pool& entries) {
  std::string out = "\"values\": [";
  for (const Part& part : scene.parts)
    for (ValueId id = 0; id < part.graph->values.size(); ++id) {
      const Value& value = part.graph->values[id];
      const Fact& fact = (*part.facts)[id];
      const bool ranked = fact.is_tensor() && fact.dims;
      const std::string type = ranked ? std::string(name(fact.dtype)) : print(fact.type_only());
      out += fmt::format("{}[{},{},{},{},{},{},{},{}]", id + part.first_value == 0 ? "\n" : ",\n",
                         json_quote(value.name), types.of(type), spots.first[part.first_value + id],
                         ranked ? fmt::format("{}", fact.dims->size()) : "-1",
                         value.producer == kNoValue ? "-1" : number(part.first_node + value.producer),
                         value.is_initializer ? 1 : 0, fact.from_shapes ? 1 : 0, entries.of(entries_text(fact)));
    }
  return out + "]";
}

std::string nodes_text(const Scene& scene, Pool& types, Pool& attributes) {
  std::string out = "\"nodes\": [";
  for (const Part& part : scene.parts)
    for (uint32_t n = 0; n < part.graph->nodes.size(); ++n) {
      const Node& node = part.graph->nodes[n];
      const auto id = [&](ValueId value) { return value == kNoValue ? "-1" : number(part.first_value + value); };
      out +=
          fmt::format("{}[{},{},{},{},{},{}]", n + part.first_node == 0 ? "\n" : ",\n",
                      json_quote(part.graph->label(node)), types.of(node.type), array(node.in, id), array(node.out, id),
                      scene.folded[part.first_node + n] ? 1 : 0, attributes.of(attributes_text(node)));
    }
  return out + "]";
}

std::string level_text(const Level& level) {
  size_t at = 0;
  const auto item = [](const Item& one) {
    return fmt::format("[{},{},{}]", static_cast<int>(one.kind), number(one.id), number(one.level));
  };
  const auto wire = [&](const Wire& one) {
    const size_t e = at++;
    return fmt::format("[{},{},{},{},{}]", one.ends.from, one.ends.to, array(one.values, number),
                       level.drawing.far[e] ? 1 : 0, array(level.drawing.bends[e], number));
  };
  const auto layer = [](const std::vector<uint32_t>& points) { return array(points, number); };
  return fmt::format("[{},{},{},{},{},{}]", json_quote(level.title), number(level.parent), level.nodes,
                     array(level.items, item), array(level.wires, wire), array(level.drawing.layers, layer));
}

std::string spot_text(const SpotRow& row) {
  return fmt::format("{},{},{},{},{},{}", row.value, row.index, row.entry ? 1 : 0, row.size, row.reason,
                     number(row.next));
}

std::string reason_text(const Spots::Reason& reason) {
  if (reason.whole) return fmt::format("[{}]", json_quote(reason.before));
  return fmt::format("[{},{}]", json_quote(reason.before), json_quote(reason.after));
}

// JSON that may stand in a script element: `<` occurs in strings only.
std::string for_script(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string for_html(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c == '<' || c == '>' || c == '&' || c == '"')
      out += fmt::format("&#{};", static_cast<int>(c));
    else
      out += c;
  return out;
}

using Fillings = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// `frame` with these in place of its `@name@`; what is filled in is not looked at again. REQUIRES: every `@` of the
// frame is one of such a pair.
std::string filled(std::string_view frame, const Fillings& fillings) {
  std::string out;
  while (!frame.empty()) {
    const size_t at = frame.find('@');
    out += frame.substr(0, at);
    if (at == std::string_view::npos) break;
    frame.remove_prefix(at + 1);
    const std::string_view name = frame.substr(0, frame.find('@'));
    const auto is_it = [&](const auto& filling) { return filling.first == name; };
    if (const auto found = std::find_if(fillings.begin(), fillings.end(), is_it); found != fillings.end())
      out += found->second;
    frame.remove_prefix(name.size() + 1);
  }
  return out;
}

std::string frame(const std::string& title, const std::string& data, const std::vector<std::string_view>& scripts) {
  const std::string script = fmt::format("{}", fmt::join(scripts, ""));
  return filled(embedded::frame_html, {{"title", for_html(printable(title))},
                                       {"style", embedded::page_css},
                                       {"data", for_script(data)},
                                       {"script", script}});
}

}  // namespace

std::string picture_json(const Typed& typed) {
  const Scene scene = make_scene(typed);
  const Spots spots = find_spots(typed, scene);
  Pool types, entries, attributes;
  const std::string values = values_text(scene, spots, types, entries), nodes = nodes_text(scene, types, attributes);
  const auto as_is = [](const std::string& json) { return json; };
  const auto size = [](const Spots::Size& one) {
    return fmt::format("[{},{}]", json_quote(one.text), array(one.symbols, number));
  };
  return fmt::format("{{\"version\": 1,\n\"top\": {},\n{},\n{},\n{},\n{},\n{},\n{},\n{},\n{},\n{},\n{}}}", scene.top,
                     lines("symbols", spots.symbols, json_quote), lines("sizes", spots.sizes, size),
                     lines("reasons", spots.reasons, reason_text), lines("spots", spots.rows, spot_text),
                     lines("types", types.texts, json_quote), lines("entries", entries.texts, json_quote),
                     lines("attributes", attributes.texts, as_is), values, nodes,
                     lines("levels", scene.levels, level_text));
}

std::string check_page(const Report& report, const Typed* typed) {
  const std::string data =
      fmt::format("{{\"report\": {},\n\"picture\": {}}}\n", to_json({report}), typed ? picture_json(*typed) : "null");
  return frame(report.model, data,
               {embedded::base_js, embedded::model_js, embedded::graph_js, embedded::view_js, embedded::panel_js});
}

std::string plan_frame(const std::string& title, const std::string& data) {
  return frame(title, data, {embedded::base_js, embedded::plan_js});
}

}  // namespace picture

std::string to_html(const Report& report) { return picture::check_page(report, nullptr); }

}  // namespace anyshape
