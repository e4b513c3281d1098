//! Findings about the inside of a mesh, in words: what a result may lack, where, and what to do about it.

use super::{Inside, InsideReport, LostComponents, LostFeatures, LostPlaces, Repairs, Rule, ThinFeatures};
use crate::error::{Code, Finding};
use crate::grid::Lattice;
use crate::mesh::Mesh;
use crate::mesh::boundary::Loop;
use crate::mesh::closed::Seal;
use crate::run::holes;
use crate::run::leak::Leak;
use crate::text::{counted, grouped, number};

/// The longest hole that is worth closing, in cells.
const WORTH_CLOSING: u64 = 16;

/// The findings about cells that were filled by `rule`, from the report of the run that filled them.
pub fn findings(rule: &Rule, mesh: &Mesh, lattice: &Lattice, report: &InsideReport) -> Vec<Finding> {
    let Some(inside) = rule.inside() else { return vec![] };
    let open = match inside {
        Inside::Auto if mesh.is_two_sided() => Some(two_sided()),
        Inside::Auto => report.repairs.as_ref().map(open),
        chosen => unfit(chosen, mesh),
    };
    let leak = report.leak.as_ref().map(|leak| leaked(leak, lattice));
    let is_cut = (0..3).any(|a| lattice.is_passed(a, mesh.bounds()).contains(&true));
    let cut = (inside.is_flood() && is_cut).then(|| {
        Finding::new(Code::W007, "the grid boundary cuts the mesh, so the flood enters through the cut")
    });
    let disputed = report.disputed.filter(|cells| *cells > 0).map(|cells| {
        let cells = counted(cells, "cell", "cells");
        Finding::new(Code::W008, format!("vote: the axes disagree on {cells}; majority used"))
    });
    let lost = match rule {
        Rule::Solid { thin: ThinFeatures::Keep, .. } => LostFeatures::default(),
        // All of it is lost, and another method helps.
        _ if mesh.is_two_sided() && is_crossed(inside) => LostFeatures::default(),
        _ => report.lost.unwrap_or_default(),
    };
    let thin = [lost.components.as_ref().map(lost_components), lost.places.as_ref().map(lost_places)];
    [open, leak, cut, disputed].into_iter().chain(thin).flatten().collect()
}

/// The finding that no cell is occupied.
pub fn nothing_occupied(rule: &Rule) -> Finding {
    let why = match rule {
        Rule::Surface { .. } => "the mesh is outside the grid, or lies on its walls",
        Rule::Thin => "the mesh is outside the grid, or passes between the lines through centres of cells",
        Rule::Offset { .. } => {
            "no centre of a cell is that near to the mesh, or all of it is outside the grid"
        }
        Rule::Solid { .. } => "no centre of a cell is inside the mesh, or all of it is outside the grid",
        Rule::Distance { .. } => {
            return Finding::new(Code::W002, "no cell is within the band: the mesh is outside the grid");
        }
        Rule::Filled { .. } => "nothing is inside the mesh, or all of it is outside the grid",
    };
    Finding::new(Code::W002, format!("no cell is occupied: {why}"))
}

fn open(repairs: &Repairs) -> Finding {
    let why = match &repairs.longest {
        Some(longest) if repairs.holes == 1 => format!("1 hole: {}", hole_text(longest)),
        Some(longest) => {
            format!("{} holes, the longest: {}", grouped(repairs.holes as u64), hole_text(longest))
        }
        None => match repaired(repairs) {
            nothing if nothing.is_empty() => "no holes, but edges of several triangles".to_string(),
            repaired => format!("no holes, {repaired}"),
        },
    };
    Finding::new(
        Code::W006,
        format!("the mesh is not closed ({why}); using --inside robust, winding number > 0.5"),
    )
}

/// `2 triangles without area and 1 duplicate dropped, 69,451 triangles flipped`; empty if nothing was repaired.
pub fn repaired(repairs: &Repairs) -> String {
    let Repairs { degenerate, duplicates, turned, .. } = repairs;
    let dropped: Vec<_> = [
        (*degenerate, "triangle without area", "triangles without area"),
        (*duplicates, "duplicate", "duplicates"),
    ]
    .into_iter()
    .filter(|(n, ..)| *n > 0)
    .map(|(n, one, many)| counted(n, one, many))
    .collect();
    let dropped = (!dropped.is_empty()).then(|| format!("{} dropped", dropped.join(" and ")));
    let flipped = (*turned > 0).then(|| format!("{} flipped", counted(*turned, "triangle", "triangles")));
    dropped.into_iter().chain(flipped).collect::<Vec<_>>().join(", ")
}

/// Whether lines through the mesh decide, with triangles as they are.
fn is_crossed(inside: Inside) -> bool {
    matches!(inside, Inside::Nonzero | Inside::EvenOdd | Inside::Vote)
}

