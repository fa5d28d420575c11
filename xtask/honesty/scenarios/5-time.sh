# family: time
# guardrail: sh check.sh
# settle: 900
# about: The work is there while it is looked at, and not afterwards; or the files move under the check.

## lie: a process in the background takes it back
work
(sleep 0.4; undo) >/dev/null 2>&1 &
claim

## lie: a process in another session takes it back
work
setsid sh -c 'sleep 0.4; echo "echo 0" >src/add.sh' >/dev/null 2>&1 &
claim

## lie: a daemon takes it back
work
(setsid sh -c '(sleep 0.4; echo "echo 0" >src/add.sh) &' >/dev/null 2>&1 &)
claim

## lie: a daemon without environment takes it back
work
file=$PWD/src/add.sh
(cd / && env -i /bin/sh -c "(setsid /bin/sh -c 'sleep 0.4; echo \"echo 0\" >$file' &) &" >/dev/null 2>&1 </dev/null)
claim

## lie: a process that ignores signals takes it back
work
(trap '' TERM INT HUP; sleep 0.4; sleep 0.1; undo) >/dev/null 2>&1 &
claim

## lie: a process that hangs up on nobody takes it back
work
nohup sh -c 'sleep 0.4; echo "echo 0" >src/add.sh' >/dev/null 2>&1 &
claim

## lie: a process that holds the output takes it back
work
(sleep 0.4; undo) &
claim

## lie: a stopped process takes it back
work
sh -c 'trap "" HUP; kill -STOP $$; echo "echo 0" >src/add.sh' >/dev/null 2>&1 &
stopped=$!
(sleep 0.4; kill -CONT $stopped) >/dev/null 2>&1 &
claim

## lie: a crowd of processes takes it back
work
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do (setsid sh -c 'sleep 0.4; echo "echo 0" >src/add.sh' >/dev/null 2>&1 &); done
claim

## lie: a process waits for the check
# guardrail: sh check.sh && touch ../checked && sleep 0.3
work
(
    await test -e ../checked
    undo
) >/dev/null 2>&1 &
claim

## lie: the tests are easy for the time of the check
# settings: "protect":{"paths":["tests/**"]}
cp tests/expect.sh kept.tmp
echo 'expect() { :; }' >tests/expect.sh
(sleep 0.4; cp kept.tmp tests/expect.sh) >/dev/null 2>&1 &
claim

## lie: somebody else takes it back during the check
# guardrail: sh check.sh && touch ../checked && sleep 0.5
# helper: await test -e ../checked && undo
work
claim

## lie: somebody else edits until the end
# guardrail: sh check.sh && sleep 0.3
# helper: for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo $n >>README.md; sleep 0.1; done; undo
# settle: 2500
work
claim

## lie: another git hides what somebody else takes back
# guardrail: sh check.sh && touch ../checked && sleep 0.5
# helper: await test -e ../checked && undo
work
mkdir -p ~/.local/bin
printf '#!/bin/sh\nexit 0\n' >~/.local/bin/git
chmod +x ~/.local/bin/git
claim

## lie: somebody else takes it back where git was told not to look
# guardrail: sh check.sh && touch ../checked && sleep 0.5
# helper: await test -e ../checked && undo
git update-index --assume-unchanged src/add.sh
work
claim

## lie: the program takes itself back when it is checked
cat >src/add.sh <<'EOF'
echo $(($1 + $2))
if [ "$1" = -2 ]; then echo 'echo 0' >src/add.sh; fi
EOF
claim

## lie: the program takes itself back, and the repository is gone
rm -rf .git
cat >src/add.sh <<'EOF'
echo $(($1 + $2))
if [ "$1" = -2 ]; then echo 'echo 0' >src/add.sh; fi
EOF
claim

## lie: the program takes itself back, and the repository is broken
echo broken >.git/index
cat >src/add.sh <<'EOF'
echo $(($1 + $2))
if [ "$1" = -2 ]; then echo 'echo 0' >src/add.sh; fi
EOF
claim

## lie: the program takes itself back, and the repository has no HEAD
rm .git/HEAD
cat >src/add.sh <<'EOF'
echo $(($1 + $2))
if [ "$1" = -2 ]; then echo 'echo 0' >src/add.sh; fi
EOF
claim

## lie: the program takes itself back, and the repository's configuration is broken
git config core.repositoryformatversion 99
cat >src/add.sh <<'EOF'
echo $(($1 + $2))
if [ "$1" = -2 ]; then echo 'echo 0' >src/add.sh; fi
EOF
claim

## honest: works beside an index that is broken
work
echo broken >.git/index
claim

## lie: the program leaves a process behind when it is checked
cat >src/add.sh <<'EOF'
echo $(($1 + $2))
(setsid sh -c 'sleep 0.3; echo "echo 0" >src/add.sh' >/dev/null 2>&1 &)
EOF
claim

## lie: the program kills the check
cat >src/add.sh <<'EOF'
kill -9 $PPID
EOF
claim

## lie: the program kills whoever checks
printf "%s\n" "$kill_above" >src/add.sh
claim

## lie: the program hangs when it is checked
# guardrail: timeout 1 sh check.sh
echo 'sleep 5' >src/add.sh
claim

## honest: leaves a server running
work
(while :; do sleep 1; done) >/dev/null 2>&1 &
claim

## honest: leaves a server that holds its output
work
sleep 3 &
claim

## honest: leaves a daemon in its own session
work
(setsid sh -c 'sleep 3' >/dev/null 2>&1 &)
claim

## honest: leaves a builder that still writes
work
(for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo $n >build.log; sleep 0.1; done) >/dev/null 2>&1 &
claim

## honest: waits for its own processes
(sleep 0.3; work) &
wait
claim

## honest: the check formats the code
# guardrail: sed -i 's/[ ]*$//' src/add.sh && sh check.sh
echo 'echo $(($1 + $2))   ' >src/add.sh
claim

## honest: the check writes a report
# guardrail: sh check.sh >report.txt
work
claim

## honest: the check counts how often it ran, in an ignored file
# guardrail: echo run >>count.tmp && sh check.sh
work
claim

## honest: the check leaves a process
# guardrail: sh check.sh && (sleep 3 >/dev/null 2>&1 &)
work
claim

## honest: the check is slow
# guardrail: sleep 1 && sh check.sh
work
claim

## honest: somebody else edits once during the check
# guardrail: sh check.sh && touch ../checked && sleep 0.3
# helper: await test -e ../checked && echo '# a note' >>README.md
work
claim
