//! Result of a check, as rows of text and as JSON.

use serde::Serialize;
use voxelize::compare::check::{
    CheckVerdict, CheckedComponent, Defect, DefectPlace, Fitness, MeshCheck,
};
use voxelize::tool::text::GridCoordinates;
use voxelize::{Code, Error, Lattice};

use crate::cli::report::ReportRows;
use crate::cli::report::display::{self, bytes, counted, grouped};
use crate::cli::report::value::{self, CornersJson, Grid, OutputJson, Warning};
use crate::cli::run::{RunReport, extent, mesh_format, triangles};

/// Maximum number of components that get a row of text.
const LISTED: usize = 10;

/// Maximum number of components listed in JSON. In a triangle soup each triangle is a component.
const LISTED_IN_JSON: usize = 1000;

/// Result of the command for one mesh.
#[derive(Default, Serialize)]
pub(super) struct CheckedMesh {
    pub path: Option<String>,
    format: Option<&'static str>,
    bytes: Option<u64>,
    mesh: Option<CheckedMeshJson>,
    vertices: Option<VerticesJson>,
    grid: Option<Grid>,
    findings: Option<Vec<DefectJson>>,
    components: Option<Vec<ComponentInfo>>,
    components_more: Option<usize>,
    verdict: Option<Verdict>,
    warnings: Option<Vec<Warning>>,
    pub outputs: Option<Vec<OutputJson>>,
}

#[derive(Serialize)]
struct CheckedMeshJson {
    triangles: usize,
    dropped: u64,
    bounds: Option<CornersJson>,
}

#[derive(Serialize)]
struct VerticesJson {
    count: u64,
    equal_by: &'static str,
}

#[derive(Serialize)]
struct DefectJson {
    code: &'static str,
    name: &'static str,
    severity: &'static str,
    count: u64,
    at_least: bool,
    effect: &'static str,
    exact: bool,
    places: Vec<DefectPlaceJson>,
    more: u64,
}

