//! Plans the memory of a job. It computes an upper bound for each phase, and chooses a plan that fits in the
//! memory limit or returns an error. A dry run makes the plan and does not run it.

use super::drain;
use super::label_fields;
use super::palette::PALETTE_BYTES;
use super::part_colours::PART_COLOURS_BYTES;
use super::target::Target;
use super::voxelizer::{JobLabels, Voxelizer};
use crate::rule::{Inside, Rule, ShellThickness, ThinFeatures, doubt, fraction, leak_path};
use crate::run::memory::{LARGE_SLAB, MemoryEstimate, MemoryFigure};
use crate::run::nearest::Distances;
use crate::run::walls::WallGauge;
use crate::run::{Demand, MemoryLimit, Plan, touched};
use voxelize_core::error::{Error, Hint, Result};
use voxelize_core::grid::{BitGrid, CellKind, Lattice};
use voxelize_core::par;
use voxelize_core::text::{bytes, counted};
use voxelize_formats::{Dtype, FORMATS, Format, Reordering};
use voxelize_meshes::{Mesh, PartKind};

/// Number of slabs up to which a job measures walls, even if the measurement is the reason for them.
const MANY_SLABS: usize = 16;

/// Memory of one part of a job, such as the mesh, the cells, or a phase.
#[derive(Debug, Clone, Copy)]
pub struct MemoryPhase {
    /// Name of the part.
    pub name: &'static str,
    /// Upper bound of its memory, in bytes.
    pub bytes: u128,
}

/// Arrangement of a grid in memory, and the memory of the job.
#[derive(Debug, Clone)]
pub struct MemoryPlan {
    /// Arrangement of the grid.
    pub strategy: Plan,
    /// Number of slabs.
    pub slabs: usize,
    /// Upper bound of the memory of the job in bytes, without the program itself.
    pub bytes: u128,
    /// Upper bound, in bytes, if the whole grid were made at once.
    pub dense: u128,
    /// Parts of `bytes`: the mesh, the cells, and the largest phase.
    pub parts: Vec<MemoryPhase>,
}

/// Inputs and outputs of a job, which determine its memory.
pub(super) struct Needs<'a> {
    pub voxelizer: &'a Voxelizer<'a>,
    pub mesh: &'a Mesh,
    pub lattice: &'a Lattice,
    /// Output to which the cells are written slab by slab. `None` if the cells stay in memory.
    pub target: Option<Target<'a>>,
}

