# modules: raid10 ext4
# programs: mdadm:mdadm mkfs.ext4:e2fsprogs
# host-programs: nbdkit:nbdkit
# disk-size: 512M
# power-losses: 9
#
# The power goes while layouts are made, measured and taken down, one after the other and
# in slots: whatever the disks kept of them, `lab clean` finds and undoes it after the next
# boot. The store lies on a disk that loses what was not flushed, like the others.
. /lib/common.sh
. /lib/layouts.sh
. /lib/power.sh

store=/keep/store.db
boot=$(sed 's/.*boot=\([0-9]*\).*/\1/' /proc/cmdline)
mkdir /keep
[ "$boot" != 0 ] || ext4 /dev/vde
mount -t ext4 /dev/vde /keep || failure "mount of the disk that keeps the store"

[ "$boot" = 0 ] || cleaned_after_loss "$boot"
plan 'size = "16M"' 'offset = ["63s", "1M"]
stripe-unit = ["16K", "64K"]' 500ms
# So that there is a store to clean from, however early the power goes.
sw lab plan /tmp/plan.toml > /dev/null
sync
case $boot in
0) lost_when "it began" true ;;
1) lost_when "an array runs" array_runs ;;
2) lost_when "its partition is there" array_is_parted ;;
3) lost_when "it is mounted" is_mounted ;;
4) lost_when "it is measured" is_mounted 4 ;;
5) lost_when "it was taken down" is_over ;;
6) lost_when "the slots are there" slots_are_there 0 --slots ;;
7) lost_when "a second array runs" second_array_runs 0 --slots ;;
8) lost_when "all are measured" all_are_mounted 2 --slots ;;
esac
