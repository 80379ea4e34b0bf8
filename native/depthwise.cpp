// Plane by plane, in a copy with zeros around it, so that no tap needs bounds. Outputs are numbered as if that padding were part of their
// rows: each tap is then at the same distance from all of them, and short rows fill vectors. What is computed behind the end of a row is
// dropped. With strides the copy is taken apart by phase, so that what a tap reads for neighbouring outputs lies side by side.
#include "native/depthwise.h"

#include <algorithm>
#include <array>
#include <vector>

#include "native/wide.h"
#include "reference/window.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kShortRow = 64;   ///< outputs: several such rows are one
constexpr std::int64_t kStretch = 1024;  ///< outputs whose sums the first-level cache keeps

/// Of the window: where it reads for output 0 of a copied plane, and its number.
struct Tap {
  std::int64_t place, weight;
};

/// sums[i] = bias + all taps of the output that reads from[i] first; kVectors of them.
template <int kVectors>
AOE_WIDE void sum_taps(const std::vector<Tap>& taps, const float* from, const float* weights,
                       float bias, float* __restrict sums) {
  using Loose = Lanes<float>::Loose;
  Floats block[kVectors];
  for (int v = 0; v < kVectors; ++v) block[v] = Floats{} + bias;
  for (const Tap& tap : taps) {
    const auto* row = reinterpret_cast<const Loose*>(from + tap.place);
    const float weight = weights[tap.weight];
    for (int v = 0; v < kVectors; ++v) block[v] += weight * row[v];
  }
  for (int v = 0; v < kVectors; ++v) reinterpret_cast<Loose*>(sums)[v] = block[v];
}

/// `count` of them. Eight vectors are as many additions in flight as a core takes.
void sum_taps(const std::vector<Tap>& taps, const float* from, const float* weights, float bias,
              std::int64_t count, float* sums) {
  std::int64_t i = 0;
  const auto sum = [&]<int kVectors>() {
    for (; i + kVectors * kFloats <= count; i += kVectors * kFloats)
      sum_taps<kVectors>(taps, from + i, weights, bias, sums + i);
  };
  sum.template operator()<8>();
  sum.template operator()<4>();
  sum.template operator()<2>();
  sum.template operator()<1>();
  if (i == count) return;
  float last[kFloats];
  sum_taps<1>(taps, from + i, weights, bias, last);
  std::copy(last, last + (count - i), sums + i);
}

/// to[i] = from[i * stride]. Rows are short: a call for each takes longer than the copy.
AOE_WIDE inline void copy_row(const float* __restrict from, std::int64_t stride, std::int64_t count,
                              float* __restrict to) {
  if (stride != 1) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
    return;
  }
  using Loose = Lanes<float>::Loose;
  std::int64_t i = 0;
  for (; i + kFloats <= count; i += kFloats) {
    *reinterpret_cast<Loose*>(to + i) = *reinterpret_cast<const Loose*>(from + i);
    asm("" : "+r"(from));  // or compilers make a call of memcpy() of this loop
  }
  for (; i < count; ++i) to[i] = from[i];
}

/// With its padding.
std::int64_t padded(const reference::WindowAxis& axis) {
  return std::max(axis.pad_begin + axis.input, (axis.output - 1) * axis.stride + axis.reach());
}

class Depthwise {
 public:
  explicit Depthwise(const Run& run)
      : run_(run),
        window_(reference::window_of(run.attrs, run.shape(0),
                                     reference::kernel_of(run.attrs, run.shape(1)))),
        channels_(run.shape(0)[1]) {
    for (std::size_t i = window_.axes.size(); i-- > 0;) {
      const reference::WindowAxis& axis = window_.axes[i];
      steps_[i] = plane_;
      plane_ *= (padded(axis) + axis.stride - 1) / axis.stride;
      phases_ *= axis.stride;
    }
    if (w_.output < kShortRow) rows_ = std::max<std::int64_t>(1, kStretch / steps_[1]);
    find_taps();
    find_rows();
  }

  void run() const {
    const double cost = static_cast<double>(window_.output_elements()) *
                        (0.5 + 0.05 * static_cast<double>(window_.kernel_elements()));
    run_.threads.share(
        run_.shape(0)[0] * channels_, cost, [&](std::int64_t begin, std::int64_t end) {
          std::vector<float> copy(static_cast<std::size_t>(phases_ * plane_ + kFloats)),
              sums(static_cast<std::size_t>(rows_ * steps_[1]));
          for (std::int64_t plane = begin; plane < end; ++plane) {
            copy_plane(run_.inputs[0].as<float>() + plane * window_.input_elements(), copy.data());
            run_plane(plane, copy.data(), sums.data());
          }
        });
  }

