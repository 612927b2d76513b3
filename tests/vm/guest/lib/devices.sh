# Mapped devices and an array, one after the other; each is in $node, $kernel names it.
sectors=819200
key=$(printf '%064d' 0)

linear() {
    mapped linear "0 $sectors linear /dev/vda 2048"
    "$@" "dm-linear"
    gone linear
}
crypt() {
    mapped crypt "0 $sectors crypt aes-xts-plain64 $key 0 /dev/vda 0"
    "$@" "dm-crypt"
    gone crypt
}
thin() {
    dd if=/dev/zero of=/dev/vdd bs=1M count=1 2> /dev/null
    mapped pool "0 $sectors thin-pool /dev/vdd /dev/vdc 128 0"
    dmsetup message pool 0 "create_thin 0"
    mapped thin "0 $sectors thin $node 0"
    "$@" "dm-thin"
    gone thin pool
}
snapshot() {
    mapped snapshot "0 $sectors snapshot /dev/vda /dev/vdb N 8"
    "$@" "dm-snapshot"
    gone snapshot
}
delay() {
    mapped delay "0 $sectors delay /dev/vda 0 1"
    "$@" "dm-delay"
    gone delay
}
flakey() { # which does not fail for as long as this takes
    mapped flakey "0 $sectors flakey /dev/vda 0 100000 0"
    "$@" "dm-flakey"
    gone flakey
}
raid() {
    array 10 64
    node=/dev/md0 kernel=md0
    "$@" "md RAID 10"
    stop
}

# What cannot be read says so.
broken() {
    mapped broken "0 $sectors error"
    whole doctor $node > /tmp/out 2>&1
    code=$?
    [ $code = 3 ] && grep -q "one block through uring failed: read EIO" /tmp/out && ok "dm-error: doctor says EIO" ||
        bad "dm-error: doctor says EIO: exit $code" /tmp/out
    gone broken
}

# Runs a function on a file on a file system on the device.
above() { # FILE_SYSTEM COMMAND WORDS
    $1 $node
    mount -t "$1" $node /mnt || failure "mount of $1 on $3"
    dd if=/dev/urandom of=/mnt/file bs=1M count=4 2> /dev/null
    "$2" "$1 on $3" /mnt/file --overwrite
    umount /mnt
}
