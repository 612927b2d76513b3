# What every scenario's log is held to; -v scenario=NAME. The scenario's own file, if
# it has one, comes before this one and uses its functions.
function fail(text) { print "FAILED  " text; failed++ }
function pass(text) { print "ok      " text }
function check(ok, text) { if (ok) pass(text); else fail(text) }
$1 == "end" { ended = ($3 == "rc=0") }
$1 == "check" { ok = ($2 == "ok"); said++; $1 = ""; $2 = ""; check(ok, scenario ":" $0) }
$1 == "UNDECIDED" { sub(/^UNDECIDED */, ""); print "UNDECIDED " scenario ": " $0 }
$1 == "failure:" { fail(scenario ": " $0) }
/Kernel panic|^BUG:|Oops:/ { fail(scenario ": " $0) }
END {
    check(ended && said > 0, scenario " ran to its end")
    exit failed > 0
}
