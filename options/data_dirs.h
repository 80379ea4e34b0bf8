// Where the files of the product are: configurations, the built-in bank, the program that measures.
#pragma once

#include <filesystem>
#include <string>

namespace aoe::options {

/// The directory that holds soc/ and tuning/: the variable AOE_CONFIG_DIR when it is set; beside the installed program or library
/// (<prefix>/share/aoe/configs); else where the sources are that this was built from.
std::filesystem::path config_directory();

/// Root of the built-in bank, beside the configurations of an installation; may not exist.
std::filesystem::path built_in_bank_root();

/// The running program's file, also where /proc is missing.
std::filesystem::path this_program();

/// `relative` in one of the directories above the program or shared library that this code is part of; empty when it is in none.
std::filesystem::path installed_path(const std::filesystem::path& relative);

}  // namespace aoe::options
