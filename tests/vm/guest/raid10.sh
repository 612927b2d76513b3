# RAID 10, 64K chunk: 8K operations that start at 63 sectors cross a chunk once in
# eight; of two copies md reads either one.
. /common.sh
array 10 64
for round in 1 2; do
    for offset in 63s 1M; do
        place $offset
        measure raid10-write $offset write 6
        measure raid10-read $offset read 6
        look $round $offset 65536
    done
done
cause write "touches two disks"
