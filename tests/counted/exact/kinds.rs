//! Ordinary kinds of triangles: arbitrary, aligned, degenerate, far, cut.

use std::f64::consts::FRAC_PI_6;
use std::path::Path;

use voxelize::geom::Triangle;
use voxelize::{Bounds, Fit, Lattice, Mesh, Rational, Size, Snap};

use super::space::{self, Space, random_snap};
use crate::support::check::Case;
use crate::support::meshes::fraction;
use crate::support::random::Random;

/// Returns a soup of triangles.
fn soup(
    random: &mut Random,
    count: usize,
    mut coordinate: impl FnMut(&mut Random) -> f32,
) -> Vec<Triangle> {
    (0..count)
        .map(|_| std::array::from_fn(|_| std::array::from_fn(|_| coordinate(random))))
        .collect()
}

/// Returns a case whose lattice is fitted to its triangles.
fn fitted(triangles: Vec<Triangle>, fit: &Fit) -> Case {
    let lattice = fit
        .to(&Bounds::of(&triangles))
        .expect("a lattice that fits");
    Case { triangles, lattice }
}

fn spacing(text: &str) -> Size {
    let size = fraction(text);
    Size::Spacing([size.clone(), size.clone(), size])
}

/// Returns mostly one, because other triangles could hide errors.
fn few(random: &mut Random, most: i64) -> usize {
    if random.one_in(3) {
        random.whole(2, most) as usize
    } else {
        1
    }
}

/// Arbitrary triangles within a box.
pub fn generic(random: &mut Random) -> Case {
    let count = few(random, 20);
    let cells = random.of(&[5, 9, 13, 24]);
    let triangles = soup(random, count, |r| r.within(-1.0, 1.0) as f32);
    fitted(
        triangles,
        &Fit::longest(cells)
            .snap(random_snap(random))
            .pad(random.index(2)),
    )
}

/// Many triangles of up to `size` cells, spread over a lattice.
pub fn small(random: &mut Random, size: f64) -> Case {
    let space = Space::random(random, 20 + 2 * size as usize);
    let triangles = (0..if size > 4.0 { 6 } else { 40 })
        .map(|_| {
            let corner: [f64; 3] = space.cells.map(|n| random.within(0.0, n - size.min(n)));
            let size = size * random.within(0.01, 1.0);
            std::array::from_fn(|_| space.at(corner.map(|c| c + random.within(0.0, size))))
        })
        .collect();
    space.case(triangles)
}

/// Multiples of `step` on walls that are multiples of `cell`.
pub fn aligned(random: &mut Random, step: f64, cell: &str) -> Case {
    let count = few(random, 12);
    let reach = random.of(&[3, 6, 12]);
    let low = random.of(&[0, 0, -5]);
    let triangles = soup(random, count, |r| {
        ((low + r.whole(0, reach)) as f64 * step) as f32
    });
    let size = if random.one_in(4) { "3/4" } else { cell };
    let fit = Fit::new(spacing(size)).snap(random_snap(random));
    fitted(
        triangles,
        &if random.one_in(4) {
            fit
        } else {
            fit.origin([0, 0, 0].map(Rational::from))
        },
    )
}

/// Many small triangles with corners on walls and centre planes.
pub fn small_aligned(random: &mut Random) -> Case {
    let space = Space::random(random, 24);
    let reach = random.whole(1, 6);
    let triangles = (0..40)
        .map(|_| {
            let corner: [i64; 3] = space.cells.map(|n| random.whole(0, 2 * n as i64 - reach));
            std::array::from_fn(|_| {
                space.at(corner.map(|c| 0.5 * (c + random.whole(0, reach)) as f64))
            })
        })
        .collect();
    space.case(triangles)
}

