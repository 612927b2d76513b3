# modules: raid0 raid1 raid10 raid456 ext4 dm-mod dm-multipath dm-service-time dm-thin-pool dm-crypt xts aes_generic algif_skcipher
# programs: mdadm:mdadm mkfs.ext4:e2fsprogs dmsetup:dmsetup lvm:lvm2 cryptsetup:cryptsetup
#
# Device mapper and md's other metadata: what `disks` asks of the kernel (tables of
# targets, data offsets of members) and what is refused. Nothing is timed.
. /lib/common.sh
. /lib/mapped.sh
. /lib/arrays.sh
mkdir -p /run/lock/lvm /etc/lvm
# There is no udev that would tell LVM of devices.
settings='activation{udev_sync=0 udev_rules=0} devices{obtain_device_list_from_udev=0 use_devicesfile=0} global{event_activation=0}'
logical() { lvm "$@" --config "$settings" > /tmp/lvm 2>&1 || failure "lvm $1" /tmp/lvm; }

# What `disks` says of the first volume, and where it starts on its first disk.
expect() { # WORDS DEVICE EXPECTED
    stripewise --json --store $store disks "$2" > /tmp/disks.json 2> /tmp/disks.err
    code=$?
    place=$(awk '/"places":/ { on = 1 } on && $1 == "\"offset_bytes\":" { gsub(/,/, "", $2); print $2; exit }' /tmp/disks.json)
    found="$(volume file_system) $(volume offset_bytes) $(volume verdict) $(volume stripe_unit_bytes) at $place exit $code"
    if [ "$found" = "$3" ]; then
        ok "$1: $found"
    else
        bad "$1: $found, expected $3" /tmp/disks.err
    fi
}
refused() { # WORDS COMMAND...
    words=$1
    shift
    stripewise --quiet --store $store "$@" > /tmp/out 2> /tmp/err
    code=$?
    if [ $code = 3 ] && grep -q "$words" /tmp/err; then
        ok "refused: $words"
    else
        bad "$*: exit $code, expected 3 and: $words" /tmp/err
    fi
}
create() { # ARRAY LEVEL CHUNK METADATA DISK...
    array=$1 level=$2 chunk=$3 metadata=$4
    shift 4
    # RAID 0 has nothing that could be unclean, and mdadm refuses to be told.
    [ "$level" = 0 ] && clean= || clean="--assume-clean --bitmap=none"
    mdadm --create "$array" --run $clean --metadata="$metadata" --level="$level" \
        ${chunk:+--chunk=$chunk} --raid-devices=$# "$@" > /tmp/mdadm 2>&1 ||
        failure "mdadm $level $metadata" /tmp/mdadm
}
# LVM stripes of 16K over md chunks of 64K: the second array's first byte is byte
# 16K of the volume, and no operation pays.
create /dev/md0 0 64 1.2 /dev/vda /dev/vdb
create /dev/md1 0 64 1.2 /dev/vdc /dev/vdd
logical pvcreate -y /dev/md0 /dev/md1
logical vgcreate vg /dev/md0 /dev/md1
logical lvcreate -y -Zn -Wn -i2 -I16k -L 64M -n striped vg
logical lvcreate -y -Zn -Wn -L 32M -n linear vg
ext4 /dev/mapper/vg-striped
ext4 /dev/mapper/vg-linear
expect "LVM striped over md" /dev/mapper/vg-striped "ext4 0 aligned 16384 at 1572864 exit 0"
expect "LVM linear on md" /dev/mapper/vg-linear "ext4 34603008 aligned 65536 at 18350080 exit 0"
refused "md0 is held by dm-0" partition /dev/md0 --align 1M --yes --destroy md0
refused "vda is held by md0" partition /dev/vda --align 1M --yes --destroy vda
mount /dev/mapper/vg-linear /mnt
refused "is mounted at /mnt" format /dev/dm-1 --fs ext4 --allocation-unit 4K --yes --destroy dm-1
umount /mnt
logical vgremove -ff -y vg
mdadm --stop /dev/md0 /dev/md1 2> /dev/null
blank /dev/vd[a-d]

mapped shifted "0 200000 linear /dev/vda 63"
ext4 /dev/dm-0
expect "linear at 63 sectors" /dev/dm-0 "ext4 32256 suspect null at 32256 exit 1"
gone shifted
mapped paths "0 $(cat /sys/block/vdb/size) multipath 0 0 1 1 service-time 0 2 2 /dev/vdb 1 1 /dev/vdc 1 1"
mapped volume "0 100000 linear /dev/dm-0 2047"
ext4 /dev/dm-1
expect "a partition of a multipath disk" /dev/dm-1 "ext4 1048064 suspect null at 1048064 exit 1"
stripewise --store $store disks /dev/dm-0 > /tmp/out 2>&1
if grep -q "multipath at 0, policy service-time: vdb from byte 0, vdc from byte 0" /tmp/out; then
    ok "paths and policy of multipath"
else
    bad "paths and policy of multipath" /tmp/out
fi
gone volume
gone paths
blank /dev/vd[a-d]
echo pass | cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 /dev/vdb - > /tmp/luks 2>&1
echo pass | cryptsetup open /dev/vdb secret --key-file=- >> /tmp/luks 2>&1
ext4 /dev/mapper/secret
expect "dm-crypt" /dev/mapper/secret "ext4 16777216 unknown-stripe-unit null at 16777216 exit 0"
cryptsetup close secret
blank /dev/vd[a-d]
mapped pool "0 100000 thin-pool /dev/vdc /dev/vdd 128 0"
dmsetup message pool 0 "create_thin 0"
mapped thin "0 65536 thin /dev/dm-0 0"
ext4 /dev/dm-1
expect "a thin volume, whose place nobody knows" /dev/dm-1 "ext4 0 unknown-stripe-unit null at 0 exit 0"
gone thin
gone pool
blank /dev/vd[a-d]

# Superblocks at the end (0.90, 1.0) and at the start (1.1, 1.2) of members.
for metadata in 0.90 1.0 1.1 1.2; do
    case $metadata in
    0.90 | 1.0) data=0 ;;
    *) data=1048576 ;;
    esac
    for level in 1 5 6 10; do
        case $level in
        1) disks="/dev/vda /dev/vdb" chunk= answer="ext4 $((data + 32256)) suspect null at $((data + 32256)) exit 1" ;;
        5) disks="/dev/vda /dev/vdb /dev/vdc" chunk=64 answer="ext4 32256 splits-above 65536 at $((data + 32256)) exit 1" ;;
        6) disks="/dev/vda /dev/vdb /dev/vdc /dev/vdd" chunk=64 answer="ext4 32256 splits-above 65536 at $((data + 65536)) exit 1" ;;
        10) disks="/dev/vda /dev/vdb /dev/vdc /dev/vdd" chunk=64 answer="ext4 32256 splits-above 65536 at $((data + 32256)) exit 1" ;;
        esac
        create /dev/md0 $level "$chunk" $metadata $disks
        place 63s > /tmp/placed
        ext4 /dev/md0p1
        expect "md $level, metadata $metadata" /dev/md0p1 "$answer"
        # A member with its superblock at the end seems to have the array's table.
        expect "a member of it" /dev/vda "$answer"
        mdadm --stop /dev/md0 2> /dev/null
        blank $disks
    done
done
