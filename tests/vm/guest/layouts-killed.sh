# modules: raid10 ext4
# programs: mdadm:mdadm mkfs.ext4:e2fsprogs
#
# Killed at twenty moments, an experiment leaves nothing that `lab clean` does not find.
. /lib/common.sh
. /lib/layouts.sh

plan 'size = "16M"' 'offset = ["63s", "1M"]
stripe-unit = ["16K", "64K"]' 200ms
# So that there is a store to clean from, however early the first one ends.
sw lab plan /tmp/plan.toml > /dev/null
moment=0
while [ $moment -lt 20 ]; do
    moment=$((moment + 1))
    stripewise --quiet --store $store lab run /tmp/plan.toml --destroy $all > /tmp/answer 2>&1 &
    pid=$!
    # From the first look at the devices to the third layout, or so.
    usleep $((moment * moment * 60000))
    kill -KILL $pid
    wait $pid
    sw lab clean --yes --destroy $all > /tmp/clean 2>&1 || bad "lab clean after moment $moment" /tmp/clean
    nothing_is_left "killed at moment $moment"
done
