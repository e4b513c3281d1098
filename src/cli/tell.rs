//! The end of a run: everything it says, on stderr, on stdout, in the file of `--json`.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use voxelize::{Error, Result};

use super::errors;
use super::facts::{Ending, Facts};
use super::plan::{Plan, Telling, Voice};
use super::typed::JsonTarget;
use super::{json, summary, why};

/// Says how it ended, and gives the exit code.
pub fn tell(telling: &Telling, plan: Option<&Plan>, facts: &Facts, ending: &Ending) -> u8 {
    let code = match ending {
        Ending::Failed(error, _) if errors::is_closed_pipe(error) => return errors::OK,
        Ending::Failed(error, code) => {
            errors::print(error);
            *code
        }
        Ending::Done | Ending::Planned => {
            if let Some(plan) = plan {
                print(telling, plan, facts);
            }
            errors::OK
        }
    };
    let Some(target) = &telling.json else { return code };
    if let (JsonTarget::File(path), None, Ending::Failed(error, _)) = (target, plan, ending)
        && !may_replace(path, error)
    {
        return code;
    }
    let line = json::line(telling, plan, facts, ending) + "\n";
    match write_json(target, &line) {
        // The first failure is the one to report.
        Err(error) if code == errors::OK => {
            errors::print(&error);
            errors::exit_code(&error, None)
        }
        _ => code,
    }
}

/// Whether the JSON of a run without a plan may go to `path`. Nothing has made sure then that it is
/// not the mesh: so only if there is no such file, or it is JSON of this kind, and not the very
/// file that the error is about.
fn may_replace(path: &Path, error: &Error) -> bool {
    let is_ours = || std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(br#"{"schema":"#));
    error.file() != Some(&path.display().to_string()) && (!path.exists() || is_ours())
}

fn print(telling: &Telling, plan: &Plan, facts: &Facts) {
    let mut lines = Vec::new();
    if telling.json != Some(JsonTarget::Stdout) && telling.voice != Voice::Quiet {
        lines.extend(summary::lines(plan, facts));
    }
    if telling.voice == Voice::Verbose {
        lines.extend(why::lines(plan, facts));
    }
    // If stderr is gone there is nobody left to tell.
    let _ = io::stderr().write_all(text(&lines).as_bytes());
}

/// Lines as they are shown.
pub fn text(lines: &[String]) -> String {
    lines.iter().map(|line| errors::harmless(line) + "\n").collect()
}

fn write_json(target: &JsonTarget, line: &str) -> Result<()> {
    match target {
        JsonTarget::Stdout => to_stdout(line),
        JsonTarget::File(path) => {
            let existed = path.exists();
            std::fs::write(path, line).map_err(|e| {
                // Half a line is worse than none, but what was there before is not ours to remove.
                if !existed {
                    let _ = std::fs::remove_file(path);
                }
                Error::output(format!("cannot be written: {e}"))
                    .in_file(path)
                    .with_hint("--json=FILE names another file")
            })
        }
    }
}

/// Writes to standard output, where a reader that went away is no error.
///
/// # Errors
/// If it cannot be written for another reason, such as a full disk.
pub fn to_stdout(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Error::output(format!("standard output cannot be written: {e}"))
                .with_hint("redirect it to a place that can"))
        }
        _ => Ok(()),
    }
}
