# Logs of dm-log-writes, replayed on the host, sourced by `run`. A scenario asks for it in its
# first lines:
#
#   # logs: SECTORS
#
# The guest's second disk holds logs then, one every so many sectors: every write in the order
# in which the disk took it (those that no flush covers come behind the flush after them), with
# flushes and marks. A log begins with a sector of its own; then each entry is a sector with four
# numbers (sector, sectors, flags, bytes of a mark's text), and the data of writes behind it. A
# mark's text is the size that the witness's file had just before. What the guest printed between
# `log N SYSTEM KIND MEGABYTES FILE` and `log end` (base64, gzip) is that file as it was at the
# end: cut to the size in a mark, it is what had been promised until there.

log_flush=1 log_fua=2 log_discard=4 log_mark=8

# Replays all of them, and adds what came of it to the guest's log.
judge_logs() { # FILES SECTORS
    local files=$1 number system kind megabytes file
    [ -n "${2:-}" ] || return 0
    sed -n 's/^log \([0-9]\)/\1/p' "$files.log" > "$files.logs"
    while read -r number system kind megabytes file; do
        sed -n "/^log $number /,/^log end/p" "$files.log" | sed '1d;$d' |
            base64 --decode | gzip --decompress > "$files.witness" || true
        replay "$files" $((number * $2 * 512)) "$system" "$kind" "$megabytes" "$file" >> "$files.log"
    done < "$files.logs"
    rm -f "$files.logs" "$files.witness" "$files.promised" "$files.replayed" "$files.judged"
    # What was decoded is of no interest to people.
    sed -i '/^log [0-9]/,/^log end/d' "$files.log"
}

# Whether an entry's flags have one of these.
has() { # FLAGS FLAG
    [ $(($1 & $2)) != 0 ]
}

# Replays one log, and judges what lies there at each flush (and write with FUA): what had been
# promised before the last mark.
replay() { # FILES BYTE SYSTEM KIND MEGABYTES FILE
    local files=$1 at=$(($2 + 512)) name="$3, $4" left entry promised=0 flushes=0 failed=0
    local sector sectors flags bytes
    left=$(od -A n -t u8 -j $(($2 + 16)) -N 8 "$files.disk2")
    rm -f "$files.replayed"
    truncate --size "$5M" "$files.replayed"
    while [ $((left)) -gt 0 ]; do
        left=$((left - 1))
        read -r -d '' sector sectors flags bytes < <(od -A n -t u8 -j $at -N 32 "$files.disk2") || true
        if has "$flags" $log_mark; then
            entry=$(dd if="$files.disk2" bs=512 iflag=skip_bytes,count_bytes skip=$((at + 32)) count="$bytes" status=none)
            # The end of a log is a mark, too.
            case $entry in '' | *[!0-9]*) ;; *) promised=$entry ;; esac
        fi
        at=$((at + 512))
        # What was discarded may stay as it was.
        if [ "$sectors" -gt 0 ] && ! has "$flags" $((log_discard | log_mark)); then
            dd if="$files.disk2" of="$files.replayed" bs=1M iflag=skip_bytes,count_bytes oflag=seek_bytes \
                skip=$at count=$((sectors * 512)) seek=$((sector * 512)) conv=notrunc status=none
            at=$((at + sectors * 512))
        fi
        has "$flags" $((log_flush | log_fua)) && [ "$promised" -gt 0 ] || continue
        # What was flushed later is not there, and that is found.
        if [ $flushes = 0 ]; then
            cp "$files.witness" "$files.promised"
            judge_replayed "$files" "$3" "$6" 1 "$name, at its first flush, with all that was promised later" ||
                true
        fi
        flushes=$((flushes + 1))
        head -c "$promised" "$files.witness" > "$files.promised"
        judge_replayed "$files" "$3" "$6" 0 "$name, at flush $flushes" > "$files.said" ||
            { failed=$((failed + 1)) && cat "$files.said"; }
        rm -f "$files.said"
    done
    [ $flushes -gt 0 ] && [ $failed = 0 ] && name="ok $name" || name="failed $name"
    echo "check $name: replayed to $flushes flushes, something promised was missed at $failed"
}

# Judges a copy of what was replayed, whose journal is replayed by mounting.
judge_replayed() { # FILES SYSTEM FILE EXPECTED WORDS
    local mounted=$1.mounted code=0 options=loop
    # Copies of one xfs have one name.
    [ "$2" != xfs ] || options=loop,nouuid
    mkdir -p "$mounted"
    cp --sparse=always "$1.replayed" "$1.copy"
    if mount -t "$2" -o "$options" "$1.copy" "$mounted" > "$1.judged" 2>&1; then
        "$binary" verify --after-cut "$1.promised" "$mounted/$3" --busy-ok --store "$1.store" \
            > "$1.judged" 2>&1 || code=$?
        umount "$mounted"
    else
        code=mount
    fi
    rm -f "$1.copy"
    if [ "$code" = "$4" ]; then
        echo "check ok $5: exit $code"
    else
        echo "check failed $5: exit $code, expected $4"
        cat "$1.judged"
        return 1
    fi
}
