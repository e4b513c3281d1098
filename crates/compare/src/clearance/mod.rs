//! Collisions of two meshes, the distance between them, and the depth of their penetration.
//!
//! The triangles of each mesh are in a tree of boxes. Pairs of triangles whose bounds meet are compared
//! exactly ([`tri_tri`](voxelize_core::geom::tri_tri)). If no triangles meet, each component of one mesh is
//! entirely inside or entirely outside the other mesh, and a single ray decides which. If no component is
//! inside, the closest pair is found, again with the help of bounds. docs/internals/clearance.md defines the
//! results and bounds their error.

#[doc(hidden)]
pub mod cells;
mod closest;
mod depth;
mod hulls;
mod inside;
mod meetings;
mod overlap;
mod samples;
mod shared;

use closest::Closest;
use inside::ComponentCount;
use meetings::{MeetingPlace, Meetings};
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::fractions::{dot, minus, rounded};
use voxelize_core::geom::tri_tri::Meeting;
use voxelize_core::geom::{Rational, Triangle, separation};
use voxelize_core::par::{self, Progress};
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::numbers::check_count;
use voxelize_meshes::pairs::tree::PairTree;
use voxelize_meshes::{Mesh, PairLimit};

pub use depth::{InnerPoint, PenetrationDepth};
pub use shared::{SharedVolume, shared_volume, shared_volume_bytes};

/// How two meshes are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Relation {
    /// They have no common point, and neither is inside the other.
    Apart,
    /// Their surfaces meet, but no volume is inside both.
    Touching,
    /// They share volume, and it is not the case that one mesh is completely inside the other without
    /// touching its surface.
    Crossing,
    /// The second mesh is inside the first, and their surfaces do not meet.
    Contains,
    /// The first mesh is inside the second, and their surfaces do not meet.
    Within,
}

impl Relation {
    /// All relations.
    pub const ALL: [Self; 5] = [
        Self::Apart,
        Self::Touching,
        Self::Crossing,
        Self::Contains,
        Self::Within,
    ];

    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Apart => "apart",
            Self::Touching => "touching",
            Self::Crossing => "crossing",
            Self::Contains => "contains",
            Self::Within => "within",
        }
    }

    /// Returns `true` if some volume is inside both meshes.
    pub const fn shares_volume(self) -> bool {
        matches!(self, Self::Crossing | Self::Contains | Self::Within)
    }
}

/// Two triangles that meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeetingPair {
    /// [Numbers](Mesh::number) of the triangle in the first mesh and of the triangle in the second mesh.
    pub triangles: [u64; 2],
    /// Kind of the intersection. It is decided exactly, and is never [`Meeting::Apart`].
    pub meeting: Meeting,
    /// Corners of the intersection that are first and last in the lexicographic order of their coordinates.
    /// Each coordinate is rounded once. If the intersection is a segment, these are its ends.
    pub ends: [[f64; 3]; 2],
}

/// Relation of two meshes, and their closest points.
#[derive(Debug, Clone, PartialEq)]
pub struct Clearance {
    /// Relation of the meshes.
    pub relation: Relation,
    /// The meshes share volume. `None` if this is not known. In that case they touch and no plane was found
    /// to separate them, and either one of them is not closed, or not all pairs were examined, or too many
    /// pairs meet.
    pub shares_volume: Option<bool>,
    /// It is not known whether the meshes share volume, because more pairs of triangles meet than
    /// [`PairLimit::places`] allows.
    pub too_many_places: bool,
    /// Distance between the two closest points of the surfaces, in units of the file. It is rounded once, and
    /// is zero if and only if the surfaces meet.
    pub distance: f64,
    /// Exact square of the distance.
    pub squared: Rational,
    /// The two closest points, the first on the first mesh and the second on the second mesh. Each coordinate
    /// is rounded once. If several pairs are equally close, this is the first in lexicographic order. The
    /// comparison begins with the lesser point of each pair. If the surfaces meet, both points are the first
    /// end of the first of `places`.
    pub points: [[f64; 3]; 2],
    /// Direction from the second point to the first, as a vector of length one. `None` if the surfaces meet.
    pub direction: Option<[f64; 3]>,
    /// [Numbers](Mesh::number) of the triangles that contain these points. If several triangles contain a
    /// point, the lowest number. If the surfaces meet, the triangles of the first of `places`.
    pub triangles: [u64; 2],
    /// Number of pairs of triangles that meet. It is a lower bound unless `is_all`.
    pub meetings: u64,
    /// All pairs of triangles whose bounds meet were examined, so that no other pairs meet.
    pub is_all: bool,
    /// The first pairs that meet, up to the requested number. Crossings come first, then pairs are sorted by
    /// the coordinates of their triangles.
    pub places: Vec<MeetingPair>,
}

