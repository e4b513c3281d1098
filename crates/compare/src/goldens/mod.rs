//! Lists of goldens: which mesh under which options gives which cells, as a TOML file.
//!
//! ```toml
//! [[case]]
//! mesh = "meshes/part.stl"          # relative to this file, as `golden` is
//! options = "--res 64 --pad 1"      # as typed on the command line; absent for none
//! grid = "v1:0a64e28bf9b4a4bc6ec4ea63ee0ea8ef"
//! cells = 23816                     # occupied cells
//!
//! [[case]]
//! mesh = "meshes/part.stl"
//! options = "--voxel-size 0.5"
//! golden = "golden/part.npz"        # a voxel file with the cells, where they are and by which rule
//! name = "part, half a millimetre"  # optional
//! allow = 3                         # optional: so many cells may differ
//! iou_min = 0.999                   # optional: the least intersection over union
//! ```
//!
//! Findings in such files have stable codes:
//!
//! | code | meaning |
//! |---|---|
//! | G001 | the file cannot be opened or read |
//! | G002 | not TOML |
//! | G003 | a key or table that is not known |
//! | G004 | a key that is missing |
//! | G005 | a value of another type, or out of range |
//! | G006 | keys that exclude each other |
//! | G007 | two cases that are the same |
//! | G008 | no case |
//! | G009 | options that a case cannot have |
//! | G010 | a path that leads out of the folder of the list; found by the command line |

mod read;

use std::path::Path;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value, value};

use read::Use;
use voxelize_core::error::{Code, Error, Result, hint};
use voxelize_core::grid::Hash;

/// How a list begins that is new.
const HEAD: &str =
    "# Golden results: `voxelize verify` compares with them, `voxelize verify --update` records.\n";

/// A list of goldens, with its comments and its order.
#[derive(Debug, Clone, Default)]
pub struct Goldens {
    cases: Vec<Case>,
    text: DocumentMut,
}

/// One golden result.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name, if it has its own.
    pub name: Option<String>,
    /// The mesh, relative to the list.
    pub mesh: String,
    /// The options of the command line.
    pub options: String,
    /// The expected result.
    pub golden: Golden,
    /// How much may differ.
    pub gate: Gate,
    /// The line of the list where it begins, counted from 1; 0 if it is new.
    pub line: u64,
    /// The line of its options; where it begins, if it has none.
    pub options_line: u64,
}

/// The expected result of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Golden {
    /// The grid of this digest, with so many occupied cells.
    Digest {
        /// The digest of cells and lattice.
        grid: Hash,
        /// The occupied cells.
        cells: u64,
    },
    /// The cells of this voxel file, relative to the list.
    File(String),
    /// Nothing yet. Only in lists that are read to record in.
    Unrecorded,
    /// A digest or count that cannot be read, or one without the other. Only in lists that are read to
    /// record in.
    Unreadable,
}

/// How much may differ: nothing by default. Where both limits are given, both must hold.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Gate {
    /// So many cells may differ.
    pub allow: Option<u64>,
    /// The intersection over union is at least this.
    pub iou_min: Option<f64>,
}

impl Gate {
    /// Whether no limit is given: no cell may differ.
    pub fn is_closed(&self) -> bool {
        self.allow.is_none() && self.iou_min.is_none()
    }

    /// Whether so many differing cells pass, of grids with this intersection over union.
    pub fn lets_pass(&self, differing: u64, iou: f64) -> bool {
        let few = |most| differing <= most;
        let alike = |least| iou >= least;
        differing == 0 || !self.is_closed() && self.allow.is_none_or(few) && self.iou_min.is_none_or(alike)
    }
}

impl Case {
    /// The name, or mesh and options.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None if self.options.trim().is_empty() => self.mesh.clone(),
            None => format!("{} {}", self.mesh, self.options.trim()),
        }
    }
}

