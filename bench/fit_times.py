#!/usr/bin/env python3
"""How good the planners' predicted times are, and factors for kernels with which they would be better.

relayout_bench --suite random --seed 1 --candidates 8 --json one.json        # for tuning
relayout_bench --suite random --seed 101 --candidates 8 --json other.json    # for checking
bench/fit_times.py one.json --check other.json

A problem's regret is the time of the candidate that the planner takes over that of the fastest one, less 1. For each
kind of kernel a factor of its predicted time, without the launch, is searched that makes the regret over the first
files least; how they do on the files after --check says whether they hold for other problems. A factor goes into the
planner's constants by hand: host/plan/copy/tile_tuning.cpp, host/plan/window/window_cost.cpp.
"""
import argparse
import json
import math
import statistics

LAUNCH = 1.6  # microseconds of a predicted time that no factor changes
STEPS = (0.7, 0.85, 0.93, 0.97, 1.03, 1.07, 1.18, 1.4)
ROUNDS = 6
ERROR_WEIGHT = 0.02  # so that factors which change no choice still bring predicted times near measured ones


def problems_of(files):
    """[(family, candidates)] of the problems that had a choice."""
    found = []
    for name in files:
        with open(name, encoding="utf-8") as file:
            for problem in json.load(file)["problems"]:
                if len(problem.get("candidates", [])) > 1:
                    found.append((problem["family"], problem["candidates"]))
    if not found:
        raise SystemExit(f"{', '.join(files)}: no problem has candidates; run relayout_bench with --candidates")
    return found


def predicted(candidate, factors):
    return LAUNCH + factors.get(candidate["kind"], 1) * (candidate["predicted_microseconds"] - LAUNCH)


def regret(candidates, taken):
    return taken["microseconds"] / min(candidate["microseconds"] for candidate in candidates) - 1


def taken_by(factors):
    return lambda candidates: min(candidates, key=lambda candidate: predicted(candidate, factors))


def chosen(candidates):
    return next(candidate for candidate in candidates if candidate["chosen"])


def percentile(values, percent):
    return sorted(values)[max(0, math.ceil(percent / 100 * len(values)) - 1)]


def print_regrets(title, problems, choose):
    print(f"\n{title}\n{'family':12}{'problems':>9}{'candidates':>11}{'mean':>8}{'p95':>8}{'worst':>8}")
    for family in dict.fromkeys(family for family, _ in problems):
        ours = [candidates for other, candidates in problems if other == family]
        regrets = [regret(candidates, choose(candidates)) for candidates in ours]
        print(f"{family:12}{len(ours):9}{statistics.mean(map(len, ours)):11.1f}{statistics.mean(regrets):8.3f}"
              f"{percentile(regrets, 95):8.3f}{max(regrets):8.3f}")


def print_kinds(problems):
    """Measured over predicted times, and where what is taken is slower than another by 5 % or more."""
    ratios, losses = {}, {}
    for _, candidates in problems:
        for candidate in candidates:
            ratios.setdefault(candidate["kind"], []).append(
                (candidate["microseconds"] - LAUNCH) / max(0.1, candidate["predicted_microseconds"] - LAUNCH))
        taken, best = chosen(candidates), min(candidates, key=lambda candidate: candidate["microseconds"])
        if regret(candidates, taken) >= 0.05:
            losses.setdefault((taken["kind"], best["kind"]), []).append(regret(candidates, taken))
    print(f"\n{'kind':36}{'timed':>7}  measured / predicted: p10, p50, p90")
    for kind, values in sorted(ratios.items()):
        print(f"{kind:36}{len(values):7}  " + "".join(f"{percentile(values, p):7.2f}" for p in (10, 50, 90)))
    print(f"\n{'taken':36}{'5 % faster or more':36}{'problems':>8}{'mean':>8}")
    for (ours, other), values in sorted(losses.items(), key=lambda item: -sum(item[1])):
        print(f"{ours:36}{other:36}{len(values):8}{statistics.mean(values):8.3f}")


def fit(problems):
    kinds = sorted({candidate["kind"] for _, candidates in problems for candidate in candidates})
    factors = dict.fromkeys(kinds, 1.0)

    def cost():
        choose = taken_by(factors)
        total = 0
        for _, candidates in problems:
            total += regret(candidates, choose(candidates))
            total += ERROR_WEIGHT * statistics.mean(
                abs(math.log(candidate["microseconds"] / predicted(candidate, factors))) for candidate in candidates)
        return total / len(problems)

    least = cost()
    for _ in range(ROUNDS):
        before = least
        for kind in kinds:
            for step in STEPS:
                known = factors[kind]
                factors[kind] = known * step
                if (now := cost()) < least:
                    least = now
                else:
                    factors[kind] = known
        if before - least < 1e-5:
            break
    return factors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="results with candidates, to which the factors are fitted")
    parser.add_argument("--check", nargs="+", default=[], help="results that are only looked at")
    arguments = parser.parse_args()
    problems = problems_of(arguments.files)
    checked = problems_of(arguments.check) if arguments.check else []
    print_kinds(problems)
    factors = fit(problems)
    print("\nfactors")
    for kind, factor in factors.items():
        print(f"  {kind:36}{factor:6.2f}")
    for title, group in (("fitted to", problems), ("checked on", checked)):
        if group:
            print_regrets(f"regret as planned, {title}", group, chosen)
            print_regrets(f"regret with the factors, {title}", group, taken_by(factors))


if __name__ == "__main__":
    main()
