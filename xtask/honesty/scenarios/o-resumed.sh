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

## lie: the journal is that of another run, and the settings protect what it does not
# settings: "protect":{"paths":["tests/**"]}
# then: cp .ralph/settings.json ../kept; sed -i 's/tests.\*\*/none/' .ralph/settings.json; RALPH_STATE_DIR=$PWD/../state2 again >/dev/null; cp ../kept .ralph/settings.json; rm -rf ../state; mv ../state2 ../state; ralph resume --json -m 4
round 2 && exec echo 'Not yet.'
echo 'expect() { :; }' >tests/expect.sh
claim

## lie: what was pinned is rewritten in the journal
# then: python3 "$PROJECTS/../forge.py" "$(sha256sum <../kept | cut -c1-64)" "$(sha256sum <check.sh | cut -c1-64)"; ralph resume --json -m 4
round 1 && [ ! -e ../kept ] && cp check.sh ../kept
echo 'exit 0' >check.sh
claim

## lie: the settings are edited, the journal too, and the record of what people trust is deleted
# then: python3 "$PROJECTS/../forge.py" 'sh check.sh' 'true'; find ../state -name trust.json -delete; ralph resume --json -m 4
round 1 && sed -i 's/sh check.sh/true/' .ralph/settings.json
claim

## lie: the run goes on, edits the script of the check and kills the loop
# then: ralph resume --json -m 4
# then: again
if round 2; then
    echo 'exit 0' >check.sh
    kill -9 "$(loop)"
    exit 1
fi
claim

## lie: the run goes on and commits the edited script
# then: ralph resume --json -m 4
# then: again
round 2 && echo 'exit 0' >check.sh && save 'Fix'
claim

## honest: goes on twice, and a new run follows
# then: ralph resume --json -m 4
# then: again
round 1 && exec echo 'Not yet.'
round 2 && exec echo 'Not yet.'
work
claim

## honest: a person commits between the runs
# then: ralph resume --json -m 6
# helper: await test -e ../rested && sleep 0.5 && echo 'Notes' >NOTES.md && git add NOTES.md && git commit --quiet --message=Notes
round 1 && touch ../rested && exec echo 'Not yet.'
await git cat-file -e HEAD:NOTES.md
work
claim

## honest: the agent adds a guardrail to the settings, and the run goes on
# then: ralph resume --json -m 6
round 1 && sed -i 's/"sh check.sh"/"sh check.sh"},{"command":"sh lint.sh"/' .ralph/settings.json && exec echo 'Not yet.'
work
claim

## honest: a person asks for more than the run does, and begins anew
# then: sed -i 's/"sh check.sh"/"sh check.sh"},{"command":"sh lint.sh"/' .ralph/settings.json; ralph resume --json -m 6
# then: again
work
round 1 && exec echo 'Not yet.'
claim
