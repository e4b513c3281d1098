//! The memory that a job takes as a rule: what it touches of the memory that it takes at most. Measured, so that a
//! prediction is near the peak; what must fit in a limit is [`Demand`](crate::run::Demand).

use super::{Inside, Rule};
use crate::run::{Plan, Run, rows};
use voxelize_core::geom::Triangle;
use voxelize_core::grid::{BitGrid, CellKind, Lattice, Quantities};
use voxelize_core::par;
use voxelize_kernel::bricks;
use voxelize_kernel::distance::SIDE;
use voxelize_kernel::sink;
use voxelize_meshes::Mesh;
use voxelize_meshes::closed::Closedness;

/// Triangles that one thread takes at a time.
const CHUNK: usize = 1 << 14;

/// A job whose memory is predicted.
#[derive(Clone, Copy)]
pub struct Usual<'a> {
    /// The mesh, which is in memory.
    pub mesh: &'a Mesh,
    /// Its cells.
    pub lattice: &'a Lattice,
    /// The rule that fills them.
    pub rule: Rule,
    /// With so many threads.
    pub run: &'a Run<'a>,
    /// How the cells are held.
    pub plan: Plan,
    /// Whether there is a second grid for labels.
    pub labels: bool,
    /// Whether methods are compared.
    pub doubt: bool,
    /// Whether the path of a leak is searched.
    pub leak: bool,
    /// Whether the numbers of the nearest triangles are held.
    pub nearest: bool,
    /// The quantities beside the cells.
    pub quantities: Quantities,
}

