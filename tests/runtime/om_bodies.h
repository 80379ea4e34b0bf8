// Oms with control flow, put together by hand.
#pragma once

#include <string>
#include <vector>

#include "tests/runtime/om_builder.h"

namespace aoe::runtime::tests {

/// A body as a constant of the om around it.
inline int add_body(OmBuilder& b, const std::string& name, const Om& body) {
  const std::string file = body.serialize();
  const auto bytes = static_cast<std::int64_t>(file.size());
  return b.weight<char>(name, {.dtype = DataType::kUint8, .shape = {bytes}},
                        {file.begin(), file.end()});
}

inline OmStep& control(OmBuilder& b, const std::string& type, std::vector<int> inputs,
                       std::vector<int> outputs, std::vector<int> bodies) {
  reference::Attrs attrs;
  attrs.set("captures", std::vector<std::int64_t>(bodies.size(), 0));
  OmStep& step = b.reference(type, std::move(inputs), std::move(outputs), attrs);
  step.backend = &backend("control");
  step.constants = std::move(bodies);
  return step;
}

}  // namespace aoe::runtime::tests
