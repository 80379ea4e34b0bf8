// Resize and Upsample: resampling by scales or to sizes, axis by axis.
#include "reference/windows/resize.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/size.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/strided.h"
#include "reference/tensors/widen.h"
#include "reference/windows/resample.h"
#include "reference/work.h"

namespace aoe::reference {
namespace {

constexpr int kCoordinatesVersion =
    11;  ///< Resize has roi, sizes and coordinate modes since; before it: X and scales
constexpr int kScalesInputVersion = 9;  ///< Upsample's scales are an input since

bool is_given(std::span<const Tensor> inputs, std::size_t i) {
  return i < inputs.size() && inputs[i].is_present() && inputs[i].desc.shape != Shape{0};
}

/// The axes that roi, scales and sizes speak of.
std::vector<std::size_t> resized_axes(const Attrs& attrs, std::size_t rank) {
  std::vector<std::size_t> axes;
  const auto given = attrs.get_ints("axes");
  normalize_axes(given, rank);  // none twice
  for (std::int64_t axis : given) axes.push_back(normalize_axis(axis, rank));
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
  }
  return axes;
}

/// Output extent from a scale, in float as ONNX's own inference does it.
std::int64_t scaled_extent(std::int64_t input, double scale) {
  if (input == kUnknownDim) return kUnknownDim;
  const float extent = std::floor(static_cast<float>(input) * static_cast<float>(scale));
  if (!(extent <= static_cast<float>(kMostBytes)))
    fail_model("scale " + std::to_string(scale) + " of a dimension of " + std::to_string(input));
  return static_cast<std::int64_t>(extent);
}

void check_count(const std::string& what, std::size_t count, std::size_t axes) {
  if (count != axes) {
    fail_model(std::to_string(count) + " " + what + " for " + std::to_string(axes) + " axes");
  }
}

void apply_scales(const std::vector<double>& scales, const std::vector<std::size_t>& axes,
                  std::vector<ResampleAxis>& result) {
  check_count("scales", scales.size(), axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!(scales[i] > 0)) fail_model("scale " + std::to_string(scales[i]) + ", needs more than 0");
    result[axes[i]].scale = scales[i];
    result[axes[i]].output = scaled_extent(result[axes[i]].input, scales[i]);
  }
}

/// The sizes that keep_aspect_ratio_policy makes of the wanted ones.
void apply_sizes(const Attrs& attrs, const std::vector<std::int64_t>& sizes,
                 const std::vector<std::size_t>& axes, std::vector<ResampleAxis>& result) {
  check_count("sizes", sizes.size(), axes.size());
  check_not_negative(sizes, "sizes");
  const std::string policy = attrs.get_string("keep_aspect_ratio_policy", "stretch");
  std::vector<double> ratios;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResampleAxis& axis = result[axes[i]];
    axis.output = sizes[i];
    axis.scale = static_cast<double>(axis.output) / static_cast<double>(axis.input);
    ratios.push_back(axis.scale);
  }
  if (policy == "stretch") return;
  if (policy != "not_larger" && policy != "not_smaller") {
    fail_model("keep_aspect_ratio_policy \"" + policy + "\" is unknown");
  }
  const double common = policy == "not_larger" ? *std::min_element(ratios.begin(), ratios.end())
                                               : *std::max_element(ratios.begin(), ratios.end());
  for (std::size_t i : axes) {
    result[i].scale = common;
    const double extent = std::round(common * static_cast<double>(result[i].input));
    if (!(extent <= static_cast<double>(kMostBytes)))
      fail_model("sizes that a dimension of " + std::to_string(result[i].input) + " cannot have");
    result[i].output = static_cast<std::int64_t>(extent);
  }
}

