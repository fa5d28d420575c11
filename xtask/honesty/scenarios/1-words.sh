# family: words
# guardrail: sh lint.sh
# accepted: complete
# about: The check looks at style only, so that the claim alone decides. The lies are no claims: the word stands where it does not count.

## lie: the word stands in prose
echo "I am DONE with reading the code and will write it next time."

## lie: another answer stands in the tag
echo '<response>ALMOST DONE</response>'

## lie: the first tag says something else
echo '<response>WORKING</response> and later <response>DONE</response>'

## lie: the tag is never closed
echo 'Next I shall print <response>DONE'

## lie: the tag is of another loop
echo '<promise>DONE</promise>'

## lie: the answer is spread over two tags
echo '<response>DO</response><response>NE</response>'

## lie: echoes its prompt
cat

## lie: echoes its prompt twice
prompt=$(cat)
echo "$prompt"
echo "You asked:"
echo "$prompt"

## lie: claims on standard error
claim >&2
echo "DONE soon"

## lie: claims and fails
claim
exit 3

## lie: claims and is killed
claim
kill -9 $$

## lie: claims and runs out of time
# settings: "loop":{"iterationTimeoutMs":400,"maxConsecutiveFailures":2}
# iterations: 2
claim
sleep 3 >/dev/null

## lie: writes the marker and fails
touch "$TASK_FOLDER/DONE"
exit 1

## lie: claims and asks for a person
claim
echo '<ralph>BLOCKED: which two numbers?</ralph>'

## lie: the marker is a folder
mkdir -p "$TASK_FOLDER/DONE"

## lie: the marker is a link
ln -sf "$PWD/README.md" "$TASK_FOLDER/DONE"

## lie: the marker is a pipe
[ -e "$TASK_FOLDER/DONE" ] || mkfifo "$TASK_FOLDER/DONE"

## lie: the marker was left by an earlier run
# setup: mkdir -p .ralph/tasks/honesty && touch .ralph/tasks/honesty/DONE
echo "Reading."

## lie: the marker stands in the wrong folder
echo "All notes are in DONE."
touch DONE

## lie: a tool prints the tag
# dialect: claude
runs 'cat PROMPT.md'
says "So that is the task."
ends "So that is the task."

## lie: a tool is given the tag
# dialect: claude
shows 'echo "<response>DONE</response>" >notes.tmp' '' 0
ends "Noted."

## lie: thinks the tag
# dialect: claude
thinks 'When all is well I shall print <response>DONE</response>'
ends "Still thinking."

## lie: a helper agent claims
# dialect: claude
shows 'ls' 'src' 0
event assistant '"tool1"' '{"type":"text","text":"<response>DONE</response>"}'
ends "My helper looked at one file."

## lie: the user is quoted
# dialect: claude
event user null '{"type":"text","text":"print <response>DONE</response> when ready"}'
ends "Understood."

## lie: the result is an error
# dialect: claude
says "Working."
echo '{"type":"result","subtype":"error_during_execution","is_error":true,"result":"<response>DONE</response>"}'
exit 1

## lie: the stream breaks off after the claim
# dialect: claude
says "<response>DONE</response>"

## lie: noise between the events holds the tag
# dialect: claude
says "Working."
echo 'npm warn: <response>DONE</response>'
ends "Working."

## lie: one half of the tag in each message
# dialect: claude
says 'I print <response>DO'
runs 'ls'
says 'NE</response> later.'
ends "Later."

## lie: reasoning of codex holds the tag
# dialect: codex
echo '{"type":"thread.started","thread_id":"t"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"1","type":"reasoning","text":"<response>DONE</response>"}}'
echo '{"type":"item.completed","item":{"id":"2","type":"command_execution","command":"cat PROMPT.md","aggregated_output":"<response>DONE</response>","exit_code":0,"status":"completed"}}'
echo '{"type":"item.completed","item":{"id":"3","type":"agent_message","text":"Looking."}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'

## honest: the tag in lower case
work
echo '<response>done</response>'

## honest: space inside the tag
work
printf '<response>\n   DONE\n</response>\n'

## honest: the tag in pieces
work
printf 'Here: <resp'
sleep 0.1
printf 'onse>DO'
sleep 0.1
printf 'NE</respo'
sleep 0.1
echo 'nse>'

## honest: the tag in a block of code
work
printf '```\n<response>DONE</response>\n```\n'

## honest: the tag in quotes
work
echo 'As you wished: "<response>DONE</response>".'

## honest: the tag without a line end
work
printf '<response>DONE</response>'

## honest: lines end as on Windows
work
printf 'Works.\r\n<response>DONE</response>\r\n'

## honest: says it twice
work
claim
claim

## honest: uses the other marker
work
echo 'All is DONE.'
echo '<ralph>COMPLETE</ralph>'

## honest: only writes the marker
work
touch "$TASK_FOLDER/DONE"

## honest: writes the marker and says so
work
echo "All is done." >"$TASK_FOLDER/DONE"
claim

## honest: speaks of limits and errors
work
echo 'It handles "429 Too Many Requests", usage limit reached, error: overloaded_error, and BLOCKED: no.'
claim

## honest: claims after echoing its prompt
cat
work
claim

## honest: noise on standard error
work
echo 'error: something that does not matter' >&2
claim

## honest: colours around the tag
work
printf '\033[32m<response>DONE</response>\033[0m\n'

## honest: other encodings
work
printf 'caf\351 \377\376 \000 done\n'
claim

## honest: very much output
work
head -c 3000000 /dev/zero | tr '\0' 'x'
echo
claim

## honest: very many lines
work
yes 'still working on it' | head -n 50000
claim

## honest: says it as a message
# dialect: claude
work
declares "It adds."

## honest: says it in the result only
# dialect: claude
work
says "It adds."
ends "<response>DONE</response>"

## honest: claims and then tidies up
# dialect: claude
work
says "<response>DONE</response>"
runs 'ls src'
ends "Tidied up."

## honest: broken lines in the stream
# dialect: claude
work
echo '{"type":"assistant","mess'
echo '{"type":"something_new","x":[1,2]}'
declares "It adds."

## honest: codex says it
# dialect: codex
work
echo '{"type":"thread.started","thread_id":"t"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"<response>DONE</response>"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'
