# Finds the kernel to boot, sourced by `run`. Sets `image` (its file), `release` (its
# name) and `root` (the folder above its lib/modules). Nothing is installed.

# The folder of a tree that was unpacked earlier.
unpacked() { # FOLDER
    image=$(ls "$1"/boot/vmlinuz-* 2> /dev/null | sort --version-sort | tail -n 1 || true)
    root=$1
    [ -n "$image" ]
}

# Unpacks packages into a folder and makes it one that modprobe can read. It has its
# name only when it is whole: who is killed in between leaves none.
unpack() { # FOLDER PACKAGE.deb...
    local tree=$1 part=$1.part package file
    shift
    rm -rf "$tree" "$part"
    mkdir -p "$part"
    for package in "$@"; do
        dpkg -x "$package" "$part"
    done
    # Newer packages leave out the links of a merged /usr.
    [ -e "$part/lib" ] || ln -s usr/lib "$part/lib"
    # And the newest have the kernel among its modules.
    for file in "$part"/lib/modules/*/vmlinuz; do
        [ -e "$file" ] || continue
        mkdir -p "$part/boot"
        ln "$file" "$part/boot/vmlinuz-$(basename "$(dirname "$file")")"
    done
    if ! unpacked "$part" || ! depmod --basedir "$part" "${image##*/vmlinuz-}"; then
        rm -rf "$part"
        return 1
    fi
    mv "$part" "$tree"
    unpacked "$tree"
}

# The installed cloud kernel, else the one that this Debian would install.
default_kernel() {
    local package
    image=$(ls /boot/vmlinuz-*-cloud-amd64 2> /dev/null | sort --version-sort | tail -n 1 || true)
    root=/
    [ -n "$image" ] && return
    unpacked "$work/kernel" && return
    need apt-get apt
    echo "fetching a cloud kernel into $work/kernel" >&2
    package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image-/ { print $2; exit }')
    (cd "$work" && apt-get download --quiet --quiet "$package")
    unpack "$work/kernel" "$work/${package}"_*.deb
    rm "$work/${package}"_*.deb
}

# apt with lists and caches of our own, and with the other releases of Debian from
# where this machine gets its own.
further_apt() { # COMMAND [ARGUMENT...]
    local command=$1
    shift
    "$command" -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=- \
        -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" \
        -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
        -o APT::Sandbox::User=root "$@"
}

further_lists() {
    local uri suite
    [ -z "$(find "$work/apt/lists" -name '*_Packages*' -mtime -1 2> /dev/null)" ] || return 0
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    apt-get indextargets --format '$(REPO_URI) $(LABEL)' 'Created-By: Packages' |
        awk '$2 == "Debian" || $1 ~ /\/debian\/$/ { print $1 }' | sort --unique | while read -r uri; do
        for suite in bullseye bookworm bookworm-backports trixie forky sid; do
            echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $suite main"
        done
    done > "$work/apt/sources.list"
    [ -s "$work/apt/sources.list" ] || return 1
    # A release that has gone from there is no reason to do without the others.
    further_apt apt-get update --quiet --quiet > "$work/apt/log" 2>&1 || true
}

# The kernel of another Debian: `5.10`, `6.12`, a package's name, or `newest`.
named_kernel() { # NAME
    local tree=$work/kernels/$1 wanted package part parts code=0
    unpacked "$tree" && return
    command -v apt-get > /dev/null && further_lists || return 1
    case $1 in
    newest) wanted='linux-image-[0-9]' ;;
    linux-image-*) wanted="$1\$" ;;
    *) wanted="linux-image-${1//./\\.}[.0-9]" ;;
    esac
    package=$(further_apt apt-cache search --names-only '^linux-image-[0-9].*-cloud-amd64$' |
        awk '{ print $1 }' | { grep "^$wanted" || true; } | sort --version-sort | tail -n 1)
    [ -n "$package" ] || return 1
    echo "fetching $package into $tree" >&2
    parts=$work/kernels/parts
    rm -rf "$parts"
    mkdir -p "$parts"
    # Kernel and modules may be in packages of their own.
    further_apt apt-cache depends "$package" |
        awk -v all="$package" 'BEGIN { print all; sub(/^linux-image/, "", all) }
            $1 == "Depends:" && $2 ~ /^linux-/ && index($2, all) { print $2 }' |
        while read -r part; do
            (cd "$parts" && further_apt apt-get download --quiet --quiet "$part" < /dev/null)
        done
    unpack "$tree" "$parts"/*.deb || code=1
    rm -rf "$parts"
    return $code
}

# Any of them: a file (a kernel, or its package), a name, or nothing for the default.
find_kernel() { # [FILE|NAME]
    case $1 in
    "") default_kernel ;;
    *.deb) unpack "$work/kernels/$(basename "$1" .deb)" "$1" ;;
    /*)
        image=$1
        root=$(dirname "$(dirname "$1")")
        [ -e "$image" ]
        ;;
    *) named_kernel "$1" ;;
    esac || return 1
    release=${image##*/vmlinuz-}
}
