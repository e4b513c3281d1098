//! What a run would take, told without doing it.

use voxelize::{Lattice, Mesh};

use super::output::Output;
use super::room::Room;

/// What a run would take.
pub struct Estimate {
    /// Memory for mesh and cells.
    pub memory: u64,
    /// The size of the output, where its format allows a guess.
    pub output: Option<Size>,
}

/// A size not known exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Near this.
    About(u64),
    /// Not above this.
    AtMost(u64),
}

impl Size {
    /// The number of bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::About(bytes) | Self::AtMost(bytes) => bytes,
        }
    }
}

impl Estimate {
    /// The estimate for `mesh` on `lattice`.
    pub fn new(mesh: &Mesh, lattice: &Lattice, room: &Room, output: &Output) -> Self {
        Self { memory: saturated(room.bytes), output: output_size(mesh, lattice, output) }
    }
}

fn output_size(mesh: &Mesh, lattice: &Lattice, output: &Output) -> Option<Size> {
    use voxelize::format::Dtype;
    let cells = saturated(lattice.cells());
    let array = if output.dtype() == Some(Dtype::Bit) { cells.div_ceil(8) } else { cells };
    match output.format.name {
        "npy" | "raw" => Some(Size::About(array)),
        "npz" => Some(Size::AtMost(array)),
        // Position and colour of a voxel are a byte each.
        "vox" => Some(Size::About(4 * touched(mesh, lattice).min(cells))),
        _ => None,
    }
}

/// About how many cells a mesh touches. A large facet crosses one cell for each cell it covers when
/// seen along each of the axes, so its three projections, counted in cell faces, add up.
fn touched(mesh: &Mesh, lattice: &Lattice) -> u64 {
    let size = [0, 1, 2].map(|axis| lattice.spacing()[axis].to_f64());
    let mut faces = 0.0;
    for [a, b, c] in mesh.triangles() {
        let edge = |to: &[f32; 3]| [0, 1, 2].map(|axis| f64::from(to[axis]) - f64::from(a[axis]));
        let (u, v) = (edge(b), edge(c));
        for axis in 0..3 {
            let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
            faces += (u[p] * v[q] - u[q] * v[p]).abs() / 2.0 / (size[p] * size[q]);
        }
    }
    faces as u64
}

fn saturated(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
