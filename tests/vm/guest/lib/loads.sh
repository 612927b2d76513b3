# Loads on one place, a device or a file, each of which must do operations and have no
# error; beside fio on the same place.
half=$((2 << 20))

# What is wrong with a document whose jobs should have done something without a single
# failed operation: nothing where all is well.
flaws() { # [ENGINE]
    values /tmp/out.json | awk -v engine="$1" '
        $1 ~ /outcome\.operations$/ { jobs++; operations += $2 }
        $1 ~ /outcome\.errors\.total$/ { totals++; errors += $2 }
        engine != "" && $1 ~ /\.engine\.name$/ && $2 != engine { wrong = " through " $2 ";" }
        END {
            if (errors) wrong = wrong " " errors " errors;"
            if (!operations || totals != jobs) wrong = wrong " " operations + 0 " operations of " jobs + 0 " jobs, " totals + 0 " counts of errors;"
            print wrong
        }'
}
# These disks are small, new and in the host's memory, so that numbers may be void, which
# ends with 1: what is wrong with a run shows in its document.
judged() {
    [ $code = 1 ] && code=0
}
clean() { # WORDS CODE [ENGINE]
    found=$(flaws "$3")
    if [ "$2" = 0 ] && [ -z "$found" ]; then
        ok "$1"
    else
        bad "$1: exit $2;$found" /tmp/err
        grep -m 3 '"message"' /tmp/out.json
    fi
}

# A run, as short as will do: a busy host may not give the guest one operation in a
# tenth of a second.
run() { # ARGUMENT...
    for duration in 100ms 2s 30s; do
        stripewise --quiet --json --store $store run "$@" --duration $duration > /tmp/out.json 2> /tmp/err
        code=$?
        judged
        values /tmp/out.json | awk '$1 ~ /outcome\.operations$/ && $2 > 0 { some = 1 } END { exit !some }' && break
        [ $code = 0 ] || break
    done
    return $code
}

# One run through an engine, reads and writes mixed.
mixed() { # WORDS PATH ENGINE CACHE PERMISSION...
    words="$1: run through $3, $4"
    path=$2 asked=$3 mode=$4
    shift 4
    run "$path" --engine "$asked" --cache "$mode" --read-percent 50 --block 8K --outstanding 8 --size 4M "$@"
    code=$?
    [ "$asked" = uring ] && asked=io_uring
    clean "$words" $code "$asked"
}

# What is written by one way is there by another, all of it, and nothing else was changed.
written() { # WORDS PATH WAY ARGUMENT...
    words=$1 path=$2 way=$3
    shift 3
    fio --name=x --filename="$path" --size=4m --rw=write --bs=64k --direct=1 --ioengine=io_uring --iodepth=4 \
        --verify=crc32c --do_verify=1 --eta=never > /tmp/fio.txt 2>&1 && ok "$words: fio writes and verifies" ||
        bad "$words: fio writes and verifies" /tmp/fio.txt
    pieces before "$path"
    run "$way" --write --sequential --block 64K --outstanding 4 --size 2M "$@"
    clean "$words: sequential writes" $?
    written=$(values /tmp/out.json | awk '$1 ~ /outcome\.bytes$/ { print $2; exit }')
    echo 3 > /proc/sys/vm/drop_caches
    pieces after "$path"
    # A slow machine may not have come round once.
    [ "${written:-0}" -ge $half ] && expected=8 || expected=$((${written:-0} * 8 / half))
    changed=$(cat /tmp/before.sums /tmp/after.sums | sort | uniq -u | awk '{ print $2 }' | sort -u | wc -l)
    [ "$changed" -ge "$expected" ] && ok "$words: $changed of 8 pieces are new" ||
        bad "$words: $changed pieces are new, $expected were written"
    fio --name=x --filename="$path" --offset=2m --size=2m --rw=read --bs=64k --direct=1 --ioengine=io_uring \
        --iodepth=4 --verify=crc32c --eta=never > /tmp/fio.txt 2>&1 && ok "$words: fio finds the rest unchanged" ||
        bad "$words: fio finds the rest unchanged" /tmp/fio.txt
}

# The same of one place, which is read alike in every mode afterwards.
content() { # WORDS PATH PERMISSION...
    words=$1 path=$2
    shift 2
    written "$words" "$path" "$path" "$@"
    dd if="$path" bs=64k count=64 2> /dev/null > /tmp/buffered
    dd if="$path" bs=64k count=64 iflag=direct 2> /dev/null > /tmp/direct
    cmp /tmp/buffered /tmp/direct && ok "$words: read alike directly and through the cache" ||
        bad "$words: read alike directly and through the cache"
    rm -f /tmp/buffered /tmp/direct
}

# Sums of the pieces of what is written.
pieces() { # NAME PATH
    for piece in 0 1 2 3 4 5 6 7; do
        echo "$(dd if="$2" bs=256k skip=$piece count=1 2> /dev/null | md5sum | awk '{ print $1 }') $piece"
    done > /tmp/"$1".sums
}

loads() { # WORDS PATH PERMISSION...
    content "$@"
    label=$1 place=$2
    shift 2
    for engine in uring threads; do
        for cache in direct buffered; do
            mixed "$label" "$place" $engine $cache "$@"
        done
    done
}

# The commands that run many short runs, with steps as short as will do.
bench() { # WORDS PATH PERMISSION...
    words=$1 path=$2
    shift 2
    for budget in "--step 50ms --time 20s" "--step 1s --time 60s" "--step 15s --time 10m"; do
        stripewise --quiet --json --store $store bench "$path" --size 4M $budget --no-report \
            --series random-read,random-write "$@" > /tmp/out.json 2> /tmp/err
        code=$?
        judged
        # A step of an emulated machine that is busy may be too short for one operation.
        [ $code = 0 ] && [ -z "$(flaws)" ] && break
    done
    clean "$words: bench" $code
}
align() { # WORDS PATH PERMISSION...
    words=$1 path=$2
    shift 2
    for budget in "--step 50ms --time 20s" "--step 1s --time 60s" "--step 15s --time 10m"; do
        stripewise --quiet --json --store $store align "$path" --size 4M --offsets 63s,1M --threads 2 $budget \
            --blocks 10 "$@" > /tmp/out.json 2> /tmp/err
        code=$?
        # After so little it may also find an effect or none.
        judged
        [ $code = 0 ] && [ -z "$(flaws)" ] && break
    done
    clean "$words: align" $code
}
doctor() { # WORDS PATH
    whole doctor "$2" > /tmp/out 2>&1 && grep -q "one block through uring works" /tmp/out && ok "$1: doctor reads it" ||
        bad "$1: doctor reads it" /tmp/out
}

# A run that must not begin.
refused() { # WORDS CODE TEXT PATH ARGUMENT...
    words=$1 expected=$2 text=$3
    shift 3
    stripewise --quiet --store $store run "$@" --duration 100ms > /tmp/out 2> /tmp/err
    code=$?
    [ $code = "$expected" ] && grep -q -- "$text" /tmp/err && grep -q "^ *hint: " /tmp/err && ok "refused: $words" ||
        bad "refused: $words: exit $code, expected $expected and: $text" /tmp/err
}
