#!/usr/bin/env python3
"""Runs an om on numpy arrays: infer.py MODEL.om [INPUT.npy ...]

One .npy for each input of the model, in its order; random numbers without any. Writes output_0.npy, output_1.npy, ...
"""
import sys

import acl
import numpy as np
from om import Om, check


def main(om_path, input_paths):
    check("acl.init", acl.init())
    check("acl.rt.set_device", acl.rt.set_device(0))

    om = Om(om_path)
    if not input_paths:
        om.set_random_inputs()
    elif len(input_paths) != acl.mdl.get_num_inputs(om.desc):
        raise SystemExit(f"the model has {acl.mdl.get_num_inputs(om.desc)} inputs, given are {len(input_paths)}")
    for index, path in enumerate(input_paths):
        om.set_input(index, np.load(path))
    om.execute()
    for index in range(acl.mdl.get_num_outputs(om.desc)):
        output = om.get_output(index)
        np.save(f"output_{index}.npy", output)
        print(f"{acl.mdl.get_output_name_by_index(om.desc, index)}: {output.dtype} {list(output.shape)}, "
              f"{output.min():g} to {output.max():g}")
    om.unload()

    check("acl.rt.reset_device", acl.rt.reset_device(0))
    check("acl.finalize", acl.finalize())


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2:])
