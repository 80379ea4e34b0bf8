// Subscriptions: which models' ops go through which descriptor, and the thread that writes them.
//
// Executions record their tasks as for a collection; a thread of its own empties the recorder's rings, makes records of what
// subscribed models did, and writes them without waiting for readers. No execution waits for it or takes a lock of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "acl/acl_prof.h"
#include "runtime/acl/model.h"

struct aclprofSubscribeConfig {
  bool with_times;
  aclprofAicoreMetrics metrics;  ///< told apart, without effect
  int descriptor;
};

namespace aoe::runtime::acl {

/// Waits until the descriptor of a subscription that ended is closed: RecordPipe::kMostPatience at most. To be called without
/// any lock. Empty when there is nothing to wait for.
using WaitForClose = std::function<void()>;

// The process is locked in these.

/// Goes over to ProfMode::kSubscribe. Throws ACL_ERROR_PROF_REPEAT_SUBSCRIBE, ACL_ERROR_INVALID_PROFILING_CONFIG when another model is subscribed with other
/// switches, ACL_ERROR_INVALID_PARAM when the descriptor cannot be written to.
void subscribe(Model& model, const aclprofSubscribeConfig& config);
bool is_subscribed(std::uint32_t model_id);
// Both end the mode with the last subscription.
/// What the model's executions have recorded so far is still written. Does nothing when it is not subscribed.
[[nodiscard]] WaitForClose unsubscribe(std::uint32_t model_id);
[[nodiscard]] WaitForClose unsubscribe_all();

// Around fork(); the second unlocks in parent and child alike.
void lock_subscriptions();
void unlock_subscriptions();
/// In the child: closes its copies of the descriptors, so that readers see the end when the parent closes its own.
void forget_subscriptions();

/// Whether tasks are recorded for subscribers: then only those of subscribed models. Takes no lock.
bool is_subscription_on();

}  // namespace aoe::runtime::acl
