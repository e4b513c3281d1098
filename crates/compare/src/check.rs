//! Check of a mesh. Finds its defects, where they are and how they affect a fill, lists its components, and
//! decides what the mesh is fit for. docs/reference/check.md has the definitions.

use voxelize_core::error::{Code, Result, Severity};
use voxelize_core::geom::Bounds;
use voxelize_core::grid::Lattice;
use voxelize_core::par::Progress;
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::components::Component;
use voxelize_meshes::defects::{Defects, Search, Site, Sites};
use voxelize_meshes::{Mesh, PairLimit, PartKind};
use voxelize_rules::job::{NamedObject, OpenObjects, objects};
use voxelize_rules::rule::Inside;

/// Options of a check.
#[derive(Clone, Copy)]
pub struct CheckOptions<'a> {
    /// If given, each place of a defect is also reported as a cell, and parts of the mesh thinner than the
    /// smallest side of a cell are reported as thin walls. `None` skips both.
    pub lattice: Option<&'a Lattice>,
    /// Thickness in units of the mesh below which walls are thin, in place of the smallest side of a
    /// cell. Large triangles are then measured at several points. Walls that are thinner by no more
    /// than the rounding of coordinates to 32-bit floats are not thin.
    pub min_wall: Option<f64>,
    /// Maximum number of places to list for each kind of defect. All defects are counted.
    pub places: usize,
    /// Maximum number of triangle pairs to examine in the searches for contacts and for thin walls.
    pub pairs: PairLimit,
    /// Receives the progress, and can cancel the work.
    pub progress: &'a dyn Progress,
}

impl Default for CheckOptions<'_> {
    fn default() -> Self {
        Self {
            lattice: None,
            min_wall: None,
            places: 10,
            pairs: PairLimit::Usual,
            progress: &(),
        }
    }
}

/// Result of a check.
#[derive(Debug, Clone)]
pub struct MeshCheck {
    /// Number of different vertices. Vertices are equal if their coordinates have the same bits (−0 counts as
    /// 0).
    pub vertices: u64,
    /// Defects, sorted by code. Kinds that do not occur are left out.
    pub defects: Vec<Defect>,
    /// Components of the mesh. Triangles that share a vertex belong to the same component.
    pub components: Vec<CheckedComponent>,
    /// Uses that the mesh is fit for.
    pub verdict: CheckVerdict,
    /// The search for contacts or for thin walls ended at its limit, so there may be more defects.
    pub is_partial: bool,
}

/// All defects of one kind.
#[derive(Debug, Clone)]
pub struct Defect {
    /// Kind of the defects.
    pub info: &'static DefectInfo,
    /// Number of defects.
    pub count: u64,
    /// Places of the first defects. Their order does not depend on the order of the triangles.
    pub places: Vec<DefectPlace>,
    /// Number of places that are not listed.
    pub more: u64,
    /// Indices of the triangles that have the defect, in ascending order.
    pub triangles: Vec<u32>,
    /// The search ended at its limit, so the count is a lower bound.
    pub is_partial: bool,
}

/// Kind of defects. Each kind is a row of [`DEFECTS`].
#[derive(Debug)]
pub struct DefectInfo {
    /// Code of the kind. [`CODES`](voxelize_core::CODES) has its severity and advice.
    pub code: Code,
    /// Name, such as `open-edges`.
    pub name: &'static str,
    /// Nouns for one defect and for several defects.
    pub nouns: [&'static str; 2],
    /// Effect of the defect on a fill.
    pub effect: &'static str,
    /// The defect is decided exactly, without rounded numbers.
    pub exact: bool,
    /// Uses that the defect makes impossible.
    pub hinders: &'static [Fitness],
    /// Uses that the defect may make impossible. They are reported only if no other defect certainly does.
    pub may_hinder: &'static [Fitness],
    /// Red, green and blue of the cells that have the defect.
    pub(super) colour: [u8; 3],
    sites: fn(&mut Defects) -> Option<&mut Sites>,
}

impl DefectInfo {
    /// Returns the severity of the defect.
    pub fn severity(&self) -> Severity {
        self.code.info().severity
    }
}

/// Where a defect is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DefectPlace {
    /// Point of the defect, in units of the file.
    pub at: [f64; 3],
    /// [Numbers](Mesh::number) of the triangles that have the defect. At most eight are listed.
    pub triangles: Vec<u64>,
    /// Number of the component that has the defect. If the defect is between two components, the lower
    /// number.
    pub component: u32,
    /// Cell that contains the point. `None` without a lattice, or if the point is outside it.
    pub cell: Option<[usize; 3]>,
    /// Length of the loop for open edges, or thickness of the wall for thin walls. `None` for other defects.
    pub length: Option<f64>,
    /// Number of edges in the loop. `None` unless the defect is a loop of open edges.
    pub edges: Option<usize>,
}

