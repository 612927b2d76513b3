# modules: scsi_debug sd_mod crc-t10dif ext4 xfs
# programs: mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs fincore:util-linux
# examples: conformance
# disk-size: 512M
#
# What newer kernels have: writes that are never torn, on a disk of scsi_debug that offers
# them (Linux 6.11), and operations that leave nothing in the page cache (Linux 6.14, on
# files of ext4 and XFS). Where the kernel, the disk or the file system has not, that is
# refused with the reason. To be booted on an old kernel and on the newest.
. /lib/common.sh
. /lib/conformance.sh
. /lib/loads.sh

rmmod scsi_debug
insmod /modules/scsi_debug.ko dev_size_mb=64 atomic_wr=1 || failure "scsi_debug"
for _ in 1 2 3 4 5 6 7 8 9 10; do
    atomic=$(basename /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*)
    [ -e "/dev/$atomic" ] && break
    sleep 1
done
largest=$(cat "/sys/block/$atomic/queue/atomic_write_unit_max_bytes" 2> /dev/null)
echo "$atomic: atomic writes of up to ${largest:-an unknown number of} bytes"

write="--write --block 8K --outstanding 4 --size 4M --atomic"
if since 6 11; then
    [ "${largest:-0}" -ge 8192 ] && ok "scsi_debug has atomic writes" || bad "scsi_debug has atomic writes: $largest"
    run /dev/"$atomic" $write --destroy "$atomic"
    clean "atomic writes" $?
    grep -q '"atomic": true' /tmp/out.json && ok "the record says atomic" || bad "the record says atomic" /tmp/out.json
    whole disks > /tmp/out 2>&1
    grep -q "atomic writes" /tmp/out && ok "disks shows the units" || bad "disks shows the units" /tmp/out
    sw --json disks > /tmp/out 2>&1
    grep -q "\"atomic_write_unit_max_bytes\": $largest" /tmp/out && ok "so does its document" ||
        bad "so does its document: $largest" /tmp/out
    whole doctor /dev/"$atomic" > /tmp/out 2>&1
    grep -q "atomic writes" /tmp/out && ok "doctor shows the units" || bad "doctor shows the units" /tmp/out
    refused "larger than an atomic write" 3 "its atomic writes have" /dev/"$atomic" --write --block $((largest * 2)) \
        --size 8M --atomic --destroy "$atomic"
    refused "a disk without atomic writes" 3 "has no atomic writes" /dev/vda $write --destroy vda
else
    refused "a kernel that does not know them" 3 "Linux 6.11" /dev/"$atomic" $write --destroy "$atomic"
    refused "a kernel that does not know them" 3 "Linux 6.11" /dev/vda $write --destroy vda
fi

# Bytes of a file in the page cache.
cached() { fincore --bytes --noheadings --output RES "$1" | tr -d ' '; }

# A load on a file of which nothing is cached; `left` is what the page cache has of it then.
# It passes over the file once and not quite to its end: what an uncached read finds in the
# cache it leaves there, so in later passes all that ever stayed adds up.
load() { # WORDS CACHE ARGUMENT...
    words=$1 cache=$2
    shift 2
    echo 3 > /proc/sys/vm/drop_caches
    stripewise --quiet --json --store $store run /mnt/file --cache "$cache" --block 64K --outstanding 4 \
        --rate 50 --duration 5s "$@" > /tmp/out.json 2> /tmp/err
    clean "$words, $cache" $?
    sync
    left=$(cached /mnt/file)
    bytes=$(values /tmp/out.json | awk '$1 ~ /outcome\.bytes$/ { print $2; exit }')
    echo "$words, $cache: $bytes bytes measured, $left bytes in the page cache"
}
uncached() { # FILE_SYSTEM
    "$1" /dev/vdb
    mount -t "$1" /dev/vdb /mnt || failure "mount of $1"
    dd if=/dev/urandom of=/mnt/file bs=1M count=16 2> /dev/null
    sync
    if ! since 6 14; then
        refused "dontcache on $1 of an old kernel" 3 "RWF_DONTCACHE" /mnt/file --cache dontcache --block 64K
        umount /mnt
        return
    fi
    for engine in uring threads; do
        conformance $engine-uncached --in /mnt
        for how in --read "--write --overwrite"; do
            # shellcheck disable=SC2086
            load "$1, ${how%% *} through $engine" buffered --sequential --engine $engine $how
            filled=$left
            # shellcheck disable=SC2086
            load "$1, ${how%% *} through $engine" dontcache --sequential --engine $engine $how
            # ext4 of Linux 7.2 takes such writes and keeps what was written.
            [ "$1 ${how%% *}" = "ext4 --write" ] && continue
            [ "$((left * 2))" -lt "$filled" ] && ok "$1, ${how%% *} through $engine: the page cache is not filled" ||
                bad "$1, ${how%% *} through $engine: $left bytes are in the page cache, of $filled when buffered"
        done
    done
    umount /mnt
}
uncached ext4
uncached xfs
# A file system without them, on a kernel that has them.
if since 6 14; then
    mount -t tmpfs none /mnt
    dd if=/dev/urandom of=/mnt/file bs=1M count=4 2> /dev/null
    refused "dontcache in memory" 3 "RWF_DONTCACHE" /mnt/file --cache dontcache --block 64K
    umount /mnt
fi