impl Voxelizer<'_> {
    /// Returns the upper bound of the memory of the mesh, the rule and the cells, without additional results.
    pub(super) fn demand(&self, mesh: &Mesh, lattice: &Lattice) -> Demand {
        let estimate = MemoryEstimate::bound(mesh, lattice, &self.run);
        let mut demand = self.cell_demand(&estimate);
        demand.extra = self.rule_memory(&estimate);
        demand
    }

    /// Returns the memory of the mesh and the cells.
    fn cell_demand(&self, estimate: &MemoryEstimate) -> Demand {
        let mesh = estimate.mesh;
        let is_field = self.rule.kind() == CellKind::Field;
        let values = if is_field {
            let nearest = usize::from(self.extras.nearest);
            let labels = self.label_field_count(mesh);
            4 * (1 + nearest + self.extras.quantities.numbers() + labels)
        } else {
            0
        };
        let mut demand = Demand::of(estimate, values as u128);
        match self.extras.labels {
            _ if is_field => {}
            // These grids are for the nearest triangles and their labels.
            JobLabels::Parts(kind) if self.paints_parts(mesh, kind) => {
                demand.grids = estimate.bytes(2 + 8 + 8 + 64, 1);
            }
            // These grids are for the cells of one part, for the occupied cells, and for the planes or bytes
            // of labels.
            JobLabels::Parts(kind) => {
                let parts = mesh.parts(kind).map_or(1, |parts| parts.names().len());
                demand.grids = estimate.bytes(2 + if parts > 16 { 8 } else { 4 }, 1);
            }
            // These grids are for the nearest triangles and their labels, and for the labels of earlier parts.
            JobLabels::PartColours(_) => demand.grids = estimate.bytes(2 + 8 + 8 + 64, 1),
            // These grids are for the label byte of each cell, and for its nearest triangle, which is found
            // together with a field of distances.
            JobLabels::Colours => demand.grids = estimate.bytes(2 + 8 + 64, 1),
            _ if self.has_labels() => demand.grids = 2,
            _ if self.rule.has_bricks() => demand.slab = LARGE_SLAB,
            _ => {}
        }
        demand.grids += self.rule.grids_beside(mesh);
        // A wall of a given thickness needs a grid for its cavity in any case.
        if self.measures_walls() && self.rule.wall().is_none() {
            demand.grids += 1;
        }
        demand
    }

    /// Returns the memory of the rule in bytes, including the computation of additional arrays and of labels.
    fn rule_memory(&self, estimate: &MemoryEstimate) -> u128 {
        let mut memory = self.rule.memory(estimate);
        if self.measures_walls() {
            memory += WallGauge::memory(estimate);
        }
        if !self.drains.is_empty() {
            memory += drain::memory(estimate);
        }
        if !self.extras.quantities.is_empty() {
            memory += fraction::quantities_memory(estimate);
        }
        match self.extras.labels {
            JobLabels::Colours => memory += Distances::memory(estimate) + PALETTE_BYTES,
            _ if self.label_fields().is_some() => {
                memory += label_fields::memory(&self.rule, estimate);
            }
            // The colours of one part are collected while the palette of all parts is there.
            JobLabels::PartColours(_) => {
                memory += Distances::memory(estimate) + 2 * PALETTE_BYTES + PART_COLOURS_BYTES;
            }
            JobLabels::Parts(kind) if self.paints_parts(estimate.mesh, kind) => {
                memory += Distances::memory(estimate);
            }
            _ => {}
        }
        memory
    }

    /// Returns true if the rule fills the inside and some parts of this kind are one body only together. Cells
    /// of these parts have the label of the nearest face.
    pub(super) fn paints_parts(&self, mesh: &Mesh, kind: PartKind) -> bool {
        self.rule.inside().is_some() && !mesh.parts_filled_together(kind).is_empty()
    }
}

