# RAID 5, 64K chunk, 8K writes: at 63 sectors partial pages of parity are read
# first; at 36K, a multiple of the page, they are not.
. /common.sh
array 5 64
for offset in 63s 36K 1M; do
    place $offset
    measure raid5-write $offset write 10
    case $offset in
    63s) look $offset 32256 splits-above 65536 1 ;;
    36K) look $offset 36864 splits-above 65536 1 ;;
    *) look $offset 1048576 aligned 65536 0 ;;
    esac
done
cause write "splits pages of parity"
