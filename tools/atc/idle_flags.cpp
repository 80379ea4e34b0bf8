// The flags of atc alone that a CPU has nothing for.
#include "tools/atc/idle_flags.h"

namespace aoe::tools {
namespace {

constexpr IdleFlag kOfAtc[] = {
    {"online_model_type", "0..4", "", "every om can be profiled"},
    {"jit_compile", "0..2", "1", "kernels are compiled with the model, and lie in the om"},
    {"deterministic", "0|1", "0|1", ""},
    {"deterministic_level", "0..3", "0|1",
     "sums are added in one order for one om and one number of threads, no more"},
    {"external_weight", "0..2", "0", "an om is one file with its weights"},
    {"op_compiler_cache_mode", "disable|enable|force", "disable",
     "kernels are compiled anew each time, nothing is cached"},
    {"op_compiler_cache_dir", "TEXT", "", "kernels are compiled anew each time, nothing is cached"},
    {"status_check", "0|1", "0", "CPUs have no overflow status to check"},
    {"op_debug_config", "FILE", "", "there is no memory or overflow check to switch on"},
    {"precision_mode_v2", "TEXT", "", "use --precision_mode", true},
    {"op_bank_update", "TEXT", "", "aoe writes banks; atc reads them"},
    {"auto_tune_mode", "TEXT", "", "aoe tunes; atc uses what it has found", true},
    {"input_shape_range", "TEXT", "", "use --input_shape, with -1 for a size that only a run tells",
     true},
    {"input_hint_shape", "TEXT", "", "use --input_shape, with -1 for a size that only a run tells",
     true},
    {"raw_ge_options", "TEXT", "", "there is no graph engine behind; give flags", true},
    {"build_config", "TEXT", "", "no other compiler runs; give flags", true},
};

}  // namespace

const std::span<const IdleFlag> kAtcIdleFlags = kOfAtc;

}  // namespace aoe::tools
