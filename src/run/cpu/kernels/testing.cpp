#include "run/cpu/kernels/testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "ir/infer.h"
#include "ops/all.h"
#include "ops/testing.h"
#include "run/cpu/target.h"

namespace anyshape::cpu {
namespace {

int64_t size_in_bytes(DType dtype) { return bits(dtype) / 8; }

// A View and the memory behind it.
struct Owned {
  std::vector<std::byte> memory;
  std::vector<int64_t> dims, strides;
  DType dtype = DType::undefined;
  std::byte* data = nullptr;

  View view(bool with_data = true) const { return {dtype, dims, strides, with_data ? data : nullptr}; }
};

std::vector<int64_t> row_major(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0; step *= dims[i]) strides[i] = step;
  return strides;
}

// Axes in another order in memory, with gaps, some of them backwards.
std::vector<int64_t> odd_strides(const std::vector<int64_t>& dims, std::mt19937_64& engine, int64_t& start,
                                 int64_t& count) {
  std::vector<size_t> order(dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), engine);
  std::vector<int64_t> strides(dims.size());
  int64_t step = 1 + static_cast<int64_t>(engine() % 2);
  start = 0;
  for (size_t axis : order) {
    strides[axis] = step;
    if (engine() % 4 == 0 && dims[axis] > 0) {
      start += step * (dims[axis] - 1);
      strides[axis] = -step;
    }
    step = step * dims[axis] + static_cast<int64_t>(engine() % 3);
  }
  count = step;
  return strides;
}

Owned owned(DType dtype, const std::vector<int64_t>& dims, std::mt19937_64* odd) {
  Owned out;
  out.dtype = dtype;
  out.dims = dims;
  out.strides = row_major(dims);
  int64_t start = 0, count = element_count(dims).value_or(0);
  if (odd) out.strides = odd_strides(dims, *odd, start, count);
  const int64_t size = size_in_bytes(dtype);
  out.memory.assign(static_cast<size_t>((count + 1) * size + 64), std::byte{0xff});
  std::byte* aligned = out.memory.data();
  while (reinterpret_cast<uintptr_t>(aligned) % static_cast<uintptr_t>(size) != 0) ++aligned;
  out.data = aligned + start * size;
  return out;
}

template <class Fn>
void for_each_index(const std::vector<int64_t>& dims, Fn fn) {
  const int64_t count = element_count(dims).value_or(0);
  std::vector<int64_t> index(dims.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    fn(i, index);
    for (size_t axis = dims.size(); axis-- > 0 && ++index[axis] == dims[axis];) index[axis] = 0;
  }
}

void fill(const Owned& to, const Tensor& from) {
  const int64_t size = size_in_bytes(to.dtype);
  for_each_index(to.dims, [&](int64_t i, const std::vector<int64_t>& index) {
    int64_t at = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * to.strides[axis];
    std::memcpy(to.data + at * size, from.bytes().data() + i * size, static_cast<size_t>(size));
  });
}

Tensor random_tensor(DType dtype, const std::vector<int64_t>& dims, float size, std::mt19937_64& engine) {
  Tensor out = Tensor::allocate(dtype, dims).value();
  std::uniform_real_distribution<float> real(-size, size);
  for (int64_t i = 0; i < out.count(); ++i) {
    if (dtype == DType::f32)
      out.as_mutable<float>()[static_cast<size_t>(i)] = real(engine);
    else if (dtype == DType::f64)
      out.as_mutable<double>()[static_cast<size_t>(i)] = static_cast<double>(real(engine));
    else if (dtype == DType::boolean)
      out.set_int(i, engine() & 1);
    else if (dtype == DType::u8 || dtype == DType::i8)
      out.set_int(i, static_cast<int64_t>(engine() % 256) - (dtype == DType::i8 ? 128 : 0));
    else if (is_integer(dtype))
      out.set_int(i, 1 + static_cast<int64_t>(engine() % 9));
  }
  return out;
}

struct Node1 {
  Graph graph;
  Facts facts;
  std::vector<const Fact*> in;
  std::vector<Tensor> values;
  Symbols symbols;

  Call call() const { return Call(graph.nodes[0], "node", in); }
};

