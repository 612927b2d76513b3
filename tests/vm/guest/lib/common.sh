# What all scenarios share. Lines that begin with `check ok`, `check failed` or
# `failure:` are judged on the host, as are `count` and `result`; everything else is
# for people.
export PATH=/bin:/usr/bin HOME=/tmp
store=/tmp/store.db

ok() { echo "check ok $*"; }
bad() { # WORDS [FILE...]: what failed, and what was printed
    echo "check failed $1"
    shift
    [ $# = 0 ] || cat "$@"
}
failure() { # WORDS [FILE...]
    echo "failure: $1"
    shift
    [ $# = 0 ] || cat "$@"
}

# Whether this kernel is that new.
since() { # MAJOR MINOR
    uname -r | awk -F'[.-]' -v major="$1" -v minor="$2" '{ exit !($1 > major || ($1 == major && $2 >= minor)) }'
}

sw() { stripewise --quiet --store $store "$@"; }
# All that is printed: with --quiet `doctor` and `disks` answer in a line.
whole() { stripewise --store $store "$@"; }

# The values of a pretty-printed JSON document as lines `jobs.0.outcome.iops 12.5`.
values() { awk -f /lib/values.awk "$1"; }
value() { values "$1" | awk -v name="$2" '$1 == name { print $2; exit }'; }

ext4() { mkfs.ext4 -q -F "$1" > /tmp/mkfs 2>&1 || failure "mkfs.ext4 of $1" /tmp/mkfs; }
xfs() { mkfs.xfs -q -f "$1" > /tmp/mkfs 2>&1 || failure "mkfs.xfs of $1" /tmp/mkfs; }
