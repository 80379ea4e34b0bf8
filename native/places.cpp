// A row of the output is made of stretches: neighbours that were neighbours before, borders, and what takes turns.
#include "native/places.h"

#include <algorithm>
#include <vector>

#include "reference/axes.h"
#include "reference/strided.h"
#include "reference/typed.h"

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
        stretches_(stretches_of(places.back())) {
    is_long_ = stretches_.size() * 3 <= places.back().size();
  }

  void write_rows(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t row = begin; row < end; ++row) write_row(row);
  }

 private:
  void write_row(std::int64_t row) const {
    const std::size_t last = out_.size() - 1;
    Word* to = to_ + row * out_[last];
    std::int64_t start = 0;
    for (std::size_t d = last; d-- > 0; row /= out_[d]) {
      const std::int64_t place = places_[d][static_cast<std::size_t>(row % out_[d])];
      if (place == kOutside) {
        std::fill_n(to, out_[last], padding_);
        return;
      }
      start += place * strides_[d];
    }
    if (is_long_)
      write_stretches(from_ + start, to);
    else
      write_each(from_ + start, to);
  }

  void write_stretches(const Word* from, Word* to) const {
    for (const Stretch& each : stretches_) {
      const std::int64_t count = each.end - each.begin;
      if (each.from == kOutside || each.step == 0)
        std::fill_n(to + each.begin, count, each.from == kOutside ? padding_ : from[each.from]);
      else
        std::copy_n(from + each.from, count, to + each.begin);
    }
  }

  void write_each(const Word* from, Word* to) const {
    for (const std::int64_t place : places_.back())
      *to++ = place == kOutside ? padding_ : from[place];
  }

  const reference::PlaceTables& places_;
  const Word padding_;
  const Word* from_;
  Word* to_;
  const Shape& out_;
  const reference::Strides strides_;
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
    const Shape& out = to.desc.shape;
    const Taker<Word> taker(places, static_cast<Word>(padding), from, to);
    threads.share(reference::dim_product(out, 0, out.size() - 1),
                  5 + static_cast<double>(out.back() * static_cast<std::int64_t>(sizeof(Word))) / 8,
                  [&](std::int64_t begin, std::int64_t end) { taker.write_rows(begin, end); });
  });
}

}  // namespace aoe::native
