# An installation stands alone: programs find their configurations in it, and a C program builds and runs against it.
source "$(dirname "$0")/lib.sh"

unset AOE_CONFIG_DIR
prefix=$work/prefix
run 0 cmake --install "$bin/.." --prefix "$prefix"
for program in aoe atc aoe_run aoe_bank aoe_compare aoe_quantize aoe_report aoe_sign make_model; do
  [ -e "$prefix/share/bash-completion/completions/$program" ] || fail "$program has no completion"
  [ -x "$prefix/bin/$program" ] || fail "$program is not installed"
  head -1 "$prefix/share/man/man1/$program.1" | grep -qi "^\.TH $program 1" || fail "$program has no man page"
done
for file in LICENSE README.md docs/aoe.md docs/results.svg; do exists "$prefix/share/doc/aoe/$file"; done
export PATH=$prefix/bin:$PATH
equal "$(command -v aoe)" "$prefix/bin/aoe" "which aoe"

# The installed configurations are read: a preset that stands nowhere else is found, and one taken away is missed.
make_model squeezenet --small --image=32 --output=m.onnx >/dev/null || fail "make_model"
echo '{"preset": "ours", "search": {"max_trials": 2, "min_trials": 1}}' >"$prefix/share/aoe/configs/tuning/ours.json"
run 0 aoe --job_type=2 --framework=5 --model=m.onnx --preset=ours --trials=2 --progress_bar=off
run 0 aoe --job_type=2 --framework=5 --model=m.onnx --preset=ours --trials=2 --progress_bar=off --result=r.json
run 0 aoe report r.json --output=r.html
has r.html '<svg'
mv "$prefix/share/aoe/configs/tuning/default.json" saved.json
refuses 2 "$prefix/share/aoe/configs/tuning" aoe --job_type=2 --framework=5 --model=m.onnx
mv saved.json "$prefix/share/aoe/configs/tuning/default.json"
run 0 atc --framework=5 --model=m.onnx --output=m --soc_version=x86_64-haswell
run 0 atc --framework=5 --model=m.onnx --output=m

# A program in C++ against what pkg-config says, on dense inputs, gears, and outputs whose size only the run can tell.
run 0 env PKG_CONFIG_PATH="$(dirname "$(find "$prefix" -name aoe_runtime.pc)")" pkg-config --cflags --libs aoe_runtime
run 0 c++ -std=c++17 -Wall -Wextra -Wshadow -Werror "$here/../../examples/session.cpp" $(cat out) -Wl,-rpath,"$(dirname "$(find "$prefix" -name libascendcl.so)")" -o session
run 0 ./session m.om
has out '^output 1 10 40 bytes, first [0-9.e+-]+$'
make_model squeezenet --small --dynamic --output=d.onnx >/dev/null || fail "make_model --dynamic"
run 0 atc --framework=5 --model=d.onnx --output=geared --input_shape="input:-1,3,32,32" --dynamic_batch_size=1,3
run 0 ./session geared*.om 3
has out '^output 3 10 120 bytes'
run 1 ./session geared*.om 2
has err '2 is no gear'
run 1 ./session nowhere.om
has err '^session: aclmdlLoadFromFile: nowhere.om: there is no such file'

mkdir client
cp "$here/../runtime/acl_client.c" client/
cat >client/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(client LANGUAGES C)
find_package(aoe_runtime 0.1 REQUIRED)
add_executable(client acl_client.c)
target_link_libraries(client PRIVATE aoe::ascendcl)
CMAKE
run 0 cmake -S client -B client/build -DCMAKE_PREFIX_PATH="$prefix"
run 0 cmake --build client/build
run 0 client/build/client m.om
has out '^output:( [0-9.e+-]+)+'
finish
