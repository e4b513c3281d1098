//! What `-v` adds to the summary: what was chosen, and why.

use voxelize::grid::record::INSIDE;
use voxelize::mesh::closed::Seal;
use voxelize::run::{Plan as MemoryPlan, bytes};
use voxelize::{Inside, Lattice, Level, Rule, Snap, ThinFeatures, par};

use super::facts::Facts;
use super::job::{GridFrom, Limit};
use super::numbers::{counted, number};
use super::place::FormatBy;
use super::plan::Plan;
use super::room::Room;
use super::told;

/// The lines of `-v`, as far as the run came.
pub fn lines(plan: &Plan, facts: &Facts) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(lattice) = &facts.lattice {
        said.extend(grid(plan, lattice));
    }
    if let Some(used) = plan.job.rule.ties() {
        said.push(format!("ties {}: {}", used.name(), why_ties(&plan.job.rule)));
    }
    said.extend(plan.job.rule.inside().map(|asked| inside(asked, facts)));
    if let (Some(lost), Rule::Solid { thin: ThinFeatures::Keep, .. }) = (&facts.told.lost, plan.job.rule) {
        said.extend(lost.components.map(|thin| {
            let (kept, parts) = (thin.lost + thin.scattered, counted(thin.components, "part", "parts"));
            let thickness = number(thin.thickness);
            format!("kept as filled has them: {kept} of {parts}, the least about {thickness} thick")
        }));
        said.extend(lost.places.map(|thin| {
            let (places, cells) =
                (counted(thin.places, "place", "places"), counted(thin.cells, "cell", "cells"));
            format!("kept as filled has them: {places} of {cells} where no centre near is inside")
        }));
    }
    if let Some(repairs) = &facts.told.repairs {
        let (repaired, holes) = (told::repaired(repairs), counted(repairs.holes as u64, "hole", "holes"));
        let repaired = if repaired.is_empty() { "nothing to repair".to_string() } else { repaired };
        said.push(format!("mesh as robust takes it: {repaired}; {holes}"));
    }
    let of_inside = plan.job.rule.fields().into_iter().skip_while(|(name, _)| *name != INSIDE).skip(1);
    said.extend(of_inside.map(|(name, value)| {
        format!("{}: --{}", told::option(name, &value, Some(facts)), name.replace('_', "-"))
    }));
    said.push(match plan.job.grid.snap {
        Snap::Float => {
            "snap float: coordinates that mean a wall or a cell centre are taken to lie there".into()
        }
        Snap::None => "snap none: coordinates count as the bits in the file".into(),
    });
    said.push(format(plan));
    let offered: Vec<_> = Level::available().iter().map(|level| level.name()).collect();
    said.push(format!("simd {}: this machine offers {}", plan.job.how.level.name(), offered.join(", ")));
    said.push(format!("threads {}: the system offers {}", plan.job.how.threads, par::available_threads()));
    said.push(match &plan.job.how.memory {
        Limit::Asked(most, option) => format!("memory up to {}: {option}", bytes(u128::from(*most))),
        Limit::Available(most) => format!("memory up to {}: available now", bytes(u128::from(*most))),
        Limit::Part(most) => format!("memory up to {}: the part of one of several", bytes(u128::from(*most))),
        Limit::Unknown => "memory: no limit, as the system does not say what is available".to_string(),
    });
    match facts.room {
        Some(Room { plan: MemoryPlan::Slabs(height), dense, .. }) => {
            said.push(format!("slabs of {height} layers: all at once takes {}", bytes(dense)));
        }
        Some(Room { plan: MemoryPlan::Bricks(height), .. }) => {
            said.push(format!(
                "cells kept in bricks of 64 × 8 × 8, written {height} layers at a time: a large grid"
            ));
        }
        _ => (),
    }
    said.into_iter().map(|text| format!("{:<8}{text}", "why")).collect()
}

fn why_ties(rule: &Rule) -> &'static str {
    let ties = rule.ties();
    match rule.inside() {
        Some(Inside::Flood { .. }) => "those of a flood",
        _ if ties == rule.info().rule.ties() => "the rule's default",
        _ => "--ties",
    }
}

fn inside(asked: Inside, facts: &Facts) -> String {
    if asked != Inside::Auto {
        return format!("inside {}: --inside", asked.name());
    }
    let mesh = match facts.seal {
        Some(Seal::Oriented) => {
            "the mesh is closed, and edges are there as often in one direction as in the other"
        }
        Some(Seal::Closed) => "the mesh is closed, but its triangles face either way",
        Some(Seal::Open) => "the mesh is not closed",
        None => return "inside auto: the rule's default".to_string(),
    };
    format!("inside {}: auto, as {mesh}", facts.inside.as_deref().unwrap_or("auto"))
}

fn grid(plan: &Plan, lattice: &Lattice) -> [String; 3] {
    let [x, y, z] = lattice.spacing();
    let size = if lattice.is_cubic() { format!("{x}") } else { format!("{x}, {y}, {z}") };
    let [x, y, z] = lattice.origin();
    let beyond: Vec<_> = ["x", "y", "z"]
        .into_iter()
        .zip(lattice.closed())
        .filter_map(|(axis, closed)| (!closed).then_some(axis))
        .collect();
    let last = if let GridFrom::Like(_) = plan.job.grid.from {
        let ends = if beyond.is_empty() { "no axis".to_string() } else { beyond.join(", ") };
        format!("last walls belong to the grid save along {ends}: {}", plan.job.grid.asked)
    } else if beyond.is_empty() {
        "last walls belong to the grid: the mesh does not go beyond them".to_string()
    } else {
        format!("last wall does not belong to the grid along {}: the mesh goes on", beyond.join(", "))
    };
    [
        format!("cells of exactly {size}: {}", plan.job.grid.asked),
        format!("corner at exactly ({x}, {y}, {z})"),
        last,
    ]
}

fn format(plan: &Plan) -> String {
    let by = match plan.output.format_by {
        FormatBy::Option => "--format",
        FormatBy::Extension => "the extension",
        FormatBy::Default => "the default",
    };
    let numbers = match (plan.output.dtype, plan.output.dtype()) {
        (Some(dtype), _) => format!(", {} numbers: --dtype", dtype.name()),
        (None, Some(dtype)) => format!(", {} numbers: its default", dtype.name()),
        (None, None) => String::new(),
    };
    format!("format {}: {by}{numbers}", plan.output.format.name)
}
