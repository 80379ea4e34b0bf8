"""usage: flipped_bits.py OM. Flips one bit at many places of the om: aoe_run must refuse each with code 4 and one line."""
import subprocess
import sys

with open(sys.argv[1], "rb") as file:
    om = file.read()
header = range(0, 256, 16)
spread = [i * len(om) // 100 for i in range(100)]
for place in sorted({*header, *spread, len(om) - 1}):
    damaged = bytearray(om)
    damaged[place] ^= 0x10
    with open("damaged.om", "wb") as file:
        file.write(damaged)
    run = subprocess.run(["aoe_run", "--model=damaged.om", "--repeat=1"], capture_output=True, text=True)
    if run.returncode != 4 or run.stderr.count("\n") != 1 or "damaged.om" not in run.stderr:
        sys.exit(f"bit flipped in byte {place}: code {run.returncode}, {run.stderr!r}")
