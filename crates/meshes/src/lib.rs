//! Meshes: lists of triangles with finite coordinates, and their bounds.
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

pub mod boundary;
pub mod closed;
mod colours;
pub mod components;
mod contacts;
mod counted;
mod cuts;
pub mod defects;
mod edges;
pub mod numbers;
pub mod pairs;
mod parts;
#[cfg(test)]
#[path = "../../../tests/support/random.rs"]
mod random;
pub mod read;
pub mod repair;
mod texture;
mod together;
mod union_find;
mod units;
mod weld;

pub use colours::MeshColours;
pub use contacts::Contact;
pub use cuts::CutBody;
pub use cuts::MeshCuts;
pub use pairs::PairLimit;
pub use parts::{MeshParts, PartKind};
pub use texture::{MeshTexture, TexturePlace, TextureWrap};
pub use units::{UnitOfLength, UpAxis};

use std::path::Path;
use std::sync::{Arc, OnceLock};

use closed::{Closedness, MeshSums};
use numbers::Dropped;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::geom::{Bounds, Point, Triangle};
use voxelize_core::par;
use voxelize_kernel::Level;
use voxelize_kernel::memory::Zeroed;
use voxelize_kernel::seen::{self, SeenTriangles};

/// Triangles in the order of their file, with finite coordinates. Each triangle takes 36 bytes. Vertices are
/// not welded.
#[derive(Debug, Clone)]
pub struct Mesh {
    /// Clones share the triangles.
    triangles: Arc<Zeroed<Triangle>>,
    bounds: Bounds,
    degenerate: u64,
    /// Sums over all triangles, computed when first needed.
    sums: OnceLock<MeshSums>,
    dropped: Arc<Dropped>,
    /// Parts by kind. `None` for a kind without parts.
    parts: [Option<Arc<MeshParts>>; PartKind::ALL.len()],
    /// For each kind, the parts that are open individually but closed together, computed when first needed.
    filled_together: [OnceLock<Arc<[u32]>>; PartKind::ALL.len()],
    colours: Option<Arc<MeshColours>>,
    /// For each triangle, the numbers of its vertices in the file.
    numbered: Option<Arc<Vec<[u32; 3]>>>,
    /// Closedness of the original mesh, if this mesh was made of some of its triangles.
    whole: Option<Closedness>,
    /// Negative volumes that are subtracted from bodies of the mesh.
    cuts: Option<Arc<MeshCuts>>,
}

impl PartialEq for Mesh {
    /// Returns whether both meshes have the same triangles in the same order, and the same negative
    /// volumes.
    fn eq(&self, other: &Self) -> bool {
        let [one, two] = [self, other].map(|mesh| mesh.cuts.as_deref().map(MeshCuts::mesh));
        self.triangles == other.triangles && one == two
    }
}

