//! Texts of findings about the inside of a mesh. A finding describes a possible defect of the result, its
//! position and a remedy.

use super::fraction;
use super::inside::flood;
use super::{
    Band, Inside, LostComponents, LostFeatures, LostPlaces, Repairs, Rule, Stats, ThinFeatures,
};
use crate::run::holes;
use crate::run::leak::Leak;
use voxelize_core::error::{Code, Finding};
use voxelize_core::grid::{Lattice, LengthUnit, MAX_DIM};
use voxelize_core::text::{GridCoordinates, counted, grouped, number};
use voxelize_meshes::Mesh;
use voxelize_meshes::boundary::Loop;
use voxelize_meshes::closed::Closedness;

/// Returns the findings about the cells that `rule` filled. `stats` has the counts of the run. Lengths are
/// printed in the unit of `coordinates`.
pub fn findings(
    rule: &Rule,
    mesh: &Mesh,
    lattice: &Lattice,
    stats: &Stats,
    coordinates: &GridCoordinates,
) -> Vec<Finding> {
    let report = &stats.inside;
    if let Rule::Fraction { .. } = rule {
        return fraction::findings(&stats.fraction, lattice, coordinates);
    }
    let Some(inside) = rule.inside() else {
        return vec![];
    };
    let open = match inside {
        Inside::Auto if mesh.is_two_sided() => Some(two_sided()),
        Inside::Auto => {
            let repairs = report.repairs.as_ref();
            repairs.map(|repairs| open(repairs, coordinates))
        }
        chosen => unfit(chosen, mesh),
    };
    let mut leak = None;
    if let Some(found) = &report.leak {
        leak = Some(leaked(found, lattice, coordinates));
    }
    let mut cut = None;
    if inside.is_flood() && flood::enters_by_cut(mesh, lattice) {
        cut = Some(Finding::new(
            Code::W007,
            "the grid boundary cuts the mesh, so the flood enters through the cut",
        ));
    }
    let disputed = disputed(stats);
    let lost = match rule {
        Rule::Solid {
            thin: ThinFeatures::Keep,
            ..
        } => LostFeatures::default(),
        // The method finds nothing inside such a mesh. Another finding reports this.
        _ if mesh.is_two_sided() && is_crossed(inside) => LostFeatures::default(),
        // The features are lost because the flood leaked. Smaller cells do not help.
        _ if leak.is_some() || cut.is_some() => LostFeatures::default(),
        _ => stats.lost.unwrap_or_default(),
    };
    let mut findings = vec![];
    findings.extend(open);
    findings.extend(leak);
    findings.extend(cut);
    findings.extend(disputed);
    if let Some(components) = &lost.components {
        findings.push(lost_components(components, coordinates));
    }
    if let Some(places) = &lost.places {
        findings.push(lost_places(places, coordinates));
    }
    findings
}

/// Returns the findings about filled cells of a part of the lattice, without findings about the mesh.
pub(crate) fn findings_of_cells(
    rule: &Rule,
    lattice: &Lattice,
    stats: &Stats,
    coordinates: &GridCoordinates,
) -> Vec<Finding> {
    match rule {
        Rule::Fraction { .. } => fraction::findings(&stats.fraction, lattice, coordinates),
        _ => disputed(stats).into_iter().collect(),
    }
}

fn disputed(stats: &Stats) -> Option<Finding> {
    let cells = stats.inside.disputed?;
    if cells == 0 {
        return None;
    }
    let cells = counted(cells, "cell", "cells");
    let text =
        format!("vote: rays along the three axes disagree about {cells}; the majority decides");
    Some(Finding::new(Code::W008, text))
}

/// Returns the finding that reports a result without occupied cells. `others` are the findings that
/// [`findings`] returned.
pub fn nothing_occupied(rule: &Rule, others: &[Finding]) -> Finding {
    let is_flooded = others.iter().any(|finding| finding.code() == Code::W007);
    let flooded = "no cell is occupied: the flood reached the inside of the mesh (W007)";
    let finding = Finding::new(
        Code::W002,
        if is_flooded {
            flooded
        } else {
            rule.info().empty
        },
    );
    match rule {
        Rule::Solid { .. } if !is_flooded => {
            finding.with_hint("`--filled` occupies every cell that the mesh overlaps")
        }
        Rule::Distance {
            band: Band::Width(width),
            iso: None,
            ..
        } if width.unit() == LengthUnit::Cells => {
            finding.with_hint("a band without a unit counts cells: `--band 10mm` is a length")
        }
        _ => finding,
    }
}

