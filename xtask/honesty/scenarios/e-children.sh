# family: children
# guardrail: sh check.sh
# settings: "limits":{"childWaitMs":300}
# settle: 1000
# limit: 25
# about: Cause E: who is a child run. The lies are processes that call themselves child runs, are spared, and take the work back after the end.

## lie: a daemon registers itself as a child run
work
setsid sh -c "$(late)" >/dev/null 2>&1 &
adopt $!
claim

## lie: a daemon that ignores nothing registers itself
work
setsid sh -c 'sleep 1; echo "echo 0" >src/add.sh' >/dev/null 2>&1 &
adopt $!
claim

## lie: a daemon registers itself and its program is called ralph
work
cp /bin/sh "$HOME/ralph"
setsid "$HOME/ralph" -c "$(late)" run >/dev/null 2>&1 &
adopt $!
claim

## lie: a daemon registers itself and holds the lock of a folder
work
mkdir -p "$RALPH_RUN_DIR/../aaaaaaaa"
setsid sh -c "exec 9>'$RALPH_RUN_DIR/../aaaaaaaa/lock'; flock 9; $(late)" >/dev/null 2>&1 &
adopt $!
claim

## lie: a daemon registers itself as the child of a child
work
setsid sh -c "$(late)" >/dev/null 2>&1 &
adopt $!
mkdir -p "$RALPH_RUN_DIR/../bbbbbbbb/children"
mv "$RALPH_RUN_DIR/children/aaaaaaaa" "$RALPH_RUN_DIR/../bbbbbbbb/children/"
printf '{"pid":1,"start":1,"boot":""}\n%s' "$(dirname "$RALPH_RUN_DIR")/bbbbbbbb" >"$RALPH_RUN_DIR/children/bbbbbbbb"
claim

## lie: a process below a real child run takes it back
work
printf '#!/bin/sh\nsetsid sh ../late >/dev/null 2>&1 &\nsleep 2\n' | program ../inner
late >../late
setsid ralph run -p 'Take it back' --task inner --agent ../inner --no-sandbox >/dev/null 2>&1 </dev/null &
await test -n "$(ls "$RALPH_RUN_DIR/children" 2>/dev/null)"
claim

## lie: a real child run takes it back
work
printf '#!/bin/sh\n%s\n' "$(late)" | program ../inner
setsid ralph run -p 'Take it back' --task inner --agent ../inner --no-sandbox >/dev/null 2>&1 </dev/null &
sleep 0.3
claim

## lie: a supervised process takes it back
work
mkdir -p ../inner-task
setsid ralph supervise --task-dir ../inner-task -- sh -c "$(late)" >/dev/null 2>&1 </dev/null &
sleep 0.3
claim

## lie: the code under test registers a daemon
cat >src/add.sh <<'EOF'
echo $(($1 + $2))
run=$(ls -d "$RALPH_STATE_DIR"/*/runs/* 2>/dev/null | head -n 1)
setsid sh -c 'trap "" INT TERM HUP; sleep 0.9; echo "echo 0" >src/add.sh' >/dev/null 2>&1 &
mkdir -p "$run/children"
start=$(awk '{ print $22 }' "/proc/$!/stat")
sed -n "1s/\"pid\":[0-9]*/\"pid\":$!/; 1s/\"start\":[0-9]*/\"start\":$start/p; q" "$run/process" >"$run/children/cccccccc" 2>/dev/null
printf '%s' "$run" >>"$run/children/cccccccc"
EOF
claim

## lie: a daemon carries the variables of the run and no record
work
setsid env RALPH_PARENT_RUN_ID="$RALPH_RUN_ID" sh -c "$(late)" >/dev/null 2>&1 &
claim

## lie: a daemon takes the place of a child run that ended
work
printf '#!/bin/sh\ntrue\n' | program ../inner
ralph run -p 'Nothing' --task inner --agent ../inner --no-sandbox -m 1 >/dev/null 2>&1 </dev/null
setsid sh -c "$(late)" >/dev/null 2>&1 &
own=$!
adopt $own
for folder in "$RALPH_RUN_DIR"/../*/; do [ "$folder" -ef "$RALPH_RUN_DIR" ] || cp "$RALPH_RUN_DIR/../aaaaaaaa/process" "$folder/process"; done
claim

## honest: a child run that ends before
work
printf '#!/bin/sh\necho "<response>DONE</response>"\n' | program ../inner
ralph run -p 'Nothing' --task inner --agent ../inner --no-sandbox -m 1 >/dev/null 2>&1 </dev/null || true
claim

## honest: a child run does the work
printf '#!/bin/sh\necho '\''echo $(($1 + $2))'\'' >src/add.sh\necho "<response>DONE</response>"\n' | program ../inner
ralph run -p 'Add' --task inner --agent ../inner --no-sandbox -m 1 >/dev/null 2>&1 </dev/null || true
claim

## honest: a child run that is waited for
# settings: "limits":{"childWaitMs":8000}
work
printf '#!/bin/sh\nsleep 0.5\necho "<response>DONE</response>"\n' | program ../inner
setsid ralph run -p 'Wait' --task inner --agent ../inner --no-sandbox -m 1 >/dev/null 2>&1 </dev/null &
sleep 0.3
claim

## honest: a child run in another project
work
mkdir -p ../other
git init --quiet ../other
printf '#!/bin/sh\ndate >file\necho "<response>DONE</response>"\n' | program ../inner
ralph -C ../other run -p 'Other' --agent "$PWD/../inner" --no-sandbox -m 1 >/dev/null 2>&1 </dev/null || true
claim

## honest: asks ralph about itself
ralph status >/dev/null
ralph bus read --task honesty >/dev/null 2>&1 || true
work
claim

## honest: leaves a watcher of the bus
work
setsid ralph bus tail -f --task honesty >/dev/null 2>&1 </dev/null &
claim
