#!/bin/sh
# Copies what stripewise-disk-inspect reads of this machine into a directory,
# fit for `System::at`: sh capture.sh DIRECTORY. Reads only; needs no root,
# but tells more with it. Serial numbers and the host name are blanked unless
# KEEP_NAMES=1. Of the devices' own bytes only partition tables and superblocks
# are copied, as sparse files; of encrypted volumes nothing, and tables of
# dm-crypt without their keys. With a second argument everything is also written
# as one file, in the format of tests/trees/*.tree.
set -u
out=${1:?usage: capture.sh DIRECTORY [FILE.tree]}
one=${2:-}
mkdir -p "$out"

# One file, by absolute path. Kernel files have no length, so read them.
copy() {
    [ -f "$1" ] && [ -r "$1" ] || return 0
    [ -d "$out${1%/*}" ] || mkdir -p "$out${1%/*}"
    cat "$1" >"$out$1" 2>/dev/null || rm -f "$out$1"
}

for file in /proc/self/mountinfo /proc/self/cgroup /proc/1/cgroup /proc/swaps \
    /proc/cpuinfo /proc/meminfo /proc/stat /proc/sys/kernel/osrelease \
    /sys/devices/system/cpu/online /sys/hypervisor/type /run/systemd/container \
    /sys/devices/system/clocksource/clocksource0/available_clocksource \
    /sys/firmware/acpi/platform_profile /sys/module/zfs/version; do
    copy "$file"
done
for file in /sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count \
    /sys/devices/system/cpu/cpu[0-9]*/topology/core_cpus_list \
    /sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id \
    /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor \
    /sys/class/power_supply/*/type /sys/class/power_supply/*/online; do
    copy "$file"
done
for name in sys_vendor product_name product_version bios_vendor; do
    copy "/sys/class/dmi/id/$name"
done
mkdir -p "$out/proc/self"
grep -E '^Cpus_allowed_list' /proc/self/status >"$out/proc/self/status"
mkdir -p "$out/proc/sys/kernel"
if [ "${KEEP_NAMES:-0}" = 1 ]; then
    cat /proc/sys/kernel/hostname >"$out/proc/sys/kernel/hostname"
else
    echo captured >"$out/proc/sys/kernel/hostname"
fi
for mark in /.dockerenv /run/.containerenv; do
    [ -e "$mark" ] && mkdir -p "$out$(dirname "$mark")" && : >"$out$mark"
done

# Control groups: every file of ours and of the groups above that we read.
awk '$0 ~ / - cgroup2? / { print $5 }' /proc/self/mountinfo | while read -r mount; do
    cut -d: -f3 /proc/self/cgroup | sort -u | while read -r group; do
        while :; do
            for file in cpu.max cpu.stat cpu.cfs_quota_us cpu.cfs_period_us io.max \
                memory.max memory.limit_in_bytes blkio.throttle.read_bps_device \
                blkio.throttle.write_bps_device blkio.throttle.read_iops_device \
                blkio.throttle.write_iops_device; do
                copy "$mount${group%/}/$file"
            done
            [ "$group" = / ] || [ -z "$group" ] && break
            group=$(dirname "$group")
        done
    done
done

# Bytes of a device that tell what it is: the first 68 KiB less what lies between
# 4 and 64 KiB, and the last 128 KiB less data (tables and md superblocks are in
# the last 33 sectors and at 64 and 8 KiB before the end). LVM's text is in the
# first MiB.
bytes() {
    node=/dev/$(echo "$1" | tr '!' '/')
    [ -b "$node" ] && [ -r "$node" ] || return 0
    # The mode may allow what the system does not.
    head -c 1 "$node" >/dev/null 2>&1 || return 0
    [ "$(head -c 4 "$node" 2>/dev/null | tr -d '\0')" = LUKS ] && return 0
    sectors=$(cat "$2/size")
    [ "$sectors" -ge 2048 ] || return 0
    copy_to=$out$node
    mkdir -p "$(dirname "$copy_to")"
    : >"$copy_to"
    truncate -s $((sectors * 512)) "$copy_to"
    piece() { dd if="$node" of="$copy_to" bs=512 skip="$1" seek="$1" count="$2" conv=notrunc,sparse status=none; }
    [ -e "$2/partition" ] || piece 0 48
    piece 0 9
    piece 128 8
    piece $((sectors - 48)) 48
    piece $(((sectors - 16) / 8 * 8)) 8
    piece $((sectors / 128 * 128 - 128)) 8
    # Never the table's unused space: a GPT or LVM may have text here.
    if dd if="$node" bs=512 count=4 status=none | grep -q -a LABELONE; then piece 0 2048; fi
}

