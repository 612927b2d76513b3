# host: listens
# host-programs: nbdkit:nbdkit
# volatile: 50 20
# modules: virtio_scsi sd_mod ext4
# programs: mkfs.ext4:e2fsprogs
#
# Fifty power cuts of disks that keep what was flushed: nothing that was promised may be
# missing, whatever makes it durable, raw and through file systems. Twenty of disks that lie:
# each is caught.
. /lib/common.sh
. /lib/cuts.sh

number=0
while [ $number -lt 50 ]; do
    case $((number % 10)) in
    0 | 1) cut $number flush raw ;;
    2) cut $number fdatasync raw ;;
    3) cut $number fua raw ;;
    4) cut $number dsync raw ;;
    5) cut $number flush raw buffered ;;
    6) cut $number flush ext4 ;;
    7) cut $number fdatasync ext4 buffered ;;
    8) cut $number fua ext4 ;;
    9) cut $number dsync ext4 ;;
    esac
    number=$((number + 1))
done
while [ $number -lt 70 ]; do
    case $((number % 4)) in
    0) cut $number flush raw ;;
    1) cut $number fdatasync raw ;;
    2) cut $number fua raw ;;
    3) cut $number dsync raw ;;
    esac
    number=$((number + 1))
done
