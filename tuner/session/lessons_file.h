// Lessons of the bank for the nodes of a fleet, as the message that Fleet::publish_lessons() puts into the spool.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tuner/fleet/spool.h"
#include "tuner/search/cost_model.h"

namespace aoe::tuner {

nlohmann::json lessons_to_json(const std::vector<Lesson>& lessons);
/// Throws std::exception: these are none.
std::vector<Lesson> lessons_from_json(const nlohmann::json& message);

/// A node's end: reads them before a search, when they are new.
class LessonsReader {
 public:
  LessonsReader(const Spool& spool, const std::string& soc_version)
      : path_(spool.lessons(soc_version)) {}

  /// `experience` becomes what the message says, when it is new. How many lessons these are; nullopt: nothing is new. Throws
  /// std::exception, once, and leaves `experience` as it is: the message is damaged.
  std::optional<std::size_t> learn(CostModel& experience);

 private:
  const std::filesystem::path path_;
  std::optional<MessageVersion> read_;
};

}  // namespace aoe::tuner
