//! Lists of goldens. A list is a TOML file that states the expected cells of meshes.
//!
//! ```toml
//! [[case]]
//! mesh = "meshes/part.stl"          # relative to this file, like `golden`
//! res = 64                          # any long option of the command line that decides cells
//! pad = 1
//! solid = true
//! grid = "v1:0a64e28bf9b4a4bc6ec4ea63ee0ea8ef"
//! cells = 23816                     # number of occupied cells
//!
//! [[case]]
//! mesh = "meshes/part.stl"
//! voxel-size = 0.5
//! golden = "golden/part.npz"        # a voxel file with the cells, their positions and the rule
//! name = "part, half a millimetre"  # optional
//! allow = 3                         # optional: at most 3 cells may differ
//! iou_min = 0.999                   # optional: the least intersection over union
//! ```
//!
//! Earlier versions wrote all options as one text, `options = "--res 64 --pad 1"`. Such lists can still be
//! read.
//!
//! The findings in such files have stable codes:
//!
//! | code | meaning |
//! |---|---|
//! | G001 | the file cannot be opened or read |
//! | G002 | not TOML |
//! | G003 | an unknown key or table; keys of a case are checked by the command line |
//! | G004 | a missing key |
//! | G005 | a value of another type, or out of range |
//! | G006 | keys that exclude each other |
//! | G007 | two equal cases |
//! | G008 | no case |
//! | G009 | options that a case cannot have |
//! | G010 | a path that leads out of the folder of the list; found by the command line |

mod options;
mod read;

use std::path::Path;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value, value};

pub use options::{CaseOption, CaseOptions};
use read::Use;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::grid::Hash;

/// First line of a new list.
const HEAD: &str =
    "# Golden results: `voxelize verify` compares with them, `voxelize verify --update` records.\n";

/// List of goldens. Keeps the comments and the order of the file.
#[derive(Debug, Clone, Default)]
pub struct Goldens {
    cases: Vec<Case>,
    text: DocumentMut,
}

/// Case of a list: a mesh, the options for its grid, and the expected result.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Name that the list gives to the case. `None` if it gives none.
    pub name: Option<String>,
    /// Path of the mesh, relative to the list.
    pub mesh: String,
    /// Options of the command line that decide the cells.
    pub options: CaseOptions,
    /// Expected result.
    pub golden: Golden,
    /// Differences that are accepted.
    pub gate: Gate,
    /// Line of the list where the case begins, counted from 1. `None` for a case that is not in the list.
    pub line: Option<u64>,
}

/// Expected result of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Golden {
    /// Digest and number of cells.
    Digest {
        /// Digest of the cells and the lattice.
        grid: Hash,
        /// Number of occupied cells.
        cells: u64,
    },
    /// Path of a voxel file, relative to the list.
    File(String),
    /// The list states no result yet. Only occurs in lists that are opened for recording.
    Unrecorded,
    /// The digest or the number of cells cannot be read, or one of them is missing. Only occurs in lists that
    /// are opened for recording.
    Unreadable,
}

/// Accepted differences. By default no cell may differ. If both limits are given, both must be met.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Gate {
    /// Maximum number of cells that may differ. `None` for no limit.
    pub allow: Option<u64>,
    /// Minimum intersection over union. `None` for no limit.
    pub iou_min: Option<f64>,
}

impl Gate {
    /// Returns `true` if no limit is given, so that no cell may differ.
    pub fn is_closed(&self) -> bool {
        self.allow.is_none() && self.iou_min.is_none()
    }

    /// Returns `true` if a difference is accepted. `differing` is the number of cells that differ, and `iou`
    /// the intersection over union.
    pub fn lets_pass(&self, differing: u64, iou: f64) -> bool {
        if differing == 0 || self.is_closed() {
            return differing == 0;
        }
        self.allow.is_none_or(|most| differing <= most)
            && self.iou_min.is_none_or(|least| iou >= least)
    }
}

impl Case {
    /// Keys of a case that are not options for its grid.
    pub const KEYS: [&'static str; 7] = [
        "name", "mesh", "grid", "cells", "golden", "allow", "iou_min",
    ];

    /// Returns the title of the case: its name in the list, or the mesh and the options if it has no name.
    pub fn title(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let options = self.options.to_string();
        if options.is_empty() {
            self.mesh.clone()
        } else {
            format!("{} {options}", self.mesh)
        }
    }

    /// Returns the key that must be unique in a list. It consists of the mesh and the options, with single
    /// spaces between words.
    fn identity(&self) -> (String, String) {
        let options = self.options.to_string();
        (
            self.mesh.clone(),
            options.split_whitespace().collect::<Vec<_>>().join(" "),
        )
    }
}

impl Goldens {
    /// Reads the list at `path`.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is not a list of goldens, or has no case. The error states the line
    /// if it is known.
    pub fn open(path: &Path) -> Result<Self> {
        Self::read(path, Use::Compare)?
            .with_cases()
            .map_err(|error| error.in_file(path))
    }

