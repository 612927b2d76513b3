# The power of the whole machine, sourced by `run`: QEMU is killed, and with it the nbdkit
# processes that its disks are, whose volatile caches hold what was not flushed. A scenario
# asks for it in its first lines:
#
#   # power-losses: NUMBER
#
# Then its disks have such caches, and there is a fifth one, /dev/vde of 64 MiB, to keep
# files on. A line `host: power` ends the machine within a second; it is booted again with
# what its disks kept, so many times. Which time it is stands on the kernel's command line:
# `boot=0` and up.

# Starts the disks; process ids are left in FILES.powered, and a socket for each disk.
power_on() { # FILES DISKS
    local index
    : > "$1.powered"
    for index in $(seq 1 "$2"); do
        rm -f "$1.nbd$index"
        nbdkit --foreground --exit-with-parent --unix "$1.nbd$index" --filter=cache \
            file "$1.disk$index" cache=writeback < /dev/null > "$1.nbdkit$index" 2>&1 &
        echo $! >> "$1.powered"
        # Its end is no news.
        disown
    done
    for index in $(seq 1 "$2"); do
        while [ ! -S "$1.nbd$index" ]; do
            kill -0 "$(sed -n "${index}p" "$1.powered")"
            sleep 0.1
        done
    done
}

# Nothing is flushed on the way: QEMU first, which would flush at an orderly end.
power_off() { # FILES [PID OF QEMU]
    local disk
    [ -z "${2:-}" ] || kill -KILL "$2" 2> /dev/null || true
    while read -r disk; do
        kill -KILL "$disk" 2> /dev/null || true
    done < "$1.powered"
    : > "$1.powered"
}
