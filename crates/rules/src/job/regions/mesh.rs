//! The mesh of a store: the names of its files, and reading them.

use std::path::{Component, Path, PathBuf};

use super::hash::mesh_hash;
use super::plan::RegionPlan;
use voxelize_core::error::{Code, Error, Finding, Result};
use voxelize_core::text::file_label;
use voxelize_meshes::read::{self, Loaded, ReadNear, ReadOptions};
use voxelize_meshes::{Mesh, PartKind};

/// The folder that a file or a folder is in.
fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

impl RegionPlan {
    /// The name of a mesh in the plan of a store at `root`: a relative one from the folder that the store is in on, an
    /// absolute one as it is.
    ///
    /// # Errors
    /// If there is no such file, or the name is no Unicode.
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
        let (from, to) = (real(root)?, real(mesh)?);
        let common = from
            .components()
            .zip(to.components())
            .take_while(|(a, b)| a == b)
            .count();
        let up = from.components().skip(common).map(|_| Component::ParentDir);
        let relative: PathBuf = up.chain(to.components().skip(common)).collect();
        unicode(&relative.join(mesh.file_name().unwrap_or_default()))
    }

    /// The files of the mesh of a store at `root`.
    pub fn meshes(&self, root: &Path) -> Vec<PathBuf> {
        let folder = root.parent().unwrap_or(Path::new(""));
        self.store
            .source
            .meshes
            .iter()
            .map(|name| folder.join(name))
            .collect()
    }

    /// Reads the mesh from these files, in the axes of the grid, with the findings about them.
    ///
    /// # Errors
    /// If it cannot be read, or is another than that of the plan.
    pub fn read_mesh(
        &self,
        files: &[PathBuf],
        options: &ReadOptions,
    ) -> Result<(Mesh, Vec<Finding>)> {
        let near = ReadNear::Point(&self.transform.near);
        let options = options.tolerance(self.tolerance).near(near);
        let mut findings = vec![];
        let mut all: Vec<(String, Loaded)> = vec![];
        for path in files {
            let held: u64 = all
                .iter()
                .map(|(_, loaded)| size_of_val(loaded.mesh.triangles()) as u64)
                .sum();
            let left = options.max_memory.map(|most| most.saturating_sub(held));
            let mut loaded = read::read_file(path, &options.memory(left))?;
            let name = path
                .file_name()
                .map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
            findings.append(&mut loaded.findings);
            all.push((file_label(&name).to_string(), loaded));
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
        let is_same = |mesh: &Mesh| mesh_hash(mesh, self.part_kind()) == self.store.source.hash;
        let other = || {
            let names: Vec<_> = files
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            Error::input(Code::R004, "the mesh is not that of the plan")
                .in_file(names.join(", "))
                .with_hint([
                    "`--mesh FILE` names the file if it lies elsewhere",
                    "or plan the store again in a new folder",
                ])
        };
        mesh.ok()
            .filter(is_same)
            .map(|mesh| (mesh, findings))
            .ok_or_else(other)
    }
}
