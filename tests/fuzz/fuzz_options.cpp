// The `profiler` object of acl.json and PROFILING_OPTIONS, both JSON: each input is taken for both.
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/nesting.h"
#include "profiler/collect/acl_config.h"
#include "profiler/collect/profiling_options.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aoe;
  const std::string text(fuzz::text_of(data, size));
  fuzz::read_or_refuse([&] { profiler::options_from_profiling_options(text); });
  if (!nests_little_json(text)) return 0;  // as aclInit() asks, too
  const nlohmann::json parsed = json_or_discarded(text);
  if (parsed.is_object()) fuzz::read_or_refuse([&] { profiler::options_from_acl_json(parsed); });
  return 0;
}
