#!/usr/bin/env python3
"""Writes reference.txt: values of the crate's functions by other implementations.

    pip install numpy scipy apache-otava statsmodels
    python3 make_reference.py > reference.txt

Each line is `function | inputs | outputs`; fields are separated by ` | `, numbers in
a field by spaces, printed so that they come back to the same bits. The tests read
the file and need no Python. Seeds are fixed, so that the file is reproducible.
"""

import itertools
import sys

import numpy as np
import otava.change_point_divisive.base as otava_base
import scipy
import statsmodels.api as sm
from otava.analysis import split
from scipy import optimize, special, stats


def numbers(values):
    return " ".join(repr(float(v)) for v in np.atleast_1d(values))


def line(function, *fields):
    print(" | ".join([function, *[numbers(f) for f in fields]]))


def distributions():
    for z in [-30, -10, -5, -2.5, -1.96, -1, -0.1, 0, 0.3, 1, 1.645, 3, 6, 8]:
        line("normal_cdf", z, stats.norm.cdf(z))
    for p in [1e-300, 1e-30, 1e-9, 1e-4, 0.01, 0.025, 0.07, 0.08, 0.3, 0.5, 0.6, 0.95, 0.975, 0.999]:
        line("normal_quantile", p, stats.norm.ppf(p))
    for df in [1, 2, 3, 5, 9, 18, 30, 48, 99, 101, 1000, 12345, 1e6]:
        for t in [1e-8, 0.1, 0.7, 1, 1.96, 2.262, 5, 12.7, 40]:
            line("student_two_sided", [t, df], 2 * stats.t.sf(t, df))
        for p in [1e-6, 0.005, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9995]:
            line("student_quantile", [p, df], stats.t.ppf(p, df))


def incomplete():
    for a in [0.3, 1, 2.5, 30, 1234.5, 200000]:
        for b in [0.5, 7, 900, 150000]:
            for q in [1e-6, 0.01, 0.3, 0.5, 0.99]:
                x = stats.beta.ppf(q, a, b)
                line("incomplete_beta", [a, b, x], special.betainc(a, b, x))
    for a in [0.3, 1, 2.5, 30, 1234.5, 200000]:
        for q in [1e-6, 0.01, 0.3, 0.5, 0.99]:
            x = stats.gamma.ppf(q, a)
            line("incomplete_gamma", [a, x], special.gammainc(a, x))


def samples(random):
    for n in [1, 2, 3, 4, 7, 10, 33]:
        values = np.round(random.normal(100, 20, n), 3)
        for p in [0, 0.01, 0.25, 0.5, 0.7, 0.9, 0.99, 1]:
            methods = ["inverted_cdf", "linear", "median_unbiased"]
            line("quantile", values, p, [np.quantile(values, p, method=m) for m in methods])
        if n >= 2:
            interval = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values))
            line("mean_interval", values, [values.mean(), values.var(ddof=1), *interval])


def signed_ranks(random):
    """SciPy's exact distribution; where there are ties, its full permutation test."""
    for n in [1, 2, 3, 5, 6, 7, 10, 11, 13, 20, 35, 50]:
        for shift in [0, 0.5, -1]:
            d = random.normal(shift, 1, n)
            p = [
                stats.wilcoxon(d, alternative=a, method="exact").pvalue
                for a in ["two-sided", "greater", "less"]
            ]
            line("signed_rank", d, p)
    everything = stats.PermutationMethod(n_resamples=np.inf)
    for n in [4, 8, 12]:
        for shift in [0, 1]:
            d = np.round(random.normal(shift, 2, n))
            if not d.any():
                continue
            p = [
                stats.wilcoxon(d, alternative=a, method=everything).pvalue
                for a in ["two-sided", "greater", "less"]
            ]
            line("signed_rank", d, p)


def signed_rank_intervals(random):
    """By enumeration: Walsh averages, and W's distribution in whole numbers."""
    for n in [6, 7, 10, 11, 13, 20, 40, 60]:
        ways = [1]
        for rank in range(1, n + 1):
            longer = ways + [0] * rank
            for k, w in enumerate(ways):
                longer[k + rank] += w
            ways = longer
        assert sum(ways) == 2**n
        d = random.normal(0.2, 1, n)
        walsh = np.sort([(d[i] + d[j]) / 2 for i in range(n) for j in range(i + 1)])
        for level in [0.9, 0.95]:
            c, below = 0, 0
            while 2 * (below + ways[c]) <= (1 - level) * 2**n:
                below += ways[c]
                c += 1
            assert c >= 1
            achieved = 1 - 2 * below / 2**n
            line("signed_rank_interval", d, level,
                 [np.median(walsh), walsh[c - 1], walsh[len(walsh) - c], achieved])


