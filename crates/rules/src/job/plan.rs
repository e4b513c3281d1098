//! The memory of a job: what each phase takes at most, and the plan that fits into the limit, or the refusal. A plan
//! that is not run is a dry run.

use super::budget::{MemoryBudget, MemoryLimit, share_exceeded};
use super::paint::PALETTE_BYTES;
use super::target::Target;
use super::voxelizer::{JobLabels, Voxelizer};
use crate::rule::{Inside, Rule, ThinFeatures, doubt, leak_path};
use crate::run::{Demand, Plan, Run, touched};
use voxelize_core::error::{Error, Hint, Result};
use voxelize_core::grid::{BitGrid, CellKind, Lattice};
use voxelize_core::par;
use voxelize_core::text::{bytes, counted};
use voxelize_formats::{Dtype, FORMATS};
use voxelize_meshes::{Mesh, PartKind};

/// The memory of one phase, without mesh, cells and the buffers of threads.
#[derive(Debug, Clone, Copy)]
pub struct MemoryPhase {
    /// Its name.
    pub name: &'static str,
    /// Its bytes at most.
    pub bytes: u128,
}

/// How a grid is held, and the memory that it takes.
#[derive(Debug, Clone)]
pub struct MemoryPlan {
    /// How it is held.
    pub strategy: Plan,
    /// In how many slabs the grid is made.
    pub slabs: usize,
    /// Its memory in bytes at most, without the program itself.
    pub bytes: u128,
    /// The memory of the whole grid at once.
    pub dense: u128,
    /// Its parts: mesh, cells, and the largest phase.
    pub parts: Vec<MemoryPhase>,
}

/// The inputs and outputs of a job, as far as they take memory.
pub(super) struct Needs<'a> {
    pub voxelizer: &'a Voxelizer<'a>,
    pub mesh: &'a Mesh,
    pub lattice: &'a Lattice,
    /// Where the cells go slab by slab, if they may.
    pub target: Option<Target<'a>>,
}

impl Voxelizer<'_> {
    /// The memory of mesh, rule and cells; what is made beside the cells is not in it.
    pub(super) fn demand(&self, mesh: &Mesh, lattice: &Lattice) -> Demand {
        let demand = Demand::new(mesh, lattice, &self.run).with(self.rule_bytes(mesh, lattice));
        let demand = match self.rule.kind() {
            CellKind::Field => demand
                .field(self.extras.nearest)
                .with_numbers(self.extras.quantities.numbers()),
            // The cells of one part, and of labels the occupancy and the planes or bytes.
            _ if let JobLabels::Parts(kind) = self.extras.labels => {
                let parts = mesh.parts(kind).map_or(1, |parts| parts.names().len());
                let demand = demand.grids(2 + if parts > 16 { 8 } else { 4 });
                if !self.paints_parts(mesh, kind) {
                    return demand;
                }
                // The nearest triangles, and the labels that follow from them.
                demand.grids(2 + 8 + 8 + 64)
            }
            // A byte for each cell, and its nearest triangle, which is found as a field is.
            _ if self.extras.labels == JobLabels::Colours => demand.grids(2 + 8 + 64),
            _ if self.has_labels() => demand.labelled(),
            _ if self.rule.has_bricks() => demand.with_short_passes(),
            _ => demand,
        };
        demand.more_grids(self.rule.grids_beside(mesh))
    }
}

impl Voxelizer<'_> {
    /// The bytes of the rule, with those of arrays while they are made.
    fn rule_bytes(&self, mesh: &Mesh, lattice: &Lattice) -> u128 {
        let arrays = match self.extras.quantities.is_empty() {
            true => 0,
            false => Rule::bytes_of_quantities(lattice, &self.run),
        };
        let distances = || Rule::distance().extra_bytes(mesh, lattice, &self.run);
        let painter = match self.extras.labels {
            JobLabels::Colours => distances() + PALETTE_BYTES,
            JobLabels::Parts(kind) if self.paints_parts(mesh, kind) => distances(),
            _ => 0,
        };
        self.rule.extra_bytes(mesh, lattice, &self.run) + arrays + painter
    }

    /// Whether parts of this kind are closed only together, and cells have the label of the nearest face.
    pub(super) fn paints_parts(&self, mesh: &Mesh, kind: PartKind) -> bool {
        self.rule.inside().is_some() && !mesh.parts_closed_together(kind).is_empty()
    }
}

