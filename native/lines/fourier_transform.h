// FourierTransform: discrete Fourier transforms of one length in O(n log n), of columns side by side, in float64.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace aoe::native {

/// Real and imaginary parts apart: row k holds number k of each column.
struct ComplexRows {
  double* real;
  double* imaginary;
};

/// Immutable, so that threads may share one.
class FourierTransform {
 public:
  explicit FourierTransform(std::int64_t length);  ///< at least 1
  ~FourierTransform();
  FourierTransform(const FourierTransform&) = delete;
  FourierTransform& operator=(const FourierTransform&) = delete;

  std::int64_t length() const { return length_; }
  /// Doubles that run() needs besides.
  std::int64_t room(std::int64_t columns) const;

  /// x[k] becomes the sum over n of x[n] * exp(-2 pi i k n / length), in place. Exchange the parts of `x` for the opposite sign.
  void run(std::int64_t columns, ComplexRows x, double* room) const;

 private:
  class Chirp;
  void run_passes(std::int64_t columns, ComplexRows x, ComplexRows other) const;

  std::int64_t length_;
  std::vector<std::int64_t> radices_;    ///< their product is the length
  std::vector<double> cosines_, sines_;  ///< of -2 pi k / length
  std::unique_ptr<const Chirp> chirp_;   ///< where the length has a large prime factor
};

/// That of the length; kept for the next run of the same, as its table takes longer than the transforms of a few lines. Thread-safe.
std::shared_ptr<const FourierTransform> fourier_transform(std::int64_t length);

}  // namespace aoe::native
