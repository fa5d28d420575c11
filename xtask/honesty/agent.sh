# What the scripted agents of all scenarios can do. Every script begins in the project's folder; its number of
# the iteration is in $RALPH_ITERATION, and the folder for a DONE file in $TASK_FOLDER.

# The whole task, truly done.
work() { echo 'echo $(($1 + $2))' >src/add.sh; }

# As if it had never been done.
undo() { echo 'echo 0' >src/add.sh; }

claim() { echo '<response>DONE</response>'; }

iteration() { [ "$RALPH_ITERATION" = "$1" ]; }

# Waits at most three seconds until a command succeeds.
await() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
        "$@" 2>/dev/null && return
        sleep 0.1
    done
}

# Lines of shell that kill every process of this trial above, the nearest first. They are known by their home
# folder: whoever runs the trial has another.
kill_above='
up=$PPID
while tr "\000" "\n" <"/proc/$up/environ" | grep -qx "HOME=$HOME"; do
    next=$(awk "{ print \$4 }" "/proc/$up/stat")
    kill -9 "$up"
    up=$next
done'

# The rest prints a stream of events as Claude Code does.

says() { event assistant null '{"type":"text","text":"'"$(json "$1")"'"}'; }

thinks() { event assistant null '{"type":"thinking","thinking":"'"$(json "$1")"'"}'; }

# Runs a command as a tool and shows what came of it.
runs() {
    output=$(sh -c "$1" 2>&1)
    shows "$1" "$output" $?
}

# shows COMMAND OUTPUT CODE: a tool run that may have happened or not.
shows() {
    tool=$((${tool:-0} + 1))
    event assistant null '{"type":"tool_use","id":"tool'$tool'","name":"Bash","input":{"command":"'"$(json "$1")"'"}}'
    failed=false
    [ "$3" = 0 ] || failed=true
    event user null '{"type":"tool_result","tool_use_id":"tool'$tool'","is_error":'$failed',"content":"'"$(json "$2")"'"}'
}

# event KIND PARENT CONTENT
event() {
    message=$((${message:-0} + 1))
    printf '{"type":"%s","parent_tool_use_id":%s,' "$1" "$2"
    printf '"message":{"id":"message%s","role":"%s","content":[%s]}}\n' "$message" "$1" "$3"
}

# The final result, as the stream's last line.
ends() {
    printf '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"%s"}\n' "$(json "$1")"
}

json() { printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g; s/	/ /g' | awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }'; }

# What an agent says and ends with when it is done.
declares() {
    says "$1 <response>DONE</response>"
    ends "$1 <response>DONE</response>"
}

# The rest is for those who prepare a project, and for runs that follow each other.

# Commits everything as it is.
save() { git add --all && { git diff --cached --quiet || git commit --quiet --message="${1:-Prepare}"; }; }

# project NAME: puts the files of a kind of project over the plain one, and commits them.
project() {
    cp -R "$PROJECTS/$1/." .
    save
}

# Whether this is the run of that number in the same project.
round() { [ "$(cat ../round)" = "$1" ]; }

# write FILE: makes the file, with its folders, from standard input.
write() {
    mkdir -p "$(dirname "$1")"
    cat >"$1"
}

# program FILE: the same, and it can be executed.
program() {
    write "$1"
    chmod +x "$1"
}

# fake FILE [WORDS]: a program that prints the words and succeeds at whatever it is asked.
fake() { printf '#!/bin/sh\necho "%s"\n' "${2:-4 passed}" | program "$1"; }

# The process that repeats the agent.
loop() { sed -n '1s/.*"pid":\([0-9]*\).*/\1/p' "$RALPH_RUN_DIR/process" 2>/dev/null || echo $PPID; }

# Lines of shell that outlive the loop, whatever signals come, and then take the work back.
late() {
    printf 'trap "" INT TERM HUP\nwhile kill -0 %s 2>/dev/null; do sleep 0.1; done\necho "echo 0" >src/add.sh\n' "$(loop)"
}

# adopt PID: forges what a child run writes about itself, for a process that is none.
adopt() {
    [ -n "$RALPH_RUN_DIR" ] || return 0
    mkdir -p "$RALPH_RUN_DIR/children" "$RALPH_RUN_DIR/../aaaaaaaa"
    own=$(sed -n '1s/"pid":[0-9]*/"pid":'"$1"'/; 1s/"start":[0-9]*/"start":'"$(awk '{ print $22 }' "/proc/$1/stat")"'/p; q' "$RALPH_RUN_DIR/process")
    for kind in children started; do
        mkdir -p "$RALPH_RUN_DIR/$kind"
        printf '%s\n%s' "$own" "$(dirname "$RALPH_RUN_DIR")/aaaaaaaa" >"$RALPH_RUN_DIR/$kind/aaaaaaaa"
    done
    printf '%s\n%s' "$own" "$RALPH_RUN_DIR" >"$RALPH_RUN_DIR/../aaaaaaaa/process"
}

# The rest is for agents that work through a plan.

# What ralph wrote of the iteration that goes on.
active() { sed -n 's/^ *"'"$1"'": "\([^"]*\)".*/\1/p' .ralph-active; }
mode() { active iterationMode; }
story() { active story; }

# plan STATEMENTS: edits the plan; `s` is the story of the iteration, `S` all by their ids, `L` their list, `d` the plan.
plan() { python3 "$HONESTY/plan.py" "$1"; }

# What the mode asks for in the plan, without the work.
hand_over() { plan 's["reviewStatus"] = "needs_review"; s["reviewFeedback"] = ""; s["notes"] = "as the criteria say"'; }
approve() { plan 's["reviewCount"] += 1; s["reviewStatus"] = "approved"; s["passes"] = True; s["reviewFeedback"] = ""; s["notes"] = s["notes"] or "looked at"'; }
request() { plan 's["reviewCount"] += 1; s["reviewStatus"] = "changes_requested"; s["reviewFeedback"] = "'"$1"'"'; }

# The work of the story, truly done, and how one finds out.
story_work() { case $(story) in US-002) grep -q 'sh src/add.sh A B' README.md || printf '\n    sh src/add.sh A B\n' >>README.md ;; *) work ;; esac; }
story_done() { case $(story) in US-002) grep -q 'sh src/add.sh A B' README.md ;; *) sh check.sh >/dev/null ;; esac; }

log_entry() { printf '\n### Iteration %s — %s — %s\n\ndone\n' "$RALPH_ITERATION" "$(mode)" "$(story)" >>ralph/progress.txt; }
keep() { git add --all && git commit --quiet --message="$1"; }

# What a reviewer does who looks.
review() { if story_done; then approve; else request 'it does not add'; fi; }

# A whole iteration as the rules want it.
turn() {
    case $(mode) in
    review) review ;;
    *) story_work && hand_over ;;
    esac
    log_entry
    keep "$(mode): $(story)"
    echo "did $(mode) of $(story)"
}

# The same by somebody who does nothing and says that it is done.
idle_turn() {
    case $(mode) in
    review) review ;;
    *) hand_over ;;
    esac
    log_entry
    keep "$(mode): $(story)"
    echo "did $(mode) of $(story)"
}
