// The parent's side of one worker process: start, talk, find out how it died, kill.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "base/descriptor.h"
#include "tuner/measure/measurer.h"
#include "tuner/measure/wire.h"

namespace aoe::tuner {

class WorkerProcess {
 public:
  /// Starts the program as a worker. Throws Error(kFailure) when the system gives no process.
  explicit WorkerProcess(const std::filesystem::path& program);
  ~WorkerProcess();  ///< kills it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Waits for nothing: a worker that died meanwhile, or does not read, shows at the next receive().
  void send(const nlohmann::json& message);
  /// Time in which it was ready and had no core does not count, but never later than `end`, nor than some times
  /// `timeout`: on a crowded machine a candidate is late, not hung.
  ReceiveStatus receive(nlohmann::json& message, std::chrono::duration<double> timeout,
                        std::chrono::duration<double> end, const std::stop_token& stop);

  /// Ends the process if it still runs, and says what became of it: its signal or exit code, and
  /// the last line it wrote.
  Timing bury(ReceiveStatus last, std::chrono::duration<double> timeout);

 private:
  std::string last_words() const;

  Descriptor socket_;
  Outbox outbox_;
  Descriptor stderr_;  ///< a file in memory
  pid_t pid_ = -1;
};

}  // namespace aoe::tuner
