//! Finds the components of filled cells that the components of a mesh reach.
//!
//! A triangle reaches a filled cell if it touches the cell's closed box, and either intersects the interior
//! of the grid or lies in a lattice plane. Cells with a common point are neighbours, so all filled cells
//! around a point belong to one component.
//!
//! - If a triangle lies in no lattice plane, every neighbourhood of each of its points includes a point of
//!   the triangle in the interior of a cell. Such cells are filled, so the filled cells along the triangle
//!   are connected. The triangle reaches one component, and any of its points inside the grid identifies it.
//! - A triangle in a lattice plane intersects the interior of no cell. It reaches the filled cells on both
//!   sides of the plane, which may belong to several components. All cells next to it are examined exactly,
//!   row by row.
//!
//! The result therefore depends only on the set of triangles, and not on the order of triangles or corners.
//! Only triangles near the requested components of cells are examined.

use crate::run::Run;
use voxelize_core::error::Result;
use voxelize_core::geom::{Point, Rational, Triangle};
use voxelize_core::grid::components::{CellComponent, CellComponents};
use voxelize_core::par::{self, Progress};
use voxelize_kernel::{self as kernel, KernelLattice};

/// Sorted, distinct pairs: the index of a component of cells, and the index of a component of the mesh that
/// reaches it.
pub(super) type Hosts = Vec<(u32, u32)>;

/// Number of triangles in the unit of work of a thread.
const CHUNK: usize = 1 << 14;

/// Greatest error of a coordinate, in cells, for which the cells around it are computed in doubles. With a
/// larger error they are computed exactly.
const NEAR: f64 = 0.25;

/// Box of cells: the least and the greatest index along each axis.
type CellBox = [[i64; 2]; 3];

/// Components of filled cells, some of which are requested.
pub(super) struct RequestedCells<'a> {
    pub all: &'a CellComponents,
    pub frame: &'a KernelLattice,
    /// For each component, whether it is requested.
    is_requested: Vec<bool>,
    /// Bounding box of all requested components.
    reach: CellBox,
}

impl<'a> RequestedCells<'a> {
    pub(super) fn new(
        all: &'a CellComponents,
        measured: &[CellComponent],
        requested: impl Iterator<Item = usize>,
        frame: &'a KernelLattice,
    ) -> Self {
        let mut is_requested = vec![false; measured.len()];
        let mut reach = [[i64::MAX, i64::MIN]; 3];
        for n in requested {
            is_requested[n] = true;
            let [low, high] = measured[n].reach;
            for a in 0..3 {
                reach[a] = [
                    reach[a][0].min(low[a] as i64),
                    reach[a][1].max(high[a] as i64),
                ];
            }
        }
        Self {
            all,
            frame,
            is_requested,
            reach,
        }
    }

    /// Returns true if a triangle may touch cells of a requested component.
    fn may_be_near(&self, triangle: &Triangle) -> bool {
        (0..3).all(|a| {
            let axis = &self.frame.axes[a];
            let [low, high] = self.reach[a];
            let at = triangle.map(|vertex| axis.index(vertex[a]));
            at.iter().any(|at| at + axis.margin >= low as f64)
                && at.iter().any(|at| at - axis.margin <= (high + 1) as f64)
        })
    }
}

/// Finds the components of a mesh that reach requested components of cells. `of` has the index of each
/// triangle's component.
///
/// # Errors
/// Fails if the run was cancelled.
pub(super) fn hosts(
    triangles: &[Triangle],
    of: &[u32],
    cells: &RequestedCells,
    run: &Run,
) -> Result<Hosts> {
    let chunks = triangles.chunks(CHUNK).zip(of.chunks(CHUNK)).collect();
    let found = par::map(chunks, |(triangles, of): (&[Triangle], &[u32])| {
        run.check()?;
        let mut search = HostSearch {
            cells,
            run,
            last: None,
            found: vec![],
            room: 0,
        };
        for (triangle, component) in triangles.iter().zip(of) {
            if cells.may_be_near(triangle) {
                search.add(triangle, *component)?;
            }
        }
        Ok(sorted(search.found))
    });
    Ok(sorted(
        found.into_iter().collect::<Result<Vec<_>>>()?.concat(),
    ))
}

