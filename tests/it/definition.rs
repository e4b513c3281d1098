//! The kernels implement the definition: every level and all ties are compared with `ExactTriangle::touches`
//! cell by cell, on triangles of many kinds.

use voxelize::geom::tri_box::ExactTriangle;
use voxelize::geom::{Bounds, Triangle};
use voxelize::{
    BitGrid, Fit, Lattice, Level, Mesh, Rational, Rule, Run, Size, Snap, Ties, Voxelizer,
};

use crate::support::random::Random;

/// Returns a number from −1 to 1.
fn signed(random: &mut Random) -> f32 {
    2.0 * random.unit() - 1.0
}

/// Finds the cells of the definition by brute force.
fn by_definition(triangles: &[Triangle], lattice: &Lattice, ties: Ties) -> BitGrid {
    let mut grid = BitGrid::try_from(lattice).unwrap();
    let dims = lattice.dims();
    let maps: [_; 3] = std::array::from_fn(|a| lattice.axis(a));
    for triangle in triangles {
        let index = triangle.map(|v| std::array::from_fn(|a| maps[a].index(v[a])));
        let exact = ExactTriangle::new(&index);
        let range: [_; 3] = std::array::from_fn(|a| {
            let of = |v: &[Rational; 3]| v[a].clone();
            let low = index.iter().map(of).min().unwrap().floor().unwrap() - 1;
            let high = index.iter().map(of).max().unwrap().ceil().unwrap();
            low.max(0)..=high.min(dims[a] as i64 - 1)
        });
        for k in range[2].clone() {
            for j in range[1].clone() {
                for i in range[0].clone() {
                    let cell = [i, j, k];
                    let last = std::array::from_fn(|a| {
                        lattice.closed()[a] && cell[a] == dims[a] as i64 - 1
                    });
                    if exact.touches(cell, ties, last) {
                        grid.set(cell.map(|c| c as usize));
                    }
                }
            }
        }
    }
    grid
}

