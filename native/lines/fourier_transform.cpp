// Stockham's passes, which need no reordering, of radix 4, 2 and odd ones (C. Van Loan, Computational Frameworks for the Fast Fourier
// Transform, 1.7 and 2.4); lengths of large prime factors as a convolution of a length that is a power of two (L. Bluestein, 1970).
#include "native/lines/fourier_transform.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <utility>

#include "base/held_at_fork.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

/// An odd radix costs its square; beyond, three transforms of at least twice the length cost less.
constexpr std::int64_t kLargestRadix = 61;

/// Fours first, whose passes are fewest; a rest that is prime or 1 at the end.
std::vector<std::int64_t> radices_of(std::int64_t length) {
  std::vector<std::int64_t> radices;
  for (const std::int64_t radix : {4, 2})
    for (; length % radix == 0; length /= radix) radices.push_back(radix);
  for (std::int64_t radix = 3; radix * radix <= length; radix += 2)
    for (; length % radix == 0; length /= radix) radices.push_back(radix);
  if (length > 1) radices.push_back(length);
  return radices;
}

struct Root {
  double cosine, sine;
};

/// Rows of `count` numbers, those of `x` `in` rows apart, those of `y` one: what a pass joins at one place.
struct PlaceRows {
  std::int64_t count, in;
};

AOE_WIDE void join_two(PlaceRows rows, const double* __restrict xr, const double* __restrict xi,
                       Root root, double* __restrict yr, double* __restrict yi) {
  const std::int64_t n = rows.count, second = rows.in * n;
  for (std::int64_t q = 0; q < n; ++q) {
    const double dr = xr[q] - xr[second + q], di = xi[q] - xi[second + q];
    yr[q] = xr[q] + xr[second + q];
    yi[q] = xi[q] + xi[second + q];
    yr[n + q] = dr * root.cosine - di * root.sine;
    yi[n + q] = dr * root.sine + di * root.cosine;
  }
}

AOE_WIDE void join_four(PlaceRows rows, const double* __restrict xr, const double* __restrict xi,
                        const Root (&roots)[4], double* __restrict yr, double* __restrict yi) {
  const std::int64_t n = rows.count, in = rows.in * n;
  const Root one = roots[1], two = roots[2], three = roots[3];
  for (std::int64_t q = 0; q < n; ++q) {
    const double sr = xr[q] + xr[2 * in + q], si = xi[q] + xi[2 * in + q];
    const double dr = xr[q] - xr[2 * in + q], di = xi[q] - xi[2 * in + q];
    const double tr = xr[in + q] + xr[3 * in + q], ti = xi[in + q] + xi[3 * in + q];
    // (x1 - x3) times -i
    const double ur = xi[in + q] - xi[3 * in + q], ui = xr[3 * in + q] - xr[in + q];
    const double ar = dr + ur, ai = di + ui, br = sr - tr, bi = si - ti, cr = dr - ur, ci = di - ui;
    yr[q] = sr + tr;
    yi[q] = si + ti;
    yr[n + q] = ar * one.cosine - ai * one.sine;
    yi[n + q] = ar * one.sine + ai * one.cosine;
    yr[2 * n + q] = br * two.cosine - bi * two.sine;
    yi[2 * n + q] = br * two.sine + bi * two.cosine;
    yr[3 * n + q] = cr * three.cosine - ci * three.sine;
    yi[3 * n + q] = cr * three.sine + ci * three.cosine;
  }
}

/// y += a * root + b * conj(root)
AOE_WIDE void add_pair(std::int64_t count, const double* __restrict ar, const double* __restrict ai,
                       const double* __restrict br, const double* __restrict bi, Root root,
                       double* __restrict yr, double* __restrict yi) {
  for (std::int64_t q = 0; q < count; ++q) {
    yr[q] += (ar[q] + br[q]) * root.cosine - (ai[q] - bi[q]) * root.sine;
    yi[q] += (ai[q] + bi[q]) * root.cosine + (ar[q] - br[q]) * root.sine;
  }
}

AOE_WIDE void turn(std::int64_t count, Root root, double* __restrict real,
                   double* __restrict imaginary) {
  for (std::int64_t q = 0; q < count; ++q) {
    const double r = real[q], i = imaginary[q];
    real[q] = r * root.cosine - i * root.sine;
    imaginary[q] = r * root.sine + i * root.cosine;
  }
}

AOE_WIDE void multiply_rows(std::int64_t rows, std::int64_t columns, const double* cosines,
                            const double* sines, ComplexRows x) {
  for (std::int64_t k = 0; k < rows; ++k)
    turn(columns, {cosines[k], sines[k]}, x.real + k * columns, x.imaginary + k * columns);
}

}  // namespace

/// x[k] * c[k], convolved with conj(c), times c: c[k] = exp(-pi i k^2 / length).
class FourierTransform::Chirp {
 public:
  explicit Chirp(std::int64_t length) : length_(length), inner_(power_of_two(2 * length - 1)) {
    for (std::int64_t k = 0; k < length; ++k) {
      const double turns = static_cast<double>(k * k % (2 * length)) / static_cast<double>(length);
      cosines_.push_back(std::cos(std::numbers::pi * turns));
      sines_.push_back(-std::sin(std::numbers::pi * turns));
    }
    const auto padded = static_cast<std::size_t>(inner_.length());
    filter_real_.resize(padded);
    filter_imaginary_.resize(padded);
    for (std::size_t k = 0; k < cosines_.size(); ++k)
      for (const std::size_t at : {k, (padded - k) % padded}) {
        filter_real_[at] = cosines_[k] / static_cast<double>(padded);
        filter_imaginary_[at] = -sines_[k] / static_cast<double>(padded);
      }
    std::vector<double> room(static_cast<std::size_t>(inner_.room(1)));
    inner_.run(1, {filter_real_.data(), filter_imaginary_.data()}, room.data());
  }

