"""ai.onnx.ml, and what models had before ONNX took it."""
import numpy as np

from case_makers.results import layer_norm, sigmoid
from case_makers.writing import ML, MS, case, node, rand, rng, tensor, write


def before_onnx():
    i64 = np.int64
    x = rand(2, 3, 4)
    case("ms_trilu", "Trilu", {"x": x, "k": i64(1)}, {"y": np.triu(x, 1)}, MS, constants=["k"])
    case("ms_gather_nd", "GatherND", {"x": x, "at": np.array([[0, 2], [1, 1]], i64)}, {"y": np.stack([x[0, 2], x[1, 1]])}, MS)
    case("ms_expand_dims", "ExpandDims", {"x": x, "axis": np.int32(-1)}, {"y": x[..., None]}, MS, constants=["axis"])
    case("ms_pad", "Pad", {"x": x, "pads": np.array([0, 1, 0, 0, 0, 2], i64), "value": np.array([0.5], np.float32)},
         {"y": np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=0.5)}, MS, constants=["pads", "value"])
    case("ms_range", "Range", {"from": np.float32(1), "to": np.float32(5)}, {"y": np.arange(1, 5, dtype=np.float32)}, MS,
         constants=["from", "to"])
    image = rand(1, 1, 3, 3)
    corners = np.array([[[[-1, -1], [1, 1]], [[0, 0], [1, -1]]]], np.float32)
    case("ms_grid_sample", "GridSample", {"x": image, "grid": corners},
         {"y": np.array([[[[image[0, 0, 0, 0], image[0, 0, 2, 2]], [image[0, 0, 1, 1], image[0, 0, 0, 2]]]]])}, MS,
         mode="bilinear", align_corners=1)
    case("ms_conv_transpose_with_dynamic_pads", "ConvTransposeWithDynamicPads",
         {"x": image, "w": np.ones((1, 1, 3, 3), np.float32), "pads": np.ones(4, i64)},
         {"y": np.array([[[[sum(image[0, 0, max(i - 1, 0):i + 2, max(j - 1, 0):j + 2].reshape(-1)) for j in range(3)]
                           for i in range(3)]]], np.float32)}, MS, constants=["w", "pads"], kernel_shape=[3, 3])
    x = rand(2, 3, 5, 6)
    case("affine", "Affine", {"x": x}, {"y": x * np.float32(2.5) - 1}, alpha=2.5, beta=-1.0)
    case("crop_border", "Crop", {"x": x}, {"y": x[:, :, 2:4, 1:3]}, border=[1, 2, 3, 1])
    case("crop_scale", "Crop", {"x": x}, {"y": x[:, :, 2:4, 1:5]}, border=[1, 2, 0, 0], scale=[2, 4])
    bias = np.array([0.5, -1, 2], np.float32)
    case("image_scaler", "ImageScaler", {"x": x}, {"y": x * np.float32(0.25) + bias[:, None, None]}, scale=0.25, bias=[0.5, -1.0, 2.0])
    case("parametric_softplus", "ParametricSoftplus", {"x": x}, {"y": 0.5 * np.log1p(np.exp(2 * x))}, alpha=0.5, beta=2.0)
    case("scaled_tanh", "ScaledTanh", {"x": x}, {"y": 1.7 * np.tanh(x * 0.6)}, alpha=1.7, beta=0.6)
    gamma, beta = rand(6), rand(6)
    y, _, _ = layer_norm(x, gamma, beta, 1e-5)
    write("layer_normalization_before_onnx", [node("LayerNormalization", ["x", "gamma", "beta"], ["y"], epsilon=1e-5)],
          {"x": x, "gamma": gamma, "beta": beta}, {"y": y.astype(np.float32)}, ["gamma", "beta"], opset=12)
    half = x.astype(np.float16)
    y, mean, inverse = layer_norm(half.astype(np.float32), gamma, beta, 1e-5)
    write("layer_normalization_before_onnx_float16_data",
          [node("LayerNormalization", ["x", "gamma", "beta"], ["y", "mean", "inverse"], epsilon=1e-5)],
          {"x": half, "gamma": gamma, "beta": beta}, {"y": y.astype(np.float32), "mean": mean, "inverse": inverse}, ["gamma", "beta"], opset=12)
    scale = gamma.astype(np.float16)
    y, _, _ = layer_norm(x, scale.astype(np.float32), 0, 1e-5)
    case("ms_layer_normalization_float16_scale", "LayerNormalization", {"x": x, "scale": scale}, {"y": y.astype(np.float16)}, MS, epsilon=1e-5)


