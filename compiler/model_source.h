// Which model is meant, and how it is to be read and lowered: what the flags of aoe and atc say of it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "compiler/op_precision.h"
#include "graph/analysis/float16_rounding.h"
#include "graph/import/gears.h"
#include "graph/import/onnx_import.h"

namespace aoe::compiler {

/// Of all products.
struct Precision {
  bool allow_bf16 = false;  ///< where it pays and the machine has it
  bool allow_fp16 = false;  ///< besides, with sums of short blocks in float16
  graph::Float16Rounding float16 = graph::Float16Rounding::kOff;
  bool is_within_budget = false;  ///< of `float16`: products that do most harm stay float32

  friend bool operator==(const Precision&, const Precision&) = default;
};

struct ModelSource {
  std::filesystem::path path;  ///< of `bytes` and `graph`: what messages call the model
  std::shared_ptr<const std::string> bytes = nullptr;   ///< instead of the file
  std::shared_ptr<const graph::Graph> graph = nullptr;  ///< instead: as an import would give it
  graph::ImportOptions import = {};
  std::optional<graph::GearRequest> gears = {};  ///< with them, import.input_shapes is empty
  Precision precision = {};
  OpPrecision op_precision = {};
  std::set<std::string> disabled_passes = {};
};

}  // namespace aoe::compiler
