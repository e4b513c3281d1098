//! Rules that decide which cells are occupied. Each rule has its own file, and this file has a table of all
//! rules.

mod area;
mod covered;
mod cut;
mod distance;
pub mod doubt;
mod filled;
mod findings;
pub(crate) mod fraction;
mod inside;
pub(crate) mod labels;
pub mod leak_path;
pub mod lost;
mod near_parts;
mod offset;
mod options;
mod search;
mod solid;
mod surface;
mod thin;

use std::mem::discriminant;
use std::ops::Range;

pub use self::distance::{Band, Iso};
pub(crate) use self::findings::findings_of_cells;
pub use self::findings::{findings, nothing_occupied, repaired};
pub use self::fraction::FractionReport;
pub use self::inside::{Inside, InsideReport, METHODS, Method, Repairs};
pub use self::labels::surface_and_interior;
pub use self::lost::{LostComponents, LostFeatures, LostPlaces};
pub(crate) use self::near_parts::may_overlap;

use self::area::AreaCells;
use self::distance::DistanceCells;
use self::filled::{FilledCells, PreparedShell};
use self::fraction::FractionCells;
use self::lost::KeptFeatures;
use self::solid::SolidCells;
use crate::run::Run;
use crate::run::cover::Covered;
use crate::run::memory::{MemoryEstimate, MemoryFigure};
use crate::run::nearest::Distances;
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::Ties;
use voxelize_core::grid::record::TOOL;
use voxelize_core::grid::{BitGrid, CellKind, CellsMut, Lattice, Length, Quantity, Record};
use voxelize_meshes::Mesh;

/// Rule that decides which cells are occupied. The mesh, the lattice and the rule together determine the
/// result exactly.
///
/// [`surface`](Self::surface), [`solid`](Self::solid) and [`filled`](Self::filled) create a rule with default
/// options. Methods such as [`with_ties`](Self::with_ties) set an option, can be chained, and fail if the
/// rule has no such option. A rule can also be written as a variant, such as `Rule::Surface { ties:
/// Ties::Both }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Occupies every cell that the mesh touches. The inside stays empty.
    Surface {
        /// Decides which cells the mesh touches if it coincides with a wall between cells.
        ties: Ties,
    },
    /// Occupies every cell in which the mesh intersects one of the three segments that join the centres of
    /// opposite faces. The cells are a subset of the cells of the rule surface under [`Ties::Up`]. The cells
    /// of a closed mesh are 6-separating: no path of empty cells that share faces leads from one side of the
    /// surface to the other.
    Thin,
    /// Occupies every cell whose centre is inside the mesh.
    Solid {
        /// Method that finds the inside.
        inside: Inside,
        /// Treatment of features that are thinner than cells.
        thin: ThinFeatures,
        /// Only the cells whose centre is within this distance of the mesh. A centre at exactly the
        /// distance counts.
        wall: Option<Length>,
    },
    /// Occupies every cell whose centre is inside the mesh, or whose interior the mesh intersects. If the
    /// mesh is closed, these are the cells that share volume with it.
    Filled {
        /// Method that finds the inside.
        inside: Inside,
        /// Decides which cells the mesh touches if it coincides with a wall between cells. They must be
        /// [`Ties::Up`] with [`Inside::Flood`], because a flood stops at the surface under these ties.
        ties: Ties,
        /// Thickness of the shell that is kept. `None` keeps all cells.
        shell: Option<ShellThickness>,
    },
    /// Occupies every cell whose centre is at most a given distance from the mesh. Distances are measured in
    /// world space. Centres are not displaced.
    Offset {
        /// Greatest distance of a centre from the mesh. If it is given in cells, the unit is the shortest
        /// side of a cell.
        radius: Length,
    },
    /// Makes a field of distances. The value of a cell is the distance from its centre to the nearest point
    /// of the mesh, in units of the file.
    Distance {
        /// Width of the band around the mesh in which cells store their distance.
        band: Band,
        /// Method that finds the inside. The values of cells inside get the sign bit. `None` if distances
        /// have no sign.
        sign: Option<Inside>,
        /// Greatest value of an occupied cell. With this option the rule makes bits instead of a field. Its
        /// distance must be less than the width of the band. A value below zero needs a sign.
        iso: Option<Iso>,
    },
    /// Makes a field of shares. The value of a cell is the share of its volume that is inside the mesh, from
    /// 0 to 1. The mesh must be closed, unless `inside` repairs it.
    Fraction {
        /// Treatment of the mesh. [`Inside::Nonzero`] uses the mesh unchanged. [`Inside::Robust`] repairs and
        /// orients it, and closes its holes with caps. [`Inside::Auto`] uses a closed, oriented mesh that is
        /// not inside out unchanged, repairs any other closed mesh, and fails for an open mesh.
        inside: Inside,
    },
    /// Makes a field of areas. The value of a cell is the area of the part of the mesh inside it, in squared
    /// units of the file. All triangles count, whichever mesh they belong to and whichever way they face. A
    /// triangle in the wall between two cells counts in the upper cell. A triangle in the last wall of the
    /// lattice counts in the last cell.
    Area,
}

