//! Bins: files with the triangles that a region needs, so that a process need not read the whole mesh. The
//! list of bins also has properties of the whole mesh: its bounds, and whether it is closed and oriented.

use std::io::Write;

use super::plan::RegionPlan;
use super::share::{TriangleBins, check_bins, check_parts};
use super::store::RegionStore;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::geom::{Bounds, Triangle};
use voxelize_core::par::Progress;
use voxelize_core::text::bytes;
use voxelize_formats::Durability;
use voxelize_formats::zarr::store::{self, NewBins, StoreBins};
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::{Mesh, MeshParts};

/// Size of a triangle in bytes.
const TRIANGLE: usize = size_of::<Triangle>();

/// Size, in bytes, of the number of a triangle's part.
const NUMBER: usize = size_of::<u32>();

/// Names in the list of bins for the values of [`Closedness`].
const CLOSED: [(Closedness, &str); 3] = [
    (Closedness::Oriented, "oriented"),
    (Closedness::Closed, "closed"),
    (Closedness::Open, "open"),
];

impl RegionPlan {
    /// Prepares to distribute the triangles of the mesh of this plan to bins.
    pub(super) fn sharing<'a>(&'a self, mesh: &'a Mesh) -> TriangleBins<'a> {
        TriangleBins::new(mesh, &self.lattice, &self.rule, self.part_kind())
    }

    /// Returns the mesh of the region whose bin is largest. A process must have this mesh in memory.
    ///
    /// # Errors
    /// Fails if there is not enough memory.
    pub fn largest_bin(&self, mesh: &Mesh) -> Result<Mesh> {
        self.sharing(mesh).largest(self.store.region_layers)
    }
}

impl RegionStore {
    /// Creates a store as [`create`](Self::create) does, and also writes the triangles of each region to a
    /// bin. Replaces existing bins of the store. Uses the calling thread pool.
    ///
    /// # Errors
    /// Fails for the reasons listed at [`create`](Self::create), and if the run was cancelled.
    pub fn create_with_bins(
        root: &std::path::Path,
        plan: RegionPlan,
        mesh: &Mesh,
        durability: Durability,
        progress: &dyn Progress,
    ) -> Result<Self> {
        check_bins(&plan.rule, &plan.rule, plan.store.source.auto)?;
        check_parts(mesh, &plan.lattice, &plan.rule, progress)?;
        let sharing = plan.sharing(mesh);
        let Bounds { min, max } = *mesh.bounds();
        let closed = CLOSED.iter().find(|(one, _)| *one == mesh.closedness());
        let list = StoreBins {
            plan: plan.hash,
            bounds: [min, max],
            closed: closed.map_or("open", |(_, name)| name).to_string(),
            parts: sharing
                .parts
                .map_or_else(Vec::new, |parts| parts.names().to_vec()),
            bins: vec![],
        };
        progress.begin("bin", plan.regions() as u64);
        let write = |region: usize, out: &mut dyn Write| {
            sharing.write(plan.store.layers(region), progress, out)?;
            progress.advance(1);
            Ok(())
        };
        Self::create_by(
            root,
            plan.clone(),
            Some(&NewBins {
                list,
                write: &write,
            }),
            durability,
        )
    }

    /// Returns the bins of this store. `None` if the store has no bins.
    ///
    /// # Errors
    /// Fails if the list of bins is damaged, or if it belongs to another plan.
    pub fn bins(&self) -> Result<Option<RegionBins<'_>>> {
        let list = store::read_bins(&self.root, &self.plan.store, self.plan.hash)?;
        Ok(list.map(|list| RegionBins { store: self, list }))
    }
}

/// Bins of a store.
#[derive(Debug)]
pub struct RegionBins<'a> {
    store: &'a RegionStore,
    list: StoreBins,
}

