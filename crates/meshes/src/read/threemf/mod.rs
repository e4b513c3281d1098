//! Reader of 3MF, a zip of models in XML, and of the projects of slicers, which are based on 3MF.
//!
//! | element | |
//! |---|---|
//! | `model` | its `unit`; all extensions listed in `requiredextensions` must be known |
//! | `object` | a mesh or components; objects of type `support`, `solidsupport` and `other` are left out and counted |
//! | `vertex`, `triangle` | vertices and triangles of a mesh; vertices are numbered from 0 |
//! | `component` | a reference to another object, which is placed by `transform`; `path` names the model with that object (production extension) |
//! | `build`, `item` | objects of the mesh, each placed by `transform` |
//!
//! [`properties`] reads the elements for materials and colours, and [`slicer`] reads the settings of slicers.
//! Negative volumes are subtracted from the bodies of their object. Modifiers and supports are left out and
//! counted.
//!
//! Each mesh of a build item becomes a part. The z axis points up. Each model has its own unit, and the mesh
//! has the unit of the model with the build. Matrices are multiplied in doubles. A vertex is rounded to
//! floats once, and all triangles of the object use the rounded vertex. Without a matrix, the decimals of the
//! file are rounded to floats directly. If a matrix mirrors, triangles are turned over.
//!
//! Source: 3MF Consortium, Core Specification 1.3, Production Extension 1.1, Materials and
//! Properties Extension 1.2.

mod model;
mod package;
mod placing;
mod properties;
mod slicer;
mod xml;

use super::indexed::Indexed;
use super::source::{Head, MeshBytes};
use super::triage::Triage;
use super::{Content, Guess, InputFormat, ReadOptions};
use crate::cuts::MeshCuts;
use crate::{Mesh, UpAxis};
use voxelize_core::error::Result;

use package::Package;
use placing::{Placing, WalkResult};
use slicer::VolumeKind;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "3mf",
    extensions: &["3mf"],
    about: "3MF: items of a build with their components; z is up",
    states_unit: true,
    has_decimals: false,
    recognise,
    read,
};

/// Accepts any zip. The first file in it may be of any kind, and the list of its files is at its end.
fn recognise(head: &Head) -> Guess {
    if head.bytes.starts_with(b"PK\x03\x04") {
        Guess::Sure
    } else {
        Guess::No
    }
}

fn read(source: MeshBytes, options: &ReadOptions, triage: &Triage) -> Result<Content> {
    let file = source.into_bytes(options.max_memory, options.progress)?;
    let mut indexed = Indexed::new(options.max_memory, triage, 0).numbered(options.vertex_numbers);
    indexed.hold(file.len() as u64)?;
    let mut package = Package::open(&file, options.progress, &mut indexed)?;
    let start = package.start()?;
    let model = package.load(&start, &mut indexed)?;
    let settings = package.settings(&mut indexed, triage)?;
    let mut placing = Placing {
        package: &mut package,
        indexed: &mut indexed,
        settings: &settings,
        reads_textures: options.textures,
        wanted: VolumeKind::Body,
        found: WalkResult::default(),
    };
    placing.all(&start)?;
    let found = placing.found;
    let taken = indexed.bytes();
    let unread_pictures = indexed.take_unread_pictures()?;
    let mut mesh = indexed.into_mesh()?;
    if found.negative() > 0 {
        let own_triage = Triage::new(options.tolerance);
        let mut indexed = Indexed::new(options.max_memory, &own_triage, 0);
        // This includes the body number of each triangle.
        indexed.hold(taken + 8 * mesh.triangles().len() as u64)?;
        let mut placing = Placing {
            package: &mut package,
            indexed: &mut indexed,
            settings: &settings,
            reads_textures: false,
            wanted: VolumeKind::Negative,
            found: WalkResult::default(),
        };
        placing.all(&start)?;
        let cut_found = placing.found;
        let triangles = std::mem::take(&mut indexed.triangles);
        for finding in own_triage.finish(triangles.len())? {
            triage.found_all(finding.code(), finding.count, || finding.first.clone())?;
        }
        let bodies = found.bodies(mesh.triangles().len(), found.count());
        let cut_from = cut_found.bodies(triangles.len(), found.count());
        let volumes = cut_found.pieces(triangles.len());
        if !triangles.is_empty() {
            let cut = Mesh::of_finite(triangles.into());
            mesh = mesh.with_cuts(MeshCuts::new(cut, bodies, cut_from, volumes));
        }
    }
    found.report(&settings, &model, triage)?;
    let unit = Some(model.unit);
    Ok(Content {
        mesh,
        bytes: file.len() as u64,
        unit,
        up: Some(UpAxis::Z),
        unread_pictures,
    })
}
