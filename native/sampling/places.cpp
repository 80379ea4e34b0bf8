// A row of the output is made of stretches: neighbours that were neighbours before, borders, and what takes turns.
#include "native/sampling/places.h"

#include <algorithm>
#include <vector>

#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/strided.h"

namespace aoe::native {
namespace {

using reference::kOutside;

/// Elements [begin, end) of a row.
struct Stretch {
  std::int64_t begin, end;
  std::int64_t from;  ///< of the first; kOutside: padding
  std::int64_t step;  ///< 1: a copy, 0: one element repeated
};

bool continues(const Stretch& stretch, std::int64_t next, std::int64_t step) {
  if (stretch.from == kOutside || next == kOutside) return stretch.from == next;
  return next == stretch.from + (stretch.end - stretch.begin) * step;
}

std::vector<Stretch> stretches_of(const std::vector<std::int64_t>& places) {
  std::vector<Stretch> all;
  for (std::int64_t i = 0; i < std::ssize(places); ++i) {
    const std::int64_t place = places[static_cast<std::size_t>(i)];
    if (!all.empty() && all.back().end - all.back().begin == 1)
      all.back().step = place == all.back().from ? 0 : 1;
    if (!all.empty() && continues(all.back(), place, all.back().step))
      ++all.back().end;
    else
      all.push_back({i, i + 1, place, 1});
  }
  return all;
}

bool is_identity(const std::vector<std::int64_t>& table, std::int64_t dim) {
  if (std::ssize(table) != dim) return false;
  for (std::int64_t i = 0; i < dim; ++i)
    if (table[static_cast<std::size_t>(i)] != i) return false;
  return true;
}

/// Elements that move together: those of the last axes that stay as they are, as long as rows of them are short.
struct Units {
  std::size_t axes = 0;  ///< in front of them
  std::int64_t elements = 1;
};
Units units_of(const reference::PlaceTables& places, const Shape& from, std::int64_t most) {
  Units units{.axes = places.size()};
  while (units.axes > 1 && is_identity(places[units.axes - 1], from[units.axes - 1]) &&
         units.elements * from[units.axes - 1] < most)
    units.elements *= from[--units.axes];
  return units;
}

template <typename Word>
class Taker {
 public:
  Taker(const reference::PlaceTables& places, Word padding, const Tensor& from, const Tensor& to)
      : places_(places),
        padding_(padding),
        from_(from.as<Word>()),
        to_(to.as<Word>()),
        out_(to.desc.shape),
        strides_(reference::dense_strides(from.desc.shape)),
        units_(units_of(places, from.desc.shape, kRowBytes / sizeof(Word))),
        stretches_(stretches_of(places[last()])) {
    is_long_ = stretches_.size() * 3 <= places[last()].size();
  }

  std::int64_t rows() const { return reference::dim_product(out_, 0, last()); }
  double row_bytes() const {
    return static_cast<double>(row_elements() * static_cast<std::int64_t>(sizeof(Word)));
  }

  void write_rows(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t row = begin; row < end; ++row) write_row(row);
  }

 private:
  static constexpr std::int64_t kRowBytes = 4096;

  std::size_t last() const { return units_.axes - 1; }  ///< the axis that rows are of
  std::int64_t row_elements() const { return out_[last()] * units_.elements; }

  void write_row(std::int64_t row) const {
    Word* to = to_ + row * row_elements();
    std::int64_t start = 0;
    for (std::size_t d = last(); d-- > 0; row /= out_[d]) {
      const std::int64_t place = places_[d][static_cast<std::size_t>(row % out_[d])];
      if (place == kOutside) {
        std::fill_n(to, row_elements(), padding_);
        return;
      }
      start += place * strides_[d];
    }
    if (is_long_)
      write_stretches(from_ + start, to);
    else if (units_.elements == 1)
      write_each(from_ + start, to);
    else
      write_units(from_ + start, to);
  }

  void write_stretches(const Word* from, Word* to) const {
    const std::int64_t unit = units_.elements;
    for (const Stretch& each : stretches_) {
      const std::int64_t count = each.end - each.begin;
      Word* const begin = to + each.begin * unit;
      if (each.from == kOutside)
        std::fill_n(begin, count * unit, padding_);
      else if (each.step != 0)
        std::copy_n(from + each.from * unit, count * unit, begin);
      else if (unit == 1)
        std::fill_n(begin, count, from[each.from]);
      else
        for (std::int64_t i = 0; i < count; ++i)
          std::copy_n(from + each.from * unit, unit, begin + i * unit);
    }
  }

  void write_each(const Word* from, Word* to) const {
    for (const std::int64_t place : places_[last()])
      *to++ = place == kOutside ? padding_ : from[place];
  }

  void write_units(const Word* from, Word* to) const {
    const std::int64_t unit = units_.elements;
    for (const std::int64_t place : places_[last()]) {
      if (place == kOutside)
        std::fill_n(to, unit, padding_);
      else
        std::copy_n(from + place * unit, unit, to);
      to += unit;
    }
  }

  const reference::PlaceTables& places_;
  const Word padding_;
  const Word* from_;
  Word* to_;
  const Shape& out_;
  const reference::Strides strides_;
  const Units units_;
  const std::vector<Stretch> stretches_;
  bool is_long_;
};

}  // namespace

void take_places(const reference::PlaceTables& places, std::uint64_t padding, const Tensor& from,
                 const Tensor& to, Threads& threads) {
  if (to.elements() == 0) return;
  reference::visit_word(to.desc.dtype, [&]<typename Word>() {
    if (places.empty()) {
      *to.as<Word>() = *from.as<Word>();
      return;
    }
    const Taker<Word> taker(places, static_cast<Word>(padding), from, to);
    threads.share(taker.rows(), 5 + taker.row_bytes() / 8,
                  [&](std::int64_t begin, std::int64_t end) { taker.write_rows(begin, end); });
  });
}

}  // namespace aoe::native
