//! Negative volumes: closed shapes that are subtracted from the bodies of a mesh, as slicers do.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::Mesh;
use super::parts::MeshParts;
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::{Bounds, Triangle};

/// Negative volumes of a mesh. Each negative volume is subtracted from one body and does not change the other
/// bodies.
#[derive(Debug, Clone)]
pub struct MeshCuts {
    /// Triangles of all negative volumes.
    mesh: Mesh,
    /// Body of each triangle of the mesh that the negative volumes belong to.
    bodies: MeshParts,
    /// For each triangle of `mesh`, the body that it is subtracted from.
    cut_from: MeshParts,
    /// For each triangle of `mesh`, the number of its negative volume.
    volumes: MeshParts,
}

/// Body of a mesh that is voxelized on its own.
#[derive(Debug, Clone)]
pub struct CutBody {
    /// Triangles of the body.
    pub mesh: Mesh,
    /// Negative volumes that are subtracted from the body. Empty for the body with all triangles that nothing
    /// is subtracted from.
    pub cuts: Vec<Mesh>,
}

impl CutBody {
    /// Returns the body together with its negative volumes. Each negative volume is turned over if its signed
    /// volume is below zero.
    pub fn with_cuts(&self) -> Mesh {
        let cuts = self.all_cuts();
        let body = upright(&self.mesh);
        Mesh::of_finite([&body, cuts.triangles()].concat().into())
    }

    /// Returns all negative volumes of the body in one mesh. Each negative volume is turned over if its
    /// signed volume is below zero.
    pub fn all_cuts(&self) -> Mesh {
        let triangles: Vec<Triangle> = self.cuts.iter().flat_map(upright).collect();
        Mesh::of_finite(triangles.into())
    }
}

/// Returns the triangles of a mesh, turned over if its volume is negative.
fn upright(mesh: &Mesh) -> Vec<Triangle> {
    let is_inverted = mesh.volume() < 0.0;
    mesh.triangles()
        .iter()
        .map(|&[a, b, c]| if is_inverted { [a, c, b] } else { [a, b, c] })
        .collect()
}

impl MeshCuts {
    /// Creates the negative volumes of a mesh with several bodies.
    ///
    /// `bodies` has the body of each triangle of the mesh. For each triangle of the negative volumes,
    /// `cut_from` has the body that it is subtracted from, and `volumes` has the number of its negative
    /// volume.
    pub(super) fn new(
        mesh: Mesh,
        bodies: MeshParts,
        cut_from: MeshParts,
        volumes: MeshParts,
    ) -> Self {
        Self {
            mesh,
            bodies,
            cut_from,
            volumes,
        }
    }

    /// Returns the triangles of all negative volumes.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Returns the number of triangles of all negative volumes.
    pub fn count(&self) -> usize {
        self.mesh.triangles.len()
    }

    /// Returns the body of each triangle of the mesh that the negative volumes belong to.
    pub fn bodies(&self) -> &MeshParts {
        &self.bodies
    }

    /// Returns the body that each triangle of the negative volumes is subtracted from.
    pub fn cut_from(&self) -> &MeshParts {
        &self.cut_from
    }

    /// Returns, for each triangle in [`mesh`](Self::mesh), the number of its negative volume.
    pub fn volumes(&self) -> &MeshParts {
        &self.volumes
    }

    /// Splits a mesh with these negative volumes into bodies. The first body has all triangles that nothing
    /// is subtracted from. Bodies without triangles are left out.
    pub fn split(&self, mesh: &Mesh) -> Vec<CutBody> {
        // Triangles of the negative volumes, by body and negative volume.
        let mut cuts: HashMap<u32, BTreeMap<u32, Vec<u32>>> = HashMap::new();
        for n in 0..self.mesh.triangles.len() as u32 {
            let volumes = cuts.entry(self.cut_from.of(n)).or_default();
            volumes.entry(self.volumes.of(n)).or_default().push(n);
        }
        let mut whole = vec![];
        let mut bodies: Vec<(u32, Vec<u32>)> = vec![];
        let mut places = HashMap::new();
        for n in 0..mesh.triangles.len() as u32 {
            let body = self.bodies.of(n);
            if !cuts.contains_key(&body) {
                whole.push(n);
                continue;
            }
            let place = *places.entry(body).or_insert(bodies.len());
            if place == bodies.len() {
                bodies.push((body, vec![]));
            }
            bodies[place].1.push(n);
        }
        let mut found = vec![];
        if !whole.is_empty() {
            found.push(CutBody {
                mesh: mesh.pick(&whole),
                cuts: vec![],
            });
        }
        for (body, triangles) in bodies {
            let cuts = cuts[&body]
                .values()
                .map(|volume| self.mesh.pick(volume))
                .collect();
            found.push(CutBody {
                mesh: mesh.pick(&triangles),
                cuts,
            });
        }
        found
    }

