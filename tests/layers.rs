//! Does the code keep to its layers? Reads the paths in `src`, and which folder names which crate.
//!
//! Test modules are exempt, comments are not code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which part may use which others. `error ← par ← geom ← mesh, grid ← kernel ← run ← rule ← lib ←
/// compare, view ← cli`; formats know grids, not meshes or rules. `lib` is the crate's root: what
/// is re-exported there.
const LAYERS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("memory", &[]),
    ("par", &["error"]),
    ("geom", &["error", "par"]),
    ("mesh", &["error", "memory", "par", "geom"]),
    ("grid", &["error", "memory", "par", "geom"]),
    ("format", &["error", "par", "grid"]),
    ("kernel", &["error", "memory", "par", "geom", "mesh", "grid"]),
    ("run", &["error", "par", "geom", "mesh", "grid", "kernel"]),
    ("rule", &["error", "par", "geom", "mesh", "grid", "kernel", "run"]),
    ("lib", &["error", "par", "geom", "mesh", "grid", "format", "kernel", "run", "rule"]),
    ("compare", &["error", "par", "geom", "mesh", "grid", "format", "kernel", "run", "rule", "lib"]),
    ("view", &["error", "par", "geom", "mesh", "grid", "format", "lib"]),
    // The library only by its public name, `voxelize::…`.
    ("cli", &[]),
    ("main", &["cli"]),
];

/// Which folder names which crate: one each. A second needs a reason.
const CRATES: &[(&str, &[&str], &str)] = &[
    ("blake3", &["grid"], ""),
    ("bytemuck", &["memory"], ""),
    ("clap", &["cli"], ""),
    ("dashu_int", &["geom"], ""),
    ("dashu_ratio", &["geom"], ""),
    ("fearless_simd", &["kernel"], ""),
    ("indicatif", &["cli"], ""),
    ("memmap2", &["memory"], ""),
    ("ndarray", &["grid"], ""),
    ("png", &["view"], ""),
    ("rayon", &["par"], ""),
    ("serde_json", &["cli", "grid"], "grid saves what is known of it; the schema of --json is the cli's own"),
    ("shlex", &["cli"], ""),
    ("signal_hook", &["cli"], ""),
    ("tempfile", &["format"], ""),
    ("toml_edit", &["compare"], ""),
    ("vox_format", &["format"], ""),
    ("zip", &["format"], ""),
];

/// One source file.
struct Source {
    path: PathBuf,
    /// The file or folder directly below `src` that it belongs to.
    part: String,
    /// How many modules deep it is: 1 for `src/par.rs` and `src/geom/mod.rs`.
    depth: usize,
    /// Its code, without comments and test modules.
    code: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut sources) = (vec![root.clone()], vec![]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(source(&root, path));
            }
        }
    }
    assert!(sources.len() > 50, "only {} files", sources.len());
    sources
}

fn source(root: &Path, path: PathBuf) -> Source {
    let within = path.strip_prefix(root).unwrap().with_extension("");
    let names: Vec<_> = within.iter().map(|name| name.to_str().unwrap().to_string()).collect();
    let depth = match (names[0].as_str(), names.last().unwrap().as_str()) {
        ("lib" | "main", _) => 0,
        (_, "mod") => names.len() - 1,
        _ => names.len(),
    };
    let code = code(&fs::read_to_string(&path).unwrap());
    Source { part: names[0].clone(), depth, code, path }
}

/// The text without comments and test modules.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" && lines.peek().is_some_and(|next| next.starts_with("mod ")) {
            let whole = lines.peek().is_some_and(|next| next.ends_with(';'));
            lines.by_ref().find(|line| whole || *line == "}");
            continue;
        }
        // A `//` within a text hides the rest of its line, which costs nothing here.
        code += line.split("//").next().unwrap();
        code.push('\n');
    }
    code
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What follows every `prefix` that begins a path.
fn after<'a>(code: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    let begins = |at: usize| !code[..at].ends_with(|c: char| is_word(c) || c == ':');
    code.match_indices(prefix)
        .filter(move |(at, _)| begins(*at))
        .map(move |(at, _)| &code[at + prefix.len()..])
}