impl Goldens {
    /// Reads the list at `path`.
    ///
    /// # Errors
    /// If it cannot be read, is not a list of goldens, or has no case; with the line if known.
    pub fn open(path: &Path) -> Result<Self> {
        Self::read(path, Use::Compare)?.with_cases().map_err(|error| error.in_file(path))
    }

    /// The list at `path` to record in: it may have no case yet, or not be there, and nothing need be
    /// recorded of a case.
    ///
    /// # Errors
    /// If it exists and cannot be read, or is not a list of goldens.
    pub fn edit(path: &Path) -> Result<Self> {
        if !path.try_exists().unwrap_or(true) {
            return Ok(Self::default());
        }
        Self::read(path, Use::Record)
    }

    /// The list at `path`, to record all of its cases again, or for the first time.
    ///
    /// # Errors
    /// If it cannot be read, is not a list of goldens, or has no case.
    pub fn open_to_record(path: &Path) -> Result<Self> {
        Self::read(path, Use::Record)?.with_cases().map_err(|error| error.in_file(path))
    }

    fn read(path: &Path, to: Use) -> Result<Self> {
        let cases = read::text(path).and_then(|text| read::list(&text, to));
        cases.map(|(cases, text)| Self { cases, text }).map_err(|error| error.in_file(path))
    }

    /// Reads a list from its text.
    ///
    /// # Errors
    /// If it is not a list of goldens, or has no case.
    pub fn parse(text: &str) -> Result<Self> {
        let (cases, text) = read::list(text, Use::Compare)?;
        Self { cases, text }.with_cases()
    }

    fn with_cases(self) -> Result<Self> {
        if self.cases.is_empty() {
            return Err(Error::input(Code::G008, "has no [[case]], so there is nothing to verify")
                .with_hint(hint!["{} adds one" Update = "LIST MESH"]));
        }
        Ok(self)
    }

    /// The cases, in the order of the list.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Sets the golden of a case, or adds the case if the list has none of its mesh and options.
    /// Comments, order and all other keys stay.
    pub fn record(&mut self, case: Case) {
        let same = |other: &Case| other.mesh == case.mesh && words(&other.options) == words(&case.options);
        let place = self.cases.iter().position(same);
        let tables = self.text.entry("case").or_insert_with(|| ArrayOfTables::new().into());
        let Some(tables) = tables.as_array_of_tables_mut() else { return };
        match place.and_then(|n| Some((n, tables.get_mut(n)?))) {
            Some((n, table)) => {
                put_golden(table, &case.golden);
                self.cases[n].golden = case.golden;
            }
            None => {
                tables.push(new_table(&case, self.cases.is_empty()));
                self.cases.push(case);
            }
        }
    }

    /// The text of the list.
    pub fn to_text(&self) -> String {
        self.text.to_string()
    }
}

fn words(options: &str) -> Vec<&str> {
    options.split_whitespace().collect()
}

/// Writes the golden into a case, with the comments that were behind its values.
fn put_golden(table: &mut Table, golden: &Golden) {
    let mut put = |key: &str, new: Value| {
        let mut new = new;
        match table.get_mut(key).and_then(Item::as_value_mut) {
            Some(old) => {
                *new.decor_mut() = old.decor().clone();
                *old = new;
            }
            None => drop(table.insert(key, value(new))),
        }
    };
    let stale: &[&str] = match golden {
        Golden::Digest { grid, cells } => {
            put("grid", grid.to_string().into());
            put("cells", i64::try_from(*cells).unwrap_or(i64::MAX).into());
            &["golden"]
        }
        Golden::File(file) => {
            put("golden", file.into());
            &["grid", "cells"]
        }
        Golden::Unrecorded | Golden::Unreadable => &[],
    };
    for key in stale {
        table.remove(key);
    }
}

