//! The summary on stderr: what was read, where the cells are, what is in them, what was written.

use std::time::Duration;

use voxelize::format::{Dtype, Format, Written};
use voxelize::grid::lattice::AXES;
use voxelize::mesh::read::Packing;
use voxelize::run::{Plan as MemoryPlan, bytes};
use voxelize::{Digest, Lattice, Rational};

use super::estimate::{Estimate, Size};
use super::facts::{Facts, Source};
use super::job::{How, Limit};
use super::leak;
use super::numbers::{counted, grouped, grouped_number, number, percent, sizes};
use super::plan::Plan;
use super::room::Room;
use super::system;
use super::told;

/// The lines of the summary, as far as the run came.
pub fn lines(plan: &Plan, facts: &Facts) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = |label: &str, text: String| lines.push(format!("{label:<8}{text}"));
    if let Some(source) = &facts.source {
        line("mesh", mesh(&plan.job.input.name(), source));
    }
    if let Some(lattice) = &facts.lattice {
        line("grid", grid(plan, lattice));
        if let Some(snapped @ 1..) = facts.snapped {
            line("snap", snap(snapped));
        }
        line("rule", rule(plan, facts));
        if let Some(occupied) = facts.occupied {
            line("cells", cells(plan, occupied, lattice));
        }
        if let Some(found) = &facts.doubt {
            line("doubt", found.line());
            line("", found.by_method());
        }
        if let Some(cells) = facts.way_in {
            line("leak", leak::line(cells));
        }
    }
    if let Some((estimate, room)) = facts.estimate.as_ref().zip(facts.room.as_ref()) {
        line("plan", planned(plan, estimate, room));
    }
    if let Some(kept) = plan.output.kept().filter(|_| facts.source.is_none()) {
        line("skipped", format!("{} is there already", kept.display()));
        return lines;
    }
    for written in facts.outputs.iter().flatten() {
        line("wrote", wrote(plan, written));
    }
    if let Some(found) = &facts.digest {
        line("digest", digest(found));
    }
    line("time", time(plan, facts));
    lines
}

/// The mesh that was read.
pub fn mesh(name: &str, source: &Source) -> String {
    let format = match source.packing {
        Packing::None => mesh_format(source.format),
        _ => format!("{} in gzip", mesh_format(source.format)),
    };
    let triangles = triangles(source.triangles, source.degenerate, source.dropped);
    let bounds = &source.bounds;
    let extent = [0, 1, 2].map(|axis| number(f64::from(bounds.max[axis]) - f64::from(bounds.min[axis])));
    format!("{name}: {format}, {triangles}, {}", extent.join(" × "))
}

/// The format of a mesh for people: `stl-binary` reads better turned around.
pub fn mesh_format(name: &str) -> String {
    match name.split_once('-') {
        Some((name, "binary")) => format!("binary {}", name.to_ascii_uppercase()),
        Some((name, form)) => format!("{} {}", form.to_ascii_uppercase(), name.to_ascii_uppercase()),
        None => name.to_ascii_uppercase(),
    }
}

/// `871,414 triangles (108 degenerate), 2 triangles dropped`.
pub fn triangles(count: usize, degenerate: u64, dropped: u64) -> String {
    let mut text = counted(count as u64, "triangle", "triangles");
    if degenerate > 0 {
        text += &format!(" ({} degenerate)", grouped(degenerate));
    }
    if dropped > 0 {
        text += &format!(", {} dropped", counted(dropped, "triangle", "triangles"));
    }
    text
}

fn grid(plan: &Plan, lattice: &Lattice) -> String {
    let [x, y, z] = lattice.dims();
    let size = sizes(lattice.spacing().each_ref().map(Rational::to_f64));
    let corner = lattice.origin().each_ref().map(|c| number(c.to_f64())).join(", ");
    let mut text = format!("{x} × {y} × {z} cells of {size}, corner ({corner})");
    match plan.job.grid.pad {
        None | Some(0) => {}
        Some(1) => text += &format!(", 1 {} cell around", plan.job.grid.padding),
        Some(n) => text += &format!(", {n} {} cells around", plan.job.grid.padding),
    }
    if let Some(grown) = grown(plan, lattice) {
        text += &format!(", box grown to {grown}");
    }
    text
}

/// Where the box that was given had to grow for its last cells to be whole: `x = 1.2, z = 3`.
pub fn grown(plan: &Plan, lattice: &Lattice) -> Option<String> {
    let given = plan.job.grid.grown_from.as_ref()?;
    let end = |axis: usize| {
        let pad = &lattice.spacing()[axis] * &Rational::from(plan.job.grid.pad.unwrap_or(0) as i64);
        &lattice.end()[axis] - &pad
    };
    let grown: Vec<_> = (0..3)
        .filter(|&axis| end(axis) > given.max[axis])
        .map(|axis| format!("{} = {}", AXES[axis], number(end(axis).to_f64())))
        .collect();
    (!grown.is_empty()).then(|| grown.join(", "))
}

fn snap(snapped: u64) -> String {
    let taken = counted(snapped, "coordinate", "coordinates");
    let nearest = if snapped == 1 { "it is nearest to" } else { "they are nearest to" };
    format!("{taken} taken onto the wall or cell centre {nearest}")
}

/// `filled; ties: none; inside: nonzero (auto)`.
fn rule(plan: &Plan, facts: &Facts) -> String {
    let rule = &plan.job.rule;
    let name = rule.name().to_string();
    let fields = rule.fields();
    let options = fields.iter().map(|(name, value)| told::option(name, value, Some(facts)));
    std::iter::once(name).chain(options).collect::<Vec<_>>().join("; ")
}

