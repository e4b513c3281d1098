//! Crossings of triangles with lines through the centres of cells. Solids and thin surfaces are built from
//! them.
//!
//! Lines run along one axis through the displaced centres of cells. The displaced centre of a cell is its
//! centre minus (ε, ε², ε³) with an infinitesimal ε. Then no line meets an edge or a vertex, no displaced
//! centre lies on a triangle, and an edge that two triangles share is crossed once (Simulation of Simplicity,
//! Edelsbrunner and Mücke 1990). In a [`KernelLattice`] of centres, wall `n` is the plane through the centres
//! of layer `n`. The displacement decides every case of equality:
//!
//! - a vertex exactly on plane `k` counts as above it;
//! - if an edge crosses plane `k` at the coordinate `y`, the line of row `j` passes above it along y iff `y <
//!   j`;
//! - cell `i` comes after a crossing at `x` iff `x < i`. For lines along y or z the displacement across the
//!   line is larger than the displacement along it. There the slope of the triangle decides a crossing at
//!   exactly `i`.
//!
//! In a lattice of segments ([`KernelLattice::of_segments`]) a line crosses the walls of cells in place of
//! the planes of centres. The walls are displaced in the same way, except that the last wall of a closed axis
//! is displaced outwards. The result is then the first wall after a crossing, and the crossed cell is the one
//! before that wall.
//!
//! So every decision compares a crossing with whole numbers, and needs only the floor of its coordinate.
//! Crossings of the projected edges with the planes of layers give the rows that pass through the triangle.
//! Crossings of the triangle's plane with these rows give the positions along the rows.

use std::ops::Range;

use fearless_simd::{Simd, f32x16, f64x8, mask32x16, mask64x8, prelude::*};

use crate::bits::bits_of;
use crate::geom::Triangle;

use super::exact::LazyExact;
pub use super::exact::Sides;
use super::gather::{Vertices, gather};
use super::lanes::U32;
use super::lattice::{KernelLattice, U, across};
use super::levels::LANES;
use super::levels::{Level, on_level};
use super::plane::LongPlane;
use super::setup::Setup;
use super::span::LongEdge;
use super::tiny::{FloatAxis, in_floats};

/// Crossing of a row with a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossing {
    /// Coordinates of the row along the other two axes, in the order of [`across`].
    pub row: [usize; 2],
    /// First cell of the range that comes after the triangle.
    pub first: usize,
    /// The row enters the solid here: the normal of the triangle points against the direction of the row.
    pub inwards: bool,
}

/// Cells whose crossings are requested, for each axis of the [`KernelLattice`]. The first axis is along the
/// rows, the others are across them.
pub type Box3 = [Range<usize>; 3];

/// Returns the vertices of a triangle in the index coordinates of a lattice of centres for rows along x. They
/// are doubles, after snapping, as the search for crossings uses them.
pub fn placed(frame: &KernelLattice, triangle: &Triangle) -> [[f64; 3]; 3] {
    triangle.map(|vertex| std::array::from_fn(|a| frame.axes[a].place(vertex[a]).u))
}

/// Maximum number of crossings passed on at a time. They are few enough to stay in the cache.
const BATCH: usize = 256;

/// Crossings that wait to be passed on in batches. A call for each crossing would cost more than finding it.
struct Batches<'t> {
    crossings: Vec<Crossing>,
    take: &'t mut dyn FnMut(&[Crossing]),
}

impl Batches<'_> {
    #[inline(always)]
    fn push(&mut self, crossing: Crossing) {
        if self.crossings.len() == BATCH {
            (self.take)(&self.crossings);
            self.crossings.clear();
        }
        self.crossings.push(crossing);
    }
}

/// Maximum number of planes of rows, along each axis across the rows, that a triangle may span if triangles
/// are processed eight at a time in doubles.
const FEW: usize = 3;

/// Like [`FEW`], but for triangles that are processed one at a time, with eight rows in the lanes of a
/// vector.
const SOME: usize = 2 * HALF;