/// Component of the mesh, with properties of its edges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckedComponent {
    /// Size and bounds of the component.
    pub component: Component,
    /// Each edge of the component occurs an even number of times.
    pub closed: bool,
    /// Each directed edge is matched by an edge in the opposite direction.
    pub oriented: bool,
}

/// What a mesh is fit for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckVerdict {
    /// The mesh has triangles, and each undirected edge occurs an even number of times.
    pub closed: bool,
    /// The mesh has triangles, and each directed edge is matched by an edge in the opposite direction.
    pub oriented: bool,
    /// The mesh is manifold by the 3MF core specification: each edge belongs to exactly two triangles, in
    /// opposite directions; no triangle has two equal vertices; and triangles that share an edge also share
    /// its vertices in the file.
    pub manifold_3mf: bool,
    /// Methods that certainly find the inside, which is the set of points that the mesh winds around. Empty
    /// unless the mesh is closed and oriented, does not consist of triangles that all occur in both
    /// directions, and has no shell that is inside out. A fill uses the same facts to choose between these
    /// methods.
    pub safe_methods: Vec<Inside>,
    /// Number of shells that lie inside other shells, which the methods evenodd and vote would treat as
    /// hollow. These shells are searched only if no defect makes these methods doubtful.
    pub nested_shells: u64,
}

impl CheckVerdict {
    /// Returns `true` if `--solid` certainly finds the inside with its default method, [`Inside::Auto`].
    pub fn is_safe_for_solid(&self) -> bool {
        self.safe_methods.contains(&Inside::Auto)
    }
}

/// Use that a mesh may be fit for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fitness {
    /// The mesh has no open edges.
    Closed,
    /// All triangles agree on which side is outside.
    Oriented,
    /// The mesh is manifold by the 3MF core specification.
    Manifold,
    /// The rule solid certainly finds the inside with its default method.
    Solid,
}

impl Fitness {
    /// All uses, in the order in which reports list them.
    pub const ALL: [Self; 4] = [Self::Closed, Self::Oriented, Self::Manifold, Self::Solid];

    /// Returns the name, such as `closed`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Oriented => "oriented",
            Self::Manifold => "manifold",
            Self::Solid => "solid",
        }
    }

    /// Returns the description of a mesh that is fit for the use.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Oriented => "oriented",
            Self::Manifold => "manifold by the 3MF core specification",
            Self::Solid => "safe for solid",
        }
    }
}

impl MeshCheck {
    /// Returns `true` if the mesh is fit for a use.
    pub fn is_fit(&self, fitness: Fitness) -> bool {
        let verdict = &self.verdict;
        match fitness {
            Fitness::Closed => verdict.closed,
            Fitness::Oriented => verdict.oriented,
            Fitness::Manifold => verdict.manifold_3mf,
            Fitness::Solid => verdict.is_safe_for_solid(),
        }
    }

    /// Returns the defects that make the mesh unfit for a use. Empty for a mesh without triangles.
    pub fn hindrances(&self, fitness: Fitness) -> Vec<&Defect> {
        let mut first = vec![];
        let mut others = vec![];
        for defect in &self.defects {
            if defect.info.hinders.contains(&fitness) {
                first.push(defect);
            }
            if defect.info.may_hinder.contains(&fitness) {
                others.push(defect);
            }
        }
        if first.is_empty() { others } else { first }
    }
}

/// Facts that decide which methods certainly find the inside.
struct Safety {
    /// The mesh is closed and oriented, is not two-sided, and has no shell that is inside out.
    is_sound: bool,
    /// Kinds of defects that occur, or that may occur because a search ended at its limit.
    may_have: Vec<Code>,
    nested: u64,
}

