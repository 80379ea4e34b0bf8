"""Cases of AIPP: a model, a configuration, an image, and what NumPy makes of it by the documented formulas.

For each case NAME.onnx (y = -x), NAME.cfg, NAME_x.npy and NAME_y.npy in the current directory; prints the names.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from onnx_writer import node, value, write

rng = np.random.default_rng(5)
YUV_TO_RGB = [[298, 0, 409], [298, -100, -208], [298, 516, 0]]
JPEG_TO_BGR = [[256, 454, 0], [256, -88, -183], [256, 0, 359]]
RGB_TO_YUV = [[66, 129, 25], [-38, -74, 112], [112, -94, -18]]


def pixels(form, n, h, w):
    if form == "YUV420SP_U8":
        return rng.integers(0, 256, (n, h * 3 // 2, w, 1), dtype=np.uint8)
    channels = {"RGB888_U8": 3, "XRGB8888_U8": 4, "YUV400_U8": 1}[form]
    return rng.integers(0, 256, (n, h, w, channels), dtype=np.uint8)


def planes(form, image, h):
    """Channels first, as integers; the chroma of YUV420SP belongs to 2 x 2 pixels."""
    if form != "YUV420SP_U8":
        return image.transpose(0, 3, 1, 2).astype(np.int64)
    n, _, w, _ = image.shape
    luma = image[:, :h, :, 0]
    chroma = image[:, h:, :, 0].reshape(n, h // 2, w // 2, 2)
    chroma = chroma.repeat(2, axis=1).repeat(2, axis=2)
    return np.stack([luma, chroma[..., 0], chroma[..., 1]], axis=1).astype(np.int64)


def bilinear(x, height, width):
    def taps(size, wanted):
        at = (np.arange(wanted) + 0.5) * size / wanted - 0.5
        low = np.floor(at).astype(int)
        share = at - low
        return np.clip(low, 0, size - 1), np.clip(low + 1, 0, size - 1), share
    y0, y1, fy = taps(x.shape[2], height)
    x0, x1, fx = taps(x.shape[3], width)
    rows = x[:, :, y0] * (1 - fy)[:, None] + x[:, :, y1] * fy[:, None]
    return rows[..., x0] * (1 - fx) + rows[..., x1] * fx


def prepare(c, image):
    form = c["form"]
    x = planes(form, image, c["source"][0])
    if c.get("ax"):
        x = x[:, [1, 2, 3, 0]]
    if c.get("swap"):
        order = [0, 2, 1] if form == "YUV420SP_U8" else [2, 1, 0] + list(range(3, x.shape[1]))
        x = x[:, order]
    if "crop" in c:
        top, left, h, w = c["crop"]
        x = x[:, :, top:top + h, left:left + w]
    if "resize" in c:
        x = np.rint(bilinear(x, *c["resize"])).astype(np.int64)
    if "matrix" in c:
        m = np.array(c["matrix"])
        if form == "YUV420SP_U8":
            bias = np.array(c["input_bias"]).reshape(3, 1, 1)
            converted = np.einsum("ij,njhw->nihw", m, x[:, :3] - bias) >> 8
        else:
            bias = np.array(c["output_bias"]).reshape(3, 1, 1)
            converted = (np.einsum("ij,njhw->nihw", m, x[:, :3]) >> 8) + bias
        x = np.concatenate([np.clip(converted, 0, 255), x[:, 3:]], axis=1)
    x = x[:, :c["shape"][1]].astype(np.float64)
    for i in range(x.shape[1]):
        x[:, i] = (x[:, i] - c.get("mean", [0] * 4)[i] - c.get("min", [0] * 4)[i]) * c.get("var", [1] * 4)[i]
    if "pad" in c:
        top, bottom, left, right = c["pad"]
        x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=c.get("pad_value", 0))
    return x


def config(c):
    lines = ["# made by aipp_cases.py", "aipp_op {", "  aipp_mode: static", f"  input_format : {c['form']}"]
    def put(key, value):
        lines.append(f"  {key}: {str(value).lower() if isinstance(value, bool) else value}")
    if any(key in c for key in ("crop", "resize", "pad")) or c.get("names_source"):
        put("src_image_size_h", c["source"][0])
        put("src_image_size_w", c["source"][1])
    if "crop" in c:
        put("crop", True)
        for key, v in zip(("load_start_pos_h", "load_start_pos_w", "crop_size_h", "crop_size_w"), c["crop"]):
            put(key, v)
    if "resize" in c:
        put("resize", True)
        put("resize_output_h", c["resize"][0])
        put("resize_output_w", c["resize"][1])
    if "pad" in c:
        put("padding", True)
        for key, v in zip(("top", "bottom", "left", "right"), c["pad"]):
            put(key + "_padding_size", v)
        put("padding_value", c.get("pad_value", 0))
    put("rbuv_swap_switch", bool(c.get("swap")))
    put("ax_swap_switch", bool(c.get("ax")))
    put("csc_switch", "matrix" in c)
    for i, row in enumerate(c.get("matrix", [])):
        for j, entry in enumerate(row):
            put(f"matrix_r{i}c{j}", entry)
    for key in ("input_bias", "output_bias"):
        for i, v in enumerate(c.get(key, [])):
            put(f"{key}_{i}", v)
    for key, name in (("mean", "mean_chn"), ("min", "min_chn"), ("var", "var_reci_chn")):
        for i, v in enumerate(c.get(key, [])):
            put(f"{name}_{i}", v)
    return "\n".join(lines + ["}"]) + "\n"


CASES = {
    "plain": dict(form="RGB888_U8", source=(8, 10), shape=(2, 3, 8, 10)),
    "imagenet": dict(form="RGB888_U8", source=(16, 12), shape=(1, 3, 16, 12), names_source=True,
                     mean=[124, 116, 104], min=[0.5, 0.25, 0], var=[0.017, 0.0175, 0.0174]),
    "bgr_cropped": dict(form="RGB888_U8", source=(20, 31), shape=(1, 3, 9, 7), swap=True, crop=(3, 5, 9, 7)),
    "gray": dict(form="RGB888_U8", source=(6, 6), shape=(1, 1, 6, 6),
                 matrix=RGB_TO_YUV, output_bias=[16, 128, 128], var=[0.5]),
    "to_yuv": dict(form="RGB888_U8", source=(6, 8), shape=(1, 3, 6, 8),
                   matrix=RGB_TO_YUV, output_bias=[16, 128, 128]),
    "nv12": dict(form="YUV420SP_U8", source=(16, 24), shape=(2, 3, 16, 24), matrix=YUV_TO_RGB,
                 input_bias=[16, 128, 128], mean=[104, 117, 123], var=[0.01, 0.02, 0.03]),
    "nv21_cropped_padded": dict(form="YUV420SP_U8", source=(20, 30), shape=(1, 3, 15, 21), swap=True,
                                crop=(4, 6, 8, 12), pad=(3, 4, 5, 4), pad_value=-1.5, matrix=JPEG_TO_BGR,
                                input_bias=[0, 128, 128], var=[0.1, 0.1, 0.1]),
    "yuv_as_it_is": dict(form="YUV420SP_U8", source=(4, 6), shape=(1, 3, 4, 6)),
    "xrgb": dict(form="XRGB8888_U8", source=(5, 7), shape=(1, 3, 5, 7), ax=True, swap=True, min=[1, 2, 3]),
    "xrgb_four": dict(form="XRGB8888_U8", source=(5, 7), shape=(1, 4, 5, 7), matrix=RGB_TO_YUV,
                      output_bias=[16, 128, 128], var=[1, 1, 1, 0.5]),
    "y_resized": dict(form="YUV400_U8", source=(12, 18), shape=(1, 1, 20, 30), crop=(1, 2, 10, 15), resize=(20, 30),
                      mean=[128], var=[0.0078125]),
    "resized_padded": dict(form="RGB888_U8", source=(30, 17), shape=(1, 3, 18, 18), resize=(18, 10),
                           pad=(0, 0, 4, 4), pad_value=0.5, var=[0.00392] * 3),
}

for name, case in CASES.items():
    shape = case["shape"]
    write(f"{name}.onnx", [node("Neg", ["image"], ["y"], "neg")], [value("image", *shape)], [value("y", *shape)])
    with open(f"{name}.cfg", "w") as file:
        file.write(config(case))
    image = pixels(case["form"], shape[0], *case["source"])
    np.save(f"{name}_x.npy", image)
    expected = -prepare(case, image)
    assert expected.shape == shape, (name, expected.shape)
    np.save(f"{name}_y.npy", expected.astype(np.float32))
    print(name)
