//! Whether two meshes collide, and how far apart they are.
//!
//! Triangles of both are in trees of boxes. Pairs of triangles whose bounds meet are compared exactly
//! ([`tri_tri`](voxelize_core::geom::tri_tri)); if none meet, a component of one mesh is inside the other or outside it as a
//! whole, and one ray decides for it. Else the closest pair is searched for, by bounds again. docs/internals/clearance.md
//! defines the answers and bounds their error.

#[doc(hidden)]
pub mod cells;
mod closest;
mod inside;
mod meetings;
mod overlap;

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

/// How two meshes lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Relation {
    /// They have no point in common, and neither is inside the other.
    Apart,
    /// Their surfaces meet, and no volume is inside both.
    Touching,
    /// A volume is inside both, and neither contains the other with all its surface apart from it.
    Crossing,
    /// The second is inside the first, and their surfaces do not meet.
    Contains,
    /// The first is inside the second, and their surfaces do not meet.
    Within,
}

impl Relation {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Apart,
        Self::Touching,
        Self::Crossing,
        Self::Contains,
        Self::Within,
    ];

    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Apart => "apart",
            Self::Touching => "touching",
            Self::Crossing => "crossing",
            Self::Contains => "contains",
            Self::Within => "within",
        }
    }

    /// Whether a volume is inside both.
    pub const fn shares_volume(self) -> bool {
        matches!(self, Self::Crossing | Self::Contains | Self::Within)
    }
}

/// Two triangles that meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeetingPair {
    /// Their [numbers](Mesh::number): in the first mesh, in the second.
    pub triangles: [u64; 2],
    /// Their intersection, decided exactly; never [`Meeting::Apart`].
    pub meeting: Meeting,
    /// The least and the greatest corner of that by coordinates, each rounded once: the ends of a segment.
    pub ends: [[f64; 3]; 2],
}

/// How two meshes lie to each other, and where they come closest.
#[derive(Debug, Clone, PartialEq)]
pub struct Clearance {
    /// How they lie.
    pub relation: Relation,
    /// Whether they share volume. `None` if they touch, no plane keeps them apart, and one of them is not closed, or not
    /// all pairs were examined, or too many meet: then nobody knows.
    pub shares_volume: Option<bool>,
    /// Whether that is not known since more pairs of triangles meet than [`PairLimit::places`].
    pub too_many_places: bool,
    /// The distance between their surfaces, in units of the file: that of the closest two points, rounded once; zero
    /// where they meet, and only there.
    pub distance: f64,
    /// The distance, squared, exactly.
    pub squared: Rational,
    /// The closest two points, on the first mesh and on the second, each coordinate rounded once. Of several pairs of
    /// points the least by coordinates, the lesser of both points first. Where the surfaces meet, the first end of the
    /// first place.
    pub points: [[f64; 3]; 2],
    /// The direction from the second point to the first, of length one; none where the surfaces meet.
    pub direction: Option<[f64; 3]>,
    /// The [numbers](Mesh::number) of the triangles of these points: of several with the same point, the smallest; where
    /// the surfaces meet, those of the first place.
    pub triangles: [u64; 2],
    /// How many pairs of triangles meet, at least.
    pub meetings: u64,
    /// Whether all pairs of triangles were examined, so that no more of them meet.
    pub is_all: bool,
    /// As many of these pairs as requested: pairs that pass through each other first, then by the coordinates of their
    /// triangles.
    pub places: Vec<MeetingPair>,
}

/// How two meshes are compared.
#[derive(Clone, Copy)]
pub struct ClearanceOptions<'a> {
    /// Pairs of triangles that meet to list.
    pub places: usize,
    /// Pairs of triangles to examine.
    pub pairs: PairLimit,
    /// The most memory to take in addition to both bodies, in bytes.
    pub max_bytes: Option<u64>,
    /// Where progress is reported.
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

