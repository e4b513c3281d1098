//! Kernel time: mesh in memory to the finished x-fastest bit grid, whose pages are there before.

use voxelize::{BitGrid, Lattice, Level, Mesh, Rule, Run, par};

use super::timing::median;

/// A cleared grid whose pages are all there.
pub fn touched(lattice: &Lattice) -> BitGrid {
    let mut grid = BitGrid::try_from(lattice).expect("the grid fits");
    grid.touch();
    grid
}

/// The median time of the surface kernel in milliseconds, and the grid it makes.
pub fn time(mesh: &Mesh, lattice: &Lattice, threads: usize, level: Level) -> (f64, BitGrid) {
    time_of(Rule::surface(), mesh, lattice, threads, level)
}

/// The same for any rule, with all that it prepares.
pub fn time_of(rule: Rule, mesh: &Mesh, lattice: &Lattice, threads: usize, level: Level) -> (f64, BitGrid) {
    let run = Run::default().threads(threads).level(level);
    let fill = |grid: &mut BitGrid| {
        let prepared = rule.prepare(mesh, lattice, &run).expect("memory for what is beside the grid");
        prepared.fill(0..lattice.dims()[2], &run, grid).expect("nothing cancels it");
    };
    par::with_threads(threads, || {
        let ms = median(|| touched(lattice), |grid| fill(grid));
        let mut grid = touched(lattice);
        fill(&mut grid);
        (ms, grid)
    })
    .expect("threads start")
}
