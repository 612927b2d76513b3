# modules: dm-mod dm-flakey dm-snapshot dm-zero raid1 raid456 ext4
# programs: dmsetup:dmsetup mdadm:mdadm mkfs.ext4:e2fsprogs
# disk-size: 96M
#
# `verify` on devices that do not keep what they were given: dm-flakey that drops writes,
# changes bytes or fails writes, devices of a forged size, a mirror with one stale half, and the
# write hole of RAID 5.
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

# What forged devices do with what does not fit: begin again from the start, or drop it.
capacity "32768 32768 linear /dev/vda 32768" "a device that is what it says" 0 "" 33554432
capacity "32768 32768 linear /dev/vda 0" "a device that begins again" 1 "fake-capacity" 16777216
capacity "32768 32768 zero" "a device that drops its end" 1 "fake-capacity" 16777216
capacity "32768 64 error
32832 32704 linear /dev/vda 32832" "a device with a bad place" 4 "" 33554432

stale_half
write_hole
