// Launchers: how nodes are started, told apart and ended. One of ssh, one of Slurm; tests have their own.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tuner/fleet/spool.h"

namespace aoe::tuner {

/// A node that is known to have ended, and why; a launcher that does not know which one says nothing, and silence tells.
struct EndedNode {
  std::string name, why;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  /// Throws Error: kUsage, kFailure.
  virtual void start(const Spool& spool) = 0;
  /// Nodes that it has started, or asked for, and that have not ended.
  virtual std::size_t wanted() = 0;
  /// Since the last call.
  virtual std::vector<EndedNode> ended() = 0;
  /// Whether nodes may still come or live; when none does, waiting for one is in vain. `what_happened`: in words.
  virtual bool has_hope(std::string& what_happened) = 0;
  /// Nodes were told to end; what has not after a while is ended. The destructor calls it.
  virtual void stop() = 0;
};

struct NodeCommand {
  std::filesystem::path program;  ///< aoe, as it is called on every node
  int threads = 0;                ///< 0: as many as the node chooses
  /// "exec 'aoe' serve_tasks --spool='...' ...", for a shell. `name` may be empty: the node makes one.
  std::string text(const Spool& spool, const std::string& name) const;
};

/// What --workers says: "ssh:HOST,HOST", "slurm" or "slurm:NODES"; `slurm_args`: words for sbatch. Error(kUsage).
std::unique_ptr<Launcher> make_launcher(const std::string& workers, const std::string& slurm_args,
                                        const NodeCommand& command);

}  // namespace aoe::tuner
