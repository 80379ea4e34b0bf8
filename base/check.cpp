// The failing side of AOE_CHECK.
#include "base/check.h"

namespace aoe {

void fail_check(const char* condition, const std::string& message, std::source_location where) {
  throw InternalError(std::string(where.file_name()) + ":" + std::to_string(where.line()) +
                      ": internal error: " + message + " [" + condition + "]");
}

}  // namespace aoe
