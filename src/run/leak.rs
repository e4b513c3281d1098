//! Where a flood got into a mesh: through which of its holes.
//!
//! A mesh whose holes are capped is closed, so that the cells it touches under ties up keep the flood
//! out (docs/separation.md). A flood that reached the inside went through a cell which only a cap
//! touches: a hole leaks iff its cap touches a cell that the flood reached.

use std::cmp::Ordering;
use std::ops::Range;

use crate::error::Result;
use crate::geom::{Bounds, Ties, Triangle};
use crate::grid::{BitGrid, Lattice};
use crate::kernel::target::SIDE;
use crate::kernel::{Frame, Level};
use crate::mesh::boundary::Loop;
use crate::par::{self, Progress};
use crate::run::cover;

/// What a flood reached inside a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Leak {
    /// How many cells inside.
    pub cells: u64,
    /// The holes it went through, the longest first.
    pub holes: Vec<Hole>,
}

/// A loop of open edges.
#[derive(Debug, Clone, PartialEq)]
pub struct Hole {
    /// The middle of its edges, in world units.
    pub centre: [f64; 3],
    /// The length of its edges, in world units.
    pub length: f64,
    /// How many edges it has.
    pub edges: usize,
}

/// What a flood found on its way in.
#[derive(Debug, Clone, Copy)]
pub struct Flooded<'a> {
    /// Where the cells are.
    pub lattice: &'a Lattice,
    /// The cells that the flood reached; none that the mesh touches.
    pub outside: &'a BitGrid,
    /// The cells that are inside by another method.
    pub inside: &'a BitGrid,
}

/// Whether the flood reached the inside of a mesh, and through which of these loops of open edges; in the
/// threads it is called in.
///
/// # Errors
/// If the run was cancelled, or memory is not there.
pub fn find(flooded: Flooded, loops: &[Loop], level: Level, progress: &dyn Progress) -> Result<Option<Leak>> {
    let cells = common(flooded.outside, flooded.inside);
    if cells == 0 {
        return Ok(None);
    }
    let [nx, ny, nz] = flooded.lattice.dims();
    let mut layers = BitGrid::new([nx, ny, SIDE.min(nz)])?;
    let mut holes = vec![];
    for around in loops {
        progress.check()?;
        let cap: Vec<Triangle> = around.cap().collect();
        if leaks(flooded, &cap, &mut layers, level)? {
            holes.push(Hole::from(around));
        }
    }
    Ok(Some(Leak { cells, holes: sorted(holes) }))
}

/// How many cells are in both grids.
fn common(a: &BitGrid, b: &BitGrid) -> u64 {
    let both = |k: usize| {
        let words = a.layer(k).iter().zip(b.layer(k));
        words.map(|(a, b)| u64::from((a & b).count_ones())).sum::<u64>()
    };
    par::map_range(0..a.dims()[2], both).into_iter().sum()
}

impl From<&Loop> for Hole {
    fn from(around: &Loop) -> Self {
        Self { centre: around.centre(), length: around.length(), edges: around.points.len() }
    }
}

/// Holes, the longest first. Loops come in no order: those of one length go by where they are.
pub fn sorted(mut holes: Vec<Hole>) -> Vec<Hole> {
    let place = |a: &Hole, b: &Hole| a.centre.partial_cmp(&b.centre).unwrap_or(Ordering::Equal);
    holes.sort_by(|a: &Hole, b: &Hole| b.length.total_cmp(&a.length).then(place(a, b)));
    holes
}

