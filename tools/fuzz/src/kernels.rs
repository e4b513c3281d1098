//! The kernels, at every level and with every memory plan, compared with the definition of "touches".
//!
//! The input, numbers little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 1 | bits 0–2: closed axes, 3: snap, 4: cells are cubes, 5: the oracle is also used |
//! | 1 | height of slabs |
//! | 3 × 3 | per axis: cells, size of a cell (index in [`SIZES`]), first wall (index in [`ORIGINS`]) |
//! | 9 × 3 each | triangles: per coordinate a kind and 16 bits, see [`coordinate`] |
//!
//! Zeros follow the end of the input.

use arbitrary::Unstructured;
use voxelize::geom::Triangle;
use voxelize::geom::tri_box::ExactTriangle;
use voxelize::grid::CellSource;
use voxelize::{
    BitGrid, Bounds, Lattice, Level, Mesh, Rational, Rule, Run, Slabs, Snap, Stats, Ties,
    Voxelizer, Voxels,
};

use crate::alone;
use crate::oracle::{self, Oracle};

/// Sizes of cells: powers of two, decimals, other fractions.
pub const SIZES: [&str; 12] = [
    "1/1",
    "1/8",
    "4/1",
    "1/10",
    "1/40",
    "1/3",
    "5/24",
    "27/256",
    "999/7",
    "1/1000",
    "13/100",
    "1/1048576",
];

/// First walls in cells.
pub const ORIGINS: [&str; 8] = [
    "0/1",
    "-1/1",
    "-4/1",
    "1/3",
    "-7/2",
    "5/1000",
    "700/1",
    "-100003/7",
];

/// Cells per axis: few, and some more along x, where words end.
const MANY: [usize; 4] = [40, 63, 65, 130];

/// Maximum number of cells of an input.
const MOST: u64 = 600;

/// Maximum number of triangles of an input.
const TRIANGLES: usize = 24;

/// Compares the cells of some triangles.
pub fn check(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let case = Case::from(&mut input).expect("zeros follow the end");
    let Some(expected) = case.by_definition() else {
        return;
    };
    if case.ask_oracle {
        case.compare_with_oracle(&expected);
    }
    alone();
    for (ties, expected) in Ties::ALL.into_iter().zip(&expected) {
        case.compare(Rule::Surface { ties }, expected);
    }
}

/// Triangles on a lattice.
pub(crate) struct Case {
    pub(crate) mesh: Mesh,
    pub(crate) lattice: Lattice,
    height: usize,
    ask_oracle: bool,
}

impl Case {
    pub(crate) fn from(input: &mut Unstructured) -> arbitrary::Result<Self> {
        let flags: u8 = input.arbitrary()?;
        let flag = |n: u8| flags >> n & 1 == 1;
        let height = usize::from(input.arbitrary::<u8>()?);
        let fraction = |text: &str| Rational::parse_fraction(text).expect("a fraction");
        let mut dims = [1; 3];
        let mut origin = vec![];
        let mut size = vec![];
        for (axis, cells) in dims.iter_mut().enumerate() {
            let [n, s, o] = input.arbitrary::<[u8; 3]>()?.map(usize::from);
            *cells = if axis == 0 && n >= 250 {
                MANY[n % MANY.len()]
            } else {
                n % 24 + 1
            };
            let first: Option<&Rational> = size.first().filter(|_| flag(4));
            size.push(
                first
                    .cloned()
                    .unwrap_or_else(|| fraction(SIZES[s % SIZES.len()])),
            );
            origin.push(&fraction(ORIGINS[o % ORIGINS.len()]) * &size[axis]);
        }
        let to_axes = |of: Vec<Rational>| <[Rational; 3]>::try_from(of).expect("three axes");
        let origin = to_axes(origin);
        let size = to_axes(size);
        let mut triangles = Vec::new();
        while !input.is_empty() && triangles.len() < TRIANGLES {
            triangles.push(triangle(input, dims, &origin, &size)?);
        }
        let snap = if flag(3) { Snap::Float } else { Snap::None };
        let at = |closed| {
            Lattice::new(dims, origin.clone(), size.clone(), closed)
                .expect("a lattice")
                .with_snap(snap)
        };
        let open = at([false; 3]);
        let bounds = Bounds::of(&triangles);
        // Only an axis that the mesh does not extend beyond can be closed.
        let within = |a: usize| open.axis(a).index(bounds.max[a]) <= (dims[a] as i64).into();
        let closed = [0, 1, 2].map(|a| flag(a as u8) && (triangles.is_empty() || within(a)));
        let mesh = Mesh::from_triangles(triangles).expect("finite coordinates");
        Ok(Self {
            mesh,
            lattice: at(closed),
            height: height % dims[2] + 1,
            ask_oracle: flag(5),
        })
    }

