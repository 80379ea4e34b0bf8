// The texts of a model.
#pragma once

#include <optional>
#include <string>

namespace google::protobuf {
class Message;
}

namespace aoe::graph {

/// Where the message holds bytes that are not UTF-8 where it should hold text, as "graph.node.name"; nothing when all is
/// well. Documentation and metadata are not looked at: nobody reads them here.
std::optional<std::string> place_of_bad_text(const google::protobuf::Message& message);

}  // namespace aoe::graph
