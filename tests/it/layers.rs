//! Layers of the code. These tests read the paths of all packages and the crates that each package uses.
//!
//! Test modules are exempt; comments are not code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::support::bless::root;
use crate::support::stores::files;

/// Packages: their folders of code, and the names of their roots. Cargo prevents cycles between packages.
const PACKAGES: [(&str, &str); 9] = [
    ("src", "voxelize"),
    ("crates/compare/src", "compare"),
    ("crates/core/src", "core"),
    ("crates/formats/src", "formats"),
    ("crates/geom/src", "geom"),
    ("crates/kernel/src", "kernel"),
    ("crates/meshes/src", "meshes"),
    ("crates/rules/src", "rules"),
    ("crates/view/src", "view"),
];

/// Files and folders at the top of a package, with the ones that each may use. A package without a row has no
/// layers.
const LAYERS: &[(&str, &[&str])] = &[
    ("core/error", &[]),
    ("core/text", &[]),
    ("core/par", &["core/error"]),
    ("core/geom", &["core/error", "core/par"]),
    ("core/grid", &["core/error", "core/par", "core/geom"]),
    ("kernel/bits", &[]),
    ("kernel/memory", &[]),
    ("rules/run", &[]),
    ("rules/rule", &["rules/run"]),
    ("rules/job", &["rules/run", "rules/rule"]),
    // The command uses the library by its public name, `voxelize::…`.
    ("voxelize/cli", &[]),
];

/// Crates that more than one package uses: the packages, and the reason.
const SHARED: [(&str, &str, &str); 7] = [
    (
        "flate2",
        "formats meshes",
        "formats pack .npz, .nrrd and .nii.gz; .stl.gz is unpacked",
    ),
    (
        "png",
        "meshes view",
        "textures are read, pictures are written",
    ),
    (
        "quick-xml",
        "formats meshes",
        "heads of .vti, models of 3MF",
    ),
    (
        "rustix",
        "formats rules",
        "exchange of two folders, free space of a disk",
    ),
    (
        "serde_json",
        "core formats meshes voxelize",
        "records of grids, arrays of Zarr, glTF, and --json",
    ),
    (
        "toml_edit",
        "compare voxelize",
        "lists of goldens, scenes of the command",
    ),
    ("zip", "formats meshes", ".npz and 3MF"),
];

/// Source file.
struct Source {
    /// Path from the root of the workspace.
    path: String,
    /// Package and the file or folder at its top, as in the table of layers.
    part: String,
    /// Module path from the root of the package, which is the first name.
    module: Vec<String>,
    /// The file is the `mod.rs` of a folder, or the root.
    is_folder: bool,
    /// Code without comments and test modules.
    code: String,
}

fn sources() -> Vec<Source> {
    let mut sources = vec![];
    for (folder, package) in PACKAGES {
        for (name, bytes) in files(&root(folder)) {
            if let Some(module) = name.strip_suffix(".rs") {
                let path = format!("{folder}/{name}");
                let text = String::from_utf8(bytes).unwrap();
                sources.push(source(package, module, path, &text));
            }
        }
    }
    assert!(sources.len() > 50, "only {} files", sources.len());
    sources
}

/// Returns a source from its path in the package, without the extension.
fn source(package: &str, path_in_package: &str, path: String, text: &str) -> Source {
    let mut module = vec![package.to_string()];
    module.extend(path_in_package.split('/').map(str::to_string));
    let part = module[..2].join("/");
    let is_folder = matches!(module.last().unwrap().as_str(), "mod" | "lib");
    if is_folder {
        module.pop();
    }
    Source {
        path,
        part,
        module,
        is_folder,
        code: code(text),
    }
}

/// Returns the text without comments and test modules.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" && lines.peek().is_some_and(|next| next.starts_with("mod ")) {
            let whole = lines.peek().is_some_and(|next| next.ends_with(';'));
            lines.by_ref().find(|line| whole || *line == "}");
            continue;
        }
        // A `//` within a string hides the rest of its line, which is harmless here.
        code += line.split("//").next().unwrap();
        code.push('\n');
    }
    code
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c| !is_word(c))
}

/// Returns every path in `code` that begins with `crate`, `super` or `self`, name by name. Groups in braces
/// are several paths.
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

/// Collects the paths at the start of `text`, prefixed with `before`. Returns the text after them.
fn path<'a>(text: &'a str, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    let mut rest = text.trim_start();
    if let Some(group) = rest.strip_prefix('{') {
        rest = group.trim_start();
        while !rest.is_empty() && !rest.starts_with('}') {
            rest = path(rest, before, found).trim_start();
            // Skip an alias or a comma before the next name.
            let next = rest.find([',', '}']).unwrap_or(rest.len());
            rest = rest[next..]
                .strip_prefix(',')
                .unwrap_or(&rest[next..])
                .trim_start();
        }
        return rest.strip_prefix('}').unwrap_or(rest);
    }
    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(length);
    before.push(name.to_string());
    let rest = match rest.strip_prefix("::") {
        Some(further) if further.starts_with(|c| is_word(c) || c == '{') => {
            path(further, before, found)
        }
        _ => {
            found.push(before.clone());
            rest
        }
    };
    before.pop();
    rest
}

