# Experiments over layouts that a power loss ends, and what is there after it.

array_runs() { grep -q '^md' /proc/mdstat; }
array_is_parted() { ls -d /sys/block/md*/md*p1 > /dev/null 2>&1; }
second_array_runs() { [ "$(grep -c '^md' /proc/mdstat)" -gt 1 ]; }
is_mounted() { [ -n "$(ls -A /run/stripewise 2> /dev/null)" ]; }
all_are_mounted() { [ "$(ls /run/stripewise 2> /dev/null | wc -l)" = 4 ]; }
slots_are_there() { [ -e /sys/block/vdd/vdd4 ]; }
# One stood, and stands no more.
is_over() {
    if is_mounted; then
        stood=yes
        return 1
    fi
    [ "$stood" = yes ]
}

# Begins an experiment, and asks for the power to go once it is there and so many seconds
# have passed; the host takes up to one more.
lost_when() { # WORDS CONDITION [SECONDS [ARGUMENT...]]
    words=$1 condition=$2 seconds=${3:-0}
    shift $(($# < 3 ? $# : 3))
    stood=no
    stripewise --quiet --store $store lab run /tmp/plan.toml "$@" --destroy $all > /tmp/answer 2>&1 &
    pid=$!
    until $condition; do
        kill -0 $pid 2> /dev/null || break
        usleep 50000
    done
    sleep "$seconds"
    kill -0 $pid 2> /dev/null || bad "it ended before the power went: $words" /tmp/answer
    echo "the power goes: $words"
    echo "host: power"
    sleep 60
    failure "the power did not go"
}

# What disks and partitions bear, for people.
found() {
    for node in /dev/vd[a-d] /dev/vd[a-d][0-9]*; do
        [ -b "$node" ] || continue
        about=
        mdadm --examine "$node" 2> /dev/null | grep -q 'Array UUID' && about="$about superblock"
        [ "$(dd if="$node" bs=512 skip=1 count=1 2> /dev/null | head -c 8)" = "EFI PART" ] && about="$about GPT"
        echo "found on $(basename "$node"):${about:- nothing}"
    done
}

# What udev does on most systems: arrays run once all of their members have appeared.
assembled() {
    for node in /dev/vd[a-d] /dev/vd[a-d][0-9]*; do
        [ -b "$node" ] && mdadm --incremental "$node" 2>&1
    done
    grep '^md' /proc/mdstat
}

# After every other loss arrays run again, or the part of them that was kept is held.
cleaned_after_loss() { # BOOT
    found
    [ $(($1 % 2)) = 1 ] || assembled
    sw lab clean > /tmp/told 2>&1 || bad "lab clean tells after loss $1" /tmp/told
    cat /tmp/told
    if grep -q 'would be taken down' /tmp/told; then
        sw lab clean --yes > /tmp/clean 2>&1
        code=$?
        [ $code = 3 ] || bad "lab clean without names after loss $1: exit $code" /tmp/clean
    fi
    sw lab clean --yes --destroy $all > /tmp/clean 2>&1 || bad "lab clean after loss $1" /tmp/clean /proc/mdstat
    nothing_is_left "after loss $1"
    sw lab clean > /tmp/told 2>&1
    grep -q '^The layout' /tmp/told && bad "notes stay after loss $1" /tmp/told || ok "no note is left after loss $1"
}
