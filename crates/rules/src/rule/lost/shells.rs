//! The components of the mesh in components of filled cells: how many pieces solid may have there, and how large they are.

use super::hosts::{AskedCells, Hosts, hosts};
use crate::run::Run;
use voxelize_core::error::Result;
use voxelize_meshes::Mesh;
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::components::Component;
use voxelize_meshes::repair::Repaired;

/// The components of a mesh, and which of some components of filled cells each reaches.
pub(super) struct Shells {
    components: Vec<Component>,
    hosts: Hosts,
}

impl Shells {
    /// By component of cells: how many components of the mesh reach it. Cavities, whose volume has the other
    /// sign than that of all, do not count.
    pub(super) fn counts(&self, components: usize) -> Vec<u64> {
        let mut counts = vec![0; components];
        let sign = self
            .components
            .iter()
            .map(|component| component.volume)
            .sum::<f64>();
        let is_outer = |n: u32| self.components[n as usize].volume * sign >= 0.0;
        let outer = self.hosts.iter().filter(|(_, n)| is_outer(*n));
        outer.for_each(|(host, _)| counts[*host as usize] += 1);
        counts
    }

    /// The components of the mesh that reach a component of cells.
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

    /// The components of a mesh; an inconsistently oriented one is repaired first.
    pub(super) fn of(mesh: &Mesh, cells: &AskedCells, run: &Run) -> Result<Self> {
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
