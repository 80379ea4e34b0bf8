# The picture of the front page is what scripts/draw_results makes of the table in docs/measurements.md: picture_test.sh PROJECT_DIR
cd "$1" || exit 2
scripts/draw_results "Times as fast as ONNX Runtime 1.30, two Zen 4 cores" "Two threads" <docs/measurements.md | diff -q - docs/results.svg || {
  echo 'make it again: scripts/draw_results "Times as fast as ONNX Runtime 1.30, two Zen 4 cores" "Two threads" <docs/measurements.md >docs/results.svg'
  exit 1
}
