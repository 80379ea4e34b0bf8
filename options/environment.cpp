// Reads and checks environment variables.
#include "options/environment.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "base/to_number.h"

namespace aoe::options {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::optional<int> number_variable(const char* name, int least, int most) {
  const auto text = variable(name);
  if (!text) return std::nullopt;
  const auto value = to_number<int>(*text);
  if (!value || *value < least || *value > most)
    throw Error(ExitCode::kUsage,
                "'" + *text + "' is not a number from " + std::to_string(least) + " to " +
                    std::to_string(most),
                name);
  return value;
}

int compile_threads() {
  constexpr int kDefault = 8;
  constexpr int kMost = 32;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::min(number_variable("TE_PARALLEL_COMPILER", 1, kMost).value_or(kDefault), cores);
}

}  // namespace aoe::options