def t_tests(series, cuts):
    """The p-value and magnitude of each step between the stretches."""
    bounds = [0, *cuts, len(series)]
    found = []
    for a, b, c in zip(bounds, bounds[1:], bounds[2:]):
        left, right = series[a:b], series[b:c]
        p = stats.ttest_ind(left, right).pvalue
        l, r = np.mean(left), np.mean(right)
        found.append((p, max(abs(l / r - 1), abs(r / l - 1))))
    return found


def merge(series, cuts, p_value_max, magnitude_min):
    """Otava's merging, but with all steps looked at anew after each removal: Otava
    0.8.0 leaves the p-value of a step stale when its right neighbour goes."""
    while cuts:
        found = t_tests(series, cuts)
        weakest = max(range(len(cuts)), key=lambda k: found[k][0])
        if found[weakest][0] < p_value_max:
            weakest = min(range(len(cuts)), key=lambda k: found[k][1])
            if found[weakest][1] > magnitude_min:
                break
        del cuts[weakest]
    return cuts


def change_points(random):
    """Otava's splitting, with variances over n - 1 (it divides by n), and with a place
    that two windows find counted once (version 0.8.0 fails there; later ones do this)."""
    biased = np.std
    np.std = lambda values: biased(values, ddof=1)
    otava_base.ChangePoint.__eq__ = lambda a, b: a.index == b.index
    shapes = [
        [(100, 60)],
        [(100, 30), (90, 30)],
        [(100, 20), (80, 25), (100, 20)],
        [(100, 70), (101, 70), (95, 40)],
        [(100, 5), (200, 5)],
        [(100, 100), (97, 120), (99, 80)],
        [(50, 3), (60, 3), (70, 3), (80, 3)],
        [(100, 2), (140, 2)],
    ]
    for shape in shapes:
        for deviation in [0.5, 2, 5]:
            for rule in [(50, 0.001, 0.0), (30, 0.01, 0.05)]:
                series = np.concatenate([random.normal(level, deviation, n) for level, n in shape])
                series = np.round(series, 2)
                window, p_value_max, magnitude_min = rule
                weak = split(list(series), window, 10 * p_value_max)
                cuts = merge(series, [c.index for c in weak], p_value_max, magnitude_min)
                p_values = [p for p, _ in t_tests(series, cuts)]
                line("change_points", series, rule, cuts or [-1], p_values or [-1])
    np.std = biased


def steady(random):
    for _ in range(12):
        values = np.round(100 + random.normal(0, 5, 5) + np.arange(5) * random.normal(0, 3), 2)
        slope = np.polyfit(np.arange(5), values, 1)[0]
        line("steady", values,
             [values.mean(), np.ptp(values) / values.mean(), abs(slope) * 4 / values.mean()])


def rank_sums(random):
    """SciPy's exact distribution; with ties, all choices of places are counted."""
    for m, n in [(1, 1), (1, 5), (2, 2), (3, 4), (4, 4), (5, 9), (10, 10), (20, 30)]:
        for shift in [0, 1]:
            a, b = random.normal(0, 1, m), random.normal(shift, 1, n)
            p = [
                stats.mannwhitneyu(b, a, alternative=s, method="exact").pvalue
                for s in ["two-sided", "greater", "less"]
            ]
            line("rank_sum", a, b, p)
    for m, n in [(3, 5), (6, 6)]:
        for shift in [0, 2]:
            a = np.round(random.normal(0, 2, m))
            b = np.round(random.normal(shift, 2, n))
            ranks = stats.rankdata(np.concatenate([a, b]))
            sums = [sum(chosen) for chosen in itertools.combinations(ranks, n)]
            seen = ranks[m:].sum()
            greater, less = np.mean([s >= seen for s in sums]), np.mean([s <= seen for s in sums])
            line("rank_sum", a, b, [min(1, 2 * min(greater, less)), greater, less])
    for m, n in [(60, 70), (100, 40)]:
        a, b = np.round(random.normal(0, 5, m)), np.round(random.normal(2, 5, n))
        p = [
            stats.mannwhitneyu(b, a, alternative=s, method="asymptotic").pvalue
            for s in ["two-sided", "greater", "less"]
        ]
        line("rank_sum", a, b, p)