/// Number of doubles in a vector.
const HALF: usize = LANES / 2;

/// Number of rows in a block. A word has a bit for each of them, set if the row crosses the triangle.
const ROWS: usize = HALF * HALF;

/// Maximum number of blocks for one triangle.
const BLOCKS: usize = (SOME / HALF) * (SOME / HALF);

/// Search for crossings of triangles with rows along one axis.
pub struct Crosser<'a> {
    frame: &'a KernelLattice,
    order: [usize; 3],
    /// The order of the axes mirrors space.
    mirrors: bool,
    cells: Box3,
    /// Error bound of index coordinates in doubles.
    error: f64,
    /// Axes in floats, and the distance from walls and centre planes within which their coordinates are
    /// uncertain. `None` if floats are too coarse.
    floats: Option<([FloatAxis; 3], f32)>,
}

impl<'a> Crosser<'a> {
    /// Creates the search for rows along `axis`. `frame` is [`KernelLattice::of_centres`] or
    /// [`KernelLattice::of_segments`] for that axis, and `cells` are in the order of its axes.
    pub fn new(frame: &'a KernelLattice, axis: usize, cells: Box3) -> Self {
        let order = across(axis);
        let mirrors = axis == 1;
        let floats = in_floats(frame);
        Self {
            frame,
            order,
            mirrors,
            cells,
            error: frame.local_error(),
            floats,
        }
    }

    /// Calls `take` with the crossings of triangles with rows of the cells, several at a time. A crossing
    /// before the first cell of a row is moved to the start of that cell. A crossing after the last cell is
    /// dropped. Returns the number of coordinates that snapping moved in triangles whose lowest cell is in
    /// the layers of these cells. If the lowest cell is below the first layer of the lattice, the first layer
    /// counts.
    pub fn cross(
        &self,
        level: Level,
        triangles: &[Triangle],
        take: &mut dyn FnMut(&[Crossing]),
    ) -> u64 {
        let mut put = Batches {
            crossings: Vec::with_capacity(BATCH),
            take,
        };
        let snapped = on_level!(
            level,
            simd => self.cross_lanes(simd, triangles, &mut put),
            _scalar => triangles.iter().map(|triangle| self.cross_one(triangle, &mut put)).sum()
        );
        (put.take)(&put.crossings);
        snapped
    }

    /// Processes sixteen triangles at a time. Most of them lie between rows. Triangles near few rows wait
    /// until there are sixteen of them. Triangles near somewhat more rows are processed one by one.
    #[inline(always)]
    fn cross_lanes<S: Simd>(&self, simd: S, triangles: &[Triangle], put: &mut Batches) -> u64 {
        let mut snapped = 0;
        let mut waiting = [[[0.0; 3]; 3]; LANES];
        let mut count = 0;
        let mut blocks = [Block::default(); BLOCKS];
        for first in (0..triangles.len()).step_by(LANES) {
            let all = (1 << LANES.min(triangles.len() - first)) - 1;
            let mut sieved = Sieved {
                none: 0,
                few: 0,
                some: 0,
            };
            if let Some((axes, margin)) = &self.floats {
                sieved = self.sieve(simd, &gather(simd, &triangles[first..]), axes, *margin);
            }
            let rest = all & !sieved.none;
            for lane in bits_of(rest & sieved.few) {
                waiting[count] = triangles[first + lane];
                count += 1;
                if count == LANES {
                    snapped += self.cross_few(simd, &waiting, put);
                    count = 0;
                }
            }
            for lane in bits_of(rest & sieved.some) {
                snapped += self.cross_some(simd, &triangles[first + lane], &mut blocks, put);
            }
            for lane in bits_of(rest & !(sieved.few | sieved.some)) {
                snapped += self.cross_one(&triangles[first + lane], put);
            }
        }
        if count > 0 {
            snapped += self.cross_few(simd, &waiting[..count], put);
        }
        snapped
    }