/// Small triangles with corners on walls and centre planes that end on the last walls.
pub fn small_ending(random: &mut Random) -> Case {
    let reach = random.whole(2, 8);
    let whole = random.one_in(2);
    let count = random.of(&[1, 1, 2]);
    let triangles = soup(random, count, |r| {
        let half = r.whole(0, reach);
        (if whole { half / 2 * 2 } else { half }) as f32 * 0.5
    });
    fitted(
        triangles,
        &Fit::new(spacing("1/1")).origin([0, 0, 0].map(Rational::from)),
    )
}

/// Integer coordinates with an extent divided by `cells`.
pub fn divided(random: &mut Random, cells: usize) -> Case {
    let extent = random.whole(5, 23);
    let mut triangles = vec![[[0.0; 3]; 3], [[extent as f32; 3]; 3]];
    for _ in 0..random.whole(1, 6) {
        let corner = [0; 3].map(|_| random.whole(0, extent - 2));
        triangles.push([0; 3].map(|_| corner.map(|c| (c + random.whole(0, 2)) as f32)));
    }
    if cells > 50 {
        // Large bounds with many cells are slow, so a part of the whole is used.
        let low = random.whole(0, extent - 3);
        let corner = |n: i64| [0; 3].map(|_| Rational::new(n * 100 + 1, 100));
        let size = Rational::new(extent, cells as i64);
        let fit = Fit::new(Size::Spacing([size.clone(), size.clone(), size]));
        let fit = fit
            .origin([0, 0, 0].map(Rational::from))
            .bounds(corner(low), corner(low + 2));
        return fitted(triangles, &fit.snap(random_snap(random)));
    }
    fitted(triangles, &Fit::longest(cells).snap(random_snap(random)))
}

/// Triangles with a relative width of a millionth.
pub fn slivers(random: &mut Random) -> Case {
    let count = few(random, 6);
    let triangles = soup(random, count, |r| r.within(-1.0, 1.0) as f32);
    let thin = triangles.into_iter().map(|[a, b, _]| {
        let along = random.within(0.0, 1.0) as f32;
        let c = std::array::from_fn(|i| {
            a[i] + (b[i] - a[i]) * along + random.within(-1e-6, 1e-6) as f32
        });
        [a, b, c]
    });
    fitted(thin.collect(), &Fit::longest(16).snap(random_snap(random)))
}

/// Needles through several bricks: more than a hundred cells long, a few wide and high.
pub fn needles(random: &mut Random) -> Case {
    let along = random.index(3);
    let mut dims = [0; 3].map(|_| 3 + random.index(9));
    dims[along] = 130 + random.index(20);
    let space = Space::of(random, dims);
    let width = random.of(&[0.0, 1e-4, 0.3, 1.5]);
    let triangles = (0..few(random, 4)).map(|_| {
        let [a, b] = [[0.0, 0.2], [0.8, 1.0]].map(|part: [f64; 2]| {
            let mut at = space.cells.map(|n| random.within(0.0, n));
            at[along] = space.cells[along] * random.within(part[0], part[1]);
            at
        });
        let t = random.within(0.0, 1.0);
        let c: [f64; 3] =
            std::array::from_fn(|i| a[i] + (b[i] - a[i]) * t + random.within(-width, width));
        [a, b, c].map(|corner| space.at(corner))
    });
    let triangles = triangles.collect();
    space.case(triangles)
}

/// Points, segments, three corners on a line; on walls and off.
pub fn degenerate(random: &mut Random) -> Case {
    let step = random.of(&[1.0, 0.5, 0.1, 0.37]);
    let count = few(random, 12);
    let corners = soup(random, count, |r| (r.whole(0, 6) as f64 * step) as f32);
    let triangles = corners.into_iter().map(|[a, b, _]| match random.index(4) {
        0 => [a, a, a],
        1 => [a, b, a],
        2 => [b, a, a],
        _ => [a, b, std::array::from_fn(|i| (a[i] + b[i]) / 2.0)],
    });
    let triangles: Vec<Triangle> = triangles.collect();
    let size = random.of(&["1/1", "1/10", "7/10", "1/2"]);
    let size = if step > 0.2 && size == "1/10" {
        "1/3"
    } else {
        size
    };
    let anchor = [0, 0, 0].map(Rational::from);
    fitted(
        triangles,
        &Fit::new(spacing(size))
            .origin(anchor)
            .snap(random_snap(random)),
    )
}

