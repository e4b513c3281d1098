//! Result of `voxelize clearance`: rows of text and JSON about the meshes and about each pair of meshes.

use std::time::Duration;

use serde::Serialize;
use voxelize::Mesh;
use voxelize::compare::clearance::{
    Clearance, MeetingPair, PenetrationDepth, Relation, SharedVolume,
};
use voxelize::geom::tri_tri::Meeting;
use voxelize::job::UnitOfLength;
use voxelize::mesh::closed::Closedness;

use super::bodies::ComparedMesh;
use crate::cli::junit::{JunitCase, JunitResult};
use crate::cli::report::ReportRows;
use crate::cli::report::display::{self, counted, grouped, number};
use crate::cli::report::value::{OutputJson, Warning};

/// Result of the command.
#[derive(Default, Serialize)]
pub struct ComparedMeshes {
    pub meshes: Option<Vec<ClearanceMeshJson>>,
    pub unit: Option<&'static str>,
    pub pairs: Option<Vec<PairInfo>>,
    pub within: Option<f64>,
    pub closer: Option<u64>,
    pub outputs: Option<Vec<OutputJson>>,
    pub warnings: Option<Vec<Warning>>,
}

#[derive(Serialize)]
pub struct ClearanceMeshJson {
    path: String,
    object: Option<String>,
    triangles: usize,
    closed: bool,
    oriented: bool,
}

#[derive(Serialize)]
pub struct PairInfo {
    a: String,
    b: String,
    relation: &'static str,
    shares_volume: Option<bool>,
    shared_volume: Option<f64>,
    shared_volume_error: Option<f64>,
    depth: Option<PenetrationJson>,
    distance: f64,
    points: [[f64; 3]; 2],
    direction: Option<[f64; 3]>,
    triangles: [u64; 2],
    pub closer: Option<bool>,
    allowed: bool,
    meetings: u64,
    at_least: bool,
    places: Vec<PairPlaceJson>,
    more: u64,
    #[serde(skip)]
    pub badness: (u8, u64),
    #[serde(skip)]
    pub text: String,
    /// Rows of text. The first row states the verdict.
    #[serde(skip)]
    pub rows: ReportRows,
}

/// Depth of penetration: bounds of the length of the least translation of `a` that separates the meshes.
#[derive(Serialize)]
struct PenetrationJson {
    at_least: f64,
    at_most: f64,
    exact: bool,
    separation: [f64; 3],
    deepest: Option<InnerPointJson>,
}

/// Point of the mesh `of`, which is `a` or `b`, inside the other mesh.
#[derive(Serialize)]
struct InnerPointJson {
    of: &'static str,
    point: [f64; 3],
    depth: f64,
}

#[derive(Serialize)]
struct PairPlaceJson {
    triangles: [u64; 2],
    meeting: &'static str,
    ends: [[f64; 3]; 2],
}

/// Space that two meshes share.
#[derive(Default)]
pub struct SharedSpace {
    pub volume: Option<SharedVolume>,
    pub depth: Option<PenetrationDepth>,
    /// Something was not measured because of the memory limit.
    pub lacks_memory: bool,
}

impl SharedSpace {
    /// Returns `; shared volume 3 mm³; depth 0.5 mm`.
    fn text(&self, unit: Option<UnitOfLength>) -> String {
        let mut text = String::new();
        if let Some(shared) = &self.volume {
            let volume = display::volume(shared.volume, unit.map(UnitOfLength::name));
            text += &format!("; shared volume {volume}");
        }
        if let Some(depth) = &self.depth {
            let [least, most] = [depth.least, depth.most].map(|depth| length(depth, unit));
            text += &if is_known(depth) {
                format!("; depth {least}")
            } else if depth.least > 0.0 {
                format!("; depth at least {least}")
            } else {
                format!("; depth at most {most}")
            };
        }
        text
    }

    /// Adds the rows about the depth.
    fn add_rows(&self, rows: &mut ReportRows, [a, b]: [&str; 2], unit: Option<UnitOfLength>) {
        if self.lacks_memory {
            rows.row(
                "",
                "shared volume and depth need more memory; raise --max-memory",
            );
        }
        let Some(depth) = &self.depth else {
            return;
        };
        let separation = format!(
            "moving {a} by {} separates the meshes",
            point(&depth.separation, unit)
        );
        if is_known(depth) {
            rows.row("depth", separation);
            return;
        }
        let most = length(depth.most, unit);
        rows.row("depth", format!("at most {most}: {separation}"));
        if let Some(deepest) = &depth.deepest {
            let [own, other] = if deepest.mesh == 0 { [a, b] } else { [b, a] };
            let place = point(&deepest.point, unit);
            let depth = length(deepest.depth, unit);
            rows.row("", format!("{place} of {own} is {depth} deep in {other}"));
        }
    }
}

