# RAID 5, 16K chunk: 8K reads that start at 63 sectors cross a chunk every second time.
. /common.sh
array 5 16
for offset in 63s 1M; do
    place $offset
    measure raid5-read $offset read 14
    case $offset in
    63s) look $offset 32256 splits-above 16384 1 ;;
    *) look $offset 1048576 aligned 16384 0 ;;
    esac
done
cause read "touches two disks"
