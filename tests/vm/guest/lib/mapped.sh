# Devices of the device mapper. There is no udev that would make nodes or tell others.
mkdir -p /dev/mapper

mapped() { # NAME TABLE: makes it; its node is in $node, its kernel name in $kernel
    echo "$2" | dmsetup create "$1" --noudevrules --noudevsync || failure "dmsetup create $1"
    kernel=$(dmsetup info -c --noheadings -o blkdevname "$1")
    node=/dev/${kernel:-missing}
}
gone() { # NAME...
    for name in "$@"; do
        dmsetup remove --noudevrules --noudevsync "$name" || failure "dmsetup remove $name"
    done
}
