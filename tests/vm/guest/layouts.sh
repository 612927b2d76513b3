# modules: raid10 raid456 raid1 raid0 ext4 xfs
# programs: mdadm:mdadm mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs
# disk-size: 512M
#
# Layouts really made on four disks: md arrays by mdadm, partitions, file systems, private
# mounts, test files; taken down after each, after Ctrl-C and after a kill. Nothing depends
# on speed.
. /lib/common.sh
. /lib/layouts.sh

plan 'size = "16M"
time = "10s"' 'offset = ["63s", "1M"]
stripe-unit = ["16K", "64K"]' 500ms

sw lab plan /tmp/plan.toml > /tmp/planned 2>&1
grep -q '4 layouts' /tmp/planned && grep -q 'vdd' /tmp/planned && ok "the plan says what is destroyed" || bad "lab plan" /tmp/planned
sw lab run /tmp/plan.toml > /tmp/refused 2>&1
code=$?
[ $code = 3 ] && ok "without --destroy it is refused" || bad "without --destroy: exit $code" /tmp/refused
sw lab run /tmp/plan.toml --destroy vda,vdb > /tmp/refused 2>&1
code=$?
[ $code = 3 ] && ok "with some of the names it is refused" || bad "with two names: exit $code" /tmp/refused
nothing_is_left "before anything"

# A member of another array is not touched.
mdadm --create /dev/md9 --run --metadata=1.2 --level=0 --raid-devices=2 /dev/vdc /dev/vdd > /tmp/mdadm 2>&1 || failure mdadm /tmp/mdadm
sw lab run /tmp/plan.toml --destroy $all > /tmp/refused 2>&1
code=$?
grep -q 'md9' /tmp/refused && [ $code = 3 ] && ok "a member of an array is refused" || bad "a member: exit $code" /tmp/refused
mdadm --stop /dev/md9 > /dev/null 2>&1
mdadm --zero-superblock /dev/vdc /dev/vdd

watched lab run /tmp/plan.toml --destroy $all
code=$?
[ $code = 0 ] && ok "an experiment comes to its end" || bad "lab run: exit $code" /tmp/answer /tmp/answer.err
nothing_is_left "after the end"
places 8

# The lines that `advise` prints make the layout that it recommends.
sw --json advise 'sim:raid10-10k?offset=63s' --mix random-read=100 --vary stripe-unit=64K,128K > /tmp/shown.json 2> /tmp/shown.err
values /tmp/shown.json | sed 's/DISK1/vda/; s/DISK2/vdb/; s/DISK3/vdc/; s/DISK4/vdd/' | sed -n 's/^commands\.[0-9]*\.line //p' | grep '^mdadm\|^stripewise' > /tmp/lines
while read -r line; do
    yes 2> /dev/null | sh -c "$line" > /tmp/line.out 2>&1 || bad "$line" /tmp/line.out
done < /tmp/lines
[ "$(wc -l < /tmp/lines)" = 3 ] && [ -e /sys/block/md0/md0p1 ] && ok "the lines that are printed make a layout" ||
    bad "the lines that are printed" /tmp/lines /tmp/shown.err
# What was made by hand is undone by hand: the table and its backup first.
dd if=/dev/zero of=/dev/md0 bs=512 count=1 seek=$(($(cat /sys/block/md0/size) - 1)) > /dev/null 2>&1
dd if=/dev/zero of=/dev/md0 bs=1M count=1 > /dev/null 2>&1
mdadm --stop /dev/md0 > /dev/null 2>&1
for disk in vda vdb vdc vdd; do mdadm --zero-superblock /dev/$disk > /dev/null 2>&1; done
nothing_is_left "after the lines"

# Levels with parity are in step before anything is measured.
cat > /tmp/parity.toml << 'PLAN'
devices = ["vda", "vdb", "vdc", "vdd"]
size = "16M"
time = "1s"
[factors]
raid = ["raid5:3", "raid6", "raid1:2", "raid0"]
[defaults]
duration = "100ms"
ramp = "0s"
[[cell]]
read = true
PLAN
stripewise --store $store lab run /tmp/parity.toml --destroy $all > /tmp/answer 2>&1
code=$?
[ $code = 0 ] && grep -q 'resync' /tmp/answer && ok "parity is waited for" || bad "raid levels: exit $code" /tmp/answer
nothing_is_left "after raid levels"

stripewise --quiet --store $store lab run /tmp/plan.toml --destroy $all > /tmp/answer 2>&1 &
pid=$!
while ! grep -q '^md' /proc/mdstat && kill -0 $pid 2> /dev/null; do usleep 100000; done
kill -INT $pid
wait $pid
code=$?
[ $code = 130 ] && ok "Ctrl-C ends it" || bad "Ctrl-C: exit $code" /tmp/answer
nothing_is_left "after Ctrl-C"

killed_and_cleaned
killed_renamed_and_cleaned
