//! Places the objects of a build and adds their triangles to a mesh.
//!
//! A build with negative volumes is traversed twice: once for the bodies, and once for the volumes that are
//! subtracted from them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::model::{ModelObject, PackageModel, PlacedObject};
use super::package::Package;
use super::properties::Appearance;
use super::slicer::{SlicerSettings, Volume, VolumeKind, counts_text};
use crate::read::affine::Affine;
use crate::read::indexed::{FilePosition, Indexed};
use crate::read::triage::Triage;
use crate::{MeshParts, TextureWrap};
use voxelize_core::error::{Code, Error, Kind, Result, sanitize};
use voxelize_core::text::counted;

/// Maximum nesting depth of components.
const MAX_DEPTH: usize = 32;

/// Maximum number of objects placed in a build.
const MAX_PLACED: u64 = 1 << 20;

/// Traversal of the objects of a build.
pub(super) struct Placing<'a, 'b, 'c> {
    pub package: &'a mut Package<'c>,
    pub indexed: &'a mut Indexed<'b>,
    pub settings: &'a SlicerSettings,
    /// Whether pictures are read.
    pub reads_textures: bool,
    /// Kind of the volumes whose triangles are added.
    pub wanted: VolumeKind,
    pub found: WalkResult,
}

/// Counts from a traversal, and the body of each added triangle.
#[derive(Default)]
pub(super) struct WalkResult {
    placed: u64,
    /// For each added volume: the first of its triangles and its body. Objects without negative volumes have
    /// body 0.
    runs: Vec<(usize, u32)>,
    bodies: u32,
    /// Number of triangles of other kinds, by kind. They are not added.
    left_out: BTreeMap<VolumeKind, u64>,
    /// Number of added triangles of items that are marked as not printable.
    unprintable: u64,
    /// Number of triangles whose properties are missing or not supported.
    unknown: u64,
    /// Number of volumes in the settings that do not exist in the model.
    missing: u64,
    /// Objects of the build for which settings were used.
    met: HashSet<u64>,
    pictures: HashMap<(Rc<str>, [u8; 2]), Option<u32>>,
}

/// Object and its placement.
struct ComponentPlace {
    model: Rc<PackageModel>,
    /// Name of the model in the package.
    path: Rc<str>,
    object: u64,
    map: Option<Affine>,
    name: Rc<str>,
    kind: VolumeKind,
    body: u32,
    depth: usize,
    is_printable: bool,
}

/// Object whose components are being traversed.
struct ComponentWalk {
    placement: ComponentPlace,
    /// Index of the next component.
    next: usize,
    /// Kind and name of each component according to the settings. Empty if the object has no settings.
    pieces: Vec<Option<(VolumeKind, Rc<str>)>>,
}

