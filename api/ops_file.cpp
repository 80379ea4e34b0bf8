// Reads the documented keys, and no others.
#include "api/ops_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_file.h"
#include "base/near_names.h"
#include "base/words.h"

namespace aoe::api {
using nlohmann::json;
namespace {

const std::vector<std::string> kKeys = {"tune_ops_name", "tune_ops_type", "feature",
                                        "tune_optimization_level"};
const std::vector<std::string> kFeatures = {"deeper_opat", "op_format", "nonhomo_split"};
const std::vector<std::string> kLevels = {"O1", "O2"};

class Reader {
 public:
  Reader(const json& content, std::string path) : content_(content), path_(std::move(path)) {
    if (!content.is_object()) fail("must be a JSON object");
    for (const auto& [key, value] : content.items()) check("unknown key", key, kKeys);
  }

  std::set<std::string> texts(const char* key) const {
    std::set<std::string> list;
    if (!content_.contains(key)) return list;
    const json& value = content_[key];
    const bool is_list_of_texts =
        value.is_array() &&
        std::ranges::all_of(value, [](const json& entry) { return entry.is_string(); });
    if (!is_list_of_texts) fail(quoted(key) + " must be a list of texts");
    for (const json& entry : value) list.insert(entry.get<std::string>());
    return list;
  }

  std::set<std::string> features() const {
    std::set<std::string> list = texts("feature");
    for (const std::string& feature : list) check("\"feature\": unknown", feature, kFeatures);
    return list;
  }

  std::string level() const {
    constexpr const char* kKey = "tune_optimization_level";
    if (!content_.contains(kKey)) return {};
    if (!content_[kKey].is_string()) fail(quoted(kKey) + " must be a text");
    auto level = content_[kKey].get<std::string>();
    check(quoted(kKey) + ": unknown", level, kLevels);
    return level;
  }

  [[noreturn]] void fail(const std::string& what, const std::string& advice = {}) const {
    throw Error(ExitCode::kUsage, what, path_, advice);
  }

 private:
  static std::string quoted(const std::string& key) { return "\"" + key + "\""; }

  void check(const std::string& what, const std::string& word,
             const std::vector<std::string>& known) const {
    if (std::ranges::find(known, word) != known.end()) return;
    const std::string meant = did_you_mean(near_names(word, known));
    fail(what + " " + quoted(word), meant.empty() ? "use " + joined(known, ", ") : meant);
  }

  const json& content_;
  std::string path_;
};

}  // namespace

OpsFile load_ops_file(const std::filesystem::path& path) {
  const json content = require_json_file(path, ExitCode::kUsage);
  const Reader reader(content, path.string());
  OpsFile file{.filter = {reader.texts("tune_ops_name"), reader.texts("tune_ops_type")},
               .level = reader.level(),
               .features = reader.features()};
  if (file.filter.empty() && file.level.empty() && file.features.empty())
    reader.fail("lists no operator", "fill tune_ops_name or tune_ops_type");
  return file;
}

}  // namespace aoe::api