/// Thickness of the shell that [`Rule::Filled`] keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellThickness {
    /// Only cells that have an empty cell or the outside of the grid within this number of steps stay occupied.
    /// A step leads from a cell to any of its 26 neighbours.
    Steps(u32),
    /// Only cells that the mesh touches, and cells whose centre is within this distance of the mesh, stay
    /// occupied. A centre at exactly the distance counts.
    Wall(Length),
}

impl From<u32> for ShellThickness {
    fn from(steps: u32) -> Self {
        Self::Steps(steps)
    }
}

impl From<Length> for ShellThickness {
    fn from(wall: Length) -> Self {
        Self::Wall(wall)
    }
}

/// Treatment of the thin features that [`Rule::Solid`] would lose. [`lost::find`] finds such features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ThinFeatures {
    /// Lose them.
    #[default]
    Lose,
    /// Keep them by adding cells of [`Rule::Filled`]. Cells are added in components of filled cells that are
    /// lost or broken, or have a place as in [`LostPlaces`]. The added cells are the lost cells, and the
    /// cells that have two different pieces of solid cells at a distance of at most two cells. A lost cell
    /// counts as a piece. As a result the cells of each of these components are connected.
    Keep,
}

/// Entry in the table of rules.
#[derive(Debug)]
pub struct RuleInfo {
    /// The rule with default options. The radius has no default. It is one cell here.
    pub rule: Rule,
    /// Name on the command line and in saved files.
    pub name: &'static str,
    /// Description of one line, for the help and the README.
    pub about: &'static str,
    /// The rule can store its cells in bricks.
    has_bricks: bool,
    /// Reason why the rule has no ties, and a hint. Both are empty if the rule has ties.
    no_ties: [&'static str; 2],
    /// Message for a result without occupied cells.
    empty: &'static str,
}

/// All rules. The help, the README and the tests are made from this table.
pub static RULES: &[RuleInfo] = &[
    RuleInfo {
        rule: Rule::surface(),
        name: "surface",
        about: "every cell that the mesh touches; hollow",
        has_bricks: true,
        no_ties: ["", ""],
        empty: "no cell is occupied: the mesh is outside the grid, or lies on its walls",
    },
    RuleInfo {
        rule: Rule::Thin,
        name: "thin",
        about: "every cell in which the mesh crosses one of the three lines that join the centres of opposite faces; hollow",
        has_bricks: true,
        no_ties: [
            "the rule thin has no ties: it tests lines through cell centres",
            "leave out `--ties`, or use `--rule surface` or `--filled`",
        ],
        empty: "no cell is occupied: the mesh is outside the grid, or crosses no segment between centres of opposite faces of a cell",
    },
    RuleInfo {
        rule: Rule::filled(),
        name: "filled",
        about: "every cell that the part overlaps",
        has_bricks: false,
        no_ties: ["", ""],
        empty: "no cell is occupied: nothing is inside the mesh, or the mesh is outside the grid",
    },
    RuleInfo {
        rule: Rule::solid(),
        name: "solid",
        about: "every cell whose centre is inside the mesh",
        has_bricks: false,
        no_ties: [
            "the rule solid has no ties: it tests cell centres",
            "leave out `--ties`, or use `--rule surface` or `--filled`",
        ],
        empty: "no cell is occupied: no cell centre is inside the mesh",
    },
    RuleInfo {
        rule: Rule::offset(Length::cells(1)),
        name: "offset",
        about: "every cell whose centre is at most a given radius away from the mesh",
        has_bricks: true,
        no_ties: [
            "the rule offset has no ties: it measures from cell centres",
            "leave out `--ties`: a cell whose centre is exactly at the radius is occupied",
        ],
        empty: "no cell is occupied: no cell centre is within the radius, or the mesh is outside the grid",
    },
    RuleInfo {
        rule: Rule::distance(),
        name: "distance",
        about: "a field: the distance from the centre of each cell to the mesh, signed on request",
        has_bricks: false,
        no_ties: [
            "the rule distance has no ties: it measures from cell centres",
            "leave out `--ties`, or use `--rule surface` or `--filled`",
        ],
        empty: "no cell centre is within the band: it is narrower than a cell, or the mesh is outside the grid",
    },
    RuleInfo {
        rule: Rule::fraction(),
        name: "fraction",
        about: "a field: the share of each cell's volume that is inside the mesh",
        has_bricks: false,
        no_ties: [
            "the rule fraction has no ties: it measures volumes",
            "leave out `--ties`, or use `--rule surface` or `--filled`",
        ],
        empty: "no cell has a share inside: nothing is inside the mesh, or the mesh is outside the grid",
    },
    RuleInfo {
        rule: Rule::Area,
        name: "area",
        about: "a field: the area of the mesh in each cell",
        has_bricks: false,
        no_ties: [
            "the rule area has no ties: it measures triangles",
            "leave out `--ties`: a triangle on a wall belongs to the cell above",
        ],
        empty: "no cell has any area: the mesh is outside the grid",
    },
];

/// Rule that was prepared for a mesh and a lattice, and can fill layers of the lattice.
pub struct PreparedRule<'a> {
    lattice: &'a Lattice,
    rule: Rule,
    cells: Box<dyn FillCells + 'a>,
}

