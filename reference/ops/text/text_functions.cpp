// StringConcat, StringSplit and RegexFullMatch.
#include <algorithm>

#include "reference/fail.h"
#include "reference/tensors/broadcast.h"
#include "reference/tensors/strided.h"
#include "reference/texts/regex.h"
#include "reference/texts/texts.h"

namespace aoe::reference {
namespace {

// ---- StringConcat ----

std::vector<TensorDesc> infer_string_concat(const InferContext& context) {
  return {
      {.dtype = DataType::kInt64, .shape = broadcast_shapes(context.shape(0), context.shape(1))}};
}

void compute_string_concat(const OpContext& context) {
  const Shape& shape = context.outputs[0].desc.shape;
  const auto first = texts_of(context.inputs[0]), second = texts_of(context.inputs[1]);
  TextPool& pool = text_pool();
  auto* to = context.outputs[0].as<std::int64_t>();
  const auto join = [&](auto offsets, auto steps, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      to[offsets[2] + i * steps[2]] =
          pool.place_of(*first[static_cast<std::size_t>(offsets[0] + i * steps[0])] +
                        *second[static_cast<std::size_t>(offsets[1] + i * steps[1])]);
  };
  for_each_row<3>(shape,
                  {broadcast_strides(context.inputs[0].desc.shape, shape),
                   broadcast_strides(context.inputs[1].desc.shape, shape), dense_strides(shape)},
                  join);
}

double concat_steps(const CostContext& cost) {
  return steps_of_texts(cost.output_elements(), 2 * most_letters());
}

// ---- StringSplit ----

constexpr std::string_view kSpaces = " \t\n\v\f\r";

/// Between spaces, any number of which are one. Behind the last split the rest stays as it is.
std::vector<std::string> split_at_spaces(std::string_view text, std::size_t most) {
  std::vector<std::string> parts;
  const std::size_t end = text.find_last_not_of(kSpaces) + 1;
  text = text.substr(0, end);
  for (std::size_t at = text.find_first_not_of(kSpaces); at < text.size();) {
    const std::size_t stop =
        parts.size() < most ? text.find_first_of(kSpaces, at) : std::string_view::npos;
    parts.emplace_back(text.substr(at, stop - at));
    at = text.find_first_not_of(kSpaces, stop);
  }
  return parts;
}

std::vector<std::string> split_at(std::string_view text, const std::string& delimiter,
                                  std::size_t most) {
  if (delimiter.empty()) return split_at_spaces(text, most);
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  std::size_t begin = 0;
  for (std::size_t found = 0;
       parts.size() < most && (found = text.find(delimiter, begin)) != std::string_view::npos;
       begin = found + delimiter.size())
    parts.emplace_back(text.substr(begin, found - begin));
  parts.emplace_back(text.substr(begin));
  return parts;
}

TextRows split_rows(const Attrs& attrs, const Tensor& tensor) {
  const std::string delimiter = attrs.get_string("delimiter", "");
  const std::int64_t given = attrs.get_int("maxsplit", -1);
  const std::size_t most = given < 0 ? std::string::npos : static_cast<std::size_t>(given);
  TextRows rows;
  for (const std::string* text : texts_of(tensor))
    rows.rows.push_back(split_at(*text, delimiter, most));
  return rows;
}

std::vector<TensorDesc> infer_string_split(const InferContext& context) {
  Shape parts = context.shape(0);
  parts.push_back(has_texts(context, 0) ? split_rows(context.attrs, context.inputs[0]).longest()
                                        : kUnknownDim);
  return {{.dtype = DataType::kInt64, .shape = std::move(parts)},
          {.dtype = DataType::kInt64, .shape = context.shape(0)}};
}

void compute_string_split(const OpContext& context) {
  const TextRows rows = split_rows(context.attrs, context.inputs[0]);
  if (context.has_output(0)) rows.store(context.outputs[0]);
  if (context.has_output(1))
    std::ranges::transform(rows.rows, context.outputs[1].as<std::int64_t>(),
                           [](const auto& row) { return std::ssize(row); });
}

// ---- RegexFullMatch ----

Regex expression_of(const Attrs& attrs) {
  return regex(attrs.get_string("pattern", ""), Match::kFirst);
}

std::vector<TensorDesc> infer_regex_full_match(const InferContext& context) {
  expression_of(context.attrs);  // a wrong one ends the import
  return {{.dtype = DataType::kBool, .shape = context.shape(0)}};
}

void compute_regex_full_match(const OpContext& context) {
  const Regex expression = expression_of(context.attrs);
  std::ranges::transform(
      texts_of(context.inputs[0]), context.outputs[0].as<bool>(),
      [&](const std::string* text) { return re2::RE2::FullMatch(*text, *expression); });
}

double match_steps(const CostContext& cost) {
  const Regex expression = expression_of(cost.attrs);
  return compiling_steps(*expression) + steps_through_letters(cost) +
         cost.input_elements(0) * matching_steps(*expression, most_letters());
}

}  // namespace

void register_text_functions(OpRegistry& registry) {
  registry.add({.type = "StringConcat",
                .versions = {20},
                .signature = {"l l"},
                .kind = OpKind::kSearch,
                .infer = infer_string_concat,
                .compute = compute_string_concat,
                .work = concat_steps,
                .min_inputs = 2});
  registry.add({.type = "StringSplit",
                .versions = {20},
                .signature = {"l", "delimiter=string maxsplit=long"},
                .kind = OpKind::kSearch,
                .infer = infer_string_split,
                .compute = compute_string_split,
                .work = steps_through_letters,
                .infers_from_values = true});
  registry.add({.type = "RegexFullMatch",
                .versions = {20},
                .signature = {"l", "!pattern=string"},
                .kind = OpKind::kSearch,
                .infer = infer_regex_full_match,
                .compute = compute_regex_full_match,
                .work = match_steps});
}

}  // namespace aoe::reference
