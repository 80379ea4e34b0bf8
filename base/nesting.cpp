// Walks with a stack of its own.
#include "base/nesting.h"

#include <cstdint>
#include <vector>

namespace aoe {

bool nests_little_json(std::string_view text) {
  int depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      if (c == '"') is_in_string = false;
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestDocument) return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

bool nests_little_cbor(std::string_view bytes) {
  constexpr std::uint64_t kUntilBreak = ~std::uint64_t{0};
  enum Major { kUnsigned, kNegative, kBytes, kText, kArray, kMap, kTag, kSimple };
  std::vector<std::uint64_t> open;  // items that are still to come, of each array and map
  std::size_t at = 0;
  const auto skip = [&](std::uint64_t count) {
    at = count > bytes.size() - at ? bytes.size() : at + static_cast<std::size_t>(count);
  };
  while (at < bytes.size()) {
    const auto head = static_cast<unsigned char>(bytes[at++]);
    const int major = head >> 5, info = head & 31;
    if (head == 0xff) {  // the end of something of indefinite length
      if (!open.empty() && open.back() == kUntilBreak) open.pop_back();
    } else {
      std::uint64_t argument = static_cast<std::uint64_t>(info);
      if (info >= 24 && info <= 27) {
        argument = 0;
        for (int i = 1 << (info - 24); i > 0 && at < bytes.size(); --i)
          argument = argument << 8 | static_cast<unsigned char>(bytes[at++]);
      }
      const bool is_indefinite = info == 31;
      if (major == kBytes || major == kText) {
        if (!is_indefinite) skip(argument);
        // Its pieces follow, each with a head of its own; none may be indefinite again.
        while (is_indefinite && at < bytes.size() &&
               static_cast<unsigned char>(bytes[at]) != 0xff) {
          const auto piece = static_cast<unsigned char>(bytes[at++]);
          if ((piece & 31) == 31 || piece >> 5 != major) return false;
          std::uint64_t length = piece & 31;
          if (length >= 24 && length <= 27) {
            const int width = 1 << (length - 24);
            length = 0;
            for (int i = width; i > 0 && at < bytes.size(); --i)
              length = length << 8 | static_cast<unsigned char>(bytes[at++]);
          }
          skip(length);
        }
        if (is_indefinite) skip(1);
      } else if (major == kArray || major == kMap || major == kTag) {
        std::uint64_t items = major == kTag ? 1 : argument;
        if (major == kMap && items < kUntilBreak / 2) items *= 2;
        if (is_indefinite) items = kUntilBreak;
        if (open.size() >= static_cast<std::size_t>(kDeepestDocument)) return false;
        open.push_back(items == 0 ? 1 : items);
        if (items != 0) continue;  // an empty one is done at once
      }
    }
    // One item ended, and with it whatever it was the last of.
    while (!open.empty() && open.back() != kUntilBreak && --open.back() == 0) open.pop_back();
  }
  return true;
}

}  // namespace aoe