fn open(repairs: &Repairs, coordinates: &GridCoordinates) -> Finding {
    let why = match &repairs.longest {
        Some(longest) if repairs.holes == 1 => {
            format!("1 hole: {}", hole_text(longest, coordinates))
        }
        Some(longest) => {
            format!(
                "{} holes, the longest: {}",
                grouped(repairs.holes as u64),
                hole_text(longest, coordinates)
            )
        }
        None => match repaired(repairs) {
            nothing if nothing.is_empty() => {
                "no holes, but edges shared by several triangles".to_string()
            }
            repaired => format!("no holes, {repaired}"),
        },
    };
    let mut text =
        format!("the mesh is not closed ({why}); a winding number above 0.5 is inside (robust)");
    if repairs.of_sheets == 0 {
        return Finding::new(Code::W006, text);
    }
    let triangles = counted(repairs.of_sheets, "triangle belongs", "triangles belong");
    text += &format!("; {triangles} to open sheets: cells in front of them may be lost");
    Finding::new(Code::W006, text)
        .with_hint("`--inside evenodd` does not depend on the orientation of sheets")
}

/// Describes the repairs, such as `2 triangles without area and 1 duplicate dropped, 69,451 triangles
/// flipped`. The text is empty if there are no repairs.
pub fn repaired(repairs: &Repairs) -> String {
    let Repairs {
        degenerate,
        duplicates,
        turned,
        ..
    } = repairs;
    let mut dropped = vec![];
    if *degenerate > 0 {
        let one = "triangle without area";
        let many = "triangles without area";
        dropped.push(counted(*degenerate, one, many));
    }
    if *duplicates > 0 {
        dropped.push(counted(*duplicates, "duplicate", "duplicates"));
    }
    let mut repairs = vec![];
    if !dropped.is_empty() {
        repairs.push(format!("{} dropped", dropped.join(" and ")));
    }
    if *turned > 0 {
        let triangles = counted(*turned, "triangle", "triangles");
        repairs.push(format!("{triangles} flipped"));
    }
    repairs.join(", ")
}

/// Returns true if the method counts crossings of the unrepaired triangles.
fn is_crossed(inside: Inside) -> bool {
    matches!(inside, Inside::Nonzero | Inside::EvenOdd | Inside::Vote)
}

/// Returns the finding that explains why robust is used on a mesh with two-sided triangles.
fn two_sided() -> Finding {
    Finding::new(
        Code::W013,
        "every triangle occurs in both orientations; using robust, which counts each triangle once",
    )
}

/// Returns the finding about a requested method that does not suit the mesh.
fn unfit(chosen: Inside, mesh: &Mesh) -> Option<Finding> {
    let text = match (chosen, mesh.closedness()) {
        _ if mesh.is_two_sided() && is_crossed(chosen) => {
            let name = chosen.name();
            format!("every triangle occurs in both orientations: {name} finds nothing inside")
        }
        (Inside::Nonzero | Inside::EvenOdd, Closedness::Open) => {
            let name = chosen.name();
            format!("the mesh is not closed: {name} casts rays, and may be wrong in cells whose ray passes through a hole")
        }
        (Inside::Vote, Closedness::Open) => {
            "the mesh is not closed: rays through its holes give wrong results, and vote is wrong in cells where this happens \
             to two of the three rays"
                .to_string()
        }
        (Inside::Nonzero, Closedness::Closed) => {
            let text = "inconsistent triangle orientation affects nonzero";
            let hint = "use `--inside evenodd` or robust";
            return Some(Finding::new(Code::W006, text).with_hint(hint));
        }
        _ => return None,
    };
    Some(Finding::new(Code::W006, text).with_hint("use `--inside robust`"))
}

