# docs/operators.md is what the code says today: operators_test.sh OPERATOR_TABLE PAGE
set -o pipefail
"$1" | diff - "$2" || {
  echo "make it again: build/ci/bin/operator_table >docs/operators.md"
  exit 1
}
