# Requests and sectors of the members, per operation, against what the layout's
# arithmetic says. Positions are random, so a share that is neither 0 nor 1 scatters as
# the binomial distribution says; five of its standard deviations are allowed, which is
# once in two million. Everything else is exact.
BEGIN {
    bytes["63s"] = 32256
    bytes["36K"] = 36864
    bytes["1M"] = 1048576
    block = 8192
    page = 4096
    # Pages of a member that random writes choose from, and those that stay in memory.
    pages = 65000
    kept = 32
}
# Share of 8K operations from this offset on that cross from one chunk into the next.
function crossing(offset, chunk,    i, start, crossed) {
    crossed = 0
    for (i = 0; i < chunk / block; i++) {
        start = offset + i * block
        if (int(start / chunk) != int((start + block - 1) / chunk)) crossed++
    }
    return crossed / (chunk / block)
}
function near(label, got, wanted, slack) {
    check(got >= wanted - slack - 1e-9 && got <= wanted + slack + 1e-9,
        sprintf("%s: %.4f an operation (%.4f%s)", label, got, wanted, slack > 0 ? sprintf(" within %.4f", slack) : ""))
}
# What one operation of a case asks of all members: reads, sectors read, writes,
# sectors written; and the share of operations whose pages are still in memory.
function expect(kind, offset,    chunk, share, touched) {
    chunk = (kind == "raid5-read") ? 16384 : 65536
    share = crossing(offset, chunk)
    deviation = sqrt(share * (1 - share))
    want["reads"] = want["read sectors"] = want["writes"] = want["written sectors"] = 0
    copies = 1
    lost = 0
    if (kind == "raid10-read" || kind == "raid5-read") {
        want["reads"] = 1 + share
        want["read sectors"] = block / 512
    } else if (kind == "raid10-write") {
        copies = 2
        want["writes"] = 2 * (1 + share)
        want["written sectors"] = 2 * block / 512
    } else {
        # Each page of a stripe that is written, in whole or in part, costs two reads
        # (the rest of the stripe, or the old page and its parity) and two writes.
        touched = int((offset % page + block - 1) / page) + 1
        want["reads"] = want["writes"] = 2 * touched
        want["read sectors"] = want["written sectors"] = 2 * touched * page / 512
        deviation = 0
        lost = kept / pages
    }
}
function judge(kind, at, tool,    n, label, member, each) {
    n = operations[kind, at, tool]
    label = kind " at " at ", " tool
    if (!check_all(n >= 800, label ": " n " operations")) return
    expect(kind, bytes[at])
    slack = 5 * copies * deviation / sqrt(n)
    # Operations that find the pages of their stripe in memory read nothing; in the
    # short run that is subtracted, too. So rare, they follow Poisson's distribution.
    missing = lost ? (lost * n + 5 * sqrt(lost * n) + 5) * want["reads"] / n : 0
    near(label ", reads", got[kind, at, tool, 1] / n, want["reads"], want["reads"] ? slack + missing : 0)
    near(label ", read sectors", got[kind, at, tool, 2] / n, want["read sectors"], missing * page / 512)
    near(label ", writes", got[kind, at, tool, 3] / n, want["writes"], want["writes"] ? slack : 0)
    near(label ", written sectors", got[kind, at, tool, 4] / n, want["written sectors"], 0)
    split(shares[kind, at, tool], member, ",")
    if (kind == "raid10-write")
        check(member[1] == member[2] && member[3] == member[4], label ": both copies, disk by disk: " shares[kind, at, tool])
}
function check_all(ok, text) { check(ok, text); return ok }
$1 == "count" {
    operations[$2, $3, $4] = $5
    for (i = 1; i <= 4; i++) got[$2, $3, $4, i] = $(5 + i)
    shares[$2, $3, $4] = $10
}
END {
    split("stripewise fio", tools, " ")
    for (i = 1; i <= 2; i++) {
        split("63s 1M", offsets, " ")
        for (j = 1; j <= 2; j++) {
            judge("raid10-write", offsets[j], tools[i])
            judge("raid10-read", offsets[j], tools[i])
            judge("raid5-read", offsets[j], tools[i])
        }
        split("63s 36K 1M", offsets, " ")
        for (j = 1; j <= 3; j++) judge("raid5-write", offsets[j], tools[i])
    }
}
