# modules: raid10 ext4
# programs: mdadm:mdadm mkfs.ext4:e2fsprogs
#
# The part of `layouts` that every change has to pass: four layouts really made on four
# disks, measured and taken down in one pass; a kill, and what `lab clean` does after it.
# Nothing depends on speed.
. /lib/common.sh
. /lib/layouts.sh

plan 'size = "16M"
time = "1s"' 'offset = ["63s", "1M"]
stripe-unit = ["16K", "64K"]' 500ms

sw lab run /tmp/plan.toml > /tmp/refused 2>&1
code=$?
[ $code = 3 ] && ok "without --destroy it is refused" || bad "without --destroy: exit $code" /tmp/refused
watched lab run /tmp/plan.toml --destroy $all
code=$?
# One pass, all that its time holds, is no answer: a finding, and what leads to one.
[ $code = 1 ] && grep -q '1 pass is finished' /tmp/answer && grep -q 'lab resume' /tmp/answer &&
    ok "four layouts are made and measured" || bad "lab run: exit $code" /tmp/answer /tmp/answer.err
nothing_is_left "after the end"
places 8

killed_and_cleaned
