#!/usr/bin/env bash
# Prints an image as the text of `fuzz/disks`: its size, then each piece of 32
# bytes that is not all zeros, in its first and last KiB.
# usage: fuzz/capture-disk.sh IMAGE [KIB] > fuzz/disks/NAME.txt
set -euo pipefail
image=$1
edge=$((${2:-72} * 1024))
size=$(stat --format=%s "$image")
echo "size $size"
pieces() {
    od --address-radix=d --output-duplicates --format=x1 --width=32 --skip-bytes="$1" --read-bytes="$2" "$image" |
        awk 'NF > 1 { place = $1 + 0; $1 = ""; gsub(/ /, ""); if ($0 !~ /^0*$/) print place, $0 }'
}
if [ "$size" -le $((2 * edge)) ]; then
    pieces 0 "$size"
else
    pieces 0 "$edge"
    pieces $(((size - edge) / 32 * 32)) "$edge"
fi
