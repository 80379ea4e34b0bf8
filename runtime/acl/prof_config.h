// What aclprofCreateConfig() and aclprofSetConfig() are told, and what that means for a collection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_prof.h"
#include "profiler/collect/options.h"

struct aclprofConfig {
  std::vector<std::uint32_t> devices;
  aclprofAicoreMetrics metrics;
  std::uint64_t data_types;  ///< ACL_PROF_*
  bool operator==(const aclprofConfig&) const = default;
};

namespace aoe::runtime::acl {

/// Sets what `config` says. What has no effect here is logged. Throws AclFailure: no bit, too many devices, unknown
/// metrics: ACL_ERROR_INVALID_PARAM; another device than 0: ACL_ERROR_INVALID_DEVICE; an unknown bit:
/// ACL_ERROR_PROF_MODULES_UNSUPPORTED.
void apply_config(const aclprofConfig& config, profiler::CollectOptions& options);

/// Sets what aclprofSetConfig() says. Throws ACL_ERROR_INVALID_PARAM on an unknown type or a bad value.
void apply_setting(aclprofConfigType type, const std::string& value,
                   profiler::CollectOptions& options);

}  // namespace aoe::runtime::acl