def feature_steps():
    f, i64 = np.float32, np.int64
    x = rand(4, 3)
    x[2] = 0
    numbers = np.array([[1, 2, 3], [-4, 5, 6]], i64)
    case("ml_scaler", "Scaler", {"x": x}, {"y": (x - f([0.1, 0.2, 0.3])) * f([2, 3, 4])}, ML, offset=[0.1, 0.2, 0.3], scale=[2.0, 3.0, 4.0])
    case("ml_scaler_of_one_number", "Scaler", {"x": numbers}, {"y": (numbers.astype(f) - f(1)) * f(0.5)}, ML, offset=[1.0], scale=[0.5])
    for norm, size in (("MAX", x.max(1)), ("L1", np.abs(x).sum(1)), ("L2", np.sqrt((x * x).sum(1)))):
        size = np.where(size == 0, 1, size)[:, None]
        case(f"ml_normalizer_{norm.lower()}", "Normalizer", {"x": x}, {"y": (x / size).astype(f)}, ML, norm=norm)
    case("ml_binarizer", "Binarizer", {"x": x}, {"y": (x > f(0.2)).astype(f)}, ML, threshold=0.2)
    case("ml_imputer", "Imputer", {"x": x}, {"y": np.where(x == 0, f([1, 2, 3]), x)}, ML, imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=0.0)
    case("ml_imputer_of_integers", "Imputer", {"x": numbers}, {"y": np.where(numbers == 5, 9, numbers)}, ML,
         imputed_value_int64s=[9], replaced_value_int64=5)
    case("ml_label_encoder", "LabelEncoder", {"x": numbers}, {"y": f([[0.5, -2, 1.5], [-2, -2, 7]])}, ML,
         keys_int64s=[1, 3, 6], values_floats=[0.5, 1.5, 7.0], default_float=-2.0)
    case("ml_label_encoder_of_nan", "LabelEncoder", {"x": f([np.nan, 2, 3])}, {"y": np.array([4, 5, -1], i64)}, ML,
         keys_tensor=tensor(f([np.nan, 2])), values_int64s=[4, 5])
    case("ml_label_encoder_of_tensors", "LabelEncoder", {"x": numbers}, {"y": np.array([[10, 42, 30], [42, 42, 42]], i64)}, ML,
         keys_tensor=tensor(np.array([1, 3], i64)), values_tensor=tensor(np.array([10, 30], i64)), default_tensor=tensor(np.array([42], i64)))
    case("ml_one_hot_encoder", "OneHotEncoder", {"x": numbers[0]}, {"y": f([[0, 0], [1, 0], [0, 1]])}, ML, cats_int64s=[2, 3])
    case("ml_array_feature_extractor", "ArrayFeatureExtractor", {"x": x, "at": np.array([2, 0], i64)}, {"y": x[:, [2, 0]]}, ML)
    case("ml_feature_vectorizer", "FeatureVectorizer", {"x": x, "n": x[:, :2]},
         {"y": np.concatenate([x[:, :2], x[:, :2], np.zeros((4, 1), f)], 1)}, ML, inputdimensions=[2, 3])
    case("ml_feature_vectorizer_of_other_ranks", "FeatureVectorizer", {"x": x[0], "n": x[:1].reshape(1, 1, 3)},
         {"y": np.concatenate([x[:1], x[:1, :2]], 1)}, ML, inputdimensions=[3, 2])
    case("ml_zip_map", "ZipMap", {"x": x}, {"y": x}, ML, classlabels_int64s=[7, 8, 9])


