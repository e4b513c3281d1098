//! Bins: the triangles of each region on the disk, so that a process needs no more of the mesh. What is known of the whole
//! mesh goes with them: its bounds, and how far it is closed.

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

/// The bytes of a triangle, and of the number of its part.
const TRIANGLE: usize = size_of::<Triangle>();
const NUMBER: usize = size_of::<u32>();

const CLOSED: [(Closedness, &str); 3] = [
    (Closedness::Oriented, "oriented"),
    (Closedness::Closed, "closed"),
    (Closedness::Open, "open"),
];

impl RegionPlan {
    /// The triangles of its mesh, to be shared out.
    pub(super) fn sharing<'a>(&'a self, mesh: &'a Mesh) -> TriangleBins<'a> {
        TriangleBins::new(mesh, &self.lattice, &self.rule, self.part_kind())
    }

    /// The mesh of the largest bin of its regions, which a process has in memory.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn largest_bin(&self, mesh: &Mesh) -> Result<Mesh> {
        self.sharing(mesh).largest(self.store.region_layers)
    }
}

impl RegionStore {
    /// Makes a store as [`create`](Self::create) does, with the triangles of each region in a bin; in the threads this is
    /// called in. Those of a store that is there are made again.
    ///
    /// # Errors
    /// As [`create`](Self::create), and if it was cancelled.
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

    /// The bins of its regions; `None` if it has none.
    ///
    /// # Errors
    /// If their list is damaged, or of another plan.
    pub fn bins(&self) -> Result<Option<RegionBins<'_>>> {
        let list = store::read_bins(&self.root, &self.plan.store, self.plan.hash)?;
        Ok(list.map(|list| RegionBins { store: self, list }))
    }
}

/// The bins of a store.
#[derive(Debug)]
pub struct RegionBins<'a> {
    store: &'a RegionStore,
    list: StoreBins,
}

impl RegionBins<'_> {
    /// The bytes of all of them.
    pub fn bytes(&self) -> u64 {
        self.list.bins.iter().map(|bin| bin.bytes).sum()
    }

    /// The bytes of the largest one.
    pub fn largest(&self) -> u64 {
        self.list
            .bins
            .iter()
            .map(|bin| bin.bytes)
            .max()
            .unwrap_or(0)
    }

    /// The triangles of a region, the first of which is 0, which [`RegionMaker`](super::RegionMaker) makes it of, and no
    /// other.
    ///
    /// # Errors
    /// If there is no such region, its bin is missing or damaged, is more than `max_memory` bytes, or it was cancelled.
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
        let count = usize::try_from(bin.bytes)
            .ok()
            .filter(|bytes| bytes.is_multiple_of(each));
        let count =
            count.ok_or_else(|| damaged("the bin has no whole number of triangles"))? / each;
        let mut triangles: Vec<Triangle> = vec![];
        let mut numbers: Vec<u32> = vec![];
        let reserved = triangles
            .try_reserve_exact(count)
            .and_then(|()| match kind {
                Some(_) => numbers.try_reserve_exact(count),
                None => Ok(()),
            });
        let too_many = |_| {
            Error::too_large(format!(
                "{count} triangles are more than the system provides memory for"
            ))
        };
        reserved.map_err(too_many)?;
        let mut rest: Vec<u8> = vec![];
        store::read_bin(root, bin, progress, &mut |some| {
            rest.extend_from_slice(some);
            let mut bytes = rest.as_slice();
            while triangles.len() < count
                && let Some((triangle, behind)) = bytes.split_first_chunk::<TRIANGLE>()
            {
                let mut corners: Triangle = [[0.0; 3]; 3];
                let words = triangle.as_chunks::<4>().0;
                for (number, word) in corners.as_flattened_mut().iter_mut().zip(words) {
                    *number = f32::from_le_bytes(*word);
                }
                triangles.push(corners);
                bytes = behind;
            }
            while triangles.len() == count
                && let Some((number, behind)) = bytes.split_first_chunk::<NUMBER>()
            {
                numbers.push(u32::from_le_bytes(*number));
                bytes = behind;
            }
            let used = rest.len() - bytes.len();
            rest.drain(..used);
            Ok(())
        })?;
        let [min, max] = list.bounds;
        let closed = CLOSED.iter().find(|(_, name)| *name == list.closed);
        let closed = closed
            .ok_or_else(|| damaged("the list of the bins is of another version"))?
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
    fn words_for_how_far_a_mesh_is_closed_round_trip() {
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
