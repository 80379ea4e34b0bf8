// Declaring and reading flags: the few kinds of values that all programs have, and --threads.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>

namespace aoe::options {

namespace po = boost::program_options;

/// Throws Error(kUsage) about a flag; `flag` is written as the user writes it.
[[noreturn]] void reject(const std::string& flag, const std::string& what,
                         const std::string& advice = {});

// For add_options(): a text without and with a default, and a number with one.
po::typed_value<std::string>* text(const char* value_name);
po::typed_value<std::string>* text_or(const char* fallback, const char* value_name);
po::typed_value<int>* number_or(int fallback, const char* value_name);

/// The flag's text; empty when it was not given.
std::string text_of(const po::variables_map& flags, const std::string& name);

/// Of a flag that is "on" or "off". Error(kUsage): something else.
bool is_on(const po::variables_map& flags, const std::string& name);

/// The value as the user would write it, whatever its type is.
std::string value_text(const po::variable_value& value);

/// Error(kUsage) on numbers that the libraries take without a word: below 0 where there is no sign, and no numbers at all. Before
/// the values are converted.
void check_numbers(const po::parsed_options& parsed, const po::options_description& flags);

/// The error's text. Its own what() never returns where a word of the user reads like a placeholder of the library's
/// messages, "%value%" or "%option%": each is replaced by a text that holds it again.
std::string text_of(po::error& error);

/// What may have been meant, or where to look.
std::string advice_for_unknown(std::string given, const po::options_description& known);

/// Error(kUsage) unless it is in the range; nullopt when it was not given.
std::optional<int> number_of(const po::variables_map& flags, const std::string& name, int least,
                             int most);

/// Declares --threads; `meaning` says what for.
void add_threads_flag(po::options_description& flags, const char* meaning);

/// The value of --threads, or of --aicore_num where the program has that; 0 when it was not given.
int threads_of(const po::variables_map& flags);

}  // namespace aoe::options