fn new_table(case: &Case, first: bool) -> Table {
    let mut table = Table::new();
    table.decor_mut().set_prefix(if first { format!("{HEAD}\n") } else { "\n".to_string() });
    for (key, text) in
        [("name", case.name.as_ref()), ("mesh", Some(&case.mesh)), ("options", Some(&case.options))]
    {
        text.map(|text| table.insert(key, value(text)));
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
options = "--res 8  --pad 1" # small
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
        format!("v1:{}", digit.to_string().repeat(32)).parse().unwrap()
    }

    fn new(mesh: &str, options: &str, golden: Golden) -> Case {
        let mesh = mesh.to_string();
        let options = options.to_string();
        Case { name: None, mesh, options, golden, gate: Gate::default(), line: 0, options_line: 0 }
    }

    #[test]
    fn titles_are_mesh_and_options_and_never_empty() {
        let golden = || Golden::Digest { grid: hash('1'), cells: 7 };
        for (mesh, options, title) in
            [("a.stl", "", "a.stl"), ("a.stl", " -r 8 ", "a.stl -r 8"), ("  ", "", "  "), ("  ", " ", "  ")]
        {
            assert_eq!(new(mesh, options, golden()).title(), title);
        }
    }

    #[test]
    fn a_list_is_read() {
        let goldens = Goldens::parse(LIST).unwrap();
        let [a, b] = goldens.cases() else { panic!("{goldens:?}") };
        assert_eq!((a.mesh.as_str(), a.options.as_str(), a.line), ("a.stl", "--res 8  --pad 1", 3));
        assert_eq!((a.options_line, b.options_line), (5, 10));
        let grid = "v1:00000000000000000000000000000001".parse().unwrap();
        assert_eq!(a.golden, Golden::Digest { grid, cells: 7 });
        assert_eq!((a.title().as_str(), a.gate), ("a.stl --res 8  --pad 1", Gate::default()));
        assert_eq!((b.title().as_str(), &b.golden, b.line), ("b", &Golden::File("b.npz".into()), 10));
        assert_eq!(b.gate, Gate { allow: Some(3), iou_min: Some(1.0) });
        assert_eq!(goldens.to_text(), LIST);
    }

    #[test]
    fn recording_keeps_comments_and_order() {
        let mut goldens = Goldens::parse(LIST).unwrap();
        goldens.record(new("a.stl", "--res 8 --pad 1", Golden::Digest { grid: hash('a'), cells: 9 }));
        goldens.record(new("b.stl", "", Golden::Digest { grid: hash('b'), cells: 1 }));
        goldens.record(new("c.stl", "--res 4", Golden::File("c.npz".into())));
        let expected = LIST
            .replace("v1:00000000000000000000000000000001", "v1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
            .replace("cells = 7", "cells = 9")
            .replace("golden = \"b.npz\"   # file\n", "")
            .replace(
                "iou_min = 1\n",
                "iou_min = 1\ngrid = \"v1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"\ncells = 1\n\n\
                 [[case]]\nmesh = \"c.stl\"\noptions = \"--res 4\"\ngolden = \"c.npz\"\n",
            );
        assert_eq!(goldens.to_text(), expected);
        assert_eq!(goldens.cases().len(), 3);
    }

    #[test]
    fn a_new_list_is_one_that_can_be_read() {
        let mut goldens = Goldens::default();
        for (mesh, cells) in [("a.stl", 1), ("b c.stl", 2)] {
            goldens.record(new(mesh, "--res 4", Golden::Digest { grid: hash('c'), cells }));
        }
        let text = goldens.to_text();
        assert!(
            text.starts_with("# Golden results") && text.matches("\n\n[[case]]\n").count() == 2,
            "{text}"
        );
        let strip = |case: &Case| Case { line: 0, options_line: 0, ..case.clone() };
        let again = Goldens::parse(&text).unwrap();
        assert_eq!(again.cases().iter().map(strip).collect::<Vec<_>>(), goldens.cases());
    }

    #[test]
    fn gates_let_pass_what_they_allow() {
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
            assert_eq!(gate.lets_pass(differing, iou), passes, "{gate:?} {differing} {iou}");
        }
    }
}
