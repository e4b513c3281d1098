//! Reads the mesh of a store, and converts the names of its files.

use std::path::{Component, Path, PathBuf};

use super::hash::mesh_hash;
use super::plan::RegionPlan;
use voxelize_core::error::{Code, Error, Finding, Result};
use voxelize_core::text::{bytes, file_label};
use voxelize_meshes::read::{self, Loaded, ReadNear, ReadOptions};
use voxelize_meshes::{Mesh, PartKind};

/// Returns the folder that contains a file or a folder.
fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

impl RegionPlan {
    /// Returns the name under which the plan of a store at `root` lists a mesh file. A relative path is made
    /// relative to the folder that contains the store. An absolute path stays unchanged.
    ///
    /// # Errors
    /// Fails if the file does not exist, or if its path is not Unicode.
    pub fn mesh_name(root: &Path, mesh: &Path) -> Result<String> {
        let unicode = |path: &Path| {
            let error = || Error::usage("a name in a plan must be Unicode").in_file(mesh);
            path.to_str().map(str::to_string).ok_or_else(error)
        };
        if mesh.is_absolute() {
            return unicode(mesh);
        }
        let real = |path: &Path| {
            let folder = folder_of(path);
            folder
                .canonicalize()
                .map_err(|e| Error::input(Code::Unreadable, e.to_string()).in_file(folder))
        };
        let from = real(root)?;
        let to = real(mesh)?;
        let common = from
            .components()
            .zip(to.components())
            .take_while(|(a, b)| a == b)
            .count();
        let up = from.components().skip(common).map(|_| Component::ParentDir);
        let relative: PathBuf = up.chain(to.components().skip(common)).collect();
        unicode(&relative.join(mesh.file_name().unwrap_or_default()))
    }

    /// Returns the paths of the mesh files of a store at `root`.
    pub fn meshes(&self, root: &Path) -> Vec<PathBuf> {
        let folder = root.parent().unwrap_or(Path::new(""));
        self.store
            .source
            .meshes
            .iter()
            .map(|name| folder.join(name))
            .collect()
    }

    /// Reads the mesh from these files and transforms it to the axes of the grid. Also returns the findings
    /// about the files.
    ///
    /// # Errors
    /// Fails if the mesh cannot be read, or if it differs from the mesh of the plan.
    pub fn read_mesh(
        &self,
        files: &[PathBuf],
        options: &ReadOptions,
    ) -> Result<(Mesh, Vec<Finding>)> {
        let options = options.tolerance(self.tolerance);
        let mut findings = vec![];
        let mut all: Vec<(String, Loaded)> = vec![];
        for (n, path) in files.iter().enumerate() {
            let held: u64 = all
                .iter()
                .map(|(_, loaded)| size_of_val(loaded.mesh.triangles()) as u64)
                .sum();
            let left = options.max_memory.map(|most| most.saturating_sub(held));
            let pose = self.poses.get(n);
            // The same choice as when the store was planned: with poses, coordinates are relative to the
            // origin, and a translation is added before they are rounded.
            let near = match pose {
                None => ReadNear::Point(&self.transform.near),
                Some(pose) if pose.translates() => ReadNear::Mesh,
                Some(_) => ReadNear::Origin,
            };
            let mut loaded = read::read_file(path, &options.memory(left).near(near))?;
            if let Some(pose) = pose.filter(|pose| !pose.is_empty()) {
                let copy = size_of_val(loaded.mesh.triangles()) as u64;
                if left.is_some_and(|most| 2 * copy > most) {
                    let (need, most) = (
                        bytes(2 * u128::from(copy)),
                        bytes(u128::from(left.unwrap_or(0))),
                    );
                    let text =
                        format!("the mesh and the mesh posed need {need}, {most} are allowed");
                    return Err(Error::too_large(text).in_file(path));
                }
                pose.apply(&mut loaded, None)
                    .map_err(|error| error.in_file(path))?;
            }
            let name = path
                .file_name()
                .map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
            let given = self
                .store
                .source
                .names
                .get(n)
                .filter(|name| !name.is_empty());
            let name = given.map_or_else(|| file_label(&name).to_string(), String::clone);
            findings.append(&mut loaded.findings);
            all.push((name, loaded));
        }
        let mesh = match all.len() {
            1 if self.part_kind() != Some(PartKind::File) => all.remove(0).1.mesh,
            _ => Mesh::join(
                all.iter()
                    .map(|(name, loaded)| (name.as_str(), &loaded.mesh)),
            )?,
        };
        let mesh = self
            .parts
            .apply(mesh, self.part_kind().unwrap_or(PartKind::Object));
        let mesh = mesh.and_then(|mesh| self.transform.apply(mesh));
        if let Ok(mesh) = mesh
            && mesh_hash(&mesh, self.part_kind()) == self.store.source.hash
        {
            return Ok((mesh, findings));
        }
        let names: Vec<_> = files
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let error = Error::input(Code::R004, "the mesh differs from the mesh of the plan")
            .in_file(names.join(", "))
            .with_hint([
                "`--mesh FILE` names the original mesh if it has moved",
                "or plan a store of this mesh in a new folder",
            ]);
        Err(error)
    }
}
