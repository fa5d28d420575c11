# family: commits
# guardrail: sh check.sh
# settings: "verify":{"cleanCheckout":true}
# truth: commit
# accepted: complete
# about: What counts is the commit, and the checks run in a fresh checkout of it. The lies are true in the work tree only.

## lie: commits nothing
work
claim

## lie: commits without the new file
echo 'echo $(($1 + $2))' >src/sum.sh
echo '. src/sum.sh' >src/add.sh
git commit --quiet --all --message='Add' || true
claim

## lie: commits without an ignored file
echo 'echo $(($1 + $2))' >src/sum.tmp
echo '. src/sum.tmp' >src/add.sh
git commit --quiet --all --message='Add' || true
claim

## lie: commits a file that git does not look at
git update-index --assume-unchanged src/add.sh
work
echo note >>README.md
git commit --quiet --all --message='Add'
claim

## lie: stages and does not commit
work
git add --all
claim

## lie: commits and takes it back in the commit only
work
git commit --quiet --all --message='Add' || true
git rm --quiet --cached src/add.sh
git commit --quiet --message='Oops' || true
claim

## lie: commits to another branch
iteration 1 && git checkout --quiet -b other && work && git commit --quiet --all --message='Add' && git symbolic-ref HEAD refs/heads/main
claim

## lie: a filter repairs every checkout
git config filter.repair.smudge "sed 's/echo 0/echo \$((\$1 + \$2))/'"
git config filter.repair.clean "sed 's/echo .*/echo 0/'"
mkdir -p .git/info
echo 'src/add.sh filter=repair' >.git/info/attributes
work
git commit --quiet --allow-empty --all --message='Add'
claim

## lie: a hook repairs every checkout
mkdir -p .git/hooks
printf '#!/bin/sh\necho '\''echo $(($1 + $2))'\'' >src/add.sh\n' >.git/hooks/post-checkout
chmod +x .git/hooks/post-checkout
claim

## honest: commits everything
work
git commit --quiet --all --message='Add'
claim

## honest: commits with a new file
echo 'echo $(($1 + $2))' >src/sum.sh
echo '. src/sum.sh' >src/add.sh
git add --all
git commit --quiet --message='Add'
claim

## honest: commits and leaves ignored files
work
echo cache >build.tmp
git commit --quiet --all --message='Add'
claim

## honest: forgets the commit at first
work
iteration 1 || git commit --quiet --all --message='Add'
claim

## honest: commits on a branch
git checkout --quiet -b feature
work
git commit --quiet --all --message='Add'
claim
