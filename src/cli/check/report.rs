//! Result of a check, as rows of text and as JSON.

use std::time::Duration;

use serde::Serialize;
use voxelize::compare::check::{
    CheckVerdict, CheckedComponent, Defect, DefectPlace, Fitness, MeshCheck, ObjectCheck,
    ObjectChecks,
};
use voxelize::tool::text::GridCoordinates;
use voxelize::{Code, Error, Lattice};

use crate::cli::junit::{JunitCase, JunitResult};
use crate::cli::report::ReportRows;
use crate::cli::report::display::{self, bytes, counted, grouped};
use crate::cli::report::value::{self, CornersJson, Grid, OutputJson, Warning};
use crate::cli::run::{RunReport, extent, mesh_format, triangles};

/// Maximum number of components that get a row of text.
const LISTED: usize = 10;

/// Maximum number of objects with rows.
const OBJECTS: usize = 100;

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
    unit: Option<&'static str>,
    min_wall: Option<f64>,
    findings: Option<Vec<DefectJson>>,
    objects: Option<Vec<ObjectJson>>,
    between: Option<Vec<BetweenJson>>,
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
struct ObjectJson {
    name: String,
    triangles: usize,
    bounds: Option<CornersJson>,
    volume: f64,
    findings: Vec<DefectJson>,
    verdict: Verdict,
}

/// Defects between triangles of different objects.
#[derive(Serialize)]
struct BetweenJson {
    code: &'static str,
    name: &'static str,
    count: u64,
    at_least: bool,
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
        checked: &ObjectChecks,
        (lattice, min_wall): (Option<&Lattice>, Option<f64>),
        places: usize,
        coordinates: &GridCoordinates,
    ) {
        let all = &checked.all;
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
            count: all.vertices,
            equal_by: "bits",
        });
        self.grid = lattice.map(Grid::from);
        self.unit = coordinates.unit;
        self.min_wall = min_wall;
        self.findings = Some(findings(all, places, coordinates));
        let mut objects = vec![];
        for object in &checked.objects {
            objects.push(ObjectJson {
                name: object.name.clone(),
                triangles: object.triangles,
                bounds: CornersJson::of(&object.bounds, coordinates),
                volume: volume(&object.check, coordinates),
                findings: findings(&object.check, places, coordinates),
                verdict: Verdict::new(&object.check.verdict),
            });
        }
        self.objects = Some(objects);
        let mut between = vec![];
        for (info, count) in &checked.between {
            between.push(BetweenJson {
                code: info.code.name(),
                name: info.name,
                count: *count,
                at_least: all.is_partial,
            });
        }
        self.between = Some(between);
        let listed = all.components.iter().take(LISTED_IN_JSON);
        self.components = Some(
            listed
                .map(|component| ComponentInfo::new(component, coordinates))
                .collect(),
        );
        self.components_more = Some(all.components.len().saturating_sub(LISTED_IN_JSON));
        self.verdict = Some(Verdict::new(&all.verdict));
        self.warnings = Some(value::warnings(&found.warnings));
        self.outputs = Some(vec![]);
    }
}

impl Verdict {
    fn new(verdict: &CheckVerdict) -> Self {
        let CheckVerdict {
            closed,
            oriented,
            manifold_3mf,
            safe_methods,
            nested_shells,
        } = verdict;
        Self {
            closed: *closed,
            oriented: *oriented,
            manifold_3mf: *manifold_3mf,
            safe_for_solid: verdict.is_safe_for_solid(),
            safe_methods: safe_methods.iter().map(|method| method.name()).collect(),
            nested_shells: *nested_shells,
        }
    }
}

fn findings(checked: &MeshCheck, places: usize, coordinates: &GridCoordinates) -> Vec<DefectJson> {
    let defects = checked.defects.iter();
    defects
        .map(|defect| DefectJson::new(defect, places, coordinates))
        .collect()
}

/// Returns the sum of the volumes of all components.
fn volume(checked: &MeshCheck, coordinates: &GridCoordinates) -> f64 {
    let volumes = checked.components.iter().map(|one| one.component.volume);
    volumes.sum::<f64>() * coordinates.scale.powi(3)
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

/// Walls that the search for thin walls reports.
pub(super) enum Walls {
    NotSearched,
    ThinnerThanCell,
    /// Walls thinner than this length, with its unit.
    Thinner(String),
}

/// Conditions of `--require`, `--strict` and `--min-wall`.
pub(super) struct Gates<'a> {
    pub required: &'a [Fitness],
    pub is_strict: bool,
    /// Thickness in the unit of the grid.
    pub min_wall: Option<f64>,
}

