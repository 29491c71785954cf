#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "base/utf8.h"
#include "kernels/elementwise.h"
#include "kernels/regex.h"
#include "kernels/text.h"
#include "ops/microsoft/common.h"
#include "ops/microsoft/kernel.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {

Status run_ms_gather_nd(const Call& call, KernelArgs& args) {
  return run_as(kGatherND11, 11, call, {args.in(0), args.in(1)}, args.out(0));
}
Status run_ms_grid_sample(const Call& call, KernelArgs& args) {
  return run_as(kGridSample16, 16, call, {args.in(0), args.in(1)}, args.out(0));
}
Status run_ms_pad(const Call& call, KernelArgs& args) {
  return run_as(kPad11, 13, call, {args.in(0), args.in(1), args.in(2)}, args.out(0));
}
Status run_ms_trilu(const Call& call, KernelArgs& args) {
  return run_as(kTrilu14, 14, call, {args.in(0), args.in(1)}, args.out(0));
}

Status run_ms_range(const Call& call, KernelArgs& args) {
  Tensor step = args.in(2);
  if (!step) {
    TRY(step, Tensor::allocate(args.in(0).dtype(), {}));
    const double one[] = {1};
    TRY_OK(kernels::from_reals(one, step));
  }
  return run_as(kRange11, 11, call, {args.in(0), args.in(1), std::move(step)}, args.out(0));
}

Status run_ms_expand_dims(const Call&, KernelArgs& args) {
  const Tensor &x = args.in(0), &at = args.in(1);
  if (!is_integer(at.dtype()) || at.count() != 1) return refuse("expanddims.axis", "the axis must be one integer");
  TRY(const size_t axis, normalize_axis(at.int_at(0), x.rank() + 1));
  auto dims = temporary(x.dims());
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), 1);
  if (!args.out(0)) {
    TRY(args.out(0), Tensor::allocate(x.dtype(), dims));
  }
  return put(x, args.out(0));
}

Status run_ms_cdist(const Call& call, KernelArgs& args) {
  const std::string_view metric = call.s("metric");
  if (metric != "sqeuclidean" && metric != "euclidean")
    return refuse("cdist.metric", "the metric {:?} does not exist", metric);
  TRY(const auto a, kernels::to_reals(args.in(0)));
  TRY(const auto b, kernels::to_reals(args.in(1)));
  const auto rows = static_cast<size_t>(args.out(0).dims()[0]), columns = static_cast<size_t>(args.out(0).dims()[1]);
  const auto width = static_cast<size_t>(args.in(0).dims()[1]);
  Temporary<double> out;
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (size_t k = 0; k < width; ++k) {
        const double difference = a[i * width + k] - b[j * width + k];
        sum += difference * difference;
      }
      out.push_back(metric == "euclidean" ? std::sqrt(sum) : sum);
    }
  return kernels::from_reals(out, args.out(0));
}

Status run_ms_complex_mul(const Call& call, KernelArgs& args) {
  TRY(const auto a, kernels::to_reals(args.in(0)));
  TRY(const auto b, kernels::to_reals(args.in(1)));
  const auto numbers = [](const Tensor& tensor) {
    return std::span<const int64_t>(tensor.dims()).first(tensor.rank() - 1);
  };
  const auto dims = numbers(args.out(0));
  kernels::BroadcastIndex ia(numbers(args.in(0)), dims), ib(numbers(args.in(1)), dims);
  const double sign = call.type() == "ComplexMulConj" ? -1 : 1;
  Temporary<double> out;
  for (int64_t n = 0; n < args.out(0).count() / 2; ++n, ia.next(), ib.next()) {
    const auto i = static_cast<size_t>(2 * ia.offset()), j = static_cast<size_t>(2 * ib.offset());
    out.push_back(a[i] * b[j] - sign * a[i + 1] * b[j + 1]);
    out.push_back(a[i + 1] * b[j] + sign * a[i] * b[j + 1]);
  }
  return kernels::from_reals(out, args.out(0));
}