    /// Classifies sixteen triangles in floats. A triangle is surely not crossed by a row in two cases: if its
    /// corners lie between the same two planes of rows, or if it is near only one row and that row is outside
    /// of it.
    #[inline(always)]
    fn sieve<S: Simd>(
        &self,
        simd: S,
        vertices: &Vertices<S>,
        axes: &[FloatAxis; 3],
        margin: f32,
    ) -> Sieved {
        let mut nearest = f32x16::splat(simd, 1.0);
        let mut alike = mask32x16::splat(simd, false);
        let mut near = mask32x16::splat(simd, true);
        let mut few = mask32x16::splat(simd, true);
        let mut some = few;
        let mut local = *vertices;
        // These are loops because only inlined code is compiled for the level, and closures may not be
        // inlined.
        for a in 0..3 {
            let FloatAxis { origin, scale } = &axes[a];
            let mut u = vertices[self.order[a]];
            for u in &mut u {
                *u = ((*u - origin[0]) - origin[1]) * *scale;
                let twice = *u + *u;
                nearest = nearest.min((twice - twice.round_ties_even()).abs());
            }
            if a > 0 {
                let low = u[0].min(u[1]).min(u[2]).floor();
                let high = u[0].max(u[1]).max(u[2]).floor();
                alike |= low.simd_eq(high);
                near &= (low + 1.0).simd_eq(high);
                few &= (high - low).simd_le(f32x16::splat(simd, FEW as f32));
                some &= (high - low).simd_le(f32x16::splat(simd, SOME as f32));
                // The differences are exact if the corners are within a cell of `high`, because both numbers
                // are multiples of the last place of `u`.
                local[a] = [u[0] - high, u[1] - high, u[2] - high];
            }
        }
        // Coordinates are at most 1, and their error is half the margin. See docs/internals/error-bounds.md,
        // section 9.
        let bound = f32x16::splat(simd, 2.1 * margin + 10.0 * U32);
        let [_, b, c] = local;
        let mut left = mask32x16::splat(simd, false);
        let mut right = mask32x16::splat(simd, false);
        for [v, w] in ENDS {
            let side = b[v] * c[w] - b[w] * c[v];
            left |= side.simd_gt(bound);
            right |= (-side).simd_gt(bound);
        }
        let sure = nearest.simd_gt(f32x16::splat(simd, margin));
        let none = sure & (alike | (near & left & right));
        let few = (sure & few).to_bitmask();
        Sieved {
            none: none.to_bitmask(),
            few,
            some: (sure & some).to_bitmask() & !few,
        }
    }

    /// Finds the crossings of up to sixteen triangles. Each is near few rows, and none of its coordinates is
    /// near a wall or centre plane. For most triangles doubles decide which rows cross them, and at which
    /// cell.
    #[inline(always)]
    fn cross_few<S: Simd>(&self, simd: S, triangles: &[Triangle], put: &mut Batches) -> u64 {
        let vertices = gather(simd, triangles);
        let mut low = [[f64x8::splat(simd, 0.0); 3]; 3];
        let mut high = [[f64x8::splat(simd, 0.0); 3]; 3];
        for a in 0..3 {
            for v in 0..3 {
                (low[a][v], high[a][v]) = vertices[self.order[a]][v].widen();
            }
        }
        let (first, rest) = triangles.split_at(triangles.len().min(HALF));
        let mut snapped = self.cross_half(simd, first, low, put);
        if !rest.is_empty() {
            snapped += self.cross_half(simd, rest, high, put);
        }
        snapped
    }

