// The wall around libraries that are not sound any longer once an exception has passed them: locks stay taken, something
// half-made is waited for, and the next call hangs. Whatever they call may find no memory, or no thread.
//
//   behind_memory_wall([&] { database.write(batch); });
#pragma once

#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "base/thread_lack.h"

namespace aoe {

/// What `work` gives. std::bad_alloc and a lack of threads end the process, by std::terminate(), whose handler finds it as the current exception
/// (programs end with a documented exit code then); what else is thrown passes.
template <typename Work>
auto behind_memory_wall(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    std::terminate();
  } catch (const std::system_error& e) {
    if (is_lack_of_threads(e)) std::terminate();
    throw;
  }
}

}  // namespace aoe
