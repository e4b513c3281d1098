//! Cells labelled by the parts of a mesh. The rule judges each part as a mesh of its own; a cell that several parts
//! occupy has the label of the first of them in the file. Parts that are closed only together, such as the materials of
//! one body, are judged as one mesh, and each cell of its inside has the label of the nearest face.

use std::borrow::Cow;
use std::collections::HashSet;

use voxelize_core::error::{Error, Result, sanitize};
use voxelize_core::grid::{Label, Legend};
use voxelize_core::text::file_label;
use voxelize_meshes::{Mesh, MeshParts, PartKind};

/// The most parts that labels tell apart.
const MOST: usize = 255;

/// A mesh whose cells are labelled: a part, or parts that are closed only together.
pub(super) struct LabelledMesh<'a> {
    pub mesh: Cow<'a, Mesh>,
    /// The labels of its cells: one for each part.
    pub labels: Vec<Label>,
    /// The value of each part of the mesh, by index, where there are several.
    pub values: Vec<u8>,
}

/// The parts of a mesh that have triangles, with the values 1, 2, … in the order of the file; a mesh without parts is
/// one. Those of the names in `priority` come first. `has_inside` tells that the rule fills the inside: then parts that
/// are closed only together are one mesh.
///
/// # Errors
/// If there are more than 255, or a name is none of theirs.
pub(super) fn parts<'a>(
    mesh: &'a Mesh,
    kind: PartKind,
    priority: &[String],
    has_inside: bool,
) -> Result<Vec<LabelledMesh<'a>>> {
    let Some(parts) = mesh.parts(kind) else {
        check_names(priority, &[])?;
        let labels = vec![Label::new(1, "mesh")];
        return Ok(vec![LabelledMesh {
            mesh: Cow::Borrowed(mesh),
            labels,
            values: vec![],
        }]);
    };
    let named = named(mesh, parts, kind);
    if named.len() > MOST {
        let text = format!(
            "the mesh has {} parts, labels tell {MOST} apart",
            named.len()
        );
        return Err(Error::unfit(text).with_hint("unite parts in the program that made them"));
    }
    check_names(priority, &named)?;
    let together = if has_inside {
        mesh.parts_closed_together(kind)
    } else {
        &[]
    };
    let mut order: Vec<usize> = (0..named.len()).collect();
    order.sort_by_key(|n| {
        priority
            .iter()
            .position(|name| named[*n].is(name))
            .unwrap_or(priority.len())
    });
    let label_of = |n: usize| {
        let label = Label::new(n as u8 + 1, named[n].name.clone());
        let colour = if kind == PartKind::Material {
            colour(mesh, parts, named[n].part)
        } else {
            None
        };
        Label { colour, ..label }
    };
    let is_together = |n: &usize| together.contains(&named[*n].part);
    let mut all = vec![];
    for n in &order {
        if !is_together(n) {
            let mesh = Cow::Owned(mesh.select(|triangle| parts.of(triangle) == named[*n].part));
            all.push(LabelledMesh {
                mesh,
                labels: vec![label_of(*n)],
                values: vec![],
            });
        } else if order.iter().find(|n| is_together(n)) == Some(n) {
            // The first of them stands for all.
            let mut values = vec![0; parts.names().len()];
            let members = (0..named.len()).filter(is_together);
            let labels: Vec<_> = members.map(label_of).collect();
            for label in &labels {
                values[named[usize::from(label.value) - 1].part as usize] = label.value;
            }
            let mesh = match labels.len() == named.len() {
                true => Cow::Borrowed(mesh),
                false => Cow::Owned(mesh.select(|triangle| together.contains(&parts.of(triangle)))),
            };
            all.push(LabelledMesh {
                mesh,
                labels,
                values,
            });
        }
    }
    Ok(all)
}

/// The colour of all triangles of a part, if it is one.
fn colour(mesh: &Mesh, parts: &MeshParts, part: u32) -> Option<[u8; 3]> {
    let colours = mesh.colours()?;
    let mut all = (0..mesh.triangles().len() as u32)
        .filter(|n| parts.of(*n) == part)
        .map(|n| colours.only(n));
    let first = all.next()??;
    all.all(|colour| colour == Some(first)).then_some(first)
}

/// The legend of these labels.
pub(super) fn legend(parts: &[LabelledMesh]) -> Result<Legend> {
    let mut labels: Vec<_> = parts.iter().flat_map(|part| part.labels.clone()).collect();
    labels.sort_by_key(|label| label.value);
    Legend::new(labels)
}

