//! What the agent says and what it is told: stdout, stderr, stdin, arguments.

use crate::actions::{Agent, Stop};
use crate::output;
use crate::text::{duration, expand, number, size, split_word, unescape};
use crate::{files, system};

/// Does the action if it is one of these.
pub fn perform(agent: &mut Agent, action: &str, rest: &str) -> Result<bool, Stop> {
    match action {
        "print" => agent.out.line(&unescape(rest)?)?,
        "raw" => agent.out.line(rest.as_bytes())?,
        "write" => agent.out.write(&unescape(rest)?)?,
        "claim" => agent.out.line(b"<response>DONE</response>")?,
        "flush" => agent.out.flush()?,
        "stream" => {
            let (lines, bytes) = split_word(rest);
            output::stream(&mut agent.out, number(lines)?, size(bytes)?)?;
        }
        "flood" => output::flood(&mut agent.out, size(rest)?)?,
        "flood-lines" => {
            let (lines, text) = split_word(rest);
            output::flood_lines(&mut agent.out, number(lines)?, &unescape(text)?)?;
        }
        "err" => {
            agent.out.flush()?;
            system::write_all(2, &[unescape(rest)?, b"\n".to_vec()].concat())?;
        }
        "sleep" => {
            agent.out.flush()?;
            if rest.trim() == "forever" {
                return Err(Stop::Exit(system::sleep_forever()));
            }
            std::thread::sleep(duration(rest)?);
        }
        _ => return listen(agent, action, rest),
    }
    Ok(true)
}

fn listen(agent: &mut Agent, action: &str, rest: &str) -> Result<bool, Stop> {
    if !matches!(action, "stdin" | "echo-stdin" | "expect-stdin" | "reject-stdin" | "save-stdin") {
        return Ok(false);
    }
    agent.out.flush()?;
    let heard = agent.stdin()?.to_vec();
    let text = unescape(rest)?;
    let quoted = || format!("{rest:?}; stdin was:\n{}", String::from_utf8_lossy(&heard));
    match action {
        "echo-stdin" => agent.out.write(&heard)?,
        "expect-stdin" if !contains(&heard, &text) => return Err(Stop::Unmet(format!("stdin lacks {}", quoted()))),
        "reject-stdin" if contains(&heard, &text) => return Err(Stop::Unmet(format!("stdin has {}", quoted()))),
        "save-stdin" => files::write_whole(&expand(rest.trim())?, &heard)?,
        _ => {}
    }
    Ok(true)
}

/// Whether `needle` occurs in `text`; the empty needle always does.
pub fn contains(text: &[u8], needle: &[u8]) -> bool {
    needle.is_empty() || text.windows(needle.len()).any(|window| window == needle)
}
