// Takes the tuning section out.
#include "tools/atc/debug_split.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/json_text.h"
#include "runtime/om/geared_om.h"

namespace aoe::tools {

void split_debug(const std::filesystem::path& om, const std::filesystem::path& output) {
  runtime::GearedOm model = runtime::GearedOm::load(om);
  nlohmann::json debug = nlohmann::json::array();
  for (runtime::Om& gear : model.oms)
    debug.push_back(std::exchange(gear.tuning, nlohmann::json::object()));
  const auto with = [&](const char* suffix) {
    std::filesystem::path path = output;
    return path += suffix;
  };
  write_file_atomically(
      with(".dbg"), json_text(nlohmann::json{{"om", om.filename().string()}, {"tuning", debug}}, 2,
                              BadUtf8::kReplaced) +
                        "\n");
  write_file_atomically(with(".exeom"), model.serialize());
}

}  // namespace aoe::tools
