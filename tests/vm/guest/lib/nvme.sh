# Ways to NVMe namespaces, each of which must do operations and have no error.

block=8K
way() { # WORDS ENGINE POLLED PATH ARGUMENT...
    words=$1 engine=$2 polled=$3 path=$4
    shift 4
    run "$path" --read-percent 50 --block $block --outstanding 8 --size 4M --destroy nvme0n1 "$@"
    clean "$words" $? "$engine"
    values /tmp/out.json | awk -v polled="$polled" '$1 ~ /\.engine\.polled$/ { found = $2 } END { exit (found == "true") != (polled == "true") }' &&
        ok "$words: polled is $polled" || bad "$words: polled is not $polled"
    # The disk is the namespace, not what has its node, and its counters say nothing of commands.
    wrong=$(values /tmp/out.json | awk '$1 ~ /warnings\.[0-9]+\.code$/ { print $2 }' |
        grep -E 'in-memory|device-saw-less|device-depth-below-asked|other-load' | tr '\n' ' ')
    [ -z "$wrong" ] && ok "$words: the disk is known" || bad "$words: warned of $wrong"
}
way_reads() { # WORDS PATH ARGUMENT...
    words=$1
    shift
    run "$@" --block 8K --outstanding 8 --size 4M
    clean "$words" $?
}

# Stamps are compared as they are read, and all of them afterwards.
verified() { # WORDS PATH ARGUMENT...
    words=$1 path=$2
    shift 2
    run "$path" --verify --read-percent 50 --block 8K --outstanding 8 --size 4M --destroy nvme0n1 "$@"
    clean "$words" $?
    compared=$(values /tmp/out.json | awk '$1 ~ /verified_bytes$/ { sum += $2 } END { print sum + 0 }')
    [ "$compared" -gt 0 ] && ok "$words: $compared bytes compared" || bad "$words: nothing was compared" /tmp/out.json
}

# Refused, and the disk is as it was.
nothing_written() { # WORDS CODE TEXT PATH ARGUMENT...
    refused "$@"
    md5sum < $disk > /tmp/after
    cmp -s /tmp/before /tmp/after && ok "nothing written: $1" || bad "nothing written: $1"
}
# Where the kernel itself may write meanwhile, whether it was claimed is told by sectors.
nothing_kept() { # WORDS CODE TEXT PATH ARGUMENT...
    dd if=$disk bs=1M skip=200 count=20 2> /dev/null | md5sum > /tmp/kept
    refused "$@"
    dd if=$disk bs=1M skip=200 count=20 2> /dev/null | md5sum | cmp -s - /tmp/kept && ok "nothing written: $1" ||
        bad "nothing written: $1"
}

# The last disk is given back to a driver that makes no queues for polling.
without_poll_queues() {
    port=$(basename "$(readlink -f /sys/block/nvme3n1/device/device)")
    echo 0 > /sys/module/nvme/parameters/poll_queues
    echo "$port" > /sys/bus/pci/drivers/nvme/unbind
    echo "$port" > /sys/bus/pci/drivers/nvme/bind
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ -e /dev/ng3n1 ] && [ -e /dev/nvme3n1 ] && break
        sleep 1
    done
    [ "$(cat /sys/block/nvme3n1/queue/io_poll)" = 0 ] && ok "a disk without queues for polling" ||
        bad "a disk without queues for polling"
    refused "polling without queues, through the block layer" 3 "nvme.poll_queues=N" /dev/nvme3n1 --poll
    refused "polling without queues, passed through" 3 "nvme.poll_queues=N" /dev/ng3n1 --engine nvme --poll
    way_reads "without polling, through the block layer" /dev/nvme3n1
    way_reads "without polling, passed through" /dev/ng3n1 --engine nvme
}

# The kernel's name of the disk with this serial number, for as long as it is there.
disk_in() { # NUMBER
    for at in /sys/block/nvme*; do
        [ "$(cat "$at/device/serial" 2> /dev/null | tr -d ' \n')" = "vm-disk-$1" ] && basename "$at" && return
    done
    return 1
}
# Waits until a disk is there, or no more.
until_disk() { # there|gone NUMBER
    for _ in $(seq 120); do
        if disk_in "$2" > /dev/null; then now=there; else now=gone; fi
        [ $now = "$1" ] && [ "$1" = gone ] && return
        [ $now = "$1" ] && [ -e "/dev/$(disk_in "$2")" ] && return
        sleep 1
    done
    failure "disk $2 is not $1"
}

# A grid of two runs on a drive that goes during the first one, and another comes in its
# place. The program is stopped meanwhile, so that it finds all of this when the second
# begins. What was there before the drive that came is not looked for: it must be as it was.
swapped() { # WORDS OUT IN ARGUMENT...
    words=$1 out=$2 in=$3
    shift 3
    old=$(disk_in "$out")
    way=/dev/ng${old#nvme}
    stripewise --quiet --store $store run "$way" --engine nvme --block 4K,8K --outstanding 4 --size 4M --duration 5s \
        --destroy "$old" "$@" > /tmp/out 2> /tmp/err &
    pid=$!
    until ls -l /proc/$pid/fd 2> /dev/null | grep -q io_uring; do
        kill -0 $pid 2> /dev/null || break
        usleep 20000
    done
    kill -STOP $pid || bad "swapped, $words: it ended before" /tmp/err
    number=$(stat -c %t:%T "$way")
    echo "host: unplug $out"
    until_disk gone "$out"
    echo "host: plug $in"
    until_disk there "$in"
    new=$(disk_in "$in")
    echo "$way of $old was $number, and /dev/ng${new#nvme} of $new is $(stat -c %t:%T "/dev/ng${new#nvme}")"
    dd if=/dev/urandom of="/dev/$new" bs=1M count=8 2> /dev/null
    sync
    md5sum < "/dev/$new" > /tmp/before
    # The first run has had its time by then.
    sleep 5
    kill -CONT $pid
    wait $pid
    code=$?
    [ $code = 3 ] && grep -q "is not the namespace of $old that was judged" /tmp/err && grep -q "^ *hint: " /tmp/err &&
        ok "swapped, $words: refused" || bad "swapped, $words: exit $code" /tmp/err
    echo 3 > /proc/sys/vm/drop_caches
    md5sum < "/dev/$new" > /tmp/after
    cmp -s /tmp/before /tmp/after && ok "swapped, $words: the other drive is as it was" ||
        bad "swapped, $words: the other drive was changed"
}
