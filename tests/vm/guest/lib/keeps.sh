# Burn-ins of devices that do not keep what they were given.

# The classes of the faults of a document, sorted, each once.
classes() { sed -n 's/^ *"class": "\(.*\)",*$/\1/p' "$1" | sort -u | tr '\n' ' '; }

# A burn-in came to this: its exit code, and no other classes than these.
came_to() { # WORDS CODE EXPECTED CLASSES
    found=$(classes /tmp/verify.json)
    strange=
    for class in $found; do
        case " $4 " in
        *" $class "*) ;;
        *) strange="$strange $class" ;;
        esac
    done
    if [ "$2" = "$3" ] && [ -z "$strange" ]; then
        ok "$1: exit $2, $(grep -c '"class"' /tmp/verify.json) faults: $found"
    else
        bad "$1: exit $2, expected $3; found $found" /tmp/verify.err
        sed -n "/\"notes\"/,/\"duration_ns\"/p; /\"errors\"/,/]/p" /tmp/verify.json
    fi
}

burn_in() { # WORDS NODE KERNEL EXPECTED CLASSES
    stripewise --store $store --json verify "$2" --destroy "$3" --duration 2s --size 16M --busy-ok \
        > /tmp/verify.json 2> /tmp/verify.err
    came_to "$1" $? "$4" "$5"
}

# A mapped device that is well until the burn-in works on it, which ends with the twentieth
# fault: on a slow host it takes longer, and nothing else is different.
while_working() { # NAME FEATURES WORDS EXPECTED CLASSES
    mapped "$1" "0 $sectors flakey /dev/vda 0 100000 0"
    rm -f /tmp/verify.err
    stripewise --store $store --json verify "$node" --destroy "$kernel" --duration 60s --size 16M --busy-ok \
        --stop-after 20 > /tmp/verify.json 2> /tmp/verify.err &
    pid=$!
    until grep -q Working /tmp/verify.err 2> /dev/null; do
        kill -0 $pid 2> /dev/null || break
        sleep 0.2
    done
    sleep 1
    words=$(echo "$2" | wc -w)
    echo "0 $sectors flakey /dev/vda 0 0 100000 $words $2" |
        dmsetup load "$1" || failure "dmsetup load $1"
    dmsetup suspend --noudevsync "$1" && dmsetup resume --noudevsync --noudevrules "$1" || failure "dmsetup resume $1"
    wait $pid
    came_to "$3" $? "$4" "$5"
    gone "$1"
}

# Whether this kernel changes what is read: some count the bytes of a read when it is over,
# and then there are none.
changes_reads() {
    mapped reads "0 $sectors flakey /dev/vda 0 0 100000 5 corrupt_bio_byte 600 r 90 0"
    dd if="$node" bs=4096 count=64 iflag=direct 2> /dev/null | cksum > /tmp/one
    dd if=/dev/vda bs=4096 count=64 2> /dev/null | cksum > /tmp/other
    gone reads
    ! cmp -s /tmp/one /tmp/other
}

# A device of 32 MiB, of which only the first 16 are its own; the rest is this.
capacity() { # TABLE WORDS EXPECTED CLASSES REAL_BYTES
    mapped whole "0 32768 linear /dev/vda 0
$1"
    stripewise --store $store --json verify "$node" --destroy "$kernel" --capacity --busy-ok \
        > /tmp/verify.json 2> /tmp/verify.err
    came_to "--capacity of $2" $? "$3" "$4"
    real=$(value /tmp/verify.json capacity.real_bytes)
    [ "$real" = "$5" ] && ok "--capacity of $2: $real bytes" || bad "--capacity of $2: $real bytes, expected $5"
    gone whole
}

# A mirror one half of which takes no more writes, and says nothing of it.
stale_half() {
    mapped half "0 $sectors flakey /dev/vdb 0 100000 0"
    half=$node
    dd if=/dev/zero of=/dev/vda bs=1M count=48 2> /dev/null
    dd if=/dev/zero of="$half" bs=1M count=32 2> /dev/null
    mdadm --create /dev/md0 --run --assume-clean --metadata=1.2 --bitmap=none --level=1 --raid-devices=2 \
        --size=28M /dev/vda "$half" > /tmp/mdadm 2>&1 || failure "mdadm" /tmp/mdadm
    rm -f /tmp/verify.err
    stripewise --store $store --json verify /dev/md0 --destroy md0 --duration 60s --size 16M --busy-ok \
        --stop-after 20 > /tmp/verify.json 2> /tmp/verify.err &
    pid=$!
    until grep -q Working /tmp/verify.err 2> /dev/null; do
        kill -0 $pid 2> /dev/null || break
        sleep 0.2
    done
    sleep 1
    echo "0 $sectors flakey /dev/vdb 0 0 100000 1 drop_writes" | dmsetup load half || failure "dmsetup load half"
    dmsetup suspend --noudevsync half && dmsetup resume --noudevsync --noudevrules half
    # Which half is read is the array's choice, and may be the good one each time: from here
    # on it is the other one, where it can be.
    echo writemostly > /sys/block/md0/md/dev-vda/state || failure "write-mostly"
    wait $pid
    came_to "RAID 1 with one stale half" $? 1 "copies-differ stale-read lost-write torn transient left-over"
    stopped
    gone half
}

