//! Poses: transforms of single meshes, written after their names.
//!
//! `part.stl@rotate=z,90@translate=0,0,5` names a mesh and its pose. A pose is applied to the coordinates of
//! the mesh, while [`Transform`] usually leaves scale and translation to the lattice. So meshes with different
//! poses can share one grid.

use std::fmt;

use super::measure::Measure;
use super::request::parse;
use super::transform::{AxisOrder, Transform};
use super::turn::{Matrix, Rotation, roll_pitch_yaw};
use voxelize_core::error::{Error, Kind, Result};
use voxelize_core::geom::Rational;
use voxelize_meshes::read::Loaded;
use voxelize_meshes::{Mesh, UnitOfLength, UpAxis};

/// Names of the steps of a pose.
const STEPS: [&str; 6] = ["axes", "matrix", "rotate", "rpy", "scale", "translate"];

/// Pose of a mesh. Its steps are applied in the order of [`Transform`]: the axes, the matrix, the rotations in
/// their order, the scale and the translation.
///
/// ```
/// # use voxelize_rules as voxelize;
/// use voxelize::job::{MeshPose, PosedName};
///
/// let PosedName { file, steps } = PosedName::new("arm.stl@translate=0,0,5,rpy=0,0,1.5708").unwrap();
/// let pose = MeshPose::new(&steps)?;
/// assert_eq!((file, pose.to_string()), ("arm.stl", "translate=0,0,5@rpy=0,0,1.5708".to_string()));
/// assert!(pose.transform(None)?.rotates_exactly());
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeshPose {
    axes: Option<AxisOrder>,
    matrix: Option<Matrix>,
    rotate: Vec<Rotation>,
    scale: Option<Rational>,
    translate: Option<[Measure; 3]>,
    /// Steps that were set, with their texts.
    given: Vec<(&'static str, String)>,
}

impl fmt::Display for MeshPose {
    /// Writes the steps as they follow the name of a mesh, without the first `@`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<_> = self
            .given
            .iter()
            .map(|(name, text)| format!("{name}={text}"))
            .collect();
        f.write_str(&steps.join("@"))
    }
}

/// Name of a mesh file with the steps of its pose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PosedName<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// Names and values of the steps, in their order.
    pub steps: Vec<(&'a str, &'a str)>,
}

impl<'a> PosedName<'a> {
    /// Splits `part.stl@rotate=z,90@translate=0,0,5`. A comma may be written for each `@` except the first.
    /// `None` if the name has no steps.
    pub fn new(text: &'a str) -> Option<Self> {
        let mut file = text;
        let mut groups = vec![];
        while let Some((before, group)) = file.rsplit_once('@')
            && step_name(group).is_some()
        {
            groups.push(group);
            file = before;
        }
        let steps: Vec<_> = groups.into_iter().rev().flat_map(steps_of).collect();
        (!steps.is_empty() && !file.is_empty()).then_some(Self { file, steps })
    }

    /// Returns `true` if a step has a known name.
    pub fn has_known_step(&self) -> bool {
        self.steps.iter().any(|(name, _)| STEPS.contains(name))
    }
}

/// Returns the name before the first `=`, if it consists of letters.
fn step_name(text: &str) -> Option<&str> {
    let (name, _) = text.split_once('=')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic());
    is_name.then_some(name)
}

/// Splits `rotate=z,90,translate=0,0,5` at the commas before names.
fn steps_of(group: &str) -> Vec<(&str, &str)> {
    let mut starts = vec![0];
    for (comma, _) in group.match_indices(',') {
        if step_name(&group[comma + 1..]).is_some() {
            starts.push(comma + 1);
        }
    }
    let ends = starts.iter().skip(1).map(|start| start - 1);
    let ends: Vec<_> = ends.chain([group.len()]).collect();
    let mut steps = vec![];
    for (start, end) in starts.into_iter().zip(ends) {
        steps.extend(group[start..end].split_once('='));
    }
    steps
}

impl MeshPose {
    /// Creates a pose of these steps.
    ///
    /// # Errors
    /// Fails if a name is unknown, if a value is not valid, or if a step other than a rotation occurs twice.
    pub fn new(steps: &[(&str, &str)]) -> Result<Self> {
        let mut pose = Self::default();
        for (name, text) in steps {
            pose.set(name, text)
                .map_err(|error| error.about(&format!("@{name}={text}")))?;
        }
        Ok(pose)
    }