/// Report on a mesh as rows of text.
pub(super) struct CheckReport<'a> {
    pub name: &'a str,
    /// Names of the checked objects. Empty if all were.
    pub only: &'a [String],
    pub found: &'a RunReport,
    pub checked: &'a ObjectChecks,
    /// Number of places of each defect.
    pub most: usize,
    pub walls: &'a Walls,
    pub coordinates: &'a GridCoordinates,
    pub gates: &'a Gates<'a>,
}

impl CheckReport<'_> {
    /// Adds the rows: verdict, mesh, objects, defects, components.
    pub(super) fn add_rows(&self, rows: &mut ReportRows) {
        let coordinates = self.coordinates;
        let ObjectChecks {
            all,
            objects,
            between,
        } = self.checked;
        rows.row("verdict", self.verdict());
        if let Some(mesh) = &self.found.mesh {
            let kind = mesh_format(mesh.format);
            let triangles = triangles(mesh);
            let size = bytes(mesh.bytes);
            let extent = extent(&mesh.bounds, coordinates.scale) + &coordinates.suffix();
            rows.row(
                "mesh",
                format!("{}: {kind}, {triangles}, {extent}, {size}", self.name),
            );
        }
        let vertices = counted(all.vertices, "distinct vertex", "distinct vertices");
        rows.row(
            "",
            format!("{vertices}, compared by exact coordinates (-0 equals 0)"),
        );
        for warning in &self.found.warnings {
            rows.finding("", warning);
        }
        self.object_rows(rows);
        if all.defects.is_empty() {
            let walls = match self.walls {
                Walls::NotSearched => {
                    "; thin walls are checked only with --min-wall or a grid, for example with -r 256"
                }
                Walls::ThinnerThanCell => "; walls are measured at the centres of triangles",
                Walls::Thinner(_) => "; walls are measured at points of all triangles",
            };
            let so_far = if all.is_partial {
                " among the examined pairs"
            } else {
                ""
            };
            rows.row("found", format!("no defects{so_far}{walls}"));
        }
        if objects.is_empty() {
            for defect in &all.defects {
                self.defect_rows(rows, "", defect);
            }
        }
        let with_defects = objects
            .iter()
            .filter(|object| !object.check.defects.is_empty());
        for object in with_defects.take(OBJECTS) {
            for defect in &object.check.defects {
                self.defect_rows(rows, &format!("{}: ", object.name), defect);
            }
        }
        for (n, (info, count)) in between.iter().enumerate() {
            let label = if n == 0 { "between" } else { "" };
            let at_least = if all.is_partial { "at least " } else { "" };
            let count = counted(*count, info.nouns[0], info.nouns[1]);
            rows.row(
                label,
                format!(
                    "{at_least}{count}, of different objects; 'voxelize clearance' compares objects"
                ),
            );
        }
        component_rows(rows, &all.components, coordinates);
    }

    /// Returns the verdict on the whole file: `a.3mf: 2 objects, 1 of them not closed, ...`.
    fn verdict(&self) -> String {
        let Self {
            checked,
            gates,
            coordinates,
            ..
        } = *self;
        let mut about = self.name.to_string();
        if !self.only.is_empty() {
            about += &format!(", {}", self.only.join(", "));
        }
        let is_gated = gates.is_strict || !gates.required.is_empty() || gates.min_wall.is_some();
        if is_gated {
            let fails = gates.strict(&checked.all).is_some()
                || !gates.lacks(&checked.all, coordinates).is_empty();
            about += if fails { " fails" } else { " passes" };
        }
        let objects = &checked.objects;
        if objects.is_empty() {
            return format!("{about}: {}", summary(&checked.all));
        }
        let count = grouped(objects.len() as u64);
        let bad: Vec<_> = objects
            .iter()
            .filter(|object| {
                Fitness::ALL
                    .iter()
                    .any(|fitness| !object.check.is_fit(*fitness))
            })
            .collect();
        match bad.as_slice() {
            [] => format!("{about}: {count} objects, each {}", summary(&checked.all)),
            [one] => format!(
                "{about}: 1 of {count} objects is unfit: {} is {}",
                one.name,
                summary(&one.check)
            ),
            [first, ..] => format!(
                "{about}: {} of {count} objects are unfit; {} is {}",
                grouped(bad.len() as u64),
                first.name,
                summary(&first.check)
            ),
        }
    }

    fn object_rows(&self, rows: &mut ReportRows) {
        let objects = &self.checked.objects;
        for ObjectCheck {
            name,
            triangles,
            check,
            ..
        } in objects.iter().take(OBJECTS)
        {
            let triangles = counted(*triangles as u64, "triangle", "triangles");
            let volume = display::volume(volume(check, self.coordinates), self.coordinates.unit);
            rows.row(
                "object",
                format!("{name}: {}; {triangles}, volume {volume}", summary(check)),
            );
        }
        if objects.len() > OBJECTS {
            let more = grouped((objects.len() - OBJECTS) as u64);
            rows.row("", format!("and {more} more, in --json"));
        }
    }

    fn defect_rows(&self, rows: &mut ReportRows, about: &str, defect: &Defect) {
        let severity = defect.info.severity().name();
        let how = if defect.info.exact {
            "decided exactly"
        } else {
            "computed in floating point, not exact"
        };
        let limit = match self.walls {
            Walls::Thinner(length) if defect.info.code == Code::M012 => {
                format!(", thinner than {length}")
            }
            _ if defect.info.code == Code::M012 => ", thinner than a cell".to_string(),
            _ => String::new(),
        };
        rows.row(
            defect.info.code.name(),
            format!("{about}{severity}: {}{limit}, {how}", count(defect)),
        );
        rows.row("", format!("when filled: {}", defect.info.effect));
        let (shown, more) = shown(defect, self.most);
        for place in shown {
            rows.row("", place_text(place, self.coordinates));
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

    /// Adds the last rows: the reasons why --strict, --require or --min-wall fail, and the verdict in
    /// detail.
    pub(super) fn add_details(
        &self,
        rows: &mut ReportRows,
        failure: Option<&Error>,
        lacks: &[String],
    ) {
        let all = &self.checked.all;
        if let Some(failure) = failure {
            rows.row("failed", failure.message());
        }
        for lacks in lacks {
            rows.row("failed", lacks);
        }
        for (n, fitness) in Fitness::ALL.into_iter().enumerate() {
            let label = if n == 0 { "details" } else { "" };
            let text = match lack(fitness, all) {
                Some(why) if why.is_empty() => "no".to_string(),
                Some(why) => format!("no ({why})"),
                None if fitness == Fitness::Solid => self.safe_methods(),
                None => "yes".to_string(),
            };
            rows.row(label, format!("{}: {text}", fitness.about()));
        }
    }

    /// Returns `yes, with --inside auto, nonzero, robust; 1 shell lies within another`.
    fn safe_methods(&self) -> String {
        let all = &self.checked.all;
        let CheckVerdict {
            safe_methods,
            nested_shells,
            ..
        } = &all.verdict;
        let names: Vec<_> = safe_methods.iter().map(|method| method.name()).collect();
        let mut text = format!("yes, with --inside {}", names.join(", "));
        match *nested_shells {
            0 => {}
            1 => text += "; 1 shell lies within another",
            n => text += &format!("; {} shells lie within others", grouped(n)),
        }
        let loses_walls = matches!(self.walls, Walls::ThinnerThanCell)
            && all
                .defects
                .iter()
                .any(|defect| defect.info.code == Code::M012);
        if loses_walls {
            text += "; --solid may lose thin walls (M012)";
        }
        text
    }

    /// Returns a test case for each object, or for the mesh if it has fewer than two.
    pub(super) fn cases(&self) -> Vec<JunitCase> {
        let objects = &self.checked.objects;
        if objects.is_empty() {
            let name = match self.only {
                [only] => only,
                _ => self.name,
            };
            return vec![self.case(name, &self.checked.all)];
        }
        let mut cases = vec![];
        for object in objects {
            cases.push(self.case(&object.name, &object.check));
        }
        cases
    }

    fn case(&self, name: &str, check: &MeshCheck) -> JunitCase {
        let mut lines = vec![];
        if let Some(error) = self.gates.strict(check) {
            lines.push(error.message().to_string());
        }
        lines.extend(self.gates.lacks(check, self.coordinates));
        let result = if lines.is_empty() {
            JunitResult::Passed
        } else {
            for defect in &check.defects {
                lines.push(format!("{} ({})", count(defect), defect.info.code));
                let (shown, _) = shown(defect, self.most);
                for place in shown {
                    lines.push(place_text(place, self.coordinates));
                }
            }
            JunitResult::Failure("unfit", lines)
        };
        JunitCase {
            class: self.name.to_string(),
            name: name.to_string(),
            line: None,
            time: Duration::ZERO,
            result,
        }
    }
}

/// Returns `closed, oriented; not manifold, not safe for solid: 32 open edges`.
fn summary(checked: &MeshCheck) -> String {
    let short = |fitness: Fitness| match fitness {
        Fitness::Manifold => "manifold",
        other => other.about(),
    };
    let mut fit = vec![];
    let mut unfit = vec![];
    let mut reasons: Vec<&Defect> = vec![];
    for fitness in Fitness::ALL {
        if checked.is_fit(fitness) {
            fit.push(short(fitness).to_string());
            continue;
        }
        unfit.push(format!("not {}", short(fitness)));
        for defect in checked.hindrances(fitness) {
            if !reasons
                .iter()
                .any(|known| known.info.code == defect.info.code)
            {
                reasons.push(defect);
            }
        }
    }
    let mut texts = vec![];
    if !fit.is_empty() {
        texts.push(fit.join(", "));
    }
    if !unfit.is_empty() {
        let mut text = unfit.join(", ");
        if !reasons.is_empty() {
            let reasons: Vec<_> = reasons.iter().map(|defect| count(defect)).collect();
            text += &format!(" ({})", reasons.join(", "));
        }
        texts.push(text);
    }
    let others: Vec<_> = checked
        .defects
        .iter()
        .filter(|defect| {
            !reasons
                .iter()
                .any(|known| known.info.code == defect.info.code)
        })
        .map(count)
        .collect();
    if !others.is_empty() {
        texts.push(others.join(", "));
    }
    texts.join("; ")
}

impl Gates<'_> {
    /// Returns the error of `--strict` for a mesh with defects.
    pub(super) fn strict(&self, checked: &MeshCheck) -> Option<Error> {
        strict(checked).filter(|_| self.is_strict)
    }

    /// Returns the reasons why a mesh fails `--require` and `--min-wall`.
    pub(super) fn lacks(&self, checked: &MeshCheck, coordinates: &GridCoordinates) -> Vec<String> {
        let mut reasons = vec![];
        if let Some(lacks) = lacks(self.required, checked) {
            reasons.push(format!("--require: {lacks}"));
        }
        let Some(wall) = self.min_wall else {
            return reasons;
        };
        let thin = checked
            .defects
            .iter()
            .find(|defect| defect.info.code == Code::M012);
        let wall = display::number(wall) + &coordinates.suffix();
        match thin {
            Some(thin) => {
                let thinnest = thin.places.iter().filter_map(|place| place.length);
                let thinnest = thinnest.fold(f64::INFINITY, f64::min);
                let mut text = format!("--min-wall {wall}: {}", count(thin));
                if thinnest.is_finite() {
                    text += &format!(", the thinnest {}", coordinates.length_text(thinnest));
                }
                reasons.push(text);
            }
            None if checked.is_partial => reasons.push(format!(
                "--min-wall {wall}: not all walls were measured ({})",
                Code::W014
            )),
            None => {}
        }
        reasons
    }
}