/// How two meshes lie to each other, with the default [`ClearanceOptions`].
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
/// If a mesh has no triangles, or more than 2^31, or there is not enough memory.
pub fn clearance(first: &Mesh, second: &Mesh) -> Result<Clearance> {
    let bodies = par::map(vec![first, second], ClearanceBody::new);
    let [first, second] = <[_; 2]>::try_from(bodies).unwrap_or_else(|_| unreachable!("two"));
    first?.clearance(&second?, &ClearanceOptions::default())
}

/// A mesh that is ready to be compared with others.
#[derive(Debug)]
pub struct ClearanceBody<'a> {
    mesh: &'a Mesh,
    tree: PairTree<'a>,
}

impl<'a> ClearanceBody<'a> {
    /// Puts the triangles in a tree of boxes.
    ///
    /// # Errors
    /// If there are none, or more than 2^31.
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

    /// The bytes that it takes in addition to its mesh, for so many triangles.
    pub fn bytes_for(triangles: usize) -> u64 {
        PairTree::bytes_for(triangles)
    }

    /// The relation of this mesh, the first, to the second. The result depends neither on threads nor, but for numbers
    /// of triangles, on their order.
    ///
    /// # Errors
    /// If there is not enough memory, the work was cancelled, or none of the pairs that were examined meet, and there
    /// are more.
    pub fn clearance(&self, second: &Self, options: &ClearanceOptions) -> Result<Clearance> {
        let pair = [self, second];
        let ClearanceOptions { places, pairs, .. } = *options;
        let found = meetings::meetings(pair, options)?;
        let measured = |place: &MeetingPlace| place.measured(pair);
        let listed = found.first.iter().take(places).map(measured).collect();
        let closest;
        let lie;
        if let Some(first) = found.first.first() {
            lie = relation_meeting(pair, &found, options)?;
            let [s, t] = pair_of(pair, first.triangles);
            closest = Closest {
                points: separation::closest(s, t),
                triangles: first.triangles,
            };
        } else if found.is_all {
            let relation = relation_apart(pair, options)?;
            lie = MeshRelation::known(relation, Some(relation.shares_volume()));
            closest = closest::closest(pair, options.progress)?;
        } else {
            let most = pairs.pairs(self.mesh.triangles().len() + second.mesh.triangles().len());
            return Err(undecided(most));
        }
        Ok(Clearance {
            places: listed,
            ..Clearance::new(lie, pair, &closest, &found)
        })
    }
}

/// The error of meshes of which too many pairs of triangles come close.
fn undecided(most: u64) -> Error {
    let text = format!(
        "more than {most} pairs of triangles have bounds that meet; the first of them do not meet, and whether others \
         do is not known"
    );
    Error::too_large(text).with_hint(["raise `--max-pairs`", "or compare fewer triangles"])
}

/// How two meshes lie, and whether they share volume, if that is known.
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
    /// The relation without its places.
    fn new(
        lie: MeshRelation,
        pair: [&ClearanceBody; 2],
        closest: &Closest,
        found: &Meetings,
    ) -> Self {
        let MeshRelation {
            relation,
            shares_volume,
            too_many_places,
        } = lie;
        let [p, q] = &closest.points;
        let away = minus(p, q);
        let squared = dot(&away, &away);
        // Over the longest component it neither overflows nor underflows.
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

    /// Whether the meshes share volume, or may do so, or are closer than `distance`, exactly.
    pub fn is_closer_than(&self, distance: &Rational) -> bool {
        let is_near = distance.is_positive() && self.squared < distance * distance;
        self.shares_volume != Some(false) || is_near
    }
}

/// The relation of meshes that do not meet.
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

/// The relation of meshes that meet.
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

/// The triangles of these numbers.
fn pair_of<'a>(pair: [&'a ClearanceBody; 2], numbers: [u32; 2]) -> [&'a Triangle; 2] {
    std::array::from_fn(|n| &pair[n].mesh.triangles()[numbers[n] as usize])
}

/// The numbers in their files of triangles of these numbers.
fn in_files(pair: [&ClearanceBody; 2], numbers: [u32; 2]) -> [u64; 2] {
    std::array::from_fn(|n| pair[n].mesh.number(numbers[n]))
}
