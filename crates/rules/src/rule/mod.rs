//! Which cells are occupied: one file per rule, and their table.

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

pub use self::distance::Band;
pub(crate) use self::findings::findings_of_cells;
pub use self::findings::{findings, nothing_occupied, repaired};
pub use self::fraction::FractionReport;
pub use self::inside::{Inside, InsideReport, METHODS, Method, Repairs};
pub use self::labels::surface_and_interior;
pub use self::lost::{LostComponents, LostFeatures, LostPlaces};
pub(crate) use self::near_parts::may_overlap;

use self::area::AreaCells;
use self::distance::DistanceCells;
use self::filled::FilledCells;
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
use voxelize_core::grid::{CellKind, CellsMut, Lattice, Length, Quantity, Record};
use voxelize_meshes::Mesh;

/// Which cells are occupied: with the lattice, it decides every bit.
///
/// A rule is made with all defaults by [`surface`](Self::surface), [`solid`](Self::solid) or
/// [`filled`](Self::filled). Options chain: [`with_ties`](Self::with_ties) and its like fail where the rule has no
/// such option. A variant that is written out, `Rule::Surface { ties: Ties::Both }`, needs no check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Every cell the mesh touches; the inside stays empty.
    Surface {
        /// Which cells count as touched when mesh and wall coincide.
        ties: Ties,
    },
    /// Every cell in which the mesh meets one of the three segments that join the centres of opposite faces: cells of
    /// the surface under [`Ties::Up`], enough that no path of empty cells that share faces leads through a closed
    /// mesh (6-separating).
    Thin,
    /// Every cell whose centre is inside the mesh.
    Solid {
        /// The method that finds the inside.
        inside: Inside,
        /// Whether features thinner than cells are kept.
        thin: ThinFeatures,
    },
    /// Every cell that shares volume with a closed mesh: its centre is inside, or the mesh meets its
    /// interior.
    Filled {
        /// The method that finds the inside.
        inside: Inside,
        /// Which cells count as touched when mesh and wall coincide; [`Ties::Up`] with [`Inside::Flood`], which
        /// stops at the surface under these ties.
        ties: Ties,
        /// Only the outer cells: those with an empty cell, or the outside of the grid, within so many steps, a
        /// step going to any of the 26 cells around.
        shell: Option<u32>,
    },
    /// Every cell whose centre is within a radius of the mesh, in world units; a centre exactly that far away
    /// counts. Centres are not displaced.
    Offset {
        /// The radius; in cells, it is measured by the smallest of their sides.
        radius: Length,
    },
    /// Every cell has the distance from its centre to the nearest point of the mesh, in units of the file: a field.
    Distance {
        /// How far from the mesh cells have their distance.
        band: Band,
        /// The method that finds the inside, whose cells have the sign bit; `None` for no sign.
        sign: Option<Inside>,
        /// Bits in place of the field: cells whose value is at most this are occupied. Within the band.
        iso: Option<Length>,
    },
    /// Every cell has the share of its volume that is inside the mesh, 0 … 1: a field. The mesh must be closed.
    Fraction {
        /// How the mesh is taken: [`Inside::Nonzero`] as it is; [`Inside::Robust`] repaired and oriented, with caps of
        /// its holes as walls; [`Inside::Auto`] as it is if it is closed, oriented and not inside out, and repaired if
        /// it is closed otherwise.
        inside: Inside,
    },
    /// Every cell has the area of the mesh in it, in squares of the unit of the file: a field. Each triangle counts,
    /// whatever mesh it is of and however it is wound; one on a wall in the cell above it, on the last wall in the last one.
    Area,
}

/// Whether [`Rule::Solid`] keeps the features of a mesh that it loses by itself, as [`lost::find`] finds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ThinFeatures {
    /// They are lost.
    #[default]
    Lose,
    /// Cells of [`Rule::Filled`] are kept as well, in components that are lost or broken, and in those with a place of
    /// [`LostPlaces`]: the lost cells, and those with two different pieces within two cells, where a lost cell counts as
    /// a piece. So each of these components is one piece.
    Keep,
}