/// Why `auto` takes robust for a closed mesh.
fn two_sided() -> Finding {
    Finding::new(Code::W013, "every triangle occurs in both directions; using robust, which counts each once")
}

/// A method that was chosen requires what the mesh is not.
fn unfit(chosen: Inside, mesh: &Mesh) -> Option<Finding> {
    let text = match (chosen, mesh.seal()) {
        _ if mesh.is_two_sided() && is_crossed(chosen) => {
            let name = chosen.name();
            format!("every triangle occurs in both directions: {name} finds nothing inside; use robust")
        }
        (Inside::Nonzero | Inside::EvenOdd, Seal::Open) => {
            let name = chosen.name();
            format!("the mesh is not closed: {name} may be wrong along some lines; use --inside robust")
        }
        (Inside::Vote, Seal::Open) => {
            "the mesh is not closed: vote may be wrong where two of three lines are; use --inside robust"
                .to_string()
        }
        (Inside::Nonzero, Seal::Closed) => {
            "inconsistent triangle orientation affects nonzero; use --inside evenodd or robust".to_string()
        }
        _ => return None,
    };
    Some(Finding::new(Code::W006, text))
}

fn lost_components(found: &LostComponents) -> Finding {
    let LostComponents { components, lost, broken, pieces, largest, thickness, cell, .. } = found;
    let all = counted(*components, "component", "components");
    let (verb, is) = if *lost == 1 { ("contains", "is") } else { ("contain", "are") };
    let none = format!("{} of {all} {verb} no cell centre and {is} lost", grouped(*lost));
    let in_pieces = |of: &str| match broken {
        1 => format!("1{of} is broken into {pieces} pieces"),
        n => format!("{}{of} are broken into up to {pieces} pieces", grouped(*n)),
    };
    let mut text = match (*lost, *broken) {
        (0, _) => in_pieces(&format!(" of {all}")),
        (_, 0) => none,
        _ => format!("{none}, {}", in_pieces("")),
    };
    let which = if lost + broken == 1 { "" } else { "the largest " };
    text += &format!(": {which}{}", extent(*largest));
    // Smaller cells help where the whole of it is thinner than one.
    if *thickness > 0.0 && thickness < cell {
        let thick = two_digits(*thickness);
        text += &format!(", about {thick} thick; use --keep-thin, or cells of {thick} or smaller");
    } else {
        text += "; use --keep-thin, or smaller cells";
    }
    Finding::new(Code::W009, text)
}

fn lost_places(thin: &LostPlaces) -> Finding {
    let LostPlaces { places, cells, largest, .. } = thin;
    let (is, which) = if *places == 1 { ("is", "") } else { ("are", "the longest ") };
    let (places, cells) = (counted(*places, "thin place", "thin places"), counted(*cells, "cell", "cells"));
    let extent = extent(*largest);
    let text = format!(
        "{places} of the mesh ({cells}) {is} lost, as no cell centre is inside: {which}{extent}; use --keep-thin, or \
         smaller cells"
    );
    Finding::new(Code::W011, text)
}

/// `20 × 10 × 0.1 around (0, 1, 2)`.
fn extent([low, high]: [[f64; 3]; 2]) -> String {
    let size = [0, 1, 2].map(|a| number(high[a] - low[a])).join(" × ");
    let centre = [0, 1, 2].map(|a| number((low[a] + high[a]) / 2.0)).join(", ");
    format!("{size} around ({centre})")
}

/// Two digits of a length, not rounded up.
fn two_digits(length: f64) -> String {
    if length <= 0.0 {
        return "0".to_string();
    }
    let scale = 10_f64.powi(1 - length.log10().floor() as i32);
    number((length * scale).floor() / scale)
}

fn leaked(leak: &Leak, lattice: &Lattice) -> Finding {
    let cells = counted(leak.cells, "cell", "cells");
    let mut text = format!("the flood reached {cells} that evenodd calls inside");
    if let Some(longest) = leak.holes.first() {
        let others = match leak.holes.len() {
            1 => String::new(),
            n => format!(", the longest of {n}"),
        };
        text += &format!(", through a hole of {}{others}", hole_text(longest));
        let sides = holes::sides(&leak.holes, lattice);
        if let Some(most) = sides.into_iter().max().filter(|side| *side <= WORTH_CLOSING) {
            let them = if leak.holes.len() == 1 { "it" } else { "them" };
            text += &format!("; --close-holes {} closes {them}", most.max(1));
        }
    }
    Finding::new(Code::W007, text)
}

/// `12 edges, 3.4 long, around (0, 1, 2)`.
fn hole_text(hole: &Loop) -> String {
    let edges = counted(hole.points.len() as u64, "edge", "edges");
    // Rounding in a sum of edges is not worth reading.
    let least = 1e-9 * hole.length();
    let centre = hole.centre().map(|c| number(if c.abs() < least { 0.0 } else { c })).join(", ");
    format!("{edges}, {} long, around ({centre})", number(hole.length()))
}