/// A million away; integer extents and a few cells of a thousandth.
pub fn far(random: &mut Random) -> Case {
    let count = few(random, 8);
    let triangles = soup(random, count, |r| 1e6 + r.index(64) as f32 / 16.0);
    if random.one_in(2) {
        return fitted(triangles, &Fit::longest(13).snap(random_snap(random)));
    }
    let at = random.of(&triangles)[random.index(3)];
    let low = at
        .map(|c| Rational::from_f32(c).expect("finite") - Rational::new(random.whole(0, 9), 1000));
    let high = low.each_ref().map(|c| c + &Rational::new(9, 1000));
    fitted(
        triangles,
        &Fit::new(spacing("1/1000"))
            .bounds(low, high)
            .snap(random_snap(random)),
    )
}

/// A million cells long, seen through a window of a few.
pub fn huge(random: &mut Random) -> Case {
    let (reach, size) = random.of(&[
        (1e6, "1/1"),
        (1e5, "1/10"),
        (1e9, "27/256"),
        (3e5, "1/3"),
        (3e20, "1/1"),
        (3e38, "1/7"),
    ]);
    let count = few(random, 20);
    let triangles = soup(random, count, |r| match r.index(3) {
        0 => r.whole(-4, 4) as f32,
        _ => r.within(-reach, reach) as f32,
    });
    let seen = random.of(&triangles);
    let s = random.within(0.0, 0.5);
    let t = random.within(0.0, 0.5);
    let at: [f64; 3] = std::array::from_fn(|i| {
        let [a, b, c] = seen.map(|v| f64::from(v[i]));
        let at = (a + s * (b - a) + t * (c - a)).round();
        if at.abs() < 1e15 { at } else { 0.0 }
    });
    space::window(
        triangles,
        at,
        size,
        random.whole(4, 10),
        random_snap(random),
    )
}

/// Coordinates below the smallest normal float, and zeros of both signs.
pub fn subnormal(random: &mut Random) -> Case {
    let count = few(random, 8);
    let tiny = f32::from_bits(1);
    let triangles = soup(random, count, |r| match r.index(4) {
        0 => -0.0,
        1 => 0.0,
        2 => r.whole(-40, 40) as f32 * tiny,
        _ => r.within(-1e-41, 1e-41) as f32,
    });
    let point = Bounds::of(&triangles);
    let fit = if point.min == point.max {
        Fit::new(spacing("1/7"))
    } else {
        Fit::longest(7)
    };
    fitted(triangles, &fit.snap(random_snap(random)))
}

/// Bounds of a CAD file: -2.7e-16 … 1.375.
pub fn cad_bounds(random: &mut Random) -> Case {
    let mut triangles = vec![[[-2.5, -1.25, -2.731_85e-16]; 3], [[2.5, 1.25, 1.375]; 3]];
    for _ in 0..4 {
        let corner = [
            random.whole(-20, 16),
            random.whole(-10, 6),
            random.whole(0, 7),
        ];
        let mut vertex = || -> [f32; 3] {
            let at = corner.map(|c| (c + random.whole(0, 4)) as f32 * 0.125);
            [
                at[0],
                at[1],
                if at[2] == 0.0 { -2.731_85e-16 } else { at[2] },
            ]
        };
        triangles.push([vertex(), vertex(), vertex()]);
    }
    fitted(
        triangles,
        &Fit::longest(random.of(&[40, 24, 60])).snap(random_snap(random)),
    )
}

