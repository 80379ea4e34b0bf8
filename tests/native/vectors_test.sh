#!/bin/sh
# Loops marked AOE_WIDE are vectors in what the build has made: vectors_test.sh OBJDUMP LIBRARY. Results do not say so, and nobody sees a kernel that is ten times slower.
expect() { # FUNCTION FILE INSTRUCTION
  code=$("$objdump" -d --no-show-raw-insn -C "$library" | sed -n "/^[0-9a-f]* <.*$1(/,/^\$/p")
  [ -n "$code" ] || { echo "$library has no $1() ($2)"; exit 1; }
  echo "$code" | grep -q "$3.*%ymm" && return
  echo "$1() of $2 computes one number at a time: is it compiled at a lower level than -O3?"
  exit 1
}
objdump=$1 library=$2
expect 'sum_taps<8>' native/windows/depthwise.cpp 'vfmadd[0-9]*ps'
expect 'write_larger<true, float>' native/lines/maxima.h vmaxps
expect 'transpose_block<float>' native/lines/transpose_block.h vunpcklps
