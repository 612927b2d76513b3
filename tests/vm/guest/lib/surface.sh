# Disks that serve one read at a time, each with a latency of its own: what reads show of
# arrays over them.

probed() { # WORDS NODE UNIT PHASE: the probe of a device must say exactly this
    sw --json probe stripe "$2" --time 25m > /tmp/probe.json 2> /tmp/probe.err
    found="$(value /tmp/probe.json stripe_unit_bytes) $(value /tmp/probe.json phase_bytes)"
    [ "$found" = "$3 $4" ] && ok "$1: a unit of $3, the first at $4" ||
        bad "$1: found $found, expected $3 $4" /tmp/probe.json /tmp/probe.err
}

# md tells its layout itself: nothing that was measured is kept with one of its disks.
kept_with_no_member() { # NODE
    sw probe stripe "$1" --accept > /tmp/probe.out 2> /tmp/probe.err
    code=$?
    [ $code = 2 ] && grep -q "lies on vda, vdb, vdc, vdd" /tmp/probe.err &&
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
    # 128 KiB at 72 MiB.
    at=$((72 * 2048))
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
        [ "$code" = 1 ] && [ "$file" = /mnt/data ] && [ "$lba" = $at ] &&
            ok "the slow spot of $target: sector $lba, in $file" ||
            bad "the slow spot of $target: sector $lba, in $file, exit $code; expected $at in /mnt/data" /tmp/profile.err
    done
    umount /mnt
    gone spot
}
