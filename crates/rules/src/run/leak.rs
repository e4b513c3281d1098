//! Leaks: holes through which a flood entered a mesh.
//!
//! A mesh with caps over its holes is closed, so the cells that the mesh and the caps touch under ties up
//! would stop the flood (docs/internals/separation.md). A flood that reached the inside therefore passed a
//! cell that only a cap touches. A hole leaks iff its cap touches a cell that the flood reached.

use std::ops::{ControlFlow, Range};

use crate::run::cover::{self, IntersectionTarget};
use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Ties, Triangle};
use voxelize_core::grid::{BitGrid, Lattice};
use voxelize_core::par::{self, Progress};
use voxelize_kernel::sink::SIDE;
use voxelize_kernel::{KernelLattice, Level};
use voxelize_meshes::boundary::Loop;

/// Leaks of a flood that reached cells inside the mesh. The method evenodd, applied to the mesh with caps
/// over all its holes, decides which cells are inside.
#[derive(Debug, Clone, PartialEq)]
pub struct Leak {
    /// Number of cells inside the mesh that the flood reached.
    pub cells: u64,
    /// Holes through which the flood passed, sorted by decreasing length of their rims. Holes that were
    /// closed before the flood are not among them.
    pub holes: Vec<Loop>,
}

/// Result of a flood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flooded<'a> {
    /// Lattice of the cells.
    pub lattice: &'a Lattice,
    /// Cells that the flood reached. Neither the mesh nor the cap of a closed hole touches any of them.
    pub outside: &'a BitGrid,
    /// Cells that are inside the mesh if all of its holes are closed with caps.
    pub inside: &'a BitGrid,
}

/// Finds those of the open `holes` through which a flood reached the inside of the mesh. `None` if the flood
/// did not reach the inside. Uses the calling thread pool.
///
/// # Errors
/// Fails if the run was cancelled, or if memory does not suffice.
pub(crate) fn find(
    flooded: Flooded,
    holes: Vec<Loop>,
    level: Level,
    progress: &dyn Progress,
) -> Result<Option<Leak>> {
    let cells = common(flooded.outside, flooded.inside);
    if cells == 0 {
        return Ok(None);
    }
    let [nx, ny, nz] = flooded.lattice.dims();
    let mut layers = BitGrid::new([nx, ny, SIDE.min(nz)])?;
    let mut leaking = vec![];
    for hole in holes {
        progress.check()?;
        if leaks(flooded, &hole, &mut layers, level)? {
            leaking.push((hole.length(), hole));
        }
    }
    // The sort is stable, so holes of equal length keep their order.
    leaking.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(Some(Leak {
        cells,
        holes: leaking.into_iter().map(|(_, hole)| hole).collect(),
    }))
}

/// Returns the number of cells that are occupied in both grids.
fn common(a: &BitGrid, b: &BitGrid) -> u64 {
    let counts = par::map_range(0..a.dims()[2], |k| {
        let mut count = 0;
        for (a, b) in a.layer(k).iter().zip(b.layer(k)) {
            count += u64::from((a & b).count_ones());
        }
        count
    });
    counts.into_iter().sum()
}