 private:
  /// Where element `i` of an axis of a plane with its padding lies: its phase, and its number in that.
  struct Phased {
    std::int64_t phase, number;
  };
  static Phased phased(const reference::WindowAxis& axis, std::int64_t i) {
    return {i % axis.stride, i / axis.stride};
  }

  /// Of places of the three axes.
  std::int64_t place(Phased z, Phased y, Phased x) const {
    const std::int64_t phase = (z.phase * h_.stride + y.phase) * w_.stride + x.phase;
    return phase * plane_ + z.number * steps_[0] + y.number * steps_[1] + x.number;
  }

  void find_taps() {
    for (std::int64_t kd = 0; kd < d_.kernel; ++kd)
      for (std::int64_t kh = 0; kh < h_.kernel; ++kh)
        for (std::int64_t kw = 0; kw < w_.kernel; ++kw)
          taps_.push_back({place(phased(d_, kd * d_.dilation), phased(h_, kh * h_.dilation),
                                 phased(w_, kw * w_.dilation)),
                           static_cast<std::int64_t>(taps_.size())});
  }

  void find_rows() {
    for (std::int64_t z = 0; z < d_.input; ++z)
      for (std::int64_t y = 0; y < h_.input; ++y)
        for (std::int64_t x = 0; x < std::min(w_.stride, w_.input); ++x)
          rows_in_copy_.push_back(place(phased(d_, z + d_.pad_begin), phased(h_, y + h_.pad_begin),
                                        phased(w_, x + w_.pad_begin)));
  }

  /// What is no element of the input stays as it is: zeros.
  void copy_plane(const float* from, float* copy) const {
    const std::int64_t stride = std::min(w_.stride, w_.input);
    auto to = rows_in_copy_.begin();
    for (std::int64_t row = 0; row < d_.input * h_.input; ++row, from += w_.input)
      for (std::int64_t x = 0; x < stride; ++x)
        copy_row(from + x, w_.stride,
                 w_.stride == 1 ? w_.input : (w_.input - x + w_.stride - 1) / w_.stride,
                 copy + *to++);
  }

  void run_plane(std::int64_t plane, const float* copy, float* sums) const {
    const std::int64_t channel = plane % channels_;
    const float* weights = run_.inputs[1].as<float>() + channel * window_.kernel_elements();
    const float bias = run_.has_input(2) ? run_.inputs[2].as<float>()[channel] : 0;
    float* y = run_.output(0).as<float>() + plane * window_.output_elements();
    for (std::int64_t z = 0; z < d_.output; ++z)
      for (std::int64_t row = 0; row < h_.output; row += rows_) {
        const std::int64_t rows = std::min(rows_, h_.output - row);
        const float* from = copy + z * steps_[0] + row * steps_[1];
        if (rows == 1) {
          sum_taps(taps_, from, weights, bias, w_.output, y);
        } else {
          sum_taps(taps_, from, weights, bias, (rows - 1) * steps_[1] + w_.output, sums);
          for (std::int64_t i = 0; i < rows; ++i)
            copy_row(sums + i * steps_[1], 1, w_.output, y + i * w_.output);
        }
        y += rows * w_.output;
      }
  }

  const Run& run_;
  const reference::Window window_;
  const reference::WindowAxis &d_ = window_.depth(), &h_ = window_.height(), &w_ = window_.width();
  const std::int64_t channels_;
  std::array<std::int64_t, 3> steps_ =
      {};  ///< of a phase of the copy, from one element to the next along each axis
  std::int64_t plane_ = 1, phases_ = 1;  ///< elements of a phase; how many there are
  std::vector<Tap> taps_;
  std::vector<std::int64_t> rows_in_copy_;  ///< where each phase of each row of the input begins
  std::int64_t rows_ = 1;                   ///< of outputs at a time
};

}  // namespace

bool is_depthwise(const Run& run) {
  const Shape &x = run.shape(0), &weight = run.shape(1);
  const std::int64_t groups = run.attrs.get_int("group", 1);
  if (x[1] != groups || weight[0] != groups || weight[1] != 1) return false;
  // The copy of a plane is for what has more elements than zeros around them.
  constexpr std::int64_t kMostTimes = 8;
  const reference::Window window =
      reference::window_of(run.attrs, x, reference::kernel_of(run.attrs, weight));
  std::int64_t elements = 1;
  for (const reference::WindowAxis& axis : window.axes) {
    if (axis.pad_begin < 0) return false;
    elements *= padded(axis);
  }
  return elements <= kMostTimes * window.input_elements();
}

void run_depthwise(const Run& run) {
  if (run.output(0).data == nullptr || run.output(0).elements() == 0) return;
  Depthwise(run).run();
}

}  // namespace aoe::native