impl RegionBins<'_> {
    /// Returns the total size of all bins in bytes.
    pub fn bytes(&self) -> u64 {
        self.list.bins.iter().map(|bin| bin.bytes).sum()
    }

    /// Returns the size of the largest bin in bytes.
    pub fn largest(&self) -> u64 {
        self.list
            .bins
            .iter()
            .map(|bin| bin.bytes)
            .max()
            .unwrap_or(0)
    }

    /// Reads the triangles of a region from its bin. The resulting mesh is sufficient only to make this
    /// region with [`RegionMaker`](super::RegionMaker). Regions are numbered from 0.
    ///
    /// # Errors
    /// Fails if there is no such region, if its bin is missing, damaged or larger than `max_memory` bytes, or
    /// if the run was cancelled.
    pub fn mesh(
        &self,
        region: usize,
        max_memory: Option<u64>,
        progress: &dyn Progress,
    ) -> Result<Mesh> {
        let Self {
            store: RegionStore { root, plan, .. },
            list,
        } = self;
        self.store.check_region(region)?;
        let bin = &list.bins[region];
        let damaged = |fault: &str| Error::input(Code::R005, fault).in_file(root.join(&bin.name));
        let kind = plan.part_kind().filter(|_| !list.parts.is_empty());
        let each = TRIANGLE + if kind.is_some() { NUMBER } else { 0 };
        if max_memory.is_some_and(|most| bin.bytes > most) {
            let text = format!(
                "the triangles of region {} take {}, {} are allowed",
                region + 1,
                bytes(bin.bytes),
                bytes(max_memory.unwrap_or(0)),
            );
            return Err(Error::too_large(text).with_hint("raise `--max-memory`"));
        }
        let count = match usize::try_from(bin.bytes) {
            Ok(bytes) if bytes.is_multiple_of(each) => bytes / each,
            _ => {
                return Err(damaged(
                    "the bin does not contain a whole number of triangles",
                ));
            }
        };
        let mut triangles: Vec<Triangle> = vec![];
        let mut numbers: Vec<u32> = vec![];
        let numbered = if kind.is_some() { count } else { 0 };
        if triangles.try_reserve_exact(count).is_err()
            || numbers.try_reserve_exact(numbered).is_err()
        {
            return Err(Error::too_large(format!(
                "{count} triangles are more than the system provides memory for"
            )));
        }
        let mut rest: Vec<u8> = vec![];
        store::read_bin(root, bin, progress, &mut |some| {
            rest.extend_from_slice(some);
            let mut bytes = rest.as_slice();
            while triangles.len() < count
                && let Some((triangle, after)) = bytes.split_first_chunk::<TRIANGLE>()
            {
                let mut corners: Triangle = [[0.0; 3]; 3];
                let words = triangle.as_chunks::<4>().0;
                for (number, word) in corners.as_flattened_mut().iter_mut().zip(words) {
                    *number = f32::from_le_bytes(*word);
                }
                triangles.push(corners);
                bytes = after;
            }
            while triangles.len() == count
                && let Some((number, after)) = bytes.split_first_chunk::<NUMBER>()
            {
                numbers.push(u32::from_le_bytes(*number));
                bytes = after;
            }
            let used = rest.len() - bytes.len();
            rest.drain(..used);
            Ok(())
        })?;
        let [min, max] = list.bounds;
        let closed = CLOSED.iter().find(|(_, name)| *name == list.closed);
        let closed = closed
            .ok_or_else(|| damaged("the list of bins has another version"))?
            .0;
        let mesh = Mesh::from_triangles(triangles)?.made_some_of(Bounds { min, max }, closed);
        match kind {
            Some(kind) => {
                mesh.with_parts(kind, MeshParts::new(list.parts.iter().cloned(), numbers)?)
            }
            None => Ok(mesh),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_closedness_round_trip() {
        for (closedness, name) in CLOSED {
            assert_eq!(
                CLOSED
                    .iter()
                    .find(|(_, other)| *other == name)
                    .map(|(one, _)| *one),
                Some(closedness)
            );
            assert_eq!(
                CLOSED.iter().filter(|(one, _)| *one == closedness).count(),
                1
            );
        }
    }
}
