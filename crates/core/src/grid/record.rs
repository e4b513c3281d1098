//! Record of the origin of a grid. Every format that can stores it, in its file or in a sidecar.
//!
//! The rule is stored as text, with the names and values of its options. A later version or another tool may
//! have used a rule that this version does not know. `Rule::from_record` parses it.

use crate::geom::axis::Snap;

/// Name and version of this tool in saved files.
pub const TOOL: &str = concat!("voxelize ", env!("CARGO_PKG_VERSION"));

/// Names of the rule's options in files, in their order: options of the rule itself, then the method that
/// finds the inside and the options of that method.
pub const FIELDS: [&str; 7] = [
    "variant",
    "radius",
    "ties",
    "band",
    "iso",
    INSIDE,
    "close_holes",
];

/// Name of the method that finds the inside. Its options follow it in [`FIELDS`].
pub const INSIDE: &str = "inside";

/// Names of the transformations of coordinates in files: the axis that points up, `y`; the axes of the file
/// that become the axes of the grid, `x,-z,y`; the matrix, row by row; the rotations, `x,10;z,30`; the
/// factor, `1/1000`; the translation; the point of the file that coordinates are relative to, `450123.4,0,0`;
/// the unit, `mm`.
pub const TRANSFORM: [&str; 8] = [
    "up",
    "axes",
    "matrix",
    "rotate",
    "scale",
    "translate",
    "near",
    "unit",
];

/// Name of the volume of the mesh in files.
pub const MESH_VOLUME: &str = "mesh_volume";

/// Origin of a grid, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Name and version of the tool.
    pub tool: Option<String>,
    /// Rule by its name on the command line, or another name for the content of the cells.
    pub rule_name: Option<String>,
    /// Options of the rule with their values, in the order of [`FIELDS`]. Missing options are unknown or do
    /// not exist for the rule.
    pub fields: Vec<(&'static str, String)>,
    /// Transformations of the file's coordinates, and their unit, in the order of [`TRANSFORM`]. Missing
    /// entries have their default.
    pub transform: Vec<(&'static str, String)>,
    /// Name of the snap of coordinates.
    pub snap: Option<String>,
    /// Volume of the mesh that shares of cells refer to, in cubic units of the coordinates.
    pub mesh_volume: Option<String>,
    /// File name of the mesh, without its folder.
    pub input: Option<String>,
}

impl Record {
    /// Returns the value of an option of the rule, by its name in [`FIELDS`].
    pub fn field(&self, name: &str) -> Option<&str> {
        value_of(&self.fields, name)
    }

    /// Returns the snap of coordinates on the lattice of the cells.
    pub fn snap_of_lattice(&self) -> Snap {
        if self.snap.as_deref() == Some(Snap::None.name()) {
            Snap::None
        } else {
            Snap::Float
        }
    }

    /// Returns the value of an entry of [`TRANSFORM`].
    pub fn transform(&self, name: &str) -> Option<&str> {
        value_of(&self.transform, name)
    }

    /// Returns every entry with its name and value, in the order of files.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self {
            tool,
            rule_name,
            fields,
            transform,
            snap,
            mesh_volume,
            input,
        } = self;
        let mut entries = vec![("tool", tool.as_deref()), ("rule", rule_name.as_deref())];
        for (name, value) in fields.iter().chain(transform) {
            entries.push((*name, Some(value.as_str())));
        }
        entries.push(("snap", snap.as_deref()));
        entries.push((MESH_VOLUME, mesh_volume.as_deref()));
        entries.push(("input", input.as_deref()));
        entries
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
    }

    /// Creates a record from entries. `value` returns the value of the entry with a given name.
    ///
    /// # Errors
    /// The first error of `value`.
    pub fn from_entries<E>(
        mut value: impl FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<Self, E> {
        let mut fields = vec![];
        let mut transform = vec![];
        for name in FIELDS {
            fields.extend(value(name)?.map(|value| (name, value)));
        }
        for name in TRANSFORM {
            transform.extend(value(name)?.map(|value| (name, value)));
        }
        Ok(Self {
            tool: value("tool")?,
            rule_name: value("rule")?,
            fields,
            transform,
            snap: value("snap")?,
            mesh_volume: value(MESH_VOLUME)?,
            input: value("input")?,
        })
    }

    /// Reports whether `name` is the name of an entry.
    pub(crate) fn has_entry(name: &str) -> bool {
        FIELDS.contains(&name)
            || TRANSFORM.contains(&name)
            || ["tool", "rule", "snap", MESH_VOLUME, "input"].contains(&name)
    }
}

fn value_of<'a>(entries: &'a [(&'static str, String)], name: &str) -> Option<&'a str> {
    let (_, value) = entries.iter().find(|(entry, _)| *entry == name)?;
    Some(value)
}