/// Implementation of a rule.
trait FillCells: Send + Sync {
    /// Fills these layers of the lattice. Layer 0 of `cells` is layer `layers.start` of the lattice.
    fn fill(&self, layers: Range<usize>, run: &Run, cells: CellsMut) -> Result<Stats>;

    /// Fills some layers as [`fill`](Self::fill) does, and occupies the cells of the cavity in `cavity`. The
    /// cavity has the cells that the rule would occupy if it kept no shell. Both grids must be empty.
    fn hollow(
        &self,
        layers: Range<usize>,
        run: &Run,
        grid: &mut BitGrid,
        _cavity: &mut BitGrid,
    ) -> Result<Stats> {
        self.fill(layers, run, grid.into())
    }

    /// Returns all occupied cells, stored in bricks. `None` if the rule does not support bricks.
    fn keep(&self, _run: &Run) -> Option<Result<Covered>> {
        None
    }

    /// Returns the method that is used to find the inside, never [`Inside::Auto`]. `None` if the rule has no
    /// inside.
    fn inside(&self) -> Option<Inside> {
        None
    }

    /// Returns the volume of the mesh after its repair. `None` unless the cells are shares of volume.
    fn mesh_volume(&self) -> Option<f64> {
        None
    }
}

/// Counts and findings that result from filling cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stats {
    /// Number of triangle coordinates that snapping moved onto a lattice plane or a plane of cell centres.
    pub snapped: u64,
    /// Counts and findings about the inside.
    pub inside: InsideReport,
    /// Features that [`Rule::Solid`] loses, or would have lost without [`ThinFeatures::Keep`]. `None` if they
    /// were not searched. [`lost::find`] searches them.
    pub lost: Option<LostFeatures>,
    /// Number of cells that were added to keep thin features. `None` if the rule keeps no features.
    pub kept: Option<u64>,
    /// Counts about the shares of [`Rule::Fraction`].
    pub fraction: FractionReport,
}

