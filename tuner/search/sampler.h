// Draws Schedules of a Plan: at random, near a good one, or the legal one nearest to a foreign
// one.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "compiler/impl.h"

namespace aoe::tuner {

using Random = std::mt19937_64;

/// Number of points of the product of the axes, illegal ones included; stops counting at 2^62.
double point_count(const compiler::Plan& plan);

/// A uniformly drawn legal Schedule; nullopt when many draws in a row were illegal, or there are no
/// axes.
std::optional<compiler::Schedule> draw(const compiler::Plan& plan, Random& random);

/// `parent` with one axis changed, mostly to a neighbouring value, sometimes with two. nullopt as
/// in draw().
std::optional<compiler::Schedule> mutate(const compiler::Plan& plan,
                                         const compiler::Schedule& parent, Random& random);

/// Every axis from one of the two, both alike. nullopt when that is illegal or one of them.
std::optional<compiler::Schedule> cross(const compiler::Plan& plan,
                                        const compiler::Schedule& mother,
                                        const compiler::Schedule& father, Random& random);

/// The legal Schedules that differ from `schedule` in one axis, by one value up or down; in the order of the axes.
std::vector<compiler::Schedule> single_steps(const compiler::Plan& plan,
                                             const compiler::Schedule& schedule);

/// All legal Schedules, in the order of the axes, when the axes have at most `most` points; else
/// none.
std::vector<compiler::Schedule> enumerate(const compiler::Plan& plan, std::size_t most);

/// Each axis of `foreign` moved to the nearest value (by ratio) this plan has; the heuristic's
/// value where `foreign` lacks the axis. nullopt when the result is not legal. How a winner of
/// another shape starts the search of this one.
std::optional<compiler::Schedule> adapt(const compiler::Plan& plan,
                                        const compiler::Schedule& foreign);

}  // namespace aoe::tuner
