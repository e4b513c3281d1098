//! The end of a run: everything it says, on stderr, on stdout, in the file of `--json`.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use voxelize::format;
use voxelize::{Error, Result};

use super::errors;
use super::facts::{Ending, Facts};
use super::plan::{Plan, Telling, Voice};
use super::typed::JsonTarget;
use super::{json, summary, why};

/// Says how it ended, and gives the exit code.
pub fn tell(telling: &Telling, plan: Option<&Plan>, facts: &Facts, ending: &Ending) -> u8 {
    let code = match ending {
        Ending::Failed(error, code) => {
            errors::print(error);
            *code
        }
        Ending::Closed => errors::OK,
        Ending::Doubtful => {
            if let Some(plan) = plan {
                print(telling, plan, facts);
            }
            if let Some(found) = &facts.doubt {
                let _ = writeln!(io::stderr(), "{}", found.refusal());
            }
            errors::NO
        }
        Ending::Done | Ending::Planned | Ending::Skipped => {
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
    write_json_after(target, &line, code)
}

/// Writes the JSON of what ended with `code`, and gives the exit code.
pub fn write_json_after(target: &JsonTarget, lines: &str, code: u8) -> u8 {
    match write_json(target, lines) {
        // The first failure is the one to report.
        Err(error) if code == errors::OK => {
            errors::print(&error);
            errors::exit_code(&error, None)
        }
        _ => code,
    }
}

/// Makes sure that the file of `--json` can be written, and is none of `others`.
///
/// # Errors
/// If not.
pub fn check_json_file(path: &Path, others: &[(&Path, &str)]) -> Result<()> {
    refuse_same(path, others)?;
    format::probe_output(path).map_err(|e| errors::or_hint(e, "--json=FILE names another file"))
}

/// Refuses to write over a file of this run.
///
/// # Errors
/// If `path` is one of `others`.
pub fn refuse_same(path: &Path, others: &[(&Path, &str)]) -> Result<()> {
    match others.iter().find(|(other, _)| real(path) == real(other)) {
        Some((_, what)) => {
            let error = Error::usage(format!("is {what}, and would be overwritten"));
            Err(error.in_file(path).with_hint("name another file"))
        }
        None => Ok(()),
    }
}

/// The file that a name stands for; one that does not exist yet is known by its folder and name.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()).join(name)
        }
        _ => path.to_path_buf(),
    })
}

/// Adds a line with its label, as summaries have them.
pub fn line(text: &mut String, label: &str, said: &str) {
    *text += &format!("{label:<8}{said}\n");
}

/// Says a text that was asked for, and gives the exit code.
pub fn show(text: &str) -> u8 {
    match to_stdout(text) {
        Ok(()) => errors::OK,
        Err(error) => {
            errors::print(&error);
            errors::exit_code(&error, None)
        }
    }
}

/// Whether the JSON of a run without a plan may go to `path`. Nothing has made sure then that it is
/// not the mesh: so only if there is no such file, or it is JSON of this kind, and not the very
/// file that the error is about.
pub fn may_replace(path: &Path, error: &Error) -> bool {
    let is_ours = || std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(br#"{"schema":"#));
    error.file() != Some(&path.display().to_string()) && (!path.exists() || is_ours())
}

fn print(telling: &Telling, plan: &Plan, facts: &Facts) {
    let mut lines = Vec::new();
    if telling.json != Some(JsonTarget::Stdout) && telling.voice != Voice::Quiet {
        lines.extend(summary::lines(plan, facts));
        lines.extend(facts.odd_lines(telling.voice));
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
        JsonTarget::File(path) => format::save_bytes(path, "json", |out| out.write_all(line.as_bytes()))
            .map(drop)
            .map_err(|e| e.with_hint("--json=FILE names another file")),
    }
}

/// Writes to standard output, where a reader that went away is no error.
///
/// # Errors
/// If it cannot be written for another reason, such as a full disk.
pub fn to_stdout(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(stdout_failure) {
        Err(error) if !errors::is_closed_pipe(&error) => Err(error),
        _ => Ok(()),
    }
}

/// The error for standard output that cannot be written.
pub fn stdout_failure(error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::BrokenPipe => Error::closed_pipe(),
        _ => Error::output(format!("standard output cannot be written: {error}"))
            .with_hint("redirect it to a place that can"),
    }
}
