# Rates of both tools on disks that are held to so many operations a second, in rounds.
# Each is a line
#   result CASE OFFSET TOOL ROUND IOPS

# A second first: the throttle begins with a burst.
fio_rate() { # CASE OFFSET read|write ROUND SECONDS
    fio --name=x --filename=/dev/md0p1 --rw="rand$3" --bs=8k --direct=1 --ioengine=libaio \
        --iodepth=64 --ramp_time=1 --time_based --runtime="$5" --norandommap --randseed="$4" \
        --output-format=terse --terse-version=3 2> /dev/null |
        awk -F';' -v label="$1 $2 fio $4" -v kind="$3" 'NF > 50 { print "result", label, (kind == "read" ? $8 : $49) }'
}

stripewise_rate() { # CASE OFFSET read|write ROUND SECONDS
    destroy=
    [ "$3" = write ] && destroy="--destroy md0p1"
    stripewise --quiet --json --store $store run /dev/md0p1 "--$3" --block 8K --threads 1 --outstanding 64 \
        --seed "$4" --ramp 1s --duration "$5s" $destroy > /tmp/run.json 2> /tmp/run.err || [ $? = 1 ] || failure "run" /tmp/run.err
    echo "result $1 $2 stripewise $4 $(value /tmp/run.json runs.0.jobs.0.outcome.iops)"
}

# Both tools at all offsets, so many rounds.
rounds() { # NUMBER SECONDS CASE:KIND,... OFFSET...
    number=$1 seconds=$2 cases=$(echo "$3" | tr ',' ' ')
    shift 3
    round=0
    while [ $round -lt "$number" ]; do
        round=$((round + 1))
        for offset in "$@"; do
            place "$offset"
            for case in $cases; do
                fio_rate "${case%:*}" "$offset" "${case#*:}" $round "$seconds"
                stripewise_rate "${case%:*}" "$offset" "${case#*:}" $round "$seconds"
            done
        done
    done
}

# What `align` says, with 36K among the offsets; the words must name the cause.
cause() { # read|write WORDS
    destroy=
    [ "$1" = write ] && destroy="--destroy md0"
    # Reads of blocks that were never written are no verdict about an array.
    dd if=/dev/urandom of=/dev/md0 bs=1M count=96 2> /dev/null
    sync
    sw align /dev/md0 "--$1" --size 64M --offsets 63s,36K,1M --threads 16 \
        --step 900ms --time 5m $destroy > /tmp/align.txt 2> /tmp/align.err
    code=$?
    if [ $code = 1 ] && tr '\n' ' ' < /tmp/align.txt | tr -s ' ' | grep -qi "$2"; then
        ok "align of ${1}s names the cause: $2"
    else
        bad "align of ${1}s: exit $code, and these words were expected: $2" /tmp/align.err
    fi
    cat /tmp/align.txt
}
