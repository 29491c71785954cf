#include <cmath>

#include "base/temporary.h"
#include "kernels/conv.h"
#include "kernels/conv_shape.h"
#include "kernels/wide.h"

namespace anyshape::kernels {
namespace {

constexpr size_t kMostAxes = 8;

// One cell of the input and how much of it is read.
struct Part {
  int64_t offset;
  double weight;
};

// The cells around a point, those inside of the input; none for a point that is no number.
void cells_around(const ConvShape& s, const Temporary<double>& point, Temporary<Part>& parts) {
  parts.assign(1, {0, 1.0});
  for (size_t a = 0; a < s.rank; ++a) {
    if (!(point[a] > -1 && point[a] < static_cast<double>(s.in[a]))) return parts.clear();
    const double low = std::floor(point[a]), above = point[a] - low;
    const auto first = static_cast<int64_t>(low);
    Temporary<Part> next;
    for (const Part& part : parts)
      for (int side = 0; side < 2; ++side) {
        const int64_t at = first + side;
        if (at >= 0 && at < s.in[a])
          next.push_back({part.offset * s.in[a] + at, part.weight * (side == 0 ? 1 - above : above)});
      }
    parts = std::move(next);
  }
}

template <class T>
class Sampler {
 public:
  Sampler(const DeformConv& deform, const ConvShape& s, const Tensor& x, const Tensor& offset, const Tensor& mask)
      : deform_(deform), s_(s), x_(x.as<T>().data()), offset_(offset.as<T>().data()) {
    if (mask) mask_ = mask.as<T>().data();
    position_.resize(s.rank);
    cell_.resize(s.rank);
    point_.resize(s.rank);
  }

  void read(int64_t n, int64_t channel, int64_t first, int64_t count, T* columns) {
    const int64_t in_group = s_.channels / deform_.conv.group, shared = s_.channels / deform_.offset_group;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < s_.kernel_plane; ++k) {
        int64_t group = -1;
        double scale = 1;
        for (int64_t c = 0; c < in_group; ++c) {
          if (const int64_t own = (channel + c) / shared; own != group) scale = place(n, group = own, k, first + i);
          const T* plane = x_ + (n * s_.channels + channel + c) * s_.in_plane;
          double value = 0;
          for (const Part& part : parts_) value += part.weight * static_cast<double>(plane[part.offset]);
          columns[(c * s_.kernel_plane + k) * count + i] = static_cast<T>(value * scale);
        }
      }
  }

 private:
  // Sets the cells that window cell k at this position reads; gives the mask there.
  double place(int64_t n, int64_t group, int64_t k, int64_t position) {
    unravel(position, s_.out, position_);
    unravel(k, s_.kernel, cell_);
    const Conv& conv = deform_.conv;
    const int64_t point = (n * deform_.offset_group + group) * s_.kernel_plane + k;
    for (size_t a = 0; a < s_.rank; ++a) {
      const int64_t axis = point * static_cast<int64_t>(s_.rank) + static_cast<int64_t>(a);
      const int64_t base = position_[a] * conv.strides[a] + cell_[a] * conv.dilations[a] - conv.pads[a];
      point_[a] = static_cast<double>(base) + static_cast<double>(offset_[axis * s_.out_plane + position]);
    }
    cells_around(s_, point_, parts_);
    return mask_ ? static_cast<double>(mask_[point * s_.out_plane + position]) : 1.0;
  }

  const DeformConv& deform_;
  const ConvShape& s_;
  const T *x_, *offset_, *mask_ = nullptr;
  Temporary<int64_t> position_, cell_;
  Temporary<double> point_;
  Temporary<Part> parts_;
};

}  // namespace

Status deform_conv(const DeformConv& deform, const Tensor& x, const Tensor& w, const Tensor& offset, const Tensor& bias,
                   const Tensor& mask, Tensor& out) {
  TRY(const ConvShape s, conv_shape(deform.conv, x, w, bias, out, false));
  TRY_OK(require_one_type({&x, &offset, &mask}));
  if (s.rank > kMostAxes) return unknown("kernel.rank", "no kernel for {} spatial axes", s.rank);
  const int64_t groups = deform.offset_group;
  if (groups < 1 || s.channels % groups != 0)
    return refuse("kernel.shape", "offset_group does not divide the channels");
  const int64_t points = s.batch * groups * s.kernel_plane * s.out_plane;
  if (offset.count() != points * static_cast<int64_t>(s.rank) || (mask && mask.count() != points))
    return refuse("kernel.shape", "the offset or the mask does not fit the output");
  return visit_real(x.dtype(), [&]<class T>(T) -> Status {
    Sampler<T> sampler(deform, s, x, offset, mask);
    convolve<T>(s, deform.conv.group, w.as<T>().data(), bias ? bias.as<T>().data() : nullptr,
                out.as_mutable<T>().data(), [&](int64_t n, int64_t channel, int64_t first, int64_t count, T* columns) {
                  sampler.read(n, channel, first, count, columns);
                });
    return {};
  });
}

}  // namespace anyshape::kernels
