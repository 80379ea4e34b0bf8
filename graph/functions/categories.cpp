// Steps of ai.onnx.ml that tell categories apart: LabelEncoder, OneHotEncoder and CategoryMapper, of numbers and of texts.
#include <algorithm>
#include <numeric>
#include <set>

#include "graph/import/classical.h"
#include "graph/rewrite.h"
#include "reference/fail.h"
#include "reference/tensors/widen.h"

namespace aoe::graph {
namespace {

/// The keys, values or default of a LabelEncoder, one axis. Texts are their places.
struct Entries {
  Term values;
  bool are_texts = false;
};

Entries texts(FunctionCall& call, const std::vector<std::string>& list) {
  return {.values = call.ints(call.places(list)), .are_texts = true};
}

/// Of attribute `name`, a tensor; one of texts is read as a list.
Entries entries_in_tensor(FunctionCall& call, const std::string& name) {
  const auto* list = std::get_if<std::vector<std::string>>(&call.attrs().all().at(name));
  if (list != nullptr && !list->empty()) return texts(call, *list);
  const ConstantPtr tensor = call.attrs().get_tensor(name);
  const DataType dtype = tensor->desc().dtype;
  const std::int64_t count = element_count(tensor->desc().shape);
  if (dtype == DataType::kDouble) {
    const auto* from = static_cast<const double*>(tensor->data());
    return {.values = call.reals(dtype, {count}, {from, from + count})};
  }
  if (dtype == DataType::kFloat) {
    const auto* from = static_cast<const float*>(tensor->data());
    return {.values = call.floats({count}, {from, from + count})};
  }
  if (is_integer(dtype))
    return {.values = call.cast(call.ints(reference::to_int64s(tensor->view())), dtype)};
  throw NotExpressible{"its " + name + " is of another type"};
}

/// Of attribute `stem` + "_strings", "_floats", "_int64s" or "_tensor".
Entries entries_of(FunctionCall& call, const std::string& stem) {
  const auto& attrs = call.attrs();
  if (attrs.has(stem + "_tensor")) return entries_in_tensor(call, stem + "_tensor");
  if (attrs.has(stem + "_strings")) return texts(call, attrs.get_strings(stem + "_strings"));
  if (attrs.has(stem + "_floats")) {
    const std::vector<float> values = attrs.get_floats(stem + "_floats");
    return {.values = call.floats({std::ssize(values)}, values)};
  }
  if (attrs.has(stem + "_int64s")) return {.values = call.ints(attrs.get_ints(stem + "_int64s"))};
  reference::fail_model("it has no " + stem);
}

/// What is given for what is no key, one element.
Entries default_for(FunctionCall& call, const Entries& values) {
  const auto& attrs = call.attrs();
  if (attrs.has("default_tensor")) {
    const Entries given = entries_in_tensor(call, "default_tensor");
    if (given.are_texts != values.are_texts ||
        call.dtype(given.values) != call.dtype(values.values))
      reference::fail_model("its default_tensor is of another type than its values");
    if (call.dim(given.values, 0) != 1)
      reference::fail_model("its default_tensor is not one value");
    return given;
  }
  if (values.are_texts) return texts(call, {attrs.get_string("default_string", "_Unused")});
  const DataType dtype = call.dtype(values.values);
  if (is_integer(dtype))
    return {.values = call.cast(call.ints({attrs.get_int("default_int64", -1)}), dtype)};
  return {.values = call.reshape(call.number(attrs.get_float("default_float", -0.0F), dtype), {1})};
}

/// True where the element of x is a key: [..., keys]. NaN is one, too.
Term matches(FunctionCall& call, Term x, Term keys) {
  return is_key(call, call.op("Unsqueeze", {x, call.ints({-1})}), keys);
}

/// Whether a table from the first to the last is not much larger than they are.
bool are_dense(const std::vector<std::int64_t>& places) {
  constexpr std::int64_t kMostForEach = 64;
  const auto [first, last] = std::ranges::minmax(places);
  return last - first < kMostForEach * std::ssize(places);
}

/// The position of the first key that the element of x is; `keys.size()` where it is none. Places are found in a table.
Term position_by_place(FunctionCall& call, Term x, const std::vector<std::int64_t>& keys) {
  const auto [first, last] = std::ranges::minmax(keys);
  const std::int64_t none = std::ssize(keys);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(last - first + 3), none);
  for (std::int64_t i = none - 1; i >= 0; --i)
    positions[static_cast<std::size_t>(keys[static_cast<std::size_t>(i)] - first + 1)] = i;
  const Term before = call.number(static_cast<double>(first - 1), DataType::kInt64);
  const Term behind = call.number(static_cast<double>(last + 1), DataType::kInt64);
  const Term row = call.op("Clip", {x, before, behind}) - before;
  return call.op("Gather", {call.ints(positions), row});
}

Term position_by_number(FunctionCall& call, Term x, Term keys) {
  const Term found = call.cast(matches(call, x, keys), DataType::kInt8);
  reference::Attrs attrs = with_axis(-1);
  attrs.set("keepdims", std::int64_t{0});
  const Term position = call.op("ArgMax", {found}, attrs);
  attrs = {};
  attrs.set("keepdims", std::int64_t{0});
  const Term is_known =
      call.cast(call.op("ReduceMax", {found, call.ints({-1})}, attrs), DataType::kBool);
  const Term none = call.number(static_cast<double>(call.dim(keys, 0)), DataType::kInt64);
  return call.op("Where", {is_known, position, none});
}

/// For each element of x the value whose key it is.
void give_values(FunctionCall& call, const Entries& keys, const Entries& values,
                 const Entries& other) {
  const Term x = call.input(0);
  const std::int64_t count = call.dim(keys.values, 0);
  if (count != call.dim(values.values, 0) || count == 0)
    reference::fail_model(std::to_string(count) + " keys for " +
                          std::to_string(call.dim(values.values, 0)) + " values");
  if (call.is_text(x) != keys.are_texts)
    throw NotExpressible{keys.are_texts ? "its keys are texts, its input is none"
                                        : "its input is texts, its keys are none"};
  const bool has_table = keys.are_texts && are_dense(call.known_ints(keys.values));
  const Term position = has_table ? position_by_place(call, x, call.known_ints(keys.values))
                                  : position_by_number(call, x, keys.values);
  const Term result = call.op("Gather", {call.concat({values.values, other.values}, 0), position});
  if (values.are_texts) call.mark_as_text(result);
  call.give(0, result);
}

/// Texts to numbers or numbers to texts, by what the input is. Of several equal ones the last counts.
void give_other_kind(FunctionCall& call, const std::vector<std::string>& names,
                     std::vector<std::int64_t> numbers) {
  std::vector<std::int64_t> places = call.places(names);
  std::ranges::reverse(places);
  std::ranges::reverse(numbers);
  const Entries as_texts = {.values = call.ints(places), .are_texts = true},
                as_numbers = {.values = call.ints(numbers)};
  const bool is_text = call.is_text(call.input(0));
  const Entries& values = is_text ? as_numbers : as_texts;
  give_values(call, is_text ? as_texts : as_numbers, values, default_for(call, values));
}

void expand_label_encoder(FunctionCall& call) {
  if (call.attrs().has("classes_strings")) {
    // Before version 2. A text's number is its position in the list.
    const std::vector<std::string> names = call.attrs().get_strings("classes_strings");
    std::vector<std::int64_t> numbers(names.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    return give_other_kind(call, names, numbers);
  }
  const Entries keys = entries_of(call, "keys"), values = entries_of(call, "values");
  give_values(call, keys, values, default_for(call, values));
}

void expand_category_mapper(FunctionCall& call) {
  give_other_kind(call, call.attrs().get_strings("cats_strings"),
                  call.attrs().get_ints("cats_int64s"));
}

/// 1 for each number that does not come again behind it, else 0.
std::vector<float> last_of_equal(const std::vector<std::int64_t>& numbers) {
  std::vector<float> is_last(numbers.size(), 0);
  std::set<std::int64_t> seen;
  for (std::size_t i = numbers.size(); i-- > 0;)
    is_last[i] = seen.insert(numbers[i]).second ? 1 : 0;
  return is_last;
}

void expand_one_hot_encoder(FunctionCall& call) {
  const bool has_texts = call.attrs().has("cats_strings");
  const Term x = call.input(0);
  if (call.is_text(x) != has_texts)
    throw NotExpressible{has_texts ? "its categories are texts, its input is none"
                                   : "its input is texts, its categories are none"};
  if (call.attrs().get_int("zeros", 1) == 0)
    throw NotExpressible{"it fails on what is no category (zeros=0)"};
  const std::vector<std::int64_t> cats = has_texts
                                             ? call.places(call.attrs().get_strings("cats_strings"))
                                             : call.attrs().get_ints("cats_int64s");
  if (cats.empty()) reference::fail_model("it has no categories");
  const Term is_hot = matches(call, x, call.cast(call.ints(cats), call.dtype(x)));
  const Term hot = call.cast(is_hot, DataType::kFloat);
  const std::vector<float> counts = last_of_equal(cats);
  const bool are_all = std::ranges::find(counts, 0.0F) == counts.end();
  call.give(0, are_all ? hot : hot * call.floats({std::ssize(counts)}, counts));
}

}  // namespace

void register_categories(FunctionRegistry& registry) {
  registry.add({kClassical, "LabelEncoder", expand_label_encoder});
  registry.add({kClassical, "OneHotEncoder", expand_one_hot_encoder});
  registry.add({kClassical, "CategoryMapper", expand_category_mapper});
}

}  // namespace aoe::graph
