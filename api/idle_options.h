// Flags of aoe alone that a CPU has nothing for; those that atc has as well stand in options/idle_flags.cpp.
#pragma once

#include "options/idle_flags.h"

namespace aoe::api {

extern const std::span<const options::IdleFlag> kIdleFlags;
/// Options of the library that aoe has no flag for.
extern const std::span<const options::IdleFlag> kIdleLibraryOptions;

}  // namespace aoe::api
