# A site loads only what it signed.
source "$(dirname "$0")/lib.sh"

make_model mlp-training --small --output=m.onnx >/dev/null || fail "make_model"
run 0 atc --framework=5 --model=m.onnx --output=m
cp m.om plain.om

run 0 aoe_sign keygen site
equal "$(cat out)" "site.key
site.pub" "what keygen says"
equal "$(stat -c %a site.key)" 600 "who may read the secret key"
run 0 aoe_sign keygen other
refuses 6 "File exists" aoe_sign keygen site
mkdir half.pub
refuses 6 "half.pub: cannot be written: File exists; a key is never overwritten" aoe_sign keygen half
run 0 aoe_sign sign --key=site.key m.om
run 0 aoe_sign verify --om_key=site.pub m.om
has out '^m.om: signed$'
refuses 4 "is not signed by a key that is trusted here" aoe_sign verify --om_key=other.pub m.om
refuses 4 "is not signed" aoe_sign verify --om_key=site.pub m.om plain.om

# Who runs oms.
run 0 aoe_run --model=m.om --om_key=site.pub --repeat=1
run 0 aoe_run --model=m.om --repeat=1
run 0 aoe_run --model=plain.om --repeat=1
refuses 4 "is not signed" aoe_run --model=plain.om --om_key=site.pub --repeat=1
refuses 4 "is not signed by a key" aoe_run --model=m.om --om_key=other.pub --repeat=1
run 0 aoe_compare --om_key=site.pub m=m.om,m.om --rounds=1 --seconds=0.01
run 4 aoe_compare --om_key=site.pub m=m.om,plain.om --rounds=1 --seconds=0.01
cat other.pub site.pub >both.pub
run 0 env AOE_OM_KEY=both.pub aoe_run --model=m.om --repeat=1
refuses 4 "is not signed" env AOE_OM_KEY=site.pub aoe_run --model=plain.om --repeat=1

# No permission by accident.
: >empty.pub
run 2 aoe_run --model=m.om --om_key=empty.pub --repeat=1
run 2 aoe_run --model=m.om --om_key=missing.pub --repeat=1
run 2 aoe_run --model=m.om --om_key=site.key --repeat=1
AOE_OM_KEY=missing.pub aoe_run --model=m.om --repeat=1 >out 2>err && fail "a key file that is missing lets everything through"

refuses 2 "sign needs --key" aoe_sign sign m.om
refuses 2 "verify needs --om_key" aoe_sign verify m.om
refuses 2 "commands are: keygen, sign, verify" aoe_sign
refuses 2 "site.pub" aoe_sign sign --key=site.pub m.om
refuses 4 "is not an om file" aoe_sign sign --key=site.key m.onnx
finish
