# judge: rates
# disk-iops: 300
# modules: raid10 raid456 ext4
# programs: fio:fio mdadm:mdadm mkfs.ext4:e2fsprogs
#
# RAID 5, 64K chunk, 8K writes: at 63 sectors partial pages of parity are read
# first; at 36K, a multiple of the page, they are not.
. /lib/common.sh
. /lib/arrays.sh
. /lib/rates.sh
array 5 64
# The disks merge what is adjacent, as those of users do.
for disk in vda vdb vdc vdd; do echo 0 > /sys/block/$disk/queue/nomerges; done
rounds 6 6 raid5-write:write 63s 36K 1M
cause write "splits pages of parity"