/// Returns `true` if both bounds of a depth have the same text.
fn is_known(depth: &PenetrationDepth) -> bool {
    number(depth.least) == number(depth.most)
}

/// Verdict on a pair.
pub struct PairVerdict {
    /// The pair fails `--min-distance`. `None` if no distance was requested.
    pub closer: Option<bool>,
    /// The pair may meet.
    pub is_allowed: bool,
}

/// Returns `a.stl: 12 triangles, closed`.
pub fn mesh_row(name: &str, mesh: &Mesh) -> String {
    let closed = match mesh.closedness() {
        Closedness::Oriented => "closed",
        Closedness::Closed => "closed, but not oriented; using evenodd",
        Closedness::Open => "not closed; using winding number > 0.5",
    };
    let triangles = counted(mesh.triangles().len() as u64, "triangle", "triangles");
    format!("{name}: {triangles}, {closed}")
}

impl ClearanceMeshJson {
    pub fn new(compared: &ComparedMesh) -> Self {
        let closedness = compared.mesh.closedness();
        Self {
            path: compared.path.clone(),
            object: compared.object.clone(),
            triangles: compared.mesh.triangles().len(),
            closed: closedness != Closedness::Open,
            oriented: closedness == Closedness::Oriented,
        }
    }
}

/// Returns a length as text, with its unit if the unit is known.
pub fn length(length: f64, unit: Option<UnitOfLength>) -> String {
    unit.map_or_else(
        || number(length),
        |unit| format!("{} {}", number(length), unit.name()),
    )
}

/// Returns the relation of a pair of meshes as text: `a.stl and b.stl are 0.4 mm apart`.
fn relation([a, b]: [&str; 2], found: &Clearance, unit: Option<UnitOfLength>) -> String {
    let at_least = if found.is_all { "" } else { "at least " };
    let meetings = counted(
        found.meetings,
        "pair of triangles meets",
        "pairs of triangles meet",
    );
    let meetings = format!("{at_least}{meetings}");
    let distance = length(found.distance, unit);
    let gap = format!("the surfaces are {distance} apart");
    match found.relation {
        Relation::Touching if !found.is_all && found.shares_volume.is_none() => format!(
            "{a} and {b} meet: {meetings}; not all pairs were examined, so it is unknown whether they share volume"
        ),
        Relation::Touching if found.too_many_places => {
            format!("{a} and {b} touch: {meetings}, too many to decide whether they share volume")
        }
        Relation::Touching if found.shares_volume.is_none() => format!(
            "{a} and {b} meet: {meetings}; a mesh is not closed, so it is unknown whether they share volume"
        ),
        Relation::Touching => format!("{a} and {b} touch: {meetings}, no volume is shared"),
        Relation::Crossing if found.meetings > 0 => format!("{a} and {b} cross: {meetings}"),
        Relation::Crossing => {
            format!("{a} and {b} share volume, because a part of one is inside the other; {gap}")
        }
        Relation::Contains => format!("{a} contains {b}; {gap}"),
        Relation::Within => format!("{a} is within {b}; {gap}"),
        _ => format!("{a} and {b} are {distance} apart"),
    }
}

/// Returns the sort key of a pair of meshes. Pairs that share volume come first, then pairs that may share
/// volume, then all others by their distance, and last the pairs that may meet.
fn badness(found: &Clearance, verdict: &PairVerdict) -> (u8, u64) {
    let rank = match (found.shares_volume, found.relation) {
        _ if verdict.is_allowed => 3,
        (Some(true), _) | (_, Relation::Crossing | Relation::Contains | Relation::Within) => 0,
        (None, _) => 1,
        _ => 2,
    };
    // The bits of non-negative floats sort like the numbers.
    (rank, found.distance.to_bits())
}