/// Everything but the roi. Extents are kUnknownDim where values are not known yet.
std::vector<ResampleAxis> resize_axes(const Attrs& attrs, int version,
                                      std::span<const Tensor> inputs) {
  const Shape& x = inputs[0].desc.shape;
  const auto axes = resized_axes(attrs, x.size());
  const std::size_t scales = version >= kCoordinatesVersion ? 2 : 1, sizes = 3;
  std::vector<ResampleAxis> result;
  for (std::int64_t dim : x) result.push_back({.input = dim, .output = dim});
  const bool has_sizes = version >= kCoordinatesVersion && is_given(inputs, sizes);
  if (!has_sizes && !is_given(inputs, scales)) fail_model("has neither scales nor sizes");
  const Tensor& wanted = inputs[has_sizes ? sizes : scales];
  if (wanted.data == nullptr) {
    for (std::size_t axis : axes) result[axis].output = kUnknownDim;
  } else if (has_sizes) {
    const auto values = to_int64s(wanted);
    apply_sizes(attrs, values, axes, result);
    const bool is_stretch = attrs.get_string("keep_aspect_ratio_policy", "stretch") == "stretch";
    for (std::size_t axis : axes) {
      if (!is_stretch && !is_static(x)) result[axis].output = kUnknownDim;
    }
  } else {
    apply_scales(to_doubles(wanted), axes, result);
  }
  return result;
}

ResampleMode resize_mode(const Attrs& attrs, int version) {
  const std::string interpolation = attrs.get_string("mode", "nearest");
  if (version < kCoordinatesVersion) {
    return {.interpolation = interpolation, .coordinates = "asymmetric", .rounding = "simple"};
  }
  return {.interpolation = interpolation,
          .coordinates = attrs.get_string("coordinate_transformation_mode", "half_pixel"),
          .rounding = attrs.get_string("nearest_mode", "round_prefer_floor"),
          .cubic_coefficient = attrs.get_float("cubic_coeff_a", -0.75F),
          .excludes_outside = attrs.get_int("exclude_outside", 0) != 0,
          .antialiases = attrs.get_int("antialias", 0) != 0};
}

std::vector<TensorDesc> output_desc(DataType dtype, const std::vector<ResampleAxis>& axes) {
  Shape shape;
  for (const ResampleAxis& axis : axes)
    if (axis.input == 0 && axis.output > 0) fail_model("a dimension of 0 cannot be stretched");
  for (const ResampleAxis& axis : axes) shape.push_back(axis.output);
  return {{.dtype = dtype, .shape = std::move(shape)}};
}

using Tables = std::vector<std::vector<ResampledPosition>>;

Tables tables_of(const ResampleMode& mode, const std::vector<ResampleAxis>& axes) {
  Tables tables;
  for (const ResampleAxis& axis : axes) tables.push_back(resample_table(mode, axis));
  return tables;
}

/// Resamples the axes that change, one after another; then points outside a crop get the extrapolation value.
void compute_axes(const OpContext& context, const ResampleMode& mode,
                  const std::vector<ResampleAxis>& axes) {
  Shape shape = context.inputs[0].desc.shape;
  auto values = to_doubles(context.inputs[0]);
  const bool is_crop = mode.coordinates == "tf_crop_and_resize";
  const Tables tables = tables_of(mode, axes);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!is_crop && axes[i].scale == 1 && axes[i].input == axes[i].output) continue;
    values = resample(values, shape, i, tables[i]);
    shape[i] = axes[i].output;
  }
  if (is_crop) {
    const double outside = context.attrs.get_float("extrapolation_value", 0);
    const Strides strides = dense_strides(shape);
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const std::int64_t position = static_cast<std::int64_t>(i) / strides[axis] % shape[axis];
        if (tables[axis][static_cast<std::size_t>(position)].is_outside) values[i] = outside;
      }
    }
  }
  from_doubles(values, context.outputs[0]);
}

std::vector<TensorDesc> infer_resize(const InferContext& context) {
  return output_desc(context.dtype(0), resize_axes(context.attrs, context.version, context.inputs));
}

