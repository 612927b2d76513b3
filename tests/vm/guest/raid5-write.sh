# RAID 5, 64K chunk, 8K writes: at 63 sectors partial pages of parity are read
# first; at 36K, a multiple of the page, they are not.
. /common.sh
array 5 64
for round in 1 2; do
    for offset in 63s 36K 1M; do
        place $offset
        measure raid5-write $offset write 7
        look $round $offset 65536
    done
done
cause write "splits pages of parity"
