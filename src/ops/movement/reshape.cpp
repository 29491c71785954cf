#include "ops/movement/movement.h"
#include "ops/records.h"
#include "ops/shown.h"

namespace anyshape::ops {
namespace {

constexpr Port kIn5[] = {{"data"}, {"shape", Port::value}};
constexpr Port kReshapeIn1[] = {{"data"}, {"shape", Port::optional | Port::value}};
constexpr Port kReshapeOut[] = {{"reshaped"}};
constexpr AttributeDef kReshape1Attributes[] = {
    {"shape", AttributeDef::integers},
};
constexpr AttributeDef kReshape5Attributes[] = {
    {"allowzero", 0, {14}},
};

// The target's entries; from attribute `shape` before opset 5. nullopt: not known before the model runs.
std::optional<Dims> target_of(const Call& call) {
  if (call.version() < 5) {
    const auto* shape = call.ints("shape");
    return shape ? std::optional(Dims(shape->begin(), shape->end())) : std::nullopt;
  }
  const auto& elements = call.in(1).elements;
  return elements ? std::optional(*elements) : std::nullopt;
}

// Entries that are not known one by one: the rank is the length of the target, every size is free.
Result<Facts> infer_unknown_target(const Call& call, InferContext& context) {
  if (!call.has(1)) return refuse("reshape.shape", "the target shape is missing");
  TRY(const Dims target, call.dims(1));
  const auto rank = target.size() == 1 ? target[0].constant() : std::nullopt;
  if (rank == 1 && call.in(0).dims) {
    context.data_condition("reshape.count", "the target must be -1 or {}", shown(product(*call.in(0).dims)));
    return Facts{with_dims(call.in(0), {product(*call.in(0).dims)})};
  }
  Fact out = Fact::tensor_of_unknown_rank(call.in(0).dtype);
  if (rank && *rank >= 0 && *rank <= 64) {
    out.dims.emplace();
    for (int64_t i = 0; i < *rank; ++i) out.dims->push_back(context.fresh(call.in(1), "reshape"));
  }
  return Facts{out};
}

// The size that -1 stands for: the number of elements over the product of the other sizes, exact.
Result<Dim> infer_hole(InferContext& context, const Dims& data, const Dims& others, const Dims& target) {
  TRY_OK(context.require(Condition::ne(product(others), 0), "reshape.empty",
                         "the target {} must have no axis of 0 beside the -1 it infers (input {})", shown(target),
                         shown(data)));
  // What the two products share cancels, none of it being 0.
  Dim total = product(data), rest = 1;
  for (Dim d : others) {
    const auto quotient = exact_div(total, d);
    total = quotient ? *quotient : total;
    rest = quotient ? rest : rest * d;
  }
  if (auto quotient = context.assumptions().exact_div(total, rest)) return *quotient;
  TRY_OK(context.require(Condition::divisible(total, rest), "reshape.count",
                         "the target {} needs the {} elements of {} to be a multiple of {}", shown(target),
                         shown(product(data)), shown(data), shown(product(others))));
  return floordiv(total, rest);
}

// An entry that is 0 only in empty tensors: told apart, or refused where it is not the size of an empty axis.
Status settle_corner(InferContext& context, Dim entry, Dim copied, const Dims& target, size_t axis) {
  const Condition plain = Condition::ge(entry, 1);
  if (!context.proves(plain || Condition::eq(copied, 0))) context.tell_apart(plain);
  return context.require(plain || Condition::eq(copied, 0), "reshape.target",
                         "the target {} must not become 0 or negative at axis {}", shown(target), axis);
}

// The size an entry that is no plain number stands for: itself where it is positive, the input's size where it is 0.
Result<Dim> entry_size(InferContext& context, Dim entry, const Dims& data, const Dims& target, size_t axis) {
  const Condition zero = Condition::eq(entry, 0);
  TRY_OK(context.require(axis < data.size() ? Condition::ge(entry, 0) : Condition::ge(entry, 1), "reshape.target",
                         "the target {} must not become 0 or negative at axis {}", shown(target), axis));
  if (axis >= data.size() || context.proves(!zero || Condition::eq(data[axis], 0))) return entry;
  if (context.proves(zero)) return data[axis];
  Assumptions::Scope scope(context.assumptions());
  context.assumptions().assume(zero);
  if (!context.proves(Condition::eq(product(data), 0))) return select(zero, data[axis], entry);
  return Dim::unknown();
}

// The same in a shape where 0 may be meant. Where a 0 leaves the input without elements, the entry stays as it is: it
// copies an empty axis, or else is legal only beside another empty axis of the target, a corner that is refused.
// Unknown: only numbers tell which it is.
Result<Dim> own_size(InferContext& context, Dim entry, const Dims& data, const Dims& target, size_t axis,
                     bool zero_is_zero) {
  if (!zero_is_zero) {
    TRY(const Dim size, entry_size(context, entry, data, target, axis));
    if (!size.is_unknown()) return size;
  }
  const Dim copied = zero_is_zero ? entry : data[axis];
  const Condition plain = Condition::ge(entry, 1) || Condition::eq(copied, 0);
  const bool told = context.on_axes(entry + copied) && context.can_tell_apart(Condition::ge(entry, 1));
  if (!told && !context.proves(plain)) return Dim::unknown();
  TRY_OK(settle_corner(context, entry, copied, target, axis));
  return context.only_if(plain, entry);
}

Result<Facts> infer_reshape(const Call& call, InferContext& context) {
  TRY_OK(require_integers(call, 1));
  if (call.has(1) && call.in(1).dims && call.in(1).rank() != 1)
    return refuse("reshape.shape", "the target shape must be a list, it is {}", print(call.in(1)));
  const auto target = target_of(call);
  if (!target) return infer_unknown_target(call, context);
  TRY(const Dims data, call.dims(0));
  const bool zero_is_zero = call.version() >= 14 && call.i("allowzero") != 0;

  Dims out;
  std::optional<size_t> hole;
  for (size_t i = 0; i < target->size(); ++i) {
    Dim d = context.simplify((*target)[i]);
    if (d == Dim(-1)) {
      if (hole) return refuse("reshape.holes", "the target {} has more than one -1", shown(*target));
      hole = i;
      out.push_back(1);
      continue;
    }
    if (d == Dim(0) && !zero_is_zero) {
      if (i >= data.size())
        return refuse("reshape.zero", "the target {} copies axis {}, which {} does not have", shown(*target), i,
                      shown(data));
      d = data[i];
    } else if (!d.is_constant()) {
      const Condition is_size = Condition::ge(d, 0);
      TRY(d, own_size(context, d, data, *target, i, zero_is_zero));
      if (d.is_unknown()) {
        TRY_OK(context.require(Condition::opaque(), "reshape.target",
                               "the target {} must not become 0 or negative at axis {}", shown(*target), i));
        return infer_unknown_target(call, context);
      }
      // An entry that becomes -1 when the model runs stands for the rest.
      d = context.only_if(is_size, d);
    } else if (*d.constant() < 0) {
      return refuse("reshape.target", "the target {} has a negative size", shown(*target));
    }
    out.push_back(d);
  }
  if (hole) {
    TRY(out[*hole], infer_hole(context, data, out, *target));
  } else {
    const Dim total = product(data), rest = product(out);
    TRY_OK(context.require(Condition::eq(total, rest), "reshape.count",
                           "the target {0} must have as many elements as the input {2}: {1} and {3}", shown(*target),
                           shown(rest), shown(data), shown(total)));
  }
  return Facts{with_dims(call.in(0), std::move(out))};
}

Status require_count(const Call& call, KernelArgs& args) {
  const Tensor &data = args.in(0), &target = args.in(1);
  int64_t size = target.count() == 1 ? target.int_at(0) : -1;
  if (size == 0 && data.rank() > 0 && call.i("allowzero") == 0) size = data.dims()[0];
  if (size == -1 || size == data.count()) return {};
  return refuse("reshape.count", "the target [{}] has {} elements, the input has {}", size, size, data.count());
}

Status reference_reshape(const Call& call, KernelArgs& args) {
  const Tensor& data = args.in(0);
  // The only rank at which the sizes are known without the entries.
  if (call.version() >= 5 && args.out(0).rank() == 1) TRY_OK(require_count(call, args));
  args.out(0) = data.reshaped(args.out(0).dims());
  return {};
}

constexpr Kernel kReshapeKernels[] = {{"reference", reference_reshape}};

// Entries that are not known yet have to be read.
std::vector<ViewRule> view_reshape(const Call& call, const Facts& out) {
  return target_of(call) ? same_elements_view(call, out) : std::vector<ViewRule>();
}

}  // namespace

constexpr OpDef kReshape1{.name = "Reshape",
                          .since = 1,
                          .sig = {kReshapeIn1, kReshapeOut, "the same elements under other dims", kReshape1Attributes},
                          .infer = infer_reshape,
                          .kernels = kReshapeKernels,
                          .view = view_reshape};
constexpr OpDef kReshape5{.name = "Reshape",
                          .since = 5,
                          .sig = {kIn5, kReshapeOut, "the same elements under other dims", kReshape5Attributes},
                          .infer = infer_reshape,
                          .kernels = kReshapeKernels,
                          .view = view_reshape};

}  // namespace anyshape::ops
