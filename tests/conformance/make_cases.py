#!/usr/bin/env python3
"""Writes cases/*.json: operators that the packaged ONNX node tests are too old for, or that are not ONNX's, with the
results that numpy computes from what their documentation says.

  tests/conformance/make_cases.py            writes all of them again; they come out the same

A case is one node, or a few, with its inputs and expected outputs; node_case.h reads it, and a function of
case_makers/ writes it. Inputs named in `constants` are initializers of the model.
"""
from case_makers import attention, classical, control_flow, decoders, images, microsoft, networks, quantised, small_types, texts
from case_makers.writing import HERE

# In this order, as all draw from one generator: new ones come last.
GROUPS = (
    networks.activations, networks.normalisations, networks.products, attention.attentions, attention.microsoft_attentions,
    decoders.rotaries, decoders.decoders, networks.convolutions, decoders.linear_attentions, decoders.caches, images.images,
    images.deformed, quantised.bytes_between_scales, quantised.products_of_bytes, small_types.small_weights, control_flow.sequences,
    control_flow.unread_outputs, control_flow.control_flow, control_flow.control_flow_of_float16, control_flow.other_names, images.signals,
    images.regions, small_types.packed_products, small_types.small_types, attention.flex_attentions, control_flow.computed_sizes,
    control_flow.computed_sequences, small_types.small_types_when_it_runs, quantised.recurrences_of_bytes,
    quantised.more_products_of_bytes, quantised.rows_of_bytes, classical.before_onnx, classical.feature_steps, classical.linear_models,
    classical.tree_ensembles, classical.support_vectors, classical.before_onnx_took_them, microsoft.inverses, images.crops,
    images.masked_pools, microsoft.ngrams, microsoft.hashes, small_types.weights_of_four_bits, microsoft.experts,
    attention.masked_decoders, attention.sparse_attentions, attention.sinks, attention.three_places,
    decoders.linear_attentions_of_fewer_heads, quantised.products_of_words, microsoft.more_of_microsoft, microsoft.time_warping,
    texts.texts_between_numbers, texts.computed_texts, decoders.rows_of_other_beams, small_types.columns_of_other_blocks,
    small_types.one_row_of_blocks, images.mean_variance_before_opset_9, control_flow.optionals_of_a_run,
    control_flow.loops_that_change_the_rank, attention.ordered_tokens_over_other_keys, control_flow.parameters_of_a_run,
    texts.words_of_letters, quantised.padded_pools_of_bytes,
)


def main():
    HERE.mkdir(exist_ok=True)
    for old in HERE.glob("*.json"):
        old.unlink()
    for group in GROUPS:
        group()


main()
