# host: listens
# modules: dm-mod
# programs: dmsetup:dmsetup
#
# What held a program up is told apart: a device that answers nothing for 20 seconds, a
# process that is stopped or frozen, a machine that stands still, and one that has no
# processor to give. Each begins when something was measured, and the run goes on until
# it is over: a slow host makes all of it longer, and changes nothing.
. /lib/common.sh
. /lib/mapped.sh
. /lib/pauses.sh
mkdir -p /cgroup
mount -t cgroup2 none /cgroup && mkdir /cgroup/frozen || failure "no control groups"
mapped slow "0 200000 linear /dev/vda 0"
dd if=/dev/urandom of=$node bs=1M count=8 2> /dev/null

for engine in uring threads; do
    held_up "dm suspend" suspended $engine
    a_stall
    held_up "SIGSTOP" stopped $engine
    a_pause
    held_up "freezer" frozen $engine
    a_pause
    held_up "a machine whose clock went on" machine_frozen $engine
    a_pause
    # Its clock stood still as well: nothing was lost, and there is nothing to say.
    held_up "a stopped machine" machine_stopped $engine
    longest 0 6000
    untold stalled stalled-at-end
done
benched "dm suspend" suspended
a_stall
benched "freezer" frozen
a_pause
benched "a machine whose clock went on" machine_frozen
a_pause
for engine in uring threads; do
    starved "nice 19 beside busy loops" $engine 19 0 3
    starved "a worker's processor is taken" $engine 0 -20 1 --cpus 0
done
gone slow
