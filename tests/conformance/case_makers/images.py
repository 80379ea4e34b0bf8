"""Images, regions of them, signals."""
import math

import numpy as np

from case_makers.results import crop
from case_makers.writing import MS, case, node, rand, rng, write


def images():
    x = rand(2, 5, 6)
    size = np.array([3, 8], np.int64)
    y = np.pad(x[:, 1:4], ((0, 0), (0, 0), (1, 1)))
    case("center_crop_pad", "CenterCropPad", {"x": x, "size": size}, {"y": y}, axes=[1, -1], constants=["size"])
    odd = np.array([2, 4, 9], np.int64)
    y = np.pad(x[:, 0:4], ((0, 0), (0, 0), (1, 2)))
    case("center_crop_pad_odd", "CenterCropPad", {"x": x, "size": odd}, {"y": y}, constants=["size"])
    theta = rand(2, 2, 3)
    for align in (0, 1):
        def places(n):
            return np.linspace(-1, 1, n) if align else (2 * np.arange(n) + 1) / n - 1
        gy, gx = np.meshgrid(places(3), places(4), indexing="ij")
        base = np.stack([gx, gy, np.ones_like(gx)], -1)
        case(f"affine_grid_{align}", "AffineGrid", {"theta": theta, "size": np.array([2, 3, 3, 4], np.int64)},
             {"grid": np.einsum("hwk,nik->nhwi", base, theta).astype(np.float32)}, constants=["size"], align_corners=align)
    theta = rand(1, 3, 4)
    line = (2 * np.arange(2) + 1) / 2 - 1
    gz, gy, gx = np.meshgrid(line, (2 * np.arange(3) + 1) / 3 - 1, line, indexing="ij")
    base = np.stack([gx, gy, gz, np.ones_like(gx)], -1)
    case("affine_grid_3d", "AffineGrid", {"theta": theta, "size": np.array([1, 1, 2, 3, 2], np.int64)},
         {"grid": np.einsum("dhwk,nik->ndhwi", base, theta).astype(np.float32)}, constants=["size"])
    columns = rand(1, 2 * 4, 6)  # 2 channels, blocks of 2x2, of an image of 3x4 with strides of 1
    image = np.zeros((1, 2, 3, 4), np.float32)
    for c in range(2):
        for t, (dy, dx) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
            for n, (oy, ox) in enumerate((oy, ox) for oy in range(2) for ox in range(3)):
                image[0, c, oy + dy, ox + dx] += columns[0, c * 4 + t, n]
    case("col2im", "Col2Im", {"x": columns, "image": np.array([3, 4], np.int64), "block": np.array([2, 2], np.int64)},
         {"y": image}, constants=["image", "block"])
    padded = rand(1, 4, 4)  # 1 channel, blocks of 2x2 two apart, an image of 2x2 with a border of 1
    image = np.zeros((1, 1, 4, 4), np.float32)
    for t, (dy, dx) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
        for n, (oy, ox) in enumerate((oy, ox) for oy in range(2) for ox in range(2)):
            image[0, 0, 2 * oy + dy, 2 * ox + dx] += padded[0, t, n]
    case("col2im_padded", "Col2Im", {"x": padded, "image": np.array([2, 2], np.int64), "block": np.array([2, 2], np.int64)},
         {"y": image[:, :, 1:3, 1:3]}, constants=["image", "block"], pads=[1, 1, 1, 1], strides=[2, 2])