/// Returns true if the flood reached a cell that the hole's cap touches. `layers` is scratch memory
/// for [`SIDE`] layers.
fn leaks(flooded: Flooded, hole: &Loop, layers: &mut BitGrid, level: Level) -> Result<bool> {
    let outside = flooded.outside;
    let mut leaks = false;
    cap(flooded.lattice, hole, layers, level, |first, layers| {
        let wet = &outside.words()[first * layers.layer_words()..];
        leaks = layers
            .words()
            .iter()
            .zip(wet)
            .any(|(cap, wet)| cap & wet != 0);
        if leaks {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(leaks)
}

/// Calls `see` with the cells that the hole's cap touches, for [`SIDE`] layers at a time. The first argument
/// of `see` is the index of the first of these layers. `layers` is scratch memory for [`SIDE`] layers. Layers
/// beyond the lattice are empty. Stops when `see` returns `Break`.
pub(crate) fn cap(
    lattice: &Lattice,
    hole: &Loop,
    layers: &mut BitGrid,
    level: Level,
    mut see: impl FnMut(usize, &BitGrid) -> ControlFlow<()>,
) -> Result<()> {
    let cap: Vec<Triangle> = hole.cap().collect();
    let bounds = Bounds::of(&cap);
    let Some(touched) = layers_of(lattice, &bounds) else {
        return Ok(());
    };
    let cells = IntersectionTarget::Box(KernelLattice::new(lattice.axes(), &bounds, Ties::Up));
    let covered = cover::keep(&cells, &cap, lattice.dims(), level, &())?;
    for first in touched.step_by(SIDE) {
        covered.copy_to(first, layers);
        if see(first, layers).is_break() {
            break;
        }
    }
    Ok(())
}

/// Returns the range of layers that a box may touch. The start of the range is rounded down to a multiple of
/// [`SIDE`]. `None` if the box is outside the lattice.
fn layers_of(lattice: &Lattice, bounds: &Bounds) -> Option<Range<usize>> {
    let axis = lattice.axis(2);
    let last = lattice.dims()[2] as i64 - 1;
    // A coordinate whose layer does not fit in 64 bits is far below or far above the lattice.
    let layer = |v: f32| {
        axis.index(v)
            .floor()
            .unwrap_or(if v < 0.0 { i64::MIN } else { i64::MAX })
    };
    // If the lower end is on a lattice plane, the box may also touch the layer below the plane.
    let low = layer(bounds.min[2]).saturating_sub(1);
    let high = layer(bounds.max[2]);
    let range = low.clamp(0, last) as usize..high.clamp(0, last) as usize + 1;
    if low > last || high < 0 {
        return None;
    }
    Some(range.start / SIDE * SIDE..range.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mesh, Rational, Rule, voxelize};
    use voxelize_core::grid::{Fit, Size, flood};

    /// Returns a mesh without some of its triangles.
    fn without(mesh: &Mesh, gone: &[usize]) -> Mesh {
        let left = (0..mesh.triangles().len())
            .filter(|n| !gone.contains(n))
            .map(|n| mesh.triangles()[n]);
        Mesh::from_triangles(left.collect()).unwrap()
    }

    fn around(triangle: &Triangle) -> Loop {
        Loop {
            points: triangle.to_vec(),
        }
    }

    /// Floods `mesh` and finds the leaks to the inside of `whole`.
    fn leak(whole: &Mesh, mesh: &Mesh, holes: Vec<Loop>, lattice: &Lattice) -> Option<Leak> {
        let dry = |mesh| {
            let walls = voxelize(mesh, lattice, Rule::surface())
                .unwrap()
                .into_occupied()
                .unwrap();
            (flood::outside(&walls, &()).unwrap(), walls)
        };
        let (wet, walls) = dry(whole);
        let mut inside = BitGrid::try_from(lattice).unwrap();
        let neither = wet
            .words()
            .iter()
            .zip(walls.words())
            .map(|(wet, wall)| !(wet | wall));
        inside
            .words_mut()
            .iter_mut()
            .zip(neither)
            .for_each(|(word, neither)| *word = neither);
        // The words of a row have no bits after its last cell.
        assert_eq!(lattice.dims()[0] % 64, 0);
        let (outside, _) = dry(mesh);
        let flooded = Flooded {
            lattice,
            outside: &outside,
            inside: &inside,
        };
        find(flooded, holes, Level::best(), &()).unwrap()
    }

    fn cube() -> (Mesh, Lattice) {
        let cube = Mesh::open("../../fixtures/cube.stl").unwrap();
        let fit = Fit::new(Size::Spacing([1, 1, 1].map(Rational::from)));
        let lattice = fit.to(cube.bounds()).unwrap();
        (cube, lattice)
    }

    #[test]
    fn the_hole_is_named_to_within_a_cell() {
        let sphere = Mesh::open("../../fixtures/sphere.stl").unwrap();
        let lattice = Lattice::fit(sphere.bounds(), 64).unwrap();
        let cell = lattice.spacing()[0].to_f64();
        let mut leaks = 0;
        let count = sphere.triangles().len();
        for gone in (0..count).step_by(97) {
            let open = without(&sphere, &[gone]);
            let mut holes = open.holes().unwrap();
            assert_eq!(holes.len(), 1);
            // The loop around another triangle of the mesh does not leak, because that triangle touches the
            // same cells.
            holes.insert(0, around(&sphere.triangles()[(gone + 31) % count]));
            let Some(leak) = leak(&sphere, &open, holes, &lattice) else {
                continue;
            };
            let triangle = sphere.triangles()[gone].map(|v| v.map(f64::from));
            let [hole] = &leak.holes[..] else {
                panic!("{} holes", leak.holes.len())
            };
            for a in 0..3 {
                let middle = triangle.iter().map(|v| v[a]).sum::<f64>() / 3.0;
                assert!((hole.centre()[a] - middle).abs() < cell, "triangle {gone}");
            }
            assert!(leak.cells > 1000 && hole.points.len() == 3);
            leaks += 1;
        }
        assert!(leaks > 5, "{leaks}");
    }

    #[test]
    fn the_longest_hole_comes_first_and_covered_holes_are_left_out() {
        let (cube, lattice) = cube();
        let faces = cube.triangles();
        let gone: Vec<_> = [0, 7].map(|n| around(&faces[n])).into();
        assert_eq!(leak(&cube, &cube, gone.clone(), &lattice), None);
        let open = without(&cube, &[0, 7]);
        let dry = around(&faces[3]);
        let found = leak(&cube, &open, [vec![dry], gone.clone()].concat(), &lattice).unwrap();
        assert_eq!(found.holes, gone);
        assert!(found.cells > 200_000, "{}", found.cells);
        // The loop of the second hole is longer, because it makes a detour through a point inside the cube.
        let [a, b, c] = faces[7];
        let next = std::array::from_fn(|i| (a[i] + b[i]) / 2.0 - 20.0);
        let longer = Loop {
            points: vec![a, next, b, c],
        };
        let found = leak(
            &cube,
            &open,
            vec![gone[0].clone(), longer.clone()],
            &lattice,
        )
        .unwrap();
        assert_eq!(found.holes, [longer, gone[0].clone()]);
    }

    #[test]
    fn holes_beyond_the_lattice_are_passed_over() {
        let (cube, lattice) = cube();
        let face = cube.triangles()[3];
        let mut holes: Vec<_> = [-1e30, -3.0, 66.0, 1e30]
            .map(|z| around(&face.map(|v| [v[0], v[1], z])))
            .into();
        // This loop is a single point in the bottom face of the cube.
        holes.push(around(&[[5.0, 5.0, 0.0]; 3]));
        holes.push(around(&face));
        let found = leak(&cube, &without(&cube, &[3]), holes, &lattice).unwrap();
        assert_eq!(found.holes, [around(&face)]);
    }
}
