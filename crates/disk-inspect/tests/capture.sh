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
    mkdir -p "$out$(dirname "$1")"
    timeout 2 head -c 1048576 "$1" >"$out$1" 2>/dev/null || rm -f "$out$1"
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

# Block devices: files two levels deep, then the links that tie them together.
for link in /sys/class/block/*; do
    [ -e "$link" ] || continue
    real=$(readlink -f "$link")
    for file in "$real"/* "$real"/queue/* "$real"/loop/* "$real"/md/* "$real"/dm/* \
        "$real"/device/model "$real"/device/vendor "$real"/device/name \
        "$real"/device/queue_depth; do
        case $file in
        */uevent | */serial | */wwid) continue ;;
        */device/*) # The device is a link to somewhere else; keep it as files here.
            [ -f "$file" ] && mkdir -p "$out$real/device" &&
                cat "$file" >"$out$real/device/$(basename "$file")" 2>/dev/null
            ;;
        *) copy "$file" ;;
        esac
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
