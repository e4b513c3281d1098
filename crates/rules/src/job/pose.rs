//! Poses: transforms of single meshes, written after their names.
//!
//! `part.stl@rotate=z,90@translate=0,0,5` names a mesh and its pose. A pose is applied to the coordinates of
//! the mesh, while [`Transform`] usually leaves scale and translation to the lattice. So meshes with different
//! poses can share one grid.

use std::fmt;
use std::str::FromStr;

use super::request::Request;
use super::transform::Transform;
use super::turn::short;
use voxelize_core::error::{Error, Kind, Result};
use voxelize_core::geom::Rational;
use voxelize_meshes::read::Loaded;
use voxelize_meshes::{Mesh, UnitOfLength, UpAxis};

/// Names of the steps of a pose. Each is also an option of a [`Request`], which parses its value.
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
#[derive(Debug, Clone, Default)]
pub struct MeshPose {
    /// Request that has only the steps of the pose.
    request: Request,
}

impl fmt::Display for MeshPose {
    /// Writes the steps as they follow the name of a mesh, without the first `@`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps = vec![];
        for (step, text) in self.request.given() {
            steps.push(format!("{}={text}", step.name));
        }
        f.write_str(&steps.join("@"))
    }
}

impl FromStr for MeshPose {
    type Err = Error;

    /// Parses the text that `Display` writes. An empty text is a pose without steps.
    fn from_str(text: &str) -> Result<Self> {
        let mut steps = vec![];
        for step in text.split('@').filter(|step| !step.is_empty()) {
            steps.push(step.split_once('=').unwrap_or((step, "")));
        }
        Self::new(&steps)
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
        if !STEPS.contains(&name) {
            return Err(Error::usage(format!("is not one of {}", STEPS.join(", "))));
        }
        let repeats = ["rotate", "rpy"].contains(&name);
        if !repeats && self.request.is_given(name) {
            return Err(Error::usage("is there twice"));
        }
        self.request.set(name, text)
    }

    /// Returns `true` if the pose has no steps.
    pub fn is_empty(&self) -> bool {
        self.request.given().is_empty()
    }

    /// Returns `true` if the pose has axes, a matrix or rotations.
    pub fn turns(&self) -> bool {
        let Request {
            axes,
            matrix,
            rotate,
            ..
        } = &self.request;
        axes.is_some() || matrix.is_some() || !rotate.is_empty()
    }

    /// Returns `true` if the pose has a scale, as for a mesh in another unit.
    pub fn scales(&self) -> bool {
        self.request.scale.is_some()
    }

    /// Returns `true` if the pose has a translation, as for a mesh that is far from the origin.
    pub fn translates(&self) -> bool {
        self.request.translate.is_some()
    }

    /// Returns the pose as a transform. `unit` is the unit of the coordinates after the scale.
    ///
    /// # Errors
    /// Fails if the translation has a unit and `unit` is `None`.
    pub fn transform(&self, unit: Option<UnitOfLength>) -> Result<Transform> {
        let mut request = self.request.clone();
        let translate = request.translate.take();
        request.unit = unit;
        let mut transform = request.transform(&[])?;
        for (length, measure) in transform
            .translate
            .iter_mut()
            .zip(translate.iter().flatten())
        {
            *length = measure.in_units_of(unit)?;
        }
        Ok(transform)
    }

    /// Returns the same pose with the translation as numbers in `unit`, the unit of the coordinates after the
    /// scale. It can then be applied without knowing the unit.
    ///
    /// # Errors
    /// Fails for the reason listed at [`transform`](Self::transform).
    pub fn in_units_of(&self, unit: Option<UnitOfLength>) -> Result<Self> {
        let by = self.transform(unit)?.translate.each_ref().map(short);
        let mut pose = Self::default();
        for (step, text) in self.request.given() {
            match step.name {
                "translate" => pose.set(step.name, &by.join(","))?,
                name => pose.set(name, text)?,
            }
        }
        Ok(pose)
    }

    /// Returns the axis that points up in the posed mesh, for the axis that points up in its file.
    pub fn up(&self, up: UpAxis) -> UpAxis {
        match self.transform(None) {
            Ok(transform) => transform.with_up(up).up,
            // Lengths with units do not turn the mesh.
            Err(_) => {
                let mut turn = self.clone();
                turn.request.translate = None;
                turn.up(up)
            }
        }
    }

    /// Applies the pose to a mesh that was read. Coordinates are rounded to 32-bit floats once. They are then
    /// relative to the origin. `unit` is the unit of the coordinates after the scale.
    ///
    /// # Errors
    /// Fails for the reason listed at [`transform`](Self::transform), if there is not enough memory for another
    /// mesh, or if a coordinate exceeds the range of floats.
    pub fn apply(&self, loaded: &mut Loaded, unit: Option<UnitOfLength>) -> Result<()> {
        let near = std::mem::replace(&mut loaded.near, [const { Rational::ZERO }; 3]);
        let mesh = std::mem::replace(&mut loaded.mesh, Mesh::from_triangles(vec![])?);
        loaded.mesh = self.posed(mesh, near, unit)?;
        Ok(())
    }

    /// Returns the mesh with the pose, as [`apply`](Self::apply) does. The coordinates of `mesh` are relative
    /// to the point `near`.
    ///
    /// # Errors
    /// Fails for the reasons listed at [`apply`](Self::apply).
    pub fn posed(
        &self,
        mesh: Mesh,
        near: [Rational; 3],
        unit: Option<UnitOfLength>,
    ) -> Result<Mesh> {
        let transform = Transform {
            near,
            ..self.transform(unit)?
        };
        if !transform.turns() && !transform.is_scaled() && !transform.is_moved() {
            return Ok(mesh);
        }
        transform
            .apply_all(mesh)
            .map_err(|error| match error.kind() {
                Kind::TooLarge => error,
                _ => Error::unfit("a coordinate is beyond the range of 32-bit floats")
                    .with_hint("use a smaller @scale or @translate"),
            })
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
        assert_eq!(
            moved.to_string().parse::<MeshPose>().unwrap().to_string(),
            moved.to_string()
        );
        let metre = moved.in_units_of(Some(UnitOfLength::Metre)).unwrap();
        assert_eq!(metre.to_string(), "translate=1/200,0,0@axes=x,-z,y");
        assert_eq!(
            metre.transform(None).unwrap().translate[0],
            Rational::new(1, 200)
        );
    }
}
