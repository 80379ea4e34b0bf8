"""Texts."""
import numpy as np

from case_makers.writing import ML, MS, case, graph, node, rand, write


def texts_between_numbers():
    """Texts stand inside of a model: LabelEncoder makes them of numbers."""
    f, i64 = np.float32, np.int64
    numbers = np.array([[1, 3, 2], [9, 2, 1]], i64)
    names = np.array([["p", "r", "q"], ["?", "q", "p"]])
    to_names = node("LabelEncoder", ["x"], ["n"], ML, keys_int64s=[1, 2, 3], values_strings=["p", "q", "r"], default_string="?")

    def through(name, op, y, domain=ML, before=(), reads="n", **attributes):
        write(name, [to_names, *before, node(op, [reads] if isinstance(reads, str) else reads, ["y"], domain, **attributes)],
              {"x": numbers}, {"y": y})

    through("ml_label_encoder_of_texts", "LabelEncoder", f([[0.5, -2, 1.5], [7, 1.5, 0.5]]), keys_strings=["p", "q", "?", "p"],
            values_floats=[0.5, 1.5, 7.0, 9.0], default_float=-2.0)
    through("ml_one_hot_encoder_of_texts", "OneHotEncoder", (names[:, :, None] == np.array(["r", "s", "p"])).astype(f), cats_strings=["r", "s", "p"])
    through("ml_category_mapper", "CategoryMapper", np.array([[4, -7, 5], [-7, 5, 4]], i64), cats_strings=["p", "q"], cats_int64s=[4, 5],
            default_int64=-7)
    pool = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0, "ngram_counts": [0, 2], "ngram_indexes": [2, 0, 1]}
    through("tfidf_vectorizer_of_texts", "TfIdfVectorizer", f([[1, 0, 1], [1, 1, 1]]), "", pool_strings=["p", "q", "q", "p"], **pool)
    through("equal_of_texts", "Equal", np.broadcast_to(names == "q", (2, 3)), "", before=[node("Constant", [], ["q"], value_strings=["q"])], reads=["n", "q"])
    moves = [node("Constant", [], ["front"], value_strings=["s", "p"]), node("Constant", [], ["flat"], value_ints=[-1]),
             node("Reshape", ["n", "flat"], ["row"]), node("Concat", ["front", "row"], ["all"], axis=0)]
    through("ml_label_encoder_of_moved_texts", "LabelEncoder", np.array([-1, 1, 1, 3, 2, -1, 2, 1], i64), before=moves, reads="all",
            keys_strings=["p", "q", "r"], values_int64s=[1, 2, 3])