  std::int64_t room(std::int64_t columns) const {
    return 2 * inner_.length() * columns + inner_.room(columns);
  }

  void run(std::int64_t columns, ComplexRows x, double* room) const {
    const std::int64_t given = length_ * columns, padded = inner_.length() * columns;
    const ComplexRows line{room, room + padded};
    multiply_rows(length_, columns, cosines_.data(), sines_.data(), x);
    std::fill(std::copy_n(x.real, given, line.real), line.real + padded, 0.0);
    std::fill(std::copy_n(x.imaginary, given, line.imaginary), line.imaginary + padded, 0.0);
    inner_.run(columns, line, room + 2 * padded);
    multiply_rows(inner_.length(), columns, filter_real_.data(), filter_imaginary_.data(), line);
    inner_.run(columns, {line.imaginary, line.real}, room + 2 * padded);  // and back
    std::copy_n(line.real, given, x.real);
    std::copy_n(line.imaginary, given, x.imaginary);
    multiply_rows(length_, columns, cosines_.data(), sines_.data(), x);
  }

 private:
  static std::int64_t power_of_two(std::int64_t least) {
    std::int64_t power = 1;
    while (power < least) power *= 2;
    return power;
  }

  std::int64_t length_;
  FourierTransform inner_;
  std::vector<double> cosines_, sines_;
  std::vector<double> filter_real_, filter_imaginary_;
};

FourierTransform::FourierTransform(std::int64_t length)
    : length_(length), radices_(radices_of(length)) {
  if (!radices_.empty() && radices_.back() > kLargestRadix) {
    chirp_ = std::make_unique<const Chirp>(length);
    return;
  }
  for (std::int64_t k = 0; k < length; ++k) {
    const double angle =
        -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
    cosines_.push_back(std::cos(angle));
    sines_.push_back(std::sin(angle));
  }
}

FourierTransform::~FourierTransform() = default;

std::int64_t FourierTransform::room(std::int64_t columns) const {
  return chirp_ ? chirp_->room(columns) : 2 * length_ * columns;
}

void FourierTransform::run(std::int64_t columns, ComplexRows x, double* room) const {
  if (chirp_) return chirp_->run(columns, x, room);
  run_passes(columns, x, {room, room + length_ * columns});
}

/// Before a pass of `radix`, row s * p + q of `x` is number p of transform q of s, each of n = length / s; behind it there are
/// radix times as many of them.
void FourierTransform::run_passes(std::int64_t columns, ComplexRows x, ComplexRows other) const {
  const ComplexRows result = x;
  std::int64_t transforms = 1;
  for (const std::int64_t radix : radices_) {
    const std::int64_t places = length_ / transforms / radix, count = transforms * columns;
    const auto root = [&](std::int64_t turns) {  // of length / transforms
      const auto at = static_cast<std::size_t>(turns * transforms);
      return Root{cosines_[at], sines_[at]};
    };
    for (std::int64_t p = 0; p < places; ++p) {
      const std::int64_t from = p * count, to = radix * from;
      const PlaceRows rows{.count = count, .in = places};
      const double *const xr = x.real + from, *const xi = x.imaginary + from;
      double *const yr = other.real + to, *const yi = other.imaginary + to;
      if (radix == 4) {
        join_four(rows, xr, xi, {root(0), root(p), root(2 * p), root(3 * p)}, yr, yi);
      } else if (radix == 2) {
        join_two(rows, xr, xi, root(p), yr, yi);
      } else {
        for (std::int64_t j = 0; j < radix; ++j) {
          double *const real = yr + j * count, *const imaginary = yi + j * count;
          std::copy_n(xr, count, real);
          std::copy_n(xi, count, imaginary);
          for (std::int64_t k = 1; k <= radix / 2; ++k) {
            const std::int64_t a = k * places * count, b = (radix - k) * places * count;
            add_pair(count, xr + a, xi + a, xr + b, xi + b, root(j * k % radix * places), real,
                     imaginary);
          }
          turn(count, root(j * p), real, imaginary);
        }
      }
    }
    std::swap(x, other);
    transforms *= radix;
  }
  if (x.real == result.real) return;
  std::copy_n(x.real, length_ * columns, result.real);
  std::copy_n(x.imaginary, length_ * columns, result.imaginary);
}

std::shared_ptr<const FourierTransform> fourier_transform(std::int64_t length) {
  constexpr std::int64_t kMostKept = 1 << 18;  // lengths added up, 100 bytes each at the most
  static std::mutex mutex;
  static const HeldAtFork held(mutex, LockRung::kTexts);
  static std::map<std::int64_t, std::shared_ptr<const FourierTransform>> kept;
  static std::int64_t kept_lengths = 0;
  if (length > kMostKept) return std::make_shared<const FourierTransform>(length);
  const std::lock_guard lock(mutex);
  if (const auto found = kept.find(length); found != kept.end()) return found->second;
  auto made = std::make_shared<const FourierTransform>(length);
  if (kept_lengths + length > kMostKept) {
    kept.clear();
    kept_lengths = 0;
  }
  kept_lengths += length;
  return kept[length] = std::move(made);
}

}  // namespace aoe::native