    /// Adds a step. The error does not contain the name of the step.
    ///
    /// # Errors
    /// Fails for the reasons listed at [`new`](Self::new).
    pub fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let Some(known) = STEPS.iter().find(|known| **known == name) else {
            return Err(Error::usage(format!("is not one of {}", STEPS.join(", "))));
        };
        let repeats = ["rotate", "rpy"].contains(known);
        if !repeats && self.given.iter().any(|(given, _)| given == known) {
            return Err(Error::usage("is there twice"));
        }
        match *known {
            "axes" => self.axes = Some(text.parse()?),
            "matrix" => self.matrix = Some(text.parse()?),
            "rotate" => self.rotate.push(text.parse()?),
            "rpy" => self.rotate.extend(roll_pitch_yaw(text)?),
            "scale" => self.scale = Some(parse::factor(text)?),
            _ => self.translate = Some(parse::point(text)?),
        }
        self.given.push((known, text.to_string()));
        Ok(())
    }

    /// Returns `true` if the pose has no steps.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Returns `true` if the pose has axes, a matrix or rotations.
    pub fn turns(&self) -> bool {
        self.axes.is_some() || self.matrix.is_some() || !self.rotate.is_empty()
    }

    /// Returns `true` if the pose has a scale, as for a mesh in another unit.
    pub fn scales(&self) -> bool {
        self.scale.is_some()
    }

    /// Returns `true` if the pose has a translation, as for a mesh that is far from the origin.
    pub fn translates(&self) -> bool {
        self.translate.is_some()
    }

    /// Returns the pose as a transform. `unit` is the unit of the coordinates after the scale.
    ///
    /// # Errors
    /// Fails if the translation has a unit and `unit` is `None`.
    pub fn transform(&self, unit: Option<UnitOfLength>) -> Result<Transform> {
        let mut translate = [const { Rational::ZERO }; 3];
        for (length, measure) in translate.iter_mut().zip(self.translate.iter().flatten()) {
            *length = measure.in_units_of(unit)?;
        }
        Ok(Transform {
            axes: self.axes.unwrap_or_default(),
            matrix: self.matrix.clone(),
            rotate: self.rotate.clone(),
            scale: self.scale.clone().unwrap_or(Rational::ONE),
            translate,
            unit,
            ..Transform::default()
        })
    }

    /// Returns the axis that points up in the posed mesh, for the axis that points up in its file.
    pub fn up(&self, up: UpAxis) -> UpAxis {
        match self.transform(None) {
            Ok(transform) => transform.with_up(up).up,
            // Lengths with units do not turn the mesh.
            Err(_) => Self {
                translate: None,
                ..self.clone()
            }
            .up(up),
        }
    }

    /// Applies the pose to a mesh that was read. Coordinates are rounded to 32-bit floats once. They are then
    /// relative to the origin. `unit` is the unit of the coordinates after the scale.
    ///
    /// # Errors
    /// Fails for the reason listed at [`transform`](Self::transform), if there is not enough memory for another
    /// mesh, or if a coordinate exceeds the range of floats.
    pub fn apply(&self, loaded: &mut Loaded, unit: Option<UnitOfLength>) -> Result<()> {
        let transform = Transform {
            near: loaded.near.clone(),
            ..self.transform(unit)?
        };
        loaded.near = [const { Rational::ZERO }; 3];
        if !transform.turns() && !transform.is_scaled() && !transform.is_moved() {
            return Ok(());
        }
        let mesh = std::mem::replace(&mut loaded.mesh, Mesh::from_triangles(vec![])?);
        loaded.mesh = transform
            .apply_all(mesh)
            .map_err(|error| match error.kind() {
                Kind::TooLarge => error,
                _ => Error::unfit("a coordinate is beyond the range of 32-bit floats")
                    .with_hint("use a smaller @scale or @translate"),
            })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_steps() {
        let mut tried = 0;
        for (text, file, steps) in [
            ("a.stl@rotate=z,90", "a.stl", &[("rotate", "z,90")][..]),
            (
                "a.stl@rotate=z,90@translate=0,0,5",
                "a.stl",
                &[("rotate", "z,90"), ("translate", "0,0,5")],
            ),
            (
                "a.stl@translate=0,0,5,rotate=z,90,rotate=x,-90",
                "a.stl",
                &[
                    ("translate", "0,0,5"),
                    ("rotate", "z,90"),
                    ("rotate", "x,-90"),
                ],
            ),
            ("b=a@2.stl@scale=1/2", "b=a@2.stl", &[("scale", "1/2")]),
            ("x@y/a.stl@turn=z", "x@y/a.stl", &[("turn", "z")]),
            ("-@axes=x,-z,y", "-", &[("axes", "x,-z,y")]),
            ("a.stl", "", &[]),
            ("a@b.stl", "", &[]),
            ("name=a.stl", "", &[]),
            ("@rotate=z,90", "", &[]),
            ("a@2x=b.stl", "", &[]),
        ] {
            let found = PosedName::new(text);
            let expected = (!steps.is_empty()).then(|| PosedName {
                file,
                steps: steps.to_vec(),
            });
            assert_eq!(found, expected, "{text}");
            tried += 1;
        }
        assert!(tried > 10);
    }

    #[test]
    fn steps_are_checked() {
        let mut tried = 0;
        for (steps, words) in [
            (&[("turn", "z,90")][..], "@turn=z,90: is not one of axes"),
            (
                &[("scale", "2"), ("scale", "3")],
                "@scale=3: is there twice",
            ),
            (&[("rpy", "1,2")], "expected 3 angles R,P,Y, found 2"),
            (&[("rpy", "0,0,90")], "90 radians are more than a turn"),
            (&[("rpy", "0,0,1grad")], "@rpy=0,0,1grad"),
            (&[("translate", "1,2")], "expected 3 numbers X,Y,Z, found 2"),
        ] {
            let error = MeshPose::new(steps).unwrap_err().to_string();
            assert!(error.contains(words), "{steps:?}: {error}");
            tried += 1;
        }
        assert!(tried > 5);
        let moved = MeshPose::new(&[("translate", "5mm,0,0"), ("axes", "x,-z,y")]).unwrap();
        let error = moved.transform(None).unwrap_err();
        assert!(
            error.message().starts_with("the unit of the file is"),
            "{error}"
        );
        assert_eq!(moved.up(UpAxis::Y), UpAxis::Z);
    }
}
