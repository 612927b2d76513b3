# Power cuts of single disks while the machine keeps its power: see `volatile.sh` on the
# host.

# The kernel's name of a disk with this serial number.
disk_of() { # SERIAL
    for at in /sys/block/sd*; do
        [ "$(tr -cd 'a-z0-9-' < "$at/device/vpd_pg80" 2> /dev/null)" = "$1" ] && basename "$at" && return
    done
    failure "no disk $1" >&2
}

# Cuts the power of a disk while it is written to, and hands the witness's file over.
cut() { # NUMBER KIND raw|ext4 [CACHE]
    number=$1 kind=$2 on=$3 cache=${4:-direct}
    disk=$(disk_of "cut-$number")
    target=/dev/$disk size=8M
    if [ "$on" != raw ]; then
        "$on" "/dev/$disk"
        mount -t "$on" "/dev/$disk" /mnt || failure "mount of $on on $disk"
        target=/mnt size=4M
    fi
    rm -f /tmp/cut.witness
    sw verify $target --destroy "$disk" --power-cut --witness /tmp/cut.witness --sync "$kind" \
        --cache "$cache" --size $size --outstanding 4 --busy-ok > /tmp/cut.out 2> /tmp/cut.err &
    pid=$!
    until begun; do
        kill -0 $pid 2> /dev/null || break
        sleep 0.2
    done
    echo "host: cut $number"
    # The first write that fails ends it.
    wait $pid
    code=$?
    [ $code = 4 ] && ok "disk $number: the first error ends it" || bad "disk $number: exit $code" /tmp/cut.out /tmp/cut.err
    [ "$on" = raw ] || umount -l /mnt
    echo "witness $number $kind on $on, $cache"
    gzip -c /tmp/cut.witness | base64
    echo "witness end"
}

# Something was flushed: the file is longer than a head and its first records.
begun() {
    size=$(stat -c %s /tmp/cut.witness 2> /dev/null || echo 0)
    [ "$size" -gt 4096 ]
}
