#include "base/utc.h"

#include <ctime>

namespace aoe {

std::string utc_text(std::chrono::system_clock::time_point moment) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(moment);
  std::tm utc{};
  char text[32];
  std::strftime(text, sizeof text, "%FT%TZ", ::gmtime_r(&seconds, &utc));
  return text;
}

}  // namespace aoe