/// The first names of `rest`, the end of a path: several for a group in braces.
fn names(rest: &str) -> Vec<String> {
    let first = |text: &str| text.trim().chars().take_while(|c| is_word(*c)).collect::<String>();
    let Some(group) = rest.strip_prefix('{') else { return vec![first(rest)] };
    let (mut names, mut depth, mut start) = (vec![], 0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(first(&group[start..at]));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The parts that a file uses by paths from the root of its crate.
fn used(source: &Source) -> BTreeSet<String> {
    let parts: Vec<_> = LAYERS.iter().map(|(part, _)| *part).collect();
    let mut used = BTreeSet::new();
    let to_root = "super::".repeat(source.depth);
    let mut prefixes = vec!["crate::"];
    if source.depth > 0 {
        prefixes.push(&to_root);
    }
    for prefix in prefixes {
        for name in after(&source.code, prefix).flat_map(names) {
            // What is no part is re-exported by the root.
            let part = if parts.contains(&name.as_str()) { name } else { "lib".to_string() };
            used.insert(part);
        }
    }
    if source.depth == 0 {
        for part in parts {
            if after(&source.code, &format!("{part}::")).next().is_some() {
                used.insert(part.to_string());
            }
        }
    }
    used.remove(&source.part);
    used
}

#[test]
fn no_layer_uses_one_above_it() {
    let mut seen = 0;
    for source in sources() {
        let (_, allowed) = LAYERS
            .iter()
            .find(|(part, _)| *part == source.part)
            .unwrap_or_else(|| panic!("{} is in no layer", source.path.display()));
        for part in used(&source) {
            assert!(allowed.contains(&part.as_str()), "{} uses {part}", source.path.display());
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} uses were found");
}

#[test]
fn violations_are_found() {
    let source = |part: &str, depth, text: &str| {
        let (part, path) = (part.to_string(), PathBuf::new());
        used(&Source { path, part, depth, code: code(text) }).into_iter().collect::<Vec<_>>().join(" ")
    };
    for (part, depth, text, uses) in [
        ("grid", 2, "use crate::kernel::Level;", "kernel"),
        ("grid", 2, "fn f() { crate::run::bytes(1) }", "run"),
        ("grid", 2, "use crate::{\n    error::{Error, Result},\n    rule::Rule,\n};", "error rule"),
        ("grid", 2, "use super::super::kernel::Level;", "kernel"),
        ("grid", 1, "use super::kernel::Level;", "kernel"),
        ("grid", 2, "use super::bits::BitGrid;", ""),
        ("grid", 2, "use crate::grid::BitGrid;", ""),
        ("grid", 2, "use crate::Mesh;", "lib"),
        ("grid", 2, "/// As [`crate::Mesh`]\n#[cfg(test)]\nmod tests {\n    use crate::Mesh;\n}\n", ""),
        ("lib", 0, "pub use cli::Args;", "cli"),
    ] {
        assert_eq!(source(part, depth, text), uses, "{text}");
    }
}

/// The crates of `[dependencies]` as code names them.
fn dependencies() -> BTreeSet<String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let text = fs::read_to_string(manifest).unwrap();
    let mut within = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.starts_with('[') {
            within = line.ends_with("dependencies]") && !line.contains("dev-");
        } else if let Some((name, _)) = line.split_once(" = ").filter(|_| within) {
            found.insert(name.trim().replace('-', "_"));
        }
    }
    assert!(found.len() > 5, "{found:?}");
    found
}

#[test]
fn every_crate_lives_in_its_folder() {
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let sources = sources();
    for name in dependencies() {
        let uses = |source: &&Source| after(&source.code, &format!("{name}::")).next().is_some();
        let parts = sources.iter().filter(uses).map(|source| source.part.clone()).collect();
        folders.insert(name, parts);
    }
    for (name, found) in &folders {
        let row = CRATES.iter().find(|(known, ..)| known == name);
        let (_, expected, reason) = row.unwrap_or_else(|| panic!("{name} is not in the table"));
        assert!(!found.is_empty(), "{name} is a dependency that nothing names");
        assert!(found.iter().eq(expected.iter()), "{name} is named in {found:?}, not in {expected:?}");
        assert!(expected.len() == 1 || !reason.is_empty(), "{name}: a second folder needs a reason");
    }
    assert_eq!(folders.len(), CRATES.len(), "the table names a crate that is no dependency");
}

#[test]
fn nothing_is_unsafe() {
    let sources = sources();
    for source in &sources {
        let words = source.code.split(|c: char| !is_word(c));
        assert_eq!(words.filter(|word| *word == "unsafe").count(), 0, "{}", source.path.display());
    }
    for root in ["lib", "main"] {
        let source = sources.iter().find(|source| source.part == root).unwrap();
        assert!(source.code.contains("#![forbid(unsafe_code)]"), "{root}");
    }
}