fn sorted(mut pairs: Hosts) -> Hosts {
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// State of the search through consecutive triangles.
struct HostSearch<'a> {
    cells: &'a RequestedCells<'a>,
    run: &'a Run<'a>,
    /// Component of the last triangle that lies in no lattice plane, and the cells around a point of this
    /// triangle.
    last: Option<(u32, CellBox)>,
    /// Pairs found so far, possibly with duplicates.
    found: Hosts,
    /// Length of `found` at which duplicates are removed.
    room: usize,
}

impl HostSearch<'_> {
    fn add(&mut self, triangle: &Triangle, component: u32) -> Result<()> {
        if let Some(axis) = self.wall_axis(triangle) {
            kernel::cells_beside_wall(self.cells.frame, triangle, axis, |cells| {
                self.add_all(cells, component)
            });
            return self.run.check();
        }
        let around = triangle.iter().find_map(|vertex| self.around_inner(vertex));
        let Some(around) = around.or_else(|| self.around_clipped(triangle)) else {
            return Ok(());
        };
        if self.last != Some((component, around)) {
            self.last = Some((component, around));
            if let Some(host) = cells_of(&around).find_map(|cell| self.cells.all.at(cell)) {
                self.push((host as u32, component));
            }
        }
        Ok(())
    }

    fn push(&mut self, pair: (u32, u32)) {
        // Consecutive triangles mostly give the same pair.
        if !self.cells.is_requested[pair.0 as usize] || self.found.last() == Some(&pair) {
            return;
        }
        if self.found.len() == self.room {
            self.found = sorted(std::mem::take(&mut self.found));
            self.room = CHUNK.max(2 * self.found.len());
        }
        self.found.push(pair);
    }

    /// Adds the components of all filled cells in a box.
    fn add_all(&mut self, [x, y, z]: [[usize; 2]; 3], component: u32) {
        for (j, k) in (z[0]..=z[1]).flat_map(|k| (y[0]..=y[1]).map(move |j| (j, k))) {
            for host in self.cells.all.within(x, j, k) {
                self.push((host as u32, component));
            }
        }
    }

    /// Returns the first axis for which the triangle lies in a lattice plane perpendicular to it. `None` if
    /// the triangle lies in no lattice plane.
    fn wall_axis(&self, [a, b, c]: &Triangle) -> Option<usize> {
        for axis in 0..3 {
            let is_flat = a[axis] == b[axis] && b[axis] == c[axis];
            if is_flat && self.cells.frame.axes[axis].wall_at(a[axis]).is_some() {
                return Some(axis);
            }
        }
        None
    }

    /// Returns the cells around a vertex. `None` unless the vertex is certainly inside the grid and its error
    /// is small.
    fn around_inner(&self, vertex: &Point) -> Option<CellBox> {
        let mut around = [[0; 2]; 3];
        for (a, axis) in self.cells.frame.axes.iter().enumerate() {
            let index = axis.index(vertex[a]);
            let margin = axis.margin;
            if margin > NEAR || index <= margin || index + margin >= axis.cells as f64 {
                return None;
            }
            around[a] = [
                (index - margin).ceil() as i64 - 1,
                (index + margin).floor() as i64,
            ];
        }
        Some(around)
    }

    /// Computes exactly the cells around some point of the triangle that is inside the grid. `None` if no
    /// point of the triangle is inside the grid.
    fn around_clipped(&self, triangle: &Triangle) -> Option<CellBox> {
        let place =
            |vertex: &Point| [0, 1, 2].map(|a| self.cells.frame.axes[a].map.index(vertex[a]));
        let dims = self
            .cells
            .frame
            .axes
            .each_ref()
            .map(|axis| Rational::from(axis.cells));
        let point = inner_point(triangle.each_ref().map(place).to_vec(), &dims)?;
        let around = |index: &Rational| {
            let floor = index.floor().expect("a point in the grid has a cell");
            [floor - i64::from(index.is_whole()), floor]
        };
        Some(point.each_ref().map(around))
    }
}

/// Returns the indices of the cells in a box.
fn cells_of([x, y, z]: &CellBox) -> impl Iterator<Item = [usize; 3]> {
    let cells = |[low, high]: [i64; 2]| low as usize..=high as usize;
    let x = cells(*x);
    let y = cells(*y);
    cells(*z).flat_map(move |k| {
        let x = x.clone();
        y.clone()
            .flat_map(move |j| x.clone().map(move |i| [i, j, k]))
    })
}

