//! Does the code keep to its layers? Reads the paths in `src`, and which folder names which crate.
//!
//! Test modules are exempt, comments are not code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of code, each the root of a crate: the library with the command line, the kernels, and the numbers.
const ROOTS: [&str; 3] = ["src", "kernel/src", "geom/src"];

/// Which part may use which others. `numbers ← kernel ← error, text ← par ← geom ← mesh, grid ← run ← rule ← lib ← compare, view ← cli`; formats know grids and numbers, not meshes or rules. `lib` is the
/// crate's root: what is re-exported there.
const LAYERS: &[(&str, &[&str])] = &[
    ("numbers", &[]),
    ("kernel/bits", &[]),
    ("kernel/memory", &[]),
    ("kernel", &["kernel/bits", "kernel/memory", "numbers"]),
    ("error", &["numbers"]),
    ("text", &["numbers"]),
    ("par", &["error"]),
    ("geom", &["error", "par", "kernel", "numbers"]),
    ("mesh", &["error", "text", "par", "geom", "kernel"]),
    ("grid", &["error", "par", "geom", "kernel"]),
    ("format", &["error", "text", "par", "geom", "grid", "kernel"]),
    ("run", &["error", "text", "par", "geom", "mesh", "grid", "kernel"]),
    ("rule", &["error", "text", "par", "geom", "mesh", "grid", "kernel", "run"]),
    ("job", &["error", "text", "par", "geom", "mesh", "grid", "format", "kernel", "run", "rule"]),
    ("lib", &["error", "text", "par", "geom", "mesh", "grid", "format", "kernel", "run", "rule", "job"]),
    ("compare", &["error", "par", "geom", "mesh", "grid", "format", "run", "rule", "job", "lib"]),
    ("view", &["error", "par", "geom", "mesh", "grid", "format", "job", "lib"]),
    ("tool", &["text", "par", "format", "compare"]),
    // The library only by its public name, `voxelize::…`.
    ("cli", &[]),
    ("main", &["cli"]),
];

/// Which folder names which crate: one each. A second needs a reason.
const CRATES: &[(&str, &[&str], &str)] = &[
    ("base64", &["mesh"], ""),
    ("blake3", &["grid"], ""),
    ("bytemuck", &["kernel/memory"], ""),
    ("clap", &["cli"], ""),
    ("clap_complete", &["cli"], ""),
    ("clap_mangen", &["cli"], ""),
    ("color_quant", &["job"], ""),
    ("dashu_int", &["numbers"], ""),
    ("dashu_ratio", &["numbers"], ""),
    ("draco_core", &["mesh"], ""),
    ("earcut", &["mesh"], ""),
    ("fearless_simd", &["kernel"], ""),
    ("flate2", &["format", "mesh"], "format packs .npz, .nrrd and .nii.gz, mesh reads .stl.gz"),
    ("image_webp", &["mesh"], ""),
    ("indicatif", &["cli"], ""),
    ("memmap2", &["kernel/memory"], ""),
    ("ndarray", &["grid"], ""),
    ("png", &["mesh", "view"], "mesh reads textures, view writes pictures"),
    ("quick_xml", &["format", "mesh"], "format reads heads of .vti, mesh reads 3MF"),
    ("rayon", &["par"], ""),
    ("rustix", &["format", "job"], "format exchanges folders, job asks for the free space of a disk"),
    (
        "serde_json",
        &["cli", "format", "grid", "mesh"],
        "grid saves what is known of it, format describes arrays of Zarr, mesh reads glTF; the schema of --json is the cli's own",
    ),
    ("shlex", &["cli"], ""),
    ("signal_hook", &["cli"], ""),
    ("stl_io", &["cli"], ""),
    ("strsim", &["cli"], ""),
    ("tempfile", &["format"], ""),
    ("toml_edit", &["compare"], ""),
    (
        "voxelize_geom",
        &["error", "geom", "kernel", "text"],
        "geom shows its numbers, kernel names it as crate::geom",
    ),
    ("voxelize_kernel", &["lib"], ""),
    ("zip", &["format", "mesh"], "format reads .npz, mesh reads 3MF"),
    ("zune_jpeg", &["mesh"], ""),
];