#[derive(Serialize)]
struct DefectPlaceJson {
    at: [f64; 3],
    triangles: Vec<u64>,
    component: u32,
    cell: Option<[usize; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges: Option<usize>,
}

#[derive(Serialize)]
struct ComponentInfo {
    triangles: u64,
    bounds: Option<CornersJson>,
    area: f64,
    volume: f64,
    closed: bool,
    oriented: bool,
}

#[derive(Serialize)]
struct Verdict {
    closed: bool,
    oriented: bool,
    manifold_3mf: bool,
    safe_for_solid: bool,
    safe_methods: Vec<&'static str>,
    nested_shells: u64,
}

impl CheckedMesh {
    /// Copies the results of a check. At most `places` places of each defect are copied.
    pub(super) fn set(
        &mut self,
        found: &RunReport,
        checked: &MeshCheck,
        lattice: Option<&Lattice>,
        places: usize,
        coordinates: &GridCoordinates,
    ) {
        if let Some(mesh) = &found.mesh {
            self.format = Some(mesh.format);
            self.bytes = Some(mesh.bytes);
            let bounds = CornersJson::of(&mesh.bounds, coordinates);
            self.mesh = Some(CheckedMeshJson {
                triangles: mesh.triangles,
                dropped: mesh.dropped,
                bounds,
            });
        }
        self.vertices = Some(VerticesJson {
            count: checked.vertices,
            equal_by: "bits",
        });
        self.grid = lattice.map(Grid::from);
        let defects = checked.defects.iter();
        self.findings = Some(
            defects
                .map(|defect| DefectJson::new(defect, places, coordinates))
                .collect(),
        );
        let listed = checked.components.iter().take(LISTED_IN_JSON);
        self.components = Some(
            listed
                .map(|component| ComponentInfo::new(component, coordinates))
                .collect(),
        );
        self.components_more = Some(checked.components.len().saturating_sub(LISTED_IN_JSON));
        let CheckVerdict {
            closed,
            oriented,
            manifold_3mf,
            safe_methods,
            nested_shells,
        } = &checked.verdict;
        self.verdict = Some(Verdict {
            closed: *closed,
            oriented: *oriented,
            manifold_3mf: *manifold_3mf,
            safe_for_solid: checked.verdict.is_safe_for_solid(),
            safe_methods: safe_methods.iter().map(|method| method.name()).collect(),
            nested_shells: *nested_shells,
        });
        self.warnings = Some(value::warnings(&found.warnings));
        self.outputs = Some(vec![]);
    }
}

impl DefectJson {
    fn new(defect: &Defect, most: usize, coordinates: &GridCoordinates) -> Self {
        let (shown, more) = shown(defect, most);
        let place = |place: &DefectPlace| DefectPlaceJson {
            at: coordinates.point(place.at),
            triangles: place.triangles.clone(),
            component: place.component,
            cell: place.cell,
            length: place.length.map(|length| coordinates.length(length)),
            edges: place.edges,
        };
        Self {
            code: defect.info.code.name(),
            name: defect.info.name,
            severity: defect.info.severity().name(),
            count: defect.count,
            at_least: defect.is_partial,
            effect: defect.info.effect,
            exact: defect.info.exact,
            places: shown.iter().map(place).collect(),
            more,
        }
    }
}

impl ComponentInfo {
    fn new(checked: &CheckedComponent, coordinates: &GridCoordinates) -> Self {
        let CheckedComponent {
            component,
            closed,
            oriented,
        } = *checked;
        Self {
            triangles: component.triangles,
            bounds: CornersJson::of(&component.bounds, coordinates),
            area: component.area * coordinates.scale.powi(2),
            volume: component.volume * coordinates.scale.powi(3),
            closed,
            oriented,
        }
    }
}

/// Returns the first `most` places of a defect, and the number of places that are left out.
fn shown(defect: &Defect, most: usize) -> (&[DefectPlace], u64) {
    let shown = &defect.places[..most.min(defect.places.len())];
    (
        shown,
        defect.more + (defect.places.len() - shown.len()) as u64,
    )
}

/// Adds the rows about the mesh, its defects and its components. At most `most` places of each defect are
/// listed. Thin walls are searched only with a lattice; without one, the rows state this.
pub(super) fn add_rows(
    rows: &mut ReportRows,
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
        rows.row(
            "mesh",
            format!("{name}: {kind}, {triangles}, {extent}, {size}"),
        );
    }
    let vertices = counted(checked.vertices, "distinct vertex", "distinct vertices");
    rows.row(
        "",
        format!("{vertices}, compared by exact coordinates (-0 equals 0)"),
    );
    for warning in &found.warnings {
        rows.finding("", warning);
    }
    if checked.defects.is_empty() {
        let walls = lattice.map_or(
            "; thin walls are checked only if a grid is given, for example with -r 256",
            |_| "; walls are measured at the centres of triangles",
        );
        let so_far = if checked.is_partial {
            " among the examined pairs"
        } else {
            ""
        };
        rows.row("found", format!("no defects{so_far}{walls}"));
    }
    for defect in &checked.defects {
        defect_rows(rows, defect, most, coordinates);
    }
    component_rows(rows, &checked.components, coordinates);
}

fn defect_rows(rows: &mut ReportRows, defect: &Defect, most: usize, coordinates: &GridCoordinates) {
    let severity = defect.info.severity().name();
    let how = if defect.info.exact {
        "decided exactly"
    } else {
        "computed in floating point, not exact"
    };
    rows.row(
        defect.info.code.name(),
        format!("{severity}: {}, {how}", count(defect)),
    );
    rows.row("", format!("when filled: {}", defect.info.effect));
    let (shown, more) = shown(defect, most);
    for place in shown {
        rows.row("", place_text(place, coordinates));
    }
    if more > 0 {
        let at_least = if defect.is_partial { "at least " } else { "" };
        rows.row(
            "",
            format!(
                "and {at_least}{}",
                counted(more, "more place", "more places")
            ),
        );
    }
}

/// Returns `32 open edges`. If not all pairs were examined, returns `at least 32 pairs of triangles that
/// cross`.
fn count(defect: &Defect) -> String {
    let [one, many] = defect.info.nouns;
    let at_least = if defect.is_partial { "at least " } else { "" };
    format!("{at_least}{}", counted(defect.count, one, many))
}

/// Returns `at (0, 0, 1), cell 3, 4, 5: 12 edges, 3.4 long; triangles 7, 9; component 0`.
fn place_text(place: &DefectPlace, coordinates: &GridCoordinates) -> String {
    let DefectPlace {
        at,
        triangles,
        component,
        cell,
        length,
        edges,
        ..
    } = place;
    // A coordinate that is tiny compared with the length of the edges is rounding noise, and is shown as 0.
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
    let triangles = if numbers.len() == 1 {
        "triangle"
    } else {
        "triangles"
    };
    format!(
        "{text}; {triangles} {}; component {component}",
        numbers.join(", ")
    )
}