    /// Returns whether bounding boxes prove that no body with negative volumes overlaps another body.
    pub fn bodies_are_apart(&self, mesh: &Mesh) -> bool {
        /// Maximum number of pairs of bodies to compare.
        const MOST_PAIRS: usize = 1 << 20;
        let is_cut: HashSet<u32> = self.cut_from.used().collect();
        let mut all: BTreeMap<u32, Bounds> = BTreeMap::new();
        for (n, triangle) in mesh.triangles().iter().enumerate() {
            let own = Bounds::of(&[*triangle]);
            all.entry(self.bodies.of(n as u32))
                .and_modify(|bounds| *bounds = bounds.union(&own))
                .or_insert(own);
        }
        let cut: Vec<_> = all
            .iter()
            .filter(|(body, _)| is_cut.contains(body))
            .collect();
        if cut.len().saturating_mul(all.len()) > MOST_PAIRS {
            return false;
        }
        cut.iter().all(|(body, own)| {
            all.iter().all(|(other, bounds)| {
                *body == other
                    || (0..3).any(|a| own.max[a] <= bounds.min[a] || bounds.max[a] <= own.min[a])
            })
        })
    }

    /// Returns the negative volumes for a mesh that keeps only these triangles, in this order. Negative
    /// volumes of bodies without a remaining triangle are left out. `None` if no negative volume remains.
    pub(super) fn select(&self, kept: &[u32]) -> Option<Self> {
        let bodies = self.bodies.select(kept.iter().copied());
        let there: HashSet<u32> = bodies.used().collect();
        let all = 0..self.mesh.triangles.len() as u32;
        let own: Vec<u32> = all
            .filter(|n| there.contains(&self.cut_from.of(*n)))
            .collect();
        if own.is_empty() {
            return None;
        }
        let [cut_from, volumes] =
            [&self.cut_from, &self.volumes].map(|parts| parts.select(own.iter().copied()));
        Some(Self {
            mesh: self.mesh.pick(&own),
            bodies,
            cut_from,
            volumes,
        })
    }

    /// Applies `moved` to each triangle of the negative volumes.
    pub(super) fn map(&self, moved: &dyn Fn(&Triangle) -> Triangle) -> Result<Self> {
        Ok(Self {
            mesh: self.mesh.map_by(moved)?,
            ..self.clone()
        })
    }

    /// Joins the negative volumes of several meshes, for a mesh that is joined from these in the same order.
    /// `None` if no mesh has negative volumes.
    pub(super) fn join(meshes: &[(&str, &Mesh)]) -> Result<Option<Self>> {
        if meshes.iter().all(|(_, mesh)| mesh.cuts.is_none()) {
            return Ok(None);
        }
        let mut bodies = MeshParts::default();
        let mut cut_from = MeshParts::default();
        let mut volumes = MeshParts::default();
        let mut triangles: Vec<Triangle> = vec![];
        for (_, mesh) in meshes {
            let count = mesh.triangles.len() as u64;
            match mesh.cuts.as_deref() {
                Some(cuts) => {
                    bodies.append(Some(&cuts.bodies), count);
                    cut_from.append(Some(&cuts.cut_from), cuts.count() as u64);
                    volumes.append(Some(&cuts.volumes), cuts.count() as u64);
                    triangles.extend_from_slice(cuts.mesh.triangles());
                }
                None => {
                    bodies.append(None, count);
                    // Numbers bodies the same way in both lists.
                    cut_from.append(None, 0);
                }
            }
        }
        Ok(Some(Self {
            mesh: Mesh::of_finite(triangles.into()),
            bodies,
            cut_from,
            volumes,
        }))
    }
}