/// One row of the table of rules.
#[derive(Debug)]
pub struct RuleInfo {
    /// The rule with its defaults; a radius, which has none, is one cell here.
    pub rule: Rule,
    /// Its name on the command line and in saved files.
    pub name: &'static str,
    /// One line for help and README.
    pub about: &'static str,
    /// Whether its cells can be kept in bricks.
    has_bricks: bool,
    /// Why ties have no effect, and what to know; empty if it has ties.
    no_ties: [&'static str; 2],
    /// What it means if no cell is occupied.
    empty: &'static str,
}

/// Every rule. Help, README and tests loop over this.
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
            "the rule thin tests lines through cell centres",
            "they cross the mesh between walls: only surface and filled have ties",
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
        about: "every cell whose centre is inside",
        has_bricks: false,
        no_ties: [
            "the rule solid decides by cell centres, so ties have no effect",
            "no centre is on the mesh: only surface and filled have ties",
        ],
        empty: "no cell is occupied: no cell centre is inside the mesh",
    },
    RuleInfo {
        rule: Rule::offset(Length::cells(1)),
        name: "offset",
        about: "every cell whose centre is within a radius of the mesh",
        has_bricks: true,
        no_ties: [
            "the rule offset measures distances of cell centres",
            "a cell whose centre is exactly at the radius is occupied",
        ],
        empty: "no cell is occupied: no cell centre is that near to the mesh, or the mesh is outside the grid",
    },
    RuleInfo {
        rule: Rule::distance(),
        name: "distance",
        about: "a field: the distance from a cell's centre to the mesh, signed on request",
        has_bricks: false,
        no_ties: [
            "the rule distance measures from cell centres",
            "a distance has no ties: only surface and filled have ties",
        ],
        empty: "no cell centre is within the band: it is narrower than cells are, or the mesh is outside the grid",
    },
    RuleInfo {
        rule: Rule::fraction(),
        name: "fraction",
        about: "a field: the share of a cell's volume that is inside",
        has_bricks: false,
        no_ties: [
            "the rule fraction measures volumes",
            "a wall has no volume: only surface and filled have ties",
        ],
        empty: "no cell has a share inside: nothing is inside the mesh, or the mesh is outside the grid",
    },
    RuleInfo {
        rule: Rule::Area,
        name: "area",
        about: "a field: the area of the mesh in a cell",
        has_bricks: false,
        no_ties: [
            "the rule area measures triangles",
            "one on a wall is in the cell above it: only surface and filled have ties",
        ],
        empty: "no cell has any area: the mesh is outside the grid",
    },
];

/// A rule prepared for a mesh and a lattice, to fill layers of it.
pub struct PreparedRule<'a> {
    lattice: &'a Lattice,
    rule: Rule,
    cells: Box<dyn FillCells + 'a>,
}

/// Fills the cells of one rule.
trait FillCells: Send + Sync {
    /// Fills these layers of the lattice; layer 0 of the cells is layer `layers.start`.
    fn fill(&self, layers: Range<usize>, run: &Run, cells: CellsMut) -> Result<Stats>;

    /// All cells in bricks, if the rule has them.
    fn keep(&self, _run: &Run) -> Option<Result<Covered>> {
        None
    }

    /// The method that finds the inside, never [`Inside::Auto`].
    fn inside(&self) -> Option<Inside> {
        None
    }

    /// The volume of the mesh as it is taken, if the cells are shares of it.
    fn mesh_volume(&self) -> Option<f64> {
        None
    }
}

/// Findings about the mesh from filling the cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stats {
    /// The number of triangle coordinates that snapping moved onto a wall or a plane of cell centres.
    pub snapped: u64,
    /// About its inside.
    pub inside: InsideReport,
    /// The features that [`Rule::Solid`] would lose, if they were kept; otherwise [`lost::find`] finds them.
    pub lost: Option<LostFeatures>,
    /// How many cells keep them.
    pub kept: Option<u64>,
    /// About the shares of [`Rule::Fraction`].
    pub fraction: FractionReport,
}

