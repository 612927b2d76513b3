# Loads of known numbers of operations, and what the members of the array were asked
# for. Each is a line
#   count CASE OFFSET TOOL OPERATIONS READS SECTORS_READ WRITES SECTORS_WRITTEN SHARES
# One operation is in flight, so that none finds in memory what another left there.
# SHARES are the writes of each member, joined by commas.
enough=1000
seed=0

members() { cat /sys/block/vd[abcd]/stat | awk '{ printf "%s %s %s %s ", $1, $3, $5, $7 }'; }

# The difference of two looks at the members.
between() { # LABEL OPERATIONS BEFORE AFTER
    echo "$3 $4" | awk -v label="$1" -v operations="$2" '{
        for (i = 1; i <= 16; i++) { delta[i] = $(i + 16) - $i; sum[(i - 1) % 4] += delta[i] }
        for (i = 0; i < 4; i++) share = share (i ? "," : "") delta[4 * i + 3]
        print "count", label, operations, sum[0], sum[1], sum[2], sum[3], share
    }'
}

with_fio() { # CASE OFFSET read|write
    before=$(members)
    fio --name=x --filename=/dev/md0p1 --rw="rand$3" --bs=8k --direct=1 --ioengine=io_uring --iodepth=1 --eta=never \
        --number_ios=$enough --norandommap --randseed=7 --output=/tmp/fio.txt --output-format=json ||
        failure "fio" /tmp/fio.txt
    after=$(members)
    operations=$(awk -v kind="\"$3\"" '$1 == kind { on = 1 } on && $1 == "\"total_ios\"" { gsub(/,/, "", $3); print $3; exit }' /tmp/fio.txt)
    between "$1 $2 fio" "$operations" "$before" "$after"
}

# A run looks at the device before it measures. What that costs is the same each time:
# a short run shows it, and is subtracted.
with_stripewise() { # CASE OFFSET read|write
    destroy=
    [ "$3" = write ] && destroy="--destroy md0p1"
    tenths=5
    run_for "$1" "$2" "$3" 20ms > /tmp/short
    run_for "$1" "$2" "$3" 20ms > /tmp/short
    while :; do
        run_for "$1" "$2" "$3" ${tenths}00ms > /tmp/long
        got=$(awk '{ print $5 }' /tmp/long)
        [ "$got" -ge $enough ] && break
        [ $tenths -ge 6000 ] && failure "$got operations in ten minutes, $enough are needed" && break
        # A slow or busy machine takes longer for them.
        tenths=$((tenths * enough * 3 / 2 / (got + 20) + 5))
        [ $tenths -le 6000 ] || tenths=6000
    done
    cat /tmp/short /tmp/long | awk '
        NR == 1 { for (i = 5; i <= 9; i++) short[i] = $i; split($10, shares, ",") }
        NR == 2 {
            for (i = 5; i <= 9; i++) $i -= short[i]
            split($10, long, ",")
            $10 = (long[1] - shares[1]) "," (long[2] - shares[2]) "," (long[3] - shares[3]) "," (long[4] - shares[4])
            print
        }'
}

run_for() { # CASE OFFSET read|write DURATION
    # Never the positions of the run before, whose pages are still in memory.
    seed=$((seed + 1))
    before=$(members)
    stripewise --quiet --json --store $store run /dev/md0p1 "--$3" --block 8K --threads 1 --outstanding 1 --seed $seed \
        --duration "$4" $destroy > /tmp/run.json 2> /tmp/run.err || [ $? = 1 ] || failure "run" /tmp/run.err
    after=$(members)
    operations=$(values /tmp/run.json | awk '
        /^runs.0.jobs.0.outcome.(operations|drain.operations|errors.total) / { all += $2 } END { print all + 0 }')
    between "$1 $2 stripewise" "$operations" "$before" "$after"
}

count() { # CASE OFFSET read|write
    with_fio "$@"
    with_stripewise "$@"
}
