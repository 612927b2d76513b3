# Rates that both tools found in the same rounds on the same partition. An effect is
# (IOPS at 1M / IOPS at the other offset - 1) * 100, one for each round and tool. What
# counts is an interval of 99 % over the rounds (Student's t), not how the machine
# felt in one of them:
# - ours must be able to be what arithmetic allows: the interval meets the range;
# - ours less fio's, round by round, must be able to be nothing: the interval meets a
#   point around 0.
function t99(n) { return n <= 2 ? 63.657 : n == 3 ? 9.925 : n == 4 ? 5.841 : n == 5 ? 4.604 : n == 6 ? 4.032 : n <= 8 ? 3.707 : 3.36 }
function effect(label, offset, tool, round) {
    return (iops[label, "1M", tool, round] / iops[label, offset, tool, round] - 1) * 100
}
# The interval of what `one` holds: `middle` and `half`.
function interval(n,    i, sum, squares) {
    for (i = 1; i <= n; i++) sum += one[i]
    middle = sum / n
    for (i = 1; i <= n; i++) squares += (one[i] - middle) ^ 2
    half = n > 1 ? t99(n) * sqrt(squares / (n - 1) / n) : 1e9
}
# An interval that is too wide says nothing, good or bad: other load did that.
function settle(ok, widest, text) {
    if (ok && half > widest) print "UNDECIDED " text ": the interval is too wide, was the machine busy?"
    else check(ok, text)
}
function whole(label, offset,    i, n, tools) {
    split("stripewise fio", tools, " ")
    n = rounds[label]
    for (i = 1; i <= n; i++)
        if (!(iops[label, offset, "stripewise", i] && iops[label, offset, "fio", i] && iops[label, "1M", "stripewise", i] && iops[label, "1M", "fio", i])) return 0
    return n > 1
}
function agree(label, offset, low, high,    i) {
    if (!whole(label, offset)) { fail(label " at " offset ": rounds are missing"); return }
    for (i = 1; i <= rounds[label]; i++) one[i] = effect(label, offset, "stripewise", i)
    interval(rounds[label])
    settle(middle + half >= low && middle - half <= high, 3,
        sprintf("%s: %s against 1M: %.1f %% +- %.1f (between %s and %s)", label, offset, middle, half, low, high))
    for (i = 1; i <= rounds[label]; i++) one[i] -= effect(label, offset, "fio", i)
    interval(rounds[label])
    settle(middle + half >= -1 && middle - half <= 1, 3,
        sprintf("%s: %s against 1M: ours less fio, %.2f points +- %.2f", label, offset, middle, half))
}
function near(label, offset, expected,    i) {
    if (!whole(label, offset)) { fail(label " at " offset ": rounds are missing"); return }
    for (i = 1; i <= rounds[label]; i++) one[i] = iops[label, offset, "stripewise", i]
    interval(rounds[label])
    settle(middle + half >= expected * 0.9 && middle - half <= expected * 1.1, expected * 0.05,
        sprintf("%s at %s: %.1f IOPS +- %.1f (%d within 10 %%)", label, offset, middle, half, expected))
}
$1 == "result" { iops[$2, $3, $4, $5] = $6; if ($5 > rounds[$2]) rounds[$2] = $5; print }
END {
    if (scenario == "rates-raid10") {
        agree("raid10-write", "63s", 8, 14)
        agree("raid10-read", "63s", 8, 14)
    }
    if (scenario == "rates-raid5-read") agree("raid5-read", "63s", 46, 53)
    if (scenario == "rates-raid5-write") {
        near("raid5-write", "63s", 101)
        near("raid5-write", "36K", 276)
        near("raid5-write", "1M", 301)
    }
}
