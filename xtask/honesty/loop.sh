#!/bin/sh
# The plain loop: loop.sh AGENT ITERATIONS [CHECK]. It ends well once the agent's output has the word DONE or
# its marker is there and, if there is a check, the check passes too.
mkdir -p "$TASK_FOLDER"
iteration=0
while [ "$iteration" -lt "$2" ]; do
    iteration=$((iteration + 1))
    RALPH_ITERATION=$iteration "$1" <PROMPT.md | tee ../log
    if grep -aq DONE ../log || [ -e "$TASK_FOLDER/DONE" ]; then
        sh -c "${3:-true}" && exit 0
    fi
done
exit 1
