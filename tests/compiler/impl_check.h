// Checks an Impl on a task: the kernels of its heuristic Schedule and of sampled ones, in all its
// Formats, against the reference implementation.
#pragma once

#include "compiler/impl.h"
#include "tests/compiler/shape_line.h"

namespace aoe::compiler {

struct ImplCheckOptions {
  int sampled_schedules = 3;  ///< besides the heuristic one, for each Format
  unsigned seed = 1;
  /// The inputs hold NaN, infinities or numbers near the end of the range: what Impl::not_finite() allows is.
  bool has_special_values = false;
};

/// Reports through GoogleTest. Nothing outside the buffers may be touched: they end at guard pages.
/// Generated code runs on machine_for(soc); libraries only on `soc` itself. Native kernels run without their backend; reference kernels and views run in the tests of the runtime.
void check_impl(const Impl& impl, const ShapeLine& line, const Soc& soc,
                const ImplCheckOptions& options = {});

/// shapes/*.txt, sorted.
std::vector<std::filesystem::path> shape_files();

/// The outputs, null where nobody reads. What the reference makes of the values it may refuse: an Error.
std::vector<std::shared_ptr<Constant>> compute_reference(const ShapeLine& line);

/// How far an element may be from the reference: from float32's precision and the length of the
/// reduction behind it. `largest` is the largest magnitude in the output.
double tolerance(const Task& task, double expected, double largest);

}  // namespace aoe::compiler
