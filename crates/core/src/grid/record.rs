//! The record of a grid: how it was made. Every format that can carries it, in itself or in a sidecar.
//!
//! The rule is kept as text, its name and its options by name and value: a later version, or another tool,
//! may have used a rule that this version has not. `Rule::from_record` parses it.

use crate::geom::axis::Snap;

/// The name and version that saved files carry.
pub const TOOL: &str = concat!("voxelize ", env!("CARGO_PKG_VERSION"));

/// The names under which files have the options of a rule, in their order there: options of the rule itself,
/// then the method that finds the inside and the options of that method.
pub const FIELDS: [&str; 7] = [
    "variant",
    "radius",
    "ties",
    "band",
    "iso",
    INSIDE,
    "close_holes",
];

/// The name of the method that finds the inside: in [`FIELDS`] its options follow it.
pub const INSIDE: &str = "inside";

/// The names under which files have what was done to coordinates: the axis that points up, `y`; the axes of the file
/// that those of the grid are, `x,-z,y`; the matrix, row by row; the rotations, `x,10;z,30`; the factor, `1/1000`; the point of the
/// file that coordinates are relative to, `450123.4,0,0`; the unit, `mm`.
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

/// The name under which files have the volume of the mesh.
pub const MESH_VOLUME: &str = "mesh_volume";

/// How a grid was made, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Name and version of the tool that made it.
    pub tool: Option<String>,
    /// The rule by its name on the command line, or another name of what the cells are.
    pub rule_name: Option<String>,
    /// The options of the rule in the order of [`FIELDS`], each by name and value; absent ones are not known, or
    /// the rule has no such option.
    pub fields: Vec<(&'static str, String)>,
    /// How the coordinates of the file were changed, and their unit, in the order of [`TRANSFORM`]; absent ones are
    /// the usual.
    pub transform: Vec<(&'static str, String)>,
    /// Whether coordinates snapped, by name.
    pub snap: Option<String>,
    /// The volume of the mesh that shares of cells are of, as it was taken, in cubic units of the coordinates.
    pub mesh_volume: Option<String>,
    /// The file it was made from, without its folder.
    pub input: Option<String>,
}

impl Record {
    /// The value of an option of the rule, by its name in [`FIELDS`].
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(field, _)| *field == name)
            .map(|(_, value)| value.as_str())
    }

    /// How coordinates snap on the lattice of the cells.
    pub fn snap_of_lattice(&self) -> Snap {
        if self.snap.as_deref() == Some(Snap::None.name()) {
            Snap::None
        } else {
            Snap::Float
        }
    }

    /// The value of an entry of [`TRANSFORM`].
    pub fn transform(&self, name: &str) -> Option<&str> {
        self.transform
            .iter()
            .find(|(entry, _)| *entry == name)
            .map(|(_, value)| value.as_str())
    }

    /// Every entry by name and value, in the order of files.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, &str)> {
        fn named<'a>(
            name: &'static str,
            value: &'a Option<String>,
        ) -> Option<(&'static str, &'a str)> {
            value.as_deref().map(|value| (name, value))
        }
        let Self {
            tool,
            rule_name,
            fields,
            transform,
            snap,
            mesh_volume,
            input,
        } = self;
        let fields = fields
            .iter()
            .chain(transform)
            .map(|(name, value)| (*name, value.as_str()));
        named("tool", tool)
            .into_iter()
            .chain(named("rule", rule_name))
            .chain(fields)
            .chain(named("snap", snap))
            .chain(named(MESH_VOLUME, mesh_volume))
            .chain(named("input", input))
    }

    /// The record whose entries `value` gives by their names.
    ///
    /// # Errors
    /// The first that `value` gives.
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

    /// Whether `name` is the name of an entry.
    pub(crate) fn has_entry(name: &str) -> bool {
        FIELDS.contains(&name)
            || TRANSFORM.contains(&name)
            || ["tool", "rule", "snap", MESH_VOLUME, "input"].contains(&name)
    }
}
