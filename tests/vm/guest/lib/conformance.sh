# The conformance suite of engines, on devices or on files of a file system.

conformance() { # ENGINE --destroy|--in PLACE...
    suite=$1
    /usr/bin/conformance "$@" > /tmp/out 2>&1
    code=$?
    passed=$(sed -n "s/^$suite: \([0-9]*\) passed.*/\1/p" /tmp/out)
    shift 2
    [ $code = 0 ] && [ "${passed:-0}" -ge 15 ] && ok "conformance of $suite on $*: $passed cases" ||
        bad "conformance of $suite on $*: exit $code, ${passed:-0} cases" /tmp/out
    grep '^skipped' /tmp/out
}
