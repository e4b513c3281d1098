//! Cells labelled by the parts of a mesh. The rule judges each part as a mesh of its own; a cell that several parts
//! occupy has the label of the first of them in the file.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::grid::Label;
use crate::mesh::Mesh;

/// The most parts that labels tell apart.
const MOST: usize = 255;

/// The parts of a mesh that have triangles, with the values 1, 2, …; a mesh without parts is one.
///
/// # Errors
/// If there are more than 255.
pub(super) fn parts(mesh: &Mesh) -> Result<Vec<(Option<Label>, Cow<'_, Mesh>)>> {
    let Some(parts) = mesh.parts() else {
        return Ok(vec![(Some(Label::new(1, "mesh")), Cow::Borrowed(mesh))]);
    };
    let mut count = vec![0_u64; parts.names().len()];
    (0..mesh.triangles().len() as u32).for_each(|n| count[parts.of(n) as usize] += 1);
    let some = count.iter().filter(|count| **count > 0).count();
    if some > MOST {
        let text = format!("the mesh has {some} parts, labels tell {MOST} apart");
        return Err(Error::unfit(text).with_hint("unite parts in the program that made them"));
    }
    let mut names = HashSet::new();
    let mut found = vec![];
    for (part, name) in (0..).zip(parts.names()).filter(|(part, _)| count[*part as usize] > 0) {
        let value = found.len() as u8 + 1;
        let label = Label::new(value, unique(name, part + 1, &mut names));
        found.push((Some(label), Cow::Owned(mesh.select(|n| parts.of(n) == part))));
    }
    Ok(found)
}

/// The name of part `number`, which no other has: `object 3` if the file gives none, `lid (2)` for a second one.
fn unique(name: &str, number: u32, names: &mut HashSet<String>) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    let name = if name.trim().is_empty() { format!("object {number}") } else { name };
    let numbered = (2_u32..).map(|n| format!("{name} ({n})"));
    let is_new = |name: &String| names.insert(name.clone());
    std::iter::once(name.clone()).chain(numbered).find(is_new).unwrap_or_default()
}