impl Stats {
    /// Adds the findings about another body in the same layers.
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

    /// Adds the findings of layers that follow.
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

/// Sum of two counts, if there is one.
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
    /// The default ties of [`Rule::Filled`], which is solid or the surface under these.
    const FILLED_TIES: Ties = Ties::None;

    /// The rule surface, ties up.
    pub const fn surface() -> Self {
        Self::Surface { ties: Ties::Up }
    }

    /// The rule solid, inside by [`Inside::Auto`], without thin features.
    pub const fn solid() -> Self {
        Self::Solid {
            inside: Inside::Auto,
            thin: ThinFeatures::Lose,
        }
    }

    /// The rule filled, inside by [`Inside::Auto`], ties none, all cells.
    pub const fn filled() -> Self {
        Self::Filled {
            inside: Inside::Auto,
            ties: Self::FILLED_TIES,
            shell: None,
        }
    }

    /// The rule offset of this radius. [`margin`](Self::margin) says how much larger than the mesh a lattice must be
    /// for all of its cells.
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
    /// // Faces lie on walls, so centres are half a cell, and one and a half, away from them.
    /// assert!(!voxels.occupied()?.get([0, 0, 12]) && voxels.occupied()?.get([0, 12, 12]));
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    pub const fn offset(radius: Length) -> Self {
        Self::Offset { radius }
    }

    /// How far beyond the mesh its cells reach: [`Fit::margin`](voxelize_core::Fit::margin) pads a lattice by it.
    pub fn margin(&self) -> Length {
        match self {
            Self::Offset { radius } => *radius,
            Self::Distance {
                band: Band::Cells(width),
                ..
            } => *width,
            Self::Distance {
                band: Band::All,
                iso: Some(iso),
                ..
            } => *iso,
            _ => Length::ZERO,
        }
    }

    /// The rule distance, in a band of three cells, without a sign.
    pub const fn distance() -> Self {
        Self::Distance {
            band: Band::cells(3),
            sign: None,
            iso: None,
        }
    }

    /// The rule fraction, the inside by [`Inside::Auto`].
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

    /// The kind of cells that it makes: [`CellKind::Field`] or [`CellKind::Bits`].
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

    /// The background of the field that it makes of this lattice; `None` if it makes bits.
    pub fn background(&self, lattice: &Lattice) -> Option<f32> {
        match self {
            Self::Distance {
                band, iso: None, ..
            } => Some(distance::background(*band, lattice)),
            Self::Fraction { .. } | Self::Area => Some(0.0),
            _ => None,
        }
    }

    /// Which power of the unit of length the values of its field are in.
    pub(crate) fn unit_power(&self) -> i32 {
        match self {
            Self::Distance { iso: None, .. } => 1,
            Self::Area => 2,
            _ => 0,
        }
    }

    /// Makes sure that its options go with the cells of this lattice.
    ///
    /// # Errors
    /// If the value of [`Rule::Distance`] up to which cells are occupied is not within its band.
    pub fn check_on(&self, lattice: &Lattice) -> Result<()> {
        match self {
            Self::Distance {
                band,
                iso: Some(iso),
                ..
            } => distance::most(*band, *iso, lattice).map(drop),
            _ => Ok(()),
        }
    }

