// Subscribing to the ops of loaded models.
#include <cstring>

#include "acl/acl_prof.h"
#include "base/log.h"
#include "profiler/recorder.h"
#include "runtime/acl/handles.h"
#include "runtime/acl/model.h"
#include "runtime/acl/process.h"
#include "runtime/acl/prof_mode.h"
#include "runtime/acl/subscription.h"
#include "runtime/acl/wall.h"

using namespace aoe::runtime::acl;

namespace {

Handles<aclprofSubscribeConfig> configs;  ///< the process is locked

void say_once_that_metrics_do_nothing() {
  static const bool said = [] {
    aoe::logger("profiler")->warn("aclprofCreateSubscribeConfig: metrics have no effect");
    return true;
  }();
  (void)said;
}

}  // namespace

aclprofSubscribeConfig* aclprofCreateSubscribeConfig(int8_t timeInfoSwitch,
                                                     aclprofAicoreMetrics aicoreMetrics, void* fd) {
  return guarded_or<aclprofSubscribeConfig*>(__func__, nullptr, [&] {
    require_pointer(fd, "fd");
    require(timeInfoSwitch == 0 || timeInfoSwitch == 1, ACL_ERROR_INVALID_PARAM,
            "timeInfoSwitch is neither 0 nor 1");
    if (aicoreMetrics != ACL_AICORE_NONE) say_once_that_metrics_do_nothing();
    int descriptor = -1;
    std::memcpy(&descriptor, fd, sizeof descriptor);
    aoe::profiler::to_ns(0);  // calibrates the clock now, not when executions wait for a lock
    const std::lock_guard lock(process_mutex());
    return configs.add({timeInfoSwitch == 1, aicoreMetrics, descriptor});
  });
}

aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig* profSubscribeConfig) {
  return guarded(__func__, [&] {
    const std::lock_guard lock(process_mutex());
    require(configs.find(profSubscribeConfig) != nullptr, ACL_ERROR_INVALID_PARAM,
            "not a config of subscriptions");
    configs.erase(profSubscribeConfig);
  });
}

aclError aclprofModelSubscribe(uint32_t modelId,
                               const aclprofSubscribeConfig* profSubscribeConfig) {
  return guarded(__func__, [&] {
    require_initialized();
    const std::lock_guard lock(process_mutex());
    const aclprofSubscribeConfig* const config = configs.find(profSubscribeConfig);
    require(config != nullptr, ACL_ERROR_INVALID_PARAM, "not a config of subscriptions");
    prof_modes().require(ProfCall::kSubscribe);
    subscribe(find_locked_model(modelId), *config);
  });
}

aclError aclprofModelUnSubscribe(uint32_t modelId) {
  return guarded(__func__, [&] {
    require_initialized();
    WaitForClose wait;
    {
      const std::lock_guard lock(process_mutex());
      prof_modes().require(ProfCall::kSubscribe);
      if (!is_subscribed(modelId))
        throw AclFailure(ACL_ERROR_INVALID_MODEL_ID,
                         "no model " + std::to_string(modelId) + " is subscribed");
      wait = unsubscribe(modelId);
    }
    if (wait) wait();
  });
}
