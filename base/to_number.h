// Numbers that are the whole of a text.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace aoe {

/// nullopt where the text is no number, has anything beside it, or is one that T does not hold.
template <typename T>
std::optional<T> to_number(std::string_view text, [[maybe_unused]] int base = 10) {
  T number{};
  const char* const end = text.data() + text.size();
  std::from_chars_result result{};
  if constexpr (std::floating_point<T>)
    result = std::from_chars(text.data(), end, number);
  else
    result = std::from_chars(text.data(), end, number, base);
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return number;
}

}  // namespace aoe
