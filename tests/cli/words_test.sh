# Words that are nearly right are named, with what they may have meant; flags of other commands are no flags of this one.
source "$(dirname "$0")/lib.sh"
for program in aoe atc aoe_run aoe_quantize "aoe serve_tasks" "msprof show ."; do
  refuses 2 "'stray' is not a flag" $program stray
done
refuses 7 "stray: No such file or directory" msprof show stray
refuses 2 "did you mean --model=m.onnx?" atc model=m.onnx
refuses 2 "'resnet50' is not a flag" make_model squeezenet resnet50 --output=m.onnx
refuses 2 "did you mean aoe report?" aoe reprot result.json
refuses 2 "did you mean --model?" atc --modle=m.onnx
refuses 2 "did you mean --soc_version?" atc --soc=auto
refuses 2 "did you mean msprof show?" msprof shwo
refuses 2 "write --output=VALUE" msprof --output prof aoe_run
refuses 2 "write --model=VALUE" atc --model
refuses 2 "did you mean list?" aoe_bank lst
refuses 2 "commands are: list, show" aoe_bank zzzzzz
refuses 2 "did you mean verify?" aoe_sign verfy
refuses 2 "keygen takes no 'b'" aoe_sign keygen a b
refuses 2 "--om_key: is of verify; leave it out for sign" aoe_sign sign --om_key=k m.om
refuses 2 "--older_than: is of prune; leave it out for list" aoe_bank list --older_than=3
refuses 2 "--fix: is of verify" aoe_bank stats --fix
refuses 2 "--records: is of show, list, prune" aoe_bank stats --records
refuses 2 "did you mean squeezenet?" make_model sqeezenet --output=m.onnx
make_model squeezenet --small --image=32 --output=m.onnx >/dev/null && atc --model=m.onnx --output=m >/dev/null || fail "m.om"
refuses 2 "--tolerance: is of --reference, which is not given" aoe_run --model=m.om --tolerance=0.1
finish
