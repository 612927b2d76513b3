# modules: nvme ext4 raid1
# programs: fio:fio mdadm:mdadm mkfs.ext4:e2fsprogs
# examples: conformance
# disk-bus: nvme
# arguments: nvme.poll_queues=2
# host: listens
#
# Commands passed through to NVMe namespaces, and polled completions, on the NVMe devices of
# QEMU with queues for polling: what was written is there and nothing else changed, seen
# through the block layer; the conformance suite by each way; and all that is refused, also
# when a drive was replaced since it was judged. No speed is judged.
. /lib/common.sh
. /lib/conformance.sh
. /lib/loads.sh
. /lib/nvme.sh

disk=/dev/nvme0n1 way=/dev/ng0n1
[ "$(cat /sys/block/nvme0n1/queue/io_poll)" = 1 ] && ok "the disks have queues for polling" ||
    bad "the disks have queues for polling"

# Each way, reads and writes mixed; the record says which it was.
way "polled, through the block layer" io_uring true $disk --poll
way "passed through" nvme false $way --engine nvme
way "passed through and polled" nvme true $way --engine nvme --poll
way "passed through, each write durable" nvme false $way --engine nvme --cache direct-sync
way "passed through, with flushes" nvme false $way --engine nvme --sync fdatasync:4
block=4K:50,64K:50
way "passed through, several sizes" nvme false $way --engine nvme
block=8K
way "passed through, two threads" nvme false $way --engine nvme --threads 2

# The drive's own report of its heat: QEMU's is always at 50 degrees and never slows itself.
way_reads "read, and the drive reports on itself" $disk
report=$(values /tmp/out.json | awk '$1 ~ /\.outcome\.drives\./ { sub(/.*\.drives\./, "", $1); print $1, $2 }')
for line in "0.device \"nvme0n1\"" "0.temperature_celsius 50" "0.slowed_s 0" "0.power_state 0"; do
    printf '%s\n' "$report" | tr -d '"' | grep -qxF "$(printf %s "$line" | tr -d '"')" && ok "the drive reports $line" ||
        bad "the drive reports $line, it said: $report"
done

# What is read is compared, and all of it once more through the block layer.
for poll in "" --poll; do
    verified "verified while passed through $poll" $way --engine nvme $poll
    verified "verified through the block layer $poll" $disk $poll
done
written "commands" $disk $way --engine nvme --destroy nvme0n1
for engine in uring uring-polled nvme nvme-polled; do
    conformance $engine --destroy /dev/nvme1n1 /dev/nvme2n1
done

# Of a stranger's data nothing is lost by a mistake.
fio --name=x --filename=$disk --size=4m --rw=write --bs=64k --direct=1 --end_fsync=1 > /tmp/fio.txt 2>&1
md5sum < $disk > /tmp/before
nothing_written "nothing is named" 3 "destroy nvme0n1" $way --engine nvme --write
nothing_written "another device is named" 3 "nvme1n1" $way --engine nvme --write --destroy nvme1n1
nothing_written "the character device is named" 3 "ng0n1" $way --engine nvme --write --destroy ng0n1
nothing_written "another engine" 2 "engine nvme" $way --write --destroy nvme0n1
nothing_written "another engine by name" 2 "/dev/nvme0n1" $way --engine uring --write --destroy nvme0n1
nothing_written "a block device by commands" 2 "/dev/ng" $disk --engine nvme --write --destroy nvme0n1
nothing_written "a directory by commands" 2 "/dev/ng" /tmp --engine nvme --write
nothing_written "a simulated array by commands" 2 "/dev/ng" sim:nvme --engine nvme --write
nothing_written "through a page cache" 2 "cache direct" $way --engine nvme --cache buffered --write --destroy nvme0n1
nothing_written "atomic writes" 2 "atomic" $way --engine nvme --atomic --write --destroy nvme0n1
nothing_written "larger than a command" 2 "commands of at most" $way --engine nvme --block 4M --write --destroy nvme0n1
nothing_written "by threads" 2 "uring" $disk --engine threads --poll --write --destroy nvme0n1

sleep 1000 < $way &
opener=$!
nothing_written "open elsewhere as a character device" 3 "open in sleep" $disk --write --destroy nvme0n1
nothing_written "open elsewhere as a character device" 3 "open in sleep" $way --engine nvme --write --destroy nvme0n1
kill $opener
sleep 1000 < $disk &
opener=$!
nothing_written "open elsewhere as a block device" 3 "open in sleep" $way --engine nvme --write --destroy nvme0n1
kill $opener
wait $opener 2> /dev/null

mkswap $disk > /dev/null 2>&1
swapon $disk
md5sum < $disk > /tmp/before
nothing_written "swap" 3 "swap" $way --engine nvme --write --destroy nvme0n1
swapoff $disk

sw partition $disk --align 1M --yes --destroy nvme0n1 > /tmp/plan 2>&1 || failure "partition" /tmp/plan
ext4 ${disk}p1
mount -t ext4 ${disk}p1 /mnt || failure "mount"
echo precious > /mnt/file
sync
nothing_kept "a partition of it is mounted" 3 "mounted at /mnt" $way --engine nvme --write --destroy nvme0n1
way_reads "reads of it are allowed" $way --engine nvme
umount /mnt
mount -t ext4 ${disk}p1 /mnt && [ "$(cat /mnt/file)" = precious ] && ok "the file is still there" ||
    bad "the file is still there"
umount /mnt
dd if=/dev/zero of=$disk bs=1M count=4 2> /dev/null

mdadm --create /dev/md0 --run --assume-clean --bitmap=none --metadata=1.2 --level=1 --raid-devices=2 \
    /dev/nvme0n1 /dev/nvme1n1 > /tmp/mdadm 2>&1 || failure "mdadm" /tmp/mdadm
nothing_kept "a member of an array" 3 "md0" $way --engine nvme --write --destroy nvme0n1
mdadm --stop /dev/md0 2> /dev/null
mdadm --zero-superblock /dev/nvme0n1 /dev/nvme1n1 2> /dev/null

without_poll_queues

# Where io_uring is switched off nothing polls (Linux 6.6 has the switch).
switch=/proc/sys/kernel/io_uring_disabled
if [ -e $switch ]; then
    echo 2 > $switch
    refused "polling without io_uring" 3 "--poll needs io_uring" /dev/nvme1n1 --poll
    refused "io_uring where it is off" 3 "io_uring_disabled=2" /dev/nvme1n1 --engine uring
    refused "commands where io_uring is off" 3 "--engine nvme needs io_uring" /dev/ng1n1 --engine nvme
    echo 0 > $switch
fi

# A drive goes in a grid, and another one is there when the next run begins.
swapped "writes" 4 5 --write
swapped "reads" 5 4
