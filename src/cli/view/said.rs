//! The summary on stderr.

use std::io::Write;

use voxelize::format::Written;
use voxelize::grid::lattice::AXES;
use voxelize::run::bytes;

use super::super::call::Call;
use super::super::numbers::{grouped, number, sizes};
use super::super::plan::Voice;
use super::super::summary;
use super::input::Shown;
use super::request::{Request, Target, What};

/// Says what was read, shown and written, in the manner of the command; a slice as text speaks for
/// itself.
pub fn say(shown: &Shown, request: &Request, written: Option<&Written>, call: &Call) {
    let quiet =
        !call.prints() || (matches!(request.target, Target::Text) && call.telling.voice != Voice::Verbose);
    if quiet {
        return;
    }
    let text: String = lines(shown, request, written, call)
        .into_iter()
        .map(|(label, text)| format!("{label:<8}{text}\n"))
        .chain(shown.facts.warnings.iter().map(|warning| format!("warn: {warning}\n")))
        .collect();
    // If stderr is gone there is nobody left to tell.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn lines(
    shown: &Shown,
    request: &Request,
    written: Option<&Written>,
    call: &Call,
) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    match &shown.facts.source {
        Some(source) => lines.push(("mesh", summary::mesh(&shown.name, source))),
        None => lines.push(("voxels", shown.name.clone())),
    }
    if !shown.parts.is_empty() {
        lines.push(("grid", grid(shown)));
        lines.push(("cells", cells(shown)));
    }
    lines.push(("view", view(shown, request)));
    if let Some(written) = written {
        let name = match written.path.to_str() {
            Some("-") => "standard output".to_string(),
            _ => written.path.display().to_string(),
        };
        lines.push(("wrote", format!("{name}, {}", bytes(u128::from(written.bytes)))));
    }
    let times = &shown.facts.times;
    let phases =
        [("read", times.read), ("voxelize", times.voxelize), ("draw", shown.draw), ("write", times.write)];
    lines.push(("time", summary::took(shown.facts.started.elapsed(), &phases, &call.how, "")));
    lines
}

fn grid(shown: &Shown) -> String {
    let [x, y, z] = shown.dims();
    let lattice = shown.facts.lattice.as_ref();
    let place = lattice.map_or("; the file does not say where they are".to_string(), |lattice| {
        let corner = lattice.origin().each_ref().map(|c| number(c.to_f64())).join(", ");
        format!(" of {}, corner ({corner})", sizes(shown.spacing()))
    });
    format!("{x} × {y} × {z} cells{place}")
}

fn cells(shown: &Shown) -> String {
    match shown.parts.as_slice() {
        [_] => grouped(shown.facts.occupied.unwrap_or_default()),
        parts => {
            let count =
                |part: &voxelize::Part| format!("{} {}", grouped(part.cells.count()), part.sort.name());
            parts.iter().map(count).collect::<Vec<_>>().join(", ")
        }
    }
}

fn view(shown: &Shown, request: &Request) -> String {
    let from = request.view.from;
    let place = || format!("from {}°, {}°", number(from.azimuth), number(from.elevation));
    match request.what {
        What::Cells => place(),
        What::Mesh => format!("triangles, {}", place()),
        What::Slice(asked) => {
            let layer = asked.layer(shown.dims());
            format!("layer {}={}", AXES[layer.axis], layer.index)
        }
        What::Sheet(axis) => format!("layers across {}", AXES[axis]),
    }
}