/// Whether the flood reached a cell that the cap touches; `layers` is room for [`SIDE`] of them.
fn leaks(flooded: Flooded, cap: &[Triangle], layers: &mut BitGrid, level: Level) -> Result<bool> {
    let Flooded { lattice, outside, .. } = flooded;
    let bounds = Bounds::of(cap);
    let Some(touched) = layers_of(lattice, &bounds) else { return Ok(false) };
    let frame = Frame::new(lattice, &bounds, Ties::Up);
    let covered = cover::keep(&frame, cap, lattice.dims(), level, &())?;
    for first in touched.step_by(SIDE) {
        covered.copy_to(first, layers);
        let wet = &outside.words()[first * layers.layer_words()..];
        if layers.words().iter().zip(wet).any(|(cap, wet)| cap & wet != 0) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The layers that these bounds may touch, from a multiple of [`SIDE`] on; none if they are beyond the
/// lattice.
fn layers_of(lattice: &Lattice, bounds: &Bounds) -> Option<Range<usize>> {
    let (axis, last) = (lattice.axis(2), lattice.dims()[2] as i64 - 1);
    // What is too far for a number of layers is far below or far above.
    let layer = |v: f32| axis.index(v).floor().unwrap_or(if v < 0.0 { i64::MIN } else { i64::MAX });
    // On a wall it may touch the layer on the other side.
    let (low, high) = (layer(bounds.min[2]).saturating_sub(1), layer(bounds.max[2]));
    let range = low.clamp(0, last) as usize..high.clamp(0, last) as usize + 1;
    (low <= last && high >= 0).then(|| range.start / SIDE * SIDE..range.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Point;
    use crate::grid::{Fit, Size, flood};
    use crate::{Mesh, Rational, Rule, voxelize};

    /// The loops of a mesh that lacks triangles which share no vertex: their own edges.
    fn without(mesh: &Mesh, gone: &[usize]) -> (Mesh, Vec<Loop>) {
        let left = (0..mesh.triangles().len()).filter(|n| !gone.contains(n)).map(|n| mesh.triangles()[n]);
        let loops = gone.iter().map(|n| Loop { points: mesh.triangles()[*n].to_vec() });
        (Mesh::from_triangles(left.collect()).unwrap(), loops.collect())
    }

    /// Floods `mesh`, whose inside is that of `whole`.
    fn leak(whole: &Mesh, mesh: &Mesh, loops: &[Loop], lattice: &Lattice) -> Option<Leak> {
        let dry = |mesh| {
            let walls = voxelize(mesh, lattice, Rule::Surface).unwrap().bits;
            (flood::outside(&walls, &()).unwrap(), walls)
        };
        let (wet, walls) = dry(whole);
        let mut inside = BitGrid::try_from(lattice).unwrap();
        let neither = wet.words().iter().zip(walls.words()).map(|(wet, wall)| !(wet | wall));
        inside.words_mut().iter_mut().zip(neither).for_each(|(word, neither)| *word = neither);
        // No bits beyond a row.
        assert_eq!(lattice.dims()[0] % 64, 0);
        let (outside, _) = dry(mesh);
        let flooded = Flooded { lattice, outside: &outside, inside: &inside };
        find(flooded, loops, Level::best(), &()).unwrap()
    }

    fn middle(triangle: &[Point]) -> [f64; 3] {
        std::array::from_fn(|a| triangle.iter().map(|v| f64::from(v[a])).sum::<f64>() / 3.0)
    }

    #[test]
    fn the_hole_is_named_to_within_a_cell() {
        let sphere = Mesh::open("fixtures/sphere.stl").unwrap();
        let lattice = Lattice::fit(sphere.bounds(), 64).unwrap();
        let cell = lattice.spacing()[0].to_f64();
        let mut leaks = 0;
        for gone in (0..sphere.triangles().len()).step_by(97) {
            let (open, mut loops) = without(&sphere, &[gone]);
            // A loop whose cap is covered with walls is no hole: any other triangle.
            loops.insert(0, sphere.triangles()[(gone + 31) % sphere.triangles().len()].to_vec());
            let Some(leak) = leak(&sphere, &open, &loops, &lattice) else { continue };
            let place = middle(&sphere.triangles()[gone]);
            assert_eq!(leak.holes.len(), 1, "triangle {gone}");
            assert!((0..3).all(|a| (leak.holes[0].centre[a] - place[a]).abs() < cell), "triangle {gone}");
            assert!(leak.cells > 1000 && leak.holes[0].edges == 3);
            leaks += 1;
        }
        assert!(leaks > 5, "{leaks}");
    }

    #[test]
    fn of_several_holes_the_longest_is_first_and_dry_ones_are_none() {
        let cube = Mesh::open("fixtures/cube.stl").unwrap();
        let lattice = Fit::new(Size::Spacing([1, 1, 1].map(Rational::from))).to(cube.bounds()).unwrap();
        let (open, loops) = without(&cube, &[0, 7]);
        assert_eq!(leak(&cube, &cube, &loops, &lattice), None);
        let covered = cube.triangles()[3].to_vec();
        let found = leak(&cube, &open, &[covered, loops[0].clone(), loops[1].clone()], &lattice).unwrap();
        assert_eq!(found.holes.len(), 2);
        assert!(found.cells > 200_000, "{}", found.cells);
        let length = 64.0 * (2.0 + 2.0_f64.sqrt());
        assert!(found.holes.iter().all(|hole| (hole.length - length).abs() < 1e-9));
        assert!(found.holes[0].centre <= found.holes[1].centre);
        assert_eq!(leak(&cube, &open, &[loops[1].clone(), loops[0].clone()], &lattice).unwrap(), found);
        // A longer one, of more edges.
        let [a, b, c] = cube.triangles()[0];
        let half = std::array::from_fn(|i| (a[i] + b[i]) / 2.0 + 20.0);
        let found = leak(&cube, &open, &[loops[1].clone(), vec![a, half, b, c]], &lattice).unwrap();
        assert_eq!(found.holes.iter().map(|hole| hole.edges).collect::<Vec<_>>(), [4, 3]);
    }

    #[test]
    fn holes_beyond_the_lattice_are_passed_over() {
        let cube = Mesh::open("fixtures/cube.stl").unwrap();
        let lattice = Fit::new(Size::Spacing([1, 1, 1].map(Rational::from))).to(cube.bounds()).unwrap();
        let (open, mut loops) = without(&cube, &[3]);
        for z in [-1e30, -3.0, 66.0, 1e30] {
            loops.push(loops[0].iter().map(|v| [v[0], v[1], z]).collect());
        }
        loops.push(vec![[5.0, 5.0, 0.0]; 3]);
        let found = leak(&cube, &open, &loops, &lattice).unwrap();
        assert_eq!(found.holes.len(), 1);
        assert_eq!(found.holes[0].centre, Hole::of(&loops[0]).centre);
    }
}
