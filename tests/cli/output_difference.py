# Prints the largest difference between the float32 or float16 .npy files of two directories, as a share of the range of the first's; nan where one of them has a NaN
# that the other has not.
import glob
import os
import struct
import sys


def load(path):
    data = open(path, 'rb').read()
    header = struct.unpack('<H', data[8:10])[0]
    is_half = b"'<f2'" in data[:10 + header]
    assert is_half or b"'<f4'" in data[:10 + header], path + ' is neither float32 nor float16'
    return [v[0] for v in struct.iter_unpack('<e' if is_half else '<f', data[10 + header:])]


exact, other = sys.argv[1:]
files = sorted(glob.glob(exact + '/*.npy'))
assert files, 'no outputs in ' + exact
worst = 0.0
for path in files:
    a, b = load(path), load(os.path.join(other, os.path.basename(path)))
    assert len(a) == len(b), path + ': lengths differ'
    spread = max(a) - min(a) or 1.0
    if any((x != x) != (y != y) for x, y in zip(a, b)):
        worst = float('nan')  # which no bound allows
        break
    worst = max(worst, *(abs(x - y) / spread for x, y in zip(a, b) if x == x))
print(worst)
