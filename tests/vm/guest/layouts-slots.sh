# modules: raid10 ext4
# programs: mdadm:mdadm mkfs.ext4:e2fsprogs
# disk-size: 512M
#
# Layouts side by side: four arrays at once of partitions of the four disks, measured in one
# pass and taken down; a kill, and what `lab clean` does after it. Nothing depends on speed.
. /lib/common.sh
. /lib/layouts.sh

plan 'size = "16M"
time = "1s"' 'offset = ["63s", "1M"]
stripe-unit = ["16K", "64K"]' 500ms

watched lab run /tmp/plan.toml --slots --destroy $all
code=$?
# One pass, all that its time holds, is no answer: a finding, and what leads to one.
[ $code = 1 ] && grep -q '1 pass is finished' /tmp/answer && grep -q 'lab resume' /tmp/answer &&
    ok "four layouts are made side by side" || bad "lab run --slots: exit $code" /tmp/answer /tmp/answer.err
nothing_is_left "after slots"
places 8

killed_and_cleaned --slots
