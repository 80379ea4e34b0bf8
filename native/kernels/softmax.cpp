// SoftmaxV2 and LogSoftmaxV2 of float32 whose sizes are known when the model runs.
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "native/exponential.h"
#include "native/kernel.h"
#include "reference/arithmetic.h"
#include "reference/axes.h"

namespace aoe::native {
namespace {

/// The largest; NaN where there is one.
float largest_of(const std::vector<float>& line) {
  return std::accumulate(line.begin(), line.end(), -std::numeric_limits<float>::infinity(),
                         reference::maximum<float>);
}

AOE_WIDE void write_exponentials(const float* from, float largest, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = exp_down(from[i] - largest);
}

class Softmax {
 public:
  explicit Softmax(const Run& run)
      : run_(run),
        is_log_(run.call.type == "LogSoftmaxV2"),
        view_(reference::softmax_view(run.attrs, run.version, run.shape(0))) {}

  void run() const {
    if (run_.output(0).data == nullptr || run_.output(0).elements() == 0) return;
    const double cost = 3 * static_cast<double>(view_.dim);
    run_.threads.share(view_.outer * view_.inner, cost, [&](std::int64_t begin, std::int64_t end) {
      const auto size = static_cast<std::size_t>(view_.dim);
      std::vector<float> line(size), exponentials(size);
      for (std::int64_t i = begin; i < end; ++i)
        run_line(i / view_.inner * view_.dim * view_.inner + i % view_.inner, line, exponentials);
    });
  }

 private:
  void run_line(std::int64_t first, std::vector<float>& line,
                std::vector<float>& exponentials) const {
    const float* from = run_.inputs[0].as<float>() + first;
    float* to = run_.output(0).as<float>() + first;
    for (std::int64_t k = 0; k < view_.dim; ++k)
      line[static_cast<std::size_t>(k)] = from[k * view_.inner];
    const float largest = largest_of(line);
    if (!std::isfinite(largest)) {  // as the reference: NaN, but for what infinity is far from
      for (std::int64_t k = 0; k < view_.dim; ++k)
        to[k * view_.inner] = std::numeric_limits<float>::quiet_NaN();
      return;
    }
    write_exponentials(line.data(), largest, view_.dim, exponentials.data());
    // Sums of many numbers keep their digits in float64.
    const double sum = std::accumulate(exponentials.begin(), exponentials.end(), 0.0);
    const auto factor = static_cast<float>(1 / sum), log_sum = static_cast<float>(std::log(sum));
    for (std::int64_t k = 0; k < view_.dim; ++k) {
      const auto at = static_cast<std::size_t>(k);
      to[k * view_.inner] = is_log_ ? (line[at] - largest) - log_sum : exponentials[at] * factor;
    }
  }

  const Run& run_;
  const bool is_log_;
  const reference::AxisView view_;
};

void run_softmax(const Run& run) {
  Softmax(run).run();
}

}  // namespace

void register_softmax(KernelRegistry& registry) {
  for (const char* type : {"SoftmaxV2", "LogSoftmaxV2"})
    registry.add({.type = type,
                  .supports = takes_floats(1),
                  .run = run_softmax,
                  .is_for_open_sizes = always});
}

}  // namespace aoe::native