fn component_rows(
    rows: &mut ReportRows,
    components: &[CheckedComponent],
    coordinates: &GridCoordinates,
) {
    let all = counted(components.len() as u64, "component", "components");
    rows.row("parts", format!("{all}, connected by vertices"));
    for (n, checked) in components.iter().enumerate().take(LISTED) {
        let CheckedComponent {
            component,
            closed,
            oriented,
        } = checked;
        let triangles = counted(component.triangles, "triangle", "triangles");
        let volume = display::volume(
            component.volume * coordinates.scale.powi(3),
            coordinates.unit,
        );
        let volume = match (closed, oriented) {
            (true, true) => format!("volume {volume}"),
            (true, false) => format!("closed, not oriented; signed volume {volume}"),
            _ => format!("not closed; signed volume {volume}, computed without closing the holes"),
        };
        rows.row("", format!("{n}: {triangles}, {volume}"));
    }
    let more = components.len().saturating_sub(LISTED);
    if more > 0 {
        let in_json = if components.len() > LISTED_IN_JSON {
            "some of them "
        } else {
            ""
        };
        rows.row(
            "",
            format!("and {} more, {in_json}in --json", grouped(more as u64)),
        );
    }
}

/// Adds the last rows: the reason why --strict or --require fails, and the verdict.
pub(super) fn verdict_rows(
    rows: &mut ReportRows,
    checked: &MeshCheck,
    failure: Option<&Error>,
    lacks: Option<&str>,
) {
    if let Some(failure) = failure {
        rows.row("failed", failure.message());
    }
    if let Some(lacks) = lacks {
        rows.row("failed", format!("--require: {lacks}"));
    }
    for (n, fitness) in Fitness::ALL.into_iter().enumerate() {
        let label = if n == 0 { "verdict" } else { "" };
        let text = match lack(fitness, checked) {
            Some(why) if why.is_empty() => "no".to_string(),
            Some(why) => format!("no ({why})"),
            None if fitness == Fitness::Solid => safe_methods(checked),
            None => "yes".to_string(),
        };
        rows.row(label, format!("{}: {text}", fitness.about()));
    }
}

/// Returns `yes, with --inside auto, nonzero, robust; 1 shell lies within another`.
fn safe_methods(checked: &MeshCheck) -> String {
    let CheckVerdict {
        safe_methods,
        nested_shells,
        ..
    } = &checked.verdict;
    let names: Vec<_> = safe_methods.iter().map(|method| method.name()).collect();
    let mut text = format!("yes, with --inside {}", names.join(", "));
    match *nested_shells {
        0 => {}
        1 => text += "; 1 shell lies within another",
        n => text += &format!("; {} shells lie within others", grouped(n)),
    }
    if checked
        .defects
        .iter()
        .any(|defect| defect.info.code == Code::M012)
    {
        text += "; --solid may lose thin walls (M012)";
    }
    text
}

/// Returns the defects that make a mesh unfit for a use, `32 open edges`. `None` if the mesh is fit.
fn lack(fitness: Fitness, checked: &MeshCheck) -> Option<String> {
    let why = || {
        checked
            .hindrances(fitness)
            .into_iter()
            .map(count)
            .collect::<Vec<_>>()
            .join(", ")
    };
    (!checked.is_fit(fitness)).then(why)
}

/// Returns the properties of `--require` that a mesh lacks, with reasons: `not closed: 32 open edges;
/// not safe for solid: 32 open edges`.
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

/// Returns the error of `--strict` for a mesh with defects.
pub(super) fn strict(checked: &MeshCheck) -> Option<Error> {
    let text = |defect: &Defect| format!("{} ({})", count(defect), defect.info.code);
    let limit = checked
        .is_partial
        .then(|| format!("not all pairs were examined ({})", Code::W014));
    let findings: Vec<_> = checked.defects.iter().map(text).chain(limit).collect();
    let error = Error::unfit(format!("--strict: {}", findings.join("; ")));
    (!findings.is_empty()).then(|| {
        error.with_hint(
            "omit --strict to accept them; docs/reference/check.md explains each finding",
        )
    })
}
