// What a quantisation gave, for people and for programs.
#pragma once

#include <iosfwd>
#include <string>

#include "quantize/quantizer.h"

namespace aoe::tools {

void print_text(std::ostream& out, const quantize::Quantised& result, const std::string& path);

/// docs/aoe_quantize.md has the keys.
void print_json(std::ostream& out, const quantize::Quantised& result, const std::string& path);

}  // namespace aoe::tools
