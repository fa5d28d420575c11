# family: denied
# guardrail: sh lint.sh
# accepted: complete
# about: Cause M: a tag in a sentence that denies it. The check looks at style only, so that the claim alone decides. The lies name the tag and say that it is not time for it, or contradict it.

## lie: cannot print it yet
echo 'I cannot print <response>DONE</response> yet.'

## lie: will not print it before it works
echo 'I will not print <response>DONE</response> before it works.'

## lie: says what it would print
echo '<response>DONE</response> is what I would print if the tests passed.'

## lie: says when it will print it
echo 'Once the tests pass I will say <response>DONE</response> and stop.'

## lie: quotes the tag and goes on
echo 'Not `<response>DONE</response>` but close to it.'

## lie: asks a question
echo '<response>DONE</response>? Not yet.'

## lie: changes its mind on the line
echo '<response>DONE</response> -- no, wait, one test still fails'

## lie: a row of a table
echo '| <response>DONE</response> | when everything passes |'

## lie: a comment
echo '<!-- <response>DONE</response> goes here when it works -->'

## lie: struck out
echo '~~<response>DONE</response>~~ (one test fails)'

## lie: in Chinese
echo '我还不能输出 <response>DONE</response>，因为测试失败。'

## lie: in German
echo 'Ich schreibe <response>DONE</response> erst, wenn die Tests laufen.'

## lie: two answers, one for each case
echo 'If all pass: <response>DONE</response>, else <response>FAILED</response>'

## lie: contradicts itself on the next line
echo '<response>DONE</response>'
echo '<response>NOT DONE</response>'

## lie: contradicts itself before
echo '<response>FAILED</response>'
echo 'The format would be:'
echo '<response>DONE</response>'

## lie: contradicts itself on the same line
echo '<response>DONE</response><response>NOT YET</response>'

## lie: contradicts itself much later
echo '<response>DONE</response>'
yes 'more output' | head -n 5000
echo '<response>I was wrong</response>'

## lie: the other marker in a sentence
echo 'I must not print <ralph>COMPLETE</ralph> yet, the DONE criteria are not met.'

## lie: the other marker and a contradiction
echo '<ralph>COMPLETE</ralph>'
echo '<response>NOT DONE</response>'

## lie: a message denies it
# dialect: claude
says 'I will print <response>DONE</response> when the tests pass.'
ends 'I will print <response>DONE</response> when the tests pass.'

## lie: the result contradicts the message
# dialect: claude
says '<response>DONE</response>'
ends '<response>NOT DONE</response>'

## lie: a later message contradicts the first
# dialect: claude
says '<response>DONE</response>'
runs 'sh check.sh'
says '<response>STILL FAILING</response>'
ends 'One test fails.'

## lie: codex denies it
# dialect: codex
echo '{"type":"thread.started","thread_id":"t"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"I cannot print <response>DONE</response> yet."}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'

## lie: denies it across lines
# dialect: claude
says 'Do not read <response>DONE</response> into
this: the tests fail.'
ends 'The tests fail.'

## honest: at the end of a sentence
work
echo 'All tests pass. <response>DONE</response>'

## honest: with a full stop
work
echo 'It works: <response>DONE</response>.'

## honest: bold
work
echo '**<response>DONE</response>**'

## honest: in backticks
work
echo 'Status: `<response>DONE</response>`'

## honest: in brackets
work
echo 'Finished (<response>DONE</response>).'

## honest: in a list
work
echo '- adds'
echo '- <response>DONE</response>'

## honest: a heading
work
echo '## <response>DONE</response>'

## honest: a quotation
work
echo '> <response>DONE</response>'

## honest: in markup
work
echo '<b><response>DONE</response></b>'

## honest: with blanks behind it
work
printf '<response>DONE</response>  \t \n'

## honest: followed by a summary
work
echo '<response>DONE</response>'
echo
echo 'I changed src/add.sh so that it adds.'

## honest: in Chinese
work
echo '测试全部通过。<response>DONE</response>。'

## honest: speaks of the tag before it uses it
work
echo 'The tests pass, so I print the tag.'
echo '<response>DONE</response>'

## honest: denied it in the iteration before
iteration 1 && exec echo 'I cannot print <response>DONE</response> yet.'
work
claim

## lie: quotes what it was asked for
echo 'The task asks for this line at the end, and the tests fail:'
echo '> <response>DONE</response>'

## lie: quotes two lines of the prompt
echo '> When everything works, answer'
echo '> <response>DONE</response>'

## lie: quotes it and goes on
echo '> <response>DONE</response>'
echo 'That is still far away.'

## honest: a quotation below a sentence
work
echo 'All tests pass.'
echo
echo '> <response>DONE</response>'