    /// The row of the table for this rule.
    pub fn info(&self) -> &'static RuleInfo {
        let is_this = |info: &&RuleInfo| discriminant(&info.rule) == discriminant(self);
        RULES.iter().find(is_this).expect("every rule has its row")
    }

    /// Its name on the command line and in saved files.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// The rule of that name with its defaults.
    pub fn from_name(name: &str) -> Option<Self> {
        RULES
            .iter()
            .find(|info| info.name == name)
            .map(|info| info.rule)
    }

    /// The ties, if it has any.
    pub fn ties(&self) -> Option<Ties> {
        match self {
            Self::Surface { ties } | Self::Filled { ties, .. } => Some(*ties),
            _ => None,
        }
    }

    /// The method that finds the inside, if it has one.
    pub fn inside(&self) -> Option<Inside> {
        match self {
            Self::Solid { inside, .. }
            | Self::Filled { inside, .. }
            | Self::Fraction { inside } => Some(*inside),
            Self::Distance { sign, .. } => *sign,
            _ => None,
        }
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

    /// Returns the bytes that it takes in addition to mesh and grid: of crossings, and of grids of its own.
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
            // The search, for the whole grid at once. What is lost is not searched if memory is short.
            Self::Solid { inside, thin } => {
                let is_bound = estimate.figure == MemoryFigure::UpperBound;
                if is_bound && *thin == ThinFeatures::Lose {
                    0
                } else {
                    lost::memory(*inside, estimate)
                }
            }
            // The eroded grid, its copy, and layers next to a slab.
            Self::Filled { shell: Some(_), .. } => estimate.grids(3, 2.0),
            Self::Offset { .. } => offset::memory(estimate),
            Self::Distance { .. } => Distances::memory(estimate),
            Self::Area => area::memory(estimate),
            _ => 0,
        };
        inside + bodies + own
    }

    /// The quantities that it has beside the cells.
    pub fn quantities(&self) -> &'static [Quantity] {
        match self {
            Self::Fraction { .. } => &Quantity::ALL,
            _ => &[],
        }
    }

    /// Whether it subtracts the [negative volumes](Mesh::cuts) of a mesh, and the mesh has some. Solid and filled do, and
    /// fraction where no body overlaps one that is cut; the other rules take the mesh without its negative volumes.
    pub fn subtracts_from(&self, mesh: &Mesh) -> bool {
        cut::subtracts(self, mesh)
    }

    /// Grids of a slab that it takes in addition to that of the cells.
    pub(crate) fn grids_beside(&self, mesh: &Mesh) -> u128 {
        if self.subtracts_from(mesh) {
            cut::grids(self)
        } else {
            0
        }
    }

    /// Whether all of its cells are surface, and the inside stays empty.
    pub fn is_hollow(&self) -> bool {
        matches!(self, Self::Surface { .. } | Self::Thin)
    }

    /// Whether the cells of a [region](Lattice::region) are those of the whole lattice there. The others depend on cells
    /// beside the region: a flood, thin features that are kept, and a shell.
    pub fn is_local(&self) -> bool {
        let is_flood = self.inside().is_some_and(Inside::is_flood);
        let keeps_thin = matches!(
            self,
            Self::Solid {
                thin: ThinFeatures::Keep,
                ..
            }
        );
        let has_shell = matches!(self, Self::Filled { shell: Some(_), .. });
        !is_flood && !keeps_thin && !has_shell
    }

    /// Whether its cells are labelled where a format can, as [`surface_and_interior`] does it.
    pub fn has_labels(&self) -> bool {
        matches!(self, Self::Filled { .. })
    }

    /// Whether its cells can be kept in bricks, [`Plan::Bricks`](crate::run::Plan::Bricks).
    pub fn has_bricks(&self) -> bool {
        self.info().has_bricks
    }

    /// How far from a triangle the cells that it occupies may be, in cells along each axis.
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

    /// Prepares the rule to fill layers of `lattice`, in the threads this is called in.
    ///
    /// # Errors
    /// If its options do not go together, the mesh is unfit for the rule, its extra bytes do not fit in memory, or
    /// the run was cancelled.
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
                cells: Box::new(cut::prepared(rule, mesh, lattice)),
            });
        }
        let ready = |inside: Inside| inside.prepare(mesh, lattice, run);
        let cells: Box<dyn FillCells + 'a> = match rule {
            Self::Surface { ties } => Box::new(surface::prepared(mesh, lattice, ties)),
            Self::Thin => Box::new(thin::prepared(mesh, lattice)),
            Self::Offset { radius } => Box::new(offset::prepared(mesh, lattice, radius)),
            Self::Solid { inside, thin } => {
                let inside = ready(inside)?;
                let kept = (thin == ThinFeatures::Keep)
                    .then(|| KeptFeatures::new(mesh, lattice, &inside, run))
                    .transpose()?;
                Box::new(SolidCells { inside, kept })
            }
            Self::Filled {
                inside,
                ties,
                shell,
            } => Box::new(FilledCells {
                touched: surface::prepared(mesh, lattice, ties),
                inside: ready(inside)?,
                shell: shell.map(|steps| steps as usize),
            }),
            Self::Fraction { inside } => Box::new(FractionCells::new(inside, mesh, lattice, run)?),
            Self::Area => Box::new(AreaCells::new(mesh, lattice, run)?),
            Self::Distance { band, sign, iso } => Box::new(DistanceCells {
                inside: sign.map(ready).transpose()?,
                most: iso
                    .map(|iso| distance::most(band, iso, lattice))
                    .transpose()?,
                distances: Distances::new(mesh, lattice, run)?,
            }),
        };
        Ok(PreparedRule {
            lattice,
            rule,
            cells,
        })
    }
}

