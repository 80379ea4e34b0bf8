// The first stage of quantised kernels that cannot read their input as it lies: writes it to the workspace as unsigned
// quads, with its padding.
#pragma once

#include "compiler/quant/quant_cut.h"

namespace aoe::compiler {

/// [image][read_height][read_width][quads]; `constants` as in the kernel's other stage.
loopnest::Function quant_copy_stage(const Task& task, const QuantCut& cut, std::size_t constants);

}  // namespace aoe::compiler
