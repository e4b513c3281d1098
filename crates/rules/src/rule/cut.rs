//! Subtracts negative volumes from bodies. A cell is occupied iff some body still occupies it after the
//! body's negative volumes have been subtracted.
//!
//! Each body with negative volumes is voxelized separately. All other triangles of the mesh are voxelized
//! together.
//!
//! - The rule solid removes those cells of a body whose centres are inside a negative volume.
//! - The rule filled removes the cells that lie entirely within one negative volume: the centre of the cell
//!   is inside, and no triangle of the negative volume intersects the open interior of the cell.
//! - The rule fraction computes the share of the union of the body and its negative volumes, and subtracts
//!   the share of the negative volumes. If bodies may overlap, it ignores negative volumes.

use std::ops::Range;

use super::filled::hollow_out;
use super::fraction;
use super::inside::Inside;
use super::surface;
use super::{FillCells, Rule, ShellThickness, Stats, ThinFeatures};
use crate::run::Run;
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::{Ties, Triangle};
use voxelize_core::grid::{BitGrid, CellsMut, Field, Lattice};
use voxelize_core::par::Progress;
use voxelize_meshes::{CutBody, Mesh, MeshCuts};

/// Fills the cells of bodies with negative volumes.
pub(super) struct BodyCells<'a> {
    lattice: &'a Lattice,
    /// Rule that fills each body. Its method for the inside is already chosen, and its shell is left out,
    /// because the shell is made afterwards.
    rule: Rule,
    /// Rule that fills the negative volumes.
    cut_rule: Rule,
    shell: Option<usize>,
    bodies: Vec<CutBody>,
}

/// Returns true if a rule subtracts the negative volumes of a mesh.
pub(super) fn subtracts(rule: &Rule, mesh: &Mesh) -> bool {
    match rule {
        Rule::Solid { .. } | Rule::Filled { .. } => mesh.cuts().is_some(),
        Rule::Fraction { .. } => mesh.cuts().is_some_and(|cuts| cuts.bodies_are_apart(mesh)),
        _ => false,
    }
}

/// Returns the number of grids of the size of a slab that are in memory at the same time, in addition to the
/// result. A rule that makes bits needs three: the cells of a body, the cells of a negative volume, and the
/// cells that the triangles of the negative volume touch. A rule that makes a field needs one grid of shares.
pub(super) fn grids(rule: &Rule) -> u128 {
    if let Rule::Fraction { .. } = rule {
        1
    } else {
        3
    }
}

/// Returns the memory, in bytes, of the separate meshes of bodies and negative volumes.
pub(super) fn bytes(mesh: &Mesh) -> u128 {
    let cut = mesh.cuts().map_or(0, |cuts| cuts.count());
    // Each triangle is stored once, and its number occurs in two lists.
    ((mesh.triangles().len() + cut) * (size_of::<Triangle>() + 2 * size_of::<u32>())) as u128
}

/// Prepares a rule that [subtracts](subtracts) negative volumes, for a mesh that has some.
///
/// # Errors
/// The rule keeps a wall, which would need the surface of the difference.
pub(super) fn prepared<'a>(rule: Rule, mesh: &Mesh, lattice: &'a Lattice) -> Result<BodyCells<'a>> {
    if rule.wall().is_some() {
        return Err(Error::usage(
            "hollow: a mesh with negative volumes has no wall of a given thickness",
        )
        .with_hint("give a number of cells: `--filled` `--hollow 3`"));
    }
    let used = match rule {
        Rule::Fraction { inside } => {
            let mut meshes = [mesh].into_iter().chain(mesh.cuts().map(MeshCuts::mesh));
            if meshes.any(|mesh| fraction::is_repaired(inside, mesh)) {
                Inside::Robust
            } else {
                Inside::Nonzero
            }
        }
        _ => rule.inside().unwrap_or_default().for_mesh(mesh),
    };
    // A region knows only the method chosen for the whole mesh, so the method for the negative volumes must
    // be derived from it. A flood is replaced, because it would enter a negative volume that extends beyond
    // the grid.
    let inside = match used {
        Inside::Robust | Inside::Vote => used,
        _ => Inside::Auto,
    };
    let (rule, shell) = match rule {
        Rule::Filled { ties, shell, .. } => (
            Rule::Filled {
                inside: used,
                ties,
                shell: None,
            },
            match shell {
                Some(ShellThickness::Steps(steps)) => Some(steps as usize),
                _ => None,
            },
        ),
        Rule::Solid { thin, .. } => {
            let wall = None;
            (
                Rule::Solid {
                    inside: used,
                    thin,
                    wall,
                },
                None,
            )
        }
        _ => (Rule::Fraction { inside: used }, None),
    };
    let bodies = mesh.cuts().map(|cuts| cuts.split(mesh)).unwrap_or_default();
    let cut_rule = Rule::Solid {
        inside,
        thin: ThinFeatures::Lose,
        wall: None,
    };
    Ok(BodyCells {
        lattice,
        rule,
        cut_rule,
        shell,
        bodies,
    })
}