fn cells(plan: &Plan, occupied: u64, lattice: &Lattice) -> String {
    let all = lattice.cells();
    let volume = volume(occupied, lattice);
    let share = percent(occupied, all);
    let all = grouped(u64::try_from(all).unwrap_or(u64::MAX));
    let empty = if plan.job.rule.inside().is_none() { "; inside empty; --filled fills it" } else { "" };
    format!("{} of {all} ({share}), volume {}{empty}", grouped(occupied), grouped_number(volume))
}

/// The volume of the occupied cells, in cubic units of the file.
pub fn volume(occupied: u64, lattice: &Lattice) -> f64 {
    let count = Rational::from(i64::try_from(occupied).unwrap_or(i64::MAX));
    (lattice.cell_volume() * count).to_f64()
}

/// Both digests on one line.
pub fn digest(digest: &Digest) -> String {
    let grid = digest.grid.map_or_else(String::new, |grid| format!("grid {grid}   "));
    format!("{grid}cells {}", digest.cells)
}

fn planned(plan: &Plan, estimate: &Estimate, room: &Room) -> String {
    let (slabs, whole) = match room.plan {
        MemoryPlan::Dense => (String::new(), String::new()),
        MemoryPlan::Bricks(_) => ("at most ".to_string(), String::new()),
        MemoryPlan::Slabs(height) => {
            let layers = counted(height as u64, "layer", "layers");
            (
                format!("{} slabs of {layers}, ", grouped(room.slabs as u64)),
                format!("; all at once takes {}", bytes(room.dense)),
            )
        }
    };
    let memory = bytes(u128::from(estimate.memory));
    let limit = match &plan.job.how.memory {
        Limit::Asked(most, option) => format!(" ({option} allows {}{whole})", bytes(u128::from(*most))),
        Limit::Available(most) => format!(" ({} available)", bytes(u128::from(*most))),
        Limit::Part(_) | Limit::Unknown => String::new(),
    };
    let output = match estimate.output {
        Some(Size::About(n)) => format!("about {} in ", bytes(u128::from(n))),
        Some(Size::AtMost(n)) => format!("at most {} in ", bytes(u128::from(n))),
        None => String::new(),
    };
    let format = plan.output.format.name;
    let extras: String =
        plan.extras().map(|extra| format!(", {} in {}", extra.about, extra.path.display())).collect();
    format!(
        "{slabs}{memory} of memory{limit}, {output}{} as {format}{extras}; nothing was written",
        plan.output.name()
    )
}

fn wrote(plan: &Plan, written: &Written) -> String {
    let name = match written.path.to_str() {
        Some("-") => plan.output.name(),
        _ => written.path.display().to_string(),
    };
    let extra = plan.extras().find(|extra| extra.path == written.path);
    let numbers = if let Some(extra) = extra {
        format!(", {}", extra.about)
    } else if written.format == plan.output.format.name {
        numbers(plan.output.format, plan.output.dtype())
    } else {
        String::new()
    };
    format!("{name}, {}{numbers}", bytes(u128::from(written.bytes)))
}

/// What a reader of an array finds in it: `, bool a[x,y,z]`.
fn numbers(format: &Format, dtype: Option<Dtype>) -> String {
    let Some(dtype) = dtype.filter(|_| format.dtypes.len() > 1) else { return String::new() };
    // NumPy's index order; the other formats have no index to speak of.
    let index = if format.name.starts_with("np") { " a[x,y,z]" } else { "" };
    format!(", {}{index}", dtype.name())
}

fn time(plan: &Plan, facts: &Facts) -> String {
    let times = &facts.times;
    let phases = [
        ("read", times.read),
        ("voxelize", times.voxelize),
        ("digest", times.digest),
        ("write", times.write),
    ];
    let slabs = match facts.room {
        Some(Room { plan: MemoryPlan::Slabs(_), slabs, .. }) => format!(", {} slabs", grouped(slabs as u64)),
        _ => String::new(),
    };
    took(facts.started.elapsed(), &phases, &plan.job.how, &slabs)
}

/// How long it took, in all and by phase, and with what.
pub fn took(total: Duration, phases: &[(&str, Option<Duration>)], how: &How, slabs: &str) -> String {
    let (unit, per_second) = unit(total);
    let phases: Vec<_> = phases
        .iter()
        .filter_map(|(name, time)| Some(format!("{name} {}", rounded((*time)?, per_second))))
        .collect();
    let phases = if phases.is_empty() { String::new() } else { format!(": {}", phases.join(", ")) };
    let threads = counted(how.threads as u64, "thread", "threads");
    let peak =
        system::peak_memory().map_or_else(String::new, |peak| format!(", peak {}", bytes(u128::from(peak))));
    let (total, level) = (rounded(total, per_second), how.level.name());
    format!("{total} {unit}{phases}; {threads}, {level}{slabs}{peak}")
}

/// `3.2 ms`.
pub fn short(time: Duration) -> String {
    let (unit, per_second) = unit(time);
    format!("{} {unit}", rounded(time, per_second))
}

/// The unit that a time is said in, and how many of it are a second.
fn unit(time: Duration) -> (&'static str, f64) {
    if time < Duration::from_secs(1) { ("ms", 1e3) } else { ("s", 1.0) }
}

fn rounded(time: Duration, per_second: f64) -> String {
    let value = time.as_secs_f64() * per_second;
    if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}