/// One source file.
struct Source {
    path: PathBuf,
    /// The file or folder of the table of layers that it belongs to.
    part: String,
    /// Its module, by names from the root of its crate, which is the first.
    module: Vec<String>,
    /// Whether it is the `mod.rs` of a folder, or the root.
    is_folder: bool,
    /// Its code, without comments and test modules.
    code: String,
}

fn sources() -> Vec<Source> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = vec![];
    for root in ROOTS {
        let mut folders = vec![package.join(root)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    sources.push(source(root, path.strip_prefix(package.join(root)).unwrap()));
                }
            }
        }
    }
    assert!(sources.len() > 50, "only {} files", sources.len());
    sources
}

fn source(root: &str, within: &Path) -> Source {
    let path = Path::new(root).join(within);
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path)).unwrap();
    let stem = within.with_extension("");
    let names = stem.iter().map(|name| name.to_str().unwrap().to_string());
    let mut module: Vec<_> = [root.to_string()].into_iter().chain(names).collect();
    let part = part(&module[..2]);
    let is_folder = matches!(module.last().unwrap().as_str(), "mod" | "lib" | "main");
    // `main` is a crate of its own, whose one module has that name.
    if is_folder && module[1] != "main" {
        module.pop();
    }
    Source { path, part, module, is_folder, code: code(&text) }
}

/// The part that a module belongs to, by the first names of its path.
fn part(module: &[String]) -> String {
    match module {
        [root, first, ..] if root == "kernel/src" => {
            let part = format!("kernel/{first}");
            if LAYERS.iter().any(|(known, _)| *known == part) { part } else { "kernel".to_string() }
        }
        [root] if root == "kernel/src" => "kernel".to_string(),
        [root, ..] if root == "geom/src" => "numbers".to_string(),
        [_, first, ..] => first.clone(),
        _ => "lib".to_string(),
    }
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

/// Every path in `code` that begins with `crate`, `super` or `self`, name by name; groups in braces are
/// several.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = vec![];
    for first in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(first) {
            if !code[..at].ends_with(|c: char| is_word(c) || c == ':') {
                path(&code[at..], &mut vec![], &mut found);
            }
        }
    }
    found
}

/// The paths that `text` begins with, behind `before`; the answer is what follows them.
fn path<'a>(text: &'a str, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    let mut rest = text.trim_start();
    if let Some(group) = rest.strip_prefix('{') {
        rest = group.trim_start();
        while !rest.is_empty() && !rest.starts_with('}') {
            rest = path(rest, before, found).trim_start();
            // An alias, a comma: whatever stands before the next name.
            let next = rest.find([',', '}']).unwrap_or(rest.len());
            rest = rest[next..].strip_prefix(',').unwrap_or(&rest[next..]).trim_start();
        }
        return rest.strip_prefix('}').unwrap_or(rest);
    }
    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(length);
    before.push(name.to_string());
    let rest = match rest.strip_prefix("::") {
        Some(further) if further.starts_with(|c| is_word(c) || c == '{') => path(further, before, found),
        _ => {
            found.push(before.clone());
            rest
        }
    };
    before.pop();
    rest
}

/// Which modules use which: by their numbers among the sources.
struct Modules<'a> {
    sources: &'a [Source],
    numbers: BTreeMap<&'a [String], usize>,
    /// What folders show of their children: the folder and the name, and the child.
    shown: BTreeMap<(usize, String), usize>,
}

