# modules: dm-mod dm-crypt xts aes_generic algif_skcipher dm-thin-pool dm-snapshot dm-delay dm-flakey raid10 ext4 xfs
# programs: fio:fio dmsetup:dmsetup mdadm:mdadm mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs
# disk-size: 512M
#
# As `mapper`, everything on everything; takes its time.
. /lib/common.sh
. /lib/mapped.sh
. /lib/arrays.sh
. /lib/loads.sh
. /lib/devices.sh

everywhere() { # WORDS
    loads "$1" $node --destroy "$kernel"
    bench "$1" $node --destroy "$kernel"
    align "$1" $node --destroy "$kernel"
    doctor "$1" $node
    for system in ext4 xfs; do
        above $system file "$1"
    done
}
file() {
    loads "$@"
    bench "$@"
    align "$@"
    doctor "$1" "$2"
}
for device in linear crypt thin snapshot delay flakey raid; do
    $device everywhere
done
broken
