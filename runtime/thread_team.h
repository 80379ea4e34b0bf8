// Which threads help the calling one to run an om: helpers of its own (helper_threads.h), or the OpenMP team that libraries
// run on.
//
// An OpenMP team's threads spin on their cores for milliseconds after each region, and helpers would find none: Inception-v1
// with one step of a library took 18 ms instead of 9, and candidates whose caches an OpenMP region had emptied took the time
// of one thread. So an om runs on one of the two, and what runs on helpers first ends a team that may still spin.
#pragma once

#include <functional>

#include "runtime/om/om.h"

namespace aoe::runtime {

enum class ThreadTeam { kHelpers, kOpenMp };

/// kOpenMp where a library that the om or a body in it calls has an OpenMP team of its own, and steps that are worth one: every member
/// of a team is waited for at every step, so that one that has no core costs tens of milliseconds (a model of 20 us took 38 beside
/// a process that spun, for a matrix product of 10). Where all steps of libraries are small, they run on one thread. What runs in
/// turn shares a team, for a change of teams costs more than small models take. Throws Error(kOm) when a body is damaged.
ThreadTeam team_of(const Om& om);

/// Before `team` runs anything on behalf of the calling thread. Where both take turns, ending the OpenMP team and starting it
/// again costs some 100 us a turn.
void make_way_for(ThreadTeam team);

/// Calls `work(i)` for each i below `threads`, on that member of the team, all at the same time; threads that are asleep
/// have a millisecond to come, then others do their work. Afterwards the team is awake. `work` throws nothing.
void run_on_each(ThreadTeam team, int threads, const std::function<void(int)>& work);

}  // namespace aoe::runtime