/// The parts of a mesh to take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartChoice {
    /// If there are any, only those of these names.
    pub only: Vec<String>,
    /// Not those of these names.
    pub skip: Vec<String>,
}

impl PartChoice {
    /// The mesh of the parts of this kind that are chosen.
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// use voxelize::Mesh;
    /// use voxelize::job::PartChoice;
    /// use voxelize::mesh::{MeshParts, PartKind};
    ///
    /// let triangle = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    /// let parts = MeshParts::new(["body", "lid"], [0, 1])?;
    /// let mesh = Mesh::from_triangles(vec![triangle; 2])?.with_parts(PartKind::Object, parts)?;
    /// let choice = PartChoice { skip: vec!["lid".into()], ..PartChoice::default() };
    /// assert_eq!(choice.apply(mesh, PartKind::Object)?.triangles().len(), 1);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a name is none of a part.
    pub fn apply(&self, mesh: Mesh, kind: PartKind) -> Result<Mesh> {
        if *self == Self::default() {
            return Ok(mesh);
        }
        let Some(parts) = mesh.parts(kind) else {
            let text = format!("the mesh names no parts of kind {}", kind.name());
            return Err(Error::unfit(text).with_hint("its format or its file has none"));
        };
        let named = named(&mesh, parts, kind);
        check_names(&self.only, &named)?;
        check_names(&self.skip, &named)?;
        let is_one = |part: &Named, names: &[String]| names.iter().any(|name| part.is(name));
        let is_kept = |part: &&Named| {
            (self.only.is_empty() || is_one(part, &self.only)) && !is_one(part, &self.skip)
        };
        let kept: HashSet<u32> = named.iter().filter(is_kept).map(|part| part.part).collect();
        Ok(mesh.select(|triangle| kept.contains(&parts.of(triangle))))
    }
}

/// A part with triangles, and the name that no other has.
struct Named<'a> {
    part: u32,
    kind: PartKind,
    /// The name in the file.
    given: &'a str,
    name: String,
}

impl Named<'_> {
    /// Whether it is called so: by its own name, or by that in the file, which several may have. A file is also called
    /// by its name with the extension.
    fn is(&self, name: &str) -> bool {
        let is_file = self.kind == PartKind::File && file_label(name) == self.given;
        self.name == name || self.given == name || is_file
    }
}

/// The parts that have triangles, in the order of the file.
fn named<'a>(mesh: &Mesh, parts: &'a MeshParts, kind: PartKind) -> Vec<Named<'a>> {
    let mut has_triangles = vec![false; parts.names().len()];
    (0..mesh.triangles().len() as u32).for_each(|n| has_triangles[parts.of(n) as usize] = true);
    let mut names = HashSet::new();
    let some = (0..)
        .zip(parts.names())
        .filter(|(part, _)| has_triangles[*part as usize]);
    let named = |(part, given): (u32, &'a String)| Named {
        part,
        kind,
        given,
        name: unique(given, kind, part + 1, &mut names),
    };
    some.map(named).collect()
}

/// Refuses a name that is none of a part.
fn check_names(names: &[String], parts: &[Named]) -> Result<()> {
    const SHOWN: usize = 12;
    let Some(unknown) = names
        .iter()
        .find(|name| !parts.iter().any(|part| part.is(name)))
    else {
        return Ok(());
    };
    let mut list: Vec<_> = parts
        .iter()
        .take(SHOWN)
        .map(|part| sanitize(&part.name))
        .collect();
    if parts.len() > SHOWN {
        list.push("…".into());
    }
    let error = Error::unfit(format!("no part is named '{}'", sanitize(unknown)));
    Err(match parts {
        [] => error.with_hint("the file names none"),
        _ => error.with_hint(format!("its parts are {}", list.join(", "))),
    })
}

/// The name of part `number`, which no other has: `object 3` if the file gives none, `lid (2)` for a second one.
fn unique(name: &str, kind: PartKind, number: u32, names: &mut HashSet<String>) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    let name = if name.trim().is_empty() {
        format!("{} {number}", kind.name())
    } else {
        name
    };
    let numbered = (2_u32..).map(|n| format!("{name} ({n})"));
    let is_new = |name: &String| names.insert(name.clone());
    std::iter::once(name.clone())
        .chain(numbered)
        .find(is_new)
        .unwrap_or_default()
}