/// Modules with their numbers among the sources.
struct Modules<'a> {
    sources: &'a [Source],
    numbers: BTreeMap<&'a [String], usize>,
    /// Re-exports of folders: the folder and the name, and the child.
    shown: BTreeMap<(usize, String), usize>,
}

impl<'a> Modules<'a> {
    fn of(sources: &'a [Source]) -> Self {
        let modules = sources.iter().map(|source| &source.module[..]);
        let mut modules = Self {
            sources,
            numbers: modules.zip(0..).collect(),
            shown: BTreeMap::new(),
        };
        let mut shown = BTreeMap::new();
        for (n, source) in sources.iter().enumerate() {
            let uses = source.code.match_indices("use ");
            for (at, _) in uses.filter(|_| source.is_folder) {
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

    /// Returns the module that contains the target of `path`, starting from a module.
    fn walk(&self, from: usize, path: &[String]) -> usize {
        let mut at = from;
        for name in path {
            let mut child = self.sources[at].module.clone();
            child.push(name.clone());
            let own = self.numbers.get(&child[..]);
            match own.or_else(|| self.shown.get(&(at, name.clone()))) {
                Some(next) => at = *next,
                None => break,
            }
        }
        at
    }

    /// Returns the modules that a module uses by paths from the root of its crate, from itself, or from its
    /// ancestors.
    fn uses(&self, n: usize) -> BTreeSet<usize> {
        let source = &self.sources[n];
        let mut used = BTreeSet::new();
        for path in paths(&source.code) {
            let supers = path.iter().take_while(|name| *name == "super").count();
            let module = &source.module;
            let (base, rest) = match path[0].as_str() {
                "crate" => (&module[..1], &path[1..]),
                // A path of a module within the file. Its target is in the file or above.
                _ if supers >= module.len() => continue,
                _ => (&module[..module.len() - supers], &path[supers.max(1)..]),
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
    let modules = Modules::of(&sources);
    let mut seen = 0;
    for (n, source) in sources.iter().enumerate() {
        let row = LAYERS.iter().find(|(part, _)| *part == source.part);
        let Some((_, allowed)) = row else {
            continue;
        };
        seen += 1;
        for used in modules.uses(n) {
            let part = sources[used].part.as_str();
            // The root re-exports.
            let is_root = part.ends_with("/lib");
            let is_allowed = part == source.part || is_root || allowed.contains(&part);
            assert!(is_allowed, "{} uses {part}", source.path);
        }
    }
    assert!(seen > 50, "only {seen} files");
}

/// Modules used by each module.
type Uses = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

/// Returns the modules in cycles. All other modules use nothing or are used by nothing after repeated
/// removal.
fn in_circles(mut uses: Uses) -> BTreeSet<Vec<String>> {
    loop {
        let used: BTreeSet<_> = uses.values().flatten().cloned().collect();
        let before = uses.len();
        let known: BTreeSet<_> = uses.keys().cloned().collect();
        for targets in uses.values_mut() {
            targets.retain(|target| known.contains(target));
        }
        uses.retain(|item, targets| !targets.is_empty() && used.contains(item));
        if uses.len() == before {
            return known;
        }
    }
}

/// The files and folders of one folder form no cycle, where a folder stands for everything in it. A `mod.rs`
/// and its children may use each other.
#[test]
fn no_modules_form_a_circle() {
    let sources = sources();
    let modules = Modules::of(&sources);
    // The uses within each folder.
    let mut folders: BTreeMap<Vec<String>, Uses> = BTreeMap::new();
    let mut arrows = 0;
    for (n, source) in sources.iter().enumerate() {
        for used in modules.uses(n) {
            let from = &source.module;
            let to = &sources[used].module;
            let depth = from.iter().zip(to).take_while(|(a, b)| a == b).count();
            if depth > 0 && depth < from.len() && depth < to.len() {
                let folder = folders.entry(from[..depth].to_vec()).or_default();
                folder
                    .entry(from[..=depth].to_vec())
                    .or_default()
                    .insert(to[..=depth].to_vec());
                arrows += 1;
            }
        }
    }
    assert!(arrows > 200, "only {arrows} uses were found");
    for (folder, uses) in folders {
        let circle = in_circles(uses);
        assert!(circle.is_empty(), "circles in {folder:?}: {circle:?}");
    }
}

#[test]
fn circles_are_found() {
    let item = |name: &str| vec![name.to_string()];
    let uses = |rows: &[(&str, &str)]| {
        let mut uses: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (from, to) in rows {
            uses.entry(item(from)).or_default().insert(item(to));
        }
        in_circles(uses)
    };
    assert!(uses(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
    let circle = uses(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]);
    assert_eq!(circle, BTreeSet::from([item("b"), item("c")]));
}

#[test]
fn paths_are_found() {
    for (text, expected) in [
        ("use crate::kernel::Level;", "crate::kernel::Level"),
        ("fn f() { crate::run::bytes(1) }", "crate::run::bytes"),
        (
            "use crate::{\n    error::{Error, Result as R},\n    rule::Rule,\n};",
            "crate::error::Error crate::error::Result crate::rule::Rule",
        ),
        (
            "use super::super::kernel::Level;",
            "super::super::kernel::Level",
        ),
        (
            "use self::bits::{self, BitGrid};",
            "self::bits::self self::bits::BitGrid",
        ),
        (
            "pub(super) fn f(a: super::Run<'_>) -> mycrate::A {}",
            "super::Run",
        ),
        ("pub use super::formats::*;", "super::formats"),
    ] {
        let found = paths(&code(text));
        let found: Vec<_> = found.iter().map(|path| path.join("::")).collect();
        assert_eq!(found.join(" "), expected, "{text}");
    }
    let commented = "/// As [`crate::Mesh`]\n#[cfg(test)]\nmod tests {\n    use crate::Mesh;\n}\n";
    assert!(paths(&code(commented)).is_empty());
}

/// Returns the name of a type that a line declares at the top level.
fn declared(line: &str) -> Option<&str> {
    let visible = ["pub(crate) ", "pub(super) ", "pub "];
    let line = visible
        .iter()
        .find_map(|word| line.strip_prefix(word))
        .unwrap_or(line);
    let kinds = ["struct ", "enum ", "trait ", "type "];
    words(kinds.iter().find_map(|kind| line.strip_prefix(kind))?).next()
}

#[test]
fn a_type_name_means_one_thing() {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources() {
        for name in source.code.lines().filter_map(declared) {
            let paths = found.entry(name.to_string()).or_default();
            paths.push(source.path.clone());
        }
    }
    assert!(found.len() > 200, "only {} types", found.len());
    for (name, mut paths) in found {
        // Alternatives for targets.
        paths.dedup();
        assert_eq!(paths.len(), 1, "{name} is declared in {}", paths.join(", "));
    }
}

/// Returns the crates in `[dependencies]` of a package.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut within = false;
    let mut found = vec![];
    for line in manifest.lines() {
        if line.starts_with('[') {
            let is_other = line.contains("dev-") || line.contains("workspace");
            within = line.ends_with("dependencies]") && !is_other;
        } else if within
            && !line.starts_with('#')
            && let Some((name, _)) = line.split_once([' ', '.'])
        {
            found.push(name.to_string());
        }
    }
    found
}

#[test]
fn every_crate_lives_in_one_package() {
    let sources = sources();
    let mut packages: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (folder, package) in PACKAGES {
        let own = sources.iter().filter(|source| source.module[0] == package);
        let words: BTreeSet<_> = own.flat_map(|source| words(&source.code)).collect();
        let manifest = root(folder).with_file_name("Cargo.toml");
        for name in dependencies(&fs::read_to_string(manifest).unwrap()) {
            let is_used = words.contains(name.replace('-', "_").as_str());
            assert!(is_used, "{package} depends on {name}, but no code names it");
            if !name.starts_with("voxelize-") {
                packages.entry(name).or_default().push(package);
            }
        }
    }
    assert!(packages.len() > 20, "only {} crates", packages.len());
    for (name, found) in &mut packages {
        found.sort_unstable();
        match SHARED.iter().find(|(shared, ..)| shared == name) {
            Some((_, expected, _)) => assert_eq!(found.join(" "), *expected, "{name}"),
            None => assert_eq!(
                found.len(),
                1,
                "{name} is used without a reason by {found:?}"
            ),
        }
    }
    for (name, ..) in SHARED {
        assert!(packages.contains_key(name), "{name} is used by no package");
    }
}

#[test]
fn nothing_is_unsafe() {
    let sources = sources();
    for source in &sources {
        let is_unsafe = words(&source.code).any(|word| word == "unsafe");
        assert!(!is_unsafe, "{}", source.path);
    }
    for (folder, _) in PACKAGES {
        let root = format!("{folder}/lib.rs");
        let source = sources.iter().find(|source| source.path == root).unwrap();
        assert!(source.code.contains("#![forbid(unsafe_code)]"), "{folder}");
    }
}

/// The command line writes files through the names of its run, which know every file: `src/cli/names.rs`.
#[test]
fn the_command_line_writes_no_file_by_a_path() {
    const WRITES: &str =
        "format::save fs::write fs::rename fs::remove_file fs::copy File::create .save(";
    let [mut seen, mut uses] = [0; 2];
    for Source {
        path, part, code, ..
    } in sources()
    {
        if part != "voxelize/cli" || path.ends_with("names.rs") {
            continue;
        }
        for write in WRITES.split(' ') {
            assert!(!code.contains(write), "{path}: {write}");
        }
        seen += 1;
        uses += code.matches(".save_source(").count() + code.matches(".save_bytes(").count();
    }
    assert!(
        seen > 40 && uses > 5,
        "{seen} files, {uses} uses of the names"
    );
}
