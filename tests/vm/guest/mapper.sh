# modules: dm-mod dm-crypt xts aes_generic algif_skcipher dm-thin-pool dm-snapshot dm-delay dm-flakey raid10 ext4 xfs
# programs: fio:fio dmsetup:dmsetup mdadm:mdadm mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs
# disk-size: 512M
#
# Where people have disks: on mapped devices and arrays, and in files on file systems
# above them. Every way to do I/O works on each; nothing depends on speed. What every
# change has to pass; `mapper-all` does everything on everything.
. /lib/common.sh
. /lib/mapped.sh
. /lib/arrays.sh
. /lib/loads.sh
. /lib/devices.sh

# Those that make the kernel wait get the most.
thorough() { # WORDS
    loads "$1" $node --destroy "$kernel"
    align "$1" $node --destroy "$kernel"
    doctor "$1" $node
    above ext4 deep "$1"
}
deep() {
    loads "$@"
    bench "$@"
    doctor "$1" "$2"
}
brief() { # WORDS
    mixed "$1" $node uring direct --destroy "$kernel"
    mixed "$1" $node uring buffered --destroy "$kernel"
    mixed "$1" $node threads direct --destroy "$kernel"
}
with_xfs() { # WORDS
    brief "$1"
    above xfs content "$1"
}
crypt thorough
thin with_xfs
snapshot brief
delay brief
flakey brief
linear brief
raid with_xfs
broken