impl Safety {
    /// For each method, the kinds of defects that make it doubtful even if the mesh is otherwise sound.
    ///
    /// Where two parts overlap, a line enters the mesh twice. Duplicate triangles are counted twice or
    /// dropped. A repair may turn over patches that end at edges of more than two triangles. The method flood
    /// is not listed, because it leaves out the cells of the surface and fills cavities.
    const DOUBTS: [(Inside, &[Code]); 5] = [
        (Inside::Auto, &[]),
        (Inside::Nonzero, &[]),
        (
            Inside::EvenOdd,
            &[Code::M001, Code::M005, Code::M006, Code::M009, Code::M011],
        ),
        (
            Inside::Vote,
            &[Code::M001, Code::M005, Code::M006, Code::M009, Code::M011],
        ),
        (
            Inside::Robust,
            &[Code::M001, Code::M005, Code::M009, Code::M011],
        ),
    ];

    fn methods(&self) -> Vec<Inside> {
        let mut methods = vec![];
        if !self.is_sound {
            return methods;
        }
        for (method, doubts) in Self::DOUBTS {
            let by_parity = matches!(method, Inside::EvenOdd | Inside::Vote);
            let is_doubtful = doubts.iter().any(|code| self.may_have.contains(code));
            let may_cancel = by_parity && self.nested > 0;
            if !is_doubtful && !may_cancel {
                methods.push(method);
            }
        }
        methods
    }
}

/// All kinds of defects, sorted by code.
pub static DEFECTS: &[DefectInfo] = &[
    DefectInfo {
        code: Code::M001,
        name: "duplicate-triangles",
        nouns: ["duplicate triangle", "duplicate triangles"],
        effect: "nonzero and evenodd count each copy, unless copies in opposite orientations cancel; robust drops copies",
        exact: true,
        hinders: &[],
        may_hinder: &[Fitness::Solid],
        colour: [0xcc, 0x79, 0xa7],
        sites: |found| Some(&mut found.duplicates),
    },
    DefectInfo {
        code: Code::M002,
        name: "degenerate-triangles",
        nouns: ["triangle without area", "triangles without area"],
        effect: "no effect",
        exact: true,
        hinders: &[],
        may_hinder: &[Fitness::Manifold],
        colour: [0x82, 0x82, 0x82],
        sites: |found| Some(&mut found.degenerate),
    },
    DefectInfo {
        code: Code::M003,
        name: "needles",
        nouns: [
            "needle (long, very thin triangle)",
            "needles (long, very thin triangles)",
        ],
        effect: "no effect",
        exact: true,
        hinders: &[],
        may_hinder: &[],
        colour: [0x99, 0x80, 0x60],
        sites: |found| Some(&mut found.needles),
    },
    DefectInfo {
        code: Code::M004,
        name: "open-edges",
        nouns: ["open edge", "open edges"],
        effect: "the inside is ambiguous; solid and filled treat a winding number above 0.5 as inside",
        exact: true,
        hinders: &Fitness::ALL,
        may_hinder: &[],
        colour: [0xd5, 0x20, 0x10],
        sites: |found| Some(&mut found.topology.open),
    },
    DefectInfo {
        code: Code::M005,
        name: "non-manifold-edges",
        nouns: ["non-manifold edge", "non-manifold edges"],
        effect: "no effect if the edge occurs equally often in both directions: nonzero is then exact",
        exact: true,
        hinders: &[Fitness::Manifold],
        may_hinder: &[],
        colour: [0xe6, 0x9f, 0x00],
        sites: |found| Some(&mut found.topology.crowded_edges),
    },
    DefectInfo {
        code: Code::M006,
        name: "non-manifold-vertices",
        nouns: ["non-manifold vertex", "non-manifold vertices"],
        effect: "no effect",
        exact: true,
        hinders: &[],
        may_hinder: &[],
        colour: [0xf0, 0xe4, 0x42],
        sites: |found| Some(&mut found.topology.crowded_vertices),
    },
    DefectInfo {
        code: Code::M007,
        name: "inconsistent-orientation",
        nouns: [
            "edge with inconsistent directions",
            "edges with inconsistent directions",
        ],
        effect: "nonzero would be wrong; evenodd is used if the mesh is closed, else robust",
        exact: true,
        hinders: &[Fitness::Oriented, Fitness::Manifold, Fitness::Solid],
        may_hinder: &[],
        colour: [0x00, 0x72, 0xb2],
        sites: |found| Some(&mut found.topology.reversed),
    },
    DefectInfo {
        code: Code::M008,
        name: "inside-out-shells",
        nouns: ["shell inside out", "shells inside out"],
        effect: "nonzero fills the shell anyway, except where it overlaps another shell: there the two cancel",
        exact: false,
        hinders: &[Fitness::Solid],
        may_hinder: &[],
        colour: [0x00, 0x9e, 0x73],
        sites: |found| Some(&mut found.inside_out),
    },
    DefectInfo {
        code: Code::M009,
        name: "self-intersections",
        nouns: [
            "pair of triangles that cross",
            "pairs of triangles that cross",
        ],
        effect: "no effect on a closed, oriented mesh: nonzero is exact and unites parts that overlap",
        exact: true,
        hinders: &[],
        may_hinder: &[],
        colour: [0xe0, 0x00, 0x80],
        sites: |found| Some(&mut found.crossing),
    },
    DefectInfo {
        code: Code::M010,
        name: "touching-triangles",
        nouns: [
            "pair of triangles that touch",
            "pairs of triangles that touch",
        ],
        effect: "no effect",
        exact: true,
        hinders: &[],
        may_hinder: &[],
        colour: [0x56, 0xb4, 0xe9],
        sites: |found| Some(&mut found.touching),
    },
    DefectInfo {
        code: Code::M011,
        name: "coplanar-overlaps",
        nouns: [
            "pair of triangles that overlap in one plane",
            "pairs of triangles that overlap in one plane",
        ],
        effect: "no effect on a closed, oriented mesh: nonzero is exact and unites parts that overlap",
        exact: true,
        hinders: &[],
        may_hinder: &[],
        colour: [0x80, 0x30, 0xc0],
        sites: |found| Some(&mut found.overlapping),
    },
    DefectInfo {
        code: Code::M012,
        name: "thin-walls",
        nouns: ["triangle of a thin wall", "triangles of thin walls"],
        effect: "solid may lose such a wall, unless thin features are kept; filled keeps it",
        exact: false,
        hinders: &[],
        may_hinder: &[],
        colour: [0x60, 0xb0, 0x20],
        sites: |found| found.thin.as_mut(),
    },
    DefectInfo {
        code: Code::M013,
        name: "cracks",
        nouns: [
            "edge whose vertices have equal coordinates but different indices",
            "edges whose vertices have equal coordinates but different indices",
        ],
        effect: "no effect: vertices with equal coordinates are the same vertex here; programs that compare indices see open edges",
        exact: true,
        hinders: &[Fitness::Manifold],
        may_hinder: &[],
        colour: [0x00, 0xa0, 0xc0],
        sites: |found| Some(&mut found.topology.cracks),
    },
];