/// The refusal of a grid of other dims.
fn other_dims() -> Error {
    Error::usage("the grid has other dims than the lattice")
}

impl PreparedRule<'_> {
    /// The rule with the method in force, never [`Inside::Auto`].
    pub fn used(&self) -> Rule {
        let mut rule = self.rule;
        if let (Some(inside), Some(used)) = (rule.inside_mut(), self.cells.inside()) {
            *inside = used;
        }
        rule
    }

    /// The record of a grid that it fills.
    pub(crate) fn record(&self) -> Record {
        let rule = self.used();
        Record {
            tool: Some(TOOL.to_string()),
            rule_name: Some(rule.name().to_string()),
            fields: rule.fields(),
            transform: vec![],
            snap: Some(self.lattice.snap().name().to_string()),
            mesh_volume: self.cells.mesh_volume().map(|volume| volume.to_string()),
            input: None,
        }
    }

    /// Occupies the cells of the rule in some layers of the lattice: layer 0 of the grid is layer
    /// `layers.start`. Cells that are occupied already stay so. A field, whose background is that of
    /// [`Rule::background`], gets the value of every cell; and beside it, if it is wanted, the number of the triangle
    /// that is nearest to each cell, the least of those equally near, or −1 where there is none within the band. Runs in
    /// the threads it is called in. The findings of consecutive layers add up.
    ///
    /// # Errors
    /// If the rule makes cells of another kind, the dims differ, the lattice has no such layers, the level does not
    /// exist here, or the run was cancelled.
    pub fn fill<'c>(
        &self,
        layers: Range<usize>,
        run: &Run,
        cells: impl Into<CellsMut<'c>>,
    ) -> Result<Stats> {
        let cells = cells.into();
        let [nx, ny, nz] = self.lattice.dims();
        let dims = cells.dims();
        let is_beside = |nearest: &[i32]| nearest.len() == dims.iter().product::<usize>();
        let fits = match &cells {
            CellsMut::Field(_, Some(nearest)) => is_beside(nearest),
            CellsMut::WithArrays(_, arrays) => arrays.iter().all(|array| {
                array.numbers().len() == array.quantity.numbers() * dims.iter().product::<usize>()
            }),
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

    /// All cells in bricks, where most of a grid is empty.
    pub(crate) fn keep(&self, run: &Run) -> Result<Covered> {
        self.cells.keep(run).unwrap_or_else(|| Err(no_bricks()))
    }
}

/// The refusal to keep cells in bricks.
pub(crate) fn no_bricks() -> Error {
    Error::usage("this rule has no bricks")
}
