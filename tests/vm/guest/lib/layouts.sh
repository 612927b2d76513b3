# Experiments over layouts on the four disks, and what they must leave: nothing.

all=vda,vdb,vdc,vdd

# A plan in /tmp/plan.toml: what stands at its top, then factors and cells.
plan() { # HEAD FACTORS DURATION
    cat > /tmp/plan.toml << PLAN
devices = ["vda", "vdb", "vdc", "vdd"]
$1
[layout]
raid = "raid10"
[factors]
$2
[defaults]
duration = "$3"
ramp = "100ms"
outstanding = 16
[[cell]]
name = "random read"
read = true
share = 70
[[cell]]
name = "random write"
write = true
share = 30
PLAN
}

# Runs a command of stripewise; as long as the disks are at work a line is printed now and
# then: a guest that prints nothing is taken for one that hangs.
watched() { # ARGUMENT...
    stripewise --quiet --store $store "$@" > /tmp/answer 2> /tmp/answer.err &
    working=$!
    before=
    while kill -0 $working 2> /dev/null; do
        usleep 2000000
        now=$(cat /sys/block/vd[a-d]/stat | awk '{ sum += $3 + $7 } END { print sum }')
        [ "$now" = "$before" ] || echo "at work: $now sectors"
        before=$now
    done
    wait $working
}

# No array runs, no superblock or table is left on a disk, nothing is mounted.
nothing_is_left() { # WORDS
    left=
    grep -q '^md' /proc/mdstat && left="$left an array runs;"
    grep -q '/dev/md\|/dev/vd[a-d]' /proc/mounts && left="$left something is mounted;"
    for disk in vda vdb vdc vdd; do
        mdadm --examine /dev/$disk > /tmp/examine 2>&1 && left="$left $disk has a superblock;"
        ls -d /sys/block/$disk/${disk}[0-9]* > /dev/null 2>&1 && left="$left $disk has a partition;"
        [ "$(dd if=/dev/$disk bs=512 skip=1 count=1 2> /dev/null | head -c 8)" = "EFI PART" ] && left="$left $disk has a GPT;"
        last=$(($(cat /sys/block/$disk/size) - 1))
        [ "$(dd if=/dev/$disk bs=512 skip=$last count=1 2> /dev/null | head -c 8)" = "EFI PART" ] && left="$left $disk has a backup GPT;"
    done
    [ -n "$(ls -A /run/stripewise 2> /dev/null)" ] && left="$left a mount point;"
    [ -z "$left" ] && ok "$1: nothing is left" || bad "$1:$left" /proc/mdstat
}

# Runs of the store lie where their layouts say.
places() {
    wrong=0
    seen=0
    sw --json history > /tmp/history.json 2> /dev/null
    for id in $(values /tmp/history.json | awk '$1 ~ /\.id$/ { print $2 }' | head -n "$1"); do
        sw --json history show "$id" > /tmp/run.json 2> /dev/null || continue
        level=$(sed -n 's/.*"level": "\(offset[^"]*\)".*/\1/p' /tmp/run.json | head -n 1)
        start=$(sed -n 's/.*"partition_offset_bytes": \([0-9]*\).*/\1/p' /tmp/run.json | head -n 1)
        case $level in
        "offset 63s"*) expected=32256 ;;
        "offset 1M"*) expected=1048576 ;;
        *) continue ;;
        esac
        seen=$((seen + 1))
        [ "$start" = "$expected" ] || wrong=$((wrong + 1))
    done
    [ $seen -gt 0 ] && [ $wrong = 0 ] && ok "$seen runs lay on partitions where their layouts say" ||
        bad "$wrong of $seen runs lay elsewhere"
}

# Kills an experiment while a layout stands.
killed() { # [ARGUMENT...]
    stripewise --quiet --store $store lab run /tmp/plan.toml "$@" --destroy $all > /tmp/answer 2>&1 &
    pid=$!
    while ! [ -e /sys/block/md127/md127p1 ] && kill -0 $pid 2> /dev/null; do usleep 100000; done
    kill -KILL $pid
    wait $pid
}

# A kill while a layout stands, and `lab clean` after it.
killed_and_cleaned() { # [ARGUMENT...]
    killed "$@"
    sw lab clean --yes > /tmp/clean 2>&1
    code=$?
    [ $code = 3 ] && ok "what is left is taken down by name only" || bad "lab clean without names: exit $code" /tmp/clean
    sw lab clean --yes --destroy $all > /tmp/clean 2>&1 || bad "lab clean" /tmp/clean
    nothing_is_left "after a kill"
}

# The same where the array came back under a name of the system's choice.
killed_renamed_and_cleaned() {
    killed
    mdadm --stop /dev/md127 > /tmp/stopped 2>&1 || bad "mdadm --stop" /tmp/stopped
    echo md_backup > /sys/module/md_mod/parameters/new_array
    again=/sys/block/md_backup/md
    echo 1.2 > $again/metadata_version
    for disk in vda vdb vdc vdd; do cat /sys/block/$disk/dev > $again/new_dev; done
    echo active > $again/array_state
    grep -q '^md_backup' /proc/mdstat && ok "the array came back as md_backup" || bad "it did not come back" /proc/mdstat
    sw lab clean --yes --destroy $all > /tmp/clean 2>&1 || bad "lab clean of md_backup" /tmp/clean
    nothing_is_left "after a kill and another name"
}
