// MeasuringNotice: a process that measures times says so to others of its user on this machine. Two at once disturb each other,
// and each would take what the other does to it for what its own candidates do.
#pragma once

#include <filesystem>
#include <string>

#include "base/descriptor.h"
#include "base/log.h"

namespace aoe {

class MeasuringNotice {
 public:
  /// One for each user, where temporary files are: aoe_measuring_<number of the user>.
  static std::filesystem::path usual_file();

  /// Warns when others measure already. A file that cannot be made, or is not the user's own, is no error: nobody is told then.
  explicit MeasuringNotice(Logger& log, const std::filesystem::path& file = usual_file());
  ~MeasuringNotice();
  MeasuringNotice(const MeasuringNotice&) = delete;
  MeasuringNotice& operator=(const MeasuringNotice&) = delete;

  /// Who measured already when this began: "aoe, process 4711, since 2026-11-22T23:29:15Z"; empty: nobody.
  const std::string& others() const { return others_; }

 private:
  Descriptor file_;
  std::string others_;
};

}  // namespace aoe
