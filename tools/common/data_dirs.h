// Where the product's data files are: configurations and the built-in bank.
#pragma once

#include <filesystem>

namespace aoe::tools {

/// The directory that holds soc/ and tuning/: the variable AOE_CONFIG_DIR when it is set; beside an installed program
/// (<prefix>/share/aoe/configs); else where the sources are that this program was built from.
std::filesystem::path config_directory();

/// Root of the built-in bank, beside the configurations of an installation; may not exist.
std::filesystem::path built_in_bank_root();

}  // namespace aoe::tools
