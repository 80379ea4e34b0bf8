// The wall around libraries that are not sound any longer once an exception has passed them: locks stay taken, something
// half-made is waited for, and the next call hangs. Whatever they call may find no memory.
//
//   behind_memory_wall([&] { database.write(batch); });
#pragma once

#include <exception>
#include <new>
#include <utility>

namespace aoe {

/// What `work` gives. std::bad_alloc ends the process, by std::terminate(), whose handler finds it as the current exception
/// (programs end with a documented exit code then); what else is thrown passes.
template <typename Work>
auto behind_memory_wall(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    std::terminate();
  }
}

}  // namespace aoe
