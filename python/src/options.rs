//! From keyword arguments, as text, to transform, rule and fit: the words of the command line, without their dashes.

use std::str::FromStr;

use pyo3::prelude::*;
use voxelize::job::{
    AxisOrder, FitOptions, JobLabels, Matrix, Measure, PartChoice, Rotation, Transform,
    UnitOfLength, UpAxis, WrittenLength, one_unit, one_up,
};
use voxelize::mesh::PartKind;
use voxelize::{Error, Fit, Rational, Result, Rule, Snap};

use crate::mesh::Reading;

/// What decides the cells, but the mesh.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    res: Option<usize>,
    voxel_size: Option<[String; 3]>,
    dims: Option<[usize; 3]>,
    stretch: bool,
    bounds: Option<[String; 6]>,
    origin: Option<[String; 3]>,
    cube: bool,
    pad: Option<usize>,
    snap: Option<String>,
    rule: String,
    /// The options of the rule that are no lengths, by name and value.
    fields: Vec<(String, String)>,
    radius: Option<String>,
    iso: Option<String>,
    up: Option<String>,
    axes: Option<String>,
    matrix: Option<Vec<String>>,
    rotate: Vec<String>,
    scale: Option<String>,
    translate: Option<[String; 3]>,
    unit: Option<String>,
    labels: Option<String>,
    pub priority: Vec<String>,
    only: Vec<String>,
    skip: Vec<String>,
    pub reading: Reading,
}

impl Options {
    /// The map from coordinates of the mesh to those of the grid; `stated` are unit and up axis of its files.
    pub fn transform(
        &self,
        stated: &[(Option<UnitOfLength>, Option<UpAxis>)],
    ) -> Result<Transform> {
        let scale = self
            .scale
            .as_deref()
            .map(|text| number("scale", text))
            .transpose()?;
        let scale = scale.unwrap_or(Rational::ONE);
        if !scale.is_positive() {
            return Err(Error::usage("scale: must be above zero"));
        }
        let unit = self.unit.as_deref().map(|text| {
            let known: Vec<_> = UnitOfLength::ALL.iter().map(|unit| unit.name()).collect();
            named("unit", text, UnitOfLength::from_name(text), &known)
        });
        let unit = match unit.transpose()? {
            None => {
                one_unit(stated.iter().map(|(unit, _)| *unit))?.filter(|_| scale == Rational::ONE)
            }
            given => given,
        };
        let translate = match &self.translate {
            None => [const { Rational::ZERO }; 3],
            Some(by) => lengths("translate", by, unit)?,
        };
        let up = match self.up.as_deref() {
            None => one_up(stated.iter().map(|(_, up)| *up))?,
            Some("y") => Some(UpAxis::Y),
            Some("z") => Some(UpAxis::Z),
            Some(other) => named("up", other, None, &["y", "z"])?,
        };
        let axes = self
            .axes
            .as_deref()
            .map(|text| parsed::<AxisOrder>("axes", text))
            .transpose()?;
        let matrix = self
            .matrix
            .as_ref()
            .map(|numbers| parsed::<Matrix>("matrix", &numbers.join(",")));
        let matrix = matrix.transpose()?;
        let rotate = self
            .rotate
            .iter()
            .map(|text| parsed::<Rotation>("rotate", text))
            .collect::<Result<_>>()?;
        let axes = axes.unwrap_or_default();
        let transform = Transform {
            axes,
            matrix,
            rotate,
            scale,
            translate,
            unit,
            ..Transform::default()
        };
        Ok(match up {
            Some(up) => transform.with_up(up),
            None => transform,
        })
    }

    /// The rule with its options.
    pub fn rule(&self, transform: &Transform) -> Result<Rule> {
        let has = |name: &str, value: Option<&str>| {
            self.fields
                .iter()
                .any(|(field, text)| field == name && value.is_none_or(|value| value == text))
        };
        if self.rule == "distance" && has("inside", None) && !has("variant", Some("signed")) {
            return Err(Error::usage("inside: unsigned distances have no inside")
                .with_hint("signed=True sets the sign of the cells inside"));
        }
        let mut fields = self.fields.clone();
        let sides = self
            .voxel_size
            .as_ref()
            .map(|texts| lengths("voxel_size", texts, transform.unit));
        // Of cubes; the lattice refuses what is no length.
        let side = sides
            .and_then(|sides| sides.ok())
            .filter(|[x, y, z]| x == y && y == z)
            .map(|[x, ..]| x);
        for (name, text) in [("radius", &self.radius), ("iso", &self.iso)] {
            let Some(text) = text else { continue };
            let length = transform.length(&parsed::<WrittenLength>(name, text)?, side.as_ref());
            fields.push((
                name.to_string(),
                length.map_err(|error| about(name, &error))?.to_string(),
            ));
        }
        Rule::from_fields(&self.rule, fields)
    }

    /// How coordinates snap, if it is said.
    pub fn snap(&self) -> Result<Option<Snap>> {
        let known = [Snap::Float, Snap::None];
        let found = |text: &str| known.into_iter().find(|snap| snap.name() == text);
        self.snap
            .as_deref()
            .map(|text| named("snap", text, found(text), &known.map(Snap::name)))
            .transpose()
    }