impl<'a> Modules<'a> {
    fn of(sources: &'a [Source]) -> Self {
        let numbers = sources.iter().enumerate().map(|(n, source)| (&source.module[..], n)).collect();
        let mut modules = Self { sources, numbers, shown: BTreeMap::new() };
        let mut shown = BTreeMap::new();
        for (n, source) in sources.iter().enumerate().filter(|(_, source)| source.is_folder) {
            for (at, _) in source.code.match_indices("use ") {
                let mut names = vec![];
                path(&source.code[at + 4..], &mut vec![], &mut names);
                for mut name in names.into_iter().filter(|name| name.len() > 1) {
                    if name[0] == "self" {
                        name.remove(0);
                    }
                    let target = modules.walk(n, &name);
                    if target != n {
                        shown.insert((n, name.pop().unwrap()), target);
                    }
                }
            }
        }
        modules.shown = shown;
        modules
    }

    /// The module that holds what `path` names, from a module on.
    fn walk(&self, from: usize, path: &[String]) -> usize {
        let mut at = from;
        for name in path {
            let mut child = self.sources[at].module.clone();
            child.push(name.clone());
            match self.numbers.get(&child[..]).or_else(|| self.shown.get(&(at, name.clone()))) {
                Some(next) => at = *next,
                None => break,
            }
        }
        at
    }

    /// The modules that one uses by paths from its crate's root, its own, or those above.
    fn uses(&self, n: usize) -> BTreeSet<usize> {
        let source = &self.sources[n];
        let mut used = BTreeSet::new();
        // Other crates are no modules of this one, and random numbers are those of tests.
        let is_own = |path: &Vec<String>| path.get(1).is_none_or(|name| name != "kernel" && name != "random");
        for path in paths(&source.code).into_iter().filter(is_own) {
            let supers = path.iter().take_while(|name| *name == "super").count();
            let (base, rest) = match path[0].as_str() {
                "crate" => (&source.module[..1], &path[1..]),
                // A path of a module within the file: what it names is in the file, or above.
                _ if supers >= source.module.len() => continue,
                _ => (&source.module[..source.module.len() - supers], &path[supers.max(1)..]),
            };
            used.extend(self.numbers.get(base).map(|base| self.walk(*base, rest)));
        }
        used.remove(&n);
        used
    }
}