    /// Finds the crossings of up to eight triangles. `u` holds their coordinates along the axes of the frame,
    /// one triangle in each lane.
    #[inline(always)]
    fn cross_half<S: Simd>(
        &self,
        simd: S,
        triangles: &[Triangle],
        mut u: [[f64x8<S>; 3]; 3],
        put: &mut Batches,
    ) -> u64 {
        let mut cell = [f64x8::splat(simd, 0.0); 3];
        let mut rows = cell;
        for a in 0..3 {
            let axis = &self.frame.axes[a];
            for u in &mut u[a] {
                *u = ((*u - axis.origin[0]) - axis.origin[1]) * axis.scale;
            }
            cell[a] = u[a][0].max(u[a][1]).max(u[a][2]).floor();
            rows[a] = cell[a] - u[a][0].min(u[a][1]).min(u[a][2]).floor();
            for u in &mut u[a] {
                *u -= cell[a];
            }
        }
        let [x, y, z] = u;
        let reach = x[0].abs().max(x[1].abs()).max(x[2].abs());
        let bound = f64x8::splat(simd, self.side_error((FEW + 1) as f64));
        let all = (1 << triangles.len()) - 1;
        let mut found = [RowCrossings::default(); FEW * FEW];
        let mut unsure = 0;
        // Rows are numbered downwards from the cells that contain the highest corners.
        for n in 0..FEW * FEW {
            let j = (n % FEW) as f64;
            let k = (n / FEW) as f64;
            let within: mask64x8<S> = rows[1].simd_gt(j) & rows[2].simd_gt(k);
            if within.to_bitmask() & all == 0 {
                continue;
            }
            let y = [y[0] + j, y[1] + j, y[2] + j];
            let z = [z[0] + k, z[1] + k, z[2] + k];
            // Terms whose signs state on which side of each edge the row is, in a projection along the row.
            // See docs/internals/error-bounds.md, section 9.
            let sides = [
                y[1] * z[2] - y[2] * z[1],
                y[2] * z[0] - y[0] * z[2],
                y[0] * z[1] - y[1] * z[0],
            ];
            let least = sides[0].min(sides[1]).min(sides[2]);
            let most = sides[0].max(sides[1]).max(sides[2]);
            let left = least.simd_lt(-bound);
            let right = most.simd_gt(bound);
            let reached = within & !(left & right);
            let passed = reached & (least.simd_gt(bound) | most.simd_lt(-bound));
            let area = sides[0] + sides[1] + sides[2];
            let crossing = (x[0] * sides[0] + x[1] * sides[1] + x[2] * sides[2]) / area;
            let error = (reach * 13.0) * (bound / area.abs() + U) + self.error;
            let sure = passed & (crossing - crossing.round_ties_even()).abs().simd_gt(error);
            unsure |= (reached & !sure).to_bitmask() & all;
            found[n].lanes = sure.to_bitmask() & all;
            found[n].inwards = area.simd_lt(0.0).to_bitmask();
            (cell[0] + crossing.floor() + 1.0).store_slice(&mut found[n].first);
        }
        let mut places = [[0.0; HALF]; 2];
        cell[1].store_slice(&mut places[0]);
        cell[2].store_slice(&mut places[1]);
        self.put_few(&found, unsure, &places, put);
        bits_of(unsure)
            .map(|lane| self.cross_one(&triangles[lane], put))
            .sum()
    }

    /// Passes on the crossings of triangles that are not unsure. `places` has the highest row near each
    /// triangle.
    #[inline(always)]
    fn put_few(
        &self,
        found: &[RowCrossings; FEW * FEW],
        unsure: u64,
        places: &[[f64; HALF]; 2],
        put: &mut Batches,
    ) {
        let [cells, rows, layers] = &self.cells;
        let within = |range: &Range<usize>, n: i64| n >= range.start as i64 && n < range.end as i64;
        for (n, found) in found.iter().enumerate() {
            for lane in bits_of(found.lanes & !unsure) {
                let j = places[0][lane] as i64 - (n % FEW) as i64;
                let k = places[1][lane] as i64 - (n / FEW) as i64;
                let first = found.first[lane].clamp(cells.start as f64, cells.end as f64) as usize;
                if within(rows, j) && within(layers, k) && first < cells.end {
                    let inwards = (found.inwards >> lane & 1 == 1) != self.mirrors;
                    put.push(Crossing {
                        row: [j as usize, k as usize],
                        first,
                        inwards,
                    });
                }
            }
        }
    }

