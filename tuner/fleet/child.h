// A program that is started and watched, without a shell between.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace aoe::tuner {

class Child {
 public:
  /// stdout and stderr go to `log`; stdin is empty. Error(kFailure).
  Child(const std::vector<std::string>& words, std::filesystem::path log);
  ~Child();  ///< kills it
  Child(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// "exit status 255: connection refused", with the last line of its log that is no logged warning; nullopt: it runs.
  std::optional<std::string> how_it_ended();
  bool has_succeeded();  ///< exit status 0
  const std::filesystem::path& log() const { return log_; }

 private:
  void look();

  pid_t pid_ = -1;
  std::optional<int> status_;  ///< as waitpid() gives it
  std::filesystem::path log_;
};

/// Runs it to its end. What it printed; Error(kFailure) with its last words when it fails.
std::string output_of(const std::vector<std::string>& words, const std::filesystem::path& log);

}  // namespace aoe::tuner