def softmax_of(scores):
    e = np.exp(scores - scores.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def linear_models():
    f, i64 = np.float32, np.int64
    x = rand(5, 4)
    w, b = rand(3, 4), rand(3)
    scores = x @ w.T + b
    flat, intercepts = [float(v) for v in w.reshape(-1)], [float(v) for v in b]
    labels = np.array([10, 20, 30], i64)
    case("ml_linear_classifier", "LinearClassifier", {"x": x}, {"label": labels[scores.argmax(1)], "scores": softmax_of(scores).astype(f)}, ML,
         coefficients=flat, intercepts=intercepts, classlabels_ints=[10, 20, 30], post_transform="SOFTMAX")
    one = scores[:, :1]
    for name, both in (("logistic", np.concatenate([sigmoid(-one), sigmoid(one)], 1)), ("none", np.concatenate([1 - one, one], 1))):
        case(f"ml_linear_classifier_of_two_{name}", "LinearClassifier", {"x": x},
             {"label": np.where(one[:, 0] > 0, 8, 5).astype(i64), "scores": both.astype(f)}, ML,
             coefficients=flat[:4], intercepts=intercepts[:1], classlabels_ints=[5, 8], post_transform=name.upper())
    case("ml_linear_regressor", "LinearRegressor", {"x": x}, {"y": scores.astype(f)}, ML, coefficients=flat, intercepts=intercepts, targets=3)
    case("ml_linear_regressor_probit", "LinearRegressor", {"x": f([[0.1], [0.5], [0.9]])},
         {"y": f([[-1.2817], [0], [1.2817]])}, ML, coefficients=[1.0], targets=1, post_transform="PROBIT")
    # More coefficients than inputs: the first ones count, as in ONNX Runtime.
    narrow = x[:, :2] @ np.reshape(f(flat[:6]), (3, 2)).T + b
    case("ml_linear_classifier_of_more_coefficients", "LinearClassifier", {"x": x[:, :2]},
         {"label": labels[narrow.argmax(1)], "scores": narrow.astype(f)}, ML, coefficients=flat, intercepts=intercepts, classlabels_ints=[10, 20, 30])


def coupled(pairs, classes):
    """Wu, Lin, Weng 2004, algorithm 2, by its first formulas, with LIBSVM's end."""
    r = np.zeros((classes, classes))
    upper = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    for (i, j), wins in zip(upper, pairs):
        r[i, j], r[j, i] = wins, 1 - wins
    q = -r.T * r
    q[np.diag_indices(classes)] = (r * r).sum(0)
    p = np.full(classes, 1 / classes)
    for _ in range(100):
        if np.abs(q @ p - p @ q @ p).max() < 0.005 / classes:
            break
        for t in range(classes):
            p[t] = (p @ q @ p - q[t] @ p + q[t, t] * p[t]) / q[t, t]
            p /= p.sum()
    return p


def support_vectors():
    f, i64 = np.float32, np.int64
    features, per_class = 3, [2, 3, 1]
    classes, vectors = len(per_class), sum(per_class)
    x, support, given, rho = rand(7, features), rand(vectors, features), rand(classes - 1, vectors), rand(3)
    owner = np.repeat(np.arange(classes), per_class)
    upper = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    gamma, coef0, degree = 0.5, 0.25, 3.0
    dots = x @ support.T
    kernel_of = {"LINEAR": dots, "POLY": (gamma * dots + coef0) ** degree, "SIGMOID": np.tanh(gamma * dots + coef0),
                 "RBF": np.exp(-gamma * ((x[:, None] - support[None]) ** 2).sum(2))}
    flat = lambda a: [float(v) for v in np.asarray(a).reshape(-1)]
    labels = [10, 20, 30]
    for kind, kernel in kernel_of.items():
        attributes = {"kernel_type": kind, "kernel_params": [gamma, coef0, degree], "support_vectors": flat(support), "rho": flat(rho)}
        scores = np.zeros((len(x), len(upper)))
        votes = np.zeros((len(x), classes))
        for p, (i, j) in enumerate(upper):
            scores[:, p] = rho[p] + kernel[:, owner == i] @ given[j - 1, owner == i] + kernel[:, owner == j] @ given[i, owner == j]
            votes[:, i] += scores[:, p] > 0
            votes[:, j] += scores[:, p] <= 0
        label = np.array(labels, i64)[votes.argmax(1)]
        several = {"vectors_per_class": per_class, "coefficients": flat(given), "classlabels_ints": labels}
        case(f"ml_svm_classifier_{kind.lower()}", "SVMClassifier", {"x": x}, {"label": label, "scores": scores.astype(f)}, ML, **attributes, **several)
        a, b = f([-1.5, -0.5, -1]), f([0.25, 0, -0.5])
        wins = 1 / (1 + np.exp(scores * a + b))
        probabilities = np.array([coupled(row, classes) for row in wins])
        case(f"ml_svm_classifier_probabilities_{kind.lower()}", "SVMClassifier", {"x": x}, {"label": label, "scores": probabilities.astype(f)}, ML,
             prob_a=flat(a), prob_b=flat(b), **attributes, **several)
        weights = rand(vectors)
        case(f"ml_svm_regressor_{kind.lower()}", "SVMRegressor", {"x": x}, {"y": (kernel @ weights + rho[0]).astype(f)[:, None]}, ML,
             **{**attributes, "coefficients": flat(weights), "rho": flat(rho[:1]), "n_supports": vectors})
    first = dots[:, :5] @ given.reshape(-1)[:5] + rho[0]
    two = {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0], "support_vectors": flat(support[:5]), "rho": flat(rho[:1]),
           "vectors_per_class": [2, 3], "coefficients": flat(given)[:5], "classlabels_ints": [4, 6]}
    case("ml_svm_classifier_of_two", "SVMClassifier", {"x": x}, {"label": np.where(first > 0, 4, 6).astype(i64),
         "scores": np.stack([-first, first], 1).astype(f)}, ML, **two)
    w = rand(3, features)
    linear = x @ w.T + rho[0]
    case("ml_svm_classifier_linear_without_vectors", "SVMClassifier", {"x": x}, {"label": np.array(labels, i64)[linear.argmax(1)],
         "scores": linear.astype(f)}, ML, coefficients=flat(w), rho=flat(rho[:1]), kernel_params=[0.0, 0.0, 0.0], classlabels_ints=labels)
    one = (x @ w[0] + rho[0])[:, None]
    case("ml_svm_regressor_one_class", "SVMRegressor", {"x": x}, {"y": np.where(one > 0, 1, -1).astype(f)}, ML, coefficients=flat(w[0]),
         rho=flat(rho[:1]), one_class=1, n_supports=0)