    /// Opens the list at `path` for recording. The file may be missing, may have no case, and may have cases
    /// without a result.
    ///
    /// # Errors
    /// Fails if the file exists but cannot be read, or is not a list of goldens.
    pub fn edit(path: &Path) -> Result<Self> {
        if !path.try_exists().unwrap_or(true) {
            return Ok(Self::default());
        }
        Self::read(path, Use::Record)
    }

    /// Opens the list at `path` for recording the results of all its cases. Cases may have no result yet.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is not a list of goldens, or has no case.
    pub fn open_to_record(path: &Path) -> Result<Self> {
        Self::read(path, Use::Record)?
            .with_cases()
            .map_err(|error| error.in_file(path))
    }

    fn read(path: &Path, to: Use) -> Result<Self> {
        let list = read::text(path).and_then(|text| read::list(&text, to));
        let (cases, text) = list.map_err(|error| error.in_file(path))?;
        Ok(Self { cases, text })
    }

    /// Parses the text of a list.
    ///
    /// # Errors
    /// Fails if the text is not a list of goldens, or has no case.
    pub fn parse(text: &str) -> Result<Self> {
        let (cases, text) = read::list(text, Use::Compare)?;
        Self { cases, text }.with_cases()
    }

    fn with_cases(self) -> Result<Self> {
        if self.cases.is_empty() {
            return Err(
                Error::input(Code::G008, "has no [[case]], so there is nothing to verify")
                    .with_hint("`voxelize verify --update LIST MESH` adds one"),
            );
        }
        Ok(self)
    }

    /// Returns the cases in the order of the list.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Sets the golden of a case. If the list has no case with the same mesh and options, adds the case.
    /// Comments, order and all other keys are unchanged.
    pub fn record(&mut self, case: Case) {
        let identity = case.identity();
        let place = self
            .cases
            .iter()
            .position(|other| other.identity() == identity);
        let tables = self
            .text
            .entry("case")
            .or_insert_with(|| ArrayOfTables::new().into());
        let Some(tables) = tables.as_array_of_tables_mut() else {
            return;
        };
        if let Some(n) = place {
            if let Some(table) = tables.get_mut(n) {
                put_golden(table, &case.golden);
            }
            self.cases[n].golden = case.golden;
        } else {
            tables.push(new_table(&case, self.cases.is_empty()));
            self.cases.push(case);
        }
    }

    /// Returns the text of the list.
    pub fn to_text(&self) -> String {
        self.text.to_string()
    }
}

/// Writes the golden to the table of a case. Comments next to its values are kept.
fn put_golden(table: &mut Table, golden: &Golden) {
    match golden {
        Golden::Digest { grid, cells } => {
            put(table, "grid", grid.to_string().into());
            put(
                table,
                "cells",
                i64::try_from(*cells).unwrap_or(i64::MAX).into(),
            );
            table.remove("golden");
        }
        Golden::File(file) => {
            put(table, "golden", file.into());
            table.remove("grid");
            table.remove("cells");
        }
        Golden::Unrecorded | Golden::Unreadable => {}
    }
}

fn put(table: &mut Table, key: &str, mut new: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => drop(table.insert(key, value(new))),
    }
}

