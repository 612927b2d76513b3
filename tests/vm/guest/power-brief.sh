# host: listens
# host-programs: nbdkit:nbdkit
# volatile: 4 2
# modules: virtio_scsi sd_mod ext4
# programs: mkfs.ext4:e2fsprogs
#
# A minute's worth of `power`: what every change has to pass.
. /lib/common.sh
. /lib/cuts.sh
cut 0 flush raw
cut 1 fua raw
cut 2 flush ext4
cut 3 fdatasync raw buffered
cut 4 flush raw
cut 5 fua raw
