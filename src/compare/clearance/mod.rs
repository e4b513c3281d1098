//! Whether two meshes collide, and how far apart they are.
//!
//! Triangles of both are in cells of a lattice, with the bounds of each. Pairs of triangles whose bounds overlap are compared exactly
//! ([`tri_tri`](crate::geom::tri_tri)); if none meet, a component of one mesh is inside the other or outside it as a
//! whole, and one ray decides for it. Else the closest pair is searched for, by bounds again. docs/clearance.md
//! defines the answers and bounds their error.

mod bins;
mod broad;
mod inside;
mod overlap;

use crate::error::{Error, Result};
use crate::geom::fractions::{ExactPoint, dot, minus, rounded};
use crate::geom::tri_tri::Meeting;
use crate::geom::{Rational, Triangle, separation};
use crate::mesh::Mesh;
use crate::mesh::closed::Seal;
use crate::par::{self, Progress};
use bins::BinNode;
use inside::ComponentCount;

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
    pub const ALL: [Self; 5] = [Self::Apart, Self::Touching, Self::Crossing, Self::Contains, Self::Within];

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
    /// Their numbers: in the first mesh, in the second.
    pub triangles: [u32; 2],
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
    /// Whether they share volume. `None` if they touch, no plane keeps them apart, and one of them is not closed: then
    /// nobody knows.
    pub shares_volume: Option<bool>,
    /// The distance between their surfaces, in units of the file: that of the closest two points, rounded once; zero
    /// where they meet, and only there.
    pub distance: f64,
    /// The closest two points, on the first mesh and on the second, each coordinate rounded once.
    pub points: [[f64; 3]; 2],
    /// The direction from the second point to the first, of length one; none where the surfaces meet.
    pub direction: Option<[f64; 3]>,
    /// The triangles of these points: of several pairs at the same points, that of the smallest numbers; where the
    /// surfaces meet, those of the first place.
    pub triangles: [u32; 2],
    /// How many pairs of triangles meet.
    pub meetings: u64,
    /// As many of these pairs as requested: pairs that pass through each other first, then by number.
    pub places: Vec<MeetingPair>,
}

/// How two meshes lie to each other, with at most 100 [`places`](Clearance::places).
///
/// ```
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
    first?.clearance(&second?, 100, &())
}

/// A mesh that is ready to be compared with others.
#[derive(Debug)]
pub struct ClearanceBody<'a> {
    mesh: &'a Mesh,
    root: BinNode,
}

impl<'a> ClearanceBody<'a> {
    /// Puts the triangles in cells of a lattice.
    ///
    /// # Errors
    /// If there are none, or more than 2^31.
    pub fn new(mesh: &'a Mesh) -> Result<Self> {
        let count = mesh.triangles().len();
        if count == 0 {
            return Err(Error::unfit("the mesh has no triangles"));
        }
        if i32::try_from(count).is_err() {
            return Err(Error::too_large(format!("{count} triangles; the most is 2^31 - 1")));
        }
        Ok(Self { mesh, root: bins::root(mesh) })
    }

    /// The bytes that it takes in addition to its mesh, for so many triangles.
    pub fn bytes_for(triangles: usize) -> u128 {
        bins::bytes_for(triangles)
    }

    /// The relation of this mesh, the first, to the second, with at most so many places. The result depends neither on
    /// threads nor, but for numbers of triangles, on their order.
    ///
    /// # Errors
    /// If there is not enough memory, or the work was cancelled.
    pub fn clearance(&self, second: &Self, places: usize, progress: &dyn Progress) -> Result<Clearance> {
        let pair = [self, second];
        let mut meetings = broad::meetings(pair, progress)?;
        let (relation, shares_volume) = if meetings.is_empty() {
            let relation = relation_apart(pair, progress)?;
            (relation, Some(relation.shares_volume()))
        } else {
            relation_meeting(pair, &meetings, progress)?
        };
        meetings.sort_by_key(|met| met.meeting != Meeting::Crossing);
        let triangles = match meetings.first() {
            Some(met) => met.triangles,
            None => broad::closest(pair, progress)?,
        };
        let [s, t] = pair_of(pair, triangles);
        let places = meetings.iter().take(places).map(|met| met.place(pair)).collect();
        let meetings = meetings.len() as u64;
        Ok(Clearance::new((relation, shares_volume), triangles, &separation::closest(s, t), meetings, places))
    }
}

