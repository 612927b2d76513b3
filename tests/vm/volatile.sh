# Disks that lose what was not flushed, sourced by `run`: nbdkit processes whose caches die
# with them. A scenario asks for them in its first lines:
#
#   # volatile: HONEST LYING
#
# Honest ones keep what was flushed, lying ones answer a flush and do nothing. In the guest
# they are SCSI disks of 16 MiB with the serial numbers cut-0, cut-1 ... A line `host: cut N`
# kills the process of disk N at some moment within the next two seconds. What the guest
# printed between `witness N` and `witness end` (base64, gzip) is the witness's file; once
# the guest is off, the program under test judges the disk's image by it, here.

volatile_size=16M

# Starts them; their arguments for QEMU are left in `volatile`.
volatile_disks() { # FILES HONEST LYING
    local files=$1 number cache
    volatile=()
    [ -n "${2:-}" ] || return 0
    volatile=(-device virtio-scsi-pci,id=cut)
    for number in $(seq 0 $(($2 + $3 - 1))); do
        [ ! -e "$files.pid$number" ] || kill -KILL "$(cat "$files.pid$number")" 2> /dev/null || true
        rm -f "$files.cut$number" "$files.socket$number"
        truncate --size "$volatile_size" "$files.cut$number"
        [ "$number" -lt "$2" ] && cache=writeback || cache=unsafe
        nbdkit --foreground --unix "$files.socket$number" --filter=cache \
            file "$files.cut$number" cache=$cache < /dev/null > "$files.nbdkit$number" 2>&1 &
        echo $! > "$files.pid$number"
        # Its end is no news.
        disown
        volatile+=(-drive "file=nbd+unix:///?socket=$files.socket$number,if=none,id=c$number,format=raw,werror=report,rerror=report"
            -device "scsi-hd,bus=cut.0,drive=c$number,scsi-id=0,lun=$number,serial=cut-$number")
    done
    for number in $(seq 0 $(($2 + $3 - 1))); do
        while [ ! -S "$files.socket$number" ]; do
            kill -0 "$(cat "$files.pid$number")"
            sleep 0.1
        done
    done
}

# The power of one disk goes.
cut_power() { # FILES NUMBER
    sleep "$((RANDOM % 2)).$((RANDOM % 10))"
    kill -KILL "$(cat "$1.pid$2")"
}

# Judges all of them, and adds what came of it to the guest's log.
judge_volatile() { # FILES HONEST LYING
    local files=$1 number expected code name
    [ -n "${2:-}" ] || return 0
    for number in $(seq 0 $(($2 + $3 - 1))); do
        kill -KILL "$(cat "$files.pid$number")" 2> /dev/null || true
        [ "$number" -lt "$2" ] && expected=0 name=honest || expected=1 name=lying
        code=0
        sed -n "/^witness $number /,/^witness end/p" "$files.log" | sed '1d;$d' |
            base64 --decode | gzip --decompress > "$files.witness" || true
        name="$name disk $number, $(sed -n "s/^witness $number //p" "$files.log")"
        judged "$files" "$number" > "$files.judged" 2>&1 || code=$?
        if [ $code = $expected ]; then
            echo "check ok $name: $(grep -m 1 -e 'did not survive' "$files.judged")"
        else
            echo "check failed $name: exit $code, expected $expected"
            cat "$files.judged"
        fi >> "$files.log"
    done
    rm -f "$files".cut* "$files".socket* "$files".pid* "$files".nbdkit* "$files.witness" "$files.judged"
    # What was decoded is of no interest to people.
    sed -i '/^witness [0-9]/,/^witness end/d' "$files.log"
}

# Judges one: the image itself, or the file on the file system in it.
judged() { # FILES NUMBER
    local mounted=$1.mounted code=0
    # The magic number of ext4.
    if [ "$(od -An -tx1 -j1080 -N2 "$1.cut$2" | tr -d ' ')" != 53ef ]; then
        judge_one "$1" "$1.cut$2"
        return
    fi
    mkdir -p "$mounted"
    # The journal is replayed by mounting, as after a power cut.
    mount -o loop "$1.cut$2" "$mounted"
    judge_one "$1" "$mounted"/stripewise-*.test || code=$?
    umount "$mounted"
    return $code
}

judge_one() { # FILES TARGET
    "$binary" verify --after-cut "$1.witness" "$2" --busy-ok --store "$1.store"
}