impl Mesh {
    /// Reads a mesh from a file of any format in [`read::INPUTS`].
    ///
    /// # Errors
    /// If the file cannot be read, is invalid or is incomplete. [`read`] lists the findings.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(read::read_file(path.as_ref(), &read::ReadOptions::default().textures(true))?.mesh)
    }

    /// Reads a mesh from bytes or a stream of any format in [`read::INPUTS`]. Error messages name the input
    /// `name`. The reader cannot open other files, such as materials.
    ///
    /// ```
    /// # use voxelize_meshes::voxelize;
    /// use voxelize::Mesh;
    ///
    /// let obj = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
    /// assert_eq!(Mesh::read(obj.as_bytes(), "plate.obj")?.triangles().len(), 2);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn read(mut bytes: impl std::io::Read, name: &str) -> Result<Self> {
        Ok(read::read_stream(
            &mut bytes,
            name,
            &read::ReadOptions::default().textures(true),
        )?
        .mesh)
    }

    /// Creates a mesh of these triangles.
    ///
    /// # Errors
    /// If a coordinate is not finite. The error names the triangle.
    pub fn from_triangles(triangles: Vec<Triangle>) -> Result<Self> {
        Self::of_any(triangles.into(), Arc::default())
    }

    /// Returns this mesh with these parts of kind `kind`.
    ///
    /// # Errors
    /// If the parts and the mesh have different numbers of triangles.
    pub fn with_parts(mut self, kind: PartKind, parts: MeshParts) -> Result<Self> {
        if parts.len() != self.triangles.len() as u64 {
            let text = format!(
                "parts of {} triangles, the mesh has {}",
                parts.len(),
                self.triangles.len()
            );
            return Err(Error::usage(text).with_hint("give a part for every triangle"));
        }
        self.parts[kind as usize] = Some(Arc::new(parts));
        self.filled_together[kind as usize] = OnceLock::new();
        Ok(self)
    }

    /// Returns the parts of this kind. `None` if the mesh has none.
    pub fn parts(&self, kind: PartKind) -> Option<&MeshParts> {
        self.parts[kind as usize].as_deref()
    }

    /// Joins meshes in this order. Each mesh becomes a part of the kind [`PartKind::File`] with its name. A mesh
    /// without objects also becomes a part of the kind [`PartKind::Object`] with this name. The
    /// [`number`](Self::number)s of the triangles are their indices in the joined mesh.
    ///
    /// ```
    /// # use voxelize_meshes::voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::Mesh;
    /// use voxelize::mesh::PartKind;
    ///
    /// let [cube, knot] = ["cube", "knot"].map(|name| Mesh::open(format!("fixtures/{name}.stl")).unwrap());
    /// let both = Mesh::join([("cube", &cube), ("knot", &knot)])?;
    /// assert_eq!(both.parts(PartKind::File).unwrap().names(), ["cube", "knot"]);
    /// assert_eq!(both.parts(PartKind::Object).unwrap().names(), ["cube", "knot"]);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn join<'m>(meshes: impl IntoIterator<Item = (&'m str, &'m Self)>) -> Result<Self> {
        let meshes: Vec<_> = meshes.into_iter().collect();
        let mut triangles: Vec<Triangle> = vec![];
        let count = meshes.iter().map(|(_, mesh)| mesh.triangles.len()).sum();
        let too_many = |_| {
            Error::too_large(format!(
                "{count} triangles are more than the system provides memory for"
            ))
        };
        triangles.try_reserve_exact(count).map_err(too_many)?;
        let mut parts = PartKind::ALL.map(|kind| {
            let is_named = kind != PartKind::Material
                || meshes.iter().any(|(_, mesh)| mesh.parts(kind).is_some());
            is_named.then(MeshParts::default)
        });
        let mut colours = meshes
            .iter()
            .any(|(_, mesh)| mesh.colours.is_some())
            .then(MeshColours::default);
        let cuts = MeshCuts::join(&meshes)?;
        for (name, mesh) in meshes {
            if let Some(colours) = &mut colours {
                colours.append(mesh.colours(), mesh.triangles.len());
            }
            triangles.extend_from_slice(&mesh.triangles);
            let more = mesh.triangles.len() as u64;
            for (kind, parts) in PartKind::ALL.into_iter().zip(&mut parts) {
                match parts {
                    Some(parts)
                        if kind == PartKind::File
                            || kind == PartKind::Object && mesh.parts(kind).is_none() =>
                    {
                        let part = parts.name(name.to_string());
                        parts.extend(more, part);
                    }
                    Some(parts) => parts.append(mesh.parts(kind), more),
                    None => {}
                }
            }
        }
        let parts = parts.map(|parts| parts.map(Arc::new));
        let colours = colours.map(Arc::new);
        Ok(Self {
            parts,
            colours,
            cuts: cuts.map(Arc::new),
            ..Self::of_finite(triangles.into())
        })
    }

    /// Returns a mesh of the triangles for which `is_kept` returns true. `is_kept` is called with the index
    /// of a triangle. The triangles keep their [`number`](Self::number)s, parts, colours and negative
    /// volumes.
    pub fn select(&self, is_kept: impl Fn(u32) -> bool) -> Self {
        let kept: Vec<u32> = (0..self.triangles.len() as u32)
            .filter(|n| is_kept(*n))
            .collect();
        let triangles: Vec<Triangle> = kept.iter().map(|n| self.triangles[*n as usize]).collect();
        let dropped = Arc::new(self.dropped.select(&kept));
        let mut parts: [Option<Arc<MeshParts>>; PartKind::ALL.len()] = Default::default();
        for (selected, parts) in parts.iter_mut().zip(&self.parts) {
            if let Some(parts) = parts {
                *selected = Some(Arc::new(parts.select(kept.iter().copied())));
            }
        }
        let colours = self
            .colours()
            .map(|colours| Arc::new(colours.select(&kept)));
        let numbered = self
            .vertex_numbers()
            .map(|numbers| Arc::new(kept.iter().map(|n| numbers[*n as usize]).collect()));
        let cuts = self
            .cuts()
            .and_then(|cuts| cuts.select(&kept))
            .map(Arc::new);
        Self {
            dropped,
            parts,
            colours,
            numbered,
            cuts,
            ..Self::of_finite(triangles.into())
        }
    }

    /// Returns these triangles, given in ascending order, with their [`number`](Self::number)s and
    /// vertex numbers, but without parts, colours and negative volumes. Takes time for these
    /// triangles alone.
    pub fn piece(&self, triangles: &[u32]) -> Self {
        let numbered = self
            .vertex_numbers()
            .map(|numbers| Arc::new(triangles.iter().map(|n| numbers[*n as usize]).collect()));
        Self {
            numbered,
            ..self.pick(triangles)
        }
    }

    /// Applies `moved` to each triangle, also to those of negative volumes. The [`number`](Self::number)s,
    /// parts and colours stay the same.
    ///
    /// # Errors
    /// If a coordinate is not finite. The error names the triangle.
    pub fn map(&self, moved: impl Fn(&Triangle) -> Triangle) -> Result<Self> {
        self.map_by(&moved)
    }

    /// Applies a function to each triangle, and recursively to the negative volumes. These have no negative
    /// volumes themselves, so the recursion ends at the second level.
    fn map_by(&self, moved: &dyn Fn(&Triangle) -> Triangle) -> Result<Self> {
        let triangles: Vec<_> = self.triangles().iter().map(moved).collect();
        let cuts = match self.cuts() {
            Some(cuts) => Some(Arc::new(cuts.map(moved)?)),
            None => None,
        };
        let mesh = Self::of_any(triangles.into(), Arc::clone(&self.dropped))?;
        Ok(Self {
            parts: self.parts.clone(),
            colours: self.colours.clone(),
            numbered: self.numbered.clone(),
            cuts,
            ..mesh
        })
    }

    /// Returns this mesh with the numbers that its file gives to the vertices of each triangle. Only the
    /// search for cracks uses them. Everything else considers vertices equal if their coordinates are equal.
    ///
    /// # Errors
    /// If the list has another number of triangles than the mesh.
    pub fn with_vertex_numbers(mut self, numbers: Vec<[u32; 3]>) -> Result<Self> {
        if numbers.len() != self.triangles.len() {
            let text = format!(
                "vertices of {} triangles, the mesh has {}",
                numbers.len(),
                self.triangles.len()
            );
            return Err(Error::usage(text).with_hint("give three numbers for every triangle"));
        }
        self.numbered = Some(numbers.into());
        Ok(self)
    }

    /// Returns the numbers that the file gives to the vertices of each triangle. `None` unless the file has
    /// them and [`vertex_numbers`](read::ReadOptions::vertex_numbers) requested them.
    pub fn vertex_numbers(&self) -> Option<&[[u32; 3]]> {
        self.numbered.as_ref().map(|numbers| numbers.as_slice())
    }

    /// Returns this mesh with the data of each triangle's last two corners exchanged. The caller has turned
    /// the triangles over.
    pub fn with_turned_corners(mut self) -> Self {
        self.colours = self.colours.map(|colours| colours.turned().into());
        self.numbered = self.numbered.map(|numbers| {
            numbers
                .iter()
                .map(|[a, b, c]| [*a, *c, *b])
                .collect::<Vec<_>>()
                .into()
        });
        self
    }

    fn of_any(triangles: Zeroed<Triangle>, dropped: Arc<Dropped>) -> Result<Self> {
        if let Some(seen) = seen_in_parallel(&triangles) {
            return Ok(Self {
                dropped,
                ..Self::seen(triangles, &seen)
            });
        }
        let coordinates = triangles.as_flattened().as_flattened();
        let place = coordinates.iter().position(|c| !c.is_finite()).unwrap_or(0);
        Err(not_finite(coordinates[place]).at_triangle(dropped.number(place as u64 / 9)))
    }

    /// Creates a mesh of triangles that are given by the indices of their vertices, from 0. Vertices that no
    /// triangle uses do not affect the bounds. Use [`with_parts`](Self::with_parts) and
    /// [`with_colours`](Self::with_colours) to add parts and colours.
    ///
    /// ```
    /// # use voxelize_meshes::voxelize;
    /// use voxelize::Mesh;
    ///
    /// let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    /// let mesh = Mesh::from_indexed(&corners, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])?;
    /// assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// If an index is not below the number of vertices, or a coordinate is not finite. The error names the
    /// triangle.
    pub fn from_indexed(vertices: &[Point], triangles: &[[u32; 3]]) -> Result<Self> {
        let corner = |n: u32| vertices.get(n as usize).copied();
        let mut found = Vec::with_capacity(triangles.len());
        for (n, &[a, b, c]) in triangles.iter().enumerate() {
            let (Some(a), Some(b), Some(c)) = (corner(a), corner(b), corner(c)) else {
                let message = format!(
                    "an index is beyond the {} vertices: {:?}",
                    vertices.len(),
                    triangles[n]
                );
                return Err(Error::usage(message)
                    .at_triangle(n as u64)
                    .with_hint("indices start at 0"));
            };
            found.push([a, b, c]);
        }
        Self::from_triangles(found)
    }

    /// Creates a mesh of triangles whose coordinates are known to be finite.
    fn of_finite(triangles: Zeroed<Triangle>) -> Self {
        let seen = seen_in_parallel(&triangles).expect("finite triangles");
        Self::seen(triangles, &seen)
    }

    /// Creates a mesh of triangles that a reader has already summarized as `seen`. All coordinates are known
    /// to be finite.
    fn seen(triangles: Zeroed<Triangle>, seen: &SeenTriangles) -> Self {
        debug_assert_eq!(seen.bounds, Bounds::of(&triangles));
        Self {
            triangles: Arc::new(triangles),
            bounds: seen.bounds,
            degenerate: seen.degenerate,
            sums: OnceLock::new(),
            dropped: Arc::default(),
            parts: Default::default(),
            filled_together: Default::default(),
            colours: None,
            numbered: None,
            whole: None,
            cuts: None,
        }
    }

    /// Marks the mesh as a part of a larger mesh with these bounds and this closedness. The mesh reports them
    /// as its own, so that a rule treats it like the larger mesh.
    #[must_use]
    pub fn made_some_of(self, bounds: Bounds, closedness: Closedness) -> Self {
        Self {
            bounds,
            whole: Some(closedness),
            ..self
        }
    }

    /// Returns whether the mesh was [marked](Self::made_some_of) as a part of a larger mesh.
    pub fn is_some_of_another(&self) -> bool {
        self.whole.is_some()
    }

    /// Returns the triangles in the order of the file.
    pub fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }

    /// Returns the number of triangle `n` in its file, from 0. The number is `n` if no earlier triangle was
    /// dropped. Reports name triangles by this number.
    pub fn number(&self, n: u32) -> u64 {
        self.dropped.number(u64::from(n))
    }

    /// Returns the index of the triangle with this [`number`](Self::number). If that triangle was dropped,
    /// returns the index of the next triangle that was kept.
    pub fn at_number(&self, number: u64) -> u32 {
        let mut below = 0;
        let mut above = self.triangles.len() as u32;
        while below < above {
            let middle = below + (above - below) / 2;
            if self.number(middle) < number {
                below = middle + 1
            } else {
                above = middle
            }
        }
        below
    }

    /// Returns the triangles of the file that were dropped. They are needed to compute
    /// [numbers](Self::number) after the mesh itself was freed.
    pub fn dropped(&self) -> Arc<Dropped> {
        Arc::clone(&self.dropped)
    }

    /// Returns the bounds of all triangles. Empty if there are no triangles.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Returns the number of triangles whose area is exactly zero: two vertices are equal, or all three lie
    /// on one line.
    pub fn degenerate(&self) -> u64 {
        self.degenerate
    }
}

