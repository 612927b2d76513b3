# Logs of dm-log-writes: every write in the order in which the disk took it (those that no
# flush covers come behind the flush after them), with flushes and marks. A log begins
# with a sector of its own; then each entry is a sector with four numbers (sector, sectors,
# flags, bytes of a mark), and the data of writes behind it.
log=/dev/vdb replayed=/dev/vdc judged=/dev/vdd
at=1

entry() { # SECTOR of the log: its four numbers
    dd if=$log bs=512 skip="$1" count=1 2> /dev/null | od -A n -t u8 -N 32 | tr -s ' \n' ' '
}
words_at() { # SECTOR BYTES: what a mark says
    dd if=$log bs=512 skip="$1" count=1 2> /dev/null | tail -c +33 | head -c "$2"
}
entries_in_log() {
    dd if=$log bs=512 count=1 2> /dev/null | od -A n -t u8 -j 16 -N 8 | tr -d ' \n'
}

# Writes what lies between the last mark and this one to the disk of the replay.
replay_to() { # MARK
    left=$(entries_in_log)
    while [ "$left" -gt 0 ]; do
        left=$((left - 1))
        here=$at
        # shellcheck disable=SC2046
        set -- "$1" $(entry $here)
        [ $# = 5 ] || return 1
        at=$((at + 1))
        if [ $(($4 / 8 % 2)) = 1 ]; then
            [ "$(words_at $here "$5")" = "$1" ] && return 0
        elif [ $(($4 / 4 % 2)) = 0 ]; then
            # What was discarded may stay as it was.
            [ "$3" = 0 ] || dd if=$log of=$replayed bs=512 skip=$at seek="$2" count="$3" conv=notrunc 2> /dev/null
            at=$((at + $3))
        fi
    done
    return 1
}

# Writes and flushes on a file system, with the log of all that reached its disk. Three
# times the witness's file is copied and then a mark set: whatever was reported as flushed
# until then is before the mark.
written_with_marks() { # ext4|xfs KIND SECTORS
    dd if=/dev/zero of=$log bs=1M count=1 2> /dev/null
    mapped logged "0 $3 log-writes /dev/vda $log"
    "$1" "$node"
    mount -t "$1" "$node" /mnt || failure "mount of $1 on the log"
    rm -f /tmp/log.witness
    stripewise --quiet --store $store verify /mnt --power-cut --witness /tmp/log.witness --sync "$2" --size 4M \
        --outstanding 4 --busy-ok > /tmp/cut.out 2> /tmp/cut.err &
    pid=$!
    for mark in one two three; do
        size=$(stat -c %s /tmp/log.witness 2> /dev/null || echo 0)
        until [ "$(stat -c %s /tmp/log.witness 2> /dev/null || echo 0)" -gt $((size + 2048)) ]; do
            kill -0 $pid 2> /dev/null || break
            sleep 0.2
        done
        cp /tmp/log.witness /tmp/$mark.witness
        dmsetup message logged 0 mark $mark || failure "mark $mark"
    done
    kill -TERM $pid
    wait $pid
    code=$?
    [ $code = 143 ] || bad "$1, $2: exit $code, expected 143" /tmp/cut.out /tmp/cut.err
    file=$(ls /mnt | grep -v lost+found)
    umount /mnt
    gone logged
}

after_cut() { # WITNESS EXPECTED WORDS: what the replay left, as if the power had gone there
    dd if=$replayed of=$judged bs=1M count="$megabytes" 2> /dev/null
    mount -t "$system" $judged /mnt || failure "mount of $3"
    stripewise --store $store --json verify --after-cut "$1" "/mnt/$file" --busy-ok > /tmp/verify.json 2> /tmp/verify.err
    code=$?
    umount /mnt
    [ $code = "$2" ] && ok "$3: exit $code, faults: $(classes /tmp/verify.json)" ||
        bad "$3: exit $code, expected $2; found $(classes /tmp/verify.json)" /tmp/verify.err
}

logged() { # ext4|xfs KIND MEGABYTES
    system=$1 megabytes=$3
    written_with_marks "$1" "$2" $(($3 * 2048))
    # Written past the page cache, which may still have the log of the time before.
    echo 3 > /proc/sys/vm/drop_caches
    dd if=/dev/zero of=$replayed bs=1M count="$3" 2> /dev/null
    at=1
    for mark in one two three; do
        replay_to $mark || failure "the log has no mark $mark"
        after_cut /tmp/$mark.witness 0 "$1, $2, replayed to mark $mark"
        # What was flushed after the mark is not there, and that is found.
        [ $mark = one ] && after_cut /tmp/three.witness 1 "$1, $2, replayed to mark one, with flushes until mark three"
    done
}
