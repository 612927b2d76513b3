#!/bin/sh
# Copies what stripewise-disk-inspect reads of this machine into a directory,
# fit for `System::at`: sh capture.sh DIRECTORY. Reads only; needs no root,
# but tells more with it. Serial numbers and the host name are blanked unless
# KEEP_NAMES=1.
set -u
out=${1:?usage: capture.sh DIRECTORY}
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

# Block devices: the files that are read, then the links that tie them together.
for link in /sys/class/block/*; do
    [ -e "$link" ] || continue
    real=$(readlink -f "$link")
    for name in dev size ro stat inflight partition start \
        loop/backing_file loop/offset loop/dio dm/name dm/uuid \
        md/level md/chunk_size md/raid_disks md/array_state md/sync_action \
        queue/logical_block_size queue/physical_block_size queue/rotational \
        queue/scheduler queue/nr_requests queue/max_sectors_kb queue/write_cache \
        queue/fua queue/zoned queue/optimal_io_size queue/minimum_io_size queue/iostats; do
        copy "$real/$name"
    done
    # The device is a link to somewhere else; its files are kept here.
    for name in model vendor name queue_depth; do
        copy "$real/device/$name"
    done
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
