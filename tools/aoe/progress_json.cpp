// Lines of JSON.
#include "tools/aoe/progress_json.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace aoe::tools {
using nlohmann::ordered_json;
namespace {

const char* stage_name(std::int32_t stage) {
  switch (stage) {
    case AOE_STAGE_BASELINE:
      return "baseline";
    case AOE_STAGE_SEARCH:
      return "search";
    case AOE_STAGE_CONFIRM:
      return "confirm";
    default:
      return "done";
  }
}

ordered_json known_or_null(double value) {
  return value > 0 ? ordered_json(value) : ordered_json(nullptr);
}

}  // namespace

std::string progress_json(const AoeProgress& p) {
  const ordered_json line = {
      {"stage", stage_name(p.stage)},
      {"model", p.tuning_name},
      {"model_index", p.model_index},
      {"models", p.model_count},
      {"done", p.tasks_done},
      {"total", p.tasks_total},
      {"known", p.known_tasks},
      {"not_searched", p.not_searched},
      {"trials", p.trials},
      {"op", p.op_name},
      {"type", p.op_type},
      {"shape", p.shape},
      {"default_us", known_or_null(p.default_ns / 1e3)},
      {"best_us", known_or_null(p.best_ns / 1e3)},
      {"elapsed_s", p.elapsed_s},
      {"left_s", known_or_null(p.remaining_s)},
      {"limit_left_s", p.limit_left_s < 0 ? ordered_json(nullptr) : ordered_json(p.limit_left_s)},
      {"waiting", p.waiting}};
  return json_text(line, -1, BadUtf8::kReplaced);
}

}  // namespace aoe::tools