def computed_texts():
    """What reads letters, between numbers: LabelEncoder makes the texts, and tells what came out."""
    f, i64 = np.float32, np.int64
    texts = ["Der rote Ball", "der BALL", "ein Ärger"]
    outcomes = ["", "der", "rote", "ball", "ein", "ärger", "#", "DER ROTE BALL", "DER BALL", "EIN ÄRGER", "Der rote Ball!", "der BALL!",
                "ein Ärger!", "\x02", "\x03", "e", "r", "d"]
    names = [node("LabelEncoder", ["x"], ["n"], ML, keys_int64s=[0, 1, 2], values_strings=texts)]
    tell = {"domain": ML, "keys_strings": outcomes, "values_int64s": list(range(len(outcomes))), "default_int64": -1}

    def numbers(words):
        return np.array([[outcomes.index(each) for each in row] if isinstance(row, list) else outcomes.index(row) for row in words], i64)

    def through(name, nodes, words, x=(0, 1, 2), **more):
        """`nodes` make the texts t of the texts n."""
        write(name, [*names, *nodes, node("LabelEncoder", ["t"], ["y"], **tell)], {"x": np.array(x, i64)}, {"y": numbers(words), **more})

    lower = node("StringNormalizer", ["n"], ["l"], case_change_action="LOWER", is_case_sensitive=1)
    through("string_normalizer_to_upper_case", [node("StringNormalizer", ["n"], ["t"], case_change_action="UPPER", is_case_sensitive=1)],
            [each.upper() for each in texts])
    through("string_normalizer_without_stopwords",
            [node("StringNormalizer", ["n"], ["t"], case_change_action="UPPER", is_case_sensitive=0, stopwords=["Der Ball", "EIN ärger"])],
            ["DER ROTE BALL"])
    end = node("Constant", [], ["end"], value_string="!")
    through("string_concat", [end, node("StringConcat", ["n", "end"], ["t"])], [each + "!" for each in texts])
    parts = [each.lower().split() for each in texts]
    through("string_split", [lower, node("StringSplit", ["l"], ["t", "count"])],
            [row + [""] * (3 - len(row)) for row in parts], count=np.array([3, 2, 2], i64))
    by_words = {"domain": MS, "pad_value": "#", "mincharnum": 1, "separators": [" "]}
    through("tokenizer_of_words", [lower, node("Tokenizer", ["l"], ["t"], mark=0, **by_words)], [row + ["#"] * (3 - len(row)) for row in parts])
    through("tokenizer_with_marks", [lower, node("Tokenizer", ["l"], ["t"], mark=1, **by_words)],
            [["\x02", *row, "\x03"] + ["#"] * (3 - len(row)) for row in parts])
    letters = {"domain": MS, "pad_value": "#", "mark": 0, "mincharnum": 1, "tokenexp": "[der]"}
    through("tokenizer_by_expression", [lower, node("Tokenizer", ["l"], ["t"], **letters)],
            [list(each) + ["#"] * (5 - len(each)) for each in ("derre", "der", "erer")])
    upper = graph([], ["u"], [node("StringNormalizer", ["n"], ["u"], case_change_action="UPPER", is_case_sensitive=1)])
    same = graph([], ["s"], [node("Identity", ["n"], ["s"])])
    both = {"domain": ML, "keys_strings": [*texts, *(each.upper() for each in texts)], "values_int64s": [0, 1, 2, 10, 11, 12]}
    for flag in (True, False):
        write(f"if_of_texts_{str(flag).lower()}",
              [*names, node("If", ["flag"], ["t"], then_branch=upper, else_branch=same), node("LabelEncoder", ["t"], ["y"], **both)],
              {"flag": np.array(flag), "x": np.array([0, 1, 2], i64)}, {"y": np.array([10, 11, 12] if flag else [0, 1, 2], i64)})
    longer = graph([("i", "int64", []), ("c", "bool", []), ("t", "int64", [None])], ["c_out", "longer", "seen"],
                   [node("StringConcat", ["t", "end"], ["longer"]), node("Identity", ["longer"], ["seen"]), node("Identity", ["c"], ["c_out"])])
    marks = {"domain": ML, "keys_strings": ["!", "!!", "!!!"], "values_int64s": [1, 2, 3]}
    write("loop_of_texts", [end, node("Constant", [], ["start"], value_strings=["", "!"]), node("Loop", ["trips", "", "start"], ["last", "all"], body=longer),
                            node("LabelEncoder", ["last"], ["y"], **marks), node("LabelEncoder", ["all"], ["z"], **marks)],
          {"trips": np.array(2, i64)}, {"y": np.array([2, 3], i64), "z": np.array([[1, 2], [2, 3]], i64)})
    write("regex_full_match", [*names, node("RegexFullMatch", ["n"], ["y"], pattern="(?i)der .*ball")], {"x": np.array([2, 1, 0], i64)},
          {"y": np.array([False, True, True])})
    write("unique_of_texts", [*names, node("Unique", ["n"], ["u", "first", "where", "count"]),
                              node("LabelEncoder", ["u"], ["y"], ML, keys_strings=texts, values_int64s=[0, 1, 2])],
          {"x": np.array([2, 0, 2, 1, 0], i64)},
          {"y": np.array([0, 1, 2], i64), "first": np.array([1, 3, 0], i64), "where": np.array([2, 0, 2, 1, 0], i64),
           "count": np.array([2, 1, 2], i64)})
    write("cast_through_texts", [node("Cast", ["x"], ["t"], to=8), node("Constant", [], ["e"], value_string="e1"),
                                 node("StringConcat", ["t", "e"], ["u"]), node("Cast", ["u"], ["y"], to=1)],
          {"x": f([1.5, -0.25, 1024])}, {"y": f([15, -2.5, 10240])})
    pool = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0, "ngram_counts": [0, 3], "ngram_indexes": [0, 1, 2, 3],
            "pool_strings": ["ball", "der", "ein", "der", "ball"]}
    write("texts_to_a_vector_of_counts", [*names, lower, node("Tokenizer", ["l"], ["t"], mark=0, **by_words),
                                          node("TfIdfVectorizer", ["t"], ["y"], **pool)],
          {"x": np.array([0, 1, 2], i64)}, {"y": f([[1, 1, 0, 0], [1, 1, 0, 1], [0, 0, 1, 0]])})


def words_of_letters():
    """Words end where letters are 0; a place of the convolution counts where it lies in the word, the first always."""
    f, window = np.float32, 3
    words = np.array([[5, 2, 7, 1, 0, 0], [3, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6]], np.int32)
    weights, bias, table = rand(4, 1, window, 5), rand(4), rand(8, 5)
    y = np.zeros((4, 4), f)
    for n, word in enumerate(words):
        places = max(int((word > 0).sum()), window) - window + 1
        rows = np.stack([table[word][p:p + window].reshape(-1) for p in range(places)])
        if word[0] > 0:
            y[n] = np.tanh(rows @ weights.reshape(4, -1).T + bias).max(0)
    case("ms_word_conv_embedding", "WordConvEmbedding", {"words": words, "w": weights, "b": bias, "table": table},
         {"y": y}, MS, constants=["w", "b", "table"], conv_window_size=window, embedding_size=4, char_embedding_size=5)
