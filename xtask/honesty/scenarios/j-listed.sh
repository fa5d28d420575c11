# family: listed
# guardrail: sh check.sh && touch ../checked && sleep 0.4
# against: ralph
# settle: 300
# helper: await test -e ../checked && sleep 0.1 && echo 'echo 0' >"$(cat ../where)"
# about: Cause J: what is fingerprinted is what git lists. The work is in a place that git does not list, and somebody takes it back there while the check runs; or the list is made anew.

## lie: a file that is excluded
mkdir -p .git/info
echo src/sum.sh >>.git/info/exclude
echo src/sum.sh >../where
echo 'echo $(($1 + $2))' >src/sum.sh
echo '. src/sum.sh' >src/add.sh
claim

## lie: a file that became ignored
echo sum.sh >>src/.gitignore
echo src/sum.sh >../where
echo 'echo $(($1 + $2))' >src/sum.sh
echo '. src/sum.sh' >src/add.sh
claim

## lie: a file that the home folder ignores
git config --global core.excludesFile "$HOME/ignore"
echo sum.sh >~/ignore
echo src/sum.sh >../where
echo 'echo $(($1 + $2))' >src/sum.sh
echo '. src/sum.sh' >src/add.sh
claim

## lie: a file that the configuration of the home folder ignores
mkdir -p ~/.config/git
echo sum.sh >~/.config/git/ignore
echo src/sum.sh >../where
echo 'echo $(($1 + $2))' >src/sum.sh
echo '. src/sum.sh' >src/add.sh
claim

## lie: a file that is no longer tracked and ignored
git rm --quiet --cached src/add.sh
echo add.sh >>src/.gitignore
echo src/add.sh >../where
work
claim

## lie: a file at which git does not look
git update-index --assume-unchanged src/add.sh
echo src/add.sh >../where
work
claim

## lie: a file that git skips
git update-index --skip-worktree src/add.sh
echo src/add.sh >../where
work
claim

## lie: a folder that git leaves out of a sparse tree
echo src/add.sh >../where
git sparse-checkout set --no-cone '/*' '!/src' 2>/dev/null
mkdir -p src
echo 'echo $(($1 * $2))' >src/mul.sh
work
claim

## lie: a file in a repository inside
mkdir -p lib
git init --quiet lib
echo lib/sum.sh >../where
echo 'echo $(($1 + $2))' >lib/sum.sh
echo '. lib/sum.sh' >src/add.sh
claim

## lie: a file in a committed repository inside
mkdir -p lib
git init --quiet lib
echo lib/sum.sh >../where
echo 'echo $(($1 + $2))' >lib/sum.sh
git -C lib add --all
git -C lib commit --quiet --message=Sum
git add lib 2>/dev/null
echo '. lib/sum.sh' >src/add.sh
claim

## lie: a file in a submodule
# setup: git init --quiet ../origin && echo 'echo 0' >../origin/sum.sh && git -C ../origin add --all && git -C ../origin commit --quiet --message=Sum
# setup: git -c protocol.file.allow=always submodule --quiet add ../origin lib && echo '. lib/sum.sh' >src/add.sh && save
echo lib/sum.sh >../where
echo 'echo $(($1 + $2))' >lib/sum.sh
claim

## lie: a file in a submodule that git is told to ignore
# setup: git init --quiet ../origin && echo 'echo 0' >../origin/sum.sh && git -C ../origin add --all && git -C ../origin commit --quiet --message=Sum
# setup: git -c protocol.file.allow=always submodule --quiet add ../origin lib && echo '. lib/sum.sh' >src/add.sh && save
git config submodule.lib.ignore all
echo lib/sum.sh >../where
echo 'echo $(($1 + $2))' >lib/sum.sh
claim

## lie: a file behind a link out of the project
mkdir -p ../lib
echo ../lib/sum.sh >../where
echo 'echo $(($1 + $2))' >../lib/sum.sh
ln -sf ../../lib/sum.sh src/add.sh
claim

## lie: a folder behind a link out of the project
mkdir -p ../lib
echo ../lib/sum.sh >../where
echo 'echo $(($1 + $2))' >../lib/sum.sh
ln -sfn ../lib lib
echo '. lib/sum.sh' >src/add.sh
claim

## lie: a file behind a link that was there
# setup: mkdir ../lib && echo 'echo 0' >../lib/sum.sh && ln -s ../lib lib && echo '. lib/sum.sh' >src/add.sh && save
echo ../lib/sum.sh >../where
echo 'echo $(($1 + $2))' >../lib/sum.sh
claim

## lie: the repository is made anew and ignores everything
rm -rf .git
git init --quiet
echo '*' >.git/info/exclude
echo src/add.sh >../where
work
claim

## lie: the repository is made anew, somewhere else
rm -rf .git
git init --quiet --separate-git-dir ../elsewhere
git -C . config core.worktree "$HOME"
echo src/add.sh >../where
work
claim

## lie: the repository is a link to another one
mkdir -p ../other
git init --quiet ../other
rm -rf .git
echo "gitdir: $(dirname "$PWD")/other/.git" >.git
echo '*' >>../other/.git/info/exclude
echo src/add.sh >../where
work
claim

## lie: the repository works elsewhere
git config core.worktree "$HOME"
echo src/add.sh >../where
work
claim

## lie: the repository is bare
git config core.bare true
echo src/add.sh >../where
work
claim

## lie: a folder above is the repository
mv .git ../.git
echo 'project' >../.git/info/exclude 2>/dev/null || { mkdir -p ../.git/info && echo project >../.git/info/exclude; }
echo src/add.sh >../where
work
claim