impl Placing<'_, '_, '_> {
    /// Adds the triangles of all build items of the model with this name.
    pub(super) fn all(&mut self, start: &Rc<str>) -> Result<()> {
        let model = self.package.load(start, self.indexed)?;
        let build = ComponentPlace {
            model: Rc::clone(&model),
            path: Rc::clone(start),
            object: 0,
            map: None,
            name: Rc::default(),
            kind: VolumeKind::Body,
            body: 0,
            depth: 0,
            is_printable: true,
        };
        let mut stack: Vec<ComponentWalk> = vec![];
        for item in &model.items {
            let placement = self.inner(&build, item, None)?;
            stack.extend(self.place(placement, start)?);
            while let Some(walk) = stack.last_mut() {
                let outer = &walk.placement;
                let Some(component) = outer.model.objects[&outer.object].components.get(walk.next)
                else {
                    stack.pop();
                    continue;
                };
                let piece = walk.pieces.get(walk.next).and_then(Option::as_ref);
                let placement = self.inner(outer, component, piece)?;
                walk.next += 1;
                stack.extend(self.place(placement, start)?);
            }
        }
        Ok(())
    }

    /// Returns the placement of an item or component, given the placement of the object that contains it.
    fn inner(
        &mut self,
        outer: &ComponentPlace,
        placed: &PlacedObject,
        piece: Option<&(VolumeKind, Rc<str>)>,
    ) -> Result<ComponentPlace> {
        let (model, path) = match &placed.path {
            Some(path) => (self.package.load(path, self.indexed)?, Rc::clone(path)),
            None => (Rc::clone(&outer.model), Rc::clone(&outer.path)),
        };
        // The coordinates of each model are in its own unit.
        let maps = [outer.map, placed.map, model.scale_to(&outer.model)];
        let map = maps
            .into_iter()
            .flatten()
            .reduce(|outer, inner| outer.after(&inner));
        let depth = outer.depth + 1;
        let Some(object) = model.objects.get(&placed.object) else {
            let text = format!(
                "object {} does not exist (objects: {})",
                placed.object,
                model.objects.len()
            );
            return Err(Error::input(Code::S012, text).about(&path));
        };
        let (own_kind, own_name) = match piece {
            Some((kind, name)) => (*kind, Rc::clone(name)),
            None => (object.kind, Rc::default()),
        };
        let kind = if outer.kind == VolumeKind::Body {
            own_kind
        } else {
            outer.kind
        };
        let names = [&own_name, &object.name, &outer.name];
        let name = names
            .into_iter()
            .find(|name| !name.is_empty())
            .cloned()
            .unwrap_or_default();
        let is_printable = outer.is_printable && placed.is_printable;
        Ok(ComponentPlace {
            path,
            object: placed.object,
            map,
            name,
            kind,
            body: outer.body,
            depth,
            is_printable,
            model,
        })
    }

    /// Adds the triangles of an object itself. If the object has components, returns the state for traversing
    /// them.
    fn place(
        &mut self,
        mut placement: ComponentPlace,
        start: &Rc<str>,
    ) -> Result<Option<ComponentWalk>> {
        self.package.progress.check()?;
        self.found.placed += 1;
        if placement.depth > MAX_DEPTH || self.found.placed > MAX_PLACED {
            let what = if placement.depth > MAX_DEPTH {
                "components are nested too deep, or form a cycle"
            } else {
                "more than a million components"
            };
            let text = format!("object {}: {what}", placement.object);
            return Err(Error::input(Code::S006, text).about(&placement.path));
        }
        let model = Rc::clone(&placement.model);
        let object = &model.objects[&placement.object];
        // The settings of slicers refer to objects in the model with the build.
        let settings = self
            .settings
            .of(placement.object)
            .filter(|_| placement.path == *start);
        let mut pieces = vec![];
        let mut volumes = &object.volumes[..];
        if let Some(settings) = settings {
            if settings.has_negative() {
                self.found.bodies += 1;
                placement.body = self.found.bodies;
            }
            if placement.name.is_empty() {
                placement.name = settings.name.clone().unwrap_or_default();
            }
            let (found, mut missing) =
                settings.pieces_of(object.components.iter().map(|component| component.object));
            let has_names = settings.has_bodies();
            for piece in found {
                pieces.push(piece.map(|piece| {
                    let is_named = has_names || piece.kind != VolumeKind::Body;
                    let name = piece.name.clone().filter(|_| is_named);
                    (piece.kind, name.unwrap_or_default())
                }));
            }
            if !settings.volumes.is_empty() {
                volumes = &settings.volumes;
                let count = object.triangles.len() as u64;
                for volume in volumes {
                    missing += u64::from(volume.last >= count || volume.first > volume.last);
                }
            }
            if self.found.met.insert(placement.object) {
                self.found.missing += missing;
            }
        }
        self.add(
            object,
            volumes,
            settings.is_some_and(|settings| settings.has_bodies()),
            &placement,
        )?;
        if object.components.is_empty() {
            return Ok(None);
        }
        Ok(Some(ComponentWalk {
            placement,
            next: 0,
            pieces,
        }))
    }

    /// Adds the triangles of an object. `volumes` divides them into ranges.
    fn add(
        &mut self,
        object: &ModelObject,
        volumes: &[Volume],
        has_names: bool,
        placement: &ComponentPlace,
    ) -> Result<()> {
        let runs = runs_of(volumes, object.triangles.len());
        let mut has_vertices = false;
        for (range, volume) in runs {
            let count = range.len() as u64;
            let kind = match volume {
                Some(volume) if placement.kind == VolumeKind::Body => volume.kind,
                _ => placement.kind,
            };
            if kind != self.wanted {
                // These triangles are counted in both traversals.
                *self.found.left_out.entry(kind).or_default() += count;
                continue;
            }
            if !placement.is_printable {
                self.found.unprintable += count;
            }
            let about = format!("{}: object {}", placement.path, placement.object);
            let own_name = volume
                .filter(|_| has_names)
                .and_then(|volume| volume.name.as_ref());
            let name = own_name
                .filter(|name| !name.is_empty())
                .unwrap_or(&placement.name);
            self.indexed.begin_instance(name.to_string())?;
            if !has_vertices {
                has_vertices = true;
                self.indexed.begin_vertices();
                for (n, vertex) in object.vertices.iter().enumerate() {
                    if n % 65_536 == 65_535 {
                        self.package.progress.check()?;
                    }
                    let point = match placement.map {
                        Some(map) => map.apply(vertex.doubles),
                        None => vertex.floats,
                    };
                    self.indexed.vertex(point, FilePosition::Of(&about))?;
                }
            }
            self.found
                .runs
                .push((self.indexed.triangles.len(), placement.body));
            self.indexed.hold(2 * size_of::<(usize, u32)>() as u64)?;
            self.triangles(object, range, placement, &about)?;
        }
        Ok(())
    }

    fn triangles(
        &mut self,
        object: &ModelObject,
        range: std::ops::Range<usize>,
        placement: &ComponentPlace,
        about: &str,
    ) -> Result<()> {
        let is_mirror = placement.map.is_some_and(|map| map.is_mirror());
        let mut run = object
            .materials
            .partition_point(|(begin, _)| *begin <= range.start as u64);
        let mut is_new = true;
        let mut look = Appearance::default();
        let mut has_property = false;
        let mut texture = None;
        for n in range {
            while object
                .materials
                .get(run)
                .is_some_and(|(begin, _)| *begin <= n as u64)
            {
                run += 1;
                is_new = true;
            }
            if is_new {
                is_new = false;
                let property = object
                    .materials
                    .get(run.wrapping_sub(1))
                    .and_then(|(_, property)| *property);
                has_property = property.is_some();
                look = match property {
                    Some([group, a, b, c]) => placement.model.properties.look(group, [a, b, c]),
                    None => Appearance::default(),
                };
                self.indexed
                    .begin_material(std::mem::take(&mut look.name))?;
                texture = None;
                if let Some((id, _)) = look.texture.filter(|_| self.reads_textures) {
                    texture = self.picture(&placement.model, &placement.path, id)?;
                }
                self.indexed.set_texture(texture);
                self.indexed
                    .set_unread_picture(look.texture.is_some() && !self.reads_textures)?;
            }
            if has_property && !look.is_known {
                self.found.unknown += 1;
            }
            if let Some(colours) = look.colours {
                self.indexed.colour_next(turned_if(is_mirror, colours));
            }
            if texture.is_some()
                && let Some((_, places)) = look.texture
            {
                let places = turned_if(is_mirror, places);
                self.indexed.place_next(places.into_iter());
            }
            let corners = turned_if(is_mirror, object.triangles[n]);
            self.indexed
                .triangle(corners.map(i64::from), FilePosition::Of(about))?;
        }
        self.indexed.set_texture(None);
        self.indexed.set_unread_picture(false)
    }

    /// Returns the index in the mesh of a picture of a model. `None` if it cannot be read.
    fn picture(&mut self, model: &PackageModel, path: &Rc<str>, id: u64) -> Result<Option<u32>> {
        let Some(picture) = model.properties.texture(id) else {
            return Ok(None);
        };
        let key: (Rc<str>, [u8; 2]) = (
            picture.path.as_str().into(),
            picture.wrap.map(|wrap| match wrap {
                TextureWrap::Repeat => 0,
                TextureWrap::Mirror => 1,
                TextureWrap::Clamp => 2,
            }),
        );
        if let Some(known) = self.found.pictures.get(&key) {
            return Ok(*known);
        }
        let bytes = self
            .package
            .picture(&picture.path, |more| self.indexed.admit(more));
        if let Err(error) = &bytes
            && error.kind() == Kind::TooLarge
        {
            return Err(error.clone());
        }
        let place = format!("{path}: image {}", picture.path);
        let number =
            self.indexed
                .add_picture(bytes, picture.wrap, FilePosition::Of(&sanitize(place)))?;
        self.found.pictures.insert(key, number);
        Ok(number)
    }
}