/// Computes bounds and the number of triangles without area, in parallel. `None` if a coordinate is not
/// finite.
fn seen_in_parallel(triangles: &[Triangle]) -> Option<SeenTriangles> {
    const CHUNK: usize = 1 << 16;
    let level = Level::best();
    let seen = par::map(triangles.chunks(CHUNK).collect(), |chunk| {
        seen::seen(level, chunk)
    });
    let mut all = SeenTriangles::default();
    for chunk in seen {
        all = all.and(&chunk?);
    }
    Some(all)
}

/// Returns the error for a coordinate that is not finite.
fn not_finite(coordinate: f32) -> Error {
    Error::input(
        Code::S004,
        format!(
            "a vertex is {}",
            if coordinate.is_nan() {
                "NaN"
            } else {
                "infinite"
            }
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinate_that_is_not_finite_is_refused_with_its_triangle() {
        let good = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        for (bad, message) in [
            (f32::NAN, "a vertex is NaN"),
            (f32::NEG_INFINITY, "a vertex is infinite"),
        ] {
            let mut triangles = vec![good; 4];
            triangles[2][1][2] = bad;
            let error = Mesh::from_triangles(triangles).unwrap_err();
            assert_eq!((error.triangle(), error.message()), (Some(2), message));
        }
    }

    #[test]
    fn an_index_beyond_the_vertices_is_refused_with_its_triangle() {
        let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let error = Mesh::from_indexed(&corners, &[[0, 1, 2], [0, 1, 3]]).unwrap_err();
        assert_eq!(error.triangle(), Some(1));
        let mesh = Mesh::from_indexed(&corners, &[[2, 0, 1]]).unwrap();
        assert_eq!(mesh.triangles(), [[corners[2], corners[0], corners[1]]]);
    }

    #[test]
    fn degenerate_triangles_are_counted_across_chunks() {
        let good = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let line = [[0.0; 3], [1.0, 2.0, 3.0], [2.0, 4.0, 6.0]];
        let triangles = (0..200_000)
            .map(|n| if n % 7 == 0 { line } else { good })
            .collect();
        assert_eq!(
            Mesh::from_triangles(triangles).unwrap().degenerate(),
            200_000_u64.div_ceil(7)
        );
    }
}

/// Names that the examples of this package use. They have the same paths in the package `voxelize-mesh`.
#[doc(hidden)]
pub mod voxelize {
    pub use crate as mesh;
    pub use crate::Mesh;
    pub use voxelize_core::*;
}