# A row of RAID 5 is in flight when the power goes: data and parity do not fit. With a
# member missing, what lies beside the write in flight is computed wrong; rebuilt with all
# members there, nothing is.
write_hole() {
    for at in a b c; do
        case $at in a) disk=vda ;; b) disk=vdb ;; c) disk=vdc ;; esac
        dd if=/dev/zero of=/dev/$disk bs=1M count=2 2> /dev/null
        mapped member$at "0 $sectors snapshot-origin /dev/$disk"
        eval "member$at=$node"
    done
    # shellcheck disable=SC2154
    mdadm --create /dev/md0 --run --assume-clean --metadata=1.2 --bitmap=none --level=5 --chunk=16 --size=24M \
        --raid-devices=3 "$membera" "$memberb" "$memberc" > /tmp/mdadm 2>&1 || failure "mdadm" /tmp/mdadm
    # Parity that fits, before anything is written.
    rebuilt
    rm -f /tmp/hole.witness
    # Not through a function: that would be another process.
    stripewise --quiet --store $store verify /dev/md0 --destroy md0 --power-cut --witness /tmp/hole.witness --size 8M --outstanding 16 \
        --busy-ok > /tmp/cut.out 2> /tmp/cut.err &
    pid=$!
    until [ "$(stat -c %s /tmp/hole.witness 2> /dev/null || echo 0)" -gt 4096 ]; do
        kill -0 $pid 2> /dev/null || break
        sleep 0.2
    done
    # All members as they are at one moment: nothing is written to any of them while the
    # snapshots begin.
    for at in a b c; do dmsetup suspend --noudevsync --nolockfs member$at || failure "suspend member$at"; done
    cp /tmp/hole.witness /tmp/cut.witness
    for at in a b c; do
        case $at in a) disk=vda ;; b) disk=vdb ;; c) disk=vdc ;; esac
        # The room for what changes is on the fourth disk.
        mapped room$at "0 $sectors linear /dev/vdd $((($(printf %d "'$at") - 97) * sectors))"
        eval "room$at=$node"
        eval "room=\$room$at"
        mapped cut$at "0 $sectors snapshot /dev/$disk $room N 8"
        eval "cut$at=$node"
    done
    for at in a b c; do dmsetup resume --noudevsync --noudevrules member$at; done
    kill -9 $pid
    wait $pid 2> /dev/null
    stopped
    # shellcheck disable=SC2154
    {
        assembled "$cuta" missing "$cutc"
        judged "RAID 5, a member missing after a cut" "0 1" "neighbour torn"
        stopped
    }
    # The member that was left out has all that it had.
    assembled "$cuta" "$cutb" "$cutc"
    rebuilt
    judged "RAID 5, rebuilt after a cut" "0" ""
    stopped
    gone cuta cutb cutc rooma roomb roomc membera memberb memberc
}

assembled() { # MEMBER...
    mdadm --create /dev/md0 --run --assume-clean --metadata=1.2 --bitmap=none --level=5 --chunk=16 --size=24M \
        --raid-devices=3 "$@" > /tmp/mdadm 2>&1 || failure "mdadm" /tmp/mdadm
}

# Whoever had it open may take a moment to go.
stopped() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        mdadm --stop /dev/md0 > /tmp/mdadm 2>&1 && return
        sleep 1
    done
    failure "mdadm --stop" /tmp/mdadm
}

rebuilt() {
    echo repair > /sys/block/md0/md/sync_action
    until [ "$(cat /sys/block/md0/md/sync_action)" = idle ]; do sleep 0.5; done
}

judged() { # WORDS CODES CLASSES
    stripewise --store $store --json verify --after-cut /tmp/cut.witness /dev/md0 --busy-ok \
        > /tmp/verify.json 2> /tmp/verify.err
    code=$?
    case " $2 " in
    *" $code "*) came_to "$1" $code $code "$3" ;;
    *) came_to "$1" $code "$2" "$3" ;;
    esac
}
