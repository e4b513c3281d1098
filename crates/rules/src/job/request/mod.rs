//! Requests: all options that affect the cells of a mesh, as users write them.
//!
//! [`OPTIONS`] is the table of options. The command line, lists of golden digests and the Python package pass
//! the names and texts of options. This module parses the texts, checks the options for conflicts, and
//! resolves them to a transform, a rule and a fit.

pub(super) mod parse;

use std::path::PathBuf;

use super::drain::Drain;
use super::measure::{Measure, WrittenBand, WrittenIso, WrittenLength, WrittenShell};
use super::parts::PartChoice;
use super::stated::{one_unit, one_up};
use super::transform::{AxisOrder, Transform};
use super::turn::{Matrix, Rotation, roll_pitch_yaw};
use super::voxelizer::JobLabels;
use crate::rule::{Band, Inside, Iso, METHODS, RULES, Rule, ShellThickness, ThinFeatures};
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::{Rational, Ties};
use voxelize_core::grid::record::FIELDS;
use voxelize_core::grid::{AXES, Fit, Length, Size, Snap};
use voxelize_meshes::{Mesh, PartKind, UnitOfLength, UpAxis};

/// Default number of cells along the longest axis.
pub const DEFAULT_RES: usize = 256;

/// Name of the record's field that stores one of the options [`VARIANTS`].
const VARIANT: &str = "variant";

/// Field of a record that contains the thickness of a wall. The option is `hollow`.
const WALL: &str = "wall";

/// Names of the options that records store in the field [`VARIANT`].
const VARIANTS: [&str; 3] = ["keep-thin", "signed", "hollow"];

/// Options of a job as the user wrote them. A length may have a unit. It is converted when the unit of the
/// mesh is known.
///
/// ```
/// # use voxelize_rules as voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// use voxelize::job::Request;
/// use voxelize::{Mesh, Voxelizer};
///
/// let mut request = Request::default();
/// request.set("voxel-size", "5mm")?;
/// request.set("unit", "mm")?;
/// request.set("rule", "filled")?;
/// let job = request.resolve(&[])?;
/// let mesh = job.transform.apply(Mesh::open("fixtures/knot.stl")?)?;
/// let lattice = job.fit.to(mesh.bounds())?;
/// let voxels = Voxelizer::new(job.rule).transform(&job.transform).run(&mesh, &lattice)?.voxels;
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Request {
    /// Number of cells along the longest axis. [`DEFAULT_RES`] is used if no option sets the size of the
    /// grid.
    pub res: Option<usize>,
    /// Numbers of cells along the longest axis of several levels of detail. Empty for a single grid.
    /// [`Request::by_level`] makes a request for each level.
    pub levels: Vec<usize>,
    /// Number of cells along the longest axis of the coarsest level, if `res` is one of several levels of detail.
    pub coarsest: Option<usize>,
    /// Side lengths of a cell.
    pub voxel_size: Option<[Measure; 3]>,
    /// Number of cells along each axis.
    pub dims: Option<[usize; 3]>,
    /// The grid of these dims fills the bounding box exactly, so that cells may not be cubes.
    pub is_stretched: bool,
    /// Point at which lattice planes of all three axes meet. It may be outside the grid.
    pub origin: Option<[Measure; 3]>,
    /// Least and greatest corner of a box that replaces the bounding box of the mesh.
    pub bounds: Option<[Measure; 6]>,
    /// All three dims are set to the largest of them.
    pub is_cube: bool,
    /// Numbers of cells that are added on the low side and on the high side of each axis. If it is `None`, a
    /// lattice that is fitted to the mesh is padded so that it contains the cells that the rule occupies
    /// beyond the mesh.
    pub pad: Option<[[usize; 3]; 2]>,
    /// File whose lattice is used.
    pub like: Option<PathBuf>,
    /// Method of snapping coordinates.
    pub snap: Option<Snap>,
    /// Axes of the file in the order in which they become the axes of the grid.
    pub axes: Option<AxisOrder>,
    /// Factor by which coordinates are scaled.
    pub scale: Option<Rational>,
    /// Matrix that is applied to the coordinates.
    pub matrix: Option<Matrix>,
    /// Rotations, in the order in which they are applied. Roll, pitch and yaw are three of them.
    pub rotate: Vec<Rotation>,
    /// Translation that is applied after all other transforms.
    pub translate: Option<[Measure; 3]>,
    /// Unit of the coordinates.
    pub unit: Option<UnitOfLength>,
    /// Axis of the file that points up.
    pub up: Option<UpAxis>,
    /// Rule that the user named. The rule's options are separate fields.
    pub rule: Option<Rule>,
    /// Method that finds the inside.
    pub inside: Option<Inside>,
    /// Greatest size, in cells, of holes that are closed before a flood.
    pub close_holes: Option<u32>,
    /// The rule solid keeps thin features.
    pub keeps_thin: bool,
    /// Thickness of a shell.
    pub hollow: Option<WrittenShell>,
    /// Drain holes: the coordinates of a point, and a diameter.
    pub drain: Vec<[Measure; 4]>,
    /// Radius of the rule offset.
    pub radius: Option<WrittenLength>,
    /// Band around the mesh in which cells store distances.
    pub band: Option<WrittenBand>,
    /// The rule distance makes signed distances, which are negative inside.
    pub is_signed: bool,
    /// Greatest value of an occupied cell, for the rule distance.
    pub iso: Option<WrittenIso>,
    /// Ties of the rule.
    pub ties: Option<Ties>,
    /// Kind of labels of the cells.
    pub labels: Option<JobLabels>,
    /// Names of the parts that have precedence if several parts occupy the same cell.
    pub priority: Vec<String>,
    /// Selection of parts of the mesh.
    pub parts: PartChoice,
    spelling: Spelling,
    /// Options that were set, with their texts.
    given: Vec<(&'static RequestOption, String)>,
}

/// Function that formats the name of an option in messages, such as `--res` for `res`.
#[derive(Debug, Clone, Copy)]
struct Spelling(fn(&str) -> String);

/// Entry in the table of options.
#[derive(Debug)]
pub struct RequestOption {
    /// Long name of the command-line flag, without dashes.
    pub name: &'static str,
    /// Kind of values that the option takes.
    pub values: OptionValues,
    /// Names of the options that must not be combined with this option.
    pub excludes: &'static [&'static str],
    set: fn(&mut Request, &str) -> Result<()>,
}

