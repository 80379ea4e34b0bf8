// AOE_WIDE in front of a function: compiled for the vectors that every machine has which runs oms (runtime/isa.cpp: avx2).
// What is inlined into it counts; a lambda or a call of something large does not.
#pragma once

#if defined(__x86_64__)
#define AOE_WIDE __attribute__((target("arch=x86-64-v3")))
#else
#define AOE_WIDE
#endif
