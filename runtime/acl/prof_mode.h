// ProfModes: which way of profiling is on, and what may be called meanwhile. The order rules of acl_prof.h are its table.
//
//   const std::lock_guard lock(process_mutex());
//   prof_modes().require(ProfCall::kSubscribe);   // throws the documented code
//   ... what can fail ...
//   prof_modes().set(ProfMode::kSubscribe);
#pragma once

#include <cstdint>

namespace aoe::runtime::acl {

enum class ProfMode : std::uint8_t {
  kOff,
  kApi,        ///< from aclprofInit() to aclprofFinalize(), with a collection that runs or without
  kCommand,    ///< somebody else asked for the collection: acl.json, msprof, PROFILING_MODE
  kSubscribe,  ///< some model is subscribed to
};

/// What has a rule of its own.
enum class ProfCall : std::uint8_t {
  kInit,
  kCollect,    ///< aclprofStart(), aclprofStop(), aclprofFinalize()
  kConfigure,  ///< aclprofSetConfig()
  kSubscribe,  ///< aclprofModelSubscribe(), aclprofModelUnSubscribe()
  kCommand,    ///< acl.json, msprof, PROFILING_MODE
};

/// Process-wide; process_mutex() is held in all of these.
class ProfModes {
 public:
  /// Throws AclFailure with the code of that call in the current mode.
  void require(ProfCall call) const;
  void set(ProfMode mode) { mode_ = mode; }
  ProfMode mode() const { return mode_; }

 private:
  ProfMode mode_ = ProfMode::kOff;
};
ProfModes& prof_modes();

}  // namespace aoe::runtime::acl
