# RAID 10, 64K chunk: 8K operations that start at 63 sectors cross a chunk once in eight.
. /common.sh
array 10 64
for offset in 63s 1M; do
    place $offset
    measure raid10-write $offset write 11
    measure raid10-read $offset read 11
    case $offset in
    63s) look $offset 32256 splits-above 65536 1 ;;
    *) look $offset 1048576 aligned 65536 0 ;;
    esac
done
cause write "touches two disks"
