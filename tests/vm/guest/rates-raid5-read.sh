# judge: rates
# disk-iops: 300
# modules: raid10 raid456 ext4
# programs: fio:fio mdadm:mdadm mkfs.ext4:e2fsprogs
#
# RAID 5, 16K chunk: 8K reads that start at 63 sectors cross a chunk every second time.
. /lib/common.sh
. /lib/arrays.sh
. /lib/rates.sh
array 5 16
# The disks merge what is adjacent, as those of users do.
for disk in vda vdb vdc vdd; do echo 0 > /sys/block/$disk/queue/nomerges; done
rounds 6 6 raid5-read:read 63s 1M
cause read "touches two disks"