/// Returns the rows about a pair: its relation, and the points where the meshes meet or are closest. If a
/// minimum distance was requested, the label of the relation is `pass` or `FAIL`. A pair that may meet has the
/// label `allowed`.
fn pair_rows(
    [a, b]: [&str; 2],
    text: &str,
    (found, shared): (&Clearance, &SharedSpace),
    verdict: &PairVerdict,
    unit: Option<UnitOfLength>,
    listed: usize,
) -> ReportRows {
    let mut rows = ReportRows::default();
    let label = match verdict.closer {
        _ if verdict.is_allowed => "allowed",
        None => "pair",
        Some(true) => "FAIL",
        Some(false) => "pass",
    };
    rows.row(label, text);
    shared.add_rows(&mut rows, [a, b], unit);
    for place in found.places.iter().take(listed) {
        rows.row("meet", place_text(place, unit));
    }
    let more = found.meetings - found.meetings.min(listed as u64);
    if more > 0 {
        let at_least = if found.is_all { "" } else { "at least " };
        rows.row("", format!("and {at_least}{} more", grouped(more)));
    }
    if let Some(direction) = &found.direction {
        let [s, t] = found.triangles;
        rows.row(
            "points",
            format!("{}, triangle {s} of {a}", point(&found.points[0], unit)),
        );
        rows.row(
            "",
            format!("{}, triangle {t} of {b}", point(&found.points[1], unit)),
        );
        rows.row(
            "",
            format!(
                "moving {a} along {} separates these two points",
                point(direction, None)
            ),
        );
    }
    rows
}

/// Returns `triangles 12 and 7 pass through each other, from (0, 0, 0) to (1, 0, 0)`.
fn place_text(place: &MeetingPair, unit: Option<UnitOfLength>) -> String {
    let [s, t] = place.triangles;
    let [from, to] = place.ends.each_ref().map(|end| point(end, unit));
    let verb = match place.meeting {
        Meeting::Crossing => "pass through each other",
        Meeting::Overlap => "lie in one plane and overlap",
        _ => "touch",
    };
    let ends = if from == to {
        format!("at {from}")
    } else {
        format!("from {from} to {to}")
    };
    format!("triangles {s} and {t} {verb}, {ends}")
}

/// Returns a point with six digits per coordinate, and its unit. JSON has all digits.
fn point(point: &[f64; 3], unit: Option<UnitOfLength>) -> String {
    let unit = display::suffix(unit.map(UnitOfLength::name));
    format!("({}){unit}", point.map(number).join(", "))
}

impl PenetrationJson {
    fn new(depth: &PenetrationDepth) -> Self {
        Self {
            at_least: depth.least,
            at_most: depth.most,
            exact: depth.is_exact,
            separation: depth.separation,
            deepest: depth.deepest.map(|deepest| InnerPointJson {
                of: if deepest.mesh == 0 { "a" } else { "b" },
                point: deepest.point,
                depth: deepest.depth,
            }),
        }
    }
}

impl PairInfo {
    /// Creates the JSON object of a pair with at most `listed` places.
    pub fn new(
        [a, b]: [&str; 2],
        found: &Clearance,
        shared: &SharedSpace,
        verdict: &PairVerdict,
        unit: Option<UnitOfLength>,
        listed: usize,
    ) -> Self {
        let text = relation([a, b], found, unit) + &shared.text(unit);
        let place = |place: &MeetingPair| PairPlaceJson {
            triangles: place.triangles,
            meeting: place.meeting.name(),
            ends: place.ends,
        };
        Self {
            a: a.to_string(),
            b: b.to_string(),
            relation: found.relation.name(),
            shares_volume: found.shares_volume,
            shared_volume: shared.volume.map(|shared| shared.volume),
            shared_volume_error: shared.volume.map(|shared| shared.error),
            depth: shared.depth.as_ref().map(PenetrationJson::new),
            distance: found.distance,
            points: found.points,
            direction: found.direction,
            triangles: found.triangles,
            closer: verdict.closer,
            allowed: verdict.is_allowed,
            meetings: found.meetings,
            at_least: !found.is_all,
            places: found.places.iter().map(place).collect(),
            more: found.meetings - found.places.len() as u64,
            badness: badness(found, verdict),
            rows: pair_rows([a, b], &text, (found, shared), verdict, unit, listed),
            text,
        }
    }

    /// Returns the pair as a test case of a file.
    pub fn case(&self, class: &str) -> JunitCase {
        let result = if self.closer == Some(true) {
            let mut lines = vec![self.text.clone()];
            lines.extend(self.rows.0.lines().skip(1).map(str::to_string));
            JunitResult::Failure("closer", lines)
        } else {
            JunitResult::Passed
        };
        JunitCase {
            class: class.to_string(),
            name: format!("{}, {}", self.a, self.b),
            line: None,
            time: Duration::ZERO,
            result,
        }
    }
}
