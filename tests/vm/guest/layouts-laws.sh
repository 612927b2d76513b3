# modules: raid10 ext4 xfs
# programs: fio:fio mdadm:mdadm mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs
# disk-size: 4G
# disk-iops: 300
#
# Stripe unit x offset x file system on disks of 300 operations a second: the ranking and
# the effects are those of the law of crossings, and fio finds the same on three cells.
. /lib/common.sh
. /lib/layouts.sh

plan 'size = "64M"
passes = 6
margin = "5%"' 'stripe-unit = ["16K", "64K", "256K"]
offset = ["63s", "1M"]
file-system = ["ext4", "xfs"]' 2s
watched --json lab run /tmp/plan.toml --destroy $all
code=$?
mv /tmp/answer /tmp/answer.json
[ $code = 0 ] || bad "lab run: exit $code" /tmp/answer.err
nothing_is_left "after the end"
values /tmp/answer.json > /tmp/values

# Score of a layout, of all that have these levels.
score() { # STRIPE_UNIT OFFSET
    awk -v unit="$1" -v offset="$2" '
        { split($1, part, "."); of = part[1] "." part[2] }
        $1 ~ /^layouts\.[0-9]+\.layout\.stripe-unit$/ { units[of] = $2 }
        $1 ~ /^layouts\.[0-9]+\.layout\.offset$/ { offsets[of] = $2 }
        $1 ~ /^layouts\.[0-9]+\.score$/ { scores[of] = $2 }
        END { for (of in scores) if (units[of] == unit && offsets[of] == offset) { sum += scores[of]; n++ }
            print n ? sum / n : 0 }' /tmp/values
}

for unit in 16K 64K 256K; do
    gain=$(echo "$(score $unit 63s) $(score $unit 1M)" | awk '{ print ($1 > 0) ? 100 * ($2 / $1 - 1) : -100 }')
    # 8K crosses a unit of U at s/U: 50, 12.5 and 3.1 %; idle disks take a part of it.
    case $unit in
    16K) low=25 high=58 ;;
    64K) low=5 high=18 ;;
    256K) low=-4 high=9 ;;
    esac
    echo "$gain $low $high" | awk '{ exit !($1 >= $2 && $1 <= $3) }' &&
        ok "1M gains $gain % over 63s at $unit" || bad "1M gains $gain % over 63s at $unit, expected $low to $high %" /tmp/answer.json
done

# The same by hand and by fio, on three of the cells.
by_fio() { # STRIPE_UNIT OFFSET
    mdadm --create /dev/md0 --run --assume-clean --metadata=1.2 --bitmap=none --data-offset=1024K --level=10 \
        --chunk="$1" --raid-devices=4 /dev/vda /dev/vdb /dev/vdc /dev/vdd > /tmp/mdadm 2>&1 || failure mdadm /tmp/mdadm
    sw partition /dev/md0 --align "$2" --yes --destroy md0 > /tmp/plan 2>&1 || failure partition /tmp/plan
    sw format /dev/md0p1 --fs ext4 --allocation-unit 4K --stripe-unit "$1" --stripe-disks 2 --yes --destroy md0p1 > /tmp/plan 2>&1 || failure format /tmp/plan
    mount /dev/md0p1 /mnt
    fio --name=fill --filename=/mnt/file --rw=write --bs=1M --size=64M --direct=1 --output=/dev/null
    fio --name=x --filename=/mnt/file --rw=randread --bs=8k --size=64M --direct=1 --ioengine=io_uring --iodepth=16 --eta=never \
        --norandommap --time_based --runtime=10 --output=/tmp/fio.txt --output-format=json || failure fio /tmp/fio.txt
    umount /mnt
    mdadm --stop /dev/md0 > /dev/null 2>&1
    for disk in vda vdb vdc vdd; do mdadm --zero-superblock /dev/$disk; done
    fio_iops=$(awk '$1 == "\"read\"" { on = 1 } on && $1 == "\"iops\"" { gsub(/,/, "", $3); print $3; exit }' /tmp/fio.txt)
}
by_fio 16K 63s
first=$fio_iops
by_fio 16K 1M
second=$fio_iops
by_fio 64K 1M
third=$fio_iops
echo "fio: $first IOPS at 16K and 63s, $second at 16K and 1M, $third at 64K and 1M"
echo "$first $second $third" | awk '{ exit !($2 > 1.2 * $1 && $3 > 0.9 * $2 && $3 < 1.12 * $2) }' &&
    ok "fio ranks three of them the same way" || bad "fio ranks them otherwise"
