// A task out of its canonical description: what a bank has kept of it, without the model.
#pragma once

#include "bank/strategy.h"
#include "base/result.h"
#include "compiler/task.h"

namespace aoe::compiler {

/// Weights get random values of a fixed seed: no time depends on them. The description may come from anybody. "No": it is no
/// operator's, its sizes are open, or it has long parameters, of which it keeps the digest alone.
Result<Task> task_from_key(const bank::TaskKey& key);

}  // namespace aoe::compiler
