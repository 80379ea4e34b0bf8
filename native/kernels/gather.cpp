// Gather, GatherElements, GatherND of all element types.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "native/kernel.h"
#include "native/sampling/indices.h"
#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/indices.h"

namespace aoe::native {
namespace {

/// Block i of the output is a copy of the bytes behind from(i).
template <typename From>
void copy_blocks(Threads& threads, std::int64_t count, std::size_t block_bytes, char* to,
                 const From& from) {
  const auto copy = [&](auto bytes) {
    threads.share(count, 2 + static_cast<double>(block_bytes) / 16,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end; ++i)
                      std::memcpy(to + static_cast<std::size_t>(i) * bytes, from(i), bytes);
                  });
  };
  switch (block_bytes) {  // single elements are no calls
    case 1:
      return copy(std::integral_constant<std::size_t, 1>());
    case 2:
      return copy(std::integral_constant<std::size_t, 2>());
    case 4:
      return copy(std::integral_constant<std::size_t, 4>());
    case 8:
      return copy(std::integral_constant<std::size_t, 8>());
    default:
      return copy(block_bytes);
  }
}

void run_gather(const Run& run) {
  const Tensor &data = run.inputs[0], &y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const std::size_t axis =
      reference::normalize_axis(run.attrs.get_int("axis", 0), run.shape(0).size());
  const reference::AxisView view = reference::view_axis(run.shape(0), axis);
  const std::vector<std::int64_t> indices = reference::read_indices(run.inputs[1], view.dim);
  const std::int64_t count = std::ssize(indices);
  if (view.inner == 1)
    return reference::visit_word(y.desc.dtype, [&]<typename Word>() {
      run.threads.share(view.outer, static_cast<double>(count),
                        [&](std::int64_t begin, std::int64_t end) {
                          Word* to = y.as<Word>() + begin * count;
                          for (std::int64_t o = begin; o < end; ++o)
                            for (const std::int64_t index : indices)
                              *to++ = data.as<Word>()[o * view.dim + index];
                        });
    });
  const std::size_t bytes =
      static_cast<std::size_t>(view.inner) * reference::element_bytes(data.desc.dtype);
  copy_blocks(run.threads, view.outer * count, bytes, y.as<char>(), [&](std::int64_t i) {
    const std::int64_t row = i / count * view.dim + indices[static_cast<std::size_t>(i % count)];
    return data.as<char>() + static_cast<std::size_t>(row) * bytes;
  });
}

/// Row after row of `length` indices; `step` from one element of the data to the next, `along` from one index to the next.
template <typename Word, typename Index>
void gather_row(const Word* from, const Index* indices, std::int64_t length, std::int64_t step,
                std::int64_t along, std::int64_t dim, Word* to) {
  for (std::int64_t i = 0; i < length; ++i)
    to[i] = from[i * step + (indices[i] + (indices[i] < 0 ? dim : 0)) * along];
}

/// The same of the last axis, none counted from its end.
template <typename Word, typename Index>
void gather_line(const Word* from, const Index* indices, std::int64_t length, Word* to) {
  for (std::int64_t i = 0; i < length; ++i) to[i] = from[indices[i]];
}

/// Rows of the indices along their last axis.
template <typename Index>
class Elements {
 public:
  explicit Elements(const Run& run) : run_(run), shape_(run.shape(1)) {
    const std::size_t axis = reference::normalize_axis(run.attrs.get_int("axis", 0), shape_.size());
    dim_ = run.shape(0)[axis];
    along_ = strides_[axis];
    strides_[axis] = 0;
  }