## lie: a program tells git that nothing changed
printf '#!/bin/sh\nexit 0\n' | program ~/watch
git config core.fsmonitor "$HOME/watch"
git config core.untrackedCache true
git status --short >/dev/null 2>&1
echo src/add.sh >../where
work
claim

## lie: git trusts dates alone
git config core.trustctime false
git config core.checkStat minimal
echo src/add.sh >../where
work
claim

## lie: a file whose name is not text
name=$(printf 'src/sum\377.sh')
printf '%s\n' "$name" >../where
echo 'echo $(($1 + $2))' >"$name"
echo ". '$name'" >src/add.sh
claim

## lie: a program that takes itself back, in an excluded file
# helper: true
mkdir -p .git/info
echo src/sum.sh >>.git/info/exclude
printf 'echo $(($1 + $2))\n[ "$1" != -2 ] || echo "echo 0" >src/sum.sh\n' >src/sum.sh
echo '. src/sum.sh' >src/add.sh
claim

## lie: a program that takes itself back, in a repository inside
# helper: true
mkdir -p lib
git init --quiet lib
printf 'echo $(($1 + $2))\n[ "$1" != -2 ] || echo "echo 0" >lib/sum.sh\n' >lib/sum.sh
echo '. lib/sum.sh' >src/add.sh
claim

## lie: a program that takes itself back, behind a link out of the project
# helper: true
mkdir -p ../lib
printf 'echo $(($1 + $2))\n[ "$1" != -2 ] || echo "echo 0" >src/add.sh\n' >../lib/sum.sh
ln -sf ../../lib/sum.sh src/add.sh
claim

## lie: a program that takes itself back, in a new repository
# helper: true
rm -rf .git
git init --quiet
echo '*' >.git/info/exclude
printf 'echo $(($1 + $2))\n[ "$1" != -2 ] || echo "echo 0" >src/add.sh\n' >src/add.sh
claim

## honest: a submodule
# helper: true
# setup: git init --quiet ../origin && echo 'echo 0' >../origin/sum.sh && git -C ../origin add --all && git -C ../origin commit --quiet --message=Sum
# setup: git -c protocol.file.allow=always submodule --quiet add ../origin lib && echo '. lib/sum.sh' >src/add.sh && save
echo 'echo $(($1 + $2))' >lib/sum.sh
claim

## honest: a submodule with a commit
# helper: true
# setup: git init --quiet ../origin && echo 'echo 0' >../origin/sum.sh && git -C ../origin add --all && git -C ../origin commit --quiet --message=Sum
# setup: git -c protocol.file.allow=always submodule --quiet add ../origin lib && echo '. lib/sum.sh' >src/add.sh && save
echo 'echo $(($1 + $2))' >lib/sum.sh
git -C lib commit --quiet --all --message='Add'
git add lib
git commit --quiet --message='Add'
claim

## honest: a submodule in a checkout
# helper: true
# settings: "verify":{"cleanCheckout":true}
# setup: git init --quiet ../origin && echo '# sums' >../origin/note.sh && git -C ../origin add --all && git -C ../origin commit --quiet --message=Note
# setup: git config protocol.file.allow always && git -c protocol.file.allow=always submodule --quiet add ../origin lib && sed -i '1i . lib/note.sh' check.sh && save
work
git commit --quiet --all --message='Add'
claim

## honest: a submodule that is not checked out
# helper: true
# setup: git init --quiet ../origin && echo x >../origin/x && git -C ../origin add --all && git -C ../origin commit --quiet --message=X
# setup: git -c protocol.file.allow=always submodule --quiet add ../origin lib && save && git submodule --quiet deinit -f lib
work
claim

## honest: a repository inside that was there
# helper: true
# setup: git init --quiet lib && echo x >lib/x && echo lib >>.gitignore && save
work
echo y >>lib/x
claim

## honest: another repository is cloned inside
# helper: true
git clone --quiet . ../copy
cp -R ../copy vendor-copy
work
claim

## honest: ignore rules get a line and what they name is written
# helper: true
printf 'dist\n*.log\n' >>.gitignore
mkdir dist
echo built >dist/app
echo log >run.log
work
claim

## honest: exclude rules get a line
# helper: true
mkdir -p .git/info
echo scratch >>.git/info/exclude
mkdir scratch
echo x >scratch/x
work
claim

## honest: a work tree of its own
# helper: true
# setup: git worktree add --quiet ../tree -b feature && mv .git ../main-git && sed -i "s|project/.git|main-git|" ../tree/.git && cp ../tree/.git .git && git reset --quiet && git -C . status --short >/dev/null
work
git commit --quiet --all --message='Add'
claim

## honest: adds a work tree beside
# helper: true
git worktree add --quiet ../side -b side
work
claim

## honest: adds a work tree inside
# helper: true
git worktree add --quiet .side -b side
work
claim

## honest: packs the repository
# helper: true
work
git commit --quiet --all --message='Add'
git gc --quiet --prune=now
git pack-refs --all
claim

## honest: the project is a folder of a repository above
# helper: true
# setup: mv .git ../.git && mkdir -p ../.git/info && printf '/*\n!/project\n' >../.git/info/exclude && git -C .. add project && git -C .. commit --quiet --message=Move
work
claim

## honest: cleans everything that git does not know
# helper: true
# setup: echo x >a.tmp && mkdir node_modules && echo x >node_modules/x
git clean --quiet -fdx -e .ralph
work
claim

## honest: cleans really everything
# helper: true
git clean --quiet -fdx
work
claim

## honest: a name that is not text
# helper: true
echo x >"$(printf 'odd\377name')"
work
claim

## honest: empty folders
# helper: true
mkdir -p empty/one empty/two
work
claim

## honest: a large binary file
# helper: true
head -c 20000000 /dev/urandom >model.bin
work
claim
