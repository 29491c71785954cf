#include <gtest/gtest.h>

#include <map>
#include <random>

#include "format/pt2/archive_bytes_test.h"
#include "format/pt2/program_dump_test.h"

namespace anyshape::pt2 {
namespace {

constexpr std::string_view kNames[] = {"linear", "weights", "cond", "nested", "counter", "sizes", "guarded_strict"};

Members fixture(std::string_view name) {
  static std::map<std::string_view, Members> read;
  Members& out = read[name];
  if (out.empty()) out = members_of(kFixtures / fmt::format("{}.pt2", name));
  return out;
}

void replace(std::string& text, std::string_view old, std::string_view with) {
  const size_t at = text.find(old);
  ASSERT_NE(at, std::string::npos) << old;
  text.replace(at, old.size(), with);
}

// Whatever comes, it is a program that can be walked or an error that says something.
void expect_answer(const Result<ExportedProgram>& program, const std::string& what) {
  if (program) {
    EXPECT_FALSE(dump(*program).empty()) << what;
    return;
  }
  const Error& e = program.error();
  EXPECT_TRUE(e.code.starts_with("pt2.") || e.code.starts_with("zip.") || e.code.starts_with("tensor."))
      << what << e.text();
  EXPECT_FALSE(e.message.empty()) << what;
}

struct HostileRow {
  const char* member;  // the end of its name
  const char *old, *with;
  const char* error;  // code, place and message: how it begins
};

constexpr HostileRow kRows[] = {
    {"model.json", "\"target\": \"torch.ops.aten.linear.default\"", "\"target\": 3",
     "error[pt2.schema] linear/models/model.json: graph_module.graph.nodes[0].target: text was expected, not a number"},
    {"model.json", "\"as_tensor\": {\"name\": \"x\"}", "\"as_tensor\": {\"nome\": \"x\"}",
     "error[pt2.schema] linear/models/model.json: graph_module.graph.inputs[2].as_tensor: the member \"name\" is "
     "missing"},
    {"model.json", "{\"as_tensor\": {\"name\": \"x\"}}", "{}",
     "error[pt2.schema] linear/models/model.json: graph_module.graph.inputs[2]: one member was expected, here is none"},
    {"model.json", "\"as_tensor\": {\"name\": \"x\"}", "\"as_ghost\": 1",
     "error[pt2.schema] linear/models/model.json: graph_module.graph.inputs[2].as_ghost: an argument of a kind not "
     "known"},
    {"model.json", "\"as_tensor\": {\"name\": \"x\"}", "\"as_int\": 18446744073709551615",
     "error[pt2.schema] linear/models/model.json: graph_module.graph.inputs[2].as_int: an integer was expected"},
    {"model.json", "\"dtype\": 7", "\"dtype\": 77",
     "error[pt2.schema] linear/models/model.json: graph_module.graph.tensor_values.p_fc_weight.dtype: 77 is no element "
     "type"},
    {"model.json", "Symbol('s77'", "Symbol('s77",
     "error[pt2.expression] linear/models/model.json: graph_module.graph.tensor_values.x.sizes[0].as_expr.expr_str: "},
    {"model.json", "\"major\": 8", "\"major\": 9",
     "error[pt2.layout] linear/models/model.json: schema_version: the program "
     "has schema version 9"},
    {"model.json", "{\"parameter\": ", "{\"buffer\": ",
     "error[pt2.schema] linear/models/model.json: graph_module.signature.input_specs[0].buffer: the member "
     "\"buffer_name\""},
    {"model.json", "\"input_specs\": [", "\"input_specs\": [{\"token\": {\"arg\": {\"name\": \"t\"}}}, ",
     "error[pt2.schema] linear/models/model.json: graph_module.signature: 4 inputs and 1 outputs are described"},
    {"model.json", "\"parameter_name\": \"fc.bias\"", "\"parameter_name\": \"fc.gone\"",
     "error[pt2.weight] the archive holds no tensor for \"fc.gone\""},
    {"model.json", "{", "", "error[pt2.json] linear/models/model.json: it is not the JSON of a program"},
    {"weights_config.json", "\"use_pickle\": false", "\"use_pickle\": true",
     "error[pt2.weight] linear/data/weights/model_weights_config.json: config.fc.weight: it is stored as a pickle"},
    {"weights_config.json", "\"path_name\": \"weight_0\"", "\"path_name\": \"weight_7\"",
     "error[pt2.weight] linear/data/weights/model_weights_config.json: config.fc.weight: the archive has no member "
     "\"linear/data/weights/weight_7\""},
    {"weights_config.json", "\"fc.bias\"", "\"fc.weight\"",
     "error[pt2.schema] linear/data/weights/model_weights_config.json: config.fc.weight: it stands there twice"},
    {"weights_config.json", "{\"as_int\": 2}", "{\"as_int\": 3}",
     "error[pt2.weight] linear/data/weights/model_weights_config.json: config.fc.weight: f32[3,3]:[3,1]@0 reaches "
     "outside"},
    {"weights_config.json", "{\"as_int\": 2}", "{\"as_int\": 4611686018427387904}",
     "error[pt2.weight] linear/data/weights/model_weights_config.json: config.fc.weight: its sizes"},
    {"weights_config.json", "{\"as_int\": 2}", "{\"as_int\": -2}",
     "error[pt2.weight] linear/data/weights/model_weights_config.json: config.fc.weight: its sizes are no numbers"},
    {"weights_config.json", "\"storage_offset\": {\"as_int\": 0}", "\"storage_offset\": {\"as_int\": 1}",
     "error[pt2.weight] linear/data/weights/model_weights_config.json: config.fc.weight: f32[2,3]:[3,1]@1 reaches "
     "outside"},
    {"weights_config.json", "\"storage_offset\": {\"as_int\": 0}",
     "\"storage_offset\": {\"as_int\": 9223372036854775807}",
     "error[pt2.weight] linear/data/weights/model_weights_config.json: config.fc.weight: f32"},
    {"weights_config.json", "\"strides\": [{\"as_int\": 3}", "\"strides\": [{\"as_int\": 9223372036854775807}",
     "error[pt2.weight] linear/data/weights/model_weights_config.json: config.fc.weight: f32"},
    {"weights_config.json", "\"strides\": [{\"as_int\": 3}, ", "\"strides\": [",
     "error[pt2.weight] linear/data/weights/model_weights_config.json: config.fc.weight: it has 2 sizes and 1 strides"},
    {"weights_config.json",
     "\"sizes\": [{\"as_int\": 2}, {\"as_int\": 3}], \"requires_grad\": true, \"device\": {\"type\": \"cpu\", "
     "\"index\": "
     "null}, \"strides\": [{\"as_int\": 3}",
     "\"sizes\": [{\"as_int\": 1000000000}, {\"as_int\": 3}], \"requires_grad\": true, \"device\": {\"type\": \"cpu\", "
     "\"index\": null}, \"strides\": [{\"as_int\": 0}",
     "error[pt2.weight] linear/data/weights/model_weights_config.json: config.fc.weight: f32[1000000000,3]:[0,1]@0 is "
     "too "
     "large to be written out"},
    {"weights_config.json", "\"dtype\": 7", "\"dtype\": 9",
     "error[pt2.weight] linear/data/weights/model_weights_config.json: config.fc.weight: its element type"},
    {"byteorder", "little", "big", "error[pt2.layout] the weights are stored in big endian order"},
    {"archive_version", "0", "1", "error[pt2.layout] the archive has version 1"},
};

TEST(Hostile, IsRefusedWithItsPlace) {
  for (const HostileRow& row : kRows) {
    Members members = fixture("linear");
    replace(content(members, row.member), row.old, row.with);
    const auto program = read_members(members);
    ASSERT_FALSE(program) << row.error;
    EXPECT_TRUE(program.error().text().starts_with(row.error)) << program.error().text() << "\nnot " << row.error;
  }
}

TEST(Hostile, StrideOfASingleEntryIsNotUsed) {
  Members members = fixture("linear");
  std::string& config = content(members, "weights_config.json");
  replace(config, "\"sizes\": [{\"as_int\": 2}, {\"as_int\": 3}]", "\"sizes\": [{\"as_int\": 2}, {\"as_int\": 1}]");
  replace(config, "\"strides\": [{\"as_int\": 3}, {\"as_int\": 1}]",
          "\"strides\": [{\"as_int\": 3}, {\"as_int\": 9223372036854775807}]");
  const auto program = read_members(members);
  ASSERT_TRUE(program) << program.error().text();
  const Tensor& weight = program->weights.at("fc.weight").tensor;
  EXPECT_EQ(weight.at<float>(0), 0.0F);
  EXPECT_EQ(weight.at<float>(1), 0.75F);
}

TEST(Hostile, EmptyStorageOfATensorThatIsNot) {
  Members members = fixture("linear");
  content(members, "weight_0").clear();
  const auto program = read_members(members);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, "pt2.weight");
  EXPECT_NE(program.error().message.find("fake tensors"), std::string::npos) << program.error().text();
}

TEST(Hostile, TruncatedArchives) {
  const auto bytes = archive_of(fixture("linear"));
  for (size_t size = 0; size < bytes.size(); size += size < 64 ? 1 : 37) {
    const auto program = read_bytes({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
    ASSERT_FALSE(program) << size;
    expect_answer(program, fmt::format("{} bytes: ", size));
  }
}

TEST(Hostile, FlippedBytes) {
  const auto bytes = archive_of(fixture("weights"));
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    auto changed = bytes;
    const size_t at = random() % bytes.size();
    changed[at] = static_cast<std::byte>(random());
    expect_answer(read_bytes(std::move(changed)), fmt::format("byte {}: ", at));
  }
}

TEST(Hostile, DeepNesting) {
  const std::string graph =
      R"({"as_graph": {"name": "g", "graph": {"outputs": [], "nodes": [], "tensor_values": {}, "sym_int_values": {}, )"
      R"("sym_bool_values": {}, "inputs": [)";
  const std::string dict = R"({"as_string_to_argument": {"k": )";
  for (const auto& [open, close] : {std::pair{graph, std::string("]}}}")}, std::pair{dict, std::string("}}")},
                                    std::pair{std::string("["), std::string("]")}}) {
    for (const size_t depth : {10, 60, 1000, 100000}) {
      Members members = fixture("linear");
      const std::string inner = open == dict ? R"({"as_none": true})" : "";
      replace(content(members, "model.json"), "{\"as_tensor\": {\"name\": \"x\"}}",
              fmt::format("{}{}{}", repeated(open, depth), inner, repeated(close, depth)));
      const auto program = read_members(members);
      EXPECT_EQ(program.has_value(), depth <= 60 && open != "[") << open << depth;
      expect_answer(program, open);
    }
  }
}

// The places of all values and keys in a JSON text.
struct Span {
  size_t begin, end;
  bool key;
};

std::vector<Span> spans(const std::string& json) {
  std::vector<Span> out;
  std::vector<size_t> open;
  for (size_t i = 0; i < json.size();) {
    const char c = json[i];
    if (c == '{' || c == '[') open.push_back(i);
    if (c == '}' || c == ']') {
      out.push_back({open.back(), i + 1, false});
      open.pop_back();
    }
    if (std::string_view("{}[], :\n").find(c) != std::string_view::npos) {
      ++i;
      continue;
    }
    size_t end = i + 1;
    if (c == '"') {
      for (; json[end] != '"'; ++end) end += json[end] == '\\' ? 1 : 0;
      ++end;
    } else {
      end = std::min(json.find_first_of("{}[], :\n", i), json.size());
    }
    out.push_back({i, end, json[end] == ':'});
    i = end;
  }
  return out;
}

constexpr std::string_view kValues[] = {"null",
                                        "true",
                                        "0",
                                        "-1",
                                        "7",
                                        "1e300",
                                        "9223372036854775807",
                                        "\"\"",
                                        "\"x\"",
                                        "\"weight_0\"",
                                        "[]",
                                        "{}",
                                        "[[]]",
                                        "[null]",
                                        "{\"as_int\": 3}",
                                        "{\"as_none\": true}",
                                        "{\"as_tensor\": {\"name\": \"x\"}}",
                                        "{\"name\": \"x\"}",
                                        "{\"as_expr\": {\"expr_str\": \"s0//0\", \"hint\": null}}",
                                        "\"[1, {\\\"type\\\": \\\"builtins.dict\\\"}]\""};
constexpr std::string_view kKeys[] = {"\"x\"",     "\"as_int\"",    "\"as_graph\"", "\"name\"",
                                      "\"sizes\"", "\"fc.weight\"", "\"as_expr\"",  "\"buffer\""};

void mutate(std::string& json, std::mt19937& random) {
  const auto all = spans(json);
  const Span span = all[random() % all.size()];
  const std::string_view with = span.key ? kKeys[random() % std::size(kKeys)] : kValues[random() % std::size(kValues)];
  json.replace(span.begin, span.end - span.begin, with);
}

TEST(Hostile, OtherTypesInEveryPlace) {
  int read = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    Members members = fixture(kNames[seed % std::size(kNames)]);
    constexpr std::string_view kFiles[] = {"model.json", "model.json", "weights_config.json", "constants_config.json"};
    for (unsigned i = 0; i <= seed % 3; ++i) mutate(content(members, kFiles[random() % std::size(kFiles)]), random);
    const auto program = read_members(members);
    read += program ? 1 : 0;
    expect_answer(program, fmt::format("seed {}: ", seed));
  }
  EXPECT_GT(read, 200);
  EXPECT_LT(read, 1800);
}

std::string refusal(const Members& members) {
  const auto program = read_members(members);
  return program ? "read"
                 : fmt::format("{} {} | {}", program.error().code, program.error().message, program.error().hint);
}

TEST(Layouts, OthersAreNamed) {
  const auto expect = [](const Members& members, std::string_view begin, std::string_view hint) {
    const std::string text = refusal(members);
    EXPECT_TRUE(text.starts_with(begin)) << text;
    EXPECT_NE(text.find(hint), std::string::npos) << text;
  };
  expect({{"serialized_exported_program.json", "{}"}, {"serialized_state_dict.pt", ""}, {"version", "8.7"}},
         "pt2.layout the program was saved by PyTorch 2.7 or older", "torch.export.load");
  expect({{"m/models/model.json", "{}"}, {"m/data/weights/model.pt", "PK"}},
         "pt2.layout the program was saved by PyTorch 2.8", "torch.export.load");
  expect({{"m/code/__torch__.py", ""}, {"m/data.pkl", ""}, {"m/constants.pkl", ""}},
         "pt2.layout it is a TorchScript file", "torch.export.export");
  expect({{"archive/data.pkl", ""}, {"archive/data/0", ""}}, "pt2.layout it was written by torch.save",
         "torch.export.export");
  expect({{"m/data/aotinductor/model/x.so", ""}}, "pt2.layout it is a package compiled by AOTInductor", "torch.export");
  expect({{"readme.txt", ""}}, "pt2.layout the archive holds no models/*.json", "torch.export");
  expect({}, "pt2.layout the archive holds no models/*.json", "torch.export");
}

std::string refusal_of_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  const auto program = read_bytes({bytes.begin(), bytes.end()});
  return program ? "read" : fmt::format("{} {}", program.error().code, program.error().message);
}

TEST(Layouts, NoArchives) {
  EXPECT_TRUE(refusal_of_bytes(std::string_view("\x08\x08\x12\x07pytorch", 11))
                  .starts_with("pt2.layout it looks like an ONNX"));
  EXPECT_TRUE(refusal_of_bytes("\x80\x02}q").starts_with("pt2.layout it is a pickle"));
  EXPECT_TRUE(refusal_of_bytes("").starts_with("zip.format "));
  EXPECT_TRUE(refusal_of_bytes("some text").starts_with("zip.format "));
}

TEST(Layouts, OneOfSeveralPrograms) {
  Members members = fixture("linear");
  const std::string program = content(members, "models/model.json");
  for (auto& [name, text] : members) {
    if (name == "linear/models/model.json") name = "linear/models/b.json";
  }
  EXPECT_TRUE(refusal(members).starts_with("pt2.weight ")) << refusal(members);
  members.emplace_back("linear/models/model.json", program);
  EXPECT_EQ(refusal(members), "read");
}

}  // namespace
}  // namespace anyshape::pt2