impl Clearance {
    fn new(
        (relation, shares_volume): (Relation, Option<bool>),
        triangles: [u32; 2],
        [p, q]: &[ExactPoint; 2],
        meetings: u64,
        places: Vec<MeetingPair>,
    ) -> Self {
        let away = minus(p, q);
        let distance = root(&dot(&away, &away));
        // Over the longest component it neither overflows nor underflows.
        let longest = away.iter().map(Rational::abs).max().filter(Rational::is_positive);
        let direction = longest.map(|longest| {
            let v = away.each_ref().map(|c| (c / &longest).to_f64());
            let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
            v.map(|c| c / length + 0.0)
        });
        let points = [p, q].map(rounded);
        Self { relation, shares_volume, distance, points, direction, triangles, meetings, places }
    }

    /// Whether the meshes share volume, or may do so, or are closer than `distance`.
    pub fn is_closer_than(&self, distance: f64) -> bool {
        self.shares_volume != Some(false) || self.distance < distance
    }
}

/// The root of a fraction: scaled by a power of four to where doubles hold its square, and rounded.
fn root(squared: &Rational) -> f64 {
    let direct = squared.to_f64();
    if direct > 1e-250 || squared.is_zero() {
        return direct.sqrt();
    }
    let four = Rational::from(1 << 62);
    let scaled = (0..8).fold(squared.clone(), |value, _| &value * &four);
    scaled.to_f64().sqrt() * 2f64.powi(-8 * 31)
}

/// The relation of meshes that do not meet.
fn relation_apart(pair: [&ClearanceBody; 2], progress: &dyn Progress) -> Result<Relation> {
    let [first, second] = pair;
    let first_in_second = inside::components([first, second], &[], progress)?;
    let second_in_first = inside::components([second, first], &[], progress)?;
    Ok(match [first_in_second, second_in_first] {
        [ComponentCount { inside: 0, .. }, ComponentCount { inside: 0, .. }] => Relation::Apart,
        [ComponentCount { inside: 0, .. }, ComponentCount { is_all: true, .. }] => Relation::Contains,
        [ComponentCount { is_all: true, .. }, ComponentCount { inside: 0, .. }] => Relation::Within,
        _ => Relation::Crossing,
    })
}

/// The relation of meshes that meet, and whether they share volume, if that is known.
fn relation_meeting(
    pair: [&ClearanceBody; 2],
    meetings: &[FoundMeeting],
    progress: &dyn Progress,
) -> Result<(Relation, Option<bool>)> {
    if meetings.iter().any(|met| met.meeting == Meeting::Crossing) {
        return Ok((Relation::Crossing, Some(true)));
    }
    if overlap::are_parted(pair, meetings) {
        return Ok((Relation::Touching, Some(false)));
    }
    let mut swapped: Vec<_> = meetings.iter().map(FoundMeeting::swapped).collect();
    swapped.sort_unstable_by_key(|met| met.triangles);
    let [first, second] = pair;
    for (pair, meetings) in [(pair, meetings), ([second, first], &swapped)] {
        if inside::components(pair, meetings, progress)?.inside > 0
            || overlap::share_volume(pair, meetings, progress)?
        {
            return Ok((Relation::Crossing, Some(true)));
        }
    }
    let is_open = pair.iter().any(|body| body.mesh.seal() == Seal::Open);
    Ok((Relation::Touching, if is_open { None } else { Some(false) }))
}

/// Two triangles that meet, by their numbers.
#[derive(Debug, Clone, Copy)]
struct FoundMeeting {
    triangles: [u32; 2],
    meeting: Meeting,
}

impl FoundMeeting {
    fn swapped(&self) -> Self {
        let [a, b] = self.triangles;
        Self { triangles: [b, a], ..*self }
    }

    fn place(&self, pair: [&ClearanceBody; 2]) -> MeetingPair {
        let [s, t] = pair_of(pair, self.triangles);
        let corners = separation::common(s, t);
        let end = |corner: Option<&ExactPoint>| corner.map_or([0.0; 3], rounded);
        let ends = [end(corners.first()), end(corners.last())];
        MeetingPair { triangles: self.triangles, meeting: self.meeting, ends }
    }
}

/// The triangles of these numbers.
fn pair_of<'a>(pair: [&'a ClearanceBody; 2], numbers: [u32; 2]) -> [&'a Triangle; 2] {
    std::array::from_fn(|n| &pair[n].mesh.triangles()[numbers[n] as usize])
}
