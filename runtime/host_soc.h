// The name of this machine as hardware that strategies are valid for: soc_version. What an om runs on needs no compiler
// to know it.
#pragma once

#include <string>

namespace aoe::runtime {

/// OMP_NUM_THREADS, else the cores that this process may use, by its affinity and its quota of CPU time (host_cores.h) when
/// it was first asked.
int default_threads();

/// The core as LLVM spells it: "znver5", or "x86-64-v3" where the core is newer or rarer than our table.
std::string host_llvm_cpu();

/// "x86_64-znver5-2t": architecture, core ("v3" or "v4" when unknown), threads (0: default_threads()).
std::string host_soc_version(int threads = 0);

/// What distinguishes this machine from others of its soc_version; "" where the system does not say.
struct HostIdentity {
  std::string cpu;        ///< "AMD EPYC 9B45"
  std::string microcode;  ///< "0xb002116"
  std::string kernel;     ///< "Linux 6.1.0-18-amd64"
};
HostIdentity host_identity();

}  // namespace aoe::runtime