/// Returns a point of a convex polygon that is in the interior of the box from 0 to `dims`. `None` if there
/// is no such point. The point is the mean of the corners of the intersection of polygon and box. If any
/// point of the intersection is in the interior of the box, so is the mean.
fn inner_point(mut polygon: Vec<[Rational; 3]>, dims: &[Rational; 3]) -> Option<[Rational; 3]> {
    for (axis, high) in dims.iter().enumerate() {
        polygon = clipped(&polygon, |point| point[axis].clone());
        polygon = clipped(&polygon, |point| high - &point[axis]);
    }
    if polygon.is_empty() {
        return None;
    }
    let count = Rational::from(polygon.len() as i64);
    let mut mean = [Rational::ZERO; 3];
    for (a, mean) in mean.iter_mut().enumerate() {
        for point in &polygon {
            *mean = &*mean + &point[a];
        }
        *mean = &*mean / &count;
    }
    let is_inside = (0..3).all(|a| mean[a] > Rational::ZERO && mean[a] < dims[a]);
    is_inside.then_some(mean)
}

/// Clips a convex polygon to the points whose `height` is at least zero (Sutherland and Hodgman 1974).
fn clipped(
    polygon: &[[Rational; 3]],
    height: impl Fn(&[Rational; 3]) -> Rational,
) -> Vec<[Rational; 3]> {
    let mut part = vec![];
    for (n, point) in polygon.iter().enumerate() {
        let next = &polygon[(n + 1) % polygon.len()];
        let [here, there] = [height(point), height(next)];
        if here >= Rational::ZERO {
            part.push(point.clone());
        }
        if (here < Rational::ZERO) != (there < Rational::ZERO)
            && !here.is_zero()
            && !there.is_zero()
        {
            let share = &here / &(&here - &there);
            part.push([0, 1, 2].map(|a| &point[a] + &(&(&next[a] - &point[a]) * &share)));
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::{Rule, Voxelizer};
    use voxelize_core::geom::Ties;
    use voxelize_core::grid::Lattice;
    use voxelize_meshes::Mesh;

    fn points(corners: &[[i64; 3]]) -> Vec<[Rational; 3]> {
        corners
            .iter()
            .map(|corner| corner.map(|n| Rational::new(n, 2)))
            .collect()
    }

    #[test]
    fn a_polygon_has_a_point_in_a_box_unless_it_is_outside_or_touches() {
        let dims = [4, 4, 4].map(Rational::from);
        // Coordinates are in halves of a cell.
        for (corners, is_inside) in [
            (vec![[1, 1, 1], [3, 1, 1], [1, 3, 1]], true),
            (vec![[-20, 3, 3], [20, 3, 3], [20, 5, 3]], true),
            (vec![[-20, -20, 3], [60, -20, 3], [-20, 60, 3]], true),
            (vec![[-2, 2, 2], [10, 2, 2], [4, 2, 2]], true),
            (vec![[3, 3, 3]; 3], true),
            // These polygons lie in a face of the box, along an edge, through a corner, and outside.
            (vec![[1, 1, 0], [3, 1, 0], [1, 3, 0]], false),
            (vec![[0, -2, 0], [0, 9, 0], [-4, 3, 0]], false),
            (vec![[-2, 2, 0], [2, -2, 0], [-2, -2, 0]], false),
            (vec![[9, 1, 1], [12, 1, 1], [9, 3, 1]], false),
            (vec![[-2, 3, 3], [0, 3, 3], [-2, 4, 4]], false),
        ] {
            for turn in 0..3 {
                let mut corners = corners.clone();
                corners.rotate_left(turn);
                let found = inner_point(points(&corners), &dims);
                assert_eq!(found.is_some(), is_inside, "{corners:?}: {found:?}");
            }
        }
    }

    /// Finds the expected pairs by voxelizing each triangle separately.
    fn slowly(mesh: &Mesh, of: &[u32], cells: &CellComponents, lattice: &Lattice) -> Hosts {
        let mut found = vec![];
        for (triangle, component) in mesh.triangles().iter().zip(of) {
            let alone = Mesh::from_triangles(vec![*triangle]).unwrap();
            let touched = |ties: Ties| {
                let rule = Rule::surface().with_ties(ties).unwrap();
                Voxelizer::new(rule)
                    .run(&alone, lattice)
                    .unwrap()
                    .voxels
                    .into_occupied()
                    .unwrap()
            };
            let axes = lattice.axes();
            let is_in_wall = (0..3).any(|a| {
                let [p, q, r] = triangle.map(|v| axes[a].map.index(v[a]));
                p.is_whole() && p == q && q == r
            });
            if is_in_wall || touched(Ties::None).count() > 0 {
                let hosts = touched(Ties::Both)
                    .iter()
                    .filter_map(|cell| cells.at(cell))
                    .collect::<Vec<_>>();
                found.extend(hosts.into_iter().map(|host| (host as u32, *component)));
            }
        }
        sorted(found)
    }

    #[test]
    fn components_reach_all_that_their_triangles_touch() {
        let mut random = Random::new(9);
        let mut several = 0;
        let mut shared = 0;
        let mut clipped = 0;
        for n in 0..500 {
            // Corners are on lattice planes, between them, and outside the grid. A third of the triangles
            // lies in a lattice plane.
            let fine = [1.0, 2.0, 16.0][n % 3];
            let mut corner =
                || [(); 3].map(|()| random.below((12.0 * fine) as u64) as f32 / fine - 2.0);
            let mut triangles: Vec<Triangle> =
                (0..8).map(|_| [corner(), corner(), corner()]).collect();
            for triangle in triangles.iter_mut().step_by(3) {
                let wall = triangle[0][n % 3].floor();
                triangle.iter_mut().for_each(|vertex| vertex[n % 3] = wall);
            }
            let mesh = Mesh::from_triangles(triangles).unwrap();
            let [zero, one] = [0, 1].map(|n| [(); 3].map(|()| Rational::from(n)));
            let lattice = Lattice::new([8, 7, 6], zero, one, [n % 2 == 0; 3]).unwrap();
            let touching = Voxelizer::new(Rule::surface().with_ties(Ties::None).unwrap());
            let mut filled = touching
                .run(&mesh, &lattice)
                .unwrap()
                .voxels
                .into_occupied()
                .unwrap();
            for _ in 0..random.below(6) {
                filled.set([8, 7, 6].map(|n| random.below(n) as usize));
            }
            let cells = CellComponents::of(&filled);
            let of = mesh.components().unwrap().of;
            let frame = KernelLattice::new(lattice.axes(), mesh.bounds(), Ties::None);
            let of_requested = |is_requested: &dyn Fn(usize) -> bool| {
                let requested = (0..cells.count()).filter(|host| is_requested(*host));
                let requested = RequestedCells::new(&cells, &cells.measured(), requested, &frame);
                hosts(mesh.triangles(), &of, &requested, &Run::default()).unwrap()
            };
            let found = of_requested(&|_| true);
            assert_eq!(
                found,
                slowly(&mesh, &of, &cells, &lattice),
                "{:?}",
                mesh.triangles()
            );
            for one in 0..cells.count() {
                let wanted: Hosts = found
                    .iter()
                    .filter(|pair| pair.0 as usize == one)
                    .copied()
                    .collect();
                assert_eq!(
                    of_requested(&|host| host == one),
                    wanted,
                    "{one}: {:?}",
                    mesh.triangles()
                );
            }
            let count = |of: fn(&(u32, u32)) -> u32| {
                let mut all: Vec<_> = found.iter().map(of).collect();
                all.sort_unstable();
                found.len() - all.chunk_by(|one, next| one == next).count()
            };
            several += count(|pair| pair.1);
            shared += count(|pair| pair.0);
            let is_beyond = |v: &Point| (0..3).any(|a| v[a] <= 0.0 || v[a] >= [8.0, 7.0, 6.0][a]);
            clipped += mesh
                .triangles()
                .iter()
                .filter(|triangle| triangle.iter().all(is_beyond))
                .count();
        }
        assert!(
            several > 40 && shared > 500 && clipped > 100,
            "{several} {shared} {clipped}"
        );
    }
}
