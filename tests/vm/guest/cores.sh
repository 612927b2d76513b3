# processors: 4,sockets=1,cores=2,threads=2
#
# Threads and cores: of two cores with two processors each, the threads of `--cpus` get a core
# of their own as long as there are any, whatever the processors' numbers; and the facts count
# both. No speed is judged.
. /lib/common.sh

cores=$(cat /sys/devices/system/cpu/cpu[0-9]*/topology/core_cpus_list | sort -u | tr '\n' ' ')
[ "$cores" = "0-1 2-3 " ] && ok "the guest has two cores: $cores" || bad "the guest has other cores: $cores"

# The processors that the threads of a run are on, in the order in which they began, while it runs.
placed() { # WORDS CPUS THREADS EXPECTED
    words=$1 expected=$4
    stripewise --quiet --json --store $store run /dev/vda --engine threads --size 4M --outstanding 1 --duration 10s --cpus "$2" \
        --threads "$3" > /tmp/out.json 2> /tmp/err &
    program=$!
    found=
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        sleep 1
        # The others may use several.
        now=$(ls /proc/$program/task 2> /dev/null | sort -n | while read -r task; do
            sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$program/task/$task/status" 2> /dev/null
        done | grep -x '[0-9]*' | tr '\n' ' ')
        found=${now:-$found}
        [ "$found" = "$expected" ] && break
        kill -0 $program 2> /dev/null || break
    done
    wait $program
    code=$?
    [ $code -le 1 ] && [ "$found" = "$expected" ] && ok "$words: on $found" ||
        bad "$words: on ${found:-none}, not $expected; exit $code" /tmp/err
}
placed "one thread" 0-3 1 "0 "
placed "two threads" 0-3 2 "0 2 "
placed "three threads" 0-3 3 "0 2 1 "
placed "four threads" 0-3 4 "0 2 1 3 "
placed "two threads of one core and another" 1-2 2 "1 2 "
placed "two threads without the first processor" 1-3 2 "1 2 "
[ "$(value /tmp/out.json runs.0.host.cpu.cores)" = 2 ] && ok "the facts have two cores" || bad "the facts have no cores" /tmp/out.json
[ "$(value /tmp/out.json runs.0.host.cpu.packages)" = 1 ] && ok "the facts have one chip" || bad "the facts have no chip"
whole doctor /dev/vda > /tmp/out 2>&1
grep -q "4 usable on 2 cores" /tmp/out && ok "doctor counts both" || bad "doctor counts both" /tmp/out
