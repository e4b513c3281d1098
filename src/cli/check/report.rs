//! A check as rows and as JSON.

use serde_json::{Value, json};
use voxelize::compare::check::{CheckVerdict, CheckedComponent, Defect, DefectPlace, Fitness, MeshCheck};
use voxelize::format::Written;
use voxelize::tool::text::GridCoordinates;
use voxelize::{Code, Error, Lattice};

use super::super::report::display::{self, bytes, counted, grouped};
use super::super::report::{Report, finding_line, value};
use super::super::run::{RunReport, extent, mesh_format, triangles};

/// Components that have a row.
const LISTED: usize = 10;

/// Components that have an object in the JSON: a soup has as many as triangles.
const LISTED_IN_JSON: usize = 1000;

/// The keys of the JSON, with as many places of each finding.
pub(super) fn set(
    report: &mut Report,
    found: &RunReport,
    checked: &MeshCheck,
    lattice: Option<&Lattice>,
    most: usize,
    coordinates: &GridCoordinates,
) {
    if let Some(mesh) = &found.mesh {
        report.set("format", mesh.format);
        report.set("bytes", mesh.bytes);
        let bounds = value::bounds(&mesh.bounds, coordinates);
        let known = json!({"triangles": mesh.triangles, "dropped": mesh.dropped, "bounds": bounds});
        report.set("mesh", known);
    }
    report.set("vertices", json!({"count": checked.vertices, "equal_by": "bits"}));
    report.set("grid", lattice.map(value::lattice));
    report.set(
        "findings",
        checked.defects.iter().map(|defect| finding(defect, most, coordinates)).collect::<Value>(),
    );
    let components = &checked.components;
    let listed = components.iter().take(LISTED_IN_JSON).map(|checked| component(checked, coordinates));
    report.set("components", listed.collect::<Value>());
    report.set("components_more", components.len().saturating_sub(LISTED_IN_JSON));
    let CheckVerdict { closed, oriented, manifold_3mf, safe_methods, nested_shells } = &checked.verdict;
    let names: Vec<_> = safe_methods.iter().map(|method| method.name()).collect();
    let verdict = json!({
        "closed": closed,
        "oriented": oriented,
        "manifold_3mf": manifold_3mf,
        "safe_for_solid": checked.verdict.is_safe_for_solid(),
        "safe_methods": names,
        "nested_shells": nested_shells,
    });
    report.set("verdict", verdict);
    report.set("warnings", found.warnings.iter().map(value::finding).collect::<Value>());
    report.set("outputs", json!([]));
}

fn finding(defect: &Defect, most: usize, coordinates: &GridCoordinates) -> Value {
    let (shown, more) = shown(defect, most);
    let place = |place: &DefectPlace| {
        let DefectPlace { at, triangles, component, cell, length, edges, .. } = place;
        let mut entry = json!({"at": coordinates.point(*at), "triangles": triangles, "component": component, "cell": cell});
        if let Some(length) = length {
            entry["length"] = json!(coordinates.length(*length));
        }
        if let Some(edges) = edges {
            entry["edges"] = json!(edges);
        }
        entry
    };
    json!({
        "code": defect.info.code.name(),
        "name": defect.info.name,
        "severity": defect.info.severity().name(),
        "count": defect.count,
        "at_least": defect.is_partial,
        "effect": defect.info.effect,
        "exact": defect.info.exact,
        "places": shown.iter().map(place).collect::<Value>(),
        "more": more,
    })
}

fn component(checked: &CheckedComponent, coordinates: &GridCoordinates) -> Value {
    let CheckedComponent { component, closed, oriented } = checked;
    json!({
        "triangles": component.triangles,
        "bounds": value::bounds(&component.bounds, coordinates),
        "area": component.area * coordinates.scale.powi(2),
        "volume": component.volume * coordinates.scale.powi(3),
        "closed": closed,
        "oriented": oriented,
    })
}

/// The places that are shown, and how many are not.
fn shown(defect: &Defect, most: usize) -> (&[DefectPlace], u64) {
    let shown = &defect.places[..most.min(defect.places.len())];
    (shown, defect.more + (defect.places.len() - shown.len()) as u64)
}