def rank_sum_intervals(random):
    """By enumeration: every choice of places for the second sample."""
    for m, n in [(4, 4), (3, 5), (2, 8), (6, 6), (5, 9), (8, 7)]:
        ranks = range(1, m + n + 1)
        us = np.array([sum(c) - n * (n + 1) // 2 for c in itertools.combinations(ranks, n)])
        a, b = random.normal(0, 1, m), random.normal(0.5, 1, n)
        differences = np.sort(np.subtract.outer(b, a).ravel())
        c = 0
        while 2 * np.mean(us <= c) <= 0.05:
            c += 1
        achieved = 1 - 2 * np.mean(us <= c - 1)
        line("rank_sum_interval", a, b,
             [np.median(differences), differences[c - 1], differences[m * n - c], achieved])


def pooled_students(random):
    """SciPy's t-test of equal variances on logarithms; by hand where one side is a single value."""
    for m, n in [(2, 2), (3, 3), (2, 5), (1, 3), (1, 6)]:
        a, b = random.normal(100, 2, m), random.normal(103, 2, n)
        x, y = np.log(a), np.log(b)
        df = m + n - 2
        pooled = (((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()) / df
        error = np.sqrt(pooled * (1 / m + 1 / n))
        d = y.mean() - x.mean()
        p = 2 * stats.t.sf(abs(d) / error, df)
        low, high = stats.t.interval(0.95, df, d, error)
        if m > 1:
            test = stats.ttest_ind(y, x, equal_var=True)
            theirs = test.confidence_interval(0.95)
            assert np.allclose([p, low, high], [test.pvalue, theirs.low, theirs.high], rtol=1e-12)
        line("pooled_student", a, b, [*(100 * np.expm1([d, low, high])), p])


def huber(x, y, terms):
    """Coefficients, (Z'Z)^-1, and residuals cut off and stretched as statsmodels' H1 has them."""
    z = np.vander(x, terms, increasing=True)
    fit = sm.RLM(y, z, M=sm.robust.norms.HuberT(1.345)).fit(
        scale_est="mad", maxiter=2000, tol=1e-14, conv="coefs", cov="H1"
    )
    r = y - z @ fit.params
    inside = np.mean(np.abs(r) <= 1.345 * fit.scale)
    stretch = (1 + terms / len(y) * (1 - inside) / inside) / inside
    pseudo = stretch * np.clip(r, -1.345 * fit.scale, 1.345 * fit.scale)
    inverse = np.linalg.inv(z.T @ z)
    ours = np.sqrt(np.diag(inverse) * (pseudo**2).sum() / (len(y) - terms))
    assert np.allclose(ours, fit.bse, rtol=1e-9), (ours, fit.bse)
    return fit.params, inverse, pseudo


def robust_means(random):
    for n in [2, 5, 8, 10, 21]:
        y = np.round(random.normal(10, 0.5, n), 3)
        y[0] -= 4 * (n > 2)
        (c,), inverse, r = huber(np.zeros(n), y, 1)
        half = 1.1 * stats.t.ppf(0.975, n - 1) * np.sqrt(inverse[0, 0] * (r**2).sum() / (n - 1))
        line("robust_mean_interval", y, [c, c - half, c + half])


def rates_at_limits(random):
    """A power mean of a ceiling and of proportional growth, with disturbed runs."""
    for knee, at, blocks, sharp in [(16, 22, 4, 2), (8, 30, 2, 2), (32, 20, 4, 4), (4, 16, 4, 8)]:
        loads = np.round(np.repeat([0.63, 0.84, 1, 1.19, 1.59], blocks) * at)
        xi = np.log(20000) - np.log(1 + (knee / loads) ** sharp) / sharp
        tau = np.log(2.5) + 0.1 * np.log(loads / knee)
        xi, tau = xi + random.normal(0, 0.07, loads.size), tau + random.normal(0, 0.05, loads.size)
        xi[3] += np.log(0.6)
        limit = np.exp(np.median(np.log(loads) - xi + tau))
        rate, latency = np.exp(xi), np.exp(np.log(loads) - xi + tau)
        u = np.log(loads)
        v = u - u.mean()
        b, of_xi, r = huber(v, xi, 3)
        if b[2] > 0:
            b, of_xi, r = huber(v, xi, 2)
        a, of_tau, q = huber(v, tau, 2)
        of = lambda c, x: np.polynomial.polynomial.polyval(x, c)
        g = lambda x: u.mean() + x - of(b, x) + of(a, x) - np.log(limit)
        root = optimize.brentq(g, v.min() - 0.17, v.max() + 0.17, xtol=1e-15)
        slope = of(np.polynomial.polynomial.polyder(b), root)
        rho = slope / (1 - slope + a[1])
        zx, zt = root ** np.arange(len(b)), root ** np.arange(2)
        n = loads.size
        var = (
            (1 + rho) ** 2 * (r @ r) / (n - len(b)) * (zx @ of_xi @ zx)
            + rho**2 * (q @ q) / (n - 2) * (zt @ of_tau @ zt)
            - 2 * rho * (1 + rho) * (r @ q) / (n - len(b)) * (zt @ of_tau @ zt)
        )
        weights = np.clip(1 - np.abs(v - root) / 0.35, 0, None)
        misfit = (1 + rho) * (weights @ r) / weights.sum()
        t = 1.07 * stats.t.ppf(0.975, n - 3)
        down, up = (t * np.sqrt(var + m**2) for m in (min(misfit, 0), max(misfit, 0)))
        value = of(b, root)
        line("rate_at_limit", loads, rate, latency, limit,
             [np.exp(u.mean() + root), *np.exp([value, value - down, value + up])])


def isotonics(random):
    for n in [1, 2, 5, 9, 30]:
        y = np.round(np.arange(n) * 0.3 + random.normal(0, 1, n), 2)
        line("isotonic", y, optimize.isotonic_regression(y).x)


def history(seed, boots, counts, boot_sd, hour_sd, run_sd):
    """Runs of hours in turn; restricted maximum likelihood by direct search, and the
    interval of a new run of the last boot or a new one, at 3 o'clock or an hour unknown."""
    random = np.random.default_rng(seed)
    of_boot, of_hour = boot_sd * random.standard_normal(boots), hour_sd * random.standard_normal(24)
    boot = np.concatenate([np.full(counts[b % len(counts)], b) for b in range(boots)])
    hour = np.arange(len(boot)) % 24
    noise = run_sd * random.standard_normal(len(boot))
    value = np.round(1000 * np.exp(of_boot[boot] + of_hour[hour] + noise), 3)
    y, ones = np.log(value), np.ones(len(boot))
    same_boot = (boot[:, None] == boot[None]).astype(float)
    same_hour = (hour[:, None] == hour[None]).astype(float)

    def variance_of(s):
        return s[0] * np.eye(len(y)) + s[1] * same_boot + s[2] * same_hour

    def loss(logs):
        variance = variance_of(np.exp(logs))
        inverse = np.linalg.inv(variance)
        mean = (ones @ inverse @ y) / (ones @ inverse @ ones)
        rest = y - mean
        return np.linalg.slogdet(variance)[1] + np.log(ones @ inverse @ ones) + rest @ inverse @ rest

    starts = [[-8, -9, -9], [-9, -8, -12], [-8, -12, -9]]
    options = dict(xatol=1e-9, fatol=1e-11, maxiter=8000)
    found = [optimize.minimize(loss, np.array(x, float), method="Nelder-Mead", options=options)
             for x in starts]
    s = np.exp(min(found, key=lambda one: one.fun).x)
    inverse = np.linalg.inv(variance_of(s))
    precision = ones @ inverse @ ones
    mean = (ones @ inverse @ y) / precision
    hours = len(set(hour))
    fields = []
    for knows_boot, knows_hour in [(True, True), (False, True), (False, False)]:
        covariance = s[1] * (boot == boot.max()) * knows_boot + s[2] * (hour == 3) * knows_hour
        centre = mean + covariance @ inverse @ (y - mean)
        short = 1 - covariance @ inverse @ ones
        total = s.sum() - covariance @ inverse @ covariance + short**2 / precision
        parts = [(s[1], boots - 1)] * (not knows_boot) + [(s[2], hours - 1)] * (not knows_hour)
        parts.append((total - sum(part for part, _ in parts), len(y) - boots - hours + 1))
        df = total**2 / sum(part**2 / df for part, df in parts)
        half = stats.t.ppf(0.975, df) * np.sqrt(total)
        fields.append(np.exp([centre, centre - half, centre + half]))
    line("history", value, boot, hour, [*np.sqrt(s), np.exp(mean)], *fields)


def main():
    print(f"# NumPy {np.__version__}, SciPy {scipy.__version__}, Otava 0.8.0 with corrections;"
          " written by make_reference.py")
    random = np.random.default_rng(20070501)
    distributions()
    samples(random)
    signed_ranks(random)
    signed_rank_intervals(random)
    change_points(random)
    random.normal(size=32)  # Once drawn for another function: later lines stay as they are.
    steady(random)
    # Later ones have streams of their own, so that earlier lines stay as they are.
    rank_sums(np.random.default_rng(1))
    rank_sum_intervals(np.random.default_rng(2))
    pooled_students(np.random.default_rng(3))
    robust_means(np.random.default_rng(4))
    rates_at_limits(np.random.default_rng(5))
    isotonics(np.random.default_rng(6))
    incomplete()
    history(1, 5, [12, 7, 20], 0.02, 0.01, 0.015)
    history(2, 2, [60, 40], 0.0, 0.02, 0.01)
    history(3, 8, [9, 4], 0.03, 0.0, 0.01)
    history(4, 3, [80, 50], 0.01, 0.01, 0.005)


if __name__ == "__main__":
    sys.exit(main())
