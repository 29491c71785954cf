#include "anyshape/options.h"

#include <algorithm>
#include <array>
#include <limits>

#include "api/option_words.h"

namespace anyshape {
namespace {

constexpr double kLargestTolerance = 1e9;
constexpr int kMostThreads = 1024;

// A value that is one of a few words: `index` becomes its place.
Status set_word(std::string_view option, const std::string& value, const std::vector<std::string>& words,
                size_t& index) {
  const auto found = std::find(words.begin(), words.end(), value);
  if (found == words.end()) return bad_option_value(option, value, fmt::format("{}", fmt::join(words, ", ")));
  index = static_cast<size_t>(found - words.begin());
  return {};
}

// "a,b": names in order.
std::vector<std::string> split_names(std::string_view value) {
  std::vector<std::string> out;
  while (true) {
    const size_t comma = value.find(',');
    out.emplace_back(value.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    value = value.substr(comma + 1);
  }
}

Status append_axes(Result<std::vector<DynamicAxis>> axes, std::vector<DynamicAxis>& into) {
  if (!axes) return tl::unexpected(std::move(axes).error());
  into.insert(into.end(), axes->begin(), axes->end());
  return {};
}

template <class Options>
OptionRow<Options> flag(std::string_view name, bool Options::*member) {
  return {name, false, [member](Options& o, const std::string&) -> Status {
            o.*member = true;
            return {};
          }};
}

template <class Options>
OptionRow<Options> text(std::string_view name, std::string Options::*member) {
  return {name, true, [member](Options& o, const std::string& value) -> Status {
            o.*member = value;
            return {};
          }};
}

template <class Options>
OptionRow<Options> texts(std::string_view name, std::vector<std::string> Options::*member) {
  return {name, true, [member](Options& o, const std::string& value) -> Status {
            (o.*member).push_back(value);
            return {};
          }};
}

// Texts that `parse` reads, one for each time the option is there.
template <class Options, class T, class Parse>
OptionRow<Options> each(std::string_view name, std::vector<T> Options::*member, Parse parse) {
  return {name, true,
          [member, parse](Options& o, const std::string& value) { return append_parsed(value, parse, o.*member); }};
}

template <class Options>
OptionRow<Options> dynamic() {
  return {"--dynamic", true,
          [](Options& o, const std::string& value) { return append_axes(parse_dynamic(value), o.dynamic); }};
}

template <class Options>
OptionRow<Options> policy() {
  return {"--policy", true, [](Options& o, const std::string& value) -> Status {
            size_t index = 0;
            TRY_OK(set_word("--policy", value, {"any", "batch-only"}, index));
            o.batch_only = index == 1;
            return {};
          }};
}

template <class Options>
OptionRow<Options> optional_number(std::string_view name, std::optional<int64_t> Options::*member) {
  return {name, true, [name, member](Options& o, const std::string& value) -> Status {
            int64_t number = 0;
            TRY_OK(set_number<int64_t>(name, value, 1, std::numeric_limits<int32_t>::max(), number));
            o.*member = number;
            return {};
          }};
}

std::vector<OptionRow<ExportOptions>> export_rows() {
  using O = ExportOptions;
  return {
      dynamic<O>(),
      {"--dynamic-axes", true,
       [](O& o, const std::string& value) { return append_axes(read_dynamic_axes(value), o.dynamic); }},
      flag("--static", &O::all_static),
      flag("--strict-axes", &O::strict_axes),
      each("--freeze", &O::freeze, parse_freeze),
      each("--input", &O::inputs, parse_input_type),
      {"--input-names", true,
       [](O& o, const std::string& value) -> Status {
         o.input_names = split_names(value);
         return {};
       }},
      {"--output-names", true,
       [](O& o, const std::string& value) -> Status {
         o.output_names = split_names(value);
         return {};
       }},
      optional_number("--opset", &O::opset),
      optional_number("--ir-version", &O::ir_version),
      policy<O>(),
      texts("--allow", &O::allow),
      text("--target", &O::target),
      {"--guards", true,
       [](O& o, const std::string& value) -> Status {
         size_t index = 0;
         TRY_OK(set_word("--guards", value, {"record", "embed", "drop"}, index));
         o.guards = std::array{Guards::record, Guards::embed, Guards::drop}[index];
         return {};
       }},
      each("--custom", &O::custom, parse_custom),
      each("--custom-shape", &O::custom_shapes, parse_custom_shape),
      {"--training", true,
       [](O& o, const std::string& value) -> Status {
         size_t index = 0;
         TRY_OK(set_word("--training", value, {"preserve"}, index));
         o.training = true;
         return {};
       }},
  };
}

std::vector<OptionRow<FixOptions>> fix_rows() {
  using O = FixOptions;
  return {
      dynamic<O>(),
      each("--freeze", &O::freeze, parse_freeze),
      each("--rename", &O::rename, parse_rename),
      flag("--simplify", &O::simplify),
      policy<O>(),
      texts("--allow", &O::allow),
      text("--target", &O::target),
      {"--dims", true,
       [](O& o, const std::string& value) -> Status {
         size_t index = 0;
         TRY_OK(set_word("--dims", value, {"names", "expressions"}, index));
         o.dims = index == 1 ? DimText::expressions : DimText::names;
         return {};
       }},
  };
}

std::vector<OptionRow<CheckOptions>> check_rows() {
  using O = CheckOptions;
  return {policy<O>(), texts("--allow", &O::allow), texts("--ignore", &O::ignore),
          flag("--ignore-assumed", &O::ignore_assumed), text("--target", &O::target)};
}

OptionRow<VerifyOptions> tolerance(std::string_view name, double VerifyOptions::*member) {
  return {name, true, [name, member](VerifyOptions& o, const std::string& value) {
            return set_number(name, value, 0.0, kLargestTolerance, o.*member);
          }};
}

std::vector<OptionRow<VerifyOptions>> verify_rows() {
  using O = VerifyOptions;
  return {
      {"--shapes-file", true,
       [](O& o, const std::string& value) -> Status {
         TRY(o.shapes, read_shapes_file(value));
         if (o.shapes.empty()) return at(value, usage("shapes.empty", "the file holds no shapes").value());
         return {};
       }},
      tolerance("--rtol", &O::relative),
      tolerance("--atol", &O::absolute),
      {"--seed", true,
       [](O& o, const std::string& value) {
         return set_number<uint64_t>("--seed", value, 0, std::numeric_limits<int64_t>::max(), o.seed);
       }},
      {"--engine", true,
       [](O& o, const std::string& value) -> Status {
         o.session.engine = value;
         return {};
       }},
      {"--ort-lib", true,
       [](O& o, const std::string& value) -> Status {
         o.session.ort_library = value;
         return {};
       }},
      {"--without", true,
       [](O& o, const std::string& value) -> Status {
         o.session.without.push_back(value);
         return {};
       }},
      {"--exact", false,
       [](O& o, const std::string&) -> Status {
         o.session.exact = true;
         return {};
       }},
      {"--threads", true,
       [](O& o, const std::string& value) -> Status {
         TRY_OK(set_number("--threads", value, 0, kMostThreads, o.threads));
         o.session.ort_threads = o.threads;
         return {};
       }},
  };
}

template <class Options>
Result<Options> parsed(std::string_view text, const std::vector<OptionRow<Options>>& rows) {
  return parse_options<Options>(text, rows);
}

}  // namespace

Result<ReadOptions> parse_read_options(std::string_view text) {
  return parsed<ReadOptions>(text, {flag("--strict", &ReadOptions::strict)});
}

Result<CheckOptions> parse_check_options(std::string_view text) { return parsed(text, check_rows()); }
Result<ExportOptions> parse_export_options(std::string_view text) { return parsed(text, export_rows()); }
Result<FixOptions> parse_fix_options(std::string_view text) { return parsed(text, fix_rows()); }
Result<VerifyOptions> parse_verify_options(std::string_view text) { return parsed(text, verify_rows()); }

}  // namespace anyshape
