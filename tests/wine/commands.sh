# shellcheck shell=bash
# Sourced by `run`: the commands that nothing before has tried. Each works under Wine or
# refuses with 3 and a sentence; at the end none is left.

sim='sim:raid10-10k'
mkdir -p "$drive_c/sw/pages"

json 1 align 'align on a simulated array' align sim:nvme --read --threads 1 --step 10ms --blocks 10
json 1 advise 'advise on a simulated array' advise "$sim?offset=63s" \
    --mix random-read=100 --vary offset=63s,1M
windows 0 'lab init' lab init 'C:\sw\plan.toml'
json 0 lab-plans 'lab plans' lab plans
windows 0 'a study' lab run study:van-dyke-2009
says 'a study says what it does not explain' 'The model does not explain this'
json 0 profile 'profile of a simulated disk' profile sim:disk-7k2 --places 16
json 0 profile-fill 'profile --fill of a test file' profile 'C:\sw' --fill --size 64M
json 0 probe-stripe 'probe stripe' probe stripe "$sim"
json 0 probe-flash 'probe flash' probe flash sim:nvme
json 0 verify 'verify writes and compares' verify 'C:\sw' --size 4M --duration 300ms --busy-ok
windows 0 'a run compares what it reads' run 'C:\sw' --size 4M $short --read-percent 50 --verify --busy-ok
says 'and says so' 'Verification: no fault'

json 1 qualify 'qualify on a simulated array' qualify sim:nvme --for etcd --quick
says 'and says why it is not met' 'only 300 seconds'
json 0 qualify-list 'the products' qualify --list
json 0 limits 'limits of a simulated array' limits sim:nvme
json 0 headroom 'headroom of a profile' headroom sim:nvme --load sqlserver-oltp --rate 200
printf '0,R,0,8\r\n1000,W,4096,8\r\n2000,R,8192,16\r\n' >trace.csv
json 0 observe 'a trace of another tool is observed' \
    observe --from trace.csv --columns time=us,op=R/W,offset=bytes,size=sectors
windows 3 'observe refuses the machine itself' observe --duration 1s

windows 0 'six runs' run "$sim" --outstanding 16 --repeat 6
json 0 baseline 'baseline set' baseline set last
json 1 check 'check finds what is slower' check "$sim?offset=63s"
windows 1 'check -q says it in a line' check -q "$sim?offset=63s"
says 'which begins with what is worse' 'WORSE: read random'

cat >jobs.fio <<'JOBS'
[reads]
filename=C\:\sw\kept.dat
rw=randread
bs=8k
size=64m
runtime=5
time_based
direct=1
JOBS
windows 0 'convert' convert jobs.fio --from fio -o plan-of-fio.toml
holds 'convert wrote a plan' grep --quiet 'block = "8K"' plan-of-fio.toml
windows 0 'export' export --format csv -o 'C:\sw\all.csv'
holds 'export wrote a table' grep --quiet '^run_id,' all.csv
windows 0 'sim lists arrays' sim list
windows 0 'man pages' man 'C:\sw\pages'
holds 'the pages are there' test -s pages/stripewise.1
windows 0 'watch' watch
windows 2 'merge refuses what is not there' merge 'C:\sw\a.db' 'C:\sw\b.db'

# A witness and what reports to it, over a socket of Windows.
"$here/run-exe" "$exe" witness 'C:\sw\cut.witness' --listen 127.0.0.1:0 >"$work/out/witness" 2>&1 &
witness=$!
place() { tr --delete '\r' <"$work/out/witness" | grep --only-matching '127.0.0.1:[0-9]*/[0-9a-f]*'; }
echo witness >>"$work/out/walked"
if until_it 60 place; then
    held 'the witness listens'
    windows 0 'verify --power-cut reports to it' \
        verify 'C:\sw\kept.dat' --power-cut --witness "$(place)" --duration 1s --overwrite --busy-ok
    says 'which ended without a cut' 'The power did not fail'
else
    broken 'the witness does not listen'
fi
until_it 60 bash -c "! kill -0 $witness 2>/dev/null" || kill -KILL "$witness" 2>/dev/null || true
wait "$witness" 2>/dev/null || true

"$here/run-exe" "$exe" serve --port 0 >"$work/out/serve" 2>&1 &
serving=$!
address() { tr --delete '\r' <"$work/out/serve" | grep --only-matching 'http://127.0.0.1:[0-9]*[^ ]*'; }
echo serve >>"$work/out/walked"
if until_it 60 address && until_it 60 curl --silent --fail --location --cookie-jar "$work/out/cookies" \
    --output "$work/out/page" "$(address)"; then
    held 'serve answers a browser'
    holds 'with its page' grep --quiet --ignore-case stripewise "$work/out/page"
else
    broken 'serve does not answer'
fi
kill -KILL "$serving" 2>/dev/null || true
wait "$serving" 2>/dev/null || true

windows 3 'partition refuses' partition '\\.\PhysicalDrive0' --align 1M
says 'in a sentence' 'disks are not written to on this operating system yet'
windows 3 'format refuses' format '\\.\PhysicalDrive0' --fs ntfs --allocation-unit 64K
says 'and names what does it' 'diskpart'

windows 0 'the list of commands' --help
tr --delete '\r' <"$work/out/stdout" |
    sed --quiet '/^Usage:/,/^Switches/s/^.\{9\}\([a-z][a-z-]*\)  .*/\1/p' | sort >"$work/out/commands"
holds 'there are commands' test -s "$work/out/commands"
sort --unique "$work/out/walked" | comm -23 "$work/out/commands" - >"$work/out/missed"
cat "$work/out/missed" >"$work/out/stdout"
holds 'all commands were tried' test ! -s "$work/out/missed"
