//! Meshes, lattices and grids that several suites use.

use std::ops::{Mul, Sub};
use std::path::PathBuf;

use voxelize::geom::Triangle;
use voxelize::{BitGrid, Bounds, Fit, Lattice, Mesh, RULES, Rational, Rule, Ties, Voxelizer};

/// Returns the folder of fixtures.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Returns the fixture of that name.
pub fn fixture(name: &str) -> Mesh {
    Mesh::open(folder().join(name)).expect(name)
}

/// Returns every mesh in the folder of fixtures, by name.
pub fn fixtures() -> Vec<(String, Mesh)> {
    let entries = std::fs::read_dir(folder()).expect("the folder of fixtures");
    let names = entries.map(|entry| {
        let name = entry.expect("an entry").file_name();
        name.into_string().expect("UTF-8")
    });
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".stl")).collect();
    names.sort();
    assert!(names.len() >= 12, "few fixtures: {names:?}");
    names
        .into_iter()
        .map(|name| (name.clone(), fixture(&name)))
        .collect()
}

/// Returns every rule with all its ties.
pub fn rules() -> Vec<Rule> {
    let with_ties = |rule: Rule| match rule.ties() {
        Some(_) => Ties::ALL
            .map(|ties| rule.with_ties(ties).expect("it has ties"))
            .to_vec(),
        None => vec![rule],
    };
    let rules: Vec<_> = RULES.iter().flat_map(|row| with_ties(row.rule)).collect();
    assert!(rules.len() > RULES.len() && RULES.len() >= 3);
    rules
}

/// Returns the rules that accept the mesh, without the slow ones: the inside of a triangle soup takes seconds
/// each time.
pub fn rules_for(mesh: &Mesh) -> Vec<Rule> {
    let is_soup = mesh.edge_counts().open_edges as usize > mesh.triangles().len();
    let is_fast = |rule: &Rule| !is_soup || rule.inside().is_none();
    rules()
        .into_iter()
        .filter(|rule| is_fast(rule) && takes(rule, mesh))
        .collect()
}

/// Reports whether a rule accepts the mesh. Shares of cells need a closed one.
pub fn takes(rule: &Rule, mesh: &Mesh) -> bool {
    !matches!(rule, Rule::Fraction { .. }) || mesh.edge_counts().is_closed()
}

/// Returns the cross product.
pub fn cross<T: Copy + Mul<Output = T> + Sub<Output = T>>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Returns `a - b`.
pub fn minus<T: Copy + Sub<Output = T>>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Parses `p/q`.
pub fn fraction(text: &str) -> Rational {
    Rational::parse_fraction(text).expect("a fraction")
}

/// Returns the mesh of finite triangles.
pub fn mesh_of(triangles: Vec<Triangle>) -> Mesh {
    Mesh::from_triangles(triangles).expect("finite coordinates")
}

/// Returns the lattice fitted to a mesh.
pub fn fitted(fit: Fit, mesh: &Mesh) -> Lattice {
    fit.to(mesh.bounds()).expect("it fits")
}

/// Returns the coordinates of the cells of a grid, x fastest.
pub fn each_cell([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])))
}

/// Returns the occupied cells.
pub fn occupied(voxelizer: Voxelizer, mesh: &Mesh, lattice: &Lattice) -> BitGrid {
    let made = voxelizer.run(mesh, lattice).expect("it fits");
    made.voxels.into_occupied().expect("bits")
}

/// Returns the cells that `mesh` touches.
pub fn surface(mesh: &Mesh, lattice: &Lattice, ties: Ties) -> BitGrid {
    occupied(Voxelizer::new(Rule::Surface { ties }), mesh, lattice)
}

/// Returns the mesh with every vertex mapped.
pub fn mapped(mesh: &Mesh, change: impl Fn([f32; 3]) -> [f32; 3]) -> Mesh {
    let triangles: Vec<Triangle> = mesh.triangles().iter().map(|t| t.map(&change)).collect();
    Mesh::from_triangles(triangles).expect("finite")
}

/// Returns the exact longest extent of the bounds.
pub fn extent(bounds: &Bounds) -> Rational {
    let [min, max] = bounds.exact().expect("triangles");
    (0..3).map(|a| &max[a] - &min[a]).max().expect("three axes")
}

/// Returns the length of `n` cells along an axis.
pub fn cells(n: i64, spacing: &Rational) -> Rational {
    spacing * &Rational::from(n)
}

/// Returns a grid of `dims` with the mapped cells of `from`.
pub fn remapped(
    from: &BitGrid,
    dims: [usize; 3],
    to: impl Fn([usize; 3]) -> Option<[usize; 3]>,
) -> BitGrid {
    let mut grid = BitGrid::new(dims).expect("it fits");
    from.iter().filter_map(to).for_each(|cell| grid.set(cell));
    grid
}

/// Returns the part of `from` that starts at cell `low`.
pub fn cropped(from: &BitGrid, low: [usize; 3], dims: [usize; 3]) -> BitGrid {
    remapped(from, dims, |cell| {
        let inside = (0..3).all(|a| cell[a] >= low[a] && cell[a] < low[a] + dims[a]);
        inside.then(|| std::array::from_fn(|a| cell[a] - low[a]))
    })
}

/// Returns the part of `from` that starts at cell `low`, with each cell outside folded onto the nearest cell
/// in it.
pub fn folded(from: &BitGrid, low: [usize; 3], dims: [usize; 3]) -> BitGrid {
    let fold = |cell: [usize; 3], a: usize| cell[a].clamp(low[a], low[a] + dims[a] - 1) - low[a];
    remapped(from, dims, |cell| {
        Some(std::array::from_fn(|a| fold(cell, a)))
    })
}