    /// Returns the grids under the three [`Ties::ALL`], cell by cell. `None` if that is too much work.
    fn by_definition(&self) -> Option<[BitGrid; 3]> {
        let maps = [0, 1, 2].map(|a| self.lattice.axis(a));
        let mut grids = Ties::ALL.map(|_| BitGrid::try_from(&self.lattice).expect("a small grid"));
        let dims = self.lattice.dims().map(|n| n as i64);
        let closed = self.lattice.closed();
        let mut left = MOST;
        for triangle in self.mesh.triangles() {
            let index = triangle.map(|v| [0, 1, 2].map(|a| maps[a].index(v[a])));
            let range = [0, 1, 2].map(|a| {
                let of = index.each_ref().map(|v| v[a].clone());
                let far = |n: Option<i64>, v: &Rational| {
                    n.unwrap_or(if v.is_positive() { i64::MAX } else { i64::MIN })
                        .clamp(-1 << 40, 1 << 40)
                };
                let low = of.iter().min().expect("three");
                let high = of.iter().max().expect("three");
                (far(low.floor(), low) - 1).max(0)..(far(high.ceil(), high) + 1).min(dims[a])
            });
            let cells = range
                .iter()
                .map(|range| (range.end - range.start).max(0) as u64)
                .product();
            left = left.checked_sub(cells)?;
            let exact = ExactTriangle::new(&index);
            for cell in cells_of(range) {
                let last = [0, 1, 2].map(|a| closed[a] && cell[a] == dims[a] - 1);
                for (grid, ties) in grids.iter_mut().zip(Ties::ALL) {
                    if exact.touches(cell, ties, last) {
                        grid.set(cell.map(|c| c as usize));
                    }
                }
            }
        }
        Some(grids)
    }

    /// Compares the definition itself with an oracle that shares no arithmetic with it. This is slow, so only
    /// few cells are compared: the middle cell of each triangle's cells, and its neighbours.
    fn compare_with_oracle(&self, expected: &[BitGrid; 3]) {
        let axes = oracle::axes(&self.lattice);
        let mut touched = expected
            .each_ref()
            .map(|grid| BitGrid::new(grid.dims()).expect("a small grid"));
        for triangle in self.mesh.triangles() {
            let oracle = Oracle::new(&axes, triangle);
            let near = oracle.cells.map(|(first, last)| {
                let middle = (first + last) / 2;
                (middle - 1).max(first)..(middle + 2).min(last + 1)
            });
            for cell in cells_of(near) {
                for (n, answer) in oracle.touches(cell).into_iter().enumerate() {
                    let place = Ties::ALL
                        .iter()
                        .position(|ties| *ties == oracle::TIES[n])
                        .expect("all ties");
                    if answer {
                        touched[place].set(cell.map(|c| c as usize));
                    }
                    // With several triangles, another one may touch a cell that this one does not.
                    let one = self.mesh.triangles().len() == 1;
                    let defined = expected[place].get(cell.map(|c| c as usize));
                    assert!(
                        defined == answer || defined && !one,
                        "{cell:?} under {:?}",
                        oracle::TIES[n]
                    );
                }
            }
        }
    }

    /// Compares every level with the expected cells, and every memory plan at one of the levels.
    pub(crate) fn compare(&self, what: Rule, expected: &BitGrid) {
        let levels = Level::available();
        for (n, &level) in levels.iter().enumerate() {
            let run = Run::default().threads(1).level(level);
            let voxelize::Voxelized { voxels, stats, .. } = Voxelizer::new(what)
                .with_run(run)
                .run(&self.mesh, &self.lattice)
                .expect("a small grid");
            self.assert_same(voxels.occupied().unwrap(), expected, what, level.name());
            if n == self.height % levels.len() {
                self.compare_plans(what, &run, &voxels, &stats);
            }
        }
    }