impl Needs<'_> {
    /// The phases, one after the other; cells of doubt and leak stay while the output is made.
    fn phases(&self) -> Vec<MemoryPhase> {
        let grids = |n: u128| n * BitGrid::bytes_for(self.lattice.dims());
        let [doubt, leak] =
            [self.voxelizer.extras.doubt, self.voxelizer.extras.leak].map(u128::from);
        let doubt = doubt * doubt::RESULT_GRIDS;
        let kept = if self.is_whole() { doubt + leak } else { 0 };
        let extra = self.voxelizer.rule_bytes(self.mesh, self.lattice);
        let mut phases = vec![MemoryPhase {
            name: "rule",
            bytes: extra + grids(kept),
        }];
        if self.voxelizer.extras.doubt {
            let bytes = doubt::extra_bytes(self.mesh, self.lattice, &self.voxelizer.run);
            phases.push(MemoryPhase {
                name: "doubt",
                bytes,
            });
        }
        if self.voxelizer.extras.leak {
            let bytes =
                leak_path::extra_bytes(self.mesh, self.lattice, &self.voxelizer.run) + grids(doubt);
            phases.push(MemoryPhase {
                name: "leak",
                bytes,
            });
        }
        phases
    }

    /// Whether the grid is made at once.
    fn is_whole(&self) -> bool {
        self.target.is_none() || self.voxelizer.extras.doubt || self.voxelizer.extras.leak
    }

    /// What keeps the whole grid in memory, even if it is written in slabs.
    fn keeps_whole_grid(&self) -> Option<&'static str> {
        match self.voxelizer.rule {
            Rule::Solid {
                thin: ThinFeatures::Keep,
                ..
            } => Some("keeping thin features"),
            Rule::Filled { shell: Some(_), .. } => Some("a shell"),
            _ if self.voxelizer.extras.doubt => Some("the search for cells in doubt"),
            _ if self.voxelizer.extras.leak => Some("the search for leaks"),
            rule if rule.inside().is_some_and(Inside::is_flood) => Some("a flood"),
            _ => None,
        }
    }

    fn layers(&self) -> usize {
        self.target.map_or(1, |target| target.format.slab_layers)
    }

    fn demand(&self, phases: &[MemoryPhase]) -> Demand {
        let peak = phases.iter().map(|phase| phase.bytes).max().unwrap_or(0);
        let demand = self.voxelizer.demand(self.mesh, self.lattice);
        let pending = self.target.map_or_else(Vec::new, |to| {
            to.format.pending(self.lattice.dims(), to.choices)
        });
        let pending = pending
            .into_iter()
            .map(|dims| demand.cell_bytes(dims))
            .sum::<u128>();
        let writer = self.target.map_or(0, |to| {
            // Floats are the longest cells.
            let dtype = to.dtype.unwrap_or(Dtype::F32);
            to.format.memory(
                self.lattice.dims(),
                dtype,
                self.voxelizer.run.thread_count(),
                to.choices,
            )
        });
        demand.with(peak + pending + u128::from(writer))
    }

    /// The plan where memory is not limited.
    fn unlimited(&self, demand: &Demand) -> Plan {
        match self.voxelizer.rule.kind() {
            _ if self.is_whole() => Plan::Dense,
            CellKind::Field => demand.field_slabs(self.layers()),
            _ => self.bricks(demand).unwrap_or(Plan::Dense),
        }
    }

    /// Bricks, if the rule has them and the grid is large.
    fn bricks(&self, demand: &Demand) -> Option<Plan> {
        let Voxelizer { rule, extras, .. } = self.voxelizer;
        let may_be = !self.is_whole() && !extras.labels.are_of_mesh() && rule.has_bricks();
        demand.bricks(self.layers()).filter(|_| may_be)
    }

    /// The demand with the bricks counted that cells lie in, where all bricks do not fit, and so many may.
    fn in_fewer_bricks(&self, demand: Demand, limit: u128) -> Result<Demand> {
        let Some(bricks) = self.bricks(&demand) else {
            return Ok(demand);
        };
        let run = &self.voxelizer.run;
        // To count takes a bit a brick in every thread, of which to make bricks takes two bytes at least.
        let least = || {
            demand
                .clone()
                .touching(0)
                .bytes(Demand::lowest(bricks, self.layers()))
        };
        if demand.bytes(bricks) <= limit || least() > limit {
            return Ok(demand);
        }
        let (mesh, lattice) = (self.mesh, self.lattice);
        let reach = self.voxelizer.rule.reach(lattice);
        let count = || touched::bricks(mesh, lattice, reach, run);
        Ok(demand.touching(par::with_threads(run.thread_count(), count)??))
    }

    /// The plan that fits; the refusal if none does.
    pub(super) fn plan(&self, budget: &MemoryBudget) -> Result<MemoryPlan> {
        let limit = u128::from(self.voxelizer.run.max_memory.unwrap_or(u64::MAX));
        let phases = self.phases();
        let demand = self.demand(&phases);
        let demand = self.in_fewer_bricks(demand, limit)?;
        let fits = |strategy: &Plan| demand.bytes(*strategy) <= limit;
        let is_field = self.voxelizer.rule.kind() == CellKind::Field;
        let is_limited = matches!(budget.limit, MemoryLimit::Requested(_));
        let in_slabs = || demand.fit(limit, self.layers());
        // What is taken without a limit comes first.
        let best = self.unlimited(&demand);
        let lowest = Demand::lowest(best, self.layers());
        let found = match best {
            best if fits(&best) => Some(best),
            Plan::Bricks(_) if fits(&lowest) => Some(lowest),
            // Slabs of a field are as fast as all of it.
            _ if (is_field || is_limited) && !self.is_whole() => in_slabs(),
            _ => Some(Plan::Dense).filter(fits),
        };
        let strategy = found.ok_or_else(|| self.refusal(budget, &demand))?;
        let slabs = match strategy {
            Plan::Dense => 1,
            Plan::Slabs(height) | Plan::Bricks(height) => self.lattice.dims()[2].div_ceil(height),
        };
        let bytes = demand.bytes(strategy);
        let dense = demand.bytes(Plan::Dense);
        let mesh = Run::estimate(self.mesh.triangles().len(), [0; 3]);
        let largest = phases
            .into_iter()
            .max_by_key(|phase| phase.bytes)
            .filter(|phase| phase.bytes > 0);
        let rest = bytes - mesh - largest.map_or(0, |phase| phase.bytes);
        let parts = [
            MemoryPhase {
                name: "mesh",
                bytes: mesh,
            },
            MemoryPhase {
                name: "cells",
                bytes: rest,
            },
        ];
        let parts = parts.into_iter().chain(largest).collect();
        Ok(MemoryPlan {
            strategy,
            slabs,
            bytes,
            dense,
            parts,
        })
    }

    /// The refusal of a job that does not fit.
    fn refusal(&self, budget: &MemoryBudget, demand: &Demand) -> Error {
        let says = match budget.limit {
            MemoryLimit::Share(_) | MemoryLimit::Unknown => return share_exceeded(),
            limit => limit.text().unwrap_or_default(),
        };
        let is_requested = matches!(budget.limit, MemoryLimit::Requested(_));
        // The limit that leaves so much for the job.
        let limit_for = |job: u128| {
            if is_requested {
                budget.with_program(job)
            } else {
                job
            }
        };
        let smaller = ["make the cells larger", "or raise `--max-memory`"];
        let dense = bytes(limit_for(demand.bytes(Plan::Dense)));
        let whole = self.keeps_whole_grid().filter(|_| is_requested);
        let message = |what: &str, need: &str| format!("{what} {need}, {says}");
        let grid = self.grid_bytes();
        let too_much = match grid {
            grid if grid > u128::from(budget.limit.bytes().unwrap_or(u64::MAX)) => {
                message("the grid needs", &bytes(grid))
            }
            _ if is_requested => message("program, mesh and grid need", &dense),
            _ => message("mesh and grid need", &dense),
        };
        match (self.target.filter(|_| !self.is_whole()), whole) {
            (None, Some(what)) => Error::too_large(message(
                &format!("{what} needs the whole grid in memory:"),
                &dense,
            ))
            .with_hint(smaller),
            (None, None) if is_requested => Error::too_large(too_much).with_hint(smaller),
            (None, None) => Error::too_large(too_much).with_hint("make the cells larger"),
            (Some(_), _) if !is_requested => Error::too_large(too_much).with_hint([
                "make the cells larger",
                "or set `--max-memory`, which makes the grid in slabs that fit",
            ]),
            (Some(target), Some(what)) => {
                let need = bytes(limit_for(demand.least(target.format.slab_layers)));
                Error::too_large(message(
                    &format!("{what} needs the whole grid in memory:"),
                    &need,
                ))
                .with_hint(smaller)
            }
            (Some(target), None) => {
                let layers = target.format.slab_layers.min(self.lattice.dims()[2]);
                let layers = counted(layers as u64, "layer", "layers");
                let least = bytes(limit_for(demand.least(target.format.slab_layers)));
                let name = target.format.name;
                let text =
                    format!("{too_much}; slabs of {layers}, the least for {name}, need {least}");
                Error::too_large(text)
                    .with_hint(self.streams(target, demand).unwrap_or(smaller.into()))
            }
        }
    }

    fn grid_bytes(&self) -> u128 {
        let cells: u128 = self.lattice.dims().iter().map(|&n| n as u128).product();
        match self.voxelizer.rule.kind() {
            CellKind::Field => cells * size_of::<f32>() as u128,
            _ => Run::estimate(0, self.lattice.dims()),
        }
    }

    /// The formats that would fit in slabs; `None` if there are none.
    fn streams(&self, target: Target, demand: &Demand) -> Option<Hint> {
        let limit = u128::from(self.voxelizer.run.max_memory.unwrap_or(u64::MAX));
        let streamed: Vec<_> = FORMATS
            .iter()
            .filter(|other| demand.fit(limit, other.slab_layers).is_some())
            .collect();
        let last = streamed.last()?;
        let output = match target.path {
            None => format!("-f {}", last.name),
            Some(path) => format!("-o {}", path.with_extension(last.extensions[0]).display()),
        };
        let names = streamed
            .iter()
            .map(|format| format.name)
            .collect::<Vec<_>>()
            .join(", ");
        let streams = format!("`{output}` streams it in slabs ({names} can)");
        Some([streams, "`--dry-run` shows the plans".to_string()].into())
    }
}
