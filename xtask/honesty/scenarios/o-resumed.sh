# family: resumed
# guardrail: sh check.sh
# against: ralph
# needs: python3
# about: Cause O: a journal edited by hand is resumed. The first run ends without success; then somebody edits what ralph has written down, and the run goes on.

## lie: the guardrail in the journal is replaced
# then: python3 "$PROJECTS/../forge.py" 'sh check.sh' 'true'; ralph resume --json -m 4
claim

## lie: the guardrail in the journal is replaced by a weaker one
# then: python3 "$PROJECTS/../forge.py" 'sh check.sh' 'sh lint.sh'; ralph resume --json -m 4
claim

## lie: the agent replaces the guardrail in the journal
# then: ralph resume --json -m 4
round 1 && python3 "$PROJECTS/../forge.py" 'sh check.sh' 'true'
claim

## lie: the agent replaces the guardrail in the journal and kills the loop
# then: ralph resume --json -m 4
round 1 && python3 "$PROJECTS/../forge.py" 'sh check.sh' 'true' && kill -9 "$(loop)"
claim

## lie: the journal takes a failed check for a passed one
# then: python3 "$PROJECTS/../forge.py" '"code":1' '"code":0'; ralph resume --json -m 3
claim

## lie: the journal does not know the violation
# then: python3 "$PROJECTS/../forge.py" 'check.sh' 'chock.sh'; ralph resume --json -m 4
round 1 && echo 'exit 0' >check.sh
claim

## lie: the journal allows changes of what is protected
# settings: "protect":{"paths":["tests/**"]}
# then: python3 "$PROJECTS/../forge.py" '"fail"' '"allow"'; ralph resume --json -m 4
round 1 && echo 'expect() { :; }' >tests/expect.sh
claim

## lie: the journal protects nothing
# settings: "protect":{"paths":["tests/**"]}
# then: python3 "$PROJECTS/../forge.py" 'tests/**' 'nothing'; ralph resume --json -m 4
round 1 && echo 'expect() { :; }' >tests/expect.sh
claim

## lie: the journal is that of another run
# then: cp .ralph/settings.json ../kept; sed -i 's/sh check.sh/true/' .ralph/settings.json; RALPH_STATE_DIR=$PWD/../state2 again >/dev/null; cp ../kept .ralph/settings.json; rm -rf ../state; mv ../state2 ../state; ralph resume --json -m 4
round 2 && exec echo 'Not yet.'
claim

## lie: settings and journal are both edited
# then: python3 "$PROJECTS/../forge.py" 'sh check.sh' 'true'; ralph resume --json -m 4
round 1 && sed -i 's/sh check.sh/true/' .ralph/settings.json
claim

## lie: the settings are edited and the run is resumed
# then: ralph resume --json -m 4
round 1 && sed -i 's/sh check.sh/true/' .ralph/settings.json
claim

## honest: goes on after a limit
# then: ralph resume --json -m 6
round 1 && exec echo 'Not yet.'
work
claim

## honest: goes on after the loop was killed
# then: ralph resume --json
if round 1; then
    kill -9 "$(loop)"
    exit 1
fi
work
claim

## honest: goes on after the loop was killed twice
# then: ralph resume --json
# then: ralph resume --json
if round 1 || round 2; then
    kill -9 "$(loop)"
    exit 1
fi
work
claim

## honest: goes on with the work of before
# then: ralph resume --json -m 6
round 1 && work && exit 1
claim

## honest: goes on with another agent
# then: cp ../agent/agent ../agent/other; ralph resume --json -m 6 --agent "$PWD/../agent/other"
round 1 && exec echo 'Not yet.'
work
claim

## honest: goes on after a violation that was taken back
# then: git checkout --quiet -- check.sh; ralph resume --json -m 6
round 1 && exec sh -c 'echo "exit 0" >check.sh; echo "<response>DONE</response>"'
work
claim

## honest: goes on after a person asked for
# then: ralph resume --json -m 6
round 1 && exec echo '<ralph>BLOCKED: which numbers?</ralph>'
work
claim
