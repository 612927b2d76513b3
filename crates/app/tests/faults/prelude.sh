# What the cells of the table of faults share. `$S` is the program and `$OLD` a result of
# SQLIO. Each cell starts in an empty directory of its own, in a mount namespace of its own.
# Files that somebody above left open count against limits.
for file in 3 4 5 6 7 8 9; do eval "exec $file>&-"; done

# 2 to 4 MB of address space more than the program takes to start: how much that is depends on
# how it was built.
short_of_memory() {
    kib=40000
    "$S" --version >/dev/null || return 126
    until sh -c 'ulimit -v $0; "$1" --version; exit $?' $kib "$S" >/dev/null 2>&1; do
        kib=$((kib + 2000))
    done
    ulimit -v $((kib + 2000))
}

quick="--busy-ok --size 8M --explain"
bench() { target=$1; shift; "$S" bench "$target" --series ${series:-random-read} --step 100ms --time 2s --no-report $quick "$@"; }
run() { target=$1; shift; "$S" run "$target" --duration ${time:-300ms} $quick "$@"; }
align() { target=$1; shift; "$S" align "$target" --offsets 0,512 --anyway --blocks 10 --step ${time:-50ms} --time 20s ${kind:---read} $quick "$@"; }
lab() { plan "$1"; shift; "$S" lab run plan.toml --busy-ok --explain "$@"; }
check() { target=$1; shift; "$S" check "$target" --require "iops>=1" --duration ${time:-200ms} $quick "$@"; }
verify() { target=$1; shift; "$S" verify "$target" --duration ${time:-500ms} --threads 1 $quick "$@"; }
profile() { target=$1; shift; "$S" profile "$target" --time ${time:-500ms} --places ${places:-16} --busy-ok "$@"; }
import() { [ -e old.txt ] || cp "$OLD" old.txt; file=${1:-old.txt}; shift; "$S" import "$file" "$@"; }
partition() { device=$1; shift; "$S" partition "$device" --align 1M --yes --destroy "${device##*/}" "$@"; }
format() { device=$1; shift; "$S" format "$device" --fs ext4 --allocation-unit 4K --yes --destroy "${device##*/}" "$@"; }
# A server until it says where it is, or has failed.
serve() {
    "$S" serve --port 0 "$@" >said 2>&1 &
    server=$!
    until grep -q http:// said || ! kill -0 "$server" 2>/dev/null; do sleep 0.05; done
    kill -TERM "$server" 2>/dev/null
    wait "$server"
    code=$?
    cat said >&2
    return $code
}
plan() {
    cat >plan.toml <<PLAN
target = "$1"
factor = "outstanding"
levels = ["1", "4"]
blocks = 10
[defaults]
duration = "${time:-50ms}"
size = "8M"
[[cell]]
name = "reads"
PLAN
}

# Places.
data() { head -c 16M /dev/urandom >"$1"; }
small() { mkdir -p v && mount -t tmpfs -o size="$1" none v; }
full() { small 1M && head -c 2M /dev/zero >v/filled 2>/dev/null; }
device() {
    head -c 64M /dev/urandom >"${1:-img}" 2>/dev/null
    truncate -s 64M "${1:-img}"
    L=$(losetup --direct-io=on -f --show "${1:-img}" 2>/dev/null || losetup -f --show "${1:-img}") || exit 99
    trap 'partx -d "$L" 2>/dev/null; losetup -d "$L"' EXIT
}
# Bytes of the device behind its first MiB cannot be read or written any more.
broken() { device && truncate -s 1M img; }
read_only() { device && losetup -d "$L" && L=$(losetup -r -f --show img); }
folder() { device && mkfs.ext4 -q -F "$L" && mkdir -p v && mount "$L" v; }

# Removes a file a while after the program has begun.
removed_later() {
    (until [ -e .local/share/stripewise/stripewise.db ]; do sleep 0.05; done; sleep 1; rm "$1") &
}

# Accidents. The program is a child of the function that runs in the background.
# It is 0.3 s since it began to measure.
started() {
    "$@" 2>said &
    shell=$!
    until grep -q '^Measuring\|^Checking\|^Working' said || ! kill -0 "$shell" 2>/dev/null; do
        sleep 0.02
    done
    sleep 0.3
    child=$(pgrep -P "$shell" -f stripewise || echo "$shell")
}
ended() {
    wait "$shell" 2>/dev/null
    code=$?
    cat said >&2
    return $code
}
paused() { started "$@"; kill -STOP "$child"; sleep 0.6; kill -CONT "$child"; ended; }
killed() {
    started "$@"
    kill -KILL "$child"
    ended
    code=$?
    "$S" run sim:nvme --duration 1ms >/dev/null
    return $code
}
# A server that is killed leaves its token behind; the next one takes its place.
serve_killed() {
    "$S" serve --port 0 >said 2>&1 &
    server=$!
    until grep -q http:// said || ! kill -0 "$server" 2>/dev/null; do sleep 0.05; done
    kill -KILL "$server"
    wait "$server" 2>/dev/null
}