#[test]
fn no_layer_uses_one_above_it() {
    let sources = sources();
    let mut seen = 0;
    let modules = Modules::of(&sources);
    for (n, source) in sources.iter().enumerate() {
        let (_, allowed) = LAYERS
            .iter()
            .find(|(part, _)| *part == source.part)
            .unwrap_or_else(|| panic!("{} is in no layer", source.path.display()));
        let mut used: BTreeSet<_> = modules.uses(n).into_iter().map(|n| sources[n].part.clone()).collect();
        // The names for the other crates.
        if source.code.contains("crate::kernel") || source.code.contains("voxelize_kernel") {
            used.insert("kernel".to_string());
        }
        let is_named = source.part.starts_with("kernel") && source.code.contains("crate::geom");
        if is_named || source.code.contains("voxelize_geom") {
            used.insert("numbers".to_string());
        }
        used.remove(&source.part);
        for part in used {
            assert!(allowed.contains(&part.as_str()), "{} uses {part}", source.path.display());
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} uses were found");
}

/// A table in a `mod.rs` may name its children, which use its types; otherwise modules form no cycle.
#[test]
fn no_modules_form_a_circle() {
    let sources = sources();
    let modules = Modules::of(&sources);
    let mut left: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (n, source) in sources.iter().enumerate() {
        let is_child = |other: &usize| source.is_folder && sources[*other].module.starts_with(&source.module);
        left.insert(n, modules.uses(n).into_iter().filter(|n| !is_child(n)).collect());
    }
    let arrows: usize = left.values().map(BTreeSet::len).sum();
    assert!(arrows > 200, "only {arrows} uses were found");
    // What uses nothing that is left is in no circle, and so on; then what nothing uses.
    while let Some(n) = left.iter().find(|(_, uses)| uses.is_empty()).map(|(n, _)| *n) {
        left.remove(&n);
        for uses in left.values_mut() {
            uses.remove(&n);
        }
    }
    while let Some(n) = left.keys().copied().find(|n| !left.values().any(|uses| uses.contains(n))) {
        left.remove(&n);
    }
    let name = |n: &usize| sources[*n].path.display().to_string();
    let lines = left.iter().map(|(n, uses)| {
        format!("{} uses {}", name(n), uses.iter().map(name).collect::<Vec<_>>().join(", "))
    });
    assert!(left.is_empty(), "modules in circles:\n{}", lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn paths_are_found() {
    let mut seen = 0;
    for (text, expected) in [
        ("use crate::kernel::Level;", "crate::kernel::Level"),
        ("fn f() { crate::run::bytes(1) }", "crate::run::bytes"),
        (
            "use crate::{\n    error::{Error, Result as R},\n    rule::Rule,\n};",
            "crate::error::Error crate::error::Result crate::rule::Rule",
        ),
        ("use super::super::kernel::Level;", "super::super::kernel::Level"),
        ("use self::bits::{self, BitGrid};", "self::bits::self self::bits::BitGrid"),
        ("pub(super) fn f(a: super::Run<'_>) -> mycrate::A {}", "super::Run"),
        ("pub use super::formats::*;", "super::formats"),
    ] {
        let found: Vec<_> = paths(&code(text)).iter().map(|path| path.join("::")).collect();
        assert_eq!(found.join(" "), expected, "{text}");
        seen += found.len();
    }
    assert_eq!(seen, 10);
    let commented = "/// As [`crate::Mesh`]\n#[cfg(test)]\nmod tests {\n    use crate::Mesh;\n}\n";
    assert!(paths(&code(commented)).is_empty());
}

/// The name of a type that a line declares, outside of any other.
fn declared(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub(crate) ").or_else(|| line.strip_prefix("pub(super) ")).unwrap_or(line);
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|c| !is_word(c)).next()
}

#[test]
fn a_type_name_means_one_thing() {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources() {
        for name in source.code.lines().filter_map(declared) {
            found.entry(name.to_string()).or_default().push(source.path.display().to_string());
        }
    }
    assert!(found.len() > 200, "only {} types", found.len());
    for (name, paths) in found {
        assert_eq!(paths.len(), 1, "{name} is declared in {}", paths.join(", "));
    }
}

/// The crates of `[dependencies]` as code names them.
fn dependencies() -> BTreeSet<String> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifests = ["Cargo.toml", "kernel/Cargo.toml", "geom/Cargo.toml"]
        .map(|name| fs::read_to_string(package.join(name)).unwrap());
    let text = manifests.concat();
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

/// Whether code has a path that begins with the name of a crate.
fn names_crate(code: &str, name: &str) -> bool {
    let begins = |at: usize| !code[..at].ends_with(|c: char| is_word(c) || c == ':');
    code.match_indices(&format!("{name}::")).any(|(at, _)| begins(at))
        || code.contains(&format!("use {name} as "))
}

#[test]
fn every_crate_lives_in_its_folder() {
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let sources = sources();
    for name in dependencies() {
        let uses = |source: &&Source| names_crate(&source.code, &name);
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
    for root in ["src/lib.rs", "src/main.rs", "kernel/src/lib.rs", "geom/src/lib.rs"] {
        let source = sources.iter().find(|source| source.path == Path::new(root)).unwrap();
        assert!(source.code.contains("#![forbid(unsafe_code)]"), "{root}");
    }
}

/// The command line writes files through the names of its run, which know every file: `job/names.rs`.
#[test]
fn the_command_line_writes_no_file_by_a_path() {
    const WRITES: [&str; 7] =
        ["format::save", "fs::write", "fs::rename", "fs::remove_file", "fs::copy", "File::create", ".save("];
    let mut seen = 0;
    let mut uses = 0;
    for source in sources().iter().filter(|source| source.part == "cli") {
        for write in WRITES {
            assert!(!source.code.contains(write), "{}: {write}", source.path.display());
        }
        seen += 1;
        uses += source.code.matches(".save_source(").count() + source.code.matches(".save_bytes(").count();
    }
    assert!(seen > 40 && uses > 5, "{seen} files, {uses} uses of the names");
}