/// A sphere with vertices on whole, half or eighth cells.
pub fn snapped_sphere(random: &mut Random) -> Case {
    let radius = random.within(3.0, 6.0);
    let step = random.of(&[1.0, 0.5, 0.125]);
    let vertex = |i: usize, j: usize| -> [f32; 3] {
        let a = i as f64 * FRAC_PI_6;
        let b = j as f64 * FRAC_PI_6;
        [b.sin() * a.cos(), b.sin() * a.sin(), b.cos()]
            .map(|c| ((c * radius / step).round() * step) as f32)
    };
    let quads = (0..12).flat_map(|i| (0..6).map(move |j| (i, j)));
    let triangles = quads.flat_map(|(i, j)| {
        let [a, b, c, d] = [
            vertex(i, j),
            vertex(i + 1, j),
            vertex(i + 1, j + 1),
            vertex(i, j + 1),
        ];
        [[a, b, c], [a, c, d]]
    });
    let triangles: Vec<Triangle> = triangles.collect();
    fitted(triangles, &Fit::new(spacing("1/1")).pad(random.index(2)))
}

/// Some triangles of a committed mesh, coarse and fine.
pub fn fixtures(random: &mut Random) -> Case {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("fixtures")
        .map(|e| e.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "stl"));
    files.sort();
    let mesh = Mesh::open(&files[random.index(files.len())]).expect("a good mesh");
    let cells = random.of(&[8, 20, 64, 256]);
    let bounds = mesh.bounds();
    // The corners preserve the lattice of the whole mesh.
    let mut triangles = vec![[bounds.min; 3], [bounds.max; 3]];
    let longest = (0..3)
        .map(|a| bounds.max[a] - bounds.min[a])
        .fold(0.0, f32::max);
    let mut compared = 0.0;
    let mut tries = 0;
    while compared < 8e3 && tries < 50 {
        let triangle = mesh.triangles()[random.index(mesh.triangles().len())];
        let own = Bounds::of(&[triangle]);
        let cells: f32 = (0..3)
            .map(|a| (own.max[a] - own.min[a]) / longest * cells as f32 + 2.0)
            .product();
        if cells < 2e4 {
            triangles.push(triangle);
            compared += cells;
        }
        tries += 1;
    }
    fitted(triangles, &Fit::longest(cells).snap(random_snap(random)))
}

/// Non-cubic cells.
pub fn stretched(random: &mut Random) -> Case {
    let count = few(random, 8);
    let whole = random.one_in(2);
    let triangles = soup(random, count, |r| {
        if whole {
            r.whole(0, 9) as f32
        } else {
            r.within(-3.0, 3.0) as f32
        }
    });
    let mut dims = || random.whole(1, 12) as usize;
    let size = Size::Stretched([dims(), dims(), dims()]);
    let point = Bounds::of(&triangles);
    let size = if point.min == point.max {
        spacing("1/3")
    } else {
        size
    };
    fitted(triangles, &Fit::new(size).snap(random_snap(random)))
}

/// Bounds that cut the mesh.
pub fn cut_open(random: &mut Random) -> Case {
    let count = few(random, 12);
    let whole = random.one_in(2);
    let triangles = soup(random, count, |r| {
        if whole {
            r.whole(0, 9) as f32
        } else {
            r.within(0.0, 9.0) as f32
        }
    });
    let low = [0; 3].map(|_| random.whole(0, 4));
    let size = random.of(&["1/1", "1/2", "3/10"]);
    let high = low.map(|c| Rational::from(c + random.whole(1, 5)));
    let fit = Fit::new(spacing(size)).bounds(low.map(Rational::from), high);
    fitted(triangles, &fit.snap(random_snap(random)))
}

/// Closed axes that the mesh extends beyond, as in a lattice of another mesh.
pub fn beyond_closed(random: &mut Random) -> Case {
    let case = cut_open(random);
    let closed = [0; 3].map(|_| random.one_in(2));
    let origin = case.lattice.origin().clone();
    let spacing = case.lattice.spacing().clone();
    let lattice = Lattice::new(case.lattice.dims(), origin, spacing, closed).expect("as before");
    let lattice = lattice.with_snap(if random.one_in(2) {
        Snap::Float
    } else {
        Snap::None
    });
    Case { lattice, ..case }
}
