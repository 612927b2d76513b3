# judge: rates
# disk-iops: 300
# modules: raid10 raid456 ext4
# programs: fio:fio mdadm:mdadm mkfs.ext4:e2fsprogs
#
# RAID 10, 64K chunk: 8K operations that start at 63 sectors cross a chunk once in
# eight; of two copies md reads either one.
. /lib/common.sh
. /lib/arrays.sh
. /lib/rates.sh
array 10 64
# The disks merge what is adjacent, as those of users do.
for disk in vda vdb vdc vdd; do echo 0 > /sys/block/$disk/queue/nomerges; done
rounds 6 6 raid10-write:write,raid10-read:read 63s 1M
cause write "touches two disks"
