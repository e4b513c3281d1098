//! Labels cells by the parts of a mesh.
//!
//! Each part is voxelized as a separate mesh. If several parts occupy a cell, the cell has the label of the
//! part that comes first in the file. Some parts, such as the materials of one body, form a closed mesh only
//! together, or share open edges. They are voxelized as one mesh, and each of its cells has the label of the
//! nearest face.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use voxelize_core::error::{Error, Result, sanitize};
use voxelize_core::grid::{Label, Legend};
use voxelize_core::text::file_label;
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::{Mesh, MeshParts, PartKind};

/// Greatest number of parts, because each part has its own label.
const MOST: usize = 255;

/// Mesh that is voxelized and labelled as a unit: a single part, or several parts that are closed only
/// together.
pub(super) struct LabelledMesh<'a> {
    pub mesh: Cow<'a, Mesh>,
    /// Labels of the parts of this mesh.
    pub labels: Vec<Label>,
    /// Label value of each part, by the index of the part. Empty if this mesh is a single part.
    pub values: Vec<u8>,
}

impl LabelledMesh<'_> {
    /// Returns the triangles of the part whose label has this value.
    pub(super) fn part(&self, value: u8, kind: PartKind) -> Cow<'_, Mesh> {
        match self.mesh.parts(kind) {
            Some(parts) if !self.values.is_empty() => Cow::Owned(
                self.mesh
                    .select(|triangle| self.values[parts.of(triangle) as usize] == value),
            ),
            _ => Cow::Borrowed(&self.mesh),
        }
    }
}

/// Returns the parts of a mesh that have triangles. Their label values are 1, 2, … in the order of the file.
/// A mesh without parts counts as a single part. Parts named in `priority` come first in the list.
/// `has_inside` states that the rule fills the inside. Parts that are closed only together then form one
/// mesh.
///
/// # Errors
/// Fails if there are more than 255 parts, or if `priority` has an unknown name.
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
            "the mesh has {} parts, but there are only {MOST} labels",
            named.len()
        );
        return Err(Error::unfit(text).with_hint("unite parts in the program that made them"));
    }
    check_names(priority, &named)?;
    let together = if has_inside {
        mesh.parts_filled_together(kind)
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
            // The joint mesh of these parts is added when the loop reaches the first of them.
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

/// Returns the colour of a part if all of its triangles have the same colour, otherwise `None`.
fn colour(mesh: &Mesh, parts: &MeshParts, part: u32) -> Option<[u8; 3]> {
    let colours = mesh.colours()?;
    let mut all = (0..mesh.triangles().len() as u32)
        .filter(|n| parts.of(*n) == part)
        .map(|n| colours.only(n));
    let first = all.next()??;
    all.all(|colour| colour == Some(first)).then_some(first)
}

/// Returns the legend with the labels of all parts, sorted by value.
pub(super) fn legend(parts: &[LabelledMesh]) -> Result<Legend> {
    let mut labels: Vec<_> = parts.iter().flat_map(|part| part.labels.clone()).collect();
    labels.sort_by_key(|label| label.value);
    Legend::new(labels)
}

/// Selection of the parts of a mesh.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartChoice {
    /// Names of the parts to select. If the list is empty, all parts are selected.
    pub only: Vec<String>,
    /// Names of the parts to exclude.
    pub skip: Vec<String>,
}

