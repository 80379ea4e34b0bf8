// Reading bodies, and walking over them. Tested by tests/runtime/om_bodies_test.cpp.
#include "runtime/om_bodies.h"

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

}  // namespace

std::vector<Om> bodies_of(const Om& om, const OmStep& step) {
  std::vector<Om> bodies;
  if (!step.backend->traits().has_bodies) return bodies;
  for (const int constant : step.constants) {
    const OmTensor& bytes = om.tensors[constant];
    if (bytes.place != Place::kWeight)
      throw Error(ExitCode::kOm, "step '" + step.name + "' has a body that is no constant", om.name,
                  "compile the model again with atc");
    bodies.push_back(Om::parse(om.weights_bytes().substr(bytes.offset, storage_bytes(bytes.desc)),
                               om.owner, om.name + ": body of " + step.name));
  }
  return bodies;
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