namespace {

// In place, by Gauss and Jordan with the largest pivot of each column.
void invert(double* m, size_t n) {
  Temporary<double> inverse(n * n);
  for (size_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
  for (size_t c = 0; c < n; ++c) {
    size_t pivot = c;
    for (size_t r = c + 1; r < n; ++r)
      if (std::fabs(m[r * n + c]) > std::fabs(m[pivot * n + c])) pivot = r;
    for (size_t k = 0; k < n; ++k) {
      std::swap(m[c * n + k], m[pivot * n + k]);
      std::swap(inverse[c * n + k], inverse[pivot * n + k]);
    }
    const double scale = 1 / m[c * n + c];
    for (size_t k = 0; k < n; ++k) m[c * n + k] *= scale, inverse[c * n + k] *= scale;
    for (size_t r = 0; r < n; ++r) {
      const double factor = m[r * n + c];
      if (r == c || factor == 0) continue;
      for (size_t k = 0; k < n; ++k)
        m[r * n + k] -= factor * m[c * n + k], inverse[r * n + k] -= factor * inverse[c * n + k];
    }
  }
  std::copy(inverse.begin(), inverse.end(), m);
}

}  // namespace

Status run_ms_inverse(const Call&, KernelArgs& args) {
  TRY(Temporary<double> values, kernels::to_reals(args.in(0)));
  const auto n = static_cast<size_t>(args.in(0).dims().back());
  for (size_t start = 0; start < values.size(); start += n * n) invert(&values[start], n);
  return kernels::from_reals(values, args.out(0));
}

namespace {

// One sample of a box, whose edges are in parts of the image. In float: which pixel is nearest hangs on the last bit.
float sample_position(float from, float to, int64_t i, int64_t count, int64_t size) {
  const auto last = static_cast<float>(size - 1);
  if (count <= 1) return 0.5f * (from + to) * last;
  const float step = (to - from) * last / static_cast<float>(count - 1);
  return from * last + static_cast<float>(i) * step;
}

double pixel_at(std::span<const double> plane, int64_t width, double y, double x) {
  const auto top = static_cast<int64_t>(std::floor(y)), bottom = static_cast<int64_t>(std::ceil(y)),
             left = static_cast<int64_t>(std::floor(x)), right = static_cast<int64_t>(std::ceil(x));
  const auto at = [&](int64_t r, int64_t c) { return plane[static_cast<size_t>(r * width + c)]; };
  const double fx = x - std::floor(x), fy = y - std::floor(y);
  const double upper = at(top, left) + (at(top, right) - at(top, left)) * fx;
  const double lower = at(bottom, left) + (at(bottom, right) - at(bottom, left)) * fx;
  return upper + (lower - upper) * fy;
}

}  // namespace

Status run_ms_crop_and_resize(const Call& call, KernelArgs& args) {
  const Tensor &x = args.in(0), &images = args.in(2);
  const std::string_view mode = call.s("mode");
  if (mode != "bilinear" && mode != "nearest")
    return refuse("cropandresize.mode", "the mode {:?} does not exist", mode);
  if (!args.out(0)) return unknown("cropandresize.size", "the size is not known");
  if (!is_integer(images.dtype())) return refuse("dtype", "batch_indices are {}", name(images.dtype()));
  TRY(const auto values, kernels::to_reals(x));
  TRY(const auto boxes, kernels::to_reals(args.in(1)));
  const auto outside = static_cast<double>(call.f("extrapolation_value"));
  const int64_t channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
  Temporary<double> out(static_cast<size_t>(args.out(0).count()), outside);
  Status fine;
  for_each_index(args.out(0).dims(), [&](std::span<const int64_t> index, int64_t n) {
    const double* box = &boxes[static_cast<size_t>(4 * index[0])];
    const int64_t image = images.int_at(index[0]);
    if (image < 0 || image >= x.dims()[0]) {
      fine = refuse("cropandresize.rois", "a box lies in image {}", image);
      return;
    }
    const auto edge = [&](size_t k) { return static_cast<float>(box[k]); };
    double y = static_cast<double>(sample_position(edge(0), edge(2), index[2], args.out(0).dims()[2], height));
    double at = static_cast<double>(sample_position(edge(1), edge(3), index[3], args.out(0).dims()[3], width));
    if (!(y >= 0 && y <= static_cast<double>(height - 1) && at >= 0 && at <= static_cast<double>(width - 1))) return;
    if (mode == "nearest") y = std::round(y), at = std::round(at);
    const auto plane = std::span(values).subspan(static_cast<size_t>((image * channels + index[1]) * height * width));
    out[static_cast<size_t>(n)] = pixel_at(plane, width, y, at);
  });
  TRY_OK(fine);
  return kernels::from_reals(out, args.out(0));
}

namespace {

// The 32-bit hash of Austin Appleby's MurmurHash3.
uint32_t murmur(std::span<const std::byte> bytes, uint32_t seed) {
  const auto mixed = [](uint32_t k) { return std::rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u; };
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(bytes[i]); };
  uint32_t h = seed;
  const size_t whole = bytes.size() / 4 * 4;
  for (size_t i = 0; i < whole; i += 4) {
    h ^= mixed(byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | byte(i + 3) << 24);
    h = std::rotl(h, 13) * 5 + 0xe6546b64u;
  }
  uint32_t rest = 0;
  for (size_t i = bytes.size(); i-- > whole;) rest = rest << 8 | byte(i);
  h ^= mixed(rest);
  h ^= static_cast<uint32_t>(bytes.size());
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

}  // namespace

Status run_ms_murmur_hash(const Call& call, KernelArgs& args) {
  const Tensor& x = args.in(0);
  const auto seed = static_cast<uint32_t>(call.i("seed"));
  if (x.dtype() != DType::string && bits(x.dtype()) != 32 && bits(x.dtype()) != 64)
    return unknown("dtype", "no kernel for elements of type {}", name(x.dtype()));
  const auto size = static_cast<size_t>(bits(x.dtype()) / 8);
  for (int64_t i = 0; i < x.count(); ++i) {
    const uint32_t hash = x.dtype() == DType::string
                              ? murmur(std::as_bytes(std::span(x.strings()[static_cast<size_t>(i)])), seed)
                              : murmur(x.bytes().subspan(static_cast<size_t>(i) * size, size), seed);
    args.out(0).set_int(i, args.out(0).dtype() == DType::i32 ? static_cast<int32_t>(hash) : int64_t{hash});
  }
  return {};
}

// In order of first appearance.
Status run_ms_unique(const Call&, KernelArgs& args) {
  TRY(const auto values, kernels::to_reals(args.in(0)));
  Temporary<double> found;
  Temporary<int64_t> place, counts;
  std::unordered_map<double, size_t> seen;
  for (double value : values) {
    const auto [at, fresh] = seen.emplace(value, found.size());
    if (fresh) {
      found.push_back(value);
      counts.push_back(0);
    }
    place.push_back(static_cast<int64_t>(at->second));
    ++counts[at->second];
  }
  TRY(args.out(0), Tensor::allocate(args.in(0).dtype(), {static_cast<int64_t>(found.size())}));
  TRY_OK(kernels::from_reals(found, args.out(0)));
  args.out(1) = Tensor::of_ints({static_cast<int64_t>(place.size())}, place);
  args.out(2) = Tensor::of_ints({static_cast<int64_t>(counts.size())}, counts);
  return {};
}

namespace {

using Text = std::vector<char32_t>;

struct Tokens {
  std::vector<kernels::Regex> separators;
  std::optional<kernels::Regex> token;
  bool characters = false;
  size_t least = 0;
};

Result<Tokens> read_tokens(const Call& call) {
  Tokens how;
  const int64_t least = call.i("mincharnum");
  if (least < 1) return refuse("tokenizer.length", "mincharnum is {}", least);
  how.least = static_cast<size_t>(least);
  const auto* separators = call.strings("separators");
  if (const auto expression = call.s("tokenexp"); !expression.empty()) {
    TRY(how.token, kernels::Regex::compile(expression));
  } else if (separators && separators->size() == 1 && separators->front().empty()) {
    how.characters = true;
  } else {
    for (size_t i = 0; separators && i < separators->size(); ++i) {
      TRY(kernels::Regex one, kernels::Regex::compile((*separators)[i]));
      how.separators.push_back(std::move(one));
    }
    if (how.separators.empty()) return refuse("tokenizer.separators", "there are neither separators nor tokenexp");
  }
  return how;
}

std::vector<Text> matches(const kernels::Regex& token, const Text& text) {
  std::vector<Text> out;
  for (size_t at = 0; at < text.size();) {
    const auto match = token.find(text, at);
    if (!match) break;
    if (match->end > match->start)
      out.emplace_back(text.begin() + static_cast<ptrdiff_t>(match->start),
                       text.begin() + static_cast<ptrdiff_t>(match->end));
    at = std::max(match->end, match->start + 1);
  }
  return out;
}

std::vector<Text> pieces(const kernels::Regex& separator, const Text& text) {
  std::vector<Text> out;
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    const auto match = separator.find(text, at);
    if (!match) break;
    at = std::max(match->end, match->start + 1);
    if (match->end == match->start) continue;
    out.emplace_back(text.begin() + static_cast<ptrdiff_t>(start), text.begin() + static_cast<ptrdiff_t>(match->start));
    start = match->end;
  }
  out.emplace_back(text.begin() + static_cast<ptrdiff_t>(start), text.end());
  return out;
}

std::vector<std::string> tokens_of(const Tokens& how, std::string_view text) {
  std::vector<Text> parts{kernels::code_points(text)};
  if (how.token) parts = matches(*how.token, parts[0]);
  for (const kernels::Regex& separator : how.separators) {
    std::vector<Text> next;
    for (const Text& part : parts)
      for (Text& piece : pieces(separator, part)) next.push_back(std::move(piece));
    parts = std::move(next);
  }
  if (how.characters) {
    const Text all = std::move(parts[0]);
    parts.clear();
    for (char32_t code : all) parts.push_back({code});
  }
  std::vector<std::string> out;
  for (const Text& part : parts) {
    if (part.size() < std::max<size_t>(how.least, 1)) continue;
    std::string token;
    for (char32_t code : part) utf8_append(token, code);
    out.push_back(std::move(token));
  }
  return out;
}

}  // namespace

