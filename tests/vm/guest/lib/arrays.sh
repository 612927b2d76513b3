# md arrays of the four disks, and a partition on them.

array() { # LEVEL CHUNK: makes /dev/md0
    for disk in vda vdb vdc vdd; do
        # One request is one operation of a disk: nothing waits for company.
        echo none > /sys/block/$disk/queue/scheduler
        echo 2 > /sys/block/$disk/queue/nomerges
    done
    # Level 0 has nothing to be clean.
    redundant="--assume-clean --bitmap=none"
    [ "$1" = 0 ] && redundant=
    # shellcheck disable=SC2086
    mdadm --create /dev/md0 --run $redundant --metadata=1.2 \
        --level="$1" --chunk="$2" --raid-devices=4 /dev/vda /dev/vdb /dev/vdc /dev/vdd > /tmp/mdadm 2>&1 ||
        failure "mdadm" /tmp/mdadm
    # Once written to, it stays marked so, and its superblocks are left alone.
    [ "$1" = 0 ] || echo 0 > /sys/block/md0/md/safe_mode_delay
}

stop() {
    mdadm --stop /dev/md0 > /tmp/mdadm 2>&1 || failure "mdadm --stop" /tmp/mdadm
    blank /dev/vda /dev/vdb /dev/vdc /dev/vdd
}

blank() { # DISK...: forgets what was on them
    for disk in "$@"; do
        mdadm --zero-superblock "$disk" 2> /dev/null
        dd if=/dev/zero of="$disk" bs=1M count=3 2> /dev/null
    done
}

place() { # OFFSET: one partition there, made by the program under test
    sw partition /dev/md0 --align "$1" --table mbr --yes --destroy md0 > /tmp/plan 2>&1 ||
        failure "partition at $1" /tmp/plan
    case $1 in
    63s) expected=63 ;;
    36K) expected=72 ;;
    1M) expected=2048 ;;
    esac
    start=$(cat /sys/block/md0/md0p1/start)
    [ "$start" = "$expected" ] && ok "the partition at $1 starts at sector $start" ||
        bad "the partition at $1 starts at sector $start"
}

# What `disks` says of the volume, right through md to the disks.
look() { # OFFSET STRIPE_UNIT
    case $1 in
    63s) expected="32256 splits-above $2 exit 1" ;;
    36K) expected="36864 splits-above $2 exit 1" ;;
    1M) expected="1048576 aligned $2 exit 0" ;;
    esac
    ext4 /dev/md0p1
    stripewise --json --store $store disks /dev/md0p1 > /tmp/disks.json 2> /tmp/disks.err
    code=$?
    found="$(volume offset_bytes) $(volume verdict) $(volume stripe_unit_bytes) exit $code"
    [ "$found" = "$expected" ] && ok "disks at $1: $found" || bad "disks at $1: $found, expected $expected" /tmp/disks.err
}

volume() { # FIELD of the first volume in /tmp/disks.json
    awk -v name="\"$1\":" '/"volumes":/ { on = 1 } on && $1 == name { gsub(/[",]/, "", $2); print $2; exit }' /tmp/disks.json
}
