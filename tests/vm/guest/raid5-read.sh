# RAID 5, 16K chunk: 8K reads that start at 63 sectors cross a chunk every second time.
. /common.sh
array 5 16
for round in 1 2 3; do
    for offset in 63s 1M; do
        place $offset
        measure raid5-read $offset read 8
        look $round $offset 16384
    done
done
cause read "touches two disks"