impl Usual<'_> {
    /// The bytes at the peak, without the program itself.
    pub fn bytes(&self) -> u128 {
        let dims = self.lattice.dims();
        let [nx, ny, nz] = dims;
        let height = match self.plan {
            Plan::Dense => nz,
            Plan::Slabs(height) | Plan::Bricks(height) => height.min(nz),
        };
        let mesh = size_of_val(self.mesh.triangles()) as u128;
        let slab = BitGrid::bytes_for([nx, ny, height]);
        let rest = match self.rule.kind() {
            CellKind::Field => self.field(height),
            _ => self.bits(slab, height),
        };
        mesh + slab + rest
    }

    /// The bytes beside a grid of bits: bricks of threads, crossings of lines, and grids of the method.
    fn bits(&self, slab: u128, height: usize) -> u128 {
        let dims = self.lattice.dims();
        let touched = self.crossed([64, sink::SIDE, sink::SIDE]);
        let (covered, in_bricks) = match self.plan {
            Plan::Bricks(_) => (dims, touched as u128 * size_of::<sink::Brick>() as u128),
            _ => ([dims[0], dims[1], height], 0),
        };
        // Small triangles in any order lead every thread to most bricks; large ones are shared out.
        let threads = self.run.thread_count();
        let of_all = touched + 2.0 * self.mesh.triangles().len() as f64;
        let here = touched.min(of_all / threads as f64) * covered[2] as f64 / dims[2] as f64;
        let pools = bricks::bytes_for(covered, threads, here as usize);
        let crossings = match self.rule.inside() {
            None => 0,
            Some(_) => {
                let [_, y, z] = self.lattice.spacing().each_ref().map(|side| side.to_f64());
                let lines = (projected(self.mesh)[0] / (y * z)) as u128;
                (lines * 26).min(rows::bytes(self.mesh, self.lattice, self.run.max_memory))
            }
        };
        let labels = if self.labels { slab } else { 0 };
        pools + in_bricks + crossings + self.repair() + labels + slab * self.tenths_of_grids() / 10
    }

    /// The repaired mesh, with its edges: of an open one every method but the vote asks for it.
    fn repair(&self) -> u128 {
        let is_open = self.mesh.closedness() == Closedness::Open;
        let halves = match self.rule.inside() {
            Some(Inside::Vote) if !self.doubt => 0,
            // And once more to tell what is lost.
            Some(_) if is_open && matches!(self.rule, Rule::Solid { .. }) => 8,
            Some(Inside::Robust) => 5,
            Some(_) if is_open => 5,
            _ if self.doubt => 5,
            _ => 0,
        };
        size_of_val(self.mesh.triangles()) as u128 * halves / 2
    }

    /// Grids beside that of the result, in tenths.
    fn tenths_of_grids(&self) -> u128 {
        let method = match self.rule.inside() {
            Some(Inside::Flood { .. }) => 22,
            Some(Inside::Vote) => 25,
            _ => 0,
        };
        let shell = if matches!(self.rule, Rule::Filled { shell: Some(_), .. }) {
            20
        } else {
            0
        };
        // Without holes there is no leak.
        let searches = [
            (self.doubt, 23),
            (self.leak && self.mesh.closedness() == Closedness::Open, 46),
        ];
        let search = searches
            .iter()
            .filter(|search| search.0)
            .map(|search| search.1)
            .max()
            .unwrap_or(0);
        (method + shell).max(search)
    }

    /// The bytes beside the signs of a field: its values, the tree of triangles, the repaired mesh, and bricks on
    /// their way to the field.
    fn field(&self, height: usize) -> u128 {
        let [nx, ny, nz] = self.lattice.dims();
        let each = (if self.nearest { 8 } else { 4 }) + 4 * self.quantities.numbers();
        let values = (nx * ny * height * each) as u128;
        let layer = (nx * ny * SIDE.min(height) * each) as f64;
        let bricks = [nx, ny, nz].map(|n| n.div_ceil(SIDE) as f64);
        // A band reaches beyond the bricks that the mesh crosses, and lists of these grow.
        let share = (2.0 * self.crossed([SIDE; 3]) / bricks.iter().product::<f64>()).min(1.0);
        // Of shares, the triangles of each layer of bricks.
        let per_triangle = if matches!(self.rule, Rule::Fraction { .. } | Rule::Area) {
            16
        } else {
            70
        };
        let tree = self.mesh.triangles().len() as u128 * per_triangle;
        values + tree + self.repair() + (2.0 * layer * share) as u128
    }

    fn crossed(&self, cells: [usize; 3]) -> f64 {
        let bricks = [0, 1, 2].map(|i| self.lattice.dims()[i].div_ceil(cells[i]) as f64);
        crossed(self.mesh, self.lattice, cells).clamp(1.0, bricks.iter().product())
    }
}

/// About how many bricks of so many cells the triangles of a mesh cross. A large triangle crosses one for each that it
/// covers when seen along each of the axes, so its three projections, counted in faces of bricks, add up.
pub fn crossed(mesh: &Mesh, lattice: &Lattice, cells: [usize; 3]) -> f64 {
    let side = [0, 1, 2].map(|i| cells[i] as f64 * lattice.spacing()[i].to_f64());
    let [x, y, z] = projected(mesh);
    x / (side[1] * side[2]) + y / (side[0] * side[2]) + z / (side[0] * side[1])
}

/// The areas of all triangles seen along each axis.
fn projected(mesh: &Mesh) -> [f64; 3] {
    let add = |sum: [f64; 3], more: [f64; 3]| [0, 1, 2].map(|i| sum[i] + more[i]);
    let parts = par::map(
        mesh.triangles().chunks(CHUNK).collect(),
        |triangles: &[Triangle]| triangles.iter().map(areas).fold([0.0; 3], add),
    );
    parts.into_iter().fold([0.0; 3], add)
}

/// The areas of a triangle seen along each axis.
fn areas([a, b, c]: &Triangle) -> [f64; 3] {
    let edge = |to: &[f32; 3]| [0, 1, 2].map(|i| f64::from(to[i]) - f64::from(a[i]));
    let p = edge(b);
    let q = edge(c);
    [[1, 2], [2, 0], [0, 1]].map(|[i, j]| (p[i] * q[j] - p[j] * q[i]).abs() / 2.0)
}