/// Options of a comparison of two meshes.
#[derive(Clone, Copy)]
pub struct ClearanceOptions<'a> {
    /// Maximum number of meeting pairs of triangles to list.
    pub places: usize,
    /// Maximum number of triangle pairs to examine.
    pub pairs: PairLimit,
    /// Maximum memory to use in addition to both bodies, in bytes. `None` for no limit.
    pub max_bytes: Option<u64>,
    /// Receives the progress, and can cancel the work.
    pub progress: &'a dyn Progress,
}

impl Default for ClearanceOptions<'_> {
    fn default() -> Self {
        Self {
            places: 100,
            pairs: PairLimit::Usual,
            max_bytes: None,
            progress: &(),
        }
    }
}

/// Returns the relation of two meshes, with the default [`ClearanceOptions`].
///
/// ```
/// # use voxelize_compare::voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// use voxelize::Mesh;
/// use voxelize::compare::clearance::{Relation, clearance};
///
/// let cube = Mesh::open("fixtures/cube.stl")?;
/// let moved = cube.triangles().iter().map(|t| t.map(|[x, y, z]| [x + 67.0, y, z + 68.0]));
/// let found = clearance(&cube, &Mesh::from_triangles(moved.collect())?)?;
/// assert_eq!((found.relation, found.distance), (Relation::Apart, 5.0));
/// assert_eq!(found.direction, Some([-0.6, 0.0, -0.8]));
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// Fails if a mesh has no triangles or more than 2^31, or if there is not enough memory.
pub fn clearance(first: &Mesh, second: &Mesh) -> Result<Clearance> {
    let bodies = par::map(vec![first, second], ClearanceBody::new);
    let [first, second] = <[_; 2]>::try_from(bodies).unwrap_or_else(|_| unreachable!("two"));
    first?.clearance(&second?, &ClearanceOptions::default())
}

/// Mesh that is prepared for comparisons.
#[derive(Debug)]
pub struct ClearanceBody<'a> {
    mesh: &'a Mesh,
    tree: PairTree<'a>,
}

impl<'a> ClearanceBody<'a> {
    /// Prepares a mesh by putting its triangles into a tree of boxes.
    ///
    /// # Errors
    /// Fails if the mesh has no triangles or more than 2^31.
    pub fn new(mesh: &'a Mesh) -> Result<Self> {
        let count = mesh.triangles().len();
        if count == 0 {
            return Err(Error::no_triangles());
        }
        check_count(count as u64)?;
        Ok(Self {
            mesh,
            tree: PairTree::new(mesh.triangles()),
        })
    }

    /// Returns the memory that a body needs in addition to its mesh, in bytes. `triangles` is the number of
    /// triangles.
    pub fn bytes_for(triangles: usize) -> u64 {
        PairTree::bytes_for(triangles)
    }

    /// Returns the relation between this mesh, which is the first one, and `second`. The result does not
    /// depend on the number of threads. Only its triangle numbers depend on the order of the triangles.
    ///
    /// # Errors
    /// Fails if there is not enough memory, if the work was cancelled, or if none of the examined pairs meet
    /// and not all pairs could be examined.
    pub fn clearance(&self, second: &Self, options: &ClearanceOptions) -> Result<Clearance> {
        let pair = [self, second];
        let ClearanceOptions { places, pairs, .. } = *options;
        let found = meetings::meetings(pair, options)?;
        let measured = |place: &MeetingPlace| place.measured(pair);
        let listed = found.first.iter().take(places).map(measured).collect();
        let closest;
        let found_relation;
        if let Some(first) = found.first.first() {
            found_relation = relation_meeting(pair, &found, options)?;
            let [s, t] = pair_of(pair, first.triangles);
            closest = Closest {
                points: separation::closest(s, t),
                triangles: first.triangles,
            };
        } else if found.is_all {
            let relation = relation_apart(pair, options)?;
            found_relation = MeshRelation::known(relation, Some(relation.shares_volume()));
            closest = closest::closest(pair, options.progress)?;
        } else {
            let most = pairs.pairs(self.mesh.triangles().len() + second.mesh.triangles().len());
            return Err(undecided(most));
        }
        Ok(Clearance {
            places: listed,
            ..Clearance::new(found_relation, pair, &closest, &found)
        })
    }
}

/// Returns the error for meshes with too many pairs of triangles whose bounds meet.
fn undecided(most: u64) -> Error {
    let text = format!(
        "it is unknown whether the meshes meet: only the first {most} pairs of triangles with overlapping bounding boxes \
         were examined, and none of them meet"
    );
    Error::too_large(text).with_hint(["raise `--max-pairs`", "or compare fewer triangles"])
}