/// Returns data of three corners. The last two are exchanged if the triangle is turned over.
fn turned_if<T>(is_turned: bool, [a, b, c]: [T; 3]) -> [T; 3] {
    if is_turned { [a, c, b] } else { [a, b, c] }
}

/// Divides the triangles of an object into runs: one run for each volume, and runs without a volume for the
/// triangles between them. If two volumes contain a triangle, it belongs to the first.
fn runs_of(volumes: &[Volume], count: usize) -> Vec<(std::ops::Range<usize>, Option<&Volume>)> {
    let mut sorted: Vec<&Volume> = volumes
        .iter()
        .filter(|volume| volume.first <= volume.last)
        .collect();
    sorted.sort_by_key(|volume| volume.first);
    let mut runs = vec![];
    let mut end = 0;
    for volume in sorted {
        let place = |number: u64| usize::try_from(number).unwrap_or(count).min(count);
        let first = place(volume.first).max(end);
        let after = place(volume.last.saturating_add(1));
        if first >= after {
            continue;
        }
        if end < first {
            runs.push((end..first, None));
        }
        runs.push((first..after, Some(volume)));
        end = after;
    }
    if end < count {
        runs.push((end..count, None));
    }
    runs
}

impl WalkResult {
    /// Returns the number of triangles of negative volumes.
    pub(super) fn negative(&self) -> u64 {
        self.left_out
            .get(&VolumeKind::Negative)
            .copied()
            .unwrap_or(0)
    }

