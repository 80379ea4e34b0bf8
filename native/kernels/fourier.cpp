// DFT and STFT of lines that graph/passes/expand_fourier makes no products of: long ones, of prime lengths, and those of which only a
// run knows the length, the axis or the step.
#include "reference/products/fourier.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ceil_div.h"
#include "native/by_type.h"
#include "native/lines/fourier_transform.h"

namespace aoe::native {
namespace {

using Types = reference::TypeList<float, double>;

/// Lines that are transformed side by side: whole vectors, as long as they and their room stay in L2.
std::int64_t columns_of(std::int64_t length) {
  constexpr std::int64_t kBytes = 512 << 10, kBytesOfNumber = 4 * sizeof(double), kMost = 8;
  return std::clamp<std::int64_t>(kBytes / (kBytesOfNumber * length), 1, kMost);
}

/// Lines of complex numbers, column by column, and room for their transform.
class Columns {
 public:
  Columns(const FourierTransform& transform, std::int64_t count)
      : transform_(transform),
        count_(count),
        values_(static_cast<std::size_t>(2 * transform.length() * count)),
        room_(static_cast<std::size_t>(transform.room(count))) {}

  std::int64_t length() const { return transform_.length(); }
  double& real(std::int64_t row, std::int64_t column) { return rows().real[row * count_ + column]; }
  double& imaginary(std::int64_t row, std::int64_t column) {
    return rows().imaginary[row * count_ + column];
  }
  void clear() { std::ranges::fill(values_, 0.0); }
  void run(bool is_inverse) {
    ComplexRows x = rows();
    if (is_inverse) std::swap(x.real, x.imaginary);
    transform_.run(count_, x, room_.data());
  }

 private:
  ComplexRows rows() { return {values_.data(), values_.data() + length() * count_}; }

  const FourierTransform& transform_;
  std::int64_t count_;
  std::vector<double> values_, room_;
};

/// Calls work(columns, first line, lines) for all lines in blocks, on all threads.
template <typename Work>
void in_blocks(Threads& threads, std::int64_t lines, std::int64_t length, const Work& work) {
  const auto transform = fourier_transform(length);
  const std::int64_t width = std::min(columns_of(length), lines), blocks = ceil_div(lines, width);
  constexpr double kNsOfNumber = 10;
  threads.share(blocks, kNsOfNumber * static_cast<double>(width * length),
                [&](std::int64_t begin, std::int64_t end) {
                  Columns columns(*transform, width);
                  for (std::int64_t block = begin; block < end; ++block)
                    work(columns, block * width, std::min(width, lines - block * width));
                });
}

/// A real signal's other half mirrors the one that is given, and its ends have no imaginary part.
void mirror(Columns& columns, std::int64_t column) {
  const std::int64_t length = columns.length();
  columns.imaginary(0, column) = 0;
  for (std::int64_t k = length / 2 + 1; k < length; ++k) {
    columns.real(k, column) = columns.real(length - k, column);
    columns.imaginary(k, column) = -columns.imaginary(length - k, column);
  }
  if (length % 2 == 0) columns.imaginary(length / 2, column) = 0;
}

template <typename T>
void transform_lines(const Run& run) {
  const Tensor& y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const reference::DftLines dft =
      reference::dft_lines(run.attrs, run.version, run.inputs, y.desc.shape);
  const reference::AxisView& view = dft.samples;
  const std::int64_t given = std::min(dft.length, view.dim), parts = dft.is_to_real ? 1 : 2;
  const T* const x = run.inputs[0].as<T>();
  T* const to = y.as<T>();
  const double factor = dft.is_inverse ? 1 / static_cast<double>(dft.length) : 1;
  const auto begin_of = [&](std::int64_t line, std::int64_t dim) {
    return line / view.inner * dim * view.inner + line % view.inner;
  };
  in_blocks(run.threads, view.outer * view.inner, dft.length,
            [&](Columns& columns, std::int64_t first, std::int64_t count) {
              columns.clear();
              for (std::int64_t c = 0; c < count; ++c) {
                const T* const line = x + begin_of(first + c, view.dim) * dft.parts;
                for (std::int64_t k = 0; k < given; ++k) {
                  columns.real(k, c) = line[k * view.inner * dft.parts];
                  if (dft.parts == 2) columns.imaginary(k, c) = line[k * view.inner * 2 + 1];
                }
                if (dft.is_to_real) mirror(columns, c);
              }
              columns.run(dft.is_inverse);
              for (std::int64_t c = 0; c < count; ++c) {
                T* const line = to + begin_of(first + c, dft.bins) * parts;
                for (std::int64_t k = 0; k < dft.bins; ++k) {
                  line[k * view.inner * parts] = static_cast<T>(columns.real(k, c) * factor);
                  if (parts == 2)
                    line[k * view.inner * 2 + 1] = static_cast<T>(columns.imaginary(k, c) * factor);
                }
              }
            });
}

template <typename T>
void transform_frames(const Run& run) {
  const Tensor& y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const reference::StftFrames stft = reference::stft_frames(run.inputs, y.desc.shape);
  const T* const x = run.inputs[reference::kSignal].as<T>();
  const T* const window =
      run.has_input(reference::kWindow) ? run.inputs[reference::kWindow].as<T>() : nullptr;
  T* const to = y.as<T>();
  in_blocks(
      run.threads, stft.batch * stft.frames, stft.length,
      [&](Columns& columns, std::int64_t first, std::int64_t count) {
        columns.clear();
        for (std::int64_t c = 0; c < count; ++c) {
          const std::int64_t signal = (first + c) / stft.frames, frame = (first + c) % stft.frames;
          const T* const samples = x + (signal * stft.samples + frame * stft.step) * stft.parts;
          for (std::int64_t k = 0; k < stft.length; ++k) {
            const double weight = window == nullptr ? 1 : static_cast<double>(window[k]);
            columns.real(k, c) = weight * samples[k * stft.parts];
            if (stft.parts == 2) columns.imaginary(k, c) = weight * samples[k * 2 + 1];
          }
        }
        columns.run(/*is_inverse*/ false);
        T* line = to + first * stft.bins * 2;
        for (std::int64_t c = 0; c < count; ++c)
          for (std::int64_t k = 0; k < stft.bins; ++k) {
            *line++ = static_cast<T>(columns.real(k, c));
            *line++ = static_cast<T>(columns.imaginary(k, c));
          }
      });
}

}  // namespace

void register_fourier(KernelRegistry& registry) {
  registry.add({.type = "DFT",
                .supports = [](const Question& question) -> Result<void> {
                  return takes_types(question, Types{});
                },
                .run = by_type<Types>([]<typename T>(const Run& run) { transform_lines<T>(run); }),
                .skips_zero_factors = true});
  registry.add({.type = "STFT",
                .supports = [](const Question& question) -> Result<void> {
                  if (auto taken = takes_types(question, Types{}); !taken) return taken;
                  return takes_types(question, reference::kWindow, {question.inputs[0].dtype});
                },
                .run = by_type<Types>([]<typename T>(const Run& run) { transform_frames<T>(run); }),
                .skips_zero_factors = true});
}

}  // namespace aoe::native
