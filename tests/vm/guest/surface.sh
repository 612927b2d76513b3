# disk-delays: 3 4 5 6
# host-programs: nbdkit:nbdkit
# modules: raid0 raid10 raid456 dm-mod dm-delay ext4
# programs: mdadm:mdadm dmsetup:dmsetup mkfs.ext4:e2fsprogs
#
# `probe stripe` and `profile` on md arrays over disks that serve one read at a time, in
# 3 to 6 ms: unit and phase must be exact. 96K is no power of two: RAID 0 alone takes it.
. /lib/common.sh
. /lib/arrays.sh
. /lib/mapped.sh
. /lib/surface.sh
devices_disappear
slow_spot
array 5 64
kept_with_no_member /dev/md0
stop
for chunk in 64 16 128 96; do surface 0 $chunk; done
for chunk in 64 16 128; do surface 10 $chunk; done
for chunk in 64 16 128; do surface 5 $chunk; done
