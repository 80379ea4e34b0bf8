// See json_file.h.
#include "base/json_file.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_text.h"

namespace aoe {

nlohmann::json read_json_file(const std::filesystem::path& path, ExitCode code) {
  return json_or_discarded(read_file(path, code));
}

nlohmann::json require_json_file(const std::filesystem::path& path, ExitCode code) {
  nlohmann::json content = read_json_file(path, code);
  if (content.is_discarded()) throw Error(code, "is not valid JSON", path.string());
  return content;
}

}  // namespace aoe