impl Stats {
    /// Adds the counts and findings of another body for the same layers.
    fn add_body(&mut self, other: Self) {
        self.snapped += other.snapped;
        let Self {
            inside, lost, kept, ..
        } = self;
        let InsideReport {
            disputed,
            leak,
            closed_holes,
            repairs,
        } = other.inside;
        inside.disputed = sum(inside.disputed, disputed);
        inside.closed_holes = sum(inside.closed_holes, closed_holes);
        inside.leak = inside.leak.take().or(leak);
        inside.repairs = inside.repairs.take().or(repairs);
        *lost = lost.take().or(other.lost);
        *kept = sum(*kept, other.kept);
    }

    /// Adds the counts and findings of the next layers.
    pub(crate) fn add(&mut self, other: Self) {
        self.snapped += other.snapped;
        let disputed = self.inside.disputed.unwrap_or(0) + other.inside.disputed.unwrap_or(0);
        self.fraction.add(other.fraction);
        self.lost = other.lost;
        self.kept = other.kept;
        self.inside = InsideReport {
            disputed: other.inside.disputed.map(|_| disputed),
            ..other.inside
        };
    }
}

/// Returns the sum of two counts, where `None` counts as zero. `None` if both counts are `None`.
fn sum(one: Option<u64>, two: Option<u64>) -> Option<u64> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one + two),
        (one, two) => one.or(two),
    }
}

impl Default for Rule {
    fn default() -> Self {
        Self::surface()
    }
}

impl Rule {
    /// Default ties of [`Rule::Filled`]. With them the rule is the union of solid and of surface under these
    /// ties.
    const FILLED_TIES: Ties = Ties::None;

    /// Returns the rule surface with ties up.
    pub const fn surface() -> Self {
        Self::Surface { ties: Ties::Up }
    }

    /// Returns the rule solid with [`Inside::Auto`] that does not keep thin features.
    pub const fn solid() -> Self {
        Self::Solid {
            inside: Inside::Auto,
            thin: ThinFeatures::Lose,
            wall: None,
        }
    }

    /// Returns the rule filled with [`Inside::Auto`], with ties none, and without a shell.
    pub const fn filled() -> Self {
        Self::Filled {
            inside: Inside::Auto,
            ties: Self::FILLED_TIES,
            shell: None,
        }
    }

    /// Returns the rule offset with this radius. The lattice must extend beyond the mesh by
    /// [`margin`](Self::margin) if it is to contain all cells of the rule.
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::{Fit, Mesh, Rule, voxelize};
    ///
    /// let mesh = Mesh::open("fixtures/cube.stl")?;
    /// let rule = Rule::offset("2vx".parse()?);
    /// let lattice = Fit::longest(20).margin(rule.margin()).to(mesh.bounds())?;
    /// assert_eq!(lattice.dims(), [24; 3]);
    /// let voxels = voxelize(&mesh, &lattice, rule)?;
    /// // Faces lie on walls, so centres are half a cell and one and a half cells away from them.
    /// assert!(!voxels.occupied()?.get([0, 0, 12]) && voxels.occupied()?.get([0, 12, 12]));
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    pub const fn offset(radius: Length) -> Self {
        Self::Offset { radius }
    }

    /// Returns the greatest distance from the mesh at which the rule occupies cells or stores distances.
    /// [`Fit::margin`](voxelize_core::Fit::margin) pads a lattice by this length.
    pub fn margin(&self) -> Length {
        match self {
            Self::Offset { radius } => *radius,
            Self::Distance {
                band: Band::Width(width),
                ..
            } => *width,
            Self::Distance {
                band: Band::All,
                iso: Some(iso),
                ..
            } if !iso.is_below_zero() => iso.distance(),
            _ => Length::ZERO,
        }
    }