impl Needs<'_> {
    /// Returns the phases of the job, which run one after the other. The results of the phases doubt and leak
    /// stay in memory while the cells are made.
    fn phases(&self, estimate: &MemoryEstimate) -> Vec<MemoryPhase> {
        let extras = self.voxelizer.extras;
        let doubt_result = estimate.grids(u128::from(extras.doubt) * doubt::RESULT_GRIDS, 0.0);
        let leak_result = estimate.grids(u128::from(extras.leak), 0.0);
        let mut phases = vec![MemoryPhase {
            name: "rule",
            bytes: self.voxelizer.rule_memory(estimate) + doubt_result + leak_result,
        }];
        if extras.doubt {
            phases.push(MemoryPhase {
                name: "doubt",
                bytes: doubt::memory(estimate),
            });
        }
        if extras.leak {
            phases.push(MemoryPhase {
                name: "leak",
                bytes: leak_path::memory(estimate) + doubt_result,
            });
        }
        phases
    }

    /// Returns the expected peak of the memory under a plan, in bytes. Excludes the buffers of writers: the
    /// memory of the program includes them.
    pub(super) fn expected(&self, plan: Plan) -> u128 {
        let layers = plan.layers(self.lattice.dims()[2]);
        let estimate = MemoryEstimate {
            figure: MemoryFigure::Expected { layers },
            ..self.bound()
        };
        let phases = self.phases(&estimate);
        let mut demand = self.voxelizer.cell_demand(&estimate);
        demand.extra = largest(&phases).bytes;
        demand.bytes(plan)
    }

    fn bound(&self) -> MemoryEstimate<'_> {
        MemoryEstimate::bound(self.mesh, self.lattice, &self.voxelizer.run)
    }

    /// Returns the memory limit in bytes.
    fn limit(&self) -> u128 {
        u128::from(self.voxelizer.run.max_memory().unwrap_or(u64::MAX))
    }

    /// Returns true if the whole grid must be made at once.
    fn is_whole(&self) -> bool {
        self.target.is_none() || self.voxelizer.extras.doubt || self.voxelizer.extras.leak
    }

    /// Returns the reason why the whole grid is needed in memory, even if it is written in slabs. `None` if
    /// it is not needed.
    fn keeps_whole_grid(&self) -> Option<&'static str> {
        match self.voxelizer.rule {
            Rule::Solid {
                thin: ThinFeatures::Keep,
                ..
            } => Some("keeping thin features"),
            Rule::Filled {
                shell: Some(ShellThickness::Steps(_)),
                ..
            } => Some("a shell"),
            _ if self.voxelizer.extras.doubt => Some("the search for cells in doubt"),
            _ if self.voxelizer.extras.leak => Some("the search for leaks"),
            rule if rule.inside().is_some_and(Inside::is_flood) => Some("a flood"),
            _ => None,
        }
    }

    fn layers(&self) -> usize {
        self.target
            .map_or(1, |target| self.layers_of(target.format))
    }

    /// Returns the number of layers of which the height of slabs for a format must be a multiple.
    fn layers_of(&self, format: &Format) -> usize {
        format.slab_layers_in(self.voxelizer.frame())
    }

    /// Returns the upper bound of the memory of the job. `peak` is the memory of the largest phase, in bytes.
    fn demand(&self, peak: u128) -> Demand {
        let dims = self.lattice.dims();
        let mut demand = self.voxelizer.cell_demand(&self.bound());
        demand.extra = peak;
        if let Some(Target {
            format,
            choices,
            dtype,
            ..
        }) = self.target
        {
            match format.reordering(self.voxelizer.frame()) {
                Reordering::Nothing => {}
                Reordering::EachSlab if demand.values > 0 => demand.values += 4,
                Reordering::EachSlab => demand.grids *= 2,
                // A layer of the array may lie along any two axes of the grid.
                Reordering::Parts(bytes) => {
                    let [x, y, z] = dims;
                    let layers = [[x, y, 1], [x, z, 1], [y, z, 1]];
                    let layer = layers.map(|dims| demand.cell_bytes(dims));
                    demand.extra += u128::from(bytes) + layer.into_iter().max().unwrap_or(0);
                }
            }
            for pending in format.pending(dims, choices) {
                demand.extra += demand.cell_bytes(pending);
            }
            // The default is the type with the most bytes per cell.
            let dtype = dtype.unwrap_or(Dtype::F32);
            let threads = self.voxelizer.run.thread_count();
            demand.extra += u128::from(format.memory(dims, dtype, threads, choices));
            let has_arrays = !self.voxelizer.extras.quantities.is_empty()
                || self.voxelizer.label_fields().is_some();
            if has_arrays {
                demand.extra += u128::from(format.memory_of_arrays());
            }
        }
        demand
    }

    /// Returns the plan to use if memory is not limited.
    fn unlimited(&self, demand: &Demand) -> Plan {
        if self.is_whole() {
            return Plan::Dense;
        }
        match self.voxelizer.rule.kind() {
            CellKind::Field => demand.field_slabs(self.layers()),
            _ => self.bricks(demand).unwrap_or(Plan::Dense),
        }
    }

    /// Returns the plan bricks if the rule supports bricks and the grid is large, otherwise `None`.
    fn bricks(&self, demand: &Demand) -> Option<Plan> {
        let Voxelizer { rule, extras, .. } = self.voxelizer;
        if self.is_whole() || extras.labels.are_of_mesh() || !rule.has_bricks() {
            return None;
        }
        demand.bricks(self.layers())
    }

    /// If storing all bricks would exceed the limit but fewer bricks may fit, counts the bricks that contain
    /// cells and returns the smaller memory.
    fn in_fewer_bricks(&self, mut demand: Demand, limit: u128) -> Result<Demand> {
        let Some(bricks) = self.bricks(&demand) else {
            return Ok(demand);
        };
        // Counting needs one bit per brick in every thread. That is less than the at least two bytes per
        // brick of making the bricks.
        let mut least = demand.clone();
        least.touched = 0;
        let lowest = Demand::lowest(bricks, self.layers());
        if demand.bytes(bricks) <= limit || least.bytes(lowest) > limit {
            return Ok(demand);
        }
        let mesh = self.mesh;
        let lattice = self.lattice;
        let run = &self.voxelizer.run;
        let reach = self.voxelizer.rule.reach(lattice);
        let count = || touched::bricks(mesh, lattice, reach, run);
        demand.touched = par::with_threads(run.thread_count(), count)??;
        Ok(demand)
    }

    /// Returns true if the job measures walls, and still fits in the memory limit, in few slabs. A job that has only a share of the memory always measures them,
    /// because it may be repeated with all memory.
    pub(super) fn has_room_for_walls(&self) -> bool {
        let is_share = matches!(self.voxelizer.run.budget.limit, MemoryLimit::Share(_));
        if !self.voxelizer.measures_walls() || is_share {
            return self.voxelizer.measures_walls();
        }
        let mut without = *self.voxelizer;
        without.extras.walls = false;
        let without = Needs {
            voxelizer: &without,
            ..*self
        };
        match (self.plan(), without.plan()) {
            (Ok(with), Ok(without)) => with.slabs <= without.slabs.max(MANY_SLABS),
            (Err(_), _) => false,
            (Ok(_), Err(_)) => true,
        }
    }

    /// Returns the best plan that fits in the memory limit, or an error if no plan fits.
    pub(super) fn plan(&self) -> Result<MemoryPlan> {
        let limit = self.limit();
        let phases = self.phases(&self.bound());
        let largest = largest(&phases);
        let demand = self.demand(largest.bytes);
        let demand = self.in_fewer_bricks(demand, limit)?;
        let fits = |strategy: &Plan| demand.bytes(*strategy) <= limit;
        let is_field = self.voxelizer.rule.kind() == CellKind::Field;
        let is_limited = matches!(self.voxelizer.run.budget.limit, MemoryLimit::Requested(_));
        let in_slabs = || demand.fit(limit, self.layers());
        // The plan for unlimited memory is used if it fits.
        let best = self.unlimited(&demand);
        let lowest = Demand::lowest(best, self.layers());
        let found = match best {
            best if fits(&best) => Some(best),
            Plan::Bricks(_) if fits(&lowest) => Some(lowest),
            // Making a field in slabs takes as long as making it at once.
            _ if (is_field || is_limited) && !self.is_whole() => in_slabs(),
            _ => Some(Plan::Dense).filter(fits),
        };
        let strategy = found.ok_or_else(|| self.refusal(&demand))?;
        let slabs = match strategy {
            Plan::Dense => 1,
            Plan::Slabs(height) | Plan::Bricks(height) => self.lattice.dims()[2].div_ceil(height),
        };
        let bytes = demand.bytes(strategy);
        let dense = demand.bytes(Plan::Dense);
        let mut parts = vec![
            MemoryPhase {
                name: "mesh",
                bytes: demand.mesh,
            },
            MemoryPhase {
                name: "cells",
                bytes: bytes - demand.mesh - largest.bytes,
            },
        ];
        if largest.bytes > 0 {
            parts.push(largest);
        }
        Ok(MemoryPlan {
            strategy,
            slabs,
            bytes,
            dense,
            parts,
        })
    }

    /// Returns the error for a job that does not fit in the memory limit.
    fn refusal(&self, demand: &Demand) -> Error {
        let limit = self.voxelizer.run.budget.limit;
        let is_requested = match limit {
            MemoryLimit::Share(_) | MemoryLimit::Unknown => return share_exceeded(),
            MemoryLimit::Requested(_) => true,
            MemoryLimit::Available(_) => false,
        };
        let allowed = limit.text().unwrap_or_default();
        let smaller = ["make the cells larger", "or raise `--max-memory`"];
        let dense = self.needed(demand.bytes(Plan::Dense));
        let target = self.target.filter(|_| !self.is_whole());
        let least = target.map(|target| self.needed(demand.least(self.layers_of(target.format))));
        if let Some(what) = self.keeps_whole_grid().filter(|_| is_requested) {
            let need = least.unwrap_or(dense);
            let text = format!("{what} needs the whole grid in memory: {need}, {allowed}");
            return Error::too_large(text).with_hint(smaller);
        }
        let grid = self.grid_bytes();
        let mut text = if grid > u128::from(limit.bytes().unwrap_or(u64::MAX)) {
            format!("the grid needs {}, {allowed}", bytes(grid))
        } else if is_requested {
            format!("program, mesh and grid need {dense}, {allowed}")
        } else {
            format!("mesh and grid need {dense}, {allowed}")
        };
        let hint: Hint = match target.zip(least) {
            None if is_requested => smaller.into(),
            None => "make the cells larger".into(),
            Some(_) if !is_requested => [
                "make the cells larger",
                "or set `--max-memory`, which makes the grid in slabs that fit",
            ]
            .into(),
            Some((target, least)) => {
                let name = target.format.name;
                let layers = self.layers_of(target.format).min(self.lattice.dims()[2]);
                let layers = counted(layers as u64, "layer", "layers");
                text += &format!("; slabs of {layers}, the least for {name}, need {least}");
                self.streams(target, demand).unwrap_or(smaller.into())
            }
        };
        Error::too_large(text).with_hint(hint)
    }

    /// Formats the value of `--max-memory` that a job of `job` bytes needs. Without the option, formats `job`
    /// itself.
    fn needed(&self, job: u128) -> String {
        let budget = self.voxelizer.run.budget;
        match budget.limit {
            MemoryLimit::Requested(_) => bytes(budget.with_program(job)),
            _ => bytes(job),
        }
    }

    fn grid_bytes(&self) -> u128 {
        let cells: u128 = self.lattice.dims().iter().map(|&n| n as u128).product();
        match self.voxelizer.rule.kind() {
            CellKind::Field => cells * size_of::<f32>() as u128,
            _ => BitGrid::bytes_for(self.lattice.dims()),
        }
    }

    /// Returns a hint that lists the formats which could be written in slabs within the limit. `None` if
    /// there are no such formats.
    fn streams(&self, target: Target, demand: &Demand) -> Option<Hint> {
        let limit = self.limit();
        let mut streamed = vec![];
        for format in FORMATS {
            if demand.fit(limit, self.layers_of(format)).is_some() {
                streamed.push(format);
            }
        }
        let last = streamed.last()?;
        let output = match target.path {
            None => format!("-f {}", last.name),
            Some(path) => format!("-o {}", path.with_extension(last.extensions[0]).display()),
        };
        let names: Vec<_> = streamed.iter().map(|format| format.name).collect();
        let names = names.join(", ");
        let streams =
            format!("`{output}` writes the grid in slabs that fit; these formats can: {names}");
        Some([streams, "`--dry-run` shows the memory of a run".to_string()].into())
    }
}

/// Returns the phase that needs the most memory.
fn largest(phases: &[MemoryPhase]) -> MemoryPhase {
    let largest = phases.iter().max_by_key(|phase| phase.bytes);
    *largest.expect("the rule is a phase")
}

/// Returns the error for a job that needs more than its share of the memory. The caller then repeats the job
/// alone.
pub(super) fn share_exceeded() -> Error {
    Error::too_large("needs more than its share of the memory")
}
