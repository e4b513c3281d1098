//! Meshes that are compared: whole files, or the objects of one file, and the pairs that may meet.

use std::collections::HashSet;

use voxelize::job::{NamedObject, OpenObjects, objects};
use voxelize::mesh::read::Loaded;
use voxelize::{Error, Mesh, Result};

use crate::cli::files::PartSource;

/// Memory of a triangle of an object in bytes: its coordinates, its number, and the numbers of its vertices.
pub const OBJECT_BYTES: u64 = 36 + 4 + 12;

/// Mesh that is compared with others.
pub struct ComparedMesh {
    /// Name in reports.
    pub name: String,
    /// File with its transform.
    pub path: String,
    /// Name of the object. `None` if the mesh is a whole file.
    pub object: Option<String>,
    /// Names that `--allow` accepts.
    names: Vec<String>,
    pub mesh: Mesh,
}

impl ComparedMesh {
    pub fn of_file(source: &PartSource, loaded: Loaded) -> Self {
        let mut names = vec![source.name(), source.unposed_name()];
        if let Some(path) = source.path() {
            for part in [path.file_name(), path.file_stem()] {
                names.extend(part.map(|part| part.to_string_lossy().into_owned()));
            }
        }
        names.extend(source.given_name.clone());
        Self {
            name: source.given_name.clone().unwrap_or_else(|| source.name()),
            path: source.name(),
            object: None,
            names,
            mesh: loaded.mesh,
        }
    }
}

/// Returns the objects of a file.
pub fn objects_of(source: &PartSource, loaded: &Loaded) -> Result<Vec<ComparedMesh>> {
    let open = if loaded.format == "3mf" {
        OpenObjects::Alone
    } else {
        OpenObjects::Joined
    };
    let objects = objects(&loaded.mesh, open)?;
    if objects.len() < 2 {
        let error = Error::usage("clearance compares at least two meshes or objects of one file")
            .in_file(source.name());
        return Err(error.with_hint(
            "voxelize clearance A B; 'voxelize check' finds where a mesh crosses itself",
        ));
    }
    let mut compared = vec![];
    for NamedObject {
        name,
        given,
        triangles,
    } in objects
    {
        let mut names = given;
        names.push(name.clone());
        compared.push(ComparedMesh {
            path: source.name(),
            object: Some(name.clone()),
            mesh: loaded.mesh.piece(&triangles),
            name,
            names,
        });
    }
    Ok(compared)
}

/// Returns the pairs of `--allow`, each with the lesser number first.
pub fn allowed_pairs(options: &[String], meshes: &[ComparedMesh]) -> Result<HashSet<[usize; 2]>> {
    let numbers_of = |name: &str| {
        let name = name.trim();
        let mut numbers = vec![];
        for (n, mesh) in meshes.iter().enumerate() {
            if mesh.names.iter().any(|known| known == name) {
                numbers.push(n);
            }
        }
        numbers
    };
    let mut allowed = HashSet::new();
    for option in options {
        // A name may have commas.
        let mut pair = None;
        for (comma, _) in option.match_indices(',') {
            let both = [
                numbers_of(&option[..comma]),
                numbers_of(&option[comma + 1..]),
            ];
            if both.iter().all(|numbers| !numbers.is_empty()) {
                pair = Some(both);
            }
        }
        let Some([first, second]) = pair else {
            return Err(unknown_pair(option, meshes, |name| {
                !numbers_of(name).is_empty()
            }));
        };
        for n in &first {
            for m in &second {
                allowed.insert([*n.min(m), *n.max(m)]);
            }
        }
    }
    Ok(allowed)
}

/// Returns the error for a pair with an unknown name.
fn unknown_pair(option: &str, meshes: &[ComparedMesh], is_known: impl Fn(&str) -> bool) -> Error {
    const SHOWN: usize = 12;
    let text = match option.split_once(',') {
        None => format!("--allow {option}: expected two names with a comma between them"),
        Some((first, second)) => {
            let unknown = if is_known(first) { second } else { first };
            format!("--allow {option}: no mesh is named '{}'", unknown.trim())
        }
    };
    let mut names: Vec<&str> = meshes
        .iter()
        .take(SHOWN)
        .map(|mesh| mesh.name.as_str())
        .collect();
    if meshes.len() > SHOWN {
        names.push("…");
    }
    Error::usage(text).with_hint(format!("the meshes are {}", names.join(", ")))
}
