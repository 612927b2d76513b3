# modules: dm-mod dm-log-writes ext4 xfs
# programs: dmsetup:dmsetup mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs
# disk-size: 2G
# logs: 819200
#
# What an honest disk holds at the moment of a power cut, without cutting any: dm-log-writes
# keeps all writes under a file system, and the host replays the log to each flush. What was
# promised before it must be there, what was promised after it must be missed.
. /lib/common.sh
. /lib/mapped.sh
. /lib/logged.sh

for kind in flush fdatasync dsync; do
    logged ext4 $kind 64
done
# Its smallest size.
logged xfs flush 320
logged xfs fua 320
