//! The fuzz targets match the project. They are a separate package that no other test compiles: `just fuzz
//! TARGET SECONDS`, docs/internals/fuzzing.md.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::support::bless;

fn text(path: &str) -> String {
    fs::read_to_string(bless::root(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Reports whether this is the published package, which has no targets. The repository has them.
fn is_packaged() -> bool {
    !bless::root("fuzz").exists() && !bless::root(".git").exists()
}

#[test]
fn every_target_has_its_check_its_seeds_and_its_row() {
    if is_packaged() {
        return;
    }
    let manifest = text("fuzz/Cargo.toml");
    let (_, bins) = manifest.split_once("[[bin]]").expect("a target");
    let names: Vec<_> = bins
        .lines()
        .filter_map(|line| line.strip_prefix("name = "))
        .collect();
    assert!(names.len() >= 7, "{names:?}");
    let seeds = text("examples/make_fuzz_seeds/main.rs");
    let docs = text("docs/internals/fuzzing.md");
    let replay = text("tools/fuzz/examples/replay.rs");
    for name in names.iter().map(|name| name.trim_matches('"')) {
        assert!(
            text(&format!("fuzz/fuzz_targets/{name}.rs"))
                .contains(&format!("checks::{name}::check"))
        );
        assert!(
            text(&format!("tools/fuzz/src/{name}.rs")).contains("pub fn check(bytes: &[u8])"),
            "{name}"
        );
        assert!(
            seeds.contains(&format!("(\"{name}\", ")),
            "{name} has no seeds"
        );
        assert!(
            replay.contains(&format!("(\"{name}\", checks::{name}::check)")),
            "{name} is not replayed"
        );
        let rows = docs
            .lines()
            .filter(|line| line.starts_with(&format!("| `{name}` |")))
            .count();
        assert_eq!(rows, 2, "{name}: what it asks, and what a run gave");
    }
}

/// A word that is missing from the dictionary is never tried.
///
/// `VOXELIZE_BLESS=1` adds the missing words and fails once more.
#[test]
fn the_dictionary_of_plans_has_every_option_and_command() {
    if is_packaged() {
        return;
    }
    let help = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_voxelize"))
            .args(words)
            .arg("--help")
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let program = help(&[]);
    let (_, list) = program.split_once("\nCommands;").unwrap();
    let (list, _) = list.split_once("If a mesh has").unwrap();
    let commands: Vec<&str> = list
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.contains(&"clearance"), "{commands:?}");
    let mut pages = program.clone() + &help(&["a.zarr", "--region", "1/2"]);
    for command in &commands {
        pages += &help(&[command]);
    }
    let is_word = |c: char| c.is_ascii_lowercase() || c == '-';
    let options: BTreeSet<&str> = pages
        .split(|c| !is_word(c))
        .filter(|word| {
            word.strip_prefix("--")
                .is_some_and(|long| long.starts_with(|c| c != '-'))
        })
        .collect();
    assert!(options.len() > 30, "{options:?}");
    let mut dictionary = text("fuzz/dictionaries/plan.dict");
    for word in options.into_iter().chain(commands) {
        let line = format!("\"{word}\"");
        if !dictionary.lines().any(|known| known == line) {
            dictionary += &format!("{line}\n");
        }
    }
    bless::compare("fuzz/dictionaries/plan.dict", &dictionary);
}
