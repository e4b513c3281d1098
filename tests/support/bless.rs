//! Generated files that are kept in the repository: compared by default, rewritten on request.
//!
//! `VOXELIZE_BLESS=1` writes them. That run fails nevertheless, so that a blessing run never counts as a
//! comparison. In CI nothing is blessed.

use std::fs;
use std::path::{Path, PathBuf};

/// Variable that requests new files.
const BLESS: &str = "VOXELIZE_BLESS";

/// Returns a path in the repository.
pub fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Reports whether files are rewritten. Refused in CI.
pub fn is_blessing() -> bool {
    let is_set =
        |name| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    let blessing = is_set(BLESS);
    assert!(
        !blessing || !is_set("CI"),
        "CI is set, where nothing is blessed"
    );
    blessing
}

/// Compares a file, given by its path in the repository, with its expected text. Writes it when blessing.
#[track_caller]
pub fn compare(path: &str, text: &str) {
    compare_all(vec![(path.to_string(), text.to_string())]);
}

/// Compares several files.
#[track_caller]
pub fn compare_all(files: Vec<(String, String)>) {
    let differences: Vec<_> = files
        .iter()
        .filter_map(|(path, text)| difference(path, text))
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn difference(path: &str, text: &str) -> Option<String> {
    let kept = fs::read_to_string(root(path))
        .unwrap_or_default()
        .replace("\r\n", "\n");
    if kept == text {
        return None;
    }
    let changes = changes(&kept, text);
    if is_blessing() {
        fs::write(root(path), text).unwrap();
        return Some(format!(
            "{path} is written anew; this run fails, the next one compares\n{changes}"
        ));
    }
    Some(format!(
        "{path} differs; {BLESS}=1 writes it anew, and fails once more\n{changes}"
    ))
}

/// Returns the lines from the first to the last difference, before and now.
fn changes(kept: &str, now: &str) -> String {
    let kept: Vec<_> = kept.lines().collect();
    let now: Vec<_> = now.lines().collect();
    let same = kept.iter().zip(&now).take_while(|(a, b)| a == b).count();
    let rest = kept.len().min(now.len()) - same;
    let end = kept
        .iter()
        .rev()
        .zip(now.iter().rev())
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    let shown = |sign: &str, lines: &[&str]| -> String {
        lines[same..lines.len() - end]
            .iter()
            .map(|line| format!("{sign} {line}\n"))
            .collect()
    };
    format!(
        "from line {}:\n{}{}",
        same + 1,
        shown("-", &kept),
        shown("+", &now)
    )
}
