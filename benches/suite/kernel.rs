//! Kernel time: from the mesh in memory to the finished x-fastest bit grid, whose pages are allocated in
//! advance.

use voxelize::grid::CellSource;
use voxelize::run::Demand;
use voxelize::{BitGrid, Lattice, Level, Mesh, Rule, Run, Voxelizer, par};

use super::timing::{median, middle};

/// Returns a cleared grid with allocated pages.
pub fn touched(lattice: &Lattice) -> BitGrid {
    let mut grid = BitGrid::try_from(lattice).expect("the grid fits");
    grid.touch();
    grid
}

/// Returns the median time of the surface kernel in milliseconds, and its grid.
pub fn time(mesh: &Mesh, lattice: &Lattice, threads: usize, level: Level) -> (f64, BitGrid) {
    time_of(Rule::surface(), mesh, lattice, threads, level)
}

/// Returns the median time and the grid of any rule, including its preparation.
pub fn time_of(
    rule: Rule,
    mesh: &Mesh,
    lattice: &Lattice,
    threads: usize,
    level: Level,
) -> (f64, BitGrid) {
    let run = Run::default().threads(threads).level(level);
    let fill = |grid: &mut BitGrid| {
        let prepared = rule
            .prepare(mesh, lattice, &run)
            .expect("memory for what is beside the grid");
        prepared
            .fill(0..lattice.dims()[2], &run, grid)
            .expect("nothing cancels it");
    };
    par::with_threads(threads, || {
        let ms = median(|| touched(lattice), |grid| fill(grid));
        let mut grid = touched(lattice);
        fill(&mut grid);
        (ms, grid)
    })
    .expect("threads start")
}

/// Returns the median time of a field in milliseconds, and the number of cells with a value.
pub fn field_of(
    rule: Rule,
    mesh: &Mesh,
    lattice: &Lattice,
    threads: usize,
    repeats: usize,
) -> (f64, u64) {
    let run = Run::default().threads(threads);
    let mut demand = Demand::new(mesh, lattice, &run);
    demand.values = size_of::<f32>() as u128;
    let plan = demand.field_slabs(1);
    let mut times = vec![];
    let mut cells = 0;
    for _ in 0..repeats {
        let mut slabs = Voxelizer::new(rule)
            .with_run(run)
            .slabs(mesh, lattice, plan)
            .expect("slabs fit");
        while slabs.next().expect("nothing cancels it").is_some() {}
        times.push(slabs.made().filling.as_secs_f64() * 1e3);
        cells = slabs.made().occupied;
    }
    (middle(times), cells)
}
