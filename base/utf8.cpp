// Table 3-7 of the Unicode standard, as ranges of the second byte.
#include "base/utf8.h"

#include <algorithm>

namespace aoe {
namespace {

struct Form {
  unsigned char first_least, first_most;    ///< of the first byte
  unsigned char second_least, second_most;  ///< of the second
  std::size_t more;                         ///< bytes behind the first
};
constexpr Form kForms[] = {
    {0x00, 0x7f, 0x00, 0xff, 0}, {0xc2, 0xdf, 0x80, 0xbf, 1}, {0xe0, 0xe0, 0xa0, 0xbf, 2},
    {0xe1, 0xec, 0x80, 0xbf, 2}, {0xed, 0xed, 0x80, 0x9f, 2}, {0xee, 0xef, 0x80, 0xbf, 2},
    {0xf0, 0xf0, 0x90, 0xbf, 3}, {0xf1, 0xf3, 0x80, 0xbf, 3}, {0xf4, 0xf4, 0x80, 0x8f, 3}};

const Form* form_of(unsigned char first) {
  for (const Form& form : kForms)
    if (form.first_least <= first && first <= form.first_most) return &form;
  return nullptr;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  for (std::size_t i = 0; i < bytes.size();) {
    const Form* const form = form_of(at(i));
    if (form == nullptr || bytes.size() - i <= form->more) return false;
    for (std::size_t k = 1; k <= form->more; ++k) {
      const unsigned char least = k == 1 ? form->second_least : 0x80;
      const unsigned char most = k == 1 ? form->second_most : 0xbf;
      if (at(i + k) < least || at(i + k) > most) return false;
    }
    i += form->more + 1;
  }
  return true;
}

namespace {

bool begins_letter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

/// Where the letter of that number begins; the end where there are fewer.
std::size_t begin_of(std::string_view text, std::size_t letter) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (begins_letter(text[i]) && letter-- == 0) return i;
  return text.size();
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_letter));
}

std::string_view utf8_head(std::string_view text, std::size_t letters) {
  return text.substr(0, begin_of(text, letters));
}

std::string_view utf8_tail(std::string_view text, std::size_t letters) {
  const std::size_t all = utf8_length(text);
  return text.substr(begin_of(text, all - std::min(all, letters)));
}

std::string printable(std::string text) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto at = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    // U+0080 to U+009F, of which some terminals take U+009B for an escape, are 0xc2 and a byte.
    const bool is_long =
        at(i) == 0xc2 && i + 1 < text.size() && at(i + 1) >= 0x80 && at(i + 1) < 0xa0;
    if (is_long) ++i;
    text[kept++] = is_long || at(i) < 0x20 || at(i) == 0x7f ? ' ' : text[i];
  }
  text.resize(kept);
  return text;
}

}  // namespace aoe