/// Relation of two meshes, and whether they share volume. `None` if that is not known.
struct MeshRelation {
    relation: Relation,
    shares_volume: Option<bool>,
    too_many_places: bool,
}

impl MeshRelation {
    fn known(relation: Relation, shares_volume: Option<bool>) -> Self {
        Self {
            relation,
            shares_volume,
            too_many_places: false,
        }
    }
}

impl Clearance {
    /// Creates the result. The list of places is empty.
    fn new(
        relation: MeshRelation,
        pair: [&ClearanceBody; 2],
        closest: &Closest,
        found: &Meetings,
    ) -> Self {
        let MeshRelation {
            relation,
            shares_volume,
            too_many_places,
        } = relation;
        let [p, q] = &closest.points;
        let away = minus(p, q);
        let squared = dot(&away, &away);
        // Dividing by the longest component prevents overflow and underflow.
        let longest = away
            .iter()
            .map(Rational::abs)
            .max()
            .filter(Rational::is_positive);
        let direction = longest.map(|longest| {
            let v = away.each_ref().map(|c| (c / &longest).to_f64());
            let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
            v.map(|c| c / length + 0.0)
        });
        Self {
            relation,
            shares_volume,
            too_many_places,
            distance: squared.root_to_f64(),
            squared,
            points: [p, q].map(rounded),
            direction,
            triangles: in_files(pair, closest.triangles),
            meetings: found.count,
            is_all: found.is_all,
            places: vec![],
        }
    }

    /// Returns `true` if the meshes share volume, if they may share volume, or if they are closer than
    /// `distance`. The comparison is exact.
    pub fn is_closer_than(&self, distance: &Rational) -> bool {
        let is_near = distance.is_positive() && self.squared < distance * distance;
        self.shares_volume != Some(false) || is_near
    }
}

/// Returns the relation of meshes that do not meet.
fn relation_apart(pair: [&ClearanceBody; 2], options: &ClearanceOptions) -> Result<Relation> {
    let [first, second] = pair;
    let first_in_second = inside::components([first, second], None, options)?;
    let second_in_first = inside::components([second, first], None, options)?;
    Ok(match [first_in_second, second_in_first] {
        [
            ComponentCount { inside: 0, .. },
            ComponentCount { inside: 0, .. },
        ] => Relation::Apart,
        [
            ComponentCount { inside: 0, .. },
            ComponentCount { is_all: true, .. },
        ] => Relation::Contains,
        [
            ComponentCount { is_all: true, .. },
            ComponentCount { inside: 0, .. },
        ] => Relation::Within,
        _ => Relation::Crossing,
    })
}

/// Returns the relation of meshes that meet.
fn relation_meeting(
    pair: [&ClearanceBody; 2],
    found: &Meetings,
    options: &ClearanceOptions,
) -> Result<MeshRelation> {
    if found.crosses {
        return Ok(MeshRelation::known(Relation::Crossing, Some(true)));
    }
    if overlap::are_parted(pair, &found.first) {
        return Ok(MeshRelation::known(Relation::Touching, Some(false)));
    }
    if !found.is_all {
        return Ok(MeshRelation::known(Relation::Touching, None));
    }
    let triangles = pair.map(|body| body.mesh.triangles().len()).iter().sum();
    let too_many_places = found.count > options.pairs.places(triangles);
    let [first, second] = pair;
    let [of_first, of_second] = &found.marks;
    for (pair, marks) in [
        (pair, [of_first, of_second]),
        ([second, first], [of_second, of_first]),
    ] {
        if inside::components(pair, Some(marks[0]), options)?.inside > 0
            || !too_many_places && overlap::share_volume(pair, marks, options.progress)?
        {
            return Ok(MeshRelation::known(Relation::Crossing, Some(true)));
        }
    }
    let is_open = pair
        .iter()
        .any(|body| body.mesh.closedness() == Closedness::Open);
    let shares_volume = if is_open || too_many_places {
        None
    } else {
        Some(false)
    };
    Ok(MeshRelation {
        relation: Relation::Touching,
        shares_volume,
        too_many_places: too_many_places && !is_open,
    })
}

/// Returns the triangles with these indices, one of each mesh.
fn pair_of<'a>(pair: [&'a ClearanceBody; 2], numbers: [u32; 2]) -> [&'a Triangle; 2] {
    std::array::from_fn(|n| &pair[n].mesh.triangles()[numbers[n] as usize])
}

/// Returns the numbers that the triangles with these indices have in their files.
fn in_files(pair: [&ClearanceBody; 2], numbers: [u32; 2]) -> [u64; 2] {
    std::array::from_fn(|n| pair[n].mesh.number(numbers[n]))
}