# Block devices: the files that are read, then the links that tie them together.
for link in /sys/class/block/*; do
    [ -e "$link" ] || continue
    real=$(readlink -f "$link")
    for name in dev size ro stat inflight partition start alignment_offset \
        loop/backing_file loop/offset loop/dio dm/name dm/uuid \
        md/level md/chunk_size md/raid_disks md/array_state md/sync_action \
        md/layout md/metadata_version queue/chunk_sectors \
        queue/logical_block_size queue/physical_block_size queue/rotational \
        queue/scheduler queue/nr_requests queue/max_sectors_kb queue/write_cache \
        queue/fua queue/zoned queue/io_poll queue/atomic_write_unit_min_bytes \
        queue/atomic_write_unit_max_bytes queue/optimal_io_size queue/minimum_io_size queue/iostats; do
        copy "$real/$name"
    done
    # The device is a link to somewhere else; its files are kept here.
    for name in model vendor name queue_depth rev firmware_rev fwrev transport; do
        copy "$real/device/$name"
    done
    # How warm the drive is: `hwmonN` beside these, or below `hwmon`.
    for sensor in "$real"/device/hwmon[0-9]* "$real"/device/hwmon/hwmon*; do
        copy "$sensor/temp1_input"
    done
    for member in "$real"/md/dev-*; do
        copy "$member/slot"
        copy "$member/offset"
    done
    bytes "$(basename "$real")" "$real"
    for queue in "$real"/mq/[0-9]*; do
        [ -d "$queue" ] && mkdir -p "$out$queue" && : >"$out$queue/.keep"
    done
    for tie in "$real"/slaves/* "$real"/holders/*; do
        [ -L "$tie" ] || continue
        mkdir -p "$out$(dirname "$tie")"
        ln -sfn "$(readlink "$tie")" "$out$tie"
    done
    mkdir -p "$out/sys/class/block" "$out/sys/dev/block"
    ln -sfn "$(readlink "$link")" "$out$link"
    number=$(cat "$link/dev")
    ln -sfn "$(readlink "/sys/dev/block/$number")" "$out/sys/dev/block/$number"
done
for members in /sys/fs/btrfs/*/devices; do
    [ -d "$members" ] || continue
    mkdir -p "$out$members"
    for member in "$members"/*; do
        mkdir -p "$out$members/$(basename "$member")"
        : >"$out$members/$(basename "$member")/.keep"
    done
done

# Device mapper: `dmsetup table` blanks keys unless it is told not to.
if command -v dmsetup >/dev/null 2>&1; then
    mkdir -p "$out/run/stripewise"
    dmsetup table 2>/dev/null >"$out/run/stripewise/dmsetup-table" || :
fi
# What udev saw; it tells ordinary users types and file systems.
for data in /run/udev/data/b*; do
    [ -r "$data" ] || continue
    mkdir -p "$out/run/udev/data"
    if [ "${KEEP_NAMES:-0}" = 1 ]; then
        cat "$data" >"$out$data"
    else
        grep -E '^E:ID_(PART|FS_TYPE|FS_BLOCKSIZE|BUS|REVISION)' "$data" >"$out$data" || :
    fi
done

# One line a file, link or empty directory; bytes of devices as `@ OFFSET HEX`,
# 32 a line, zeros left out.
[ -n "$one" ] || exit 0
cd "$out" || exit 1
{
    echo "# Captured by tests/capture.sh on $(uname -sr)."
    find . -type l | sort | while read -r path; do
        echo "${path#./} -> $(readlink "$path")"
    done
    find . -type d -empty | sort | sed 's|^\./||; s|$|/|'
    find . -type f ! -path './dev/*' | sort | while read -r path; do
        printf '%s = ' "${path#./}"
        sed 's/\\/\\\\/g; s/\t/\\t/g' "$path" | awk '{ printf "%s\\n", $0 } END { print "" }'
    done
    find . -path './dev/*' -type f | sort | while read -r path; do
        echo "${path#./} @ size $(stat -c %s "$path")"
        # Only allocated pieces are looked at; a disk's rest is a hole.
        filefrag -s -v "$path" 2>/dev/null | awk -F'[ .:]+' '$2 ~ /^[0-9]+$/ { print $3, $7 }' |
            while read -r block count; do
                od -A d -t x1 -w32 -v -j $((block * 4096)) -N $((count * 4096)) "$path" |
                    awk -v path="${path#./}" 'NF > 1 && $0 !~ /^[0-9]+( 00)+$/ {
                        printf "%s @ %d ", path, $1
                        for (i = 2; i <= NF; i++) printf "%s", $i
                        print ""
                    }'
            done
    done
} >"$one.new" && mv "$one.new" "$OLDPWD/$one" 2>/dev/null || mv "$one.new" "$one"