void add_input(Node1& n, std::string text, const KernelTestRow& row, std::mt19937_64& engine) {
  const size_t begin = text.find_first_not_of(' ');
  text = begin == std::string::npos ? "" : text.substr(begin);
  Node& node = n.graph.nodes[0];
  if (text.empty()) {
    node.in.push_back(kNoValue);
    n.values.emplace_back();
    n.facts.emplace_back();
    return;
  }
  const bool constant = text.starts_with("const ");
  const Fact parsed = ops::parse_fact(constant ? text.substr(6) : text, n.symbols);
  Tensor value = parsed.as_tensor();
  if (!value) value = random_tensor(parsed.dtype, parsed.numeric_dims().value(), row.size, engine);
  n.facts.push_back(constant ? Fact::of_constant(value) : parsed.type_only());
  n.values.push_back(std::move(value));
  node.in.push_back(static_cast<ValueId>(node.in.size()));
}

void build(const KernelTestRow& row, std::mt19937_64& engine, Node1& n) {
  Node& node = n.graph.nodes.emplace_back();
  const size_t colon = row.op.find(':');
  node.domain = colon == std::string::npos ? "" : row.op.substr(0, colon);
  node.type = colon == std::string::npos ? row.op : row.op.substr(colon + 1);
  node.version = row.version;
  node.op = all_ops().find(node.domain, node.type, node.version);
  node.attributes = ops::parse_attributes(row.attributes, n.symbols);
  size_t at = 0;
  for (size_t end = 0; end != std::string::npos && !row.in.empty(); at = end + 1) {
    end = row.in.find(';', at);
    add_input(n, row.in.substr(at, end == std::string::npos ? end : end - at), row, engine);
  }
  for (size_t i = 0; i < row.outputs; ++i) node.out.push_back(static_cast<ValueId>(node.in.size() + i));
  for (size_t i = 0; i < n.facts.size(); ++i) n.in.push_back(node.in[i] == kNoValue ? nullptr : &n.facts[i]);
}

void run_tasks(const EngineKernel& kernel, ViewArgs args, std::mt19937_64& engine) {
  const int64_t tasks = kernel.tasks ? kernel.tasks(args) : 1;
  ASSERT_GE(tasks, 1);
  ASSERT_TRUE(!kernel.begin || kernel.begin(args));
  if (engine() % 2 == 0) {
    ASSERT_TRUE(kernel.run(args, 0, tasks));
    return;
  }
  const int64_t cut = static_cast<int64_t>(engine() % static_cast<uint64_t>(tasks + 1));
  ASSERT_TRUE(cut == tasks || kernel.run(args, cut, tasks));
  ASSERT_TRUE(cut == 0 || kernel.run(args, 0, cut));
}

void compare(const KernelTestRow& row, const Tensor& expected, const Owned& got) {
  ASSERT_EQ(expected.dims(), got.dims);
  const bool is_real = expected.dtype() == DType::f32;
  double largest = 1e-3;
  for (int64_t i = 0; is_real && i < expected.count(); ++i)
    if (const double x = std::fabs(expected.at<float>(i)); std::isfinite(x)) largest = std::max(largest, x);
  const int64_t size = size_in_bytes(expected.dtype());
  for (int64_t i = 0; i < expected.count(); ++i) {
    const std::byte* at = got.data + i * size;
    if (is_real) {
      float x;
      std::memcpy(&x, at, sizeof(x));
      const float y = expected.at<float>(i);
      if (std::isnan(y) || std::isinf(y))
        ASSERT_TRUE(std::isnan(y) ? std::isnan(x) : x == y) << "entry " << i << " is " << x << ", not " << y;
      else
        ASSERT_NEAR(x, y, row.tolerance * largest) << "entry " << i;
    } else {
      ASSERT_EQ(std::memcmp(at, expected.bytes().data() + i * size, static_cast<size_t>(size)), 0) << "entry " << i;
    }
  }
}

// The buffers of one run; bit i of `strided` gives input i odd strides.
struct Buffers {
  std::vector<Owned> in, out;
  std::vector<std::byte> scratch;

  std::vector<View> views(const std::vector<Owned>& owners, bool with_data = true) const {
    std::vector<View> all;
    for (const Owned& o : owners) all.push_back(o.view(with_data));
    return all;
  }
};

// Why the kernel does not take the node; empty: it does.
std::string why_not(const EngineKernel& kernel, const Call& call) {
  if (const auto clause = kernel.accepts(call); !clause.empty() || !kernel.prepare) return std::string(clause);
  const auto prepared = kernel.prepare(call);
  const bool refused = !prepared && prepared.error().kind == Error::Kind::unknown;
  return refused ? prepared.error().message : "";
}