    fn compare_plans(&self, what: Rule, run: &Run, voxels: &Voxels, stats: &Stats) {
        let Self {
            mesh,
            lattice,
            height,
            ..
        } = self;
        let in_slabs = (
            "slabs",
            Voxelizer::new(what).with_run(*run).slabs(
                mesh,
                lattice,
                voxelize::run::Plan::Slabs(*height),
            ),
        );
        let in_bricks = || {
            (
                "bricks",
                Voxelizer::new(what).with_run(*run).slabs(
                    mesh,
                    lattice,
                    voxelize::run::Plan::Bricks(height.next_multiple_of(8)),
                ),
            )
        };
        for (plan, slabs) in std::iter::once(in_slabs).chain(what.has_bricks().then(in_bricks)) {
            let mut slabs = slabs.expect("a small grid");
            self.assert_same(&whole(&mut slabs), voxels.occupied().unwrap(), what, plan);
            assert_eq!(
                (slabs.made().occupied, slabs.digest()),
                (voxels.count(), voxels.digest()),
                "{plan}"
            );
            assert_eq!(slabs.made().stats, *stats, "{plan}");
        }
    }

    fn assert_same(&self, found: &BitGrid, expected: &BitGrid, what: Rule, how: &str) {
        if found == expected {
            return;
        }
        let cell = found
            .iter()
            .find(|c| !expected.get(*c))
            .or(expected.iter().find(|c| !found.get(*c)));
        let bits: Vec<_> = self
            .mesh
            .triangles()
            .iter()
            .map(|t| {
                t.as_flattened()
                    .iter()
                    .map(|c| c.to_bits())
                    .collect::<Vec<_>>()
            })
            .collect();
        panic!(
            "{how}, {what:?}: cell {cell:?}\ntriangles {bits:#010x?}\n{:?}",
            self.lattice
        );
    }
}

/// Returns all cells of some ranges.
fn cells_of([x, y, z]: [std::ops::Range<i64>; 3]) -> impl Iterator<Item = [i64; 3]> {
    z.flat_map(move |k| {
        let x = x.clone();
        y.clone()
            .flat_map(move |j| x.clone().map(move |i| [i, j, k]))
    })
}

/// Returns the grid composed of slabs.
fn whole(slabs: &mut Slabs) -> BitGrid {
    let mut grid = BitGrid::new(slabs.dims()).expect("a small grid");
    let mut layers = 0;
    while let Some(window) = slabs.next().expect("no limit") {
        assert_eq!(window.first, layers);
        layers += window.cells.occupied().unwrap().dims()[2];
        window
            .cells
            .occupied()
            .unwrap()
            .iter()
            .for_each(|[i, j, k]| grid.set([i, j, k + window.first]));
    }
    assert_eq!(layers, slabs.dims()[2]);
    grid
}

fn triangle(
    input: &mut Unstructured,
    dims: [usize; 3],
    origin: &[Rational; 3],
    size: &[Rational; 3],
) -> arbitrary::Result<Triangle> {
    let mut triangle = [[0.0; 3]; 3];
    for v in 0..3 {
        for a in 0..3 {
            let kind = input.arbitrary::<u8>()?;
            let value = input.arbitrary::<u16>()?;
            triangle[v][a] = match kind % 8 {
                7 => triangle[(v + 2) % 3][a],
                kind => coordinate(kind, value, dims[a], &origin[a], &size[a]),
            };
        }
    }
    Ok(triangle)
}

/// Returns a coordinate by its kind: 0 is the float nearest to a wall or centre plane, from two cells below
/// the grid to two above it; 1 and 2 are its neighbours; 3 is in 256 parts of a cell; 4 is anywhere in the
/// grid; 5 and 6 are the upper and the lower bits of a float; 7 is the coordinate of the previous vertex.
fn coordinate(kind: u8, value: u16, cells: usize, origin: &Rational, size: &Rational) -> f32 {
    let at = |index: Rational| (origin + &(size * &index)).to_f32();
    let wall = || {
        at(Rational::new(
            i64::from(value) % (2 * cells as i64 + 9) - 4,
            2,
        ))
    };
    let coordinate = match kind {
        0 => wall(),
        1 => wall().next_up(),
        2 => wall().next_down(),
        3 => at(Rational::new(
            i64::from(value) % (256 * (cells as i64 + 2)) - 256,
            256,
        )),
        4 => at(Rational::new(i64::from(value) * cells as i64, 65535)),
        5 => f32::from_bits(u32::from(value) << 16),
        _ => f32::from_bits(u32::from(value)),
    };
    if coordinate.is_finite() {
        coordinate
    } else {
        0.0
    }
}