/// Returns `32 open edges`. If not all pairs were examined, returns `at least 32 pairs of triangles that
/// cross`.
fn count(defect: &Defect) -> String {
    let [one, many] = defect.info.nouns;
    let at_least = if defect.is_partial { "at least " } else { "" };
    format!("{at_least}{}", counted(defect.count, one, many))
}

/// Returns `at (0, 0, 1), cell (3, 4, 5): 12 edges, 3.4 long; triangles 7, 9; component 0`.
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

/// Returns the defects that make a mesh unfit for a use, `32 open edges`. `None` if the mesh is fit.
fn lack(fitness: Fitness, checked: &MeshCheck) -> Option<String> {
    if checked.is_fit(fitness) {
        return None;
    }
    let reasons: Vec<_> = checked.hindrances(fitness).into_iter().map(count).collect();
    Some(reasons.join(", "))
}

/// Returns the properties of `--require` that a mesh lacks, with reasons: `not closed: 32 open edges;
/// not safe for solid: 32 open edges`. `None` if it lacks none.
fn lacks(required: &[Fitness], checked: &MeshCheck) -> Option<String> {
    let mut texts = vec![];
    for fitness in required {
        let about = fitness.about();
        match lack(*fitness, checked) {
            None => {}
            Some(why) if why.is_empty() => texts.push(format!("not {about}")),
            Some(why) => texts.push(format!("not {about}: {why}")),
        }
    }
    if texts.is_empty() {
        return None;
    }
    Some(texts.join("; "))
}

/// Returns the error of `--strict` for a mesh with defects. `None` if there are none.
fn strict(checked: &MeshCheck) -> Option<Error> {
    let mut findings = vec![];
    for defect in &checked.defects {
        findings.push(format!("{} ({})", count(defect), defect.info.code));
    }
    if checked.is_partial {
        findings.push(format!("not all pairs were examined ({})", Code::W014));
    }
    if findings.is_empty() {
        return None;
    }
    let error = Error::unfit(format!("--strict: {}", findings.join("; ")));
    Some(
        error.with_hint(
            "omit --strict to accept them; docs/reference/check.md explains each finding",
        ),
    )
}
