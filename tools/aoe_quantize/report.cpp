// See report.h.
#include "tools/aoe_quantize/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/json_text.h"
#include "quantize/error_sum.h"
#include "tools/common/terminal_table.h"

namespace aoe::tools {
namespace {

using nlohmann::ordered_json;
using quantize::LayerError;
using quantize::OutputError;

constexpr int kSchemaVersion = 1;  // count up when a key changes its meaning or goes
constexpr std::size_t kMostListed = 5;

std::size_t float_count(const quantize::Quantised& result) {
  return static_cast<std::size_t>(std::ranges::count_if(result.layers, &LayerError::is_float));
}

ordered_json finite(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

void print_layers(std::ostream& out, const quantize::Quantised& result) {
  TerminalTable table("Layers by what their own bytes cost:",
                      {{"layer"}, {"type"}, {"error", Align::kRight}, {"computes in"}});
  // Whatever stays float32 is listed, and some more to compare with.
  std::size_t listed = 0;
  for (const LayerError& each : result.layers)
    if (each.is_float || listed++ < kMostListed)
      table.row({each.layer.node, each.layer.op_type, quantize::text_of_error(each.relative),
                 each.is_float ? "float32" : "int8"});
  table.print(out);
}

}  // namespace

void print_text(std::ostream& out, const quantize::Quantised& result, const std::string& path) {
  print_layers(out, result);
  out << fmt::format("\n{} of {} layers in int8, ranges by {} of {} samples\n",
                     result.layers.size() - float_count(result), result.layers.size(),
                     quantize::method_name(result.method), result.calibration_samples);
  const std::string where = result.held_back_samples > 0
                                ? fmt::format("{} samples held back", result.held_back_samples)
                                : "the sample that it was calibrated on";
  for (const OutputError& each : result.outputs)
    out << fmt::format(
        "output {}: error {} ({:.1f} dB), largest difference {:.3g}% of the range, same largest "
        "element in {:.1f}% of the rows; on {}\n",
        each.output, quantize::text_of_error(each.relative), each.snr_db, each.largest * 100,
        each.same_top * 100, where);
  out << path << '\n';
}

void print_json(std::ostream& out, const quantize::Quantised& result, const std::string& path) {
  ordered_json layers = ordered_json::array(), outputs = ordered_json::array();
  for (const LayerError& each : result.layers)
    layers.push_back({{"node", each.layer.node},
                      {"op_type", each.layer.op_type},
                      {"output", each.layer.output},
                      {"error", finite(each.relative)},
                      {"computes_in", each.is_float ? "float32" : "int8"}});
  for (const OutputError& each : result.outputs)
    outputs.push_back({{"output", each.output},
                       {"error", finite(each.relative)},
                       {"snr_db", finite(each.snr_db)},
                       {"largest_difference", finite(each.largest)},
                       {"same_largest", each.same_top}});
  const ordered_json all = {{"schema", "aoe.quantize"},
                            {"version", kSchemaVersion},
                            {"model", path},
                            {"method", quantize::method_name(result.method)},
                            {"calibration_samples", result.calibration_samples},
                            {"held_back_samples", result.held_back_samples},
                            {"int8_layers", result.layers.size() - float_count(result)},
                            {"outputs", outputs},
                            {"layers", layers}};
  out << json_text(all, 2) << '\n';
}

}  // namespace aoe::tools
