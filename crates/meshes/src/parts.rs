//! Parts of a mesh: sets of triangles that the file names, such as the solids of an ASCII STL.

use voxelize_core::error::{Error, Result};

/// Kind of part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// File that was [joined](crate::Mesh::join) with others into one mesh.
    File,
    /// Object within a file: a solid, a group, a node or a build item.
    Object,
    /// Material within a file.
    Material,
}

impl PartKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::File, Self::Object, Self::Material];

    /// Name of the kind in options and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Object => "object",
            Self::Material => "material",
        }
    }
}

/// Parts of a mesh in the order of the file: their names, and the part that every triangle belongs to.
///
/// ```
/// # use voxelize_meshes::voxelize;
/// use voxelize::mesh::MeshParts;
///
/// let parts = MeshParts::new(["body", "lid"], [0, 0, 1, 1])?;
/// assert_eq!((parts.of(1), parts.of(2), parts.names()[1].as_str()), (0, 1, "lid"));
/// assert!(MeshParts::new(["body"], [1]).is_err());
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeshParts {
    names: Vec<String>,
    /// Runs of consecutive triangles of the same part: the first triangle and the part.
    runs: Vec<(u64, u32)>,
    triangles: u64,
    /// Sum of the lengths of all names in bytes.
    text: u64,
}

impl MeshParts {
    /// Creates parts with these names. `of` has, for each triangle, the index of its part.
    ///
    /// # Errors
    /// If an index is not below the number of names. The error names the triangle.
    pub fn new(
        names: impl IntoIterator<Item = impl Into<String>>,
        of: impl IntoIterator<Item = u32>,
    ) -> Result<Self> {
        let mut parts = Self::default();
        for name in names {
            parts.name(name.into());
        }
        for part in of {
            if part as usize >= parts.names.len() {
                let text = format!(
                    "part {part} is beyond the {} names of parts",
                    parts.names.len()
                );
                return Err(Error::usage(text)
                    .at_triangle(parts.triangles)
                    .with_hint("parts are numbered from 0"));
            }
            parts.extend(1, part);
        }
        Ok(parts)
    }

    /// Appends `triangles` triangles that belong to one part.
    pub(super) fn extend(&mut self, triangles: u64, part: u32) {
        if triangles > 0 && self.runs.last().is_none_or(|(_, last)| *last != part) {
            self.runs.push((self.triangles, part));
        }
        self.triangles += triangles;
    }

    /// Adds a part and returns its index.
    pub(super) fn name(&mut self, name: String) -> u32 {
        self.text += name.len() as u64;
        self.names.push(name);
        self.names.len() as u32 - 1
    }

    /// Returns the number of triangles.
    pub(super) fn len(&self) -> u64 {
        self.triangles
    }

    /// Returns the names of the parts. In a file, names may be empty, and two parts may have the same name.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the index of the part that a triangle belongs to.
    ///
    /// # Panics
    /// If there is no such triangle.
    pub fn of(&self, triangle: u32) -> u32 {
        assert!(
            u64::from(triangle) < self.triangles,
            "no triangle {triangle}"
        );
        let runs = self
            .runs
            .partition_point(|(first, _)| *first <= u64::from(triangle));
        self.runs[runs - 1].1
    }

    /// Returns the indices of the parts that have triangles. A part occurs once for each run of its
    /// triangles.
    pub(super) fn used(&self) -> impl Iterator<Item = u32> {
        self.runs.iter().map(|(_, part)| *part)
    }

    /// Returns the memory use in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let names = self.names.capacity() * size_of::<String>();
        self.text + (names + self.runs.capacity() * size_of::<(u64, u32)>()) as u64
    }

    /// Appends the parts of another mesh with `triangles` triangles. If `other` is `None`, all these
    /// triangles become one part without a name.
    pub(super) fn append(&mut self, other: Option<&Self>, triangles: u64) {
        let first = self.names.len() as u32;
        let Some(other) = other else {
            let part = self.name(String::new());
            return self.extend(triangles, part);
        };
        self.names.extend(other.names.iter().cloned());
        self.text += other.text;
        let begins = other.runs.iter().skip(1).map(|(begin, _)| *begin);
        let ends = begins.chain([other.triangles]);
        for ((begin, part), end) in other.runs.iter().zip(ends) {
            self.extend(end - begin, first + part);
        }
    }

    /// Returns the parts for a mesh that has only these triangles, in this order.
    pub(super) fn select(&self, triangles: impl Iterator<Item = u32>) -> Self {
        let mut selected = Self {
            names: self.names.clone(),
            text: self.text,
            ..Self::default()
        };
        for triangle in triangles {
            selected.extend(1, self.of(triangle));
        }
        selected
    }
}
