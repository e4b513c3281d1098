//! Mesh files of a store, with their names and poses.

use crate::job::MeshPose;

/// Mesh file of a store.
#[derive(Debug, Clone, Default)]
pub struct RegionMesh {
    /// Path of the file. A relative path is relative to the folder that contains the store.
    pub file: String,
    /// Name of the part. `None` for the name of the file.
    pub name: Option<String>,
    /// Pose, whose translation has no unit.
    pub pose: MeshPose,
}

impl RegionMesh {
    /// Returns a text for each mesh. Empty if all texts are empty.
    pub(super) fn texts(meshes: &[Self], text: impl Fn(&Self) -> String) -> Vec<String> {
        let texts: Vec<_> = meshes.iter().map(text).collect();
        if texts.iter().all(String::is_empty) {
            return vec![];
        }
        texts
    }
}

impl From<&str> for RegionMesh {
    fn from(file: &str) -> Self {
        Self {
            file: file.to_string(),
            ..Self::default()
        }
    }
}
