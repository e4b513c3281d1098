//! Cells labelled by the parts of a mesh.
//!
//! The rule treats each part as a separate mesh. A cell that several parts occupy has the label of
//! the first of them in the file. Some parts are closed only together, such as the materials of one
//! body. They are treated as one mesh, and each cell of its inside has the label of the nearest
//! face.

use std::borrow::Cow;
use std::collections::HashSet;

use voxelize_core::error::{Error, Result, sanitize};
use voxelize_core::grid::{Label, Legend};
use voxelize_core::text::file_label;
use voxelize_meshes::{Mesh, MeshParts, PartKind};

/// Greatest number of parts with different labels.
const MOST: usize = 255;

/// Mesh whose cells are labelled: a part, or parts that are closed only together.
pub(super) struct LabelledMesh<'a> {
    pub mesh: Cow<'a, Mesh>,
    /// Labels of the cells, one for each part.
    pub labels: Vec<Label>,
    /// Label value of each part of the mesh, by index. Empty for a single part.
    pub values: Vec<u8>,
}

/// Returns the parts of a mesh that have triangles, with the values 1, 2, … in the order of the
/// file. A mesh without parts is one part. Parts named in `priority` come first. If `has_inside` is
/// true, the rule fills the inside, and parts that are closed only together are one mesh.
///
/// # Errors
/// Fails if there are more than 255 parts, or `priority` has an unknown name.
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
            // The first of the parts represents all of them.
            let mut values = vec![0; parts.names().len()];
            let members = (0..named.len()).filter(is_together);
            let labels: Vec<_> = members.map(label_of).collect();
            for label in &labels {
                values[named[usize::from(label.value) - 1].part as usize] = label.value;
            }
            let mesh = if labels.len() == named.len() {
                Cow::Borrowed(mesh)
            } else {
                Cow::Owned(mesh.select(|triangle| together.contains(&parts.of(triangle))))
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

/// Returns the common colour of all triangles of a part. `None` if the colours differ.
fn colour(mesh: &Mesh, parts: &MeshParts, part: u32) -> Option<[u8; 3]> {
    let colours = mesh.colours()?;
    let mut all = (0..mesh.triangles().len() as u32)
        .filter(|n| parts.of(*n) == part)
        .map(|n| colours.only(n));
    let first = all.next()??;
    all.all(|colour| colour == Some(first)).then_some(first)
}

/// Returns the legend of these labels.
pub(super) fn legend(parts: &[LabelledMesh]) -> Result<Legend> {
    let mut labels: Vec<_> = parts.iter().flat_map(|part| part.labels.clone()).collect();
    labels.sort_by_key(|label| label.value);
    Legend::new(labels)
}

/// Selection of the parts of a mesh.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartChoice {
    /// Names of the parts to take. Empty to take all.
    pub only: Vec<String>,
    /// Names of the parts to leave out.
    pub skip: Vec<String>,
}

impl PartChoice {
    /// Returns the mesh of the selected parts of this kind.
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
    /// Fails if a name is not the name of a part.
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

/// Part with triangles, and its unique name.
struct Named<'a> {
    part: u32,
    kind: PartKind,
    /// Name in the file.
    given: &'a str,
    name: String,
}

impl Named<'_> {
    /// Returns true if the part has this name. It may be the unique name, or the name in the file,
    /// which several parts may share. A file also has its name with the extension.
    fn is(&self, name: &str) -> bool {
        let is_file = self.kind == PartKind::File && file_label(name) == self.given;
        self.name == name || self.given == name || is_file
    }
}

/// Returns the parts that have triangles, in the order of the file.
fn named<'a>(mesh: &Mesh, parts: &'a MeshParts, kind: PartKind) -> Vec<Named<'a>> {
    let mut has_triangles = vec![false; parts.names().len()];
    for n in 0..mesh.triangles().len() as u32 {
        has_triangles[parts.of(n) as usize] = true;
    }
    let mut names = HashSet::new();
    let mut named = vec![];
    for (part, given) in (0..).zip(parts.names()) {
        if has_triangles[part as usize] {
            named.push(Named {
                part,
                kind,
                given,
                name: unique(given, kind, part + 1, &mut names),
            });
        }
    }
    named
}

/// Refuses names that are not the name of a part.
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

/// Returns a unique name for part `number`: `object 3` if the file gives none, `lid (2)` for a
/// second `lid`.
fn unique(name: &str, kind: PartKind, number: u32, names: &mut HashSet<String>) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    let name = if name.trim().is_empty() {
        format!("{} {number}", kind.name())
    } else {
        name
    };
    if names.insert(name.clone()) {
        return name;
    }
    for n in 2_u32.. {
        let numbered = format!("{name} ({n})");
        if names.insert(numbered.clone()) {
            return numbered;
        }
    }
    String::new()
}