def before_onnx_took_them():
    f = np.float32
    a, b = rand(5, 3), rand(4, 3)
    apart = ((a[:, None] - b[None]) ** 2).sum(2)
    case("ms_cdist", "CDist", {"a": a, "b": b}, {"y": apart.astype(f)}, MS, metric="sqeuclidean")
    case("ms_cdist_euclidean", "CDist", {"a": a, "b": b}, {"y": np.sqrt(apart).astype(f)}, MS, metric="euclidean")
    x = f([2, 1, 1, 3, 4, 3])
    case("ms_unique", "Unique", {"x": x}, {"y": f([2, 1, 3, 4]), "at": np.array([0, 1, 1, 2, 3, 2], np.int64),
         "count": np.array([1, 2, 2, 1], np.int64)}, MS)
    case("scale", "Scale", {"x": x}, {"y": x * f(0.5)}, scale=0.5)
    case("dynamic_slice", "DynamicSlice", {"x": a, "starts": np.array([1, 0], np.int64), "ends": np.array([4, 2], np.int64)}, {"y": a[1:4, :2]},
         "", ["starts", "ends"])
    t = rand(2, 7, 3)
    windows = np.stack([t[:, i:i + 3] for i in (0, 2, 4)], 1)
    case("ms_unfold_tensor", "UnfoldTensor", {"x": t}, {"y": windows.transpose(0, 1, 3, 2)}, MS, dim=1, size=3, step=2)


