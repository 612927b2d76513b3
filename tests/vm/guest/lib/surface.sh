# Disks that serve one read at a time, each with a latency of its own: what reads show of
# arrays over them.

probed() { # WORDS NODE UNIT PHASE: the probe of a device must say exactly this
    sw --json probe stripe "$2" --time 25m > /tmp/probe.json 2> /tmp/probe.err
    found="$(value /tmp/probe.json stripe_unit_bytes) $(value /tmp/probe.json phase_bytes)"
    took="$(value /tmp/probe.json reads) reads in $(($(value /tmp/probe.json duration_ns) / 1000000000)) s"
    [ "$found" = "$3 $4" ] && ok "$1: a unit of $3, the first at $4 ($took)" ||
        bad "$1: found $found, expected $3 $4" /tmp/probe.json /tmp/probe.err
}

# md tells its layout itself: nothing that was measured is kept with one of its disks.
kept_with_no_member() { # NODE
    sw probe stripe "$1" --accept > /tmp/probe.out 2> /tmp/probe.err
    code=$?
    [ $code = 2 ] && grep -q "spans vda, vdb, vdc, vdd" /tmp/probe.err &&
        ok "--accept on $1 is refused: it lies on four disks" ||
        bad "--accept on $1: exit $code" /tmp/probe.out /tmp/probe.err
}

# Through md itself, and through a partition at 63 sectors.
surface() { # LEVEL CHUNK
    array "$1" "$2"
    unit=$(($2 * 1024))
    probed "RAID $1 of $2K" /dev/md0 $unit 0
    place 63s
    probed "RAID $1 of $2K, 63 sectors" /dev/md0p1 $unit $(((unit - 32256 % unit) % unit))
    stop
}

# A slow spot in a file, made with dm-delay: found, and named.
slow_spot() {
    sectors=$(cat /sys/block/vda/size)
    mapped spot "0 $sectors linear /dev/vda 0"
    ext4 $node
    mount -t ext4 $node /mnt
    dd if=/dev/urandom of=/mnt/data bs=1M count=160 2> /dev/null
    sync
    umount /mnt
    gone spot
    # 128 KiB at 76 MiB, in the middle of a group of blocks: where one begins, file systems
    # keep things of their own.
    at=$((76 * 2048))
    rest=$((at + 256))
    mapped spot "0 $at linear /dev/vda 0
$at 256 delay /dev/vda $at 300
$rest $((sectors - rest)) linear /dev/vda $rest"
    mount -t ext4 $node /mnt
    for target in /mnt/data $node; do
        sw --json profile $target --full --busy-ok > /tmp/profile.json 2> /tmp/profile.err
        code=$?
        file=$(value /tmp/profile.json spots.0.file)
        lba=$(value /tmp/profile.json spots.0.lba)
        end=$((lba + $(value /tmp/profile.json spots.0.length_bytes) / 512))
        # Spots are told in parts of 32 KiB of what was read: the first one has the first slow sector.
        [ "$code" = 1 ] && [ "$file" = /mnt/data ] && [ "$lba" -le $at ] && [ $((lba + 64)) -gt $at ] && [ $end -ge $rest ] &&
            ok "the slow spot of $target: sectors $lba to $end, in $file" ||
            bad "the slow spot of $target: sectors $lba to $end, in $file, exit $code; expected $at to $rest in /mnt/data" /tmp/profile.err
    done
    umount /mnt
    gone spot
}

# The table of a mapped device becomes one that fails all it is asked for.
fails_from_now_on() { # NAME SECTORS
    dmsetup suspend --noudevrules --noudevsync --noflush "$1"
    echo "0 $2 error" | dmsetup load --noudevrules --noudevsync "$1"
    dmsetup resume --noudevrules --noudevsync "$1"
}

# A device that disappears in the middle: what was measured is kept, and marked.
disappears() { # WORDS TABLE FIELD NUMBER FILE ARGUMENT...: behind so many operations (FIELD of its stat)
    words=$1 field=$3 number=$4 kept=$5
    mapped gone "$2"
    shift 5
    [ "$1" != --fill ] || set -- "$@" --destroy "$kernel"
    before=$(operations $field)
    stripewise --store $store --json profile $node "$@" > /tmp/gone.json 2> /tmp/gone.err &
    pid=$!
    while [ $(($(operations $field) - before)) -lt $number ] && kill -0 $pid 2> /dev/null; do usleep 20000; done
    fails_from_now_on gone "$sectors"
    wait $pid
    code=$?
    why=$(sed -n 's/^  "cut_short": "\(.*\)",*$/\1/p' /tmp/gone.json)
    some=$(values /tmp/gone.json | grep -c "^$kept\.")
    [ "$code" = 4 ] && [ -n "$why" ] && [ "$some" -gt 0 ] && ok "$words: $why" ||
        bad "$words: exit $code, $some values of $kept, cut short: $why" /tmp/gone.err
    gone gone
}
operations() { awk -v field="$1" '{ print $field }' "/sys/block/$kernel/stat"; }

# A profile makes two thousand single reads there, 560 of them before those of access times; a
# fill 512 writes, each of which waits for 50 ms.
devices_disappear() {
    sectors=$(cat /sys/block/vda/size)
    disappears "a device that goes while it is read" "0 $sectors linear /dev/vda 0" \
        1 900 accesses --busy-ok
    disappears "a device that goes while it is written" \
        "0 $sectors delay /dev/vda 0 0 /dev/vda 0 50" \
        5 150 steps --fill
}
