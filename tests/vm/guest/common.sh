# What the scenarios share. Every measured figure is a line
#   result CASE OFFSET TOOL IOPS
# that the judge on the host reads; everything else is for people.
export PATH=/bin:/usr/bin HOME=/tmp
store=/tmp/store.db

array() { # LEVEL CHUNK: makes /dev/md0 of the four disks
    for disk in vda vdb vdc vdd; do
        # As the throttle has it: one disk, 300 operations a second.
        echo none > /sys/block/$disk/queue/scheduler 2>/dev/null
    done
    mdadm --create /dev/md0 --run --assume-clean --metadata=1.2 --bitmap=none \
        --level="$1" --chunk="$2" --raid-devices=4 /dev/vda /dev/vdb /dev/vdc /dev/vdd 2>&1
    cat /sys/block/md0/md/chunk_size
}

place() { # OFFSET: one partition there, made by the program under test
    stripewise --quiet partition /dev/md0 --align "$1" --table mbr --yes --destroy md0 > /tmp/plan 2>&1 ||
        { echo "failure: partition at $1"; cat /tmp/plan; }
    echo "start $1 $(cat /sys/block/md0/md0p1/start)"
}

# What `disks` says of the volume, right through md to the disks; once is enough.
look() { # ROUND OFFSET STRIPE_UNIT
    [ "$1" = 1 ] || return 0
    case $2 in
    63s) expected="32256 splits-above $3 exit 1" ;;
    36K) expected="36864 splits-above $3 exit 1" ;;
    1M) expected="1048576 aligned $3 exit 0" ;;
    esac
    mkfs.ext4 -q -F /dev/md0p1 > /tmp/mkfs 2>&1 || { echo "failure: mkfs"; cat /tmp/mkfs; }
    stripewise --json --store $store disks /dev/md0p1 > /tmp/disks.json 2> /tmp/disks.err
    code=$?
    volume() {
        awk -v name="\"$1\":" '/"volumes":/ { on = 1 } on && $1 == name { gsub(/[",]/, "", $2); print $2; exit }' /tmp/disks.json
    }
    found="$(volume offset_bytes) $(volume verdict) $(volume stripe_unit_bytes) exit $code"
    if [ "$found" = "$expected" ]; then
        echo "check ok disks at $2: $found"
    else
        echo "check failed disks at $2: $found, expected $expected"
        cat /tmp/disks.err
    fi
}

# What `align` says, with 36K among the offsets; the words must name the cause.
cause() { # read|write WORDS
    destroy=
    [ "$1" = write ] && destroy="--destroy md0"
    # Reads of blocks that were never written are no verdict about an array.
    dd if=/dev/urandom of=/dev/md0 bs=1M count=96 2> /dev/null
    sync
    stripewise --quiet --store $store align /dev/md0 "--$1" --size 64M --offsets 63s,36K,1M --threads 16 \
        --step 900ms --blocks 10 --time 60s $destroy > /tmp/align.txt 2> /tmp/align.err
    code=$?
    if [ $code = 1 ] && tr '\n' ' ' < /tmp/align.txt | tr -s ' ' | grep -qi "$2"; then
        echo "check ok align of ${1}s names the cause: $2"
    else
        echo "check failed align of ${1}s: exit $code, and these words were expected: $2"
        cat /tmp/align.err
    fi
    cat /tmp/align.txt
}

# A short run first: the throttle begins with a burst, and fio's first seconds
# under emulation are slow.
with_fio() { # CASE OFFSET read|write SECONDS
    fio --name=x --filename=/dev/md0p1 --rw="rand$3" --bs=8k --direct=1 --ioengine=libaio \
        --iodepth=64 --ramp_time=1 --time_based --runtime="$4" --norandommap --randseed=7 \
        --output-format=terse --terse-version=3 2>/dev/null |
        awk -F';' -v label="$1 $2 fio" -v kind="$3" 'NF > 50 { print "result", label, (kind == "read" ? $8 : $49) }'
}

with_stripewise() { # CASE OFFSET read|write SECONDS
    destroy=
    [ "$3" = write ] && destroy="--destroy md0p1"
    stripewise --quiet --json --store $store run /dev/md0p1 "--$3" --block 8K --threads 1 --outstanding 64 \
        --ramp 1s --duration "$4s" $destroy > /tmp/run.json 2> /tmp/run.err || { echo "failure: run"; cat /tmp/run.err; }
    awk -v label="$1 $2 stripewise" '/^ *"iops":/ { gsub(/[ ,]/, ""); split($0, field, ":"); print "result", label, field[2]; exit }' /tmp/run.json
}

measure() { # CASE OFFSET read|write SECONDS
    with_fio "$@"
    with_stripewise "$@"
}