    /// Returns the error bound of the terms that state on which side of an edge a row is. The distance of the
    /// corners from the row is at most `cells`, a power of two.
    fn side_error(&self, cells: f64) -> f64 {
        cells * (4.1 * self.error + 8.0 * cells * U)
    }

    /// Finds the crossings of a triangle that is near some rows and has no coordinate near a wall or centre
    /// plane. Eight rows at a time are decided in doubles. If one is in doubt, the triangle is repeated
    /// exactly.
    #[inline(always)]
    fn cross_some<S: Simd>(
        &self,
        simd: S,
        triangle: &Triangle,
        blocks: &mut [Block; BLOCKS],
        put: &mut Batches,
    ) -> u64 {
        let mut u = [[0.0; 3]; 3];
        let mut cell = [0.0; 3];
        let mut rows = [0; 3];
        for a in 0..3 {
            let axis = &self.frame.axes[a];
            for v in 0..3 {
                u[a][v] = ((f64::from(triangle[v][self.order[a]]) - axis.origin[0])
                    - axis.origin[1])
                    * axis.scale;
            }
            cell[a] = u[a][0].max(u[a][1]).max(u[a][2]).floor();
            rows[a] = (cell[a] - u[a][0].min(u[a][1]).min(u[a][2]).floor()) as i64;
            for u in &mut u[a] {
                *u -= cell[a];
            }
        }
        // Rows are numbered downwards from the cell that contains the highest corner. Rows outside of the
        // cells are skipped.
        let counted = |a: usize| {
            let top = cell[a] as i64;
            let from = (top + 1 - self.cells[a].end as i64).max(0);
            from as usize
                ..(top + 1 - self.cells[a].start as i64).clamp(from, rows[a].max(from)) as usize
        };
        let [js, ks] = [counted(1), counted(2)];
        let [x, y, z] = u;
        let reach = x[0].abs().max(x[1].abs()).max(x[2].abs());
        let bound = self.side_error(SOME as f64);
        let [cells, ..] = &self.cells;
        // If a whole number is added to this constant, the last bits of the sum are the number.
        let whole = (1_u64 << 52) as f64;
        let steps = f64x8::from_fn(simd, |n| n as f64);
        let mut count = 0;
        let mut inwards = false;
        for k0 in ks.clone().step_by(HALF) {
            for j0 in js.clone().step_by(HALF) {
                let lanes = !0_u64 >> (64 - HALF.min(js.end - j0));
                let block = &mut blocks[count];
                (block.rows, block.corner) = (0, [j0, k0]);
                let here = steps + j0 as f64;
                let y = [here + y[0], here + y[1], here + y[2]];
                for k in k0..ks.end.min(k0 + HALF) {
                    let z = [z[0] + k as f64, z[1] + k as f64, z[2] + k as f64];
                    // Terms whose signs state on which side of each edge the row is, in a projection along
                    // the row. See docs/internals/error-bounds.md, section 9.
                    let sides = [
                        y[1] * z[2] - y[2] * z[1],
                        y[2] * z[0] - y[0] * z[2],
                        y[0] * z[1] - y[1] * z[0],
                    ];
                    let least = sides[0].min(sides[1]).min(sides[2]);
                    let most = sides[0].max(sides[1]).max(sides[2]);
                    let reached = !(least.simd_lt(-bound) & most.simd_gt(bound));
                    let out = most.simd_lt(-bound);
                    let passed = least.simd_gt(bound) | out;
                    let reached = reached.to_bitmask() & lanes;
                    if reached == 0 {
                        continue;
                    }
                    let area = sides[0] + sides[1] + sides[2];
                    let crossing = (sides[0] * x[0] + sides[1] * x[1] + sides[2] * x[2]) / area;
                    let error =
                        (f64x8::splat(simd, bound) / area.abs() + U) * (reach * 13.0) + self.error;
                    let sure =
                        passed & (crossing - crossing.round_ties_even()).abs().simd_gt(error);
                    if sure.to_bitmask() & reached != reached {
                        return self.cross_one(triangle, put);
                    }
                    inwards |= out.to_bitmask() & reached != 0;
                    block.rows |= reached << (HALF * (k - k0));
                    let first = crossing.floor() + (cell[0] + 1.0);
                    let first = first.max(cells.start as f64).min(cells.end as f64);
                    (first + whole).store_slice(&mut block.first[HALF * (k - k0)..][..HALF]);
                }
                count += usize::from(block.rows != 0);
            }
        }
        let [_, j, k] = cell.map(|cell| cell as i64);
        for Block {
            rows,
            corner,
            first,
        } in &blocks[..count]
        {
            for bit in bits_of(*rows) {
                let row = [
                    j - (corner[0] + bit % HALF) as i64,
                    k - (corner[1] + bit / HALF) as i64,
                ];
                let first = first[bit].to_bits() as u32 as usize;
                if first < cells.end {
                    put.push(Crossing {
                        row: row.map(|n| n as usize),
                        first,
                        inwards: inwards != self.mirrors,
                    });
                }
            }
        }
        0
    }

