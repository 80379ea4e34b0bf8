// One row each.
#include "api/idle_options.h"

namespace aoe::api {
namespace {

using options::IdleFlag;

constexpr IdleFlag kOfAoe[] = {
    {"Fnonhomo_split", "", "", "--job_type=1 cuts blocks of any size anyway"},
    {"ip", "TEXT", "", "tuning measures on the machine that it runs on; run aoe on that one", true},
    {"port", "TEXT", "", "tuning measures on the machine that it runs on; run aoe on that one",
     true},
    {"op_tune_mode", "TEXT", "", "operators are tuned as a model or --singleop has them", true},
    {"op_tune_file", "TEXT", "", "describe operators in the file of --singleop", true},
    {"op_tune_kernel_path", "TEXT", "", "kernels are compiled with the model, and lie in the om",
     true},
    {"build_bypass", "TEXT", "", "there is no graph builder behind; give flags", true},
    {"precision_mode_v2", "TEXT", "", "use --precision_mode", true},
    {"op_debug_level", "0..4", "0", "give it to atc, which keeps the kernels of an om"},
    {"disable_reuse_memory", "0|1", "0", "give it to atc, which compiles with what was won"},
    {"buffer_optimize", "l2_optimize|l1_optimize|off_optimize", "l2_optimize",
     "caches are the processor's own; it says to atc which graph bank to read"},
};

constexpr IdleFlag kOfLibrary[] = {
    {"tuning_parallel_num", "1..64", "", "candidates are measured one at a time, undisturbed"},
    {"run_loop", "1..1000000", "", "how often is measured follows from the preset"},
    {"progress_bar", "on|off", "on|off", ""},
};

}  // namespace

const std::span<const IdleFlag> kIdleFlags = kOfAoe;
const std::span<const IdleFlag> kIdleLibraryOptions = kOfLibrary;

}  // namespace aoe::api
