// How the steps of an om run, and what share of the model's work each is: for reports, and so that slow parts are not silent.
//
//   for (const StepPath& step : step_paths(om)) ...
//   if (const std::string slow = reference_part(model); !slow.empty()) logger("atc")->warn("{}", slow);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/om/geared_om.h"

namespace aoe::runtime {

struct StepPath {
  std::string name;   ///< steps of bodies: "loop/inner"
  std::string types;  ///< "Conv2D+Relu"
  std::string_view
      path;  ///< "generated", "onednn", "native", "reference", "view" (nothing runs), "control"
  bool is_plain = false;  ///< plain loops, slow
  /// Analytic: operations or bytes moved, whichever are more. Of a body as if it ran once. 0 where it `is_open`.
  double work = 0;
  bool is_open = false;  ///< sizes are known only when it runs
};

/// By step, those of bodies behind the step that runs them. Throws Error(kOm) when a body is damaged.
std::vector<StepPath> step_paths(const Om& om);

/// One sentence on the operators that run on the reference path, by type, with their share of the work of all gears. Empty
/// when there are none, or when they are less than a thousandth of the work.
std::string reference_part(const GearedOm& model);

}  // namespace aoe::runtime
