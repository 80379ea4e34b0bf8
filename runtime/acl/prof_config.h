// What aclprofCreateConfig() and aclprofSetConfig() are told, and what that means for a collection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_prof.h"
#include "profiler/collect/options.h"

struct aclprofConfig {
  std::vector<std::uint32_t> devices;
  aclprofAicoreMetrics metrics = ACL_AICORE_NONE;
  std::uint64_t data_types = 0;  ///< ACL_PROF_*
  bool operator==(const aclprofConfig&) const = default;
};

namespace aoe::runtime::acl {

/// Sets what `config` says, over the defaults of kConfigBits. What has no effect here is logged. Throws AclFailure: no bit, too many devices, unknown
/// metrics: ACL_ERROR_INVALID_PARAM; another device than 0: ACL_ERROR_INVALID_DEVICE; an unknown bit:
/// ACL_ERROR_PROF_MODULES_UNSUPPORTED.
void apply_config(const aclprofConfig& config, profiler::CollectOptions& options);

/// Sets what aclprofSetConfig() says. Throws ACL_ERROR_INVALID_PARAM on an unknown type or a bad value.
void apply_setting(aclprofConfigType type, const std::string& value,
                   profiler::CollectOptions& options);

/// What aclprofSetConfig() has said, and the directory of aclprofInit(); the process is locked where it is used.
profiler::CollectOptions& prepared_options();
/// aclprofFinalize() and aclFinalize(): what is begun later knows nothing of it.
void forget_prepared_options();

}  // namespace aoe::runtime::acl
