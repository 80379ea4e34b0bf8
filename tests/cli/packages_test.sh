# The Debian packages: each file is in one of them, they say what they need, and what they hold works where it was unpacked.
source "$(dirname "$0")/lib.sh"
command -v dpkg-deb >/dev/null && command -v cpack >/dev/null || { echo "no dpkg-deb or no cpack"; exit 77; }

unset AOE_CONFIG_DIR
run 0 cpack --config "$bin/../CPackConfig.cmake" -G DEB -B "$work/packages"
runtime=$(ls packages/aoe-runtime_*.deb) tools=$(ls packages/aoe-tools_*.deb)
files() { dpkg-deb --fsys-tarfile "$1" | tar -t | grep -v '/$' | sort; }
files "$runtime" >runtime.txt
files "$tools" >tools.txt
[ -z "$(comm -12 runtime.txt tools.txt)" ] || fail "in both packages: $(comm -12 runtime.txt tools.txt)"
has runtime.txt '/usr/lib/(.*/)?libascendcl\.so'
has runtime.txt '/usr/include/.*acl/acl\.h'
for program in aoe atc aoe_run aoe_bank aoe_compare aoe_quantize aoe_sign msprof make_model; do has tools.txt "/usr/bin/$program\$"; done
dpkg-deb -f "$tools" Depends >depends
has depends 'aoe-runtime \(= '
has depends 'librocksdb'
dpkg-deb -f "$runtime" Depends >depends
has depends 'libc6'
grep -q rocksdb depends && fail "the runtime needs the bank's database"

mkdir root
dpkg-deb -x "$runtime" root && dpkg-deb -x "$tools" root
export PATH=$work/root/usr/bin:$PATH LD_LIBRARY_PATH=$(dirname "$(find "$work/root" -name 'libascendcl.so*' | head -1)")
equal "$(command -v atc)" "$work/root/usr/bin/atc" "which atc"
run 0 make_model squeezenet --small --image=32 --output=m.onnx
run 0 atc --framework=5 --model=m.onnx --output=m
run 0 aoe --framework=5 --model=m.onnx --job_type=2 --preset="$brief" --trials=2 --progress_bar=off
run 0 aoe_run --model=m.om --seconds=0.1
finish
