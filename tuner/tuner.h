// The tuner: searches what makes a model faster by measuring it, keeps the winners in the knowledge bank, and compiles
// the tuned om.
//
//   Graph g = graph::import_onnx("m.onnx", {});  graph::run_passes(g, {});
//   WorkerMeasurer measurer({.soc = soc, .policy = policy.measure});       // measure/worker_measurer.h
//   TuneOutcome outcome = tune_operators(g, bank, built_in, measurer, {.soc = soc, ...});
//
// Whatever a run wins is in the bank as soon as it is decided, and confirmed there once the whole model was measured with
// it; until then nobody else compiles with it. The result file (result/aoe_result.h) is on disk from the first moment and
// says "tuning incomplete" until the end. A process that is killed loses at most what it was working on.
//
// Whoever tunes needs a program that measures: its own, which calls run_if_worker() (measure/worker.h) first thing in
// main(), or another one that does (WorkerOptions::program).
//
// Where to look, arrows pointing down (tests/base/check_ladder):
//   session/    what to tune next, what to keep: tuning_session.h is the run, operator_session.cpp (OPAT) and
//               subgraph_session.cpp (SGAT) its two orders; the ledger, the confirmation in the model, the journal
//   tasks/      the work that a model holds: Tunables (operators' tasks, subgraphs), filters, neighbours
//   search/     cost model, sampler, evolution, plan search, budget: numbers in, candidates out; knows no model
//   measure/    workers, races, calm, statistics: candidates in, times out; knows no model
//   fleet/      nodes of a cluster and what they are asked to do: orders, answers, lost nodes; launchers
//   result/     the result file
//   policy.h    how much is measured and searched, as presets say; known to all
#pragma once

#include "tuner/session/session.h"
