# modules: ext4 brd
# programs: mkfs.ext4:e2fsprogs
#
# Durable writes that are too fast to be true: the warning `durable-too-fast` appears where
# flushes do not reach a disk with a volatile cache, and nowhere else. The kernel's own count
# says whether a disk was given any.
. /lib/common.sh
. /lib/loads.sh

# The flushes that a disk was given so far.
flushes() { awk -v disk="$1" '$3 == disk { print $19 }' /proc/diskstats; }

# Writes and what makes them durable, until there are so many that their median is a fact;
# then whether it warns. What is said of fast ones is undecided on a host that is too slow to
# make any.
durable() { # WORDS warns|silent|silent-though-fast DISK PATH ARGUMENT...
    words=$1 expected=$2 disk=$3 path=$4
    shift 4
    before=$(flushes "$disk")
    for duration in 2s 20s 100s; do
        stripewise --quiet --json --store $store run "$path" --write --random --block 4K --outstanding 1 --size 4M \
            --duration $duration "$@" > /tmp/out.json 2> /tmp/err
        code=$?
        judged
        writes=$(values /tmp/out.json | awk '$1 ~ /outcome\.write\.operations$/ { print $2; exit }')
        [ $code = 0 ] && [ "${writes:-0}" -lt 1500 ] || break
    done
    clean "$words" $code
    given=$(($(flushes "$disk") - before))
    # Of the syncs, where there are any.
    median=$(values /tmp/out.json | awk '$1 ~ /outcome\.(write|sync)\.latency_ns\.p50$/ { found = $2 } END { print found + 0 }')
    warned=silent
    values /tmp/out.json | grep -q 'warnings\.[0-9]*\.code durable-too-fast$' && warned=warns
    words="$words: $writes writes, $given flushes, median $median ns"
    if [ "$expected" != silent ] && [ "$median" -ge 20000 ]; then
        echo "UNDECIDED $words"
        return
    fi
    [ "${writes:-0}" -ge 1000 ] && [ $warned = "${expected%-though-fast}" ] && ok "$words, $warned" ||
        bad "$words, $warned, expected $expected" /tmp/out.json
}
# Flushes that are passed on, or not: at least one for each two writes, or hardly any.
passed_on() { [ $((given * 2)) -ge "$writes" ] && ok "passed on" || bad "not passed on"; }
kept_back() { [ $((given * 100)) -le "$writes" ] && ok "not passed on" || bad "passed on"; }

cache=/sys/block/vda/queue/write_cache
[ "$(cat $cache)" = "write back" ] && ok "the disks have a volatile cache" || bad "the disks have no volatile cache"
for engine in uring threads; do
    durable "syncs of a disk by $engine" silent vda /dev/vda --sync fdatasync:1 --engine $engine --destroy vda
    passed_on
    durable "durable writes to a disk by $engine" silent vda /dev/vda --cache direct-sync --engine $engine --destroy vda
    passed_on
done

# A mount without barriers: the file system takes a sync and tells nobody.
ext4 /dev/vdb
sync_of_file() { # WORDS EXPECTED
    durable "$1" "$2" vdb /mnt/file --sync fdatasync:1 --engine threads --overwrite
}
mount -t ext4 /dev/vdb /mnt || failure "mount"
dd if=/dev/urandom of=/mnt/file bs=1M count=4 2> /dev/null
sync
sync_of_file "syncs of a file" silent
passed_on
mount -o remount,barrier=0 /mnt || failure "mount without barriers"
sync_of_file "syncs of a file without barriers" warns
kept_back
umount /mnt

# The same disk says that its cache outlives the power: there is nothing to flush.
echo "write through" > $cache
durable "syncs of a protected disk" silent-though-fast vda /dev/vda --sync fdatasync:1 --engine threads --destroy vda
kept_back
echo "write back" > $cache

# Memory is no disk, and says so by a warning of its own.
durable "durable writes to memory" silent-though-fast ram0 /dev/ram0 --cache direct-sync --engine threads --destroy ram0
values /tmp/out.json | grep -q 'warnings\.[0-9]*\.code in-memory$' && ok "memory is named" || bad "memory is not named"
