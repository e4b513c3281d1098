//! Cutting a lattice into tiles, and padding it.

use voxelize::{BitGrid, Bounds, Fit, Lattice, Mesh, Rational, Size, Snap, Ties};

use super::{cells_of, shells};
use crate::support::meshes::{cells, cropped, extent, fixture, fixtures, folded, surface};
use crate::support::suite::Counts;

/// Returns the tile of `whole` from wall `low` to wall `high`, in the form of `--bounds`.
fn tile(whole: &Lattice, mesh: &Bounds, low: [usize; 3], high: [usize; 3]) -> Lattice {
    let wall = |at: [usize; 3]| {
        std::array::from_fn(|a| &whole.origin()[a] + &cells(at[a] as i64, &whole.spacing()[a]))
    };
    let fit = Fit::new(Size::Spacing(whole.spacing().clone())).bounds(wall(low), wall(high));
    let tile = fit.snap(whole.snap()).to(mesh).expect("it fits");
    assert_eq!(tile.dims(), std::array::from_fn(|a| high[a] - low[a]));
    tile
}

/// Returns a lattice whose walls the mesh ends on along its longest axis, and one without this property.
fn fits(mesh: &Mesh) -> Vec<Fit> {
    let size = extent(mesh.bounds()) * Rational::new(2, 41);
    let off_walls = Fit::new(Size::Spacing([size.clone(), size.clone(), size]));
    let fits = [Fit::longest(20), off_walls];
    fits.into_iter()
        .flat_map(|fit| [fit.clone().snap(Snap::Float), fit.snap(Snap::None)])
        .collect()
}

/// Returns these lattices with all ties.
fn each_fit(mesh: &Mesh) -> impl Iterator<Item = (Fit, Ties)> {
    let all = fits(mesh).into_iter();
    all.flat_map(|fit| Ties::ALL.map(|ties| (fit.clone(), ties)))
}

/// Tiles of a fitted lattice, cut at one or two walls of every axis, are parts of the whole.
pub fn tiles_join() -> Counts {
    let mut compared = 0;
    let mut occupied = 0;
    for (name, mesh) in fixtures() {
        for (fit, rule) in fits(&mesh)
            .iter()
            .flat_map(|fit| shells().map(|rule| (fit, rule)))
        {
            let whole = fit.to(mesh.bounds()).expect("it fits");
            let bits = cells_of(rule, &mesh, &whole);
            let cuts = whole.dims().map(|n| {
                let mut walls = vec![0, n / 3, n / 2, n];
                walls.dedup();
                walls.windows(2).map(|w| (w[0], w[1])).collect::<Vec<_>>()
            });
            let mut joined = 0;
            for &(x0, x1) in &cuts[0] {
                for &(y0, y1) in &cuts[1] {
                    for &(z0, z1) in &cuts[2] {
                        let low = [x0, y0, z0];
                        let high = [x1, y1, z1];
                        let part = tile(&whole, mesh.bounds(), low, high);
                        let found = cells_of(rule, &mesh, &part);
                        let expected = cropped(&bits, low, part.dims());
                        assert_eq!(found, expected, "{name}: {low:?} to {high:?}, {rule:?}");
                        joined += found.count();
                        compared += 1;
                    }
                }
            }
            assert_eq!(joined, bits.count(), "{name}: cells of all tiles");
            occupied += joined;
        }
    }
    vec![("tiles", compared), ("cells", occupied)]
}

/// The one exception: if the mesh ends exactly on the last wall of a tile and the whole continues beyond it,
/// ties up marks one layer more, because the tile alone would lose that face.
pub fn a_tile_where_the_mesh_ends() -> Counts {
    let mesh = fixture("cube.stl");
    let one = || Size::Spacing([1, 1, 1].map(Rational::from));
    let whole = Fit::new(one()).pad(1).to(mesh.bounds()).expect("it fits");
    let mut more = 0;
    for axis in 0..3 {
        // Cell 0 is padding, so the mesh ends on wall 65 of 66.
        let mut high = whole.dims();
        high[axis] = 65;
        let part = tile(&whole, mesh.bounds(), [0; 3], high);
        assert!(part.closed()[axis]);
        for ties in Ties::ALL {
            let bits = surface(&mesh, &whole, ties);
            let found = surface(&mesh, &part, ties);
            let cut = cropped(&bits, [0; 3], high);
            if ties == Ties::Up {
                assert_eq!(found, folded(&bits, [0; 3], high), "axis {axis}");
                more += found.count() - cut.count();
            } else {
                assert_eq!(found, cut, "axis {axis}, {ties:?}");
            }
        }
    }
    // The far face covers 65 × 65 cells with its rim in the layers above. The border of 65² - 63² cells in
    // the layer below is marked anyway.
    assert_eq!(more, 3 * 63 * 63);
    vec![("tiles", 3), ("cells more", more)]
}

