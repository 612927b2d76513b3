# Discards on block devices, held against what the kernel counts of them.

# Discards and their bytes that a device was given so far.
discarded() { # DISK
    awk -v disk="$1" '$3 == disk { print $15 + $16, $17 * 512 }' /proc/diskstats
}

# A load that discards and nothing else: the record says what the device was given, but for
# what was in flight at the end.
discards() { # WORDS ENGINE DISK ARGUMENT...
    words=$1 through=$2 disk=$3
    shift 3
    # shellcheck disable=SC2046
    set -- $(discarded "$disk") "$@"
    before=$1 before_bytes=$2
    shift 2
    run "/dev/$disk" --discard --outstanding 4 --destroy "$disk" "$@"
    clean "$words" $? "$through"
    # shellcheck disable=SC2046
    set -- $(discarded "$disk")
    seen=$(($1 - before)) seen_bytes=$(($2 - before_bytes))
    said=$(values /tmp/out.json | awk '$1 ~ /outcome\.discard\.operations$/ { print $2; exit }')
    said_bytes=$(values /tmp/out.json | awk '$1 ~ /outcome\.discard\.bytes$/ { print $2; exit }')
    each=$((said_bytes / (said > 0 ? said : 1)))
    words="$words: $said discards of $said_bytes bytes, the device was given $seen of $seen_bytes"
    [ "${said:-0}" -gt 0 ] && [ "$seen" -ge "$said" ] && [ "$seen" -le $((said + 4)) ] &&
        [ "$seen_bytes" = $((seen * each)) ] && ok "$words" || bad "$words"
}

# Pieces of 64K that are all zeros, of the first 4 MiB.
zeros() { # DEVICE
    none=$(dd if=/dev/zero bs=64k count=1 2> /dev/null | md5sum)
    piece=0 found=0
    while [ $piece -lt 64 ]; do
        [ "$(dd if="$1" bs=64k skip=$piece count=1 2> /dev/null | md5sum)" = "$none" ] && found=$((found + 1))
        piece=$((piece + 1))
    done
    echo $found
}

scsi_debug() { # PARAMETER...
    rmmod scsi_debug 2> /dev/null
    insmod /modules/scsi_debug.ko dev_size_mb=64 "$@" || failure "scsi_debug"
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        scsi=$(basename /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*)
        [ -e "/dev/$scsi" ] && break
        sleep 1
    done
}

# Refused, and the device is as it was.
nothing_discarded() { # WORDS CODE TEXT DEVICE ARGUMENT...
    place=$4
    md5sum < "$place" > /tmp/before
    refused "$@"
    md5sum < "$place" > /tmp/after
    cmp -s /tmp/before /tmp/after && ok "nothing lost: $1" || bad "nothing lost: $1"
}
