// How deeply documents from files nest, found without recursion: readers and writers of JSON and CBOR call themselves for
// each level, and a megabyte of '[' would end the stack. Asked before a document is read.
#pragma once

#include <string_view>

namespace aoe {

/// What we write ourselves nests about ten levels.
inline constexpr int kDeepestDocument = 128;

/// Whether arrays and objects stand at most kDeepestDocument within each other. Says nothing else about the text: what is
/// no JSON may pass.
bool nests_little_json(std::string_view text);

/// The same of a CBOR item, and of items behind it. Also false for strings of indefinite length that hold others, which
/// CBOR forbids and readers recurse on. What is no CBOR, or ends early, may pass.
bool nests_little_cbor(std::string_view bytes);

}  // namespace aoe
