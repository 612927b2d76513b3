# Commands that something holds up, and what is said of them: the document is
# /tmp/out.json, $words says what was done.

# What holds up; $pid is the program's. Each returns when it is over.
suspended() {
    dmsetup suspend --noflush --nolockfs slow || failure "dmsetup suspend"
    sleep 20
    dmsetup resume --noudevrules --noudevsync slow || failure "dmsetup resume"
}
stopped() {
    kill -STOP $pid
    sleep 7
    kill -CONT $pid
}
frozen() {
    echo $pid > /cgroup/frozen/cgroup.procs
    echo 1 > /cgroup/frozen/cgroup.freeze
    sleep 7
    echo 0 > /cgroup/frozen/cgroup.freeze
}
# The host does these two when it reads the line. That it is over shows in the clocks:
# one that went on makes a second of sleep long, and one that stood still has fallen
# behind the board's.
machine_frozen() {
    then=$(uptime_seconds)
    echo "host: freeze 7"
    while now=$(uptime_seconds) && [ $((now - then)) -lt 6 ]; do
        then=$now
        sleep 1
    done
}
machine_stopped() {
    behind=$(($(board_seconds) - $(uptime_seconds)))
    echo "host: stop 7"
    while [ $(($(board_seconds) - $(uptime_seconds) - behind)) -lt 6 ]; do
        sleep 1
    done
}
uptime_seconds() { cut -d. -f1 /proc/uptime; }
board_seconds() { cat /sys/class/rtc/rtc0/since_epoch; }

# Begins a command on the device, and waits until it measures.
begin() { # COMMAND ARGUMENT...
    rm -f $store*
    command=$1
    shift
    from=$(operations_on_device)
    stripewise --json --store $store "$command" $node --block 8K --size 8M "$@" > /tmp/out.json 2> /tmp/err &
    pid=$!
    while [ $(($(operations_on_device) - from)) -lt 500 ] && kill -0 $pid 2> /dev/null; do
        sleep 1
    done
    sleep 2
}
operations_on_device() { awk '{ print $1 }' /sys/block/$kernel/stat; }

ended() { # CODE
    wait $pid
    code=$?
    [ $code = "$1" ] && ok "$words: exit $code" || bad "$words: exit $code, expected $1" /tmp/err
    values /tmp/out.json > /tmp/values
}

# A run that goes on until it has been held up, and a little longer.
held_up() { # WORDS FUNCTION ENGINE
    words="$1, $3"
    begin run --outstanding 4 --engine "$3" --interval 500ms --duration 30m
    $2
    sleep 3
    kill -INT $pid
    ended 130
}

# Whether one of these warnings is there, and what it says.
message() { # CODE|CODE...
    awk -v codes="^($1)\$" '
        $1 ~ /warnings\.[0-9]+\.code$/ { found = ($2 ~ codes) }
        found && $1 ~ /warnings\.[0-9]+\.message$/ { $1 = ""; print; found = 0 }' /tmp/values
}
told() { # CODE|CODE...
    said=$(message "$1")
    [ -n "$said" ] && ok "$words: $1:$said" || bad "$words: no warning \`$1\`" /tmp/err
}
untold() { # CODE...
    for warning in "$@"; do
        said=$(message "$warning")
        [ -z "$said" ] && ok "$words: not $warning" || bad "$words: $warning:$said"
    done
}

# A sum or maximum of the document, in milliseconds, is in a range.
within() { # WORDS LOW HIGH FIELD sum|max
    found=$(awk -v field="$4" -v how="$5" '
        $1 ~ field { ms = int($2 / 1000000); if (how == "sum") all += ms; else if (ms > all) all = ms }
        END { print all + 0 }' /tmp/values)
    [ "$found" -ge "$2" ] && [ "$found" -le "$3" ] && ok "$words: $1 $found ms" ||
        bad "$words: $1 $found ms, between $2 and $3 were expected"
}
longest() { within "longest latency" "$1" "$2" 'outcome\.(read\.latency_ns\.max|drain\.latency_ns_max)$' max; }
paused() { within "paused for" "$1" "$2" 'outcome\.pauses\.[0-9]+\.duration_ns$' sum; }

# The device answered nothing for 20 seconds. A busy host may add pauses of its own.
a_stall() {
    # A short step may have been over before it was.
    told "stalled|stalled-at-end"
    case $said in
    *" "[12][0-9]"."*" s"* | *" 20 s"* | *" m "*) ok "$words: for about 20 seconds" ;;
    *) bad "$words: about 20 seconds were expected" ;;
    esac
    paused 0 15000
}
# The program, or the machine, stood still for 7 seconds.
a_pause() {
    told paused
    paused 6000 120000
    longest 0 6000
    untold stalled stalled-at-end
}

# A bench, held up in a step of its first ladder.
benched() { # WORDS FUNCTION
    words="$1 under bench"
    begin bench --series random-read --step 5s --time 2m --no-report
    $2
    ended 0
}

# A run with what busy loops leave over of the processors: of both, or of the only one
# that the worker may use while the program's other threads have theirs.
starved() { # WORDS ENGINE NICE_OF_RUN NICE_OF_LOOPS PROCESSORS [ARGUMENT...]
    words="$1, $2"
    engine=$2 of_run=$3 of_loops=$4 processors=$5
    shift 5
    begin run --outstanding 4 --engine $engine --interval 500ms --duration 30s "$@"
    loops=
    for _ in 1 2 3 4; do
        taskset $processors sh -c 'while :; do :; done' &
        loops="$loops $!"
    done
    renice -n "$of_run" -p $(ls /proc/$pid/task) > /dev/null
    renice -n "$of_loops" -p $loops > /dev/null
    ended 0
    kill $loops
    wait $loops 2> /dev/null
    said=$(message "stalled|stalled-at-end|paused")
    case $said in
    *"the device stalled"*) bad "$words:$said" ;;
    *) ok "$words:${said:- nothing of note}" ;;
    esac
}
