# SPDX-License-Identifier: Apache-2.0
"""Deciding whether build B is slower than build A, from samples: no clock is read here, so tests feed it recorded figures.

A sample is the least time of a run in one turn, in nanoseconds. Both builds take turns, so a case has two lists. Two figures are made of them:
least of B / least of A, since other work on the machine only ever adds; and the median of B / A over the turns, since what disturbs memory
and caches for seconds disturbs neighbours alike. The loss is the one nearer to 1, and 1 where they are on different sides of it: a real loss
shows in both. A case that seems lost is measured again, all its samples together, before it counts.
"""
import math
import statistics

LIMIT = 1.05


def loss(samples):
    """samples: {"a": [ns...], "b": [ns...]}, in the order of the turns."""
    least = min(samples["b"]) / min(samples["a"])
    turns = statistics.median(b / a for a, b in zip(samples["a"], samples["b"]))
    if (least - 1) * (turns - 1) <= 0:
        return 1.0
    return min(least, turns) if least > 1 else max(least, turns)


def again(cases, limit=LIMIT):
    """The cases that must be measured once more before they may count as lost."""
    return [name for name, case in cases.items() if case.get("equal", True) and loss(case["samples"]) > limit]


def decide(cases, limit=LIMIT):
    """cases: {name: {"samples": ..., "equal": results agree, "why": text}}. Gives {"good", "mean", "losses", "lost", "different", "reasons"}.

    The mean is geometric: it is the same whichever build is called A, and no slow case outweighs the rest.
    """
    different = sorted(name for name, case in cases.items() if not case.get("equal", True))
    losses = {name: loss(case["samples"]) for name, case in cases.items() if name not in different}
    lost = sorted((name for name in losses if losses[name] > limit), key=lambda name: -losses[name])
    mean = math.exp(sum(map(math.log, losses.values())) / len(losses)) if losses else math.nan
    reasons = [f"{name}: results differ: {cases[name].get('why', '')}" for name in different]
    reasons += [f"{name}: {100 * (losses[name] - 1):.1f} % slower" for name in lost]
    if losses and mean > limit:
        reasons.append(f"geometric mean: {100 * (mean - 1):.1f} % slower")
    if not losses:
        reasons.append("no case was measured")
    return {"good": not reasons, "mean": mean, "losses": losses, "lost": lost, "different": different, "reasons": reasons}


def compare(results, tolerance):
    """(equal, why) for two lists of arrays: the largest difference within tolerance times the largest magnitude; infinities and NaN at the same places."""
    import numpy as np

    first, second = results
    if len(first) != len(second):
        return False, f"{len(first)} results against {len(second)}"
    for i, (a, b) in enumerate(zip(first, second)):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype:
            return False, f"result {i} is {a.dtype}{list(a.shape)} against {b.dtype}{list(b.shape)}"
        if a.dtype.kind not in "fc":
            if not np.array_equal(a, b):
                return False, f"result {i}: {int((a != b).sum())} of {a.size} elements differ"
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        finite = np.isfinite(a)
        if not np.array_equal(finite, np.isfinite(b)) or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            return False, f"result {i}: not finite at other places"
        scale = float(np.abs(a[finite]).max(initial=0))
        worst = float(np.abs(a[finite] - b[finite]).max(initial=0))
        if worst > tolerance * scale:
            return False, f"result {i}: {worst:.3g} apart, largest magnitude {scale:.3g}"
    return True, ""
