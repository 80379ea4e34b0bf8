// See wide_numbers.h.
#include "tests/compiler/wide_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "reference/elements/typed.h"

namespace aoe::compiler {
namespace {

using tests::Random;

using WideTypes =
    reference::TypeList<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, double>;

bool is_wide(DataType dtype) {
  return size_bytes(dtype) >= 4 && dtype != DataType::kFloat;
}

/// How many leading inputs hold elements that results are made of, and how many bits of integers there are left for sums and products.
struct Wide {
  std::size_t inputs = 0;
  int spared_of_32 = 0, spared_of_64 = 0;
};

Wide wide_of(const Task& task) {
  static const std::set<std::string> kOrders = {"ArgMaxV2", "ArgMin", "TopKV2", "ReduceMax",
                                                "ReduceMin"};
  const reference::OpCall& op = task.anchor();
  if (const std::size_t moved = reference::moved_inputs(op.type, task.inputs.size()); moved > 0)
    return {.inputs = moved};
  if (kOrders.contains(op.type)) return {.inputs = 1};
  const bool is_sum = op.type.starts_with("Reduce") || op.type.starts_with("Cum");
  if (is_sum) return {.inputs = 1, .spared_of_32 = 4, .spared_of_64 = 20};
  if (reference::is_elementwise(task.op))
    return {.inputs = task.inputs.size(), .spared_of_32 = 4, .spared_of_64 = 33};
  return {};
}

template <typename T>
T wide_number(T given, int spared_bits, Random& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return given * (1 + static_cast<T>(random.below(1 << 20)) * T{0x1p-52});
  } else {
    const std::uint64_t bits = std::uint64_t{random.below(std::size_t{1} << 32)} << 32 |
                               random.below(std::size_t{1} << 32);
    // Of every length, so that small ones are among them.
    const std::size_t most = 8 * sizeof(T) - static_cast<std::size_t>(spared_bits);
    const int kept = 1 + static_cast<int>(random.below(most));
    return static_cast<T>(static_cast<std::int64_t>(bits) >> (64 - kept));
  }
}

}  // namespace

std::vector<std::string> with_wide_type(std::vector<std::string> words, Random& random) {
  static constexpr const char* kTypes[] = {":int32", ":uint32", ":int64", ":uint64", ":float64"};
  const std::string type = words[0].substr(0, words[0].find('@'));
  std::size_t left = reference::moved_inputs(type, words.size());
  const bool has_types = std::ranges::any_of(words, [](const std::string& word) {
    const auto colon = word.find(':');
    return word.starts_with("in=") && colon != std::string::npos && word.substr(colon) != ":const";
  });
  if (left == 0 || has_types || !random.one_in(3)) return words;
  const std::string wide = random.pick(kTypes);
  for (std::string& word : words) {
    const bool is_tensor = word.starts_with("in=") && word.size() > 3 && word[3] != '[';
    if (is_tensor && left > 0) word += wide, --left;
  }
  return words;
}

void widen_numbers(ShapeLine& line, Random& random) {
  const Wide wide = wide_of(line.task);
  for (std::size_t i = 0; i < line.inputs.size(); ++i) {
    if (!line.inputs[i] || line.task.inputs[i].constant) continue;
    const Tensor values = line.inputs[i]->view();
    const DataType dtype = values.desc.dtype;
    if (!is_wide(dtype) || (dtype != DataType::kDouble && i >= wide.inputs)) continue;
    const int spared_bits = size_bytes(dtype) == 4 ? wide.spared_of_32 : wide.spared_of_64;
    reference::visit_type<WideTypes>(dtype, [&]<typename T>() {
      for (std::int64_t k = 0; k < element_count(values.desc.shape); ++k)
        values.as<T>()[k] = wide_number(values.as<T>()[k], spared_bits, random);
    });
  }
}

}  // namespace aoe::compiler
