# disk-delays: 3 4 5 6
# host-programs: nbdkit:nbdkit
# modules: raid0 dm-mod dm-delay ext4
# programs: mdadm:mdadm dmsetup:dmsetup mkfs.ext4:e2fsprogs
#
# The short part of `surface`: RAID 0 of 64K through a partition at 63 sectors.
. /lib/common.sh
. /lib/arrays.sh
. /lib/mapped.sh
. /lib/surface.sh
array 0 64
place 63s
kept_with_no_member /dev/md0p1
probed "RAID 0 of 64K, 63 sectors" /dev/md0p1 65536 33280
stop