#[doc(hidden)]
/// Returns the memory that a check needs in bytes, including the mesh. It holds the vertices and edges as
/// numbers, and the cells in which pairs of triangles are searched. For a mesh with open edges it also holds
/// the loops, and each triangle may be a loop.
pub fn bytes_for(mesh: &Mesh) -> u64 {
    let per_triangle = if mesh.closedness() == Closedness::Open {
        600
    } else {
        320
    };
    let numbers = if mesh.vertex_numbers().is_some() {
        12
    } else {
        0
    };
    let pieces = if mesh.parts(PartKind::Object).is_some() {
        numbers + 52
    } else {
        0
    };
    (per_triangle + numbers + pieces) * mesh.triangles().len() as u64
}

/// Checks a mesh. The result does not depend on the number of threads or on the order of the triangles,
/// except that triangle numbers are indices in the mesh.
///
/// ```
/// # use voxelize_compare::voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// use voxelize::compare::check::{CheckOptions, check};
///
/// let open = voxelize::Mesh::open("fixtures/open.stl")?;
/// let found = check(&open, &CheckOptions::default())?;
/// let [edges] = found.defects.as_slice() else { panic!("one kind of defect") };
/// assert_eq!((edges.info.name, edges.count, edges.places[0].edges), ("open-edges", 32, Some(32)));
/// assert!(!found.verdict.closed && !found.verdict.is_safe_for_solid());
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// Fails if there are more than 1.4 billion triangles, or if the work is cancelled.
pub fn check(mesh: &Mesh, options: &CheckOptions) -> Result<MeshCheck> {
    let components = mesh.components()?;
    let thin = match (options.min_wall, options.lattice) {
        (Some(wall), _) => Some(wall - rounding(mesh)).filter(|wall| *wall > 0.0),
        (None, Some(lattice)) => Some(
            lattice
                .spacing()
                .iter()
                .map(|side| side.to_f64())
                .fold(f64::INFINITY, f64::min),
        ),
        (None, None) => None,
    };
    let CheckOptions {
        places: most,
        pairs,
        progress,
        ..
    } = *options;
    let search = Search {
        mesh,
        components: &components,
        most,
        thin,
        samples_walls: options.min_wall.is_some(),
        pairs,
        progress,
    };
    let mut found = Defects::of(&search)?;
    let mut defects = vec![];
    let mut may_have = vec![];
    let mut is_any_partial = false;
    for info in DEFECTS {
        let Some(sites) = (info.sites)(&mut found).map(std::mem::take) else {
            continue;
        };
        let Sites {
            count,
            places,
            first,
            triangles,
            is_partial,
        } = sites;
        is_any_partial |= is_partial;
        if count > 0 || is_partial {
            may_have.push(info.code);
        }
        if count == 0 {
            continue;
        }
        let more = places - first.len() as u64;
        let places = first
            .into_iter()
            .map(|site| place(site, mesh, &components.of, options.lattice))
            .collect();
        defects.push(Defect {
            info,
            count,
            places,
            more,
            triangles,
            is_partial,
        });
    }
    let codes: Vec<Code> = defects.iter().map(|defect| defect.info.code).collect();
    let is_empty = mesh.triangles().is_empty();
    let topology = &found.topology;
    let closed = !is_empty && !codes.contains(&Code::M004);
    let oriented = !is_empty && topology.unbalanced_edges == 0;
    let safety = Safety {
        is_sound: closed && oriented && !codes.contains(&Code::M008) && !mesh.is_two_sided(),
        may_have,
        nested: found.nested,
    };
    let verdict = CheckVerdict {
        closed,
        oriented,
        manifold_3mf: !is_empty
            && topology.not_manifold_edges == 0
            && topology.folded == 0
            && !codes.contains(&Code::M013),
        safe_methods: safety.methods(),
        nested_shells: found.nested,
    };
    let mut checked = vec![];
    for (n, component) in components.components.into_iter().enumerate() {
        checked.push(CheckedComponent {
            component,
            closed: topology.closed[n],
            oriented: topology.oriented[n],
        });
    }
    Ok(MeshCheck {
        vertices: found.vertices,
        defects,
        components: checked,
        verdict,
        is_partial: is_any_partial,
    })
}

