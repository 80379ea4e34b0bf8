# Programs that measure at once learn of each other; the later one says so, once.
source "$(dirname "$0")/lib.sh"
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
make_model mlp-training --small --output=m.onnx >/dev/null || fail "make_model"
run 0 atc --framework=5 --model=m.onnx --output=m
said="measuring at once on this machine: aoe_compare, process [0-9]+, since 20.*Z; both will be disturbed: let one end first"

aoe_compare a=m.om,m.om --loads=1 --rounds=1000 --seconds=1 >earlier.out 2>earlier.err &
earlier=$!
until [ -s "$TMPDIR/aoe_measuring_$(id -u)" ]; do sleep 0.1; done
aoe_compare a=m.om,m.om --loads=1 --rounds=2 --seconds=0.01 >later.out 2>later.err || fail "aoe_compare beside another"
equal "$(grep -cE "$said" later.err)" 1 "lines of the later one"
for model in m n; do cp m.onnx $model-copy.onnx; echo "$PWD/$model-copy.onnx"; done >models.txt
aoe --models=models.txt --job_type=2 --preset="$brief" --progress_bar=off >aoe.out 2>aoe.err || fail "aoe beside another"
equal "$(grep -cE "$said" aoe.err)" 1 "lines of aoe, of two models"
kill -9 $earlier
wait $earlier 2>/dev/null
equal "$(cat earlier.err)" "" "the earlier one was alone"
aoe_compare a=m.om,m.om --loads=1 --rounds=2 --seconds=0.01 >later.out 2>later.err || fail "aoe_compare alone"
equal "$(cat later.err)" "" "alone again"

rm "$TMPDIR/aoe_measuring_$(id -u)"
ln -s "$PWD/m.om" "$TMPDIR/aoe_measuring_$(id -u)"  # somebody lays a link
before=$(sha256sum <m.om)
aoe_compare a=m.om,m.om --loads=1 --rounds=2 --seconds=0.01 --log=debug >later.out 2>later.err || fail "aoe_compare at a link"
has later.err "others do not learn that this process measures"
equal "$(sha256sum <m.om)" "$before" "what the link leads to"
finish