fn lost_components(found: &LostComponents, coordinates: &GridCoordinates) -> Finding {
    let LostComponents {
        components,
        lost,
        broken,
        pieces,
        largest,
        thickness,
        cell,
        ..
    } = found;
    let all = counted(*components, "component", "components");
    let (verb, is) = if *lost == 1 {
        ("contains", "is")
    } else {
        ("contain", "are")
    };
    let none = format!(
        "{} of {all} {verb} no cell centre and {is} lost",
        grouped(*lost)
    );
    let in_pieces = |of: &str| match broken {
        1 => format!("1{of} is broken into {pieces} pieces"),
        n => format!("{}{of} are broken into up to {pieces} pieces", grouped(*n)),
    };
    let mut text = match (*lost, *broken) {
        (0, _) => in_pieces(&format!(" of {all}")),
        (_, 0) => none,
        _ => format!("{none}, {}", in_pieces("")),
    };
    let which = if lost + broken == 1 {
        ""
    } else {
        "the largest "
    };
    text += &format!(": {which}{}", extent(*largest, coordinates));
    // Only if the whole component is thinner than a cell does the hint name a cell size that helps.
    let mut smaller = "or smaller cells".to_string();
    if *thickness > 0.0 && thickness < cell {
        let thick = two_digits(coordinates.length(*thickness)) + &coordinates.suffix();
        text += &format!(", about {thick} thick (2 × volume / area)");
        smaller = format!("or cells of {thick} or smaller");
    }
    Finding::new(Code::W009, text).with_hint(format!("use `--keep-thin`, {smaller}"))
}

fn lost_places(thin: &LostPlaces, coordinates: &GridCoordinates) -> Finding {
    let LostPlaces {
        places,
        cells,
        largest,
        ..
    } = thin;
    let (is, which) = if *places == 1 {
        ("is", "")
    } else {
        ("are", "the longest ")
    };
    let places = counted(*places, "thin place", "thin places");
    let cells = counted(*cells, "cell", "cells");
    let extent = extent(*largest, coordinates);
    let text = format!(
        "{places} of the mesh ({cells}) {is} lost, because no cell centre is inside: {which}{extent}"
    );
    Finding::new(Code::W011, text).with_hint("use `--keep-thin`, or smaller cells")
}

/// Formats a box by its size and centre, such as `20 × 10 × 0.1 mm around (0, 1, 2) mm`.
fn extent([low, high]: [[f64; 3]; 2], coordinates: &GridCoordinates) -> String {
    let size = [0, 1, 2]
        .map(|a| number(coordinates.length(high[a] - low[a])))
        .join(" × ");
    let centre = coordinates.point_text([0, 1, 2].map(|a| (low[a] + high[a]) / 2.0));
    format!("{size}{} around {centre}", coordinates.suffix())
}

/// Rounds a length down to two significant digits.
fn two_digits(length: f64) -> String {
    if length <= 0.0 {
        return "0".to_string();
    }
    let scale = 10_f64.powi(1 - length.log10().floor() as i32);
    number((length * scale).floor() / scale)
}

fn leaked(leak: &Leak, lattice: &Lattice, coordinates: &GridCoordinates) -> Finding {
    let cells = counted(leak.cells, "cell", "cells");
    let mut text = format!("the flood reached {cells} that evenodd counts as inside");
    let mut hint = None;
    if let Some(longest) = leak.holes.first() {
        let hole = hole_text(longest, coordinates);
        let them = match leak.holes.len() {
            1 => {
                text += &format!(", through a hole: {hole}");
                "it"
            }
            n => {
                text += &format!(", through {} holes; the longest: {hole}", grouped(n as u64));
                "all of them"
            }
        };
        let sides = holes::sides(&leak.holes, lattice);
        let most = sides.into_iter().max().unwrap_or(0).max(1);
        if most <= MAX_DIM as u64 {
            hint = Some(format!("`--close-holes {most}` closes {them}"));
        } else {
            text += &format!("; the largest is {} cells wide", grouped(most));
        }
    }
    let finding = Finding::new(Code::W007, text);
    match hint {
        Some(hint) => finding.with_hint(hint),
        None => finding,
    }
}

/// Describes a hole, such as `12 edges, perimeter 3.4 mm, centre (0, 1, 2) mm`.
fn hole_text(hole: &Loop, coordinates: &GridCoordinates) -> String {
    let edges = counted(hole.points.len() as u64, "edge", "edges");
    // Coordinates below this bound are rounding errors of the sum over the edges, and are printed as zero.
    let least = 1e-9 * hole.length();
    let centre =
        coordinates.point_text(hole.centre().map(|c| if c.abs() < least { 0.0 } else { c }));
    format!(
        "{edges}, perimeter {}, centre {centre}",
        coordinates.length_text(hole.length())
    )
}
