//! The components of the mesh in components of cells: how many pieces solid may have there, and how large they are.

use crate::error::Result;
use crate::geom::Point;
use crate::grid::components::CellComponents;
use crate::kernel::KernelLattice;
use crate::mesh::Mesh;
use crate::mesh::closed::Seal;
use crate::mesh::components::Component;
use crate::mesh::repair::Repaired;
use crate::run::Run;

/// The components of a mesh, each with the component of cells that has a vertex of it, if there is one.
pub(super) struct Shells(pub Vec<(Option<usize>, Component)>);

impl Shells {
    /// By component of cells: how many components of the mesh have vertices there. Cavities, whose volume has the other
    /// sign than that of all, do not count.
    pub(super) fn counts(&self, components: usize) -> Vec<u64> {
        let mut counts = vec![0; components];
        let sign = self.0.iter().map(|(_, part)| part.volume).sum::<f64>();
        let outer = self.0.iter().filter(|(_, part)| part.volume * sign >= 0.0);
        outer.filter_map(|(host, _)| *host).for_each(|host| counts[host] += 1);
        counts
    }

    /// Those of a mesh; an inconsistently oriented one is repaired first.
    pub(super) fn of(
        mesh: &Mesh,
        components: &CellComponents,
        frame: &KernelLattice,
        run: &Run,
    ) -> Result<Self> {
        let repaired = match mesh.seal() {
            Seal::Oriented if !mesh.is_two_sided() => None,
            _ => Some(Mesh::from_triangles(Repaired::with(mesh, run)?.triangles)?),
        };
        let mesh = repaired.as_ref().unwrap_or(mesh);
        let found = mesh.components()?;
        let mut hosts = vec![None; found.components.len()];
        let dims = [0, 1, 2].map(|a| frame.axes[a].cells as usize);
        for (triangle, part) in mesh.triangles().iter().zip(&found.of) {
            let host = &mut hosts[*part as usize];
            if host.is_none() {
                // Of the cells around a vertex, those that are filled touch each other.
                *host = triangle.iter().find_map(|vertex| {
                    let [low, high] = near(frame, dims, vertex)?;
                    let cells = (low[2]..=high[2]).flat_map(|k| {
                        (low[1]..=high[1]).flat_map(move |j| (low[0]..=high[0]).map(move |i| [i, j, k]))
                    });
                    cells.into_iter().find_map(|cell| components.at(cell))
                });
            }
        }
        Ok(Self(hosts.into_iter().zip(found.components).collect()))
    }
}

/// The cells that a vertex may be in, lowest and highest: as far as it may be off, as doubles, or snap. `None` if none of
/// them is in the grid.
fn near(frame: &KernelLattice, dims: [usize; 3], vertex: &Point) -> Option<[[usize; 3]; 2]> {
    let (mut low, mut high) = ([0; 3], [0; 3]);
    for a in 0..3 {
        let (index, margin) = (frame.axes[a].index(vertex[a]), frame.axes[a].margin.min(1.0));
        let (from, to) = ((index - margin).floor(), (index + margin).floor());
        if to < 0.0 || from >= dims[a] as f64 {
            return None;
        }
        (low[a], high[a]) = (from.max(0.0) as usize, (to as usize).min(dims[a] - 1));
    }
    Some([low, high])
}
