# judge: counts
# modules: raid10 raid456 ext4
# programs: fio:fio mdadm:mdadm mkfs.ext4:e2fsprogs
#
# What an offset does to an array, in requests of its disks: 8K operations on RAID 10
# (which cross from one chunk into the next), on RAID 5 with a small chunk (likewise),
# and writes on RAID 5 (which cut pages of parity). Nothing depends on speed.
. /lib/common.sh
. /lib/arrays.sh
. /lib/counts.sh

array 10 64
for offset in 63s 1M; do
    place $offset
    count raid10-write $offset write
    count raid10-read $offset read
    look $offset 65536
done
stop

array 5 16
for offset in 63s 1M; do
    place $offset
    count raid5-read $offset read
    look $offset 16384
done
stop

array 5 64
# What is still in it is not read again.
echo 32 > /sys/block/md0/md/stripe_cache_size
for offset in 63s 36K 1M; do
    place $offset
    count raid5-write $offset write
    look $offset 65536
done