    /// Returns the rule distance with a band of three cells and without a sign.
    pub const fn distance() -> Self {
        Self::Distance {
            band: Band::cells(3),
            sign: None,
            iso: None,
        }
    }

    /// Returns the rule fraction with [`Inside::Auto`].
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::{Lattice, Mesh, Rule, voxelize};
    ///
    /// let mesh = Mesh::open("fixtures/knot.stl")?;
    /// let lattice = Lattice::fit(mesh.bounds(), 32)?;
    /// let voxels = voxelize(&mesh, &lattice, Rule::fraction())?;
    /// let cell: f64 = lattice.spacing().iter().map(|side| side.to_f64()).product();
    /// let volume: f64 = voxels.field().expect("a field").values().iter().map(|share| f64::from(*share) * cell).sum();
    /// assert!((volume / mesh.volume() - 1.0).abs() < 1e-9);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    pub const fn fraction() -> Self {
        Self::Fraction {
            inside: Inside::Auto,
        }
    }

    /// Returns the kind of cells that the rule makes: [`CellKind::Field`] or [`CellKind::Bits`].
    pub fn kind(&self) -> CellKind {
        if matches!(
            self,
            Self::Distance { iso: None, .. } | Self::Fraction { .. } | Self::Area
        ) {
            CellKind::Field
        } else {
            CellKind::Bits
        }
    }

    /// Returns the background value of the field that this rule makes on a lattice. `None` if the rule makes
    /// bits.
    pub fn background(&self, lattice: &Lattice) -> Option<f32> {
        match self {
            Self::Distance {
                band, iso: None, ..
            } => Some(distance::background(*band, lattice)),
            Self::Fraction { .. } | Self::Area => Some(0.0),
            _ => None,
        }
    }

    /// Returns the exponent of the length unit in the field's values: 1 for distances, 2 for areas, 0 for
    /// others.
    pub(crate) fn unit_power(&self) -> i32 {
        match self {
            Self::Distance { iso: None, .. } => 1,
            Self::Area => 2,
            _ => 0,
        }
    }

    /// Checks that the options of the rule are valid on this lattice.
    ///
    /// # Errors
    /// Fails if the iso value of [`Rule::Distance`] is not less than the width of its band.
    pub fn check_on(&self, lattice: &Lattice) -> Result<()> {
        match self {
            Self::Distance {
                band,
                iso: Some(iso),
                ..
            } => distance::iso_cells(*band, *iso, lattice).map(drop),
            _ => Ok(()),
        }
    }

    /// Returns the entry of this rule in the table.
    pub fn info(&self) -> &'static RuleInfo {
        for info in RULES {
            if discriminant(&info.rule) == discriminant(self) {
                return info;
            }
        }
        unreachable!("every rule has its row")
    }

    /// Returns the name on the command line and in saved files.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// Returns the rule of this name with default options. `None` if no rule has the name.
    pub fn from_name(name: &str) -> Option<Self> {
        RULES
            .iter()
            .find(|info| info.name == name)
            .map(|info| info.rule)
    }

    /// Returns the ties of the rule. `None` if the rule has no ties.
    pub fn ties(&self) -> Option<Ties> {
        match self {
            Self::Surface { ties } | Self::Filled { ties, .. } => Some(*ties),
            _ => None,
        }
    }

    /// Returns the method that finds the inside. `None` if the rule needs no method.
    pub fn inside(&self) -> Option<Inside> {
        match self {
            Self::Solid { inside, .. }
            | Self::Filled { inside, .. }
            | Self::Fraction { inside } => Some(*inside),
            Self::Distance { sign, .. } => *sign,
            _ => None,
        }
    }

    /// Returns the thickness of the wall that is kept. `None` if the inside is kept as well, or the
    /// thickness is a number of steps.
    pub fn wall(&self) -> Option<Length> {
        match self {
            Self::Solid { wall, .. } => *wall,
            Self::Filled {
                shell: Some(ShellThickness::Wall(wall)),
                ..
            } => Some(*wall),
            _ => None,
        }
    }

    /// Returns true if the rule keeps a wall or a shell, so that the part has a cavity.
    pub fn has_cavity(&self) -> bool {
        let has_shell = matches!(self, Self::Filled { shell: Some(_), .. });
        self.wall().is_some() || has_shell
    }

    fn inside_mut(&mut self) -> Option<&mut Inside> {
        match self {
            Self::Solid { inside, .. }
            | Self::Filled { inside, .. }
            | Self::Fraction { inside } => Some(inside),
            Self::Distance { sign, .. } => sign.as_mut(),
            _ => None,
        }
    }

    /// Returns the memory, in bytes, that the rule needs in addition to the mesh and the grid, such as for
    /// crossings and temporary grids.
    pub(crate) fn memory(&self, estimate: &MemoryEstimate) -> u128 {
        let bodies = if self.subtracts_from(estimate.mesh) {
            cut::bytes(estimate.mesh)
        } else {
            0
        };
        if let Self::Fraction { inside } = self {
            return 2 * bodies + fraction::memory(*inside, estimate);
        }
        let inside = self.inside().map_or(0, |inside| inside.memory(estimate));
        let own = match self {
            // The search for lost features needs the whole grid. It is optional unless the features are kept:
            // if memory is short, it is left out.
            Self::Solid { inside, thin, .. } => {
                let is_bound = estimate.figure == MemoryFigure::UpperBound;
                if is_bound && *thin == ThinFeatures::Lose {
                    0
                } else {
                    lost::memory(*inside, estimate)
                }
            }
            // The memory is for the eroded grid, a copy of it, and the layers next to a slab.
            Self::Filled {
                shell: Some(ShellThickness::Steps(_)),
                ..
            } => estimate.grids(3, 2.0),
            Self::Offset { .. } => offset::memory(estimate),
            Self::Distance { .. } => Distances::memory(estimate),
            Self::Area => area::memory(estimate),
            _ => 0,
        };
        let wall = match self.wall() {
            Some(_) => offset::memory(estimate),
            None => 0,
        };
        inside + bodies + own + wall
    }

    /// Returns the additional quantities that the rule can compute for every cell.
    pub fn quantities(&self) -> &'static [Quantity] {
        match self {
            Self::Fraction { .. } => &Quantity::ALL,
            _ => &[],
        }
    }

    /// Returns true if the mesh has [negative volumes](Mesh::cuts) and the rule subtracts them. The rules
    /// solid and filled subtract them. The rule fraction subtracts them unless a body with negative volumes
    /// overlaps another body. The other rules ignore negative volumes.
    pub fn subtracts_from(&self, mesh: &Mesh) -> bool {
        cut::subtracts(self, mesh)
    }

    /// Returns the number of grids of the size of a slab that the rule needs in addition to the grid of the
    /// cells.
    pub(crate) fn grids_beside(&self, mesh: &Mesh) -> u128 {
        if self.subtracts_from(mesh) {
            return cut::grids(self);
        }
        let has_near = match self {
            Self::Distance { iso: Some(iso), .. } => iso.is_below_zero(),
            _ => self.wall().is_some(),
        };
        u128::from(has_near)
    }

    /// Returns true if the rule occupies only cells at the surface, so that the inside stays empty.
    pub fn is_hollow(&self) -> bool {
        matches!(self, Self::Surface { .. } | Self::Thin)
    }

    /// Returns true if the rule occupies the same cells in a [region](Lattice::region) as in the same part of
    /// the whole lattice. The cells differ if the rule needs cells outside the region. It does if the method
    /// is a flood, if thin features are kept, and for a shell of a number of steps.
    pub fn is_local(&self) -> bool {
        let is_flood = self.inside().is_some_and(Inside::is_flood);
        let keeps_thin = matches!(
            self,
            Self::Solid {
                thin: ThinFeatures::Keep,
                ..
            }
        );
        let has_steps = matches!(
            self,
            Self::Filled {
                shell: Some(ShellThickness::Steps(_)),
                ..
            }
        );
        !is_flood && !keeps_thin && !has_steps
    }

    /// Returns true if the cells get the labels of [`surface_and_interior`] when they are saved in a format
    /// with labels.
    pub fn has_labels(&self) -> bool {
        matches!(self, Self::Filled { .. })
    }

    /// Returns true if the rule can store its cells in bricks, as in
    /// [`Plan::Bricks`](crate::run::Plan::Bricks).
    pub fn has_bricks(&self) -> bool {
        self.info().has_bricks
    }

    /// Returns the greatest distance along each axis, in cells, between a triangle and a cell that the rule
    /// occupies because of it.
    pub(crate) fn reach(&self, lattice: &Lattice) -> [f64; 3] {
        match self {
            Self::Offset { radius } => {
                let radius = radius.in_world(lattice.spacing()).to_f64();
                lattice
                    .spacing()
                    .each_ref()
                    .map(|side| radius / side.to_f64())
            }
            _ => [0.0; 3],
        }
    }

    /// Prepares the rule to fill layers of `lattice`. Uses the calling thread pool.
    ///
    /// # Errors
    /// Fails if options of the rule exclude each other, if the mesh does not suit the rule, if the additional
    /// data do not fit in memory, or if the run was cancelled.
    pub fn prepare<'a>(
        self,
        mesh: &'a Mesh,
        lattice: &'a Lattice,
        run: &Run,
    ) -> Result<PreparedRule<'a>> {
        let rule = self.checked()?;
        if rule.subtracts_from(mesh) {
            return Ok(PreparedRule {
                lattice,
                rule,
                cells: Box::new(cut::prepared(rule, mesh, lattice)?),
            });
        }
        let ready = |inside: Inside| inside.prepare(mesh, lattice, run);
        let cells: Box<dyn FillCells + 'a> = match rule {
            Self::Surface { ties } => Box::new(surface::prepared(mesh, lattice, ties)),
            Self::Thin => Box::new(thin::prepared(mesh, lattice)),
            Self::Offset { radius } => Box::new(offset::prepared(mesh, lattice, radius)),
            Self::Solid { inside, thin, wall } => {
                let inside = ready(inside)?;
                let kept = match thin {
                    ThinFeatures::Keep => Some(KeptFeatures::new(mesh, lattice, &inside, run)?),
                    ThinFeatures::Lose => None,
                };
                let wall = wall.map(|wall| offset::prepared(mesh, lattice, wall));
                Box::new(SolidCells { inside, kept, wall })
            }
            Self::Filled {
                inside,
                ties,
                shell,
            } => Box::new(FilledCells {
                touched: surface::prepared(mesh, lattice, ties),
                inside: ready(inside)?,
                shell: match shell {
                    None => PreparedShell::All,
                    Some(ShellThickness::Steps(steps)) => PreparedShell::Steps(steps as usize),
                    Some(ShellThickness::Wall(wall)) => {
                        PreparedShell::Wall(Box::new(offset::prepared(mesh, lattice, wall)))
                    }
                },
            }),
            Self::Fraction { inside } => Box::new(FractionCells::new(inside, mesh, lattice, run)?),
            Self::Area => Box::new(AreaCells::new(mesh, lattice, run)?),
            Self::Distance { band, sign, iso } => {
                let inside = match sign {
                    Some(sign) => Some(ready(sign)?),
                    None => None,
                };
                let iso = match iso {
                    Some(iso) => Some(distance::iso_cells(band, iso, lattice)?),
                    None => None,
                };
                let distances = Distances::new(mesh, lattice, run)?;
                Box::new(DistanceCells {
                    distances,
                    inside,
                    iso,
                })
            }
        };
        Ok(PreparedRule {
            lattice,
            rule,
            cells,
        })
    }
}

