// Reading bodies, and walking over them. Tested by tests/runtime/om_bodies_test.cpp.
#include "runtime/om/om_bodies.h"

#include <algorithm>

#include "base/error.h"
#include "runtime/backend.h"
#include "runtime/om/om_graph.h"

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

constexpr const char* kBodies = "bodies";

/// Each body of a step, and the file that it was read from.
void for_each_body(const Om& om, const OmStep& step, LoadBudget& budget,
                   const std::function<void(Om body, std::string_view file)>& take) {
  if (!step.backend->traits().has_bodies) return;
  const std::optional<std::size_t> count = body_count(step);
  if (!count) refuse(step, "lacks its bodies", om.name);
  const std::string where = om.name + ": body of " + step.name;
  WeightLender lender(om, step);
  for (std::size_t b = 0; b < *count; ++b) {
    const OmTensor& bytes = om.tensors[step.constants[b]];
    if (bytes.place != Place::kWeight) refuse(step, "has a body that is no constant", om.name);
    const std::string_view file =
        om.weights_bytes().substr(bytes.offset, storage_bytes(bytes.desc));
    const bool has_own = !step.call.attrs.has(kBodies);
    take(Om::parse_alone(file, om.owner, where, budget, has_own ? nullptr : &lender), file);
  }
  if (lender.has_more()) refuse(step, "has weights that no body reads", om.name);
}

void check_below(const Om& om, const std::string& where, int depth, LoadBudget& budget) {
  for (const OmStep& step : om.steps)
    for_each_body(om, step, budget, [&](const Om& body, std::string_view file) {
      if (depth == 0) refuse(step, "has bodies that are nested too deeply", where);
      try {
        budget.take_body(file, body.graph_bytes);
      } catch (const LoadBudget::Exceeded& e) {
        refuse(step, e.what(), where);
      }
      check_below(body, where, depth - 1, budget);
    });
}

}  // namespace

std::optional<std::size_t> body_count(const OmStep& step) {
  const auto all = std::ssize(step.constants);
  const std::int64_t count = step.call.attrs.get_int(kBodies, all);
  if (count < 1 || count > all) return std::nullopt;
  return static_cast<std::size_t>(count);
}

WeightLender::WeightLender(const Om& om, const OmStep& step)
    : om_(om), left_(std::span(step.constants).subspan(*body_count(step))) {
}

void WeightLender::lend_to(Om& body, const std::string& where) {
  for (OmTensor& tensor : body.tensors) {
    if (!is_lent(tensor)) continue;
    const OmTensor* const lent =
        left_.empty() ? nullptr : &om_.tensors[static_cast<std::size_t>(left_.front())];
    if (lent == nullptr || lent->place != Place::kWeight)
      throw Error(ExitCode::kOm, "the weights of '" + tensor.name + "' are not there", where,
                  "compile the model again with atc");
    tensor.offset = lent->offset;
    left_ = left_.subspan(1);
  }
  body.weights_view = om_.weights_bytes();
}

bool is_lent(const OmTensor& tensor) {
  const Shape& shape = tensor.desc.shape;
  return tensor.place == Place::kWeight && std::ranges::find(shape, 0) == shape.end();
}

std::string file_without_weights(const Om& body) {
  Om bare = without_sections(body);
  bare.code = body.code_bytes();
  bare.tuning = body.tuning;
  for (OmTensor& tensor : bare.tensors)
    if (tensor.place == Place::kWeight) tensor.offset = 0;
  return bare.serialize();
}

std::vector<Om> bodies_of(const Om& om, const OmStep& step) {
  std::vector<Om> bodies;
  LoadBudget budget;
  for_each_body(om, step, budget,
                [&](Om body, std::string_view) { bodies.push_back(std::move(body)); });
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