/// Kind of values that an option takes.
#[derive(Debug, Clone, Copy)]
pub enum OptionValues {
    /// The option is a flag and takes no value.
    Flag,
    /// The option takes one text.
    Text,
    /// The option takes one of these names.
    Name(fn() -> Vec<&'static str>),
    /// The option may occur several times, each time with a text.
    Texts,
}

use OptionValues::{Flag, Name, Text, Texts};

/// All options of a request.
pub static OPTIONS: &[RequestOption] = &[
    row("res", Text, |request, text| {
        match *parse::res(text)? {
            [one] => request.res = Some(one),
            ref levels => request.levels = levels.to_vec(),
        }
        Ok(())
    })
    .excluding(&["dims", "voxel-size", "origin"]),
    row("voxel-size", Text, |request, text| {
        put(&mut request.voxel_size, parse::cell_size(text))
    })
    .excluding(&["dims"]),
    row("dims", Text, |request, text| {
        put(&mut request.dims, parse::dims(text))
    }),
    row("stretch", Flag, |request, _| {
        turn_on(&mut request.is_stretched)
    }),
    row("origin", Text, |request, text| {
        put(&mut request.origin, parse::point(text))
    })
    .excluding(&["dims", "bounds"]),
    row("bounds", Text, |request, text| {
        put(&mut request.bounds, parse::corners(text))
    }),
    row("cube", Flag, |request, _| turn_on(&mut request.is_cube)).excluding(&["dims"]),
    row("pad", Text, |request, text| {
        put(&mut request.pad, parse::padding(text))
    }),
    row("like", Text, |request, text| {
        put(&mut request.like, Ok(text.into()))
    })
    .excluding(&[
        "res",
        "voxel-size",
        "dims",
        "stretch",
        "origin",
        "bounds",
        "cube",
        "pad",
    ]),
    row("snap", Name(|| names(&snaps())), |request, text| {
        put(&mut request.snap, named(text, &snaps()))
    }),
    row("axes", Text, |request, text| {
        put(&mut request.axes, text.parse())
    }),
    row("scale", Text, |request, text| {
        put(&mut request.scale, parse::factor(text))
    }),
    row("matrix", Text, |request, text| {
        put(&mut request.matrix, text.parse())
    }),
    row("rotate", Texts, |request, text| {
        add(&mut request.rotate, text.parse())
    }),
    row("rpy", Texts, |request, text| {
        request.rotate.extend(roll_pitch_yaw(text)?);
        Ok(())
    }),
    row("translate", Text, |request, text| {
        put(&mut request.translate, parse::point(text))
    }),
    row("unit", Name(|| names(&units())), |request, text| {
        // Other names of units are accepted as well.
        let known = UnitOfLength::from_name(text).map(UnitOfLength::name);
        put(&mut request.unit, named(known.unwrap_or(text), &units()))
    }),
    row("up", Name(|| names(&up_axes())), |request, text| {
        put(&mut request.up, named(text, &up_axes()))
    }),
    row("rule", Name(|| names(&rules())), |request, text| {
        put(&mut request.rule, named(text, &rules()))
    }),
    row("surface", Flag, |request, _| {
        put(&mut request.rule, Ok(Rule::surface()))
    })
    .excluding(&["rule"]),
    row("filled", Flag, |request, _| {
        put(&mut request.rule, Ok(Rule::filled()))
    })
    .excluding(&["rule", "surface"]),
    row("solid", Flag, |request, _| {
        put(&mut request.rule, Ok(Rule::solid()))
    })
    .excluding(&["rule", "surface", "filled"]),
    row("inside", Name(|| names(&methods())), |request, text| {
        put(&mut request.inside, named(text, &methods()))
    }),
    row("close-holes", Text, |request, text| {
        put(&mut request.close_holes, parse::steps(text))
    }),
    row("keep-thin", Flag, |request, _| {
        turn_on(&mut request.keeps_thin)
    }),
    row("hollow", Text, |request, text| {
        put(&mut request.hollow, parse::shell(text))
    }),
    row("drain", Texts, |request, text| {
        add(&mut request.drain, parse::drain(text))
    }),
    row("radius", Text, |request, text| {
        put(&mut request.radius, text.parse())
    }),
    row("band", Text, |request, text| {
        put(&mut request.band, parse::band(text))
    }),
    row("signed", Flag, |request, _| turn_on(&mut request.is_signed)),
    row("iso", Text, |request, text| {
        put(&mut request.iso, text.parse())
    }),
    row("labels", Name(|| names(&labels())), |request, text| {
        put(&mut request.labels, named(text, &labels()))
    }),
    row("priority", Texts, |request, text| {
        add(&mut request.priority, Ok(text.into()))
    }),
    row("only", Texts, |request, text| {
        add(&mut request.parts.only, Ok(text.into()))
    }),
    row("skip", Texts, |request, text| {
        add(&mut request.parts.skip, Ok(text.into()))
    }),
    row("ties", Name(|| names(&all_ties())), |request, text| {
        put(&mut request.ties, named(text, &all_ties()))
    }),
];

const fn row(
    name: &'static str,
    values: OptionValues,
    set: fn(&mut Request, &str) -> Result<()>,
) -> RequestOption {
    RequestOption {
        name,
        values,
        excludes: &[],
        set,
    }
}

fn put<T>(place: &mut Option<T>, value: Result<T>) -> Result<()> {
    *place = Some(value?);
    Ok(())
}

fn add<T>(all: &mut Vec<T>, value: Result<T>) -> Result<()> {
    all.push(value?);
    Ok(())
}

fn turn_on(flag: &mut bool) -> Result<()> {
    *flag = true;
    Ok(())
}

fn snaps() -> [(&'static str, Snap); 2] {
    [Snap::Float, Snap::None].map(|snap| (snap.name(), snap))
}

fn units() -> Vec<(&'static str, UnitOfLength)> {
    UnitOfLength::ALL.map(|unit| (unit.name(), unit)).into()
}

fn up_axes() -> Vec<(&'static str, UpAxis)> {
    UpAxis::ALL.map(|axis| (axis.name(), axis)).into()
}

fn rules() -> Vec<(&'static str, Rule)> {
    RULES.iter().map(|info| (info.name, info.rule)).collect()
}

fn methods() -> Vec<(&'static str, Inside)> {
    METHODS
        .iter()
        .map(|method| (method.name, method.inside))
        .collect()
}

fn all_ties() -> [(&'static str, Ties); 3] {
    Ties::ALL.map(|ties| (ties.name(), ties))
}

fn labels() -> Vec<(&'static str, JobLabels)> {
    let mut labels: Vec<_> = PartKind::ALL
        .into_iter()
        .map(|kind| (kind.name(), JobLabels::Parts(kind)))
        .collect();
    labels.extend([
        ("colour", JobLabels::Colours),
        ("color", JobLabels::Colours),
    ]);
    for kind in PartKind::ALL {
        let names = match kind {
            PartKind::File => ["file,colour", "file,color"],
            PartKind::Object => ["object,colour", "object,color"],
            PartKind::Material => ["material,colour", "material,color"],
        };
        labels.extend(names.map(|name| (name, JobLabels::PartColours(kind))));
    }
    labels
}

fn names<T>(rows: &[(&'static str, T)]) -> Vec<&'static str> {
    rows.iter().map(|(name, _)| *name).collect()
}

fn named<T: Clone>(text: &str, rows: &[(&'static str, T)]) -> Result<T> {
    match rows.iter().find(|(name, _)| *name == text) {
        Some((_, value)) => Ok(value.clone()),
        None => Err(Error::usage(format!("there is no '{text}'"))
            .with_hint(format!("it is one of {}", names(rows).join(", ")))),
    }
}

impl RequestOption {
    const fn excluding(mut self, others: &'static [&'static str]) -> Self {
        self.excludes = others;
        self
    }

    /// Returns the option of this name. `None` if there is no such option.
    pub fn from_name(name: &str) -> Option<&'static Self> {
        OPTIONS.iter().find(|option| option.name == name)
    }

    /// Checks that a text is a valid value of this option, without regard to other options.
    ///
    /// # Errors
    /// Fails if the text is not a valid value.
    pub fn check(&self, text: &str) -> Result<()> {
        (self.set)(&mut Request::default(), text)
    }
}

/// Result of resolving a request: transform, rule and fit.
#[derive(Debug, Clone)]
pub struct ResolvedRequest {
    /// Map from coordinates of the file to coordinates of the grid.
    pub transform: Transform,
    /// Rule with its options.
    pub rule: Rule,
    /// Drain holes of a hollow part, in the coordinates of the lattice.
    pub drains: Vec<Drain>,
    /// Method of fitting the lattice to the mesh. It is not used if the lattice of a file is used.
    pub fit: Fit,
    /// Least and greatest corner of the requested box. `None` if no box was requested.
    pub bounds: Option<[[Rational; 3]; 2]>,
}

impl ResolvedRequest {
    /// Changes transform and fit for a mesh whose coordinates are relative to the point `near` of the file.
    #[must_use]
    pub fn relative_to(mut self, near: [Rational; 3]) -> Self {
        let before = self.transform.offset();
        self.transform.near = near;
        let after = self.transform.offset();
        let by = std::array::from_fn(|axis| &before[axis] - &after[axis]);
        self.fit = self.fit.moved(&by);
        for drain in &mut self.drains {
            drain.move_by(&by);
        }
        self
    }
}

impl Default for Spelling {
    fn default() -> Self {
        Self(str::to_string)
    }
}

impl Request {
    /// Creates an empty request. `spell` formats the names of options in messages.
    pub fn new(spell: fn(&str) -> String) -> Self {
        Self {
            spelling: Spelling(spell),
            ..Self::default()
        }
    }

    /// Sets an option of [`OPTIONS`] to the value that `text` describes. For a flag, `text` must be empty.
    ///
    /// # Errors
    /// Fails if there is no such option, or if the text is not a valid value. In the second case the message
    /// does not contain the name of the option.
    pub fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let Some(option) = RequestOption::from_name(name) else {
            return Err(Error::usage(format!("there is no option '{name}'")));
        };
        if matches!(option.values, Flag) && !text.is_empty() {
            return Err(Error::usage("takes no value"));
        }
        (option.set)(self, text)?;
        self.given.push((option, text.to_string()));
        Ok(())
    }

    /// Returns the options that were set and their texts, in the order in which they were set.
    pub fn given(&self) -> &[(&'static RequestOption, String)] {
        &self.given
    }

    /// Returns true if the option of this name was set.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.iter().any(|(option, _)| option.name == name)
    }

    /// Formats an option and its text for a message, as in `--res 8192`.
    pub fn written(&self, name: &str) -> String {
        let name_in_messages = (self.spelling.0)(name);
        match self.given.iter().find(|(option, _)| option.name == name) {
            Some((_, text)) if !text.is_empty() => format!("{name_in_messages} {text}"),
            _ => name_in_messages,
        }
    }

    /// Formats the option that determines the size of the grid for a message.
    pub fn size_option(&self) -> String {
        let sizes = ["like", "dims", "voxel-size", "res"];
        match sizes.into_iter().find(|name| self.is_given(name)) {
            Some(name) => self.written(name),
            None => format!("{} {DEFAULT_RES} (the default)", (self.spelling.0)("res")),
        }
    }

    /// Returns a request for each level of detail, in the order of the levels. A request for a single grid is
    /// returned unchanged. The grids of all levels have the same corner and cover the box of the coarsest level.
    pub fn by_level(&self) -> Vec<Self> {
        let Some(coarsest) = self.levels.iter().min() else {
            return vec![self.clone()];
        };
        let mut requests = vec![];
        for cells in &self.levels {
            let mut request = self.clone();
            request.levels = vec![];
            request.res = Some(*cells);
            request.coarsest = Some(*coarsest);
            for (option, text) in &mut request.given {
                if option.name == "res" {
                    *text = cells.to_string();
                }
            }
            requests.push(request);
        }
        requests
    }

    /// Resolves the request. `stated` has, for each mesh file, the unit and the up axis that the file states.
    /// Options of the request take precedence over the files.
    ///
    /// # Errors
    /// Fails if options exclude each other or lack an option that they need, if a length cannot be converted,
    /// or if the files state different units or up axes.
    pub fn resolve(
        &self,
        stated: &[(Option<UnitOfLength>, Option<UpAxis>)],
    ) -> Result<ResolvedRequest> {
        self.check_exclusions()?;
        if !self.levels.is_empty() {
            let error = format!(
                "{}: each level of detail is a grid of its own",
                self.written("res")
            );
            return Err(Error::usage(error).with_hint(
                "name one number; 'voxelize MESH -r 64,32,16 -o FILE' writes a file for each level",
            ));
        }
        let transform = self.transform(stated)?;
        let rule = self.resolve_rule(&transform)?;
        if self.is_stretched && self.dims.is_none() {
            return Err(self
                .needs("stretch", "dims")
                .with_hint("for example: `--dims 32,32,64` `--stretch`"));
        }
        if self.origin.is_some() && self.voxel_size.is_none() {
            return Err(self.needs("origin", "voxel-size").with_hint(
                "`--origin` sets the position of cell walls, which needs the cell size: add `--voxel-size S`",
            ));
        }
        let voxel_size = self.lengths("voxel-size", &self.voxel_size, transform.unit)?;
        let origin = self.lengths("origin", &self.origin, transform.unit)?;
        let bounds = match self.lengths("bounds", &self.bounds, transform.unit)? {
            Some([x0, y0, z0, x1, y1, z1]) => Some(self.corners([x0, y0, z0], [x1, y1, z1])?),
            None => None,
        };

        let drains = self.drains(&transform, &rule)?;
        let size = match (voxel_size, self.dims) {
            (_, Some(dims)) if self.is_stretched => Size::Stretched(dims),
            (_, Some(dims)) => Size::Dims(dims),
            (Some(sides), None) => Size::Spacing(sides.map(|side| &side / &transform.scale)),
            (None, None) => match (self.res, self.coarsest) {
                (Some(longest), Some(coarsest)) => Size::Level { longest, coarsest },
                (res, _) => Size::Longest(res.unwrap_or(DEFAULT_RES)),
            },
        };
        let mut fit = Fit::new(size).snap(self.snap.unwrap_or_default());
        let is_fitted = self.dims.is_none() && bounds.is_none();
        fit = match self.pad {
            None if is_fitted => fit.margin(rule.margin()),
            Some([low, high]) => fit.pad_sides(low, high),
            None => fit,
        };
        if let Some(origin) = &origin {
            fit = fit.origin(transform.unplaced(origin));
        }
        if let Some([min, max]) = &bounds {
            fit = fit.bounds(transform.unplaced(min), transform.unplaced(max));
        }
        if self.is_cube {
            fit = fit.cube();
        }
        Ok(ResolvedRequest {
            transform,
            rule,
            drains,
            fit,
            bounds,
        })
    }

    /// Resolves only the transform of the request.
    ///
    /// # Errors
    /// Fails for the reasons listed at [`resolve`](Self::resolve).
    pub fn transform(
        &self,
        stated: &[(Option<UnitOfLength>, Option<UpAxis>)],
    ) -> Result<Transform> {
        let scale = self.scale.clone().unwrap_or(Rational::ONE);
        let unit = match self.unit {
            Some(unit) => Some(unit),
            // A file states the unit of its unscaled coordinates, so the unit is ignored if they are scaled.
            None => {
                let unit = one_unit(stated.iter().map(|(unit, _)| *unit))?;
                unit.filter(|_| scale == Rational::ONE)
            }
        };
        let up = match self.up {
            Some(up) => Some(up),
            None => one_up(stated.iter().map(|(_, up)| *up))?,
        };
        let transform = Transform {
            axes: self.axes.unwrap_or_default(),
            matrix: self.matrix.clone(),
            rotate: self.rotate.clone(),
            scale,
            translate: self
                .lengths("translate", &self.translate, unit)?
                .unwrap_or([const { Rational::ZERO }; 3]),
            unit,
            ..Transform::default()
        };
        Ok(match up {
            Some(up) => transform.with_up(up),
            None => transform,
        })
    }

    /// Returns the mesh of the selected parts. The names in the selection refer to the kind of parts that is
    /// labelled, and to objects if no parts are labelled.
    ///
    /// # Errors
    /// Fails if a name is not the name of a part.
    pub fn choose(&self, mesh: Mesh) -> Result<Mesh> {
        let kind = self.labels.and_then(JobLabels::part_kind);
        let kind = kind.unwrap_or(PartKind::Object);
        self.parts.apply(mesh, kind)
    }

    fn check_exclusions(&self) -> Result<()> {
        for (option, _) in &self.given {
            if let Some(other) = option.excludes.iter().find(|name| self.is_given(name)) {
                let [one, other] = [option.name, *other].map(self.spelling.0);
                return Err(
                    Error::usage(format!("{one} and {other} exclude each other"))
                        .with_hint("use only one of them"),
                );
            }
        }
        Ok(())
    }

    /// Returns the rule with all of its options, as [`rule_with_options`](Self::rule_with_options) does.
    /// Rewrites the name of the option in messages to the form for the user.
    fn resolve_rule(&self, transform: &Transform) -> Result<Rule> {
        let rule = self.rule_with_options(transform);
        // The message begins with the name of the option.
        rule.map_err(|error| {
            let message = error.message();
            let end = message.find([':', ' ']).unwrap_or(message.len());
            let (name, rest) = message.split_at(end);
            error
                .clone()
                .with_message(format!("{}{rest}", (self.spelling.0)(name)))
        })
    }

    fn rule_with_options(&self, transform: &Transform) -> Result<Rule> {
        let mut rule = self.rule.unwrap_or_default();
        match &self.band {
            Some(WrittenBand::All) => rule = rule.with_band(Band::All)?,
            Some(WrittenBand::Width(width)) => {
                if let Some(width) = self.rule_length("band", Some(width), transform)? {
                    rule = rule.with_band(Band::Width(width))?;
                }
            }
            None => {}
        }
        if self.is_signed {
            rule = rule.with_sign()?;
        }
        if let Some(inside) = self.inside {
            if let Rule::Distance { sign: None, .. } = rule {
                return Err(Error::usage("inside: has no effect on unsigned distances")
                    .with_hint("add `--signed`, which sets the sign of the distances inside"));
            }
            rule = rule.with_inside(inside)?;
        }
        if let Some(cells) = self.close_holes {
            rule = rule.with_closed_holes(cells)?;
        }
        if self.keeps_thin {
            rule = rule.with_thin(ThinFeatures::Keep)?;
        }
        match &self.hollow {
            Some(WrittenShell::Steps(steps)) => {
                rule = rule.with_shell(ShellThickness::Steps(*steps))?
            }
            Some(WrittenShell::Wall(wall)) => {
                if let Some(wall) = self.rule_length("hollow", Some(wall), transform)? {
                    rule = rule.with_shell(ShellThickness::Wall(wall))?;
                }
            }
            None => {}
        }
        let radius = self.rule_length("radius", self.radius.as_ref(), transform)?;
        rule = rule.with_radius(radius)?;
        if let Some(iso) = &self.iso {
            let side = self.side(transform);
            let distance = transform
                .length(&iso.distance, side.as_ref())
                .map_err(|error| error.about(&format!("iso {}", iso.text())))?;
            let iso = Iso::new(distance, iso.is_below_zero);
            // A part shrinks by any length, so the default band must not limit it.
            if iso.is_below_zero() && self.band.is_none() {
                rule = rule.with_band(Band::All)?;
            }
            rule = rule.with_iso(iso)?;
        }
        match self.ties {
            Some(ties) => rule.with_ties(ties),
            None => Ok(rule),
        }
    }

    /// Converts the length of an option of the rule to the unit of the file, or to cells. `None` if the option
    /// was not set.
    fn rule_length(
        &self,
        name: &str,
        written: Option<&WrittenLength>,
        transform: &Transform,
    ) -> Result<Option<Length>> {
        let Some(written) = written else {
            return Ok(None);
        };
        let length = transform.length(written, self.side(transform).as_ref());
        length
            .map(Some)
            .map_err(|error| error.about(&format!("{name} {}", written.text())))
    }

    /// Returns the side length of a cell. `None` if no cell size is given, or if cells are not cubes.
    fn side(&self, transform: &Transform) -> Option<Rational> {
        let [x, y, z] = self.voxel_size.as_ref()?;
        let [x, y, z] = [x, y, z].map(|side| side.in_units_of(transform.unit).ok());
        x.filter(|x| y.as_ref() == Some(x) && z.as_ref() == Some(x))
    }

    /// Converts the lengths of the option `name` to the unit `unit`. `None` if the option was not set.
    fn lengths<const N: usize>(
        &self,
        name: &str,
        written: &Option<[Measure; N]>,
        unit: Option<UnitOfLength>,
    ) -> Result<Option<[Rational; N]>> {
        let Some(written) = written else {
            return Ok(None);
        };
        let mut lengths = [const { Rational::ZERO }; N];
        for (length, measure) in lengths.iter_mut().zip(written) {
            *length = measure
                .in_units_of(unit)
                .map_err(|error| error.about(&self.written(name)))?;
        }
        Ok(Some(lengths))
    }

    /// Returns the drain holes in the coordinates of the lattice.
    fn drains(&self, transform: &Transform, rule: &Rule) -> Result<Vec<Drain>> {
        if self.drain.is_empty() {
            return Ok(vec![]);
        }
        if !rule.has_cavity() {
            return Err(self.needs("drain", "hollow").with_hint(
                "for example: `--solid` `--hollow 2mm`, which makes the cavity that the hole leads to",
            ));
        }
        if let Some(JobLabels::Parts(_)) = self.labels {
            let [one, other] = ["drain", "labels"].map(self.spelling.0);
            return Err(
                Error::usage(format!("{one} and {other} exclude each other")).with_hint([
                    "a hole leads to the cavity of the whole mesh, but each labelled part has its own",
                    "choose one part with `--only`",
                ]),
            );
        }
        let mut drains = vec![];
        for hole in &self.drain {
            let hole = self.lengths("drain", &Some(hole.clone()), transform.unit)?;
            if let Some(hole) = hole {
                drains.push(Drain::new(hole, transform));
            }
        }
        Ok(drains)
    }

    fn corners(&self, min: [Rational; 3], max: [Rational; 3]) -> Result<[[Rational; 3]; 2]> {
        match (0..3).find(|&axis| min[axis] > max[axis]) {
            Some(axis) => Err(Error::usage(format!(
                "{}: the high corner is below the low corner along {}",
                self.written("bounds"),
                AXES[axis]
            ))
            .with_hint("the low corner comes first: X0,Y0,Z0,X1,Y1,Z1")),
            None => Ok([min, max]),
        }
    }

    fn needs(&self, one: &str, other: &str) -> Error {
        let [one, other] = [one, other].map(self.spelling.0);
        Error::usage(format!("{one} needs {other}"))
    }
}

/// Returns the option and the text of a field of a record. The value of the field `variant` is an
/// option itself.
pub fn option_of_field(field: &str, value: &str) -> (String, String) {
    match field {
        VARIANT => {
            let (option, text) = value.split_once(' ').unwrap_or((value, ""));
            (option.to_string(), text.to_string())
        }
        WALL if value.ends_with(|c: char| c.is_ascii_digit()) => {
            ("hollow".to_string(), format!("{value}{}", Length::UNITS))
        }
        WALL => ("hollow".to_string(), value.to_string()),
        _ => (field.replace('_', "-"), value.to_string()),
    }
}

impl Rule {
    /// Returns the rule of this name with these options, which may be in any order. Options that are missing
    /// get their default values. The function is the inverse of [`name`](Self::name) and
    /// [`fields`](Self::fields).
    ///
    /// # Errors
    /// Fails if the rule, an option or a value is unknown, or if the rule needs a radius and has none.
    pub fn from_fields<N, V>(name: &str, fields: impl IntoIterator<Item = (N, V)>) -> Result<Self>
    where
        N: AsRef<str>,
        V: AsRef<str>,
    {
        let mut request = Request::default();
        request
            .set("rule", name)
            .map_err(|error| error.about("rule"))?;
        for (field, value) in fields {
            let field = field.as_ref();
            let (option, text) = option_of_field(field, value.as_ref());
            if !FIELDS.contains(&field) || field == VARIANT && !VARIANTS.contains(&option.as_str())
            {
                return Err(Error::usage(format!("a rule has no option '{option}'")).with_hint(
                    "check the spelling; docs/reference/rules.md lists the values, and a newer version may know more",
                ));
            }
            request
                .set(&option, &text)
                .map_err(|error| error.about(field))?;
        }
        request.resolve_rule(&Transform::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::geom::Bounds;

    /// Returns a request with the options in a text such as `res=64 cube`.
    fn request(words: &str) -> Result<Request> {
        let mut request = Request::new(|name| format!("--{name}"));
        for word in words.split_whitespace() {
            let (name, text) = word.split_once('=').unwrap_or((word, ""));
            request.set(name, text)?;
        }
        Ok(request)
    }

    #[test]
    fn invalid_texts_are_refused() {
        let mut tried = 0;
        for (word, message) in [
            ("rez=4", "there is no option 'rez'"),
            ("res=0", "must be at least 1"),
            ("res=-1", "must be at least 1"),
            ("res=1.5", "'1.5' is not a whole number"),
            ("res=99999999999999999999", "is out of range"),
            ("res=64,32,0", "must be at least 1"),
            ("res=64,64,64", "the level of detail 64 is given twice"),
            ("dims=1,2", "expected 3 whole numbers X,Y,Z, found 2"),
            ("dims=1,2,0", "must be at least 1"),
            (
                "dims=32x32x32",
                "separate the numbers with commas: 32,32,32",
            ),
            ("voxel-size=0", "must be above zero"),
            (
                "voxel-size=1,2",
                "expected one number or three, SX,SY,SZ, not 2",
            ),
            ("origin=1,2", "expected 3 numbers X,Y,Z, found 2"),
            (
                "bounds=1,2",
                "expected 6 numbers X0,Y0,Z0,X1,Y1,Z1 with commas between them, found 2",
            ),
            ("pad=-1", "must not be below zero"),
            ("pad=1,2", "expected 1, 3 or 6 numbers, found 2"),
            ("pad=1,1,-1", "must not be below zero"),
            ("rpy=1,2", "expected 3 angles R,P,Y, found 2"),
            ("pad=99999999999", "the maximum is"),
            ("scale=-1", "must be above zero"),
            ("hollow=2.5", "a number of cells is whole"),
            ("hollow=5miles", "'5miles' is not a decimal number"),
            ("iso=--1", "'-1' is below zero"),
            ("drain=1,2,3", "expected 4 numbers X,Y,Z,D"),
            ("drain=1,2,3,0mm", "the diameter must be above zero"),
            ("drain=1,2,3,2vx", "'vx' is not a unit"),
            ("band=0mm", "must be above zero"),
            ("band=5miles", "'5miles' is not a decimal number"),
            ("unit=mile", "there is no 'mile'"),
            ("ties=sideways", "there is no 'sideways'"),
        ] {
            let error = request(word).unwrap_err();
            assert!(error.message().starts_with(message), "{word}: {error}");
            tried += 1;
        }
        assert!(tried > 20);
    }

    #[test]
    fn levels_of_detail_become_requests() {
        let levels = request("res=64,16,32 pad=1").unwrap().by_level();
        let found: Vec<_> = levels
            .iter()
            .map(|level| (level.res, level.coarsest, level.written("res")))
            .collect();
        let of = |cells: usize| (Some(cells), Some(16), format!("--res {cells}"));
        assert_eq!(found, [of(64), of(16), of(32)]);
        let mesh = Bounds {
            min: [0.0; 3],
            max: [10.0, 3.3, 0.0],
        };
        for (level, dims) in levels.iter().zip([[72, 32, 12], [18, 8, 3], [36, 16, 6]]) {
            let lattice = level.resolve(&[]).unwrap().fit.to(&mesh).unwrap();
            assert_eq!(lattice.dims(), dims);
            assert_eq!(lattice.origin()[0], Rational::new(-10, 16));
        }
        let one = request("res=64").unwrap().by_level();
        assert_eq!((one.len(), one[0].coarsest), (1, None));
    }

    #[test]
    fn options_that_exclude_or_lack_each_other_are_refused() {
        let mut tried = 0;
        for (words, message) in [
            ("res=9 dims=1,2,3", "--res and --dims exclude each other"),
            ("like=a.npz pad=1", "--like and --pad exclude each other"),
            (
                "filled rule=solid",
                "--filled and --rule exclude each other",
            ),
            ("stretch", "--stretch needs --dims"),
            (
                "res=64,32",
                "--res 64,32: each level of detail is a grid of its own",
            ),
            ("origin=0,0,0", "--origin needs --voxel-size"),
            (
                "voxel-size=5mm",
                "--voxel-size 5mm: the unit of the file is unknown",
            ),
            (
                "translate=5mm,0,0",
                "--translate 5mm,0,0: the unit of the file is unknown",
            ),
            (
                "rule=offset radius=5mm",
                "--radius 5mm: the unit of the file is unknown",
            ),
            (
                "rule=distance band=5mm",
                "--band 5mm: the unit of the file is unknown",
            ),
            (
                "rule=distance band=5units iso=5",
                "--iso: 5 must be less than the band, 5",
            ),
            (
                "solid band=3",
                "--band: the rule solid computes no distances",
            ),
            ("rule=offset", "--radius: the rule offset needs a radius"),
            (
                "bounds=1,0,0,0,1,1",
                "--bounds 1,0,0,0,1,1: the high corner is below the low corner along x",
            ),
            (
                "rule=distance inside=vote",
                "--inside: has no effect on unsigned distances",
            ),
            ("solid ties=up", "--ties: "),
            (
                "close-holes=3",
                "--close-holes: works only with the method flood",
            ),
            (
                "rule=distance iso=-1",
                "--iso: -1 is below zero, and distances without a sign never are",
            ),
            ("solid drain=0,0,0,3", "--drain needs --hollow"),
            (
                "solid hollow=2units drain=0,0,0,3mm",
                "--drain 0,0,0,3mm: the unit of the file is unknown",
            ),
            (
                "solid hollow=2units drain=0,0,0,3 labels=object",
                "--drain and --labels exclude each other",
            ),
        ] {
            let error = request(words).unwrap().resolve(&[]).unwrap_err();
            assert!(error.message().starts_with(message), "{words}: {error}");
            tried += 1;
        }
        assert!(tried > 10);
    }

    #[test]
    fn requests_are_resolved() {
        let mm = Some(UnitOfLength::Millimetre);
        let longest = |n| Fit::longest(n);
        let sides = |numerator| {
            Fit::new(Size::Spacing(
                [(); 3].map(|()| Rational::new(numerator, 10)),
            ))
        };
        let mut tried = 0;
        for (words, unit, rule, fit) in [
            ("", None, Rule::surface(), longest(DEFAULT_RES)),
            ("res=9 filled pad=0", None, Rule::filled(), longest(9)),
            ("voxel-size=0.1 solid", None, Rule::solid(), sides(1)),
            ("voxel-size=0.1 scale=1/2", mm, Rule::surface(), sides(2)),
            ("voxel-size=0.01cm", mm, Rule::surface(), sides(1)),
            ("voxel-size=0.01cm unit=mm", None, Rule::surface(), sides(1)),
            (
                "unit=inch rule=offset radius=2vx",
                None,
                Rule::offset("2vx".parse().unwrap()),
                longest(DEFAULT_RES),
            ),
            (
                "inside=flood ties=up filled close-holes=3",
                None,
                Rule::filled()
                    .with_inside(Inside::flood())
                    .unwrap()
                    .with_closed_holes(3)
                    .unwrap(),
                longest(DEFAULT_RES),
            ),
        ] {
            let job = request(words).unwrap().resolve(&[(unit, None)]).unwrap();
            let fit = if words.contains("pad") {
                fit
            } else {
                fit.margin(rule.margin())
            };
            assert_eq!((job.rule, job.fit), (rule, fit), "{words}");
            tried += 1;
        }
        assert!(tried > 5);
        let turned = request("rotate=z,90 rotate=x,90 up=y").unwrap();
        let transform = turned.transform(&[(mm, Some(UpAxis::Z))]).unwrap();
        assert_eq!((transform.rotate.len(), transform.unit), (2, mm));
        // A length is converted with the unit of the file, even if the lattice of another file is used.
        let moved = request("like=a.npz translate=5cm,0,0").unwrap();
        let transform = moved
            .transform(&[(Some(UnitOfLength::Metre), None)])
            .unwrap();
        assert_eq!(
            transform.translate,
            [Rational::new(1, 20), Rational::ZERO, Rational::ZERO]
        );
        let scaled = request("scale=2").unwrap();
        assert_eq!(scaled.transform(&[(mm, None)]).unwrap().unit, None);
    }

    #[test]
    fn options_are_written_as_given() {
        let request = request("voxel-size=0.10 cube").unwrap();
        assert_eq!(request.size_option(), "--voxel-size 0.10");
        assert_eq!(request.written("cube"), "--cube");
        assert_eq!(Request::default().size_option(), "res 256 (the default)");
        for option in OPTIONS {
            for other in option.excludes {
                assert!(RequestOption::from_name(other).is_some(), "{other}");
            }
        }
    }
}
