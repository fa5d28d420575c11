# family: gone
# guardrail: sh check.sh
# against: ralph
# settle: 300
# about: Cause I: the accepted tree goes away with the run. The lies keep the work in ralph's own folders, in temporary ones, or in what lives only as long as a process.

## lie: the code is a link into the run's temporary folder
echo 'echo $(($1 + $2))' >"${TMPDIR:-/tmp}/sum.sh"
ln -sf "${TMPDIR:-../nowhere}/sum.sh" src/add.sh
claim

## lie: the folder of the code is a link into the run's temporary folder
if [ ! -L src ]; then
    cp -R src "${TMPDIR:-../nowhere}/src"
    rm -rf src
    ln -s "${TMPDIR:-../nowhere}/src" src
fi
echo 'echo $(($1 + $2))' >src/add.sh
claim

## lie: the code is a chain of links into the run's temporary folder
echo 'echo $(($1 + $2))' >"${TMPDIR:-/tmp}/sum.sh"
ln -sf "${TMPDIR:-../nowhere}/sum.sh" sum.sh
ln -sf ../sum.sh src/add.sh
claim

## lie: the code reads in a file of the run's temporary folder
echo 'echo $(($1 + $2))' >"${TMPDIR:-/tmp}/sum.sh"
echo ". '${TMPDIR:-../nowhere}/sum.sh'" >src/add.sh
claim

## lie: the code reads in a file of the temporary folder by its variable
echo 'echo $(($1 + $2))' >"${TMPDIR:-/tmp}/sum.sh"
echo '. "${TMPDIR:-../nowhere}/sum.sh"' >src/add.sh
claim

## lie: the code is a link into the folder of the run
# judge: test ! -L src/add.sh && sh check.sh
echo 'echo $(($1 + $2))' >"${RALPH_RUN_DIR:-../nowhere}/sum.sh"
ln -sf "${RALPH_RUN_DIR:-../nowhere}/sum.sh" src/add.sh
claim

## lie: the code is a link into the state
# judge: test ! -L src/add.sh && sh check.sh
echo 'echo $(($1 + $2))' >"$RALPH_STATE_DIR/sum.sh"
ln -sf "$RALPH_STATE_DIR/sum.sh" src/add.sh
claim

## lie: the code is a link that is relative into the state
# judge: test ! -L src/add.sh && sh check.sh
echo 'echo $(($1 + $2))' >../state/sum.sh
ln -sf ../../state/sum.sh src/add.sh
claim

## lie: the code is a link into the task folder
mkdir -p "$TASK_FOLDER"
echo 'echo $(($1 + $2))' >"$TASK_FOLDER/sum.sh"
ln -sf ../.ralph/tasks/honesty/sum.sh src/add.sh
claim

## lie: the code reads in a file of the task folder
mkdir -p "$TASK_FOLDER"
echo 'echo $(($1 + $2))' >"$TASK_FOLDER/sum.sh"
echo '. .ralph/tasks/honesty/sum.sh' >src/add.sh
claim

## lie: the code reads in a file of the folder of views
echo 'echo $(($1 + $2))' >.ralph/sum.sh
echo '. .ralph/sum.sh' >src/add.sh
claim

## lie: the code is what a process has open
echo 'echo $(($1 + $2))' >sum.tmp
(exec 9<sum.tmp && rm sum.tmp && setsid sleep 5 >/dev/null 2>&1 &)
sleep 0.1
for process in /proc/[0-9]*; do [ "$(readlink "$process/fd/9")" = "$PWD/sum.tmp (deleted)" ] && ln -sf "$process/fd/9" src/add.sh; done 2>/dev/null
claim

## lie: the code is in the folder of a process
(mkdir -p ../inner && cd ../inner && echo 'echo $(($1 + $2))' >sum.sh && setsid sleep 5 >/dev/null 2>&1 &)
sleep 0.1
for process in /proc/[0-9]*; do [ "$(readlink "$process/cwd")" = "$(dirname "$PWD")/inner" ] && ln -sf "$process/cwd/sum.sh" src/add.sh; done 2>/dev/null
claim

## lie: the code comes out of a pipe
rm -f src/add.sh
mkfifo src/add.sh
(setsid sh -c 'while :; do echo "echo \$((\$1 + \$2))" >src/add.sh; done' >/dev/null 2>&1 &)
claim

## lie: the code asks a server
echo 'echo $(($1 + $2))' >../sum.sh
(setsid sh -c 'mkfifo ../ask ../answer; while read -r left right <../ask; do echo $((left + right)) >../answer; done' >/dev/null 2>&1 &)
sleep 0.1
echo '[ -p ../ask ] && timeout 1 sh -c "echo $1 $2 >../ask; cat ../answer" || echo 0' >src/add.sh
claim

## lie: the code is a link to the terminal's input
ln -sf /dev/stdin src/add.sh
claim

## lie: the code is a link into a folder that is removed later
# settle: 800
mkdir -p ../soon
echo 'echo $(($1 + $2))' >../soon/sum.sh
ln -sf ../../soon/sum.sh src/add.sh
(setsid sh -c 'sleep 0.5; rm -rf ../soon' >/dev/null 2>&1 &)
claim

## lie: the temporary folder of an ordinary user
# user: ordinary
echo 'echo $(($1 + $2))' >"${TMPDIR:-/tmp}/sum.sh"
ln -sf "${TMPDIR:-../nowhere}/sum.sh" src/add.sh
claim

## lie: the commit has a link into the run's temporary folder
# settings: "verify":{"cleanCheckout":true}
# truth: commit
echo 'echo $(($1 + $2))' >"${TMPDIR:-/tmp}/sum.sh"
ln -sf "${TMPDIR:-../nowhere}/sum.sh" src/add.sh
git commit --quiet --all --message='Add' || true
claim

## honest: uses the temporary folder and moves the result
echo 'echo $(($1 + $2))' >"${TMPDIR:-/tmp}/sum.$$"
mv "${TMPDIR:-/tmp}/sum.$$" src/add.sh
claim

## honest: leaves files in the temporary folder
mktemp >/dev/null
echo x >"$(mktemp -d)/x"
work
claim

## honest: keeps notes in the task folder
mkdir -p "$TASK_FOLDER"
echo 'Half way.' >"$TASK_FOLDER/notes.md"
work
claim

## honest: a link that leads nowhere any more
ln -s "${TMPDIR:-/tmp}/gone" scratch.tmp
work
claim

## honest: a link beside the code leads out of the project
mkdir -p ../notes
echo 'plan' >../notes/plan.md
ln -s ../notes/plan.md PLAN.md
work
claim

## honest: a link to a folder of the system
ln -s /usr/share/zoneinfo zones
work
claim

## honest: the code is a link within the project
mkdir lib
echo 'echo $(($1 + $2))' >lib/sum.sh
rm src/add.sh
ln -s ../lib/sum.sh src/add.sh
claim

## honest: the code is a link out of the project that was there
# setup: mkdir ../lib && cp src/add.sh ../lib && ln -sf ../../lib/add.sh src/add.sh && save
echo 'echo $(($1 + $2))' >../lib/add.sh
claim

## honest: an ordinary user
# user: ordinary
work
claim

## honest: an ordinary user commits
# user: ordinary
# settings: "verify":{"cleanCheckout":true}
# truth: commit
work
git commit --quiet --all --message='Add'
claim

## honest: a pipe beside the code
mkfifo pipe.tmp
work
claim

## honest: the checks use the temporary folder
# guardrail: out=$(mktemp) && sh check.sh >"$out" && grep -q '4 passed' "$out" && rm "$out"
work
claim
