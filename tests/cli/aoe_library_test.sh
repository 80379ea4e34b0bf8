# libaoe as an installation gives it: a C and a C++ program are built with find_package(aoe), and tune.
source "$(dirname "$0")/lib.sh"

unset AOE_CONFIG_DIR AOE_WORKER
prefix=$work/prefix
run 0 cmake --install "$bin/.." --prefix "$prefix"
library=$(find "$prefix" -name libaoe.so) || fail "no libaoe.so"
exists "$prefix/include/aoe/aoe.h"
worker=$(find "$prefix" -name aoe_worker)
[ -x "$worker" ] || fail "aoe_worker is not installed"

# Its functions are all that it shows.
shown=$(nm -D --defined-only "$library" | awk '$2 ~ /[A-Z]/ {print $3}' | sort)
declared=$(grep -oE '^(AoeStatus|const char\*) Aoe[A-Za-z]+\(' "$prefix/include/aoe/aoe.h" | sed -E 's/.* (Aoe[A-Za-z]+)\(/\1/' | sort)
equal "$(echo $shown)" "$(echo $declared)" "functions that the library shows"

cp -r "$here/../../examples" examples
mkdir client
cat >client/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(client LANGUAGES C CXX)
find_package(aoe 0.1 REQUIRED)
add_executable(aoe_tune ../examples/aoe_tune.c)
target_link_libraries(aoe_tune PRIVATE aoe::aoe)
add_executable(client client.cpp)
target_compile_features(client PRIVATE cxx_std_11)
target_link_libraries(client PRIVATE aoe::aoe)
CMAKE
cat >client/client.cpp <<'CPP'
// A model from memory, in C++.
#include <aoe/aoe.h>

#include <fstream>
#include <iostream>
#include <iterator>

using namespace Aoe;

int main(int argc, char** argv) {
  std::ifstream file(argv[argc - 1], std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  AoeGraph graph = {};
  graph.data = bytes.data();
  graph.size = bytes.size();
  graph.name = "from_memory";
  uint64_t session = 0;
  const bool is_ok = AoeInitialize({{"preset", "quick"}, {"trials", "2"}}) == AOE_SUCCESS &&
                     AoeCreateSession(session) == AOE_SUCCESS &&
                     AoeSetTuningGraph(session, graph) == AOE_SUCCESS &&
                     AoeTuningGraph(session, {{"job_type", "2"}}) == AOE_SUCCESS &&
                     AoeDestroySession(session) == AOE_SUCCESS && AoeFinalize() == AOE_SUCCESS;
  if (!is_ok) std::cerr << AoeGetLastError() << "\n";
  return is_ok ? 0 : 1;
}
CPP
run 0 cmake -S client -B client/build -DCMAKE_PREFIX_PATH="$prefix"
run 0 cmake --build client/build

make_model squeezenet --small --image=32 --output=m.onnx >/dev/null || fail "make_model"
run 0 client/build/aoe_tune m.onnx tuned preset=quick trials=4
has out '^m: [0-9.]+ ms before, [0-9.]+ ms after'
has out ': [0-9]+ of [0-9]+ tasks'
exists tuned.om
run 0 aoe_run --model=tuned.om
run 1 client/build/aoe_tune m.onnx tuned preset=quick tirals=4
has err "subgraphs: unknown option 'tirals'; did you mean --trials?"

mkdir elsewhere && cd elsewhere || exit 2
cp ../m.onnx .
run 0 ../client/build/client m.onnx
ls aoe_workspace/from_memory_*/tunespace/result/from_memory_*_tune.om >/dev/null || fail "no om of the model from memory"
ls aoe_result_opat_*.json >/dev/null || fail "no result of the model from memory"
cd ..

# The installed program measures with the installed helper; without it the error says what is missing.
mv "$worker" "$worker.away"
PATH=$prefix/bin:$PATH
refuses 1 "aoe_worker: the program that measures is not installed" aoe -j 2 -m m.onnx --trials=2
finish
