// What the registries say about operators when they are asked: which element types they take, and who carries them out.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "reference/op.h"

namespace aoe::docs {

/// Who carries a call out, the best first.
enum class Carrier {
  kNobody,     ///< the result lies where its input does, or is known when the model is compiled
  kGenerated,  ///< code made for the task
  kLibrary,    ///< oneDNN
  kNative,     ///< kernels of native/
  kReference,  ///< plain loops
};

/// Of all types that an operator takes: the slowest of what the passes leave of a call.
using TypeFacts = std::map<DataType, Carrier>;

/// `lines`: calls.txt. Throws Error(kData) when no line, or no type, is to be had.
TypeFacts type_facts(const reference::OpDef& def, const std::vector<std::string>& lines);

/// What the passes leave of a model, the bodies of its nodes included: op types by their best carrier.
std::map<Carrier, std::set<std::string>> parts_of(graph::Graph graph);

}  // namespace aoe::docs