// Rows are as long as the longest, the others are filled up. Marks stand around the tokens of a row.
Status run_ms_tokenizer(const Call& call, KernelArgs& args) {
  const Tensor& x = args.in(0);
  if (x.dtype() != DType::string) return refuse("dtype", "Tokenizer takes strings, not {}", name(x.dtype()));
  TRY(const Tokens how, read_tokens(call));
  std::vector<std::vector<std::string>> rows;
  size_t longest = 0;
  for (const std::string& text : x.strings()) {
    rows.push_back(tokens_of(how, text));
    longest = std::max(longest, rows.back().size());
  }
  const bool mark = call.i("mark") != 0;
  for (auto& row : rows) {
    if (!mark) continue;
    row.insert(row.begin(), "\x02");
    row.push_back("\x03");
  }
  if (mark && !rows.empty()) longest += 2;
  std::vector<int64_t> dims = x.dims();
  dims.push_back(static_cast<int64_t>(longest));
  TRY(Tensor out, Tensor::allocate(DType::string, dims));
  const std::string_view pad = call.s("pad_value");
  int64_t at = 0;
  for (const auto& row : rows)
    for (size_t k = 0; k < longest; ++k) out.put_string(at++, k < row.size() ? std::string_view(row[k]) : pad);
  args.out(0) = std::move(out);
  return {};
}

}  // namespace anyshape::ops
