// See attention.h.
#include "reference/products/attention.h"

#include <algorithm>
#include <utility>

#include "base/size.h"
#include "reference/fail.h"

namespace aoe::reference {
namespace {

/// [offset, batch strides..., row stride, column stride]
MatrixView view_of(const Attrs& attrs, const std::string& name, std::size_t batch_rank) {
  const std::vector<std::int64_t> numbers = attrs.get_ints(name);
  if (numbers.size() != batch_rank + 3)
    fail_model("attribute '" + name + "' has " + std::to_string(numbers.size()) +
               " numbers, needs " + std::to_string(batch_rank + 3));
  if (std::ranges::any_of(numbers, [](std::int64_t n) { return n < 0; }))
    fail_model("attribute '" + name + "' is negative: " + to_string(numbers));
  MatrixView view{.offset = numbers[0], .batch = {numbers.begin() + 1, numbers.end() - 2}};
  view.row = numbers[numbers.size() - 2];
  view.column = numbers.back();
  return view;
}

std::vector<std::int64_t> to_ints(const MatrixView& view) {
  std::vector<std::int64_t> numbers = {view.offset};
  numbers.insert(numbers.end(), view.batch.begin(), view.batch.end());
  numbers.push_back(view.row);
  numbers.push_back(view.column);
  return numbers;
}

/// Every element of the output is written by one element of one batch.
bool covers_output(const AttentionShape& s) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps = {// stride, extent
                                                              {s.output.row, s.queries},
                                                              {s.output.column, s.value_depth}};
  for (std::size_t d = 0; d < s.batch.size(); ++d)
    steps.emplace_back(s.output.batch[d], s.batch[d]);
  std::erase_if(steps, [](const auto& step) { return step.second == 1; });
  std::ranges::sort(steps);
  std::int64_t covered = 1;
  for (const auto& [stride, extent] : steps) {
    if (stride != covered) return false;
    covered = checked_product(covered, extent);
  }
  return s.output.offset == 0 && covered == element_count(s.output_shape);
}

}  // namespace

std::int64_t AttentionShape::batches() const {
  return element_count(batch);
}

void set_score_attributes(const Attrs& attrs, AttentionShape& s) {
  s.scale = attrs.get_float("scale_value", 1.0f);
  const std::string mode = attrs.get_string("mask_mode", "add");
  if (mode != "add" && mode != "min") fail_model("attribute 'mask_mode' is '" + mode + "'");
  s.mask_mode = mode == "min" ? MaskMode::kMin : MaskMode::kAdd;
}

AttentionShape attention_shape(const Attrs& attrs, bool has_mask) {
  const std::vector<std::int64_t> sizes = attrs.get_ints("sizes");
  AttentionShape s{.batch = attrs.get_ints("batch")};
  if (sizes.size() != 4 || std::ranges::min(sizes) < 1 ||
      std::ranges::any_of(s.batch, [](std::int64_t n) { return n < 1; }))
    fail_model("attribute 'sizes' is " + to_string(sizes) + " of batches " + to_string(s.batch) +
               ", needs queries, keys, depth and depth of the values");
  s.queries = sizes[0];
  s.keys = sizes[1];
  s.depth = sizes[2];
  s.value_depth = sizes[3];
  s.query = view_of(attrs, "query_view", s.batch.size());
  s.key = view_of(attrs, "key_view", s.batch.size());
  s.value = view_of(attrs, "value_view", s.batch.size());
  if (has_mask) s.mask = view_of(attrs, "mask_view", s.batch.size());
  s.output = view_of(attrs, "output_view", s.batch.size());
  s.output_shape = attrs.get_ints("output_shape");
  set_score_attributes(attrs, s);
  if (!covers_output(s))
    fail_model("attribute 'output_view' does not cover the output " + to_string(s.output_shape));
  return s;
}

Attrs to_attrs(const AttentionShape& s, bool has_mask) {
  Attrs attrs;
  attrs.set("batch", s.batch);
  attrs.set("sizes", std::vector<std::int64_t>{s.queries, s.keys, s.depth, s.value_depth});
  attrs.set("query_view", to_ints(s.query));
  attrs.set("key_view", to_ints(s.key));
  attrs.set("value_view", to_ints(s.value));
  attrs.set("output_view", to_ints(s.output));
  attrs.set("output_shape", s.output_shape);
  attrs.set("scale_value", s.scale);
  if (!has_mask) return attrs;
  attrs.set("mask_view", to_ints(s.mask));
  attrs.set("mask_mode", std::string(s.mask_mode == MaskMode::kMin ? "min" : "add"));
  return attrs;
}

std::int64_t elements_reached(const MatrixView& view, const AttentionShape& shape,
                              std::int64_t rows, std::int64_t columns) {
  std::int64_t end = checked_sum(view.offset, 1);
  const auto reach = [&](std::int64_t extent, std::int64_t stride) {
    end = checked_sum(end, checked_product(extent - 1, stride));
  };
  reach(rows, view.row);
  reach(columns, view.column);
  for (std::size_t d = 0; d < shape.batch.size(); ++d) reach(shape.batch[d], view.batch[d]);
  return end;
}

}  // namespace aoe::reference