/// Returns how much two points that are rounded to 32-bit floats can come closer.
fn rounding(mesh: &Mesh) -> f64 {
    let bounds = mesh.bounds();
    let farthest = bounds
        .min
        .iter()
        .chain(&bounds.max)
        .map(|c| f64::from(c.abs()))
        .fold(0.0, f64::max);
    farthest / f64::from(1 << 22)
}

/// Check of an object of a mesh.
#[derive(Debug, Clone)]
pub struct ObjectCheck {
    /// Unique name.
    pub name: String,
    /// Bounds of its triangles.
    pub bounds: Bounds,
    /// Number of its triangles.
    pub triangles: usize,
    /// Result for the object alone. Triangles and components are numbered as in the whole mesh.
    pub check: MeshCheck,
}

/// Checks of the objects of a mesh.
#[derive(Debug, Clone)]
pub struct ObjectChecks {
    /// Result for all objects. Its defects are those of each object, and it is fit for a use if each
    /// object is. Methods are safe if they are safe for each object and for all of them together.
    pub all: MeshCheck,
    /// Results in the order of the file. Empty if the mesh has fewer than two objects.
    pub objects: Vec<ObjectCheck>,
    /// Defects between triangles of different objects: their kind and number. The number is a lower
    /// bound if `all` is partial.
    pub between: Vec<(&'static DefectInfo, u64)>,
}

/// Checks each object of a mesh as a mesh of its own.
///
/// # Errors
/// The same errors as [`check`].
pub fn check_objects(
    mesh: &Mesh,
    open: OpenObjects,
    options: &CheckOptions,
) -> Result<ObjectChecks> {
    let objects = objects(mesh, open)?;
    if objects.len() < 2 {
        return Ok(ObjectChecks {
            all: check(mesh, options)?,
            objects: vec![],
            between: vec![],
        });
    }
    // All objects together decide which methods are safe, and what lies between objects.
    let together = check(
        mesh,
        &CheckOptions {
            lattice: None,
            min_wall: None,
            places: 0,
            ..*options
        },
    )?;
    let mut checked = vec![];
    let mut components = 0;
    for NamedObject {
        name, triangles, ..
    } in objects
    {
        let piece = mesh.piece(&triangles);
        let mut found = check(&piece, options)?;
        for defect in &mut found.defects {
            for n in &mut defect.triangles {
                *n = triangles[*n as usize];
            }
            for place in &mut defect.places {
                place.component += components;
            }
        }
        components += found.components.len() as u32;
        checked.push(ObjectCheck {
            name,
            bounds: *piece.bounds(),
            triangles: triangles.len(),
            check: found,
        });
    }
    let mut between = vec![];
    for defect in &together.defects {
        let of_pairs = [Code::M001, Code::M009, Code::M010, Code::M011];
        let within: u64 = checked
            .iter()
            .flat_map(|object| &object.check.defects)
            .filter(|other| other.info.code == defect.info.code)
            .map(|other| other.count)
            .sum();
        if of_pairs.contains(&defect.info.code) && defect.count > within {
            between.push((defect.info, defect.count - within));
        }
    }
    Ok(ObjectChecks {
        all: united(&together, &checked, options.places),
        objects: checked,
        between,
    })
}

/// Returns the result for all objects, with at most `most` places of each kind of defect.
fn united(together: &MeshCheck, objects: &[ObjectCheck], most: usize) -> MeshCheck {
    let checks = || objects.iter().map(|object| &object.check);
    let mut defects = vec![];
    for info in DEFECTS {
        let mut all: Option<Defect> = None;
        for defect in checks().flat_map(|check| &check.defects) {
            if defect.info.code != info.code {
                continue;
            }
            let Some(all) = &mut all else {
                all = Some(defect.clone());
                continue;
            };
            let kept = defect
                .places
                .len()
                .min(most.saturating_sub(all.places.len()));
            all.count += defect.count;
            all.more += defect.more + (defect.places.len() - kept) as u64;
            all.places.extend_from_slice(&defect.places[..kept]);
            all.triangles.extend_from_slice(&defect.triangles);
            all.is_partial |= defect.is_partial;
        }
        if let Some(defect) = &mut all {
            defect.triangles.sort_unstable();
        }
        defects.extend(all);
    }
    let mut safe_methods = together.verdict.safe_methods.clone();
    safe_methods.retain(|method| checks().all(|check| check.verdict.safe_methods.contains(method)));
    MeshCheck {
        vertices: together.vertices,
        defects,
        components: checks()
            .flat_map(|check| &check.components)
            .copied()
            .collect(),
        verdict: CheckVerdict {
            closed: checks().all(|check| check.verdict.closed),
            oriented: checks().all(|check| check.verdict.oriented),
            manifold_3mf: checks().all(|check| check.verdict.manifold_3mf),
            safe_methods,
            nested_shells: together.verdict.nested_shells,
        },
        is_partial: together.is_partial || checks().any(|check| check.is_partial),
    }
}

fn place(site: Site, mesh: &Mesh, components: &[u32], lattice: Option<&Lattice>) -> DefectPlace {
    let Site {
        at,
        triangles,
        length,
        edges,
    } = site;
    let component = triangles
        .iter()
        .map(|n| components[*n as usize])
        .min()
        .unwrap_or(0);
    DefectPlace {
        at,
        triangles: triangles.into_iter().map(|n| mesh.number(n)).collect(),
        component,
        cell: lattice.and_then(|lattice| lattice.cell_at(at)),
        length,
        edges,
    }
}

impl MeshCheck {
    /// Returns the indices of the triangles that have any defect, in ascending order.
    pub fn marked(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self
            .defects
            .iter()
            .flat_map(|defect| &defect.triangles)
            .copied()
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_a_check_has_a_row() {
        let codes = voxelize_core::CODES
            .iter()
            .filter(|row| row.name.starts_with('M'))
            .map(|row| row.code);
        assert!(codes.eq(DEFECTS.iter().map(|info| info.code)));
        assert!(
            DEFECTS
                .iter()
                .zip(1..)
                .all(|(info, n)| crate::check_cells::value(info) == n)
        );
    }
}