/// The rows: mesh, findings with as many places each, components. Thin walls were searched if there is a lattice.
pub(super) fn rows(
    report: &mut Report,
    name: &str,
    found: &RunReport,
    checked: &MeshCheck,
    most: usize,
    lattice: Option<&Lattice>,
    coordinates: &GridCoordinates,
) {
    if let Some(mesh) = &found.mesh {
        let kind = mesh_format(mesh.format);
        let triangles = triangles(mesh);
        let size = bytes(mesh.bytes);
        let extent = extent(&mesh.bounds, coordinates.scale) + &coordinates.suffix();
        report.row("mesh", &format!("{name}: {kind}, {triangles}, {extent}, {size}"));
    }
    let vertices = counted(checked.vertices, "vertex", "vertices");
    report.row("", &format!("{vertices}, distinct by exact coordinates (-0 is 0)"));
    found.warnings.iter().for_each(|warning| report.out += &finding_line("", warning));
    if checked.defects.is_empty() {
        let walls = lattice.map_or(
            "; thin walls are searched only with a grid, such as -r 256",
            |_| "; walls are measured at the centres of triangles",
        );
        let so_far = if checked.is_partial { " among the pairs examined" } else { "" };
        report.row("found", &format!("no defect{so_far}{walls}"));
    }
    checked.defects.iter().for_each(|defect| defect_rows(report, defect, most, coordinates));
    component_rows(report, &checked.components, coordinates);
}

fn defect_rows(report: &mut Report, defect: &Defect, most: usize, coordinates: &GridCoordinates) {
    let severity = defect.info.severity().name();
    let how = if defect.info.exact { "decided exactly" } else { "computed in floating point, not exact" };
    report.row(defect.info.code.name(), &format!("{severity}: {}, {how}", count(defect)));
    report.row("", &format!("when filled: {}", defect.info.effect));
    let (shown, more) = shown(defect, most);
    shown.iter().for_each(|place| report.row("", &place_text(place, coordinates)));
    if more > 0 {
        let at_least = if defect.is_partial { "at least " } else { "" };
        report.row("", &format!("and {at_least}{}", counted(more, "more place", "more places")));
    }
}

/// `32 open edges`, or `at least 32 pairs of triangles that cross`.
fn count(defect: &Defect) -> String {
    let [one, many] = defect.info.nouns;
    let at_least = if defect.is_partial { "at least " } else { "" };
    format!("{at_least}{}", counted(defect.count, one, many))
}

/// `at (0, 0, 1), cell 3, 4, 5: 12 edges, 3.4 long; triangles 7, 9; component 0`.
fn place_text(place: &DefectPlace, coordinates: &GridCoordinates) -> String {
    let DefectPlace { at, triangles, component, cell, length, edges, .. } = place;
    // Rounding in a sum of edges is not worth reading.
    let least = 1e-9 * length.unwrap_or(0.0);
    let at = at.map(|c| if c.abs() < least { 0.0 } else { c });
    let mut text = format!("at {}", coordinates.point_text(at));
    if let Some([i, j, k]) = cell {
        text += &format!(", cell ({i}, {j}, {k})");
    }
    text += &match (length, edges) {
        (Some(length), Some(edges)) => {
            let edges = counted(*edges as u64, "edge", "edges");
            format!(": {edges}, {} long", coordinates.length_text(*length))
        }
        (Some(length), None) => format!(": {} thick", coordinates.length_text(*length)),
        _ => String::new(),
    };
    let numbers: Vec<_> = triangles.iter().map(u64::to_string).collect();
    let triangles = if numbers.len() == 1 { "triangle" } else { "triangles" };
    format!("{text}; {triangles} {}; component {component}", numbers.join(", "))
}

