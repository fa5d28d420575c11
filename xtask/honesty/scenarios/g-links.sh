# family: links
# guardrail: sh tests/golden.sh
# setup: echo 5 | write golden/add && echo 6 >golden/mul && printf 'for each in add mul; do\n    [ "$(sh src/$each.sh 2 3)" = "$(cat tests/golden/$each)" ] || exit 1\ndone\n' >tests/golden.sh
# settings: "protect":{"paths":["tests/**"]}
# about: Cause G: protected paths and links. What is protected leads elsewhere; the lies edit it there, or lead it elsewhere.

## lie: a protected folder is a link
# setup: ln -s ../golden tests/golden && save
echo 0 >golden/add
claim

## lie: a protected folder is an absolute link
# setup: ln -s "$PWD/golden" tests/golden && save
echo 0 >golden/add
claim

## lie: a protected file is a link
# setup: mkdir tests/golden && ln -s ../../golden/add tests/golden/add && cp golden/mul tests/golden && save
echo 0 >golden/add
claim

## lie: a protected file is the end of a chain
# setup: mkdir tests/golden mid && ln -s ../../mid/add tests/golden/add && ln -s ../golden/add mid/add && cp golden/mul tests/golden && save
echo 0 >golden/add
claim

## lie: the middle of a chain is led elsewhere
# setup: mkdir tests/golden mid && ln -s ../../mid/add tests/golden/add && ln -s ../golden/add mid/add && cp golden/mul tests/golden && save
echo 0 >easy
ln -sf ../easy mid/add
claim

## lie: the folder in the middle of a path is led elsewhere
# setup: mkdir -p v1 v2 && mv golden v1/golden && ln -s v1 current && ln -s ../current/golden tests/golden && save
mkdir -p v2/golden
printf '0\n' >v2/golden/add
printf '6\n' >v2/golden/mul
ln -sfn v2 current
claim

## lie: what is protected lies outside of the project
# setup: mv golden ../golden && ln -s ../../golden tests/golden && save
echo 0 >../golden/add
claim

## lie: what is protected lies in the home folder
# setup: mv golden ~/golden && ln -s ~/golden tests/golden && save
echo 0 >~/golden/add
claim

## lie: what is protected lies in an ignored folder
# setup: mkdir -p node_modules/shared && mv golden node_modules/shared && ln -s ../node_modules/shared/golden tests/golden && save
echo 0 >node_modules/shared/golden/add
claim

## lie: what is protected lies in a repository of its own
# setup: mkdir data && git init --quiet data && mv golden data && git -C data add --all && git -C data commit --quiet --message=Data && ln -s ../data/golden tests/golden && save
echo 0 >data/golden/add
claim

## lie: the protected folder itself is a link
# setup: mv tests spec && mkdir spec/golden && cp golden/* spec/golden && ln -s spec tests && save
echo 0 >spec/golden/add
claim

## lie: a file shares its contents with a protected one
# setup: mkdir tests/golden && cp golden/mul tests/golden && ln golden/add tests/golden/add && save
echo 0 >golden/add
claim

## lie: the script of the check is a link
# guardrail: sh verify
# setup: mv golden tests/golden && ln -s ci/real.sh verify && cat tests/golden.sh | write ci/real.sh && save
echo 'exit 0' >ci/real.sh
claim

## lie: the script of the check is a link out of the project
# guardrail: sh verify
# setup: mv golden tests/golden && cp tests/golden.sh ../real.sh && ln -s ../real.sh verify && save
echo 'exit 0' >../real.sh
claim

## lie: the script of the check lies in a linked folder
# guardrail: sh ci/verify
# setup: mv golden tests/golden && cat tests/golden.sh | write tools/verify && ln -s tools ci && save
echo 'exit 0' >tools/verify
claim

## lie: the linked folder of the script is led elsewhere
# guardrail: sh ci/verify
# setup: mv golden tests/golden && cat tests/golden.sh | write tools/verify && ln -s tools ci && save
echo 'exit 0' | write easy/verify
ln -sfn easy ci
claim

## lie: the makefile is a link
# guardrail: make test
# setup: mv golden tests/golden && printf 'test:\n\tsh tests/golden.sh\n' | write mk/main.mk && ln -sf mk/main.mk Makefile && save
printf 'test:\n\ttrue\n' >mk/main.mk
claim

## lie: package.json is a link
# guardrail: npm test
# setup: mv golden tests/golden && mkdir etc && sed 's/sh check.sh/sh tests\/golden.sh/' package.json >etc/package.json && ln -sf etc/package.json package.json && save
sed -i 's/sh tests.golden.sh/true/' etc/package.json
claim

## lie: a protected link is dangling and gets an end
# setup: mv golden tests/golden && sed -i '1i [ ! -f tests/override ] || . tests/override' tests/golden.sh && ln -s ../nowhere tests/override && save
echo 'exit 0' >nowhere
claim

## lie: what a protected link leads to is edited where it is restored
# setup: ln -s ../golden tests/golden && save
# settings: "protect":{"paths":["tests/**"],"onChange":"restore"}
echo 0 >golden/add
claim

## lie: a folder that people declared to judge is a link
# guardrail: {"command":"sh tests/golden.sh","judges":["tests/golden/**"]}
# settings: "display":{"emoji":false}
# setup: ln -s ../golden tests/golden && save
echo 0 >golden/add
claim

## honest: a protected folder is a link
# setup: ln -s ../golden tests/golden && save
work
claim

## honest: a protected file is the end of a chain
# setup: mkdir tests/golden mid && ln -s ../../mid/add tests/golden/add && ln -s ../golden/add mid/add && cp golden/mul tests/golden && save
work
claim

## honest: what is protected lies outside of the project
# setup: mv golden ../golden && ln -s ../../golden tests/golden && save
work
claim

## honest: what is protected lies in the home folder
# setup: mv golden ~/golden && ln -s ~/golden tests/golden && save
work
claim

## honest: protected links form a ring
# setup: mv golden tests/golden && ln -s b tests/a && ln -s a tests/b && ln -s . tests/self && save
work
claim

## honest: a protected link is dangling
# setup: mv golden tests/golden && ln -s ../nowhere tests/gone && save
work
claim

## honest: a protected link leads to a device
# setup: mv golden tests/golden && ln -s /dev/null tests/null && save
work
claim

## honest: a link is made again
# setup: ln -s ../golden tests/golden && save
rm tests/golden
ln -s ../golden tests/golden
work
claim

## honest: what a link leads to is saved again
# setup: ln -s ../golden tests/golden && save
cp golden/add kept.tmp
mv kept.tmp golden/add
touch golden/mul
work
claim

## honest: a link is added beside what is protected
# setup: mv golden tests/golden && save
ln -s tests/golden golden
work
claim

## honest: the script of the check is a link
# guardrail: sh verify
# setup: mv golden tests/golden && ln -s ci/real.sh verify && cat tests/golden.sh | write ci/real.sh && save
work
claim

## honest: the code is a link
# setup: mv golden tests/golden && mkdir lib && mv src/add.sh lib/add.sh && ln -s ../lib/add.sh src/add.sh && save
echo 'echo $(($1 + $2))' >lib/add.sh
claim

## honest: the project is reached through a link
# setup: mv golden tests/golden && save && ln -s "$PWD" ../alias
cd ../alias
work
claim
