//! Names and links: no command may change a file that no option names as an output, or that it reads.
//!
//! The input: two bytes for the number of links and the command, two for each link (its name and its target),
//! then two for each word (its kind, and the file that it names). The files are those in [`FILES`]. A run
//! happens in a separate folder and is real: meshes are read, voxels written, goldens recorded.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use voxelize::cli;

use crate::alone;

/// Names for words and links. Some are files, some are folders, and some exist only as links.
const NAMES: [&str; 24] = [
    "cube.stl",
    "b.stl",
    "sub/cube.stl",
    "cube.npz",
    "cube.raw",
    "cube.raw.json",
    "cube.vox",
    "b.vox",
    "list.toml",
    "gold.npz",
    "meshes.txt",
    "sub",
    ".",
    "new.npz",
    "new.raw",
    "new.raw.json",
    "new",
    "one",
    "two",
    "two/cube.stl",
    "./cube.raw",
    "sub/../cube.stl",
    "sub/one",
    "report.json",
];

/// Role of a name on the command line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Read by the run.
    Input,
    /// Written by the run, possibly with a sidecar.
    Output,
    /// Folder for new files.
    Folder,
    /// Folder whose voxel files are replaced as goldens.
    Goldens,
}

/// Drawn words: an option with the role of the name that follows it, or an option alone.
type Word = (&'static str, Option<Role>);

/// Command with its possible words.
type Verb = (&'static str, &'static [Word]);

const VERBS: [Verb; 7] = [
    (
        "",
        &[
            ("", Some(Role::Input)),
            ("-o=", Some(Role::Output)),
            ("--json=", Some(Role::Output)),
            ("--sidecar", None),
            ("--doubt=", Some(Role::Output)),
            ("--leak=", Some(Role::Output)),
            ("--inside=robust", None),
            ("--inside=flood", None),
            ("--solid", None),
            ("--files-from=", Some(Role::Input)),
            ("--skip-existing", None),
            ("--like=", Some(Role::Input)),
            ("--nearest=", Some(Role::Output)),
            ("--rule=distance", None),
            ("-f=raw", None),
            ("-o=two/", None),
            ("-n", None),
        ],
    ),
    (
        "info",
        &[("", Some(Role::Input)), ("--json=", Some(Role::Output))],
    ),
    (
        "diff",
        &[
            ("", Some(Role::Input)),
            ("-o=", Some(Role::Output)),
            ("--json=", Some(Role::Output)),
        ],
    ),
    (
        "view",
        &[
            ("", Some(Role::Input)),
            ("-o=", Some(Role::Output)),
            ("--json=", Some(Role::Output)),
            ("--size=16", None),
        ],
    ),
    (
        "verify",
        &[
            ("", Some(Role::Input)),
            ("--update", None),
            ("--json=", Some(Role::Output)),
            ("--allow-outside", None),
            ("--junit=", Some(Role::Output)),
            ("--pictures=", Some(Role::Folder)),
            ("--golden=", Some(Role::Goldens)),
        ],
    ),
    (
        "check",
        &[
            ("", Some(Role::Input)),
            ("--mark=", Some(Role::Output)),
            ("--json=", Some(Role::Output)),
        ],
    ),
    (
        "clearance",
        &[("", Some(Role::Input)), ("--json=", Some(Role::Output))],
    ),
];

/// Maximum number of words and of links of an input.
const MOST: usize = 8;

/// Every file that a run finds, with its bytes. Created once, by the command itself.
static FILES: LazyLock<BTreeMap<PathBuf, Vec<u8>>> = LazyLock::new(|| {
    assert!(
        std::env::var_os("CI").is_none(),
        "CI is set, where no golden is recorded: env -u CI runs this"
    );
    let place = tempfile::tempdir().expect("a folder for temporary files");
    enter(place.path());
    let cube = include_bytes!("../../../fixtures/cube.stl");
    fs::create_dir("sub").expect("a new folder");
    for name in ["cube.stl", "b.stl", "sub/cube.stl"] {
        fs::write(name, cube).expect("room for a mesh");
    }
    fs::write("meshes.txt", "cube.stl\nsub/cube.stl\n").expect("room for a list");
    for words in [
        "cube.stl -r 4 -o cube.npz",
        "cube.stl -r 4 -o cube.raw",
        "cube.stl -r 4",
        "cube.stl -r 3 -o gold.npz",
        "verify --update list.toml cube.stl -r 3 --golden .",
        "verify --update list.toml b.stl -r 3",
    ] {
        assert_eq!(
            run(words.split(' ').map(OsString::from).collect()),
            0,
            "{words}"
        );
    }
    // A file of another program with a name that this tool would choose.
    fs::write("b.vox", "no voxels").expect("room for a text");
    snapshot(Path::new("."))
});

/// Runs a command among links and checks every file.
pub fn check(bytes: &[u8]) {
    static ONE: Mutex<()> = Mutex::new(());
    let _alone_in_this_folder = ONE.lock();
    let [links, verb, rest @ ..] = bytes else {
        return;
    };
    alone();
    // The fuzzer keeps its corpus in a folder relative to this one.
    let home = std::env::current_dir().expect("a folder to come back to");
    let files = &*FILES;
    let place = tempfile::tempdir().expect("a folder for temporary files");
    enter(place.path());
    for (name, bytes) in files {
        fs::create_dir_all(name.parent().expect("a file is in a folder")).expect("a new folder");
        fs::write(name, bytes).expect("room for a file");
    }
    let (links, words) = rest.split_at((2 * (usize::from(*links) % (MOST / 2))).min(rest.len()));
    let name = |byte: u8| NAMES[usize::from(byte) % NAMES.len()];
    for link in links.chunks_exact(2) {
        // An existing name is kept.
        let _ = match link[1] & 128 {
            0 => symlink(name(link[1]), name(link[0])),
            _ => fs::hard_link(name(link[1]), name(link[0])),
        };
    }
    let (verb, known) = VERBS[usize::from(*verb) % VERBS.len()];
    let mut line: Vec<OsString> = if verb.is_empty() {
        vec![]
    } else {
        vec![verb.into()]
    };
    let mut named: Vec<(Role, &str)> = vec![];
    for word in words.chunks_exact(2).take(MOST) {
        let (option, role) = known[usize::from(word[0]) % known.len()];
        line.push(format!("{option}{}", role.map_or("", |_| name(word[1]))).into());
        named.extend(role.map(|role| (role, name(word[1]))));
    }
    named.extend(
        line.contains(&"-o=two/".into())
            .then_some((Role::Folder, "two")),
    );
    if !matches!(verb, "info" | "diff" | "clearance" | "check")
        && !line.iter().any(|word| word == "--like=")
    {
        line.push("-r=4".into());
    }
    let before = snapshot(Path::new("."));
    let may_change = Outputs::new(&named, &line);
    let shown = line.clone();
    run(line);
    let after = snapshot(Path::new("."));
    for (path, bytes) in &before {
        let is_same = after.get(path) == Some(bytes);
        assert!(
            is_same || may_change.has(path),
            "{} was changed or lost by {shown:?}",
            path.display()
        );
    }
    let left = after
        .keys()
        .find(|path| path.display().to_string().contains(".voxelize-"));
    assert!(left.is_none(), "{left:?} is left by {shown:?}");
    enter(&home);
}

/// Files that a command may write, determined by their real paths before it runs.
struct Outputs {
    inputs: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    goldens: Vec<PathBuf>,
    /// This tool's own file of an implied name.
    implied: Vec<PathBuf>,
}

impl Outputs {
    fn new(named: &[(Role, &str)], line: &[OsString]) -> Self {
        let of = |wanted: Role| -> Vec<PathBuf> {
            let names = named
                .iter()
                .filter(|(role, _)| *role == wanted)
                .map(|(_, name)| *name);
            names.filter_map(|name| real(Path::new(name))).collect()
        };
        let records = line.iter().any(|word| word == "--update");
        let mut inputs = of(Role::Input);
        let mut outputs = of(Role::Output);
        let mut goldens = of(Role::Goldens);
        // A list and its goldens are written when results are recorded.
        if records {
            let is_list = |path: &PathBuf| path.extension().is_none_or(|end| end != "stl");
            outputs.extend(inputs.extract_if(.., |path| is_list(path)));
            goldens.push(real(Path::new(".")).expect("the folder of the run"));
        }
        let sidecars = |paths: &[PathBuf]| {
            paths
                .iter()
                .map(|path| with_end(path, ".json"))
                .collect::<Vec<_>>()
        };
        inputs.extend(sidecars(&inputs));
        if line.iter().any(|word| word == "--files-from=meshes.txt") {
            inputs.extend(
                ["cube.stl", "sub/cube.stl"].map(|name| real(Path::new(name)).expect("a file")),
            );
        }
        let mut folders = of(Role::Folder);
        // A folder may be named as an output without a slash.
        folders.extend(outputs.iter().filter(|path| path.is_dir()).cloned());
        outputs.extend(sidecars(&outputs));
        let ends = ["vox", "npz", "raw", "raw.json", "png"];
        let implied = ["cube", "b"]
            .iter()
            .flat_map(|stem| ends.map(|end| format!("{stem}.{end}")));
        let is_ours = |name: &String| name != "b.vox";
        let implied = implied
            .filter(is_ours)
            .filter_map(|name| real(Path::new(&name)))
            .collect();
        Self {
            inputs,
            outputs,
            folders,
            goldens,
            implied,
        }
    }

    fn has(&self, path: &Path) -> bool {
        let Some(path) = real(path) else { return false };
        let is_below = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        let is_input = self.inputs.contains(&path);
        let is_golden = is_below(&self.goldens) && path.extension().is_some_and(|end| end == "npz");
        let is_mesh = path.extension().is_some_and(|end| end == "stl");
        !is_input
            && (self.outputs.contains(&path)
                || self.implied.contains(&path)
                || is_golden
                || is_below(&self.folders) && !is_mesh)
    }
}

/// Returns the place of a name, existing or not: its real folder, and its own name after the last link.
/// `None` for links that lead nowhere in any number of steps.
fn real(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..40 {
        if let Ok(found) = path.canonicalize() {
            return Some(found);
        }
        let Ok(target) = fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    let Some(Component::Normal(name)) = path.components().next_back() else {
        return None;
    };
    let folder = path
        .parent()
        .filter(|folder| *folder != Path::new(""))
        .unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(name))
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(end);
    name.into()
}

/// Returns all regular files below `folder` with their bytes. Links are not followed.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder of the run").flatten() {
        let kind = entry.file_type().expect("a file of the run");
        if kind.is_dir() {
            found.append(&mut snapshot(&entry.path()));
        } else if kind.is_file() {
            found.insert(
                entry.path(),
                fs::read(entry.path()).expect("a file of the run"),
            );
        }
    }
    found
}

fn enter(folder: &Path) {
    std::env::set_current_dir(folder).expect("a folder that is there");
}

/// Runs the command with these words in one thread, without output.
fn run(words: Vec<OsString>) -> u8 {
    let code = cli::run(
        ["voxelize", "-q", "-j=1"]
            .map(OsString::from)
            .into_iter()
            .chain(words),
    );
    assert_ne!(code, 70, "the command panicked");
    code
}