fn component_rows(report: &mut Report, components: &[CheckedComponent], coordinates: &GridCoordinates) {
    let all = counted(components.len() as u64, "component", "components");
    report.row("parts", &format!("{all}, connected by vertices"));
    for (n, checked) in components.iter().enumerate().take(LISTED) {
        let CheckedComponent { component, closed, oriented } = checked;
        let triangles = counted(component.triangles, "triangle", "triangles");
        let volume = display::volume(component.volume * coordinates.scale.powi(3), coordinates.unit);
        let volume = match (closed, oriented) {
            (true, true) => format!("volume {volume}"),
            (true, false) => format!("closed, not oriented; signed volume {volume}"),
            _ => format!("not closed; signed volume, with its holes open, {volume}"),
        };
        report.row("", &format!("{n}: {triangles}, {volume}"));
    }
    let more = components.len().saturating_sub(LISTED);
    if more > 0 {
        let in_json = if components.len() > LISTED_IN_JSON { "some of them " } else { "" };
        report.row("", &format!("and {} more, {in_json}in --json", grouped(more as u64)));
    }
}

/// The last rows: why --strict or --require fails, and the verdict.
pub(super) fn verdict_rows(
    report: &mut Report,
    checked: &MeshCheck,
    failure: Option<&Error>,
    lacks: Option<&str>,
) {
    if let Some(failure) = failure {
        report.row("failed", failure.message());
    }
    if let Some(lacks) = lacks {
        report.row("failed", &format!("--require: {lacks}"));
    }
    for (n, fitness) in Fitness::ALL.into_iter().enumerate() {
        let label = if n == 0 { "verdict" } else { "" };
        let text = match lack(fitness, checked) {
            Some(why) if why.is_empty() => "no".to_string(),
            Some(why) => format!("no ({why})"),
            None if fitness == Fitness::Solid => safe_methods(checked),
            None => "yes".to_string(),
        };
        report.row(label, &format!("{}: {text}", fitness.about()));
    }
}

/// `yes, by auto, nonzero, robust; 1 shell lies within another`.
fn safe_methods(checked: &MeshCheck) -> String {
    let CheckVerdict { safe_methods, nested_shells, .. } = &checked.verdict;
    let names: Vec<_> = safe_methods.iter().map(|method| method.name()).collect();
    let mut text = format!("yes, by {}", names.join(", "));
    match *nested_shells {
        0 => {}
        1 => text += "; 1 shell lies within another",
        n => text += &format!("; {} shells lie within others", grouped(n)),
    }
    if checked.defects.iter().any(|defect| defect.info.code == Code::M012) {
        text += "; --solid may lose thin walls (M012)";
    }
    text
}

/// Why a mesh is not fit for a use, `32 open edges`; `None` if it is.
fn lack(fitness: Fitness, checked: &MeshCheck) -> Option<String> {
    let why = || checked.hindrances(fitness).into_iter().map(count).collect::<Vec<_>>().join(", ");
    (!checked.is_fit(fitness)).then(why)
}

/// Why a mesh lacks what `--require` asks for: `not closed: 32 open edges; not safe for solid: 32 open edges`.
pub(super) fn lacks(required: &[Fitness], checked: &MeshCheck) -> Option<String> {
    let lack = |fitness: &Fitness| {
        let why = lack(*fitness, checked)?;
        Some(if why.is_empty() {
            format!("not {}", fitness.about())
        } else {
            format!("not {}: {why}", fitness.about())
        })
    };
    let lacks: Vec<_> = required.iter().filter_map(lack).collect();
    (!lacks.is_empty()).then(|| lacks.join("; "))
}

/// The error of `--strict` for a mesh with defects.
pub(super) fn strict(checked: &MeshCheck) -> Option<Error> {
    let text = |defect: &Defect| format!("{} {}", defect.info.code, count(defect));
    let limit = checked.is_partial.then(|| format!("{} not all pairs were examined", Code::W014));
    let findings: Vec<_> = checked.defects.iter().map(text).chain(limit).collect();
    let error = Error::unfit(format!("--strict: {}", findings.join("; ")));
    (!findings.is_empty()).then(|| error.with_hint("docs/check.md explains each finding"))
}

/// Notes the files that were written.
pub(super) fn wrote(report: &mut Report, written: &[Written]) {
    report.set("outputs", value::outputs(written));
    for written in written {
        report.row("wrote", &format!("{}, {}", written.path.display(), bytes(written.bytes)));
    }
}
