//! Components of the mesh that reach components of filled cells. Their number is the number of pieces of
//! solid cells above which a component of filled cells is broken. Their bounds give the size of a lost
//! feature.

use super::hosts::{Hosts, RequestedCells, hosts};
use crate::run::Run;
use voxelize_core::error::Result;
use voxelize_meshes::Mesh;
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::components::Component;
use voxelize_meshes::repair::Repaired;

/// Components of a mesh, and the requested components of filled cells that each of them reaches.
pub(super) struct Shells {
    components: Vec<Component>,
    hosts: Hosts,
}

impl Shells {
    /// Returns, for each component of cells, the number of components of the mesh that reach it. Cavities do
    /// not count. A cavity is a component whose signed volume has the opposite sign of the volume of the
    /// mesh.
    pub(super) fn counts(&self, components: usize) -> Vec<u64> {
        let mut counts = vec![0; components];
        let sign = self
            .components
            .iter()
            .map(|component| component.volume)
            .sum::<f64>();
        for (host, n) in &self.hosts {
            if self.components[*n as usize].volume * sign >= 0.0 {
                counts[*host as usize] += 1;
            }
        }
        counts
    }

    /// Returns the components of the mesh that reach the component of cells `host`.
    pub(super) fn in_host(&self, host: usize) -> impl Iterator<Item = &Component> {
        let from = self
            .hosts
            .partition_point(|(other, _)| (*other as usize) < host);
        let to = self
            .hosts
            .partition_point(|(other, _)| *other as usize <= host);
        self.hosts[from..to]
            .iter()
            .map(|(_, n)| &self.components[*n as usize])
    }

    /// Finds the components of a mesh that reach the requested cells. A mesh that is not consistently
    /// oriented is repaired first.
    pub(super) fn of(mesh: &Mesh, cells: &RequestedCells, run: &Run) -> Result<Self> {
        let repaired = match mesh.closedness() {
            Closedness::Oriented if !mesh.is_two_sided() => None,
            _ => Some(Mesh::from_triangles(Repaired::with(mesh, run)?.triangles)?),
        };
        let mesh = repaired.as_ref().unwrap_or(mesh);
        let found = mesh.components()?;
        let hosts = hosts(mesh.triangles(), &found.of, cells, run)?;
        Ok(Self {
            components: found.components,
            hosts,
        })
    }
}
