# Ways to NVMe namespaces, each of which must do operations and have no error.

block=8K
way() { # WORDS ENGINE POLLED PATH ARGUMENT...
    words=$1 engine=$2 polled=$3 path=$4
    shift 4
    run "$path" --read-percent 50 --block $block --outstanding 8 --size 4M --destroy nvme0n1 "$@"
    clean "$words" $? "$engine"
    values /tmp/out.json | awk -v polled="$polled" '$1 ~ /\.engine\.polled$/ { found = $2 } END { exit (found == "true") != (polled == "true") }' &&
        ok "$words: polled is $polled" || bad "$words: polled is not $polled"
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

# What commands write is seen through the block layer, and what they do not write stays.
written_elsewhere() { # DISK WAY
    fio --name=x --filename="$1" --size=4m --rw=write --bs=64k --direct=1 --ioengine=io_uring --iodepth=4 \
        --verify=crc32c --do_verify=1 --eta=never > /tmp/fio.txt 2>&1 && ok "fio writes and verifies" ||
        bad "fio writes and verifies" /tmp/fio.txt
    pieces before "$1"
    run "$2" --engine nvme --write --sequential --block 64K --outstanding 4 --size 2M --destroy nvme0n1
    clean "sequential commands" $?
    written=$(values /tmp/out.json | awk '$1 ~ /outcome\.bytes$/ { print $2; exit }')
    echo 3 > /proc/sys/vm/drop_caches
    pieces after "$1"
    [ "${written:-0}" -ge $half ] && expected=8 || expected=$((${written:-0} * 8 / half))
    changed=$(cat /tmp/before.sums /tmp/after.sums | sort | uniq -u | awk '{ print $2 }' | sort -u | wc -l)
    [ "$changed" -ge "$expected" ] && ok "$changed of 8 pieces are new" ||
        bad "$changed pieces are new, $expected were written"
    fio --name=x --filename="$1" --offset=2m --size=2m --rw=read --bs=64k --direct=1 --ioengine=io_uring \
        --iodepth=4 --verify=crc32c --eta=never > /tmp/fio.txt 2>&1 && ok "fio finds the rest unchanged" ||
        bad "fio finds the rest unchanged" /tmp/fio.txt
}

conformance() { # ENGINE...
    for engine in "$@"; do
        /usr/bin/conformance "$engine" --destroy /dev/nvme1n1 /dev/nvme2n1 > /tmp/out 2>&1
        code=$?
        passed=$(sed -n "s/^$engine: \([0-9]*\) passed.*/\1/p" /tmp/out)
        [ $code = 0 ] && [ "${passed:-0}" -ge 15 ] && ok "conformance of $engine: $passed cases" ||
            bad "conformance of $engine: exit $code, ${passed:-0} cases" /tmp/out
        grep '^skipped' /tmp/out
    done
}

refused() { # WORDS CODE TEXT PATH ARGUMENT...
    words=$1 expected=$2 text=$3
    shift 3
    stripewise --quiet --store $store run "$@" --duration 100ms > /tmp/out 2> /tmp/err
    code=$?
    [ $code = "$expected" ] && grep -q -- "$text" /tmp/err && grep -q "^ *hint: " /tmp/err && ok "refused: $words" ||
        bad "refused: $words: exit $code, expected $expected and: $text" /tmp/err
}
# The same, and the disk is as it was.
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
