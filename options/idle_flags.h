// Flags that the tooling documents and a CPU has nothing for. They are known, their values are checked; one that asks
// for what happens anyway is silent, one that changes nothing says so once, one that would change results is refused.
// One table row each: the flags of aoe and atc here, those of atc alone in tools/atc/idle_flags.cpp, those of aoe alone in
// api/idle_options.cpp.
#pragma once

#include <boost/program_options.hpp>
#include <span>

namespace aoe::options {

struct IdleFlag {
  const char* name;  ///< with its letter, if any: "weight,w"
  /// "a|b|c", "0..3", "FILE" (must exist), or any text ("TEXT"), nothing (""): what --help shows and what is accepted.
  const char* values;
  const char* silent;  ///< like `values`: those that are as they should be here; "" for none
  const char* reason;  ///< why others have no effect, or what to do instead when they are refused
  bool is_refused = false;
};

extern const std::span<const IdleFlag> kIdleFlags;

void add_idle_flags(boost::program_options::options_description& flags,
                    std::span<const IdleFlag> known);

/// Warns of every flag that was given without effect, a line each. Error(kUsage) on a bad value and on refused ones.
void check_idle_flags(const boost::program_options::variables_map& flags,
                      std::span<const IdleFlag> known);

}  // namespace aoe::options