/// Compares every level with the definition. Returns the number of compared triangles.
fn compare(name: &str, triangles: &[Triangle], fit: impl Fn(&Bounds) -> Lattice) -> usize {
    let mut compared = 0;
    for triangle in triangles {
        let mesh = Mesh::from_triangles(vec![*triangle]).unwrap();
        let lattice = fit(mesh.bounds());
        for ties in Ties::ALL {
            let expected = by_definition(mesh.triangles(), &lattice, ties);
            for level in Level::available() {
                let run = Run::default().threads(1).level(level);
                let voxelize::Voxelized { voxels: found, .. } =
                    Voxelizer::new(Rule::Surface { ties })
                        .with_run(run)
                        .run(&mesh, &lattice)
                        .unwrap();
                assert_eq!(
                    *found.occupied().unwrap(),
                    expected,
                    "{name}: {triangle:?} in {lattice:?}, ties {ties:?}, {level:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 0, "{name}: nothing was compared");
    compared
}

fn soup(
    random: &mut Random,
    count: usize,
    mut coordinate: impl FnMut(&mut Random) -> f32,
) -> Vec<Triangle> {
    (0..count)
        .map(|_| std::array::from_fn(|_| std::array::from_fn(|_| coordinate(random))))
        .collect()
}

fn spaced(size: &str, snap: Snap) -> impl Fn(&Bounds) -> Lattice {
    let size = Rational::parse(size).unwrap();
    move |bounds| {
        let size = Size::Spacing([size.clone(), size.clone(), size.clone()]);
        Fit::new(size)
            .origin([0, 0, 0].map(Rational::from))
            .snap(snap)
            .to(bounds)
            .unwrap()
    }
}

#[test]
fn generic_triangles() {
    let mut random = Random(1);
    compare("generic", &soup(&mut random, 300, signed), |b| {
        Lattice::fit(b, 13).unwrap()
    });
    compare("large", &soup(&mut random, 30, signed), |b| {
        Lattice::fit(b, 40).unwrap()
    });
    compare("padded", &soup(&mut random, 50, signed), |b| {
        Fit::longest(9).pad(1).to(b).unwrap()
    });
}

#[test]
fn aligned_triangles() {
    let mut random = Random(2);
    let whole = soup(&mut random, 400, |r| r.below(7) as f32);
    compare("whole", &whole, spaced("1", Snap::Float));
    compare("whole, not snapped", &whole, spaced("1", Snap::None));
    let halves = soup(&mut random, 400, |r| r.below(13) as f32 / 2.0 - 3.0);
    compare("halves", &halves, spaced("1", Snap::Float));
    compare("halves in cells of two", &halves, spaced("2", Snap::None));
    let fitted = |bounds: &Bounds| Lattice::fit(bounds, 24).unwrap();
    compare(
        "24ths",
        &soup(&mut random, 100, |r| r.below(11) as f32),
        fitted,
    );
}

#[test]
fn decimal_triangles() {
    let mut random = Random(3);
    let tenths = soup(&mut random, 400, |r| r.below(13) as f32 / 10.0);
    compare("tenths", &tenths, spaced("0.1", Snap::Float));
    compare("tenths, not snapped", &tenths, spaced("0.1", Snap::None));
    compare("twentieths", &tenths, spaced("0.2", Snap::Float));
    // The double nearest to a tenth, and a slightly smaller decimal.
    for size in [
        "0.1000000000000000055511151231257827021182",
        "0.0999999999999999999999999999999999999999",
    ] {
        compare("forty digits", &tenths, spaced(size, Snap::Float));
        compare(
            "forty digits, not snapped",
            &tenths,
            spaced(size, Snap::None),
        );
    }
    compare("thirds", &tenths, spaced("1/3", Snap::None));
}

#[test]
fn slivers_and_degenerate_triangles() {
    let mut random = Random(4);
    let slivers: Vec<_> = soup(&mut random, 200, signed)
        .into_iter()
        .map(|[a, b, _]| [a, b, a.map(|c| c + 1e-6 * c.fract())])
        .collect();
    compare("slivers", &slivers, |b| Lattice::fit(b, 20).unwrap());
    let corners = soup(&mut random, 300, |r| r.below(5) as f32);
    let degenerate: Vec<_> = corners
        .iter()
        .flat_map(|&[a, b, _]| [[a, a, a], [a, b, a], [a, a, b]])
        .collect();
    compare("degenerate", &degenerate, spaced("1", Snap::Float));
    compare("degenerate", &degenerate, spaced("0.7", Snap::None));
    let flat: Vec<_> = corners
        .iter()
        .map(|t| t.map(|[x, y, _]| [x, y, 2.0]))
        .collect();
    compare("flat", &flat, spaced("1", Snap::Float));
    let upright: Vec<_> = corners
        .iter()
        .map(|t| t.map(|[x, y, z]| [x, x + y - x, z]))
        .collect();
    compare("upright", &upright, spaced("0.5", Snap::Float));
}

#[test]
fn given_bounds_cut_the_mesh() {
    let mut random = Random(5);
    let cut = |low: i64, high: i64| {
        move |mesh: &Bounds| {
            let corner = |n: i64| [Rational::from(n), Rational::from(n), Rational::from(n)];
            let size = Size::Spacing([Rational::ONE, Rational::ONE, Rational::ONE]);
            Fit::new(size)
                .bounds(corner(low), corner(high))
                .to(mesh)
                .unwrap()
        }
    };
    let whole = soup(&mut random, 300, |r| r.below(9) as f32);
    compare("cut at walls", &whole, cut(2, 6));
    compare(
        "cut by half",
        &soup(&mut random, 100, |r| 10.0 * signed(r)),
        cut(-3, 4),
    );
}

#[test]
fn far_and_huge_triangles() {
    let mut random = Random(6);
    let far = soup(&mut random, 100, |r| 1e6 + r.below(64) as f32 / 16.0);
    compare("far", &far, |b| Lattice::fit(b, 17).unwrap());
    let huge = soup(&mut random, 60, |r| 1e9 * signed(r));
    let unit = |mesh: &Bounds| {
        let size = Size::Spacing([Rational::ONE, Rational::ONE, Rational::ONE]);
        let corner = |n: i64| [Rational::from(n), Rational::from(n), Rational::from(n)];
        Fit::new(size)
            .bounds(corner(-8), corner(8))
            .to(mesh)
            .unwrap()
    };
    compare("huge", &huge, unit);
    let tiny = soup(&mut random, 60, |r| signed(r) * 1e-41);
    compare("subnormal", &tiny, |b| Lattice::fit(b, 6).unwrap());
}
