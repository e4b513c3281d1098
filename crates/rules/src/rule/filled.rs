//! The filled rule: a cell is occupied iff its centre is inside the mesh, or the mesh intersects the open
//! interior of the cell. If the mesh is closed, these are the cells that share volume with it.
//!
//! With the option `shell`, the rule keeps only the outer cells. If the thickness is a number of steps, a cell
//! stays occupied iff an empty cell or the outside of the grid is within that number of steps. A step leads from
//! a cell to any of its 26 neighbours. If the thickness is a distance, a cell stays occupied iff the mesh touches
//! it, or its centre is within that distance of the mesh.

use std::ops::Range;

use super::covered::CoveredCells;
use super::inside::{Inside, PreparedInside};
use super::{FillCells, Stats};
use crate::run::Run;
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, CellsMut, erode};
use voxelize_core::par::Progress;

/// Occupies the cells that are inside, and the cells that the mesh touches under the ties of the rule.
pub(super) struct FilledCells<'a> {
    pub touched: CoveredCells<'a>,
    pub inside: PreparedInside<'a>,
    pub shell: PreparedShell<'a>,
}

/// Cells that are kept.
pub(super) enum PreparedShell<'a> {
    /// All cells.
    All,
    /// Cells within this number of steps of an empty cell.
    Steps(usize),
    /// Touched cells, and the cells of this offset of the mesh.
    Wall(Box<CoveredCells<'a>>),
}

impl FilledCells<'_> {
    fn fill_all(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
        let Stats { snapped, .. } = self.touched.occupy(layers.clone(), run, grid)?;
        let inside = self.inside.fill(layers.clone(), run, grid)?.inside;
        self.inside.close(layers, grid);
        Ok(Stats {
            snapped,
            inside,
            ..Stats::default()
        })
    }
}

/// Removes those cells of these layers that have no empty cell, and not the outside of the grid, within
/// `steps` steps. The first argument has the dims of the lattice. `fill_all` fills the adjacent layers that
/// the result depends on.
pub(super) fn hollow_out(
    [nx, ny, nz]: [usize; 3],
    layers: Range<usize>,
    steps: usize,
    run: &Run,
    grid: &mut BitGrid,
    fill_all: impl Fn(Range<usize>, &mut BitGrid) -> Result<Stats>,
) -> Result<()> {
    if [nx, ny, nz].iter().any(|n| steps > (n - 1) / 2) {
        return Ok(());
    }
    let around = layers.start.saturating_sub(steps)..nz.min(layers.end + steps);
    let mut core = BitGrid::new([nx, ny, around.len()])?;
    core.put(grid, layers.start - around.start);
    for border_layers in [around.start..layers.start, layers.end..around.end] {
        if !border_layers.is_empty() {
            let mut border = BitGrid::new([nx, ny, border_layers.len()])?;
            fill_all(border_layers.clone(), &mut border)?;
            core.put(&border, border_layers.start - around.start);
        }
    }
    run.check()?;
    erode::erode(&mut core, steps)?;
    grid.remove(&core, layers.start - around.start);
    Ok(())
}

impl FillCells for FilledCells<'_> {
    fn fill(&self, layers: Range<usize>, run: &Run, cells: CellsMut) -> Result<Stats> {
        let grid = cells.bits()?;
        match &self.shell {
            PreparedShell::All => self.fill_all(layers, run, grid),
            PreparedShell::Steps(steps) => self.fill_shell(layers, *steps, run, grid, None),
            PreparedShell::Wall(_) => {
                let mut cavity = BitGrid::new(grid.dims())?;
                self.hollow(layers, run, grid, &mut cavity)
            }
        }
    }

    fn hollow(
        &self,
        layers: Range<usize>,
        run: &Run,
        grid: &mut BitGrid,
        cavity: &mut BitGrid,
    ) -> Result<Stats> {
        match &self.shell {
            PreparedShell::All => self.fill_all(layers, run, grid),
            PreparedShell::Steps(steps) => self.fill_shell(layers, *steps, run, grid, Some(cavity)),
            PreparedShell::Wall(offset) => {
                let stats = self.fill_all(layers.clone(), run, grid)?;
                offset.occupy(layers.clone(), run, cavity)?;
                self.touched.occupy(layers, run, cavity)?;
                cavity.invert_within(grid);
                grid.remove(cavity, 0);
                Ok(stats)
            }
        }
    }

    fn inside(&self) -> Option<Inside> {
        Some(self.inside.used)
    }
}

impl FilledCells<'_> {
    /// Occupies the cells within a number of steps of an empty cell. `cavity` gets the other cells of the rule.
    fn fill_shell(
        &self,
        layers: Range<usize>,
        steps: usize,
        run: &Run,
        grid: &mut BitGrid,
        mut cavity: Option<&mut BitGrid>,
    ) -> Result<Stats> {
        let stats = self.fill_all(layers.clone(), run, grid)?;
        if let Some(cavity) = &mut cavity {
            cavity.add(grid);
        }
        let dims = self.touched.lattice.dims();
        hollow_out(dims, layers, steps, run, grid, |border, grid| {
            self.fill_all(border, run, grid)
        })?;
        if let Some(cavity) = cavity {
            cavity.remove(grid, 0);
        }
        Ok(stats)
    }
}
