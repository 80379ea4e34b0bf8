// The table of --query=on: which models and iterations profiling directories hold.
#pragma once

#include <filesystem>
#include <vector>

namespace aoe::tools {

void print_query(const std::vector<std::filesystem::path>& directories);

}  // namespace aoe::tools