    /// Finds the crossings of one triangle exactly.
    #[inline(always)]
    fn cross_one(&self, triangle: &Triangle, put: &mut Batches) -> u64 {
        let triangle = triangle.map(|v| self.order.map(|axis| v[axis]));
        let Some(setup) = Setup::new(self.frame, &triangle) else {
            return 0;
        };
        let begin = setup.base[2].max(0);
        let layers = &self.cells[2];
        let snapped = if layers.contains(&(begin as usize)) {
            u64::from(setup.snapped)
        } else {
            0
        };
        let [low, high] = [setup.base[2] + 1, setup.base[2] + setup.high[2]];
        let low = low.max(layers.start as i64);
        let high = high.min(layers.end as i64 - 1);
        if low <= high && setup.high[1] > 0 {
            let exact = LazyExact::new(self.frame, &triangle, setup.base);
            let mut passage = Passage {
                setup: &setup,
                exact,
                plane: None,
                edges: [const { None }; 3],
            };
            passage.rows(low, high, self, put);
        }
        snapped
    }

    /// Returns `true` if plane `wall` of the row's axis comes after the triangle. The row crosses the
    /// triangle exactly on this plane.
    fn is_after(&self, exact: &mut LazyExact, wall: i64) -> bool {
        let [along, b, c] = self.order;
        if b < along {
            // The slope of x along an axis has the sign of -n / n[0], where n is the component of the normal
            // along that axis. The axis with the larger displacement decides.
            let signs = exact.normal_signs();
            let rises = |axis: usize| signs[axis] * signs[0] < 0;
            match (signs[1] != 0, signs[2] != 0) {
                (true, _) => return rises(1),
                (_, true) if c < along => return rises(2),
                _ => {}
            }
        }
        let axis = &self.frame.axes[0];
        axis.closed && wall == axis.cells
    }
}

/// Lanes whose triangles surely have no crossing, lanes whose triangles are near few rows, and lanes whose
/// triangles are near some more rows. None of them has a coordinate near a wall or centre plane.
struct Sieved {
    none: u64,
    few: u64,
    some: u64,
}

/// Block of eight times eight rows, with the crossings of a triangle with them.
#[derive(Clone, Copy)]
struct Block {
    /// A bit for each row that crosses the triangle. Each layer has eight bits.
    rows: u64,
    /// Number of the first row and of the first layer, counted downwards.
    corner: [usize; 2],
    /// For each row, the first cell after the triangle. It is in the last bits of the double.
    first: [f64; ROWS],
}