def deform_conv(x, w, offset, bias, mask, pad, groups, offset_groups):
    n, c, height, width = x.shape
    oc, ic, kh, kw = w.shape
    oh, ow = height + 2 * pad - kh + 1, width + 2 * pad - kw + 1
    y = np.zeros((n, oc, oh, ow))

    def read(plane, r, s):
        total, r0, s0 = 0.0, math.floor(r), math.floor(s)
        for rr in (r0, r0 + 1):
            for ss in (s0, s0 + 1):
                if 0 <= rr < height and 0 <= ss < width:
                    total += (1 - abs(r - rr)) * (1 - abs(s - ss)) * plane[rr, ss]
        return total

    for b in range(n):
        for o in range(oc):
            for i in range(oh):
                for j in range(ow):
                    total = bias[o]
                    for ci in range(ic):
                        channel = o // (oc // groups) * ic + ci
                        group = channel // (c // offset_groups)
                        for k in range(kh * kw):
                            at = (group * kh * kw + k)
                            dy, dx = offset[b, 2 * at, i, j], offset[b, 2 * at + 1, i, j]
                            factor = 1 if mask is None else mask[b, at, i, j]
                            total += w[o, ci, k // kw, k % kw] * factor * read(
                                x[b, channel], i - pad + k // kw + dy, j - pad + k % kw + dx)
                    y[b, o, i, j] = total
    return y.astype(np.float32)


def deformed():
    x, w = rand(1, 2, 4, 5), rand(2, 2, 2, 2)
    offset, bias, mask = rand(1, 8, 3, 4), rand(2), np.abs(rand(1, 4, 3, 4))
    zero = np.zeros(2, np.float32)
    case("deform_conv", "DeformConv", {"x": x, "w": w, "offset": offset},
         {"y": deform_conv(x, w, offset, zero, None, 0, 1, 1)}, constants=["w"], kernel_shape=[2, 2])
    case("deform_conv_mask", "DeformConv", {"x": x, "w": w, "offset": offset, "b": bias, "mask": mask},
         {"y": deform_conv(x, w, offset, bias, mask, 0, 1, 1)}, constants=["w", "b"])
    w1, far = rand(2, 1, 3, 3), rand(1, 36, 4, 5) * 3
    case("deform_conv_groups", "DeformConv", {"x": x, "w": w1, "offset": far},
         {"y": deform_conv(x, w1, far, zero, None, 1, 2, 2)}, constants=["w"], pads=[1, 1, 1, 1], group=2, offset_group=2)


def pairs(x):
    return np.stack([x.real, x.imag], -1).astype(np.float32)


def signals():
    x = rand(2, 8, 3)
    half = np.fft.rfft(x, axis=1)
    axis = np.array(1, np.int64)
    case("dft_inverse_onesided", "DFT", {"x": pairs(half), "length": None, "axis": axis},
         {"y": np.fft.irfft(half, axis=1)[..., None].astype(np.float32)}, constants=["axis"], inverse=1, onesided=1)
    # An odd length, longer than the spectrum says; what is no real signal's counts as if it were.
    wild = (rand(2, 4) + 1j * rand(2, 4)).astype(np.complex64)
    case("dft_inverse_onesided_length", "DFT", {"x": pairs(wild), "length": np.array(9, np.int64), "axis": axis},
         {"y": np.fft.irfft(wild, n=9, axis=1)[..., None].astype(np.float32)}, constants=["length", "axis"], inverse=1,
         onesided=1)
    # A real signal whose last axis, of one part, is left out.
    own = np.random.default_rng(20261123)  # so that what is drawn behind it stays the same
    signal, window = (own.uniform(-1, 1, shape).astype(np.float32) for shape in ((2, 20), 8))
    frames = np.stack([signal[:, 4 * f:4 * f + 8] * window for f in range(4)], 1)
    case("stft_without_parts", "STFT", {"signal": signal, "step": np.array(4, np.int64), "window": window},
         {"y": pairs(np.fft.rfft(frames, axis=2))}, constants=["step"])


def weighted_corners(plane, y, x):
    y, x = max(y, 0.0), max(x, 0.0)
    y0, x0 = min(int(y), plane.shape[0] - 1), min(int(x), plane.shape[1] - 1)
    y1, x1 = min(y0 + 1, plane.shape[0] - 1), min(x0 + 1, plane.shape[1] - 1)
    v, u = (y - y0 if y1 > y0 else 0.0), (x - x0 if x1 > x0 else 0.0)
    return [(1 - v) * (1 - u) * plane[y0, x0], (1 - v) * u * plane[y0, x1], v * (1 - u) * plane[y1, x0],
            v * u * plane[y1, x1]]


def regions():
    """The maximum is that of the weighted corners of all samples, as the cases of ONNX have it."""
    x = rand(2, 2, 6, 7)
    rois = np.array([[0, 0, 5, 4], [1, 2, 6, 5], [2.5, 1, 4, 5.5]], np.float32)
    images = np.array([0, 1, 1], np.int64)
    bins, samples = 3, 2
    y = np.zeros((3, 2, bins, bins), np.float32)
    for r, (left, top, right, bottom) in enumerate(rois.astype(float)):
        places = [[begin + (end - begin) / bins * (i + (s + 0.5) / samples) for s in range(samples)]
                  for begin, end in ((top, bottom), (left, right)) for i in range(bins)]
        for c in range(2):
            for i in range(bins):
                for j in range(bins):
                    y[r, c, i, j] = max(max(weighted_corners(x[images[r], c], a, b)) for a in places[i]
                                        for b in places[bins + j])
    case("roi_align_max", "RoiAlign", {"x": x, "rois": rois, "images": images}, {"y": y}, mode="max", output_height=bins,
         output_width=bins, sampling_ratio=samples, coordinate_transformation_mode="output_half_pixel")


def crops():
    x, at = rand(2, 3, 5, 6), np.array([1, 0, 1], np.int32)
    boxes = np.array([[0.1, 0.2, 0.7, 0.93], [0.8, 1.0, 0.05, 0.0], [-0.3, 0.4, 0.6, 1.25]], np.float32)
    for name, mode, size, outside in (("bilinear", None, (3, 4), 0.0), ("nearest", "nearest", (2, 3), 0.0),
                                      ("outside", "bilinear", (4, 2), -2.5), ("one_pixel", "bilinear", (1, 1), 0.0)):
        y = np.stack([crop(x[n], box.astype(float), *size, mode == "nearest", outside) for n, box in zip(at, boxes)])
        attributes = {**({"mode": mode} if mode else {}), **({"extrapolation_value": outside} if outside else {})}
        case(f"ms_crop_and_resize_{name}", "CropAndResize", {"x": x, "boxes": boxes, "at": at, "size": np.array(size, np.int32)},
             {"y": y}, MS, constants=["size"], **attributes)


def masked_pools():
    """Along the last axis a window ends at a mask of 0; the first element of several axes counts in any case."""
    lowest = np.finfo(np.float32).min

    def pooled(x, mask, kernel, strides, pads):
        shape, axes = x.shape[2:], len(kernel)
        counts = [(s + pads[i] + pads[i + axes] - kernel[i]) // strides[i] + 1 for i, s in enumerate(shape)]
        y = np.full(x.shape[:2] + tuple(counts), lowest, np.float32)
        for place in np.ndindex(*y.shape):
            begins = [place[2 + i] * strides[i] - pads[i] for i in range(axes)]
            for rows in np.ndindex(*kernel[:-1]):
                row = [b + r for b, r in zip(begins, rows)]
                if any(not 0 <= r < s for r, s in zip(row, shape)):
                    continue
                for c in range(max(begins[-1], 0), min(begins[-1] + kernel[-1], shape[-1])):
                    at = (*row, c)
                    if mask[(0, 0, *at)] == 0 and (axes == 1 or any(at)):
                        break
                    y[place] = max(y[place], x[(*place[:2], *at)])
        return y

    for name, shape, kernel, strides, pads in (
            ("line", (2, 2, 9), [3], [2], [1, 1]), ("image", (2, 2, 4, 6), [2, 3], [1, 2], [1, 0, 0, 2]),
            ("volume", (1, 2, 3, 4, 4), [2, 2, 2], [1, 2, 1], [0] * 6)):
        x, mask = rand(*shape), (rng.random((1, 1, *shape[2:])) < 0.7).astype(np.int32)
        case(f"ms_maxpool_with_mask_{name}", "MaxpoolWithMask", {"x": x, "mask": mask}, {"y": pooled(x, mask, kernel, strides, pads)}, MS,
             kernel_shape=kernel, strides=strides, pads=pads)


def mean_variance_before_opset_9():
    x = rand(2, 3, 4, 5) + 1
    for across, axes in ((0, (0, 2, 3)), (1, (0, 1, 2, 3))):
        apart = x - x.mean(axes, keepdims=True)
        deviation = np.sqrt((apart ** 2).mean(axes, keepdims=True))
        for divides in (0, 1):
            write(f"mean_variance_normalization_opset_8_{across}_{divides}",
                  [node("MeanVarianceNormalization", ["x"], ["y"], across_channels=across, normalize_variance=divides)],
                  {"x": x}, {"y": apart / deviation if divides else apart}, opset=8)
    case("ms_mean_variance_normalization", "MeanVarianceNormalization", {"x": x}, {"y": apart / deviation}, MS, across_channels=1)