    /// Returns the body that each of `count` triangles belongs to.
    pub(super) fn bodies(&self, count: usize, bodies: u32) -> MeshParts {
        self.parts(count, bodies as usize + 1, |_, body| body)
    }

    /// Returns the volume that each of `count` triangles belongs to.
    pub(super) fn pieces(&self, count: usize) -> MeshParts {
        self.parts(count, self.runs.len(), |piece, _| piece)
    }

    /// Returns a division of `count` triangles into `parts` parts. `of` maps the number of a volume and its
    /// body to a part.
    fn parts(&self, count: usize, parts: usize, of: impl Fn(u32, u32) -> u32) -> MeshParts {
        let mut found = MeshParts::default();
        for _ in 0..parts {
            found.name(String::new());
        }
        for (n, (begin, body)) in self.runs.iter().enumerate() {
            let end = self.runs.get(n + 1).map_or(count, |(next, _)| *next);
            found.extend((end - begin) as u64, of(n as u32, *body));
        }
        found
    }

    /// Returns the number of bodies with negative volumes.
    pub(super) fn count(&self) -> u32 {
        self.bodies
    }

    /// Reports the findings of the traversal for bodies.
    pub(super) fn report(
        mut self,
        settings: &SlicerSettings,
        model: &PackageModel,
        triage: &Triage,
    ) -> Result<()> {
        let note = |code: Code, text: String| {
            triage.found_all(code, 1, || Error::input(code, text.clone()))
        };
        let negative = self.left_out.remove(&VolumeKind::Negative).unwrap_or(0);
        self.left_out
            .retain(|kind, count| kind.is_left_out() && *count > 0);
        if !self.left_out.is_empty() {
            note(
                Code::S109,
                format!("left out: {}", counts_text(&self.left_out)),
            )?;
        }
        if negative > 0 {
            let triangles = counted(negative, "triangle", "triangles");
            note(
                Code::S111,
                format!("negative volumes of {triangles}: solid and filled subtract them"),
            )?;
        }
        if self.unprintable > 0 {
            let triangles = counted(self.unprintable, "triangle", "triangles");
            let text =
                format!("{triangles} of items that are marked as not printable are read anyway");
            note(Code::S112, text)?;
        }
        for (object, settings) in settings.objects() {
            if !model.objects.contains_key(&object) {
                self.missing += settings.others();
            }
        }
        if self.missing > 0 {
            let pieces = counted(self.missing, "piece", "pieces");
            let text = format!("the settings of the slicer name {pieces} not in the model");
            note(Code::S113, text)?;
        }
        if self.unknown > 0 {
            let triangles = counted(self.unknown, "triangle has", "triangles have");
            let text = format!(
                "colours are unknown: {triangles} a property that is missing or not supported"
            );
            note(Code::S110, text)?;
        }
        if model.painted > 0 {
            let triangles = counted(model.painted, "triangle is", "triangles are");
            let text = format!(
                "colours are unknown: {triangles} painted in the slicer, which is not supported"
            );
            note(Code::S110, text)?;
        }
        if model.beams > 0 {
            let beams = counted(model.beams, "beam", "beams");
            note(
                Code::S107,
                format!("{beams} of lattices, which have no triangles and are left out"),
            )?;
        }
        Ok(())
    }
}
