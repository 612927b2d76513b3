# modules: nvme scsi_debug sd_mod crc-t10dif ext4
# programs: mkfs.ext4:e2fsprogs
# examples: conformance
# disk-bus: nvme
#
# Discards: what the kernel counts of them is what the record says, on QEMU's NVMe and on a
# disk of scsi_debug that reads as zeros where it was discarded; what was not hit keeps its
# data, and so does all that is not named. io_uring has them for devices from Linux 6.12 on:
# before, it is refused by name and threads are taken.
. /lib/common.sh
. /lib/conformance.sh
. /lib/loads.sh
. /lib/discards.sh

since 6 12 && usual=io_uring || usual=threads

span="--size 4M --block 64K"
# shellcheck disable=SC2086
discards "NVMe by threads" threads nvme0n1 $span --engine threads
# shellcheck disable=SC2086
discards "NVMe by the engine that is best" $usual nvme0n1 $span
# shellcheck disable=SC2086
if since 6 12; then
    discards "NVMe by io_uring" io_uring nvme0n1 $span --engine uring
else
    refused "io_uring on a kernel without" 3 "Linux 6.12" /dev/nvme0n1 $span --discard --engine uring --destroy nvme0n1
fi
run /dev/nvme0n1 --read-percent 40 --discard-percent 30 --block 8K --size 4M --outstanding 8 --destroy nvme0n1
clean "NVMe, reads, writes and discards" $? $usual
conformance threads-discards --destroy /dev/nvme2n1 /dev/nvme3n1
since 6 12 && conformance uring-discards --destroy /dev/nvme2n1 /dev/nvme3n1

dd if=/dev/urandom of=/dev/nvme1n1 bs=1M count=8 2> /dev/null
sync
lost="--discard --block 64K --size 4M"
for engine in "" "--engine uring" "--engine threads"; do
    # shellcheck disable=SC2086
    nothing_discarded "nothing is named $engine" 3 "destroy nvme1n1" /dev/nvme1n1 $lost $engine
    # shellcheck disable=SC2086
    nothing_discarded "another device is named $engine" 3 "does not name this device" /dev/nvme1n1 $lost $engine --destroy nvme0n1
done
# shellcheck disable=SC2086
refused "commands passed through" 2 "no discards" /dev/ng1n1 $lost --engine nvme --destroy nvme1n1
# shellcheck disable=SC2086
nothing_discarded "polled" 2 "discards" /dev/nvme1n1 $lost --poll --destroy nvme1n1

# Where the store of the device says what became of it.
scsi_debug lbpu=0
# shellcheck disable=SC2086
nothing_discarded "a disk that takes none" 3 "takes no discards" "/dev/$scsi" $lost --destroy "$scsi"
scsi_debug lbpu=1 lbprz=1 unmap_granularity=128
for engine in threads auto; do
    dd if=/dev/urandom of="/dev/$scsi" bs=1M count=8 2> /dev/null
    sync
    behind=$(dd if="/dev/$scsi" bs=1M skip=4 count=4 2> /dev/null | md5sum)
    [ $engine = auto ] && name=$usual || name=threads
    # shellcheck disable=SC2086
    discards "scsi_debug by $engine" $name "$scsi" $span --distribution covering --engine $engine
    [ "$said" -lt 64 ] && expected=$said || expected=64
    echo 3 > /proc/sys/vm/drop_caches
    found=$(zeros "/dev/$scsi")
    [ "$found" -ge "$expected" ] && ok "scsi_debug by $engine: $found of 64 pieces are gone" ||
        bad "scsi_debug by $engine: $found of 64 pieces are gone, of $said that were discarded"
    [ "$(dd if="/dev/$scsi" bs=1M skip=4 count=4 2> /dev/null | md5sum)" = "$behind" ] &&
        ok "scsi_debug by $engine: the rest is unchanged" || bad "scsi_debug by $engine: the rest was changed"
done
nothing_discarded "less than a unit" 3 "units of 64K" "/dev/$scsi" --discard --block 8K --size 4M --destroy "$scsi"

# Files of ours and of others.
ext4 /dev/nvme2n1
mount -t ext4 /dev/nvme2n1 /mnt || failure "mount"
dd if=/dev/urandom of=/mnt/precious bs=1M count=4 2> /dev/null
sync
# shellcheck disable=SC2086
nothing_discarded "a file of somebody's" 3 "did not make" /mnt/precious $lost --overwrite
# shellcheck disable=SC2086
refused "a device that is mounted" 3 "mounted at /mnt" /dev/nvme2n1 $lost --destroy nvme2n1
sw prepare /mnt/kept --size 4M > /tmp/out 2> /tmp/err || failure "prepare" /tmp/err
sync
before=$(stat -c %b /mnt/kept)
for engine in uring threads; do
    # shellcheck disable=SC2086
    run /mnt/kept $lost --distribution covering --engine $engine
    clean "a file of ours by $engine" $?
done
sync
after=$(stat -c %b /mnt/kept)
[ "$after" -lt "$before" ] && ok "a file of ours: $before blocks before, $after after" ||
    bad "a file of ours: $before blocks before, $after after"
umount /mnt
