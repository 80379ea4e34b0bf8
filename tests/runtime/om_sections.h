// An om of sections that a test has changed.
#pragma once

#include <span>
#include <string>

#include "runtime/om/om_container.h"

namespace aoe::tests {

inline std::string om_of(std::span<const runtime::OmSection> sections) {
  runtime::OmFile file;
  for (const runtime::OmSection& section : sections) file.add_view(section.kind, section.bytes);
  return file.bytes();
}

}  // namespace aoe::tests