/// The first walls move down with all others, and the mesh lies above them. The last walls of a closed axis
/// move outwards alone. So padding moves cells of parts on the last wall from the last layer to the layer
/// beyond: pad 0 is pad N with its rim folded back, under all ties. If nothing lies on a last wall, the cells
/// are equal at another position.
pub fn padding_folds_away() -> Counts {
    let mut compared = 0;
    let mut same = 0;
    for (name, mesh) in fixtures() {
        for (fit, ties) in each_fit(&mesh) {
            let plain = fit.to(mesh.bounds()).expect("it fits");
            let dims = plain.dims();
            let bits = surface(&mesh, &plain, ties);
            let on_wall = |a: usize, high: bool| {
                let (v, wall) = if high {
                    (mesh.bounds().max[a], dims[a])
                } else {
                    (mesh.bounds().min[a], 0)
                };
                plain.axis(a).index(v) == Rational::from(wall as i64)
            };
            for pad in [1, 2] {
                let padded = fit.clone().pad(pad).to(mesh.bounds()).expect("it fits");
                let found = surface(&mesh, &padded, ties);
                assert_eq!(
                    folded(&found, [pad; 3], dims),
                    bits,
                    "{name}, pad {pad}, {ties:?}"
                );
                let rim = |a: usize, high: bool| on_wall(a, high) && takes_rim(ties, high);
                check_rim(&name, &found, dims, pad, rim);
                let equal = (0..3).all(|a| !rim(a, false) && !rim(a, true));
                if equal {
                    assert_eq!(found.count(), bits.count(), "{name}, pad {pad}, {ties:?}");
                }
                same += u64::from(equal);
                compared += 1;
            }
        }
    }
    vec![("lattices", compared), ("lattices that are equal", same)]
}

/// Reports whether a face on the outer wall marks the layer beyond it.
fn takes_rim(ties: Ties, high: bool) -> bool {
    match ties {
        Ties::Both => true,
        Ties::Up => high,
        Ties::None => false,
    }
}

/// Checks that only the layers allowed by `rim` contain cells outside the plain lattice.
fn check_rim(
    name: &str,
    padded: &BitGrid,
    dims: [usize; 3],
    pad: usize,
    rim: impl Fn(usize, bool) -> bool,
) {
    for cell in padded.iter() {
        for a in 0..3 {
            let below = cell[a] < pad;
            let above = cell[a] >= pad + dims[a];
            let first = cell[a] + 1 == pad || cell[a] == pad + dims[a];
            let allowed = !(below || above) || first && rim(a, above);
            assert!(
                allowed,
                "{name}: {cell:?} in the padding of {pad}, axis {a}"
            );
        }
    }
}

/// A lattice that starts whole cells earlier or later, and ends on the same walls, contains the same cells at
/// other places.
pub fn the_lattice_grows_and_shrinks() -> Counts {
    let mut compared = 0;
    for (name, mesh) in fixtures() {
        for (fit, ties) in each_fit(&mesh) {
            let plain = fit.to(mesh.bounds()).expect("it fits");
            let bits = surface(&mesh, &plain, ties);
            for low in [[1, 0, 0], [0, 2, 0], [3, 1, 4], [64, 0, 1]] {
                let grown = from_wall(&plain, low.map(|n| -n));
                let found = surface(&mesh, &grown, ties);
                let low = low.map(|n| n as usize);
                assert_eq!(
                    cropped(&found, low, plain.dims()),
                    bits,
                    "{name}, {low:?} earlier, {ties:?}"
                );
                assert!(
                    ties == Ties::Both || found.count() == bits.count(),
                    "{name}, {low:?}, {ties:?}"
                );
                let later: [usize; 3] = std::array::from_fn(|a| low[a].min(plain.dims()[a] - 1));
                let shrunk = from_wall(&plain, later.map(|n| n as i64));
                let found = surface(&mesh, &shrunk, ties);
                assert_eq!(
                    found,
                    cropped(&bits, later, shrunk.dims()),
                    "{name}, {later:?} later, {ties:?}"
                );
                compared += 2;
            }
        }
    }
    vec![("lattices", compared)]
}

/// Returns the lattice from wall `low`, which may be below zero, to the same last walls.
fn from_wall(plain: &Lattice, low: [i64; 3]) -> Lattice {
    let origin = std::array::from_fn(|a| &plain.origin()[a] + &cells(low[a], &plain.spacing()[a]));
    let dims = std::array::from_fn(|a| (plain.dims()[a] as i64 - low[a]) as usize);
    let lattice = Lattice::new(dims, origin, plain.spacing().clone(), plain.closed());
    lattice.expect("few cells").with_snap(plain.snap())
}