/// Returns the error for a grid whose dims differ from those of the lattice.
fn other_dims() -> Error {
    Error::usage("the dims of the grid differ from the dims of the lattice")
}

impl PreparedRule<'_> {
    /// Returns the rule with the method that is used for this mesh, never [`Inside::Auto`].
    pub fn used(&self) -> Rule {
        let mut rule = self.rule;
        if let (Some(inside), Some(used)) = (rule.inside_mut(), self.cells.inside()) {
            *inside = used;
        }
        rule
    }

    /// Returns the record that describes how the cells of this rule were made. Saved files contain it.
    pub(crate) fn record(&self) -> Record {
        let rule = self.used();
        Record {
            tool: Some(TOOL.to_string()),
            rule_name: Some(rule.name().to_string()),
            fields: rule.fields(),
            drain: None,
            transform: vec![],
            snap: Some(self.lattice.snap().name().to_string()),
            mesh_volume: self.cells.mesh_volume().map(|volume| volume.to_string()),
            input: None,
        }
    }

    /// Fills some layers of the lattice. Layer 0 of `cells` is layer `layers.start` of the lattice. In a grid
    /// of bits, the cells of the rule are added to those that are already occupied.
    ///
    /// A field must have the background of [`Rule::background`]. Every cell of a field gets its value. On
    /// request every cell also gets the number of its nearest triangle, or −1 if no triangle is within the
    /// band. Among equally near triangles the least number is stored.
    ///
    /// Uses the calling thread pool. The counts of all layers are the sums of the counts of consecutive
    /// calls.
    ///
    /// # Errors
    /// Fails if the rule makes cells of another kind, if the dims differ, if the lattice has no such layers,
    /// if the machine lacks the instruction set, or if the run was cancelled.
    pub fn fill<'c>(
        &self,
        layers: Range<usize>,
        run: &Run,
        cells: impl Into<CellsMut<'c>>,
    ) -> Result<Stats> {
        let cells = cells.into();
        let [nx, ny, nz] = self.lattice.dims();
        let dims = cells.dims();
        let count = dims.iter().product::<usize>();
        let fits = match &cells {
            CellsMut::Field(_, Some(nearest)) => nearest.len() == count,
            CellsMut::WithArrays(_, arrays) => arrays
                .iter()
                .all(|array| array.numbers().len() == array.content.numbers() * count),
            _ => true,
        };
        if layers.end > nz || dims != [nx, ny, layers.len()] || !fits {
            return Err(other_dims());
        }
        match (self.rule.kind(), cells.kind()) {
            (made, wanted) if made == wanted => self.cells.fill(layers, run, cells),
            (CellKind::Field, _) if matches!(self.rule, Rule::Fraction { .. } | Rule::Area) => {
                Err(Error::usage(format!(
                    "the rule {} makes a field, not bits",
                    self.rule.name()
                )))
            }
            (CellKind::Field, _) => Err(distance::makes_field()),
            _ => Err(Error::usage(format!(
                "the rule {} makes bits, not a field",
                self.rule.name()
            ))),
        }
    }

    /// Fills some layers of a rule that keeps a wall or a shell, and occupies the cells of the cavity in
    /// `cavity`. Both grids must be empty. Layer 0 of both is layer `layers.start` of the lattice.
    ///
    /// # Errors
    /// Fails for the reasons listed at [`fill`](Self::fill).
    pub(crate) fn hollow(
        &self,
        layers: Range<usize>,
        run: &Run,
        grid: &mut BitGrid,
        cavity: &mut BitGrid,
    ) -> Result<Stats> {
        let [nx, ny, nz] = self.lattice.dims();
        if layers.end > nz || [grid.dims(), cavity.dims()] != [[nx, ny, layers.len()]; 2] {
            return Err(other_dims());
        }
        self.cells.hollow(layers, run, grid, cavity)
    }

    /// Returns all occupied cells, stored in bricks. This saves memory if the grid is mostly empty.
    pub(crate) fn keep(&self, run: &Run) -> Result<Covered> {
        self.cells.keep(run).unwrap_or_else(|| Err(no_bricks()))
    }
}

/// Returns the error for a rule that cannot store its cells in bricks.
pub(crate) fn no_bricks() -> Error {
    Error::usage("this rule has no bricks")
}