impl PartChoice {
    /// Returns the triangles of the selected parts, as a mesh. Names refer to parts of the kind `kind`.
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
    /// Fails if a name is not the name of a part, or if the mesh has no parts of this kind.
    pub fn apply(&self, mesh: Mesh, kind: PartKind) -> Result<Mesh> {
        if *self == Self::default() {
            return Ok(mesh);
        }
        let Some(parts) = mesh.parts(kind) else {
            let text = format!("the mesh has no named parts of the kind {}", kind.name());
            return Err(Error::unfit(text).with_hint("its format or its file has no such parts"));
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

/// Object of a mesh, or several objects that are one body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedObject {
    /// Unique name. Names of several objects are joined by ` + `.
    pub name: String,
    /// Names of the objects in the file.
    pub given: Vec<String>,
    /// Triangles, ascending.
    pub triangles: Vec<u32>,
}

/// Treatment of objects that are open individually.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenObjects {
    /// Each is an object, as the 3MF specification defines it.
    Alone,
    /// Those that share vertices are one body, such as the groups of an OBJ file.
    Joined,
}

/// Returns the objects of a mesh that have triangles, in the order of the file. Empty if its file
/// names none.
///
/// # Errors
/// If there are too many triangles.
pub fn objects(mesh: &Mesh, open: OpenObjects) -> Result<Vec<NamedObject>> {
    /// Number of names that the name of several objects is made of.
    const NAMES: usize = 4;
    let Some(parts) = mesh.parts(PartKind::Object) else {
        return Ok(vec![]);
    };
    let named = named(mesh, parts, PartKind::Object);
    let mut triangles = vec![vec![]; parts.names().len()];
    for n in 0..mesh.triangles().len() as u32 {
        triangles[parts.of(n) as usize].push(n);
    }
    // First of the objects that are one body.
    let mut first_of: Vec<usize> = (0..named.len()).collect();
    if open == OpenObjects::Joined && named.len() > 1 {
        let components = mesh.components()?.of;
        let mut owners: HashMap<u32, usize> = HashMap::new();
        for (n, part) in named.iter().enumerate() {
            let own = &triangles[part.part as usize];
            if mesh.piece(own).closedness() != Closedness::Open {
                continue;
            }
            for triangle in own {
                let owner = *owners.entry(components[*triangle as usize]).or_insert(n);
                let [one, other] = [owner, n].map(|n| root(&first_of, n));
                first_of[one.max(other)] = one.min(other);
            }
        }
    }
    let mut bodies: Vec<(usize, Vec<usize>)> = vec![];
    let mut place_of: HashMap<usize, usize> = HashMap::new();
    for n in 0..named.len() {
        let first = root(&first_of, n);
        let place = *place_of.entry(first).or_insert_with(|| {
            bodies.push((first, vec![]));
            bodies.len() - 1
        });
        bodies[place].1.push(n);
    }
    let mut objects = vec![];
    for (_, members) in bodies {
        let mut own = vec![];
        let mut names: Vec<&str> = vec![];
        for n in &members {
            own.append(&mut triangles[named[*n].part as usize]);
            if names.len() < NAMES {
                names.push(&named[*n].name);
            }
        }
        own.sort_unstable();
        let mut name = names.join(" + ");
        if members.len() > NAMES {
            name += &format!(" + {} more", members.len() - NAMES);
        }
        objects.push(NamedObject {
            name,
            given: members
                .iter()
                .map(|n| named[*n].given.to_string())
                .collect(),
            triangles: own,
        });
    }
    Ok(objects)
}

fn root(first_of: &[usize], mut n: usize) -> usize {
    while first_of[n] != n {
        n = first_of[n];
    }
    n
}

/// Part that has triangles, and its unique name.
struct Named<'a> {
    part: u32,
    kind: PartKind,
    /// Name in the file.
    given: &'a str,
    name: String,
}

impl Named<'_> {
    /// Returns true if `name` refers to this part. It may be the unique name of the part, or the name in the
    /// file, which several parts may share. A part that is a whole file can also be named with the file's
    /// extension.
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

/// Returns the parts of a mesh that have triangles, in the order of the file: the names by which labels and
/// [`PartChoice`] know them, and the numbers of their triangles. Empty if the mesh has no parts of this kind.
///
/// ```
/// # use voxelize_rules as voxelize;
/// use voxelize::Mesh;
/// use voxelize::job::part_sizes;
/// use voxelize::mesh::{MeshParts, PartKind};
///
/// let triangle = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
/// let parts = MeshParts::new(["body", ""], [0, 1, 1])?;
/// let mesh = Mesh::from_triangles(vec![triangle; 3])?.with_parts(PartKind::Object, parts)?;
/// let sizes = part_sizes(&mesh, PartKind::Object);
/// assert_eq!(sizes, [("body".to_string(), 1), ("object 2".to_string(), 2)]);
/// # Ok::<(), voxelize::Error>(())
/// ```
pub fn part_sizes(mesh: &Mesh, kind: PartKind) -> Vec<(String, u64)> {
    let Some(parts) = mesh.parts(kind) else {
        return vec![];
    };
    let mut triangles = vec![0; parts.names().len()];
    for n in 0..mesh.triangles().len() as u32 {
        triangles[parts.of(n) as usize] += 1;
    }
    let mut sizes = vec![];
    for part in named(mesh, parts, kind) {
        sizes.push((part.name, triangles[part.part as usize]));
    }
    sizes
}

/// Fails if a name does not refer to a part.
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
        [] => error.with_hint("the file has no named parts"),
        _ => error.with_hint(format!("its parts are {}", list.join(", "))),
    })
}

/// Returns a unique name for part `number`. It is, for example, `object 3` if the part has no name in the
/// file, and `lid (2)` for the second part named `lid`.
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