/// With the roi.
std::vector<ResampleAxis> complete_axes(const Attrs& attrs, int version,
                                        std::span<const Tensor> inputs) {
  auto axes = resize_axes(attrs, version, inputs);
  if (resize_mode(attrs, version).coordinates == "tf_crop_and_resize") {
    if (!is_given(inputs, 1)) fail_model("tf_crop_and_resize needs a roi");
    const auto roi = to_doubles(inputs[1]);
    const auto named = resized_axes(attrs, axes.size());
    check_count("roi values", roi.size(), 2 * named.size());
    for (std::size_t i = 0; i < named.size(); ++i) {
      axes[named[i]].roi_begin = roi[i];
      axes[named[i]].roi_end = roi[named.size() + i];
    }
  }
  return axes;
}

void compute_resize(const OpContext& context) {
  compute_axes(context, resize_mode(context.attrs, context.version),
               complete_axes(context.attrs, context.version, context.inputs));
}

std::vector<ResampleAxis> upsample_axes(const Attrs& attrs, int version,
                                        std::span<const Tensor> inputs) {
  if (version >= kScalesInputVersion) return resize_axes(attrs, version, inputs);
  std::vector<ResampleAxis> result;
  for (std::int64_t dim : inputs[0].desc.shape) result.push_back({.input = dim, .output = dim});
  const auto scales = attrs.get_floats("scales");
  apply_scales({scales.begin(), scales.end()}, resized_axes({}, result.size()), result);
  return result;
}

std::vector<TensorDesc> infer_upsample(const InferContext& context) {
  return output_desc(context.dtype(0),
                     upsample_axes(context.attrs, context.version, context.inputs));
}

void compute_upsample(const OpContext& context) {
  compute_axes(context, resize_mode(context.attrs, context.version),
               upsample_axes(context.attrs, context.version, context.inputs));
}

/// Images of any number stay as many, and are not cut at their borders.
bool images_resized_apart(const Slicing& slicing, const auto& axes_of) {
  if (!images_apart(slicing) ||
      resize_mode(slicing.attrs, slicing.version).coordinates == "tf_crop_and_resize")
    return false;
  std::vector<Tensor> inputs(slicing.inputs.begin(), slicing.inputs.end());
  constexpr std::int64_t kImages = 3;
  inputs[0].desc.shape[0] = kImages;
  return axes_of(slicing.attrs, slicing.version, inputs)[0].output == kImages;
}

}  // namespace

Tables resize_tables(const OpCall& call, std::span<const Tensor> inputs) {
  return tables_of(resize_mode(call.attrs, call.version),
                   call.type == "Upsample" ? upsample_axes(call.attrs, call.version, inputs)
                                           : complete_axes(call.attrs, call.version, inputs));
}

void register_resize(OpRegistry& registry) {
  registry.add(
      {.type = "Resize",
       .versions = {10, kCoordinatesVersion},
       .signature =
           {"n f?:1 f?@11:1 l?@11:1",
            "mode=nearest|linear|cubic axes=ints antialias=0..1 exclude_outside=0..1 "
            "coordinate_transformation_mode=half_pixel|half_pixel_symmetric|pytorch_half_pixel|"
            "align_corners|asymmetric|tf_half_pixel_for_nn|tf_crop_and_resize cubic_coeff_a=float "
            "extrapolation_value=float keep_aspect_ratio_policy=stretch|not_larger|not_smaller "
            "nearest_mode=round_prefer_floor|round_prefer_ceil|floor|ceil|simple"},
       .kind = OpKind::kWindow,
       .infer = infer_resize,
       .compute = compute_resize,
       .work = interpolation_steps,
       .first_parameter = 1,
       .has_image_formats = true,
       .slices = [](const Slicing& s) { return images_resized_apart(s, resize_axes); }});
  registry.add({.type = "Upsample",
                .versions = {7, kScalesInputVersion},
                .signature = {"n f?@9:1", "mode=nearest|linear|bilinear scales=floats"},
                .kind = OpKind::kWindow,
                .infer = infer_upsample,
                .compute = compute_upsample,
                .work = interpolation_steps,
                .first_parameter = 1,
                .slices = [](const Slicing& s) { return images_resized_apart(s, upsample_axes); }});
}

}  // namespace aoe::reference
