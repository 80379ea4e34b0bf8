// Pairs of texts through Boost.Program_options, as if they stood in a configuration file.
#include "api/option_list.h"

#include <set>

#include "api/settings.h"
#include "base/error.h"
#include "base/utf8.h"
#include "options/flags.h"

namespace aoe::api {
namespace po = boost::program_options;
namespace {

po::parsed_options parsed(const OptionList& options, const po::options_description& table) {
  po::parsed_options result(&table);
  for (const auto& [key, value] : options) {
    if (table.find_nothrow(key, false) == nullptr)
      throw Error(ExitCode::kUsage, "unknown option '" + key + "'", {},
                  options::advice_for_unknown(key, table));
    po::option option(key, {value});
    option.original_tokens = {key, value};
    result.options.push_back(std::move(option));
  }
  options::check_numbers(result, table);
  return result;
}

}  // namespace

OptionList copy_options(const AoeOption* options, size_t count) {
  if (options == nullptr && count > 0)
    throw Error(ExitCode::kUsage, "is a null pointer", "options");
  OptionList list;
  std::set<std::string> keys;
  for (size_t i = 0; i < count; ++i) {
    const std::string where = "options[" + std::to_string(i) + "]";
    if (options[i].key == nullptr || options[i].value == nullptr)
      throw Error(ExitCode::kUsage, "has a null pointer", where);
    list.emplace_back(options[i].key, options[i].value);
    if (!is_utf8(list.back().first) || !is_utf8(list.back().second))
      throw Error(ExitCode::kUsage, "is not UTF-8 text", where);
    if (!keys.insert(list.back().first).second)
      throw Error(ExitCode::kUsage, "'" + list.back().first + "' is given twice", where);
  }
  return list;
}

po::variables_map parse_options(const OptionList& first, const OptionList& second) {
  po::options_description table;
  add_flags(table);
  add_library_options(table);
  po::variables_map values;
  try {
    po::store(parsed(first, table), values);
    po::store(parsed(second, table), values);
    po::notify(values);
  } catch (po::error& e) {
    throw Error(ExitCode::kUsage, options::text_of(e));
  }
  return values;
}

}  // namespace aoe::api