impl BodyCells<'_> {
    /// Occupies the cells of all bodies, including cells that a shell would remove.
    fn fill_all(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
        let [nx, ny, _] = self.lattice.dims();
        let mut stats = Stats::default();
        for body in &self.bodies {
            run.check()?;
            let near = self.layers_near(&body.mesh, &self.rule, &layers);
            if near.is_empty() {
                continue;
            }
            let dims = [nx, ny, near.len()];
            let mut cells = BitGrid::new(dims)?;
            let prepared = self.rule.prepare(&body.mesh, self.lattice, run)?;
            stats.add_body(prepared.fill(near.clone(), run, &mut cells)?);
            drop(prepared);
            for cut in &body.cuts {
                self.remove(cut, near.clone(), run, &mut cells)?;
            }
            grid.add_at(&cells, near.start - layers.start);
        }
        Ok(stats)
    }

    /// Sets each value to the sum of the shares of all bodies. The bodies do not overlap.
    fn fill_shares(&self, layers: &Range<usize>, run: &Run, field: &mut Field) -> Result<Stats> {
        let mut stats = Stats::default();
        field.values_mut().fill(0.0);
        let mut add = |mesh: &Mesh, sign: f32| -> Result<()> {
            let mut shares = Field::new(field.dims(), 0.0)?;
            let mut one = self.rule.prepare(mesh, self.lattice, run)?.fill(
                layers.clone(),
                run,
                &mut shares,
            )?;
            if sign > 0.0 {
                stats.fraction.add_body(std::mem::take(&mut one.fraction));
                stats.add_body(one);
            }
            for (sum, share) in field.values_mut().iter_mut().zip(shares.values()) {
                // Rounding may make the difference of two equal shares slightly negative.
                *sum = (*sum + sign * share).max(0.0);
            }
            Ok(())
        };
        for body in &self.bodies {
            if body.cuts.is_empty() {
                add(&body.mesh, 1.0)?;
            } else {
                add(&body.with_cuts(), 1.0)?;
                add(&body.all_cuts(), -1.0)?;
            }
        }
        // A body and its negative volumes overlap by design. The overlap is reported only if its error bound
        // is visible in a 32-bit float.
        let united = &mut stats.fraction.united;
        if united.error < f64::from(f32::EPSILON) {
            united.first = None;
        }
        Ok(stats)
    }

    /// Removes the cells in a negative volume from the cells of a body, in these layers.
    fn remove(
        &self,
        cut: &Mesh,
        layers: Range<usize>,
        run: &Run,
        cells: &mut BitGrid,
    ) -> Result<()> {
        let near = self.layers_near(cut, &self.cut_rule, &layers);
        if near.is_empty() {
            return Ok(());
        }
        // All layers are filled, not only `near`, because some methods need layers outside the negative
        // volume. Both take one pass over its triangles.
        let mut removed = BitGrid::new(cells.dims())?;
        self.cut_rule
            .prepare(cut, self.lattice, run)?
            .fill(layers.clone(), run, &mut removed)?;
        if let Rule::Filled { .. } = self.rule {
            let mut touched = BitGrid::new(cells.dims())?;
            surface::prepared(cut, self.lattice, Ties::None).occupy(layers, run, &mut touched)?;
            removed.remove(&touched, 0);
        }
        cells.remove(&removed, 0);
        Ok(())
    }

    /// Returns those of the given layers in which a body may have cells.
    fn layers_near(&self, body: &Mesh, rule: &Rule, layers: &Range<usize>) -> Range<usize> {
        let is_within_bounds = match rule.inside().unwrap_or_default().for_mesh(body) {
            Inside::Nonzero | Inside::EvenOdd | Inside::Vote => rule.is_local(),
            // A flood covers the whole grid, and an open sheet has winding numbers outside its bounding box.
            _ => false,
        };
        if !is_within_bounds {
            return layers.clone();
        }
        let origin = self.lattice.origin()[2].to_f64();
        let side = self.lattice.spacing()[2].to_f64();
        // Adds one layer on each side, because coordinates snap to walls and `low` and `high` are rounded.
        let low = (f64::from(body.bounds().min[2]) - origin) / side;
        let high = (f64::from(body.bounds().max[2]) - origin) / side;
        let start = (low.floor() - 1.0).max(0.0) as usize;
        let end = (high.floor() + 2.0).max(0.0) as usize;
        let start = start.clamp(layers.start, layers.end);
        start..end.clamp(start, layers.end)
    }
}

impl FillCells for BodyCells<'_> {
    fn fill(&self, layers: Range<usize>, run: &Run, cells: CellsMut) -> Result<Stats> {
        let grid = match cells {
            CellsMut::Bits(grid) => grid,
            CellsMut::Field(field, None) => return self.fill_shares(&layers, run, field),
            _ => {
                let text = "a mesh with negative volumes can have shares, but no other arrays";
                return Err(Error::usage(text));
            }
        };
        let stats = self.fill_all(layers.clone(), run, grid)?;
        if let Some(steps) = self.shell {
            let dims = self.lattice.dims();
            hollow_out(dims, layers, steps, run, grid, |border, grid| {
                self.fill_all(border, run, grid)
            })?;
        }
        Ok(stats)
    }

    fn inside(&self) -> Option<Inside> {
        self.rule.inside()
    }
}
