# Makes the initial file system of the guests, sourced by `run`: busybox, the kernel's
# modules, the programs that the scenarios name, and the program under test.

tools() {
    local scenario program
    need qemu-system-x86_64 qemu-system-x86
    need busybox busybox-static
    need cpio cpio
    need modprobe kmod
    need xz xz-utils
    for scenario in "${scenarios[@]}"; do
        for program in $(header programs "$scenario") $(header host-programs "$scenario"); do
            need "${program%:*}" "${program#*:}"
        done
    done
}

# Copies a program and the libraries that it is linked with.
put_program() { # PROGRAM TREE [NAME]
    local library
    install --mode=755 "$1" "$2/usr/bin/${3:-$(basename "$1")}"
    { ldd "$1" 2> /dev/null || true; } | grep --only-matching '/[^ ]*' | while read -r library; do
        mkdir -p "$2$(dirname "$library")"
        cp --no-clobber --dereference "$library" "$2$library"
    done
}

# Programs of the project's own tests, from where cargo leaves them beside the binary.
put_examples() { # TREE EXAMPLE...
    local tree=$1 example file
    shift
    for example in "$@"; do
        file=$(dirname "$binary")/examples/$example
        if [ ! -x "$file" ]; then
            echo "error: there is no $file" >&2
            echo "hint: \`cargo build --release --package stripewise-io-engine --features conformance --example $example\` first" >&2
            exit 2
        fi
        put_program "$file" "$tree"
        strip "$tree/usr/bin/$example" 2> /dev/null || true
    done
}

# Copies a module and those that it needs, in the order in which they load. One that
# this kernel has built in or not at all is left out; the scenario will say.
put_modules() { # TREE MODULE...
    local tree=$1 module file name
    shift
    for module in "$@"; do
        modprobe --dirname "$root" --set-version "$release" --show-depends "$module" 2> /dev/null || true
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' > "$work/modules"
    : > "$tree/modules/order"
    while read -r file; do
        name=$(basename "$file")
        case $name in
        *.xz) xz --decompress --stdout "$file" > "$tree/modules/${name%.xz}" ;;
        *.zst) zstd --quiet --decompress --stdout "$file" > "$tree/modules/${name%.zst}" ;;
        *) cp "$file" "$tree/modules/" ;;
        esac
        name=${name%.xz}
        echo "${name%.zst}" >> "$tree/modules/order"
    done < "$work/modules"
}

# One for all scenarios that were named.
initial_file_system() {
    local tree=$work/tree modules=(virtio_pci virtio_blk) programs=() scenario program
    rm -rf "$tree"
    mkdir -p "$tree"/{bin,proc,sys,dev,modules,lib,lib64,usr/bin,tmp,etc,run,mnt}
    cp "$(command -v busybox)" "$tree/bin/busybox"
    "$tree/bin/busybox" --install -s "$tree/bin"
    # The names are links to where busybox stood; in the guest that is /bin.
    find "$tree/bin" -type l -exec ln -sf busybox {} \;
    for scenario in "${scenarios[@]}"; do
        # shellcheck disable=SC2207
        modules+=($(header modules "$scenario"))
        for program in $(header programs "$scenario"); do
            programs+=("$(command -v "${program%:*}")")
        done
    done
    put_modules "$tree" "${modules[@]}"
    for program in "${programs[@]}"; do
        put_program "$program" "$tree"
    done
    for scenario in "${scenarios[@]}"; do
        # shellcheck disable=SC2046
        put_examples "$tree" $(header examples "$scenario")
    done
    put_program "$binary" "$tree" stripewise
    # Debugging information only makes the guest start later.
    strip "$tree/usr/bin/stripewise" 2> /dev/null || true
    install --mode=755 "$here/init" "$tree/init"
    cp -r "$here"/guest/* "$tree/"
    # Not compressed: unpacking under emulation costs more than it saves.
    (cd "$tree" && find . | cpio --quiet -o -H newc) > "$work/initrd"
}