    /// Refuses what goes with no lattice that is taken over.
    pub fn check_like(&self) -> Result<()> {
        let given = [
            ("res", self.res.is_some()),
            ("voxel_size", self.voxel_size.is_some()),
            ("dims", self.dims.is_some()),
            ("stretch", self.stretch),
            ("bounds", self.bounds.is_some()),
            ("origin", self.origin.is_some()),
            ("cube", self.cube),
            ("pad", self.pad.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((name, _)) => Err(exclusive("like", name)),
        }
    }

    /// The lattice that is wanted around a mesh.
    pub fn fit(&self, rule: &Rule, transform: &Transform) -> Result<Fit> {
        let sizes = [
            ("res", self.res.is_some()),
            ("voxel_size", self.voxel_size.is_some()),
            ("dims", self.dims.is_some()),
        ];
        let mut given = sizes.iter().filter(|(_, is_given)| *is_given);
        if let (Some((first, _)), Some((second, _))) = (given.next(), given.next()) {
            return Err(exclusive(first, second));
        }
        match self {
            Self {
                stretch: true,
                dims: None,
                ..
            } => return Err(Error::usage("stretch needs dims")),
            Self {
                cube: true,
                dims: Some(_),
                ..
            } => return Err(exclusive("cube", "dims")),
            Self {
                origin: Some(_),
                voxel_size: None,
                ..
            } => {
                return Err(Error::usage("origin needs voxel_size"));
            }
            Self {
                origin: Some(_),
                bounds: Some(_),
                ..
            } => return Err(exclusive("origin", "bounds")),
            _ => {}
        }
        let of = |name: &str, texts: &Option<[String; 3]>| {
            texts
                .as_ref()
                .map(|texts| lengths(name, texts, transform.unit))
                .transpose()
        };
        let corners = self.bounds.as_ref().map(|[x0, y0, z0, x1, y1, z1]| {
            let corner = |corner: [&String; 3]| {
                lengths("bounds", &corner.map(String::clone), transform.unit)
            };
            Ok::<_, Error>([corner([x0, y0, z0])?, corner([x1, y1, z1])?])
        });
        let options = FitOptions {
            res: self.res,
            dims: self.dims,
            is_stretched: self.stretch,
            voxel_size: of("voxel_size", &self.voxel_size)?,
            origin: of("origin", &self.origin)?,
            bounds: corners.transpose()?,
            is_cube: self.cube,
            pad: self.pad,
            snap: self.snap()?.unwrap_or_default(),
        };
        Ok(options.fit(rule, transform))
    }

    /// What cells are labelled by; the meshes, if there are several.
    pub fn labels(&self, are_several: bool) -> Result<JobLabels> {
        let names = ["file", "object", "material", "colour", "layer"];
        match self.labels.as_deref() {
            None if are_several => Ok(JobLabels::Parts(PartKind::File)),
            None => Ok(JobLabels::Off),
            Some("colour") => Ok(JobLabels::Colours),
            Some("layer") => Ok(JobLabels::SurfaceAndInterior),
            Some(text) => {
                let kind = PartKind::ALL.into_iter().find(|kind| kind.name() == text);
                named("labels", text, kind.map(JobLabels::Parts), &names)
            }
        }
    }

    /// The mesh of the parts that are taken.
    pub fn choose(&self, mesh: voxelize::Mesh, labels: JobLabels) -> Result<voxelize::Mesh> {
        let kind = if let JobLabels::Parts(kind) = labels {
            kind
        } else {
            PartKind::Object
        };
        self.parts().apply(mesh, kind)
    }

    /// The parts that are taken.
    pub fn parts(&self) -> PartChoice {
        PartChoice {
            only: self.only.clone(),
            skip: self.skip.clone(),
        }
    }
}

/// The error of two arguments that do not go together.
fn exclusive(first: &str, second: &str) -> Error {
    Error::usage(format!("{first} and {second} exclude each other")).with_hint("give one of them")
}

/// An error with the name of an argument before its message.
fn about(name: &str, error: &Error) -> Error {
    let new = Error::usage(format!("{name}: {}", error.message()));
    error
        .hint()
        .map_or_else(|| new.clone(), |hint| new.clone().with_hint(hint))
}

fn parsed<T: FromStr<Err = Error>>(name: &str, text: &str) -> Result<T> {
    text.parse().map_err(|error| about(name, &error))
}

fn number(name: &str, text: &str) -> Result<Rational> {
    Rational::parse(text).map_err(|why| Error::usage(format!("{name}: {why}")))
}

/// Three lengths in the unit of the coordinates.
fn lengths(name: &str, texts: &[String; 3], unit: Option<UnitOfLength>) -> Result<[Rational; 3]> {
    let one = |text: &String| {
        parsed::<Measure>(name, text)?
            .in_units_of(unit)
            .map_err(|error| about(name, &error))
    };
    let [x, y, z] = texts.each_ref().map(one);
    Ok([x?, y?, z?])
}

/// One of the names that an argument has.
pub fn named<T>(argument: &str, text: &str, found: Option<T>, known: &[&str]) -> Result<T> {
    found.ok_or_else(|| {
        let known = known.join(", ");
        Error::usage(format!("{argument}: there is no '{text}'"))
            .with_hint(format!("it is one of {known}"))
    })
}