fn new_table(case: &Case, is_first: bool) -> Table {
    let mut table = Table::new();
    let head = if is_first { HEAD } else { "" };
    table.decor_mut().set_prefix(format!("{head}\n"));
    if let Some(name) = &case.name {
        table.insert("name", value(name));
    }
    table.insert("mesh", value(&case.mesh));
    for option in &case.options.0 {
        table.insert(&option.name, value(option.to_toml()));
    }
    put_golden(&mut table, &case.golden);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"# All of it.

[[case]] # the first
mesh = "a.stl"
res = 8 # small
pad = 1
grid = "v1:00000000000000000000000000000001" # digest
cells = 7

# Between.
[[case]]
name = "b"
mesh = "b.stl"
golden = "b.npz"   # file
allow = 3
iou_min = 1

# The end.
"#;

    fn hash(digit: char) -> Hash {
        format!("v1:{}", digit.to_string().repeat(32))
            .parse()
            .unwrap()
    }

    fn new(mesh: &str, options: &[(&str, &str)], golden: Golden) -> Case {
        let option = |(name, value): &(&str, &str)| {
            let values = if value.is_empty() {
                vec![]
            } else {
                vec![value.to_string()]
            };
            CaseOption {
                name: name.to_string(),
                values,
                line: None,
            }
        };
        let options = CaseOptions(options.iter().map(option).collect());
        Case {
            name: None,
            mesh: mesh.to_string(),
            options,
            golden,
            gate: Gate::default(),
            line: None,
        }
    }

    #[test]
    fn titles_are_mesh_and_options_and_never_empty() {
        let golden = || Golden::Digest {
            grid: hash('1'),
            cells: 7,
        };
        for (mesh, options, title) in [
            ("a.stl", &[][..], "a.stl"),
            ("a.stl", &[("options", " -r 8 ")], "a.stl -r 8"),
            (
                "a.stl",
                &[("res", "8"), ("solid", "")],
                "a.stl --res 8 --solid",
            ),
            ("  ", &[], "  "),
            ("  ", &[("options", " ")], "  "),
        ] {
            assert_eq!(new(mesh, options, golden()).title(), title);
        }
    }

    #[test]
    fn a_list_is_read() {
        let goldens = Goldens::parse(LIST).unwrap();
        let [a, b] = goldens.cases() else {
            panic!("{goldens:?}")
        };
        let options = a.options.to_string();
        assert_eq!(
            (a.mesh.as_str(), options.as_str(), a.line),
            ("a.stl", "--res 8 --pad 1", Some(3))
        );
        assert_eq!(
            a.options
                .0
                .iter()
                .map(|option| option.line)
                .collect::<Vec<_>>(),
            [Some(5), Some(6)]
        );
        let grid = "v1:00000000000000000000000000000001".parse().unwrap();
        assert_eq!(a.golden, Golden::Digest { grid, cells: 7 });
        assert_eq!(
            (a.title().as_str(), a.gate),
            ("a.stl --res 8 --pad 1", Gate::default())
        );
        assert_eq!(
            (b.title().as_str(), &b.golden, b.line),
            ("b", &Golden::File("b.npz".into()), Some(11))
        );
        assert_eq!(
            b.gate,
            Gate {
                allow: Some(3),
                iou_min: Some(1.0)
            }
        );
        assert_eq!(goldens.to_text(), LIST);
    }

    #[test]
    fn recording_keeps_comments_and_order() {
        let mut goldens = Goldens::parse(LIST).unwrap();
        let options = [("res", "8"), ("pad", "1")];
        goldens.record(new(
            "a.stl",
            &options,
            Golden::Digest {
                grid: hash('a'),
                cells: 9,
            },
        ));
        goldens.record(new(
            "b.stl",
            &[],
            Golden::Digest {
                grid: hash('b'),
                cells: 1,
            },
        ));
        goldens.record(new("c.stl", &[("res", "4")], Golden::File("c.npz".into())));
        let expected = LIST
            .replace(
                "v1:00000000000000000000000000000001",
                "v1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            )
            .replace("cells = 7", "cells = 9")
            .replace("golden = \"b.npz\"   # file\n", "")
            .replace(
                "iou_min = 1\n",
                "iou_min = 1\ngrid = \"v1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"\ncells = 1\n\n\
                 [[case]]\nmesh = \"c.stl\"\nres = 4\ngolden = \"c.npz\"\n",
            );
        assert_eq!(goldens.to_text(), expected);
        assert_eq!(goldens.cases().len(), 3);
    }

    /// Earlier versions wrote the options of a case as one text.
    #[test]
    fn recording_keeps_a_text_of_options() {
        let list = LIST.replace(
            "res = 8 # small\npad = 1",
            "options = \"--res 8  --pad 1\" # small",
        );
        let mut goldens = Goldens::parse(&list).unwrap();
        assert_eq!(goldens.cases()[0].title(), "a.stl --res 8  --pad 1");
        let options = [("res", "8"), ("pad", "1")];
        goldens.record(new(
            "a.stl",
            &options,
            Golden::Digest {
                grid: hash('1'),
                cells: 9,
            },
        ));
        let expected = list
            .replace(
                "v1:00000000000000000000000000000001",
                &hash('1').to_string(),
            )
            .replace("cells = 7", "cells = 9");
        assert_eq!(goldens.to_text(), expected);
    }

    #[test]
    fn a_new_list_can_be_read() {
        let mut goldens = Goldens::default();
        for (mesh, cells) in [("a.stl", 1), ("b c.stl", 2)] {
            goldens.record(new(
                mesh,
                &[("res", "4"), ("solid", "")],
                Golden::Digest {
                    grid: hash('c'),
                    cells,
                },
            ));
        }
        let text = goldens.to_text();
        assert!(
            text.starts_with("# Golden results") && text.matches("\n\n[[case]]\n").count() == 2,
            "{text}"
        );
        let mut again = Goldens::parse(&text).unwrap();
        for case in &mut again.cases {
            assert!(case.line.take().is_some());
            assert!(
                case.options
                    .0
                    .iter_mut()
                    .all(|option| option.line.take().is_some())
            );
        }
        assert_eq!(again.cases, goldens.cases);
    }

    #[test]
    fn gates_pass_allowed_differences() {
        let gate = |allow, iou_min| Gate { allow, iou_min };
        for (gate, differing, iou, passes) in [
            (gate(None, None), 0, 1.0, true),
            (gate(None, None), 1, 0.999, false),
            (gate(Some(2), None), 2, 0.5, true),
            (gate(Some(2), None), 3, 0.5, false),
            (gate(None, Some(0.9)), 100, 0.9, true),
            (gate(None, Some(0.9)), 1, 0.89, false),
            (gate(Some(2), Some(0.9)), 2, 0.89, false),
            (gate(Some(2), Some(0.9)), 3, 0.95, false),
            (gate(Some(2), Some(0.9)), 2, 0.95, true),
        ] {
            assert_eq!(
                gate.lets_pass(differing, iou),
                passes,
                "{gate:?} {differing} {iou}"
            );
        }
    }
}
