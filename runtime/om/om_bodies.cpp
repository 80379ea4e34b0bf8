// Reading bodies, and walking over them. Tested by tests/runtime/om_bodies_test.cpp.
#include "runtime/om/om_bodies.h"

#include "base/error.h"
#include "runtime/backend.h"

namespace aoe::runtime {
namespace {

void visit_below(const Om& om, const std::string& path,
                 const std::function<void(const Om&, const std::string&)>& visit) {
  visit(om, path);
  for (const OmStep& step : om.steps)
    for (const Om& body : bodies_of(om, step)) visit_below(body, op_name(path, step) + "/", visit);
}

[[noreturn]] void refuse(const OmStep& step, const std::string& what, const std::string& where) {
  throw Error(ExitCode::kOm, "step '" + step.name + "' " + what, where,
              "compile the model again with atc");
}

/// The bytes of each body of a step.
std::vector<std::string_view> body_files(const Om& om, const OmStep& step) {
  std::vector<std::string_view> files;
  if (!step.backend->traits().has_bodies) return files;
  for (const int constant : step.constants) {
    const OmTensor& bytes = om.tensors[constant];
    if (bytes.place != Place::kWeight) refuse(step, "has a body that is no constant", om.name);
    files.push_back(om.weights_bytes().substr(bytes.offset, storage_bytes(bytes.desc)));
  }
  return files;
}

Om body_in(std::string_view file, const Om& om, const OmStep& step, LoadBudget& budget) {
  const std::string where = om.name + ": body of " + step.name;
  return Om::parse_alone(file, om.owner, where, budget);
}

void check_below(const Om& om, const std::string& where, int depth, LoadBudget& budget) {
  for (const OmStep& step : om.steps)
    for (const std::string_view file : body_files(om, step)) {
      if (depth == 0) refuse(step, "has bodies that are nested too deeply", where);
      const Om body = body_in(file, om, step, budget);
      try {
        budget.take_body(file, body.graph_bytes);
      } catch (const LoadBudget::Exceeded& e) {
        refuse(step, e.what(), where);
      }
      check_below(body, where, depth - 1, budget);
    }
}

}  // namespace

std::vector<Om> bodies_of(const Om& om, const OmStep& step) {
  std::vector<Om> bodies;
  LoadBudget budget;
  for (const std::string_view file : body_files(om, step))
    bodies.push_back(body_in(file, om, step, budget));
  return bodies;
}

void check_bodies(const Om& om, const std::string& where, LoadBudget& budget) {
  check_below(om, where, budget.depth, budget);
}

void for_each_om(const Om& om, const std::function<void(const Om&, const std::string&)>& visit) {
  visit_below(om, "", visit);
}

std::size_t op_count(const Om& om) {
  std::size_t count = 0;
  for_each_om(om, [&](const Om& own, const std::string&) { count += own.steps.size(); });
  return count;
}

std::string op_name(const std::string& path, const OmStep& step) {
  return step.name.starts_with(path) ? step.name : path + step.name;
}

}  // namespace aoe::runtime
