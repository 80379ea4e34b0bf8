// The graph and tuning sections of an om: their CBOR, and the checks that a well-formed one must
// still pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "runtime/om/load_budget.h"
#include "runtime/om/om.h"

namespace aoe::runtime {

std::string graph_to_cbor(const Om& om);

/// Fills everything of `om` that the graph section holds. Throws Error(kOm) that names `where`.
void graph_from_cbor(std::string_view bytes, const std::string& where, Om& om);

/// What the graph section holds, without the other sections.
Om without_sections(const Om& om);

/// Of code, weights and graph: equal where run_alike() holds.
Digest128 run_digest(const Om& om);

/// Whether both run the same code on the same weights, whatever they say of where strategies came from and of the machine.
bool run_alike(const Om& a, const Om& b);

/// What must hold before a step may run: ids in range, tensors inside their section or the arena,
/// known types and formats, stages for jit steps. Throws Error(kOm) that names `where` and the
/// tensor or step.
void verify_graph(const Om& om, const std::string& where, LoadBudget& budget);

}  // namespace aoe::runtime
