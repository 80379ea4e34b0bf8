// What msprof says of itself, on standard output.
#pragma once

#include <iostream>
#include <string>

namespace aoe::tools {

inline void say(const std::string& line) {
  std::cout << "[INFO] " << line << std::endl;
}

}  // namespace aoe::tools
