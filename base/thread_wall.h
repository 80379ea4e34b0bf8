// The wall of a thread of ours in a program of somebody else: what its work throws, for want of memory above all, must not end the
// program.
//
//   thread_ = std::thread([this] { behind_thread_wall([&] { work(); }, [&](const char* why) { give_up(why); }); });
#pragma once

#include <exception>

namespace aoe {

/// What `work` throws is `give_up`'s to say. What that throws, nobody can be told.
template <typename Work, typename GiveUp>
void behind_thread_wall(const Work& work, const GiveUp& give_up) noexcept {
  try {
    work();
  } catch (const std::exception& failure) {
    try {
      give_up(failure.what());
    } catch (const std::exception&) {
    }
  }
}

}  // namespace aoe
