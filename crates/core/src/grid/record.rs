//! Record of how a grid was made. Formats store it in their files if they can, and otherwise in a sidecar
//! file.
//!
//! The rule is stored as text, with the names and values of its options, because a later version or another
//! tool may have used a rule that this version does not know. `Rule::from_record` parses it.

use crate::geom::axis::Snap;

/// Name and version of this tool, as saved files state them.
pub const TOOL: &str = concat!("voxelize ", env!("CARGO_PKG_VERSION"));

/// Names of the rule's options in files. First come the options of the rule itself, then the method for the
/// inside, then the options of this method.
pub const FIELDS: [&str; 8] = [
    "variant",
    "wall",
    "radius",
    "ties",
    "band",
    "iso",
    INSIDE,
    "close_holes",
];

/// Name of the option that states the method for the inside. In [`FIELDS`] the options of the method come
/// after it.
pub const INSIDE: &str = "inside";

/// Names of the entries in files that describe the transform of coordinates. They are the axis that points up
/// (such as `y`), the axes of the file that become the axes of the grid (`x,-z,y`), the matrix (row by row),
/// the rotations (`x,10;z,30`), the factor (`1/1000`), the translation, the point of the file to which
/// coordinates are relative (`450123.4,0,0`), the unit (`mm`), and the frame of the scan for which the grid was
/// made (`-x,-y,z`; see [`ScanFrame`](super::ScanFrame)).
pub const TRANSFORM: [&str; 9] = [
    "up",
    "axes",
    "matrix",
    "rotate",
    "scale",
    "translate",
    "near",
    "unit",
    "scan_frame",
];

/// Name of the entry in files that has the volume of the mesh.
pub const MESH_VOLUME: &str = "mesh_volume";

/// Name of the entry in files that has the drain holes of a hollow part.
pub const DRAIN: &str = "drain";

/// Record of how a grid was made, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Name and version of the tool that made the grid.
    pub tool: Option<String>,
    /// Name of the rule as on the command line, or another name for the content of the cells.
    pub rule_name: Option<String>,
    /// Names and values of the rule's options, in the order of [`FIELDS`]. An option is missing if it is
    /// unknown or if the rule has no such option.
    pub fields: Vec<(&'static str, String)>,
    /// Drain holes of a hollow part, separated by semicolons, in the coordinates of the grid. Each has the
    /// coordinates of a point and a diameter: `10,0,2.5,3`. `None` without holes.
    pub drain: Option<String>,
    /// Names and values of the entries that describe the transform of coordinates, in the order of
    /// [`TRANSFORM`]. Missing entries have their default values.
    pub transform: Vec<(&'static str, String)>,
    /// Name of the method of snapping coordinates.
    pub snap: Option<String>,
    /// Volume of the voxelized mesh, in cubic units of the coordinates. It is stored only with shares of
    /// volume.
    pub mesh_volume: Option<String>,
    /// Name of the mesh file, without its folder.
    pub input: Option<String>,
}

impl Record {
    /// Returns the value of the rule's option with this name, which is one of [`FIELDS`]. `None` if the
    /// option is missing.
    pub fn field(&self, name: &str) -> Option<&str> {
        value_of(&self.fields, name)
    }

    /// Returns the method of snapping coordinates. It is the default method if the record does not state it.
    pub fn snap_of_lattice(&self) -> Snap {
        if self.snap.as_deref() == Some(Snap::None.name()) {
            Snap::None
        } else {
            Snap::Float
        }
    }

    /// Returns the value of the entry with this name, which is one of [`TRANSFORM`]. `None` if the entry is
    /// missing.
    pub fn transform(&self, name: &str) -> Option<&str> {
        value_of(&self.transform, name)
    }

    /// Returns the names and values of all entries, in the order in which files list them.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self {
            tool,
            rule_name,
            fields,
            drain,
            transform,
            snap,
            mesh_volume,
            input,
        } = self;
        let mut entries = vec![("tool", tool.as_deref()), ("rule", rule_name.as_deref())];
        for (name, value) in fields {
            entries.push((*name, Some(value.as_str())));
        }
        entries.push((DRAIN, drain.as_deref()));
        for (name, value) in transform {
            entries.push((*name, Some(value.as_str())));
        }
        entries.push(("snap", snap.as_deref()));
        entries.push((MESH_VOLUME, mesh_volume.as_deref()));
        entries.push(("input", input.as_deref()));
        entries
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
    }

    /// Creates a record. `value` returns the value of the entry with a given name, or `None` if there is no
    /// such entry.
    ///
    /// # Errors
    /// Returns the first error of `value`.
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
            drain: value(DRAIN)?,
            transform,
            snap: value("snap")?,
            mesh_volume: value(MESH_VOLUME)?,
            input: value("input")?,
        })
    }

    /// Reports whether `name` is the name of an entry of a record.
    pub(crate) fn has_entry(name: &str) -> bool {
        FIELDS.contains(&name)
            || TRANSFORM.contains(&name)
            || ["tool", "rule", DRAIN, "snap", MESH_VOLUME, "input"].contains(&name)
    }
}

fn value_of<'a>(entries: &'a [(&'static str, String)], name: &str) -> Option<&'a str> {
    let (_, value) = entries.iter().find(|(entry, _)| *entry == name)?;
    Some(value)
}
