// The op table of a model: what profiles say about its ops.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "runtime/om/om.h"

namespace aoe::runtime {

struct OpTableContext {
  std::uint32_t model_id = 0;
  std::string om_path;  ///< empty: from memory
  int threads = 1;      ///< that it runs on
};

/// Of all gears (one, or several of one model), whose steps follow each other as their events count them. The JSON that profiler/raw/raw_reader.h describes, one entry in "ops" for each step. Bytes and operations are analytic;
/// of tensors with unknown dimensions they count nothing.
nlohmann::json op_table(std::span<const Om* const> gears, const OpTableContext& context);

}  // namespace aoe::runtime
