// Rendering of Error as one line.
#include "base/error.h"

#include <utility>

#include "base/utf8.h"

namespace aoe {
namespace {
std::string one_line(const std::string& what, const std::string& where, const std::string& advice) {
  std::string text = where.empty() ? what : where + ": " + what;
  if (!advice.empty()) text += "; " + advice;
  return printable(std::move(text));
}
}  // namespace

Error::Error(ExitCode code, std::string what, std::string where, std::string advice)
    : std::runtime_error(one_line(what, where, advice)),
      code_(code),
      where_(std::move(where)),
      advice_(std::move(advice)) {
}

}  // namespace aoe
