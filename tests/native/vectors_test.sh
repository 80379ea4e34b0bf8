#!/bin/sh
# Loops marked AOE_WIDE are vectors in what the build has made: vectors_test.sh OBJDUMP LIBRARY. Results do not say so, and nobody sees a kernel that is ten times slower.
code=$("$1" -d --no-show-raw-insn -C "$2" | sed -n '/^[0-9a-f]* <.*sum_taps<8>(/,/^$/p')
[ -n "$code" ] || { echo "$2 has no sum_taps<8>() (native/depthwise.cpp)"; exit 1; }
echo "$code" | grep -q 'vfmadd[0-9]*ps.*%ymm' && exit 0
echo "sum_taps<8>() of native/depthwise.cpp multiplies one number at a time: is it compiled at a lower level than -O3?"
exit 1