void run_kernel(const KernelTestRow& row, const EngineKernel& kernel, const Node1& n, const Facts& out_facts,
                const std::vector<Datum>& expected, std::mt19937_64& engine) {
  Buffers b;
  for (size_t i = 0; i < n.values.size(); ++i) {
    const bool odd = n.values[i] && (kernel.strided >> i & 1) != 0 && engine() % 2 == 0;
    b.in.push_back(n.values[i] ? owned(n.values[i].dtype(), n.values[i].dims(), odd ? &engine : nullptr) : Owned());
    if (n.values[i]) fill(b.in.back(), n.values[i]);
  }
  for (size_t i = 0; i < row.outputs; ++i)
    b.out.push_back(owned(out_facts[i].dtype, out_facts[i].numeric_dims().value(), nullptr));
  for (size_t i = 0; i < b.in.size(); ++i) {
    const bool same = b.in[i].dtype == b.out[0].dtype && b.in[i].dims == b.out[0].dims && b.in[i].view().dense();
    if ((kernel.in_place >> i & 1) != 0 && same && engine() % 2 == 0) {
      b.out[0].data = b.in[i].data;
      break;
    }
  }
  std::shared_ptr<const void> prepared;
  if (kernel.prepare) {
    auto made = kernel.prepare(n.call());
    ASSERT_TRUE(made) << made.error().message;
    prepared = *made;
  }
  const auto sizes_in = b.views(b.in, false), sizes_out = b.views(b.out, false);
  const int64_t bytes = kernel.scratch ? kernel.scratch({sizes_in, sizes_out, prepared.get(), nullptr}) : 0;
  b.scratch.assign(static_cast<size_t>(bytes + 128), std::byte{0xff});
  std::byte* scratch = b.scratch.data();
  while (reinterpret_cast<uintptr_t>(scratch) % 64 != 0) ++scratch;
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> bound(static_cast<size_t>(kernel.bound_bytes) / 64 + 1);
  const bool binds = kernel.bind && engine() % 2 == 0;
  if (binds) kernel.bind({sizes_in, sizes_out, prepared.get(), nullptr}, bound[0].bytes);
  const auto in = b.views(b.in), out = b.views(b.out);
  run_tasks(kernel, {in, out, prepared.get(), scratch, binds ? bound[0].bytes : nullptr}, engine);
  for (std::byte* end = scratch + bytes; end < b.scratch.data() + b.scratch.size(); ++end)
    ASSERT_EQ(*end, std::byte{0xff}) << "written past the scratch";
  for (size_t i = 0; i < row.outputs; ++i) compare(row, expected[i].tensor(), b.out[i]);
}

}  // namespace

void check_kernels(std::initializer_list<KernelTestRow> rows) {
  for (const KernelTestRow& row : rows) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(testing::Message() << row.op << "-" << row.version << " (" << row.in << ") " << row.attributes
                                      << " seed " << seed);
      std::mt19937_64 engine(seed);
      Node1 n;
      build(row, engine, n);
      const OpDef* op = n.graph.nodes[0].op;
      ASSERT_NE(op, nullptr);
      ASSERT_TRUE(target().has_kernel(*op));
      auto facts = infer_node(n.graph, n.graph.nodes[0], n.in);
      ASSERT_TRUE(facts) << facts.error().message;
      if (op->kernels.empty()) break;  // nothing to compare with
      std::vector<Datum> in;
      for (const Tensor& value : n.values) in.push_back(value ? Datum(value) : Datum());
      const auto expected = run_reference(n.call(), in, *facts);
      ASSERT_TRUE(expected) << expected.error().message;
      bool taken = false;
      for (const KernelRow& kernel_row : target().rows) {
        if (std::find(kernel_row.ops.begin(), kernel_row.ops.end(), op) == kernel_row.ops.end()) continue;
        if (!why_not(*kernel_row.kernel, n.call()).empty()) continue;
        taken = true;
        run_kernel(row, *kernel_row.kernel, n, *facts, *expected, engine);
        if (testing::Test::HasFatalFailure()) return;
      }
      EXPECT_TRUE(taken) << "no kernel takes it: " << target().choose(n.call()).reason;
    }
  }
}

std::string refusal_of(const KernelTestRow& row) {
  std::mt19937_64 engine(1);
  Node1 n;
  build(row, engine, n);
  for (const KernelRow& kernel_row : target().rows)
    if (std::find(kernel_row.ops.begin(), kernel_row.ops.end(), n.graph.nodes[0].op) != kernel_row.ops.end())
      return why_not(*kernel_row.kernel, n.call());
  return "there is no kernel for it";
}

}  // namespace anyshape::cpu
