// Lessons as a message: names of features stand once.
#include "tuner/session/lessons_file.h"

#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace aoe::tuner {
using nlohmann::json;
namespace {

Lesson lesson_from_json(const json& list, const json& names) {
  Lesson lesson{
      .impl = list.at(0), .impl_version = list.at(1), .features = {}, .log_ratio = list.at(2)};
  const json &columns = list.at(3), &values = list.at(4);
  if (columns.size() != values.size())
    throw Error(ExitCode::kFailure, "a lesson has not a value for each feature");
  for (std::size_t i = 0; i < columns.size(); ++i)
    lesson.features.emplace_back(names.at(columns[i].get<std::size_t>()).get<std::string>(),
                                 values[i].get<double>());
  return lesson;
}

}  // namespace

json lessons_to_json(const std::vector<Lesson>& lessons) {
  std::map<std::string, std::size_t> index;
  json names = json::array(), list = json::array();
  for (const Lesson& lesson : lessons) {
    json columns = json::array(), values = json::array();
    for (const auto& [name, value] : lesson.features) {
      const auto [at, is_new] = index.try_emplace(name, index.size());
      if (is_new) names.push_back(name);
      columns.push_back(at->second);
      values.push_back(value);
    }
    list.push_back({lesson.impl, lesson.impl_version, lesson.log_ratio, columns, values});
  }
  return {{"names", names}, {"lessons", list}};
}

std::vector<Lesson> lessons_from_json(const json& message) {
  const json &list = message.at("lessons"), &names = message.at("names");
  std::vector<Lesson> lessons;
  for (const json& each : list) lessons.push_back(lesson_from_json(each, names));
  return lessons;
}

std::optional<std::size_t> LessonsReader::learn(CostModel& experience) {
  const auto found = message_version(path_);
  if (!found || found == read_) return std::nullopt;
  read_ = found;
  const auto message = read_message(path_);
  if (!message) return std::nullopt;
  std::vector<Lesson> lessons = lessons_from_json(*message);
  const std::size_t count = lessons.size();
  CostModel learnt;
  learnt.learn(std::move(lessons));
  experience = std::move(learnt);
  return count;
}

}  // namespace aoe::tuner