impl Default for Block {
    fn default() -> Self {
        Self {
            rows: 0,
            corner: [0; 2],
            first: [0.0; ROWS],
        }
    }
}

/// Crossings of eight triangles, each with one row.
#[derive(Clone, Copy, Default)]
struct RowCrossings {
    /// Lanes whose triangles surely cross the row.
    lanes: u64,
    /// Lanes whose triangles the row enters.
    inwards: u64,
    /// For each lane, the first cell after the triangle.
    first: [f64; HALF],
}

/// Triangle whose crossings with rows are computed exactly.
struct Passage<'a> {
    setup: &'a Setup,
    exact: LazyExact<'a>,
    /// Plane of the triangle, computed at the first use. The inner option is `None` if the triangle is
    /// parallel to the rows.
    plane: Option<Option<LongPlane>>,
    edges: [Option<LongEdge>; 3],
}

/// Edges of a triangle, as the numbers of their vertices.
const ENDS: [[usize; 2]; 3] = [[0, 1], [1, 2], [2, 0]];

impl Passage<'_> {
    /// Finds all crossings in layers `low..=high`.
    #[inline(always)]
    fn rows(&mut self, low: i64, high: i64, crosser: &Crosser, put: &mut Batches) {
        let base = self.setup.base;
        let rows = &crosser.cells[1];
        for k in low..=high {
            let [up, down] = self.ends(k - base[2]);
            let from = up.min(down) + 1 + base[1];
            let to = up.max(down) + base[1];
            let from = from.max(rows.start as i64);
            let to = to.min(rows.end as i64 - 1);
            for j in from..=to {
                let Some(first) = self.first(j - base[1], k - base[2], crosser) else {
                    return;
                };
                let cells = &crosser.cells[0];
                let first = (first + base[0]).clamp(cells.start as i64, cells.end as i64) as usize;
                if first < cells.end {
                    let inwards = (up < down) != crosser.mirrors;
                    put.push(Crossing {
                        row: [j as usize, k as usize],
                        first,
                        inwards,
                    });
                }
            }
        }
    }

    /// Returns the floors of the positions at which plane `k` crosses the triangle's outline: first the
    /// position on an upward edge, then the one on a downward edge.
    #[inline(always)]
    fn ends(&mut self, k: i64) -> [i64; 2] {
        let floor = &self.setup.floor[2];
        let mut ends = [0; 2];
        for (n, [v, w]) in ENDS.into_iter().enumerate() {
            match (floor[v] < k, floor[w] < k) {
                (true, false) => ends[0] = self.edge_floor(n, [v, w], k),
                (false, true) => ends[1] = self.edge_floor(n, [w, v], k),
                _ => {}
            }
        }
        ends
    }

    /// Returns the floor of the position at which an edge crosses plane `k`. `ends` are its vertices from the
    /// lower to the upper.
    #[inline(always)]
    fn edge_floor(&mut self, n: usize, ends: [usize; 2], k: i64) -> i64 {
        let edge = self.edges[n].get_or_insert_with(|| LongEdge::new(self.setup, ends, [1, 2]));
        let crossing = edge.at(k);
        let nearest = crossing.round_ties_even();
        if (crossing - nearest).abs() > edge.error {
            return crossing.floor() as i64;
        }
        if edge.on_grain {
            nearest as i64
        } else {
            self.exact.edge_crossing(ends, [1, 2], k).0
        }
    }

    /// Returns the first cell after the crossing of row `(j, k)` with the triangle. `None` if the triangle is
    /// parallel to the rows.
    #[inline(always)]
    fn first(&mut self, j: i64, k: i64, crosser: &Crosser) -> Option<i64> {
        let Self {
            setup,
            exact,
            plane,
            ..
        } = self;
        let plane = plane
            .get_or_insert_with(|| LongPlane::new(setup, exact))
            .as_ref()?;
        let crossing = plane.at(j, k);
        let nearest = crossing.round_ties_even();
        if (crossing - nearest).abs() > plane.error {
            return Some(crossing.floor() as i64 + 1);
        }
        let (floor, on) = if plane.on_grain {
            (nearest as i64, true)
        } else {
            exact.plane_crossing(j, k)
        };
        let is_after = on && crosser.is_after(exact, floor + setup.base[0]);
        Some(floor + i64::from(!is_after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::axis::{AxisMap, LatticeAxis, Snap};
    use crate::geom::{Bounds, Rational};
    use crate::random::Random;

    /// Returns the crossings of triangles with the rows of these cells, in ascending order.
    fn found(
        crosser: &Crosser,
        level: Level,
        triangles: &[Triangle],
    ) -> Vec<([usize; 2], usize, bool)> {
        let mut all = vec![];
        crosser.cross(level, triangles, &mut |some| {
            all.extend(
                some.iter()
                    .map(|crossing| (crossing.row, crossing.first, crossing.inwards)),
            );
        });
        all.sort_unstable();
        all
    }

    #[test]
    fn levels_agree_on_the_rows_of_any_box_for_triangles_of_any_size() {
        const CELLS: usize = 60;
        let mut random = Random::new(11);
        let mut crossings = 0;
        for sort in 0..12 {
            let spacing =
                [Rational::ONE, Rational::new(1, 3), Rational::new(27, 256)][sort % 3].clone();
            let size = spacing.to_f64() as f32;
            let axis = || {
                let map = AxisMap::new(Rational::new(-1, 7), spacing.clone(), Snap::Float);
                LatticeAxis {
                    map,
                    cells: CELLS,
                    closed: true,
                }
            };
            // Triangles smaller than a row up to triangles larger than two blocks. Some have vertices on
            // planes of centres.
            let extent = [0.7, 3.0, 9.0, 17.0][sort / 3];
            let triangles: Vec<Triangle> = (0..200)
                .map(|_| {
                    let at = [(); 3].map(|()| random.unit() * CELLS as f32);
                    [(); 3].map(|()| {
                        let place = |a: usize, unit: f32| {
                            let cells = at[a] + extent * (unit - 0.5);
                            let cells = if a == sort % 3 {
                                cells.round() + 0.5
                            } else {
                                cells
                            };
                            cells * size - 1.0 / 7.0
                        };
                        [0, 1, 2].map(|a| place(a, random.unit()))
                    })
                })
                .collect();
            for along in 0..3 {
                let frame = KernelLattice::of_centres(
                    [axis(), axis(), axis()],
                    &Bounds::of(&triangles),
                    along,
                );
                let whole = || Crosser::new(&frame, along, [0..CELLS, 0..CELLS, 0..CELLS]);
                let expected = found(&whole(), Level::Scalar, &triangles);
                crossings += expected.len();
                for _ in 0..4 {
                    let cells: Box3 = [(); 3].map(|()| {
                        let start = random.index(CELLS);
                        start..start + 1 + random.index(CELLS - start)
                    });
                    let within = |(row, first, _): &&([usize; 2], usize, bool)| {
                        cells[1].contains(&row[0])
                            && cells[2].contains(&row[1])
                            && *first < cells[0].end
                    };
                    let mut cut: Vec<_> = expected.iter().filter(within).copied().collect();
                    cut.iter_mut()
                        .for_each(|(_, first, _)| *first = (*first).max(cells[0].start));
                    cut.sort_unstable();
                    let crosser = Crosser::new(&frame, along, cells);
                    for level in Level::available() {
                        assert_eq!(
                            found(&whole(), level, &triangles),
                            expected,
                            "{level:?} {sort} {along}"
                        );
                        assert_eq!(
                            found(&crosser, level, &triangles),
                            cut,
                            "{level:?} {sort} {along}"
                        );
                    }
                }
            }
        }
        assert!(crossings > 40_000, "{crossings}");
    }
}