class Forest:
    """Random trees, as versions 1 to 3 of ai.onnx.ml write them; nodes of each tree in breadth-first order."""

    def __init__(self, trees, depth, features, votes, modes=("BRANCH_LEQ",), nan=False):
        self.columns = {k: [] for k in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")}
        self.tracks, self.leaves, self.trees, self.nan = [], [], trees, nan
        for tree in range(trees):
            inner = (1 << depth) - 1
            for at in range(2 * inner + 1):
                is_leaf = at >= inner
                row = (tree, at, int(rng.integers(features)), "LEAF" if is_leaf else modes[int(rng.integers(len(modes)))],
                       0.0 if is_leaf else float(rng.integers(-2, 3) / 4), 0 if is_leaf else 2 * at + 2, 0 if is_leaf else 2 * at + 1)
                for column, value in zip(self.columns.values(), row):
                    column.append(value)
                self.tracks.append(int(nan and not is_leaf and rng.integers(2)))
                if is_leaf:
                    self.leaves += [(tree, at, target, weight) for target, weight in votes()]

    def attributes(self, kind):
        names = ("treeids", "nodeids", "ids", "weights")
        nodes = {f"nodes_{k}": v for k, v in self.columns.items()}
        if self.nan:
            nodes["nodes_missing_value_tracks_true"] = self.tracks
        return {**nodes, **{f"{kind}_{n}": [leaf[i] for leaf in self.leaves] for i, n in enumerate(names)}}

    def tallies(self, x, targets, fold=np.sum):
        c, rows = self.columns, []
        at_of = {(t, n): i for i, (t, n) in enumerate(zip(c["treeids"], c["nodeids"]))}
        asks = {"BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal,
                "BRANCH_GT": np.greater, "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal}
        for row in x:
            given = [[] for _ in range(targets)]
            for tree in range(self.trees):
                at = at_of[tree, 0]
                while c["modes"][at] != "LEAF":
                    feature = row[c["featureids"][at]]
                    yes = asks[c["modes"][at]](feature, np.float32(c["values"][at])) or (np.isnan(feature) and self.tracks[at])
                    at = at_of[tree, c["truenodeids" if yes else "falsenodeids"][at]]
                for t, n, target, weight in self.leaves:
                    if (t, n) == (tree, c["nodeids"][at]):
                        given[target].append(weight)
            rows.append([fold(g) if g else 0 for g in given])
        return np.array(rows, np.float32)


def tree_ensembles():
    f, i64 = np.float32, np.int64

    def weight(low=-1, high=1):
        return float(f"{float(np.float32(rng.uniform(low, high))):.9g}")

    modes = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
    x = (rng.integers(-3, 4, (9, 5)) / 4).astype(f)
    holes = np.where(rng.random((9, 5)) < 0.3, f("nan"), x)
    every = Forest(4, 3, 5, lambda: [(0, weight()), (2, weight())], modes, nan=True)
    case("ml_tree_regressor_every_mode", "TreeEnsembleRegressor", {"x": holes}, {"y": every.tallies(holes, 3)}, ML, n_targets=3, **every.attributes("target"))
    plain = Forest(3, 2, 5, lambda: [(0, weight())])
    for fold, name in ((np.min, "MIN"), (np.max, "MAX"), (lambda g: np.sum(g) / 3, "AVERAGE")):
        case(f"ml_tree_regressor_{name.lower()}", "TreeEnsembleRegressor", {"x": x}, {"y": plain.tallies(x, 1, fold) + f(0.25)}, ML,
             n_targets=1, aggregate_function=name, base_values=[0.25], **plain.attributes("target"))
    case("ml_tree_regressor_float64", "TreeEnsembleRegressor", {"x": x.astype(np.float64)}, {"y": plain.tallies(x, 1)}, ML, n_targets=1,
         **plain.attributes("target"))
    single = Forest(2, 0, 1, lambda: [(0, weight())])
    case("ml_tree_regressor_of_leaves", "TreeEnsembleRegressor", {"x": x}, {"y": single.tallies(x, 1)}, ML, n_targets=1, **single.attributes("target"))
    many = Forest(6, 2, 5, lambda: [(t, weight()) for t in range(3)])
    scores = many.tallies(x, 3) + f([0.1, 0.2, 0.3])
    labels = np.array([4, 5, 6], i64)
    case("ml_tree_classifier", "TreeEnsembleClassifier", {"x": x}, {"label": labels[scores.argmax(1)], "scores": softmax_of(scores).astype(f)}, ML,
         classlabels_int64s=[4, 5, 6], post_transform="SOFTMAX", base_values=[0.1, 0.2, 0.3], **many.attributes("class"))
    sure = Forest(3, 2, 5, lambda: [(0, weight(0, 0.33))])
    score = sure.tallies(x, 1)
    case("ml_tree_classifier_of_probabilities", "TreeEnsembleClassifier", {"x": x},
         {"label": np.where(score[:, 0] > 0.5, 9, 7).astype(i64), "scores": np.concatenate([1 - score, score], 1)}, ML,
         classlabels_int64s=[7, 9], **sure.attributes("class"))
    margins = Forest(3, 2, 5, lambda: [(0, weight())])
    score = margins.tallies(x, 1) + f(0.125)
    for name, both in (("LOGISTIC", np.concatenate([sigmoid(-score), sigmoid(score)], 1)), ("NONE", np.concatenate([-score, score], 1))):
        case(f"ml_tree_classifier_of_margins_{name.lower()}", "TreeEnsembleClassifier", {"x": x},
             {"label": np.where(score[:, 0] > 0, 9, 7).astype(i64), "scores": both.astype(f)}, ML,
             classlabels_int64s=[7, 9], post_transform=name, base_values=[0.125], **margins.attributes("class"))
    second = Forest(3, 2, 5, lambda: [(1, weight(0, 0.33))])
    score = second.tallies(x, 2)
    case("ml_tree_classifier_of_the_second", "TreeEnsembleClassifier", {"x": x},
         {"label": np.where(score[:, 1] > 0.5, 9, 7).astype(i64), "scores": score}, ML, classlabels_int64s=[7, 9], **second.attributes("class"))
    # Two trees by places: (x0 <= 0.25 ? leaf 1 : (x1 > 0 ? leaf 0 : leaf 2)), and a tree that is leaf 3.
    y = np.where(x[:, 0] <= 0.25, 2.0, np.where(x[:, 1] > 0, 1.0, 3.0)) + 10
    case("ml_tree_ensemble", "TreeEnsemble", {"x": x}, {"y": y[:, None].astype(f)}, ML, n_targets=1, aggregate_function=1, tree_roots=[0, 2],
         nodes_featureids=[0, 1, 0], nodes_modes=tensor(np.array([0, 3, 0], np.uint8)), nodes_splits=tensor(f([0.25, 0, 0])),
         nodes_truenodeids=[1, 0, 3], nodes_trueleafs=[1, 1, 1], nodes_falsenodeids=[1, 2, 3], nodes_falseleafs=[0, 1, 1],
         leaf_targetids=[0, 0, 0, 0], leaf_weights=tensor(f([1, 2, 3, 10])))