impl Mesh {
    /// Returns this mesh with one negative volume: `cut` is subtracted from the whole mesh. Only the rules
    /// `Rule::Solid` and `Rule::Filled`, which find the inside, subtract it. Everything else ignores negative
    /// volumes.
    ///
    /// ```
    /// # use voxelize_meshes::voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::Mesh;
    ///
    /// let cube = Mesh::open("fixtures/cube.stl")?;
    /// // The half at low x.
    /// let half = cube.map(|triangle| triangle.map(|[x, y, z]| [x / 2.0, y, z]))?;
    /// let rest = cube.less(half)?;
    /// assert!(rest.cuts().is_some());
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// If `cut` has negative volumes itself, or this mesh was joined from several meshes and at least one of
    /// them has negative volumes.
    pub fn less(self, cut: Self) -> Result<Self> {
        let is_several = self
            .cuts()
            .is_some_and(|cuts| cuts.bodies.names().len() > 1);
        if is_several || cut.cuts.is_some() {
            let error =
                Error::usage("negative volumes must be cut out of bodies that are already known");
            return Err(error.with_hint("cut them out before meshes are joined"));
        }
        if cut.triangles.is_empty() {
            return Ok(self);
        }
        let count = cut.triangles.len() as u64;
        let mut cuts = match self.cuts() {
            Some(cuts) => cuts.clone(),
            None => {
                let bodies = MeshParts::new([""], std::iter::repeat_n(0, self.triangles.len()))?;
                let none = MeshParts::new([""], [])?;
                let nothing = Self::of_finite(vec![].into());
                MeshCuts::new(nothing, bodies, none, MeshParts::default())
            }
        };
        let triangles = [cuts.mesh.triangles(), cut.triangles()].concat();
        cuts.mesh = Self::of_finite(triangles.into());
        cuts.cut_from.extend(count, 0);
        let volume = cuts.volumes.name(String::new());
        cuts.volumes.extend(count, volume);
        Ok(self.with_cuts(cuts))
    }

    /// Returns this mesh with negative volumes. `cuts` lists a body for each triangle of this mesh.
    pub(super) fn with_cuts(self, cuts: MeshCuts) -> Self {
        debug_assert_eq!(cuts.bodies.len(), self.triangles.len() as u64);
        debug_assert_eq!(cuts.cut_from.len(), cuts.mesh.triangles.len() as u64);
        Self {
            cuts: Some(Arc::new(cuts)),
            ..self
        }
    }

    /// Returns the negative volumes of the mesh. `None` if it has none.
    pub fn cuts(&self) -> Option<&MeshCuts> {
        self.cuts.as_deref()
    }

    /// Returns these triangles in this order, without parts, colours or negative volumes.
    pub(crate) fn pick(&self, triangles: &[u32]) -> Self {
        let picked: Vec<Triangle> = triangles
            .iter()
            .map(|n| self.triangles[*n as usize])
            .collect();
        let dropped = Arc::new(self.dropped.select(triangles));
        Self {
            dropped,
            ..Self::of_finite(picked.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PartKind;

    /// Returns a box with these corners.
    fn cuboid(low: [f32; 3], high: [f32; 3]) -> Mesh {
        let cube = Mesh::open("../../fixtures/cube.stl").unwrap();
        let bounds = *cube.bounds();
        let scaled = |corner: [f32; 3]| {
            std::array::from_fn(|n| {
                if corner[n] == bounds.min[n] {
                    low[n]
                } else {
                    high[n]
                }
            })
        };
        cube.map(|triangle| triangle.map(scaled)).unwrap()
    }

    #[test]
    fn negative_volumes_follow_their_bodies() {
        let body = cuboid([0.0; 3], [4.0; 3])
            .less(cuboid([1.0; 3], [2.0; 3]))
            .unwrap();
        let plain = cuboid([10.0; 3], [14.0; 3]);
        let other = cuboid([20.0; 3], [24.0; 3])
            .less(cuboid([21.0; 3], [22.0; 3]))
            .unwrap();
        let all = Mesh::join([("a", &body), ("b", &plain), ("c", &other)]).unwrap();
        let count = body.triangles().len();
        assert_eq!(
            (all.triangles().len(), all.cuts().unwrap().count()),
            (3 * count, 2 * count)
        );
        let split = all.cuts().unwrap().split(&all);
        let lows: Vec<_> = split
            .iter()
            .map(|part| {
                (
                    part.mesh.bounds().min[0],
                    part.cuts.first().map(|cut| cut.bounds().min[0]),
                )
            })
            .collect();
        assert_eq!(lows, [(10.0, None), (0.0, Some(1.0)), (20.0, Some(21.0))]);
        let files = all.parts(PartKind::File).unwrap();
        let mut seen = 0;
        for (part, low) in [(0, Some(1.0)), (1, None), (2, Some(21.0))] {
            let chosen = all.select(|n| files.of(n) == part);
            let moved = chosen
                .map(|triangle| triangle.map(|[x, y, z]| [x + 1.0, y, z]))
                .unwrap();
            let cut = moved.cuts().map(|cuts| cuts.mesh().bounds().min[0]);
            assert_eq!(cut, low.map(|low| low + 1.0), "{part}");
            seen += 1;
        }
        assert_eq!(seen, 3);
        let uncut = cuboid([0.0; 3], [4.0; 3]);
        assert!(body.triangles() == uncut.triangles() && body != uncut && body == body.clone());
        assert_eq!(
            body.less(plain.clone())
                .unwrap()
                .cuts()
                .unwrap()
                .split(&other)[0]
                .cuts
                .len(),
            2
        );
        assert!(all.less(plain).is_err());
    }
}
