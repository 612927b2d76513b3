# modules: dm-mod dm-flakey dm-snapshot raid1 raid456 ext4
# programs: dmsetup:dmsetup mdadm:mdadm mkfs.ext4:e2fsprogs
# disk-size: 96M
#
# `verify` on devices that do not keep what they were given: dm-flakey that drops writes,
# changes bytes or fails writes, a mirror with one stale half, and the write hole of RAID 5.
# Each is found and called by a name that fits; one that keeps everything passes.
. /lib/common.sh
. /lib/mapped.sh
. /lib/keeps.sh

sectors=65536

# What keeps everything.
mapped honest "0 $sectors flakey /dev/vda 0 100000 0"
burn_in "dm-flakey that does nothing" $node "$kernel" 0 ""
gone honest

# From here on writes are dropped, and reported as done.
while_working drops "drop_writes" "dm-flakey drop_writes" 1 "lost-write torn stale-read left-over"
# A byte of each block changes on its way to the disk, or from it.
while_working changes "corrupt_bio_byte 600 w 90 0" "dm-flakey corrupt_bio_byte, writing" 1 "damaged torn lost-write transient stale-read"
if changes_reads; then
    while_working changes "corrupt_bio_byte 600 r 90 0" "dm-flakey corrupt_bio_byte, reading" 1 "damaged transient"
else
    echo "dm-flakey of this kernel changes no reads"
fi
# Writes fail and say so: no fault of the data.
while_working fails "error_writes" "dm-flakey error_writes" 4 ""

stale_half
write_hole