  template <typename Word>
  void run() const {
    const std::int64_t length = shape_.back();
    run_.threads.share(run_.output(0).elements() / length, static_cast<double>(length),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) gather<Word>(row);
                       });
  }

 private:
  template <typename Word>
  void gather(std::int64_t row) const {
    const std::int64_t length = shape_.back(), at = row * length;
    const Index* const indices = run_.inputs[1].as<Index>() + at;
    // Of an axis too long for its indices none is outside.
    const auto most = std::min<std::int64_t>(dim_, std::numeric_limits<Index>::max());
    const Pointing pointing = pointing_of(indices, length, static_cast<Index>(most));
    if (pointing == Pointing::kOutside)
      reference::read_indices(run_.inputs[1], dim_);  // names the one that is
    const Word* from = run_.inputs[0].as<Word>();
    for (std::size_t d = shape_.size() - 1; d-- > 0; row /= shape_[d])
      from += row % shape_[d] * strides_[d];
    Word* const to = run_.output(0).as<Word>() + at;
    if (strides_.back() == 0 && along_ == 1 && pointing == Pointing::kFromStart)
      gather_line(from, indices, length, to);
    else
      gather_row(from, indices, length, strides_.back(), along_, dim_, to);
  }

  const Run& run_;
  const Shape& shape_;
  reference::Strides strides_ = reference::dense_strides(run_.shape(0));  ///< none along the axis
  std::int64_t dim_ = 0, along_ = 0;
};

void run_gather_elements(const Run& run) {
  if (run.output(0).data == nullptr || run.output(0).elements() == 0) return;
  reference::visit_type<reference::IndexTypes>(run.inputs[1].desc.dtype, [&]<typename Index>() {
    const Elements<Index> elements(run);
    reference::visit_word(run.output(0).desc.dtype,
                          [&]<typename Word>() { elements.template run<Word>(); });
  });
}

/// Where the blocks begin that coordinates choose.
class Points {
 public:
  Points(const Run& run, std::size_t batch)
      : run_(run),
        one_batch_(run.shape(0).begin() + static_cast<std::ptrdiff_t>(batch), run.shape(0).end()) {
    const std::int64_t batches = reference::dim_product(run.shape(1), 0, batch);
    per_batch_ = std::max<std::int64_t>(1, count() / std::max<std::int64_t>(1, batches));
  }

  std::int64_t count() const {
    return reference::dim_product(run_.shape(1), 0, run_.shape(1).size() - 1);
  }
  std::int64_t block_elements() const {
    return reference::dim_product(one_batch_, static_cast<std::size_t>(depth()), one_batch_.size());
  }

  std::int64_t operator[](std::int64_t i) const {
    const std::int64_t* const at = run_.inputs[1].as<std::int64_t>() + i * depth();
    std::int64_t offset = i / per_batch_ * batch_elements_;
    bool is_inside = true;
    for (std::size_t d = 0; d < static_cast<std::size_t>(depth()); ++d) {
      const std::int64_t coordinate = at[d] + (at[d] < 0 ? one_batch_[d] : 0);
      is_inside &= (coordinate >= 0) & (coordinate < one_batch_[d]);
      offset += coordinate * strides_[d];
    }
    if (!is_inside)
      reference::read_block_indices(run_.inputs[1], one_batch_);  // names the one that is outside
    return offset;
  }

 private:
  std::int64_t depth() const { return run_.shape(1).back(); }

  const Run& run_;
  const Shape one_batch_;
  const reference::Strides strides_ = reference::dense_strides(one_batch_);
  const std::int64_t batch_elements_ = element_count(one_batch_);
  std::int64_t per_batch_ = 1;
};

void run_gather_nd(const Run& run) {
  const Tensor &data = run.inputs[0], &y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const Points points(run, static_cast<std::size_t>(run.attrs.get_int("batch_dims", 0)));
  const std::size_t element = reference::element_bytes(data.desc.dtype);
  copy_blocks(run.threads, points.count(),
              static_cast<std::size_t>(points.block_elements()) * element, y.as<char>(),
              [&](std::int64_t i) {
                return data.as<char>() + static_cast<std::size_t>(points[i]) * element;
              });
}

}  // namespace

void register_gather(KernelRegistry& registry) {
  registry.add({.type = "GatherV2",
                .supports = takes_all,
                .run = run_gather,
                .is_for_open_sizes = is_float32});
  registry.add({.type = "GatherElements", .supports = takes_all, .run = run_gather_elements});
  registry.add({.type = "GatherNd", .supports = takes_all, .run = run_gather_nd});
}

}  // namespace aoe::native
