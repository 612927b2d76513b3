# Logs of dm-log-writes: see `replay.sh` on the host.
slice=819200
number=0

# Writes and flushes on a file system, with the log of all that reached its disk. A mark says
# how long the witness's file was just before: whatever it reports until there is in the log.
logged() { # ext4|xfs KIND MEGABYTES
    mapped slice "0 $slice linear /dev/vdb $((number * slice))"
    log=$node
    mapped logged "0 $(($3 * 2048)) log-writes /dev/vda $log"
    "$1" "$node"
    mount -t "$1" "$node" /mnt || failure "mount of $1 on the log"
    rm -f /tmp/log.witness /tmp/cut.err
    # Not through a function: that would be another process.
    stripewise --store $store verify /mnt --power-cut --witness /tmp/log.witness --sync "$2" --size 4M \
        --outstanding 4 --busy-ok > /tmp/cut.out 2> /tmp/cut.err &
    pid=$!
    # Everything was written once and flushed, and the witness knows.
    until grep -q "from now on" /tmp/cut.err 2> /dev/null; do
        kill -0 $pid 2> /dev/null || break
        sleep 0.2
    done
    marks=0
    while [ $marks -lt 6 ]; do
        kill -0 $pid 2> /dev/null || break
        size=$(stat -c %s /tmp/log.witness)
        dmsetup message logged 0 mark "$size" || failure "a mark"
        marks=$((marks + 1))
        sleep 0.2
    done
    kill -TERM $pid
    wait $pid
    code=$?
    [ $code = 143 ] && ok "$1, $2: $marks marks" || bad "$1, $2: exit $code, expected 143" /tmp/cut.out /tmp/cut.err
    echo "log $number $1 $2 $3 $(ls /mnt | grep -v lost+found)"
    gzip -c /tmp/log.witness | base64
    echo "log end"
    umount /mnt
    gone logged slice
    number=$((number + 1))
}
