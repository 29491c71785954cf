#include "format/torchscript/source.h"

#include <gtest/gtest.h>

#include <random>

#include "format/torchscript/lexer.h"

namespace anyshape::torchscript {
namespace {

struct Row {
  const char *source, *printed;
};

TEST(Expression, Rows) {
  const Row rows[] = {
      {"1", "1"},
      {"-5", "-5"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"9223372036854775807", "9223372036854775807"},
      {"1.", "1.0"},
      {"0.5", "0.5"},
      {"9.9999999999999995e-07", "1e-06"},
      {"1e400", "inf"},
      {"-inf", "-inf"},
      {"nan", "nan"},
      {"2.j", "2.0j"},
      {"\"a\\n\\\"b\\\\\"", "\"a\\n\\\"b\\\\\""},
      {"'it\\'s'", "\"it's\""},
      {"\"\\303\\251\\x41\"", "\"\\303\\251A\""},
      {"\"a\" 'b'", "\"ab\""},
      {"None", "None"},
      {"self.lin", "self.lin"},
      {"(self).forward(x, )", "self.forward(x)"},
      {"torch.zeros([2, int(b)], dtype=6, layout=None)", "torch.zeros([2, int(b)], dtype=6, layout=None)"},
      {"f(x, *ys)", "f(x, *ys)"},
      {"annotate(List[Tensor], [])", "annotate(List[Tensor], [])"},
      {"annotate(Dict[str, Tuple[int, Optional[Tensor]]], {})",
       "annotate(Dict[str, Tuple[int, Optional[Tensor]]], {})"},
      {"Tuple[()]", "Tuple[()]"},
      {"(torch.size(x))[-1]", "torch.size(x)[-1]"},
      {"x[1:]", "x[1::]"},
      {"x[:, ::2, 0]", "x[::, ::2, 0]"},
      {"x[..., 0]", "x[..., 0]"},
      {"x[a:b:c]", "x[a:b:c]"},
      {"(1,)", "(1,)"},
      {"()", "()"},
      {"1, 2,", "(1, 2)"},
      {"{1: \"a\", 2: \"b\"}", "{1: \"a\", 2: \"b\"}"},
      {"a + b * c - d", "((a + (b * c)) - d)"},
      {"a ** b ** c", "(a ** (b ** c))"},
      {"-a ** 2", "(-(a ** 2))"},
      {"a // b % c", "((a // b) % c)"},
      {"a << 1 | b & c ^ d", "((a << 1) | ((b & c) ^ d))"},
      {"not a and b or c", "(((not a) and b) or c)"},
      {"a is not None", "(a is not None)"},
      {"a not in b", "(a not in b)"},
      {"not a in b", "(not (a in b))"},
      {"a if b else c if d else e", "(a if b else (c if d else e))"},
      {"a <= b + 1", "(a <= (b + 1))"},
      {"CONSTANTS.c0", "CONSTANTS.c0"},
      {"ops.prim.NumToTensor(torch.size(x, 0))", "ops.prim.NumToTensor(torch.size(x, 0))"},
  };
  for (const Row& row : rows) {
    const auto parsed = parse_expression(row.source);
    ASSERT_TRUE(parsed) << row.source << ": " << parsed.error().text();
    EXPECT_EQ(print(*parsed), row.printed) << row.source;
    const auto again = parse_expression(print(*parsed));
    ASSERT_TRUE(again) << row.printed;
    EXPECT_EQ(print(*again), row.printed);
  }
}

TEST(Expression, Refused) {
  for (const char* source : {"", "a +", "f(", "[1, 2", "a b", "1.2.3", "a < b < c", "x[]1", "{1}", "\"open", "if", "a.",
                             "9223372036854775808", "x[1:2:3:4]", "\"\\q\"", "a ? b", "f(a=)", "*a", ")"}) {
    const auto parsed = parse_expression(source);
    ASSERT_FALSE(parsed) << source;
    EXPECT_EQ(parsed.error().code, "script.syntax") << source;
    EXPECT_FALSE(parsed.error().place.empty());
  }
}

TEST(Expression, NestingIsBounded) {
  const auto repeated = [](std::string_view part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  EXPECT_TRUE(parse_expression(repeated("f(", 80) + std::string("x") + repeated(")", 80)));
  for (const std::string& deep :
       {repeated("(", 100000) + repeated(")", 100000), repeated("-", 100000) + "x",
        std::string("x") + repeated(".a", 100000), std::string("x") + repeated("+x", 100000),
        repeated("not ", 100000) + "x", std::string("x") + repeated("()", 100000),
        repeated("x if x else ", 100000) + "x", std::string("x") + repeated("**x", 100000),
        repeated("[", 100000) + repeated("]", 100000), std::string("x") + repeated("[0]", 100000)}) {
    const auto parsed = parse_expression(deep);
    ASSERT_FALSE(parsed) << deep.substr(0, 20);
    EXPECT_EQ(parsed.error().code, "script.depth") << deep.substr(0, 20);
  }
}

// The statements of a body, one per line, nested ones after their owner.
void outline(const std::vector<Statement>& body, int indent, std::string& out) {
  constexpr const char* kNames[] = {"pass",  "expression", "assign", "if",   "while", "for",   "return",
                                    "raise", "assert",     "del",    "with", "def",   "break", "continue"};
  for (const Statement& s : body) {
    out += fmt::format("{:{}}{}:{}", "", indent, s.line, kNames[static_cast<int>(s.kind)]);
    for (const Expr& target : s.targets) out += fmt::format(" {}", print(target));
    if (s.unpack) out += " ,";
    if (s.annotation) out += fmt::format(" : {}", print(*s.annotation));
    if (s.value) out += fmt::format(" = {}", print(*s.value));
    out += "\n";
    outline(s.body, indent + 2, out);
    if (!s.otherwise.empty()) {
      out += fmt::format("{:{}}else\n", "", indent);
      outline(s.otherwise, indent + 2, out);
    }
    if (s.function) outline(s.function->body, indent + 2, out);
  }
}

constexpr const char* kFile = R"(op_version_set = 1
import __torch__.other
class M(Module):
  __parameters__ = ["w", ]
  __buffers__ = ["buf", ]
  __annotations__ = []
  __annotations__["0"] = __torch__.Linear
  w : Tensor
  k : Final[int] = 3
  def forward(self: __torch__.M,
    x: Tensor,
    y: Optional[Tensor]=None) -> Tuple[Tensor, int]:
    # a comment
    a, b, = torch.chunk(x, 2, 1)
    c, = [1]
    _4, _5 = True, False

    h : Optional[Tensor] = annotate(Tensor, a)
    if torch.__isnot__(y, None):
      h0 = h
    elif b:
      h0 = b
    else:
      pass
    while _4:
      _4 = False
      break
    for i in range(torch.len(a)):
      self.buf = a
      continue
    def __forked_function():
      return (self).foo(h, )
    with _9:
      print(h)
    assert a, "no"
    del a, b
    raise ValueError("x")
    return (h, 1)
class P(NamedTuple):
  a : Tensor
  b : int
class C(Enum):
  RED = 1
class I(Interface):
  def forward(self, x: Tensor) -> Tensor:
    pass
def helper(x: Tensor) -> NoneType:
  return None
)";

TEST(Source, WholeFile) {
  const auto source = parse_source(kFile, "code/m.py");
  ASSERT_TRUE(source) << source.error().text();
  ASSERT_EQ(source->classes.size(), 4u);
  const Class& m = source->classes[0];
  EXPECT_EQ(m.name + "(" + m.base + ")", "M(Module)");
  EXPECT_EQ(m.parameters, std::vector<std::string>{"w"});
  EXPECT_EQ(m.buffers, std::vector<std::string>{"buf"});
  ASSERT_EQ(m.attributes.size(), 3u);
  EXPECT_EQ(m.attributes[0].name + " : " + print(*m.attributes[0].annotation), "0 : __torch__.Linear");
  EXPECT_EQ(m.attributes[2].name + " = " + print(*m.attributes[2].value), "k = 3");
  const Function& forward = m.methods.at("forward");
  EXPECT_EQ(forward.file, "code/m.py");
  EXPECT_EQ(forward.line, 10);
  ASSERT_EQ(forward.parameters.size(), 3u);
  EXPECT_EQ(print(*forward.parameters[2].annotation), "Optional[Tensor]");
  EXPECT_EQ(print(*forward.parameters[2].fallback), "None");
  EXPECT_EQ(print(*forward.result), "Tuple[Tensor, int]");
  std::string text;
  outline(forward.body, 0, text);
  EXPECT_EQ(text, R"(14:assign a b , = torch.chunk(x, 2, 1)
15:assign c , = [1]
16:assign _4 _5 , = (True, False)
18:assign h : Optional[Tensor] = annotate(Tensor, a)
19:if = torch.__isnot__(y, None)
  20:assign h0 = h
else
  21:if = b
    22:assign h0 = b
  else
    24:pass
25:while = _4
  26:assign _4 = False
  27:break
28:for i = range(torch.len(a))
  29:assign self.buf = a
  30:continue
31:def
  32:return = self.foo(h)
33:with = _9
  34:expression = print(h)
35:assert "no" = a
36:del a b ,
37:raise = ValueError("x")
38:return = (h, 1)
)");
  EXPECT_EQ(source->classes[2].attributes[0].name, "RED");
  EXPECT_EQ(source->functions[0].name, "helper");
}

TEST(Source, RefusedWithItsLine) {
  const struct {
    const char *source, *place;
  } rows[] = {
      {"class M:\n  x : int\n   y : int\n", "f.py:3"},
      {"def f():\n  return (1\n", "f.py:3"},
      {"def f()\n  return 1\n", "f.py:1"},
      {"def f():\nreturn 1\n", "f.py:2"},
      {"x = 1\n", "f.py:1"},
      {"def f():\n  if x:\n    y = 1\n else:\n    pass\n", "f.py:4"},
      {"def f():\n  x = $\n", "f.py:2"},
  };
  for (const auto& row : rows) {
    const auto source = parse_source(row.source, "f.py");
    ASSERT_FALSE(source) << row.source;
    EXPECT_EQ(source.error().code, "script.syntax");
    EXPECT_EQ(source.error().place, row.place) << row.source;
  }
}

TEST(Source, MutatedSourcesNeverCrash) {
  constexpr uint32_t kSeed = 20260;
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  std::mt19937 random(kSeed);
  const std::string original = kFile;
  const std::string_view pieces[] = {"(",  ")",  "[",  "]",    "{",  "}",    ":",   ",",    "=",
                                     "\n", "  ", "\"", "\\",   "#",  "def ", "if ", "else", "class ",
                                     "1e", ".",  "*",  "not ", "\0", "\xff", "-",   "is "};
  int good = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = original;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
      const size_t where = random() % text.size();
      if (random() % 2 == 0) text.erase(where, random() % 9);
      text.insert(std::min(where, text.size()), pieces[random() % std::size(pieces)]);
    }
    const auto source = parse_source(text, "f.py");
    good += source ? 1 : 0;
    EXPECT_TRUE(source || !source.error().message.empty());
  }
  EXPECT_GT(good, 100);
  EXPECT_LT(good, 3900);
}

}  // namespace
}  // namespace anyshape::torchscript
