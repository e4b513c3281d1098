//! Model of a package: its objects with vertices and triangles, their components, and the items of its build.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::properties::Properties;
use super::slicer::{Volume, VolumeKind};
use super::xml::{Vocabulary, XmlElement};
use crate::UnitOfLength;
use crate::read::affine::Affine;
use crate::read::indexed::Indexed;
use crate::read::number;
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::geom::{Point, Rational};

/// Prefixes of the namespaces that a model may require. The reader supports them, or they do not affect
/// triangles.
const KNOWN: &[&str] = &[
    "http://schemas.microsoft.com/3dmanufacturing/core/",
    "http://schemas.microsoft.com/3dmanufacturing/material/",
    "http://schemas.microsoft.com/3dmanufacturing/production/",
    "http://schemas.microsoft.com/3dmanufacturing/slice/",
    "http://schemas.microsoft.com/3dmanufacturing/trianglesets/",
    "http://schemas.slic3r.org/3mf/",
    "http://schemas.bambulab.com/",
];

/// Content of a model.
pub(super) struct PackageModel {
    pub unit: UnitOfLength,
    pub objects: HashMap<u64, ModelObject>,
    pub properties: Properties,
    pub items: Vec<PlacedObject>,
    /// Number of beams in beam lattices, which have no triangles.
    pub beams: u64,
    /// Number of triangles that were painted in a slicer.
    pub painted: u64,
}

#[derive(Default)]
pub(super) struct ModelObject {
    pub name: Rc<str>,
    pub kind: VolumeKind,
    pub vertices: Vec<Vertex>,
    pub triangles: Vec<[u32; 3]>,
    /// Runs of triangles with the same property: the first triangle of the run, and the property as the
    /// number of its group and three indices for the corners.
    pub materials: Vec<(u64, Option<[u64; 4]>)>,
    /// Default property for triangles without a property of their own.
    material: Option<[u64; 4]>,
    pub components: Vec<PlacedObject>,
    /// Volumes (ranges of triangles with a meaning) that the model itself defines.
    pub volumes: Vec<Volume>,
}

/// Vertex with decimal coordinates: the nearest floats, and the nearest doubles to multiply by a matrix.
#[derive(Clone, Copy)]
pub(super) struct Vertex {
    pub floats: Point,
    pub doubles: [f64; 3],
}

/// Reference to an object, with its placement.
#[derive(Clone)]
pub(super) struct PlacedObject {
    pub object: u64,
    /// Path of the model that has the object. `None` if it is in the same model.
    pub path: Option<Rc<str>>,
    pub map: Option<Affine>,
    pub is_printable: bool,
}

/// State of the conversion of elements to a model.
pub(super) struct ModelReader<'a, 'b> {
    model: PackageModel,
    indexed: &'a mut Indexed<'b>,
    object: Option<(u64, ModelObject)>,
    /// Paths of other models. They are shared, because many components have the same path.
    paths: HashSet<Rc<str>>,
    /// The root element was read.
    has_begun: bool,
    /// Memory in bytes of names and placed objects that was not yet registered with the limit.
    bytes: u64,
}

impl<'a, 'b> ModelReader<'a, 'b> {
    pub(super) fn new(indexed: &'a mut Indexed<'b>) -> Self {
        let model = PackageModel {
            unit: UnitOfLength::Millimetre,
            objects: HashMap::new(),
            properties: Properties::default(),
            items: vec![],
            beams: 0,
            painted: 0,
        };
        Self {
            model,
            indexed,
            object: None,
            paths: HashSet::new(),
            has_begun: false,
            bytes: 0,
        }
    }

    pub(super) fn finish(mut self) -> Result<PackageModel> {
        self.end_object()?;
        Ok(self.model)
    }

    pub(super) fn element(&mut self, element: &XmlElement) -> Result<()> {
        if !self.has_begun {
            self.has_begun = true;
            check_root(element)?;
        }
        if element.is_core("vertex") {
            self.vertex(element)
        } else if element.is_core("triangle") {
            self.triangle(element)
        } else if element.is_core("object") {
            self.end_object()?;
            let (id, object) = object(element)?;
            let bytes = 256 + object.name.len() as u64;
            self.object = Some((id, object));
            self.took(bytes)
        } else if element.is_core("component") {
            let placed = self.placed(element)?;
            if let Some((_, object)) = &mut self.object {
                object.components.push(placed);
            }
            self.took(2 * size_of::<PlacedObject>() as u64)
        } else if element.is_core("item") {
            self.end_object()?;
            let placed = self.placed(element)?;
            self.model.items.push(placed);
            self.took(2 * size_of::<PlacedObject>() as u64)
        } else if element.is_core("model") {
            self.begin_model(element)
        } else if element.vocabulary == Vocabulary::BeamLattice && element.local == "beam" {
            self.model.beams += 1;
            Ok(())
        } else if element.local == "volume" {
            self.volume(element)
        } else {
            match self.model.properties.element(element)? {
                Some(bytes) => self.took(bytes),
                None => Ok(()),
            }
        }
    }

    fn begin_model(&mut self, element: &XmlElement) -> Result<()> {
        self.model.unit = match element.text("unit")?.as_deref().map(str::trim) {
            Some("micron") => UnitOfLength::Micrometre,
            Some("centimeter") => UnitOfLength::Centimetre,
            Some("inch") => UnitOfLength::Inch,
            Some("foot") => UnitOfLength::Foot,
            Some("meter") => UnitOfLength::Metre,
            Some("millimeter" | "") | None => UnitOfLength::Millimetre,
            Some(other) => return Err(element.bad(&format!("its unit is '{other}'"))),
        };
        for prefix in element
            .text("requiredextensions")?
            .unwrap_or_default()
            .split_ascii_whitespace()
        {
            let name = element
                .namespace_of(prefix)
                .unwrap_or_else(|| prefix.to_string());
            // Usual prefixes of the materials and production extensions. Some files do not declare them.
            let is_known =
                KNOWN.iter().any(|known| name.starts_with(known)) || name == "m" || name == "p";
            if !is_known {
                // Last alphabetic word of a name such as …/beamlattice/2017/02.
                let is_word = |part: &&str| part.starts_with(|c: char| c.is_ascii_alphabetic());
                let last = name.rsplit('/').find(is_word).unwrap_or(&name);
                let text = format!("the 3MF extension '{}' is not supported", sanitize(last));
                return Err(
                    Error::input(Code::S009, text).with_hint("export it without, or binary STL")
                );
            }
        }
        Ok(())
    }

    /// Reads the reference to an object and its placement from an element.
    fn placed(&mut self, element: &XmlElement) -> Result<PlacedObject> {
        let map =
            match element.text("transform")? {
                Some(text) => Some(transform(&text).ok_or_else(|| {
                    element.bad(&format!("its transform is not 12 numbers: {text}"))
                })?),
                None => None,
            };
        let path = match element.text("path")? {
            Some(path) => Some(self.path(&path)?),
            None => None,
        };
        let printable = element.text("printable")?;
        let is_printable = !matches!(printable.as_deref().map(str::trim), Some("0" | "false"));
        Ok(PlacedObject {
            object: element.needed("objectid")?,
            path,
            map,
            is_printable,
        })
    }

    /// Returns a shared copy of a path.
    fn path(&mut self, path: &str) -> Result<Rc<str>> {
        if let Some(known) = self.paths.get(path) {
            return Ok(Rc::clone(known));
        }
        let path: Rc<str> = path.into();
        self.paths.insert(Rc::clone(&path));
        self.took(64 + path.len() as u64)?;
        Ok(path)
    }

    /// Reads a volume of an object in the format of Slic3r.
    fn volume(&mut self, element: &XmlElement) -> Result<()> {
        let first = element.whole("ts")?;
        let last = element.whole("te")?;
        let is_modifier = element
            .text("modifier")?
            .is_some_and(|text| text.trim() == "1");
        if let (Some(first), Some(last), Some((_, object))) = (first, last, &mut self.object) {
            let kind = if is_modifier {
                VolumeKind::Modifier
            } else {
                VolumeKind::Body
            };
            object.volumes.push(Volume {
                kind,
                name: None,
                first,
                last,
            });
        }
        self.took(2 * size_of::<Volume>() as u64)
    }

    fn vertex(&mut self, element: &XmlElement) -> Result<()> {
        const NAMES: [&str; 3] = ["x", "y", "z"];
        let Some((_, object)) = &mut self.object else {
            return Ok(());
        };
        let mut vertex = Vertex {
            floats: [0.0; 3],
            doubles: [0.0; 3],
        };
        for (axis, (name, text)) in NAMES.into_iter().zip(element.texts(NAMES)?).enumerate() {
            let text = text.unwrap_or_default();
            let word = text.trim();
            let numbers = number::of(word.as_bytes()).zip(word.parse().ok());
            let Some((float, double)) = numbers else {
                let text = format!("<vertex>: {name} is '{}', not a number", sanitize(&*text));
                return Err(Error::input(Code::S007, text));
            };
            vertex.floats[axis] = float;
            vertex.doubles[axis] = double;
        }
        push(&mut object.vertices, vertex, self.indexed)
    }

    fn triangle(&mut self, element: &XmlElement) -> Result<()> {
        const NAMES: [&str; 9] = [
            "v1",
            "v2",
            "v3",
            "pid",
            "p1",
            "p2",
            "p3",
            "slic3rpe:mmu_segmentation",
            "paint_color",
        ];
        let Some((_, object)) = &mut self.object else {
            return Ok(());
        };
        let texts = element.texts(NAMES)?;
        let number = |n: usize| match &texts[n] {
            Some(text) => element.number(NAMES[n], text).map(Some),
            None => Ok(None),
        };
        let mut corners = [0; 3];
        for (n, corner) in corners.iter_mut().enumerate() {
            let number =
                number(n)?.ok_or_else(|| element.bad(&format!("it has no {}", NAMES[n])))?;
            // Numbers of vertices that do not exist are found later, when all vertices are known.
            *corner = u32::try_from(number).unwrap_or(u32::MAX);
        }
        let material = match (number(3)?, number(4)?) {
            (group, Some(a)) => {
                let b = number(5)?.unwrap_or(a);
                let c = number(6)?.unwrap_or(a);
                group
                    .or(object.material.map(|[group, ..]| group))
                    .map(|group| [group, a, b, c])
            }
            (Some(group), None) => Some([group, 0, 0, 0]),
            (None, None) => object.material,
        };
        let is_painted = texts[7..].iter().flatten().any(|text| !text.is_empty());
        self.model.painted += u64::from(is_painted);
        if object
            .materials
            .last()
            .is_none_or(|(_, last)| *last != material)
        {
            let begin = object.triangles.len() as u64;
            push(&mut object.materials, (begin, material), self.indexed)?;
        }
        push(&mut object.triangles, corners, self.indexed)
    }

    fn end_object(&mut self) -> Result<()> {
        let Some((id, mut object)) = self.object.take() else {
            return Ok(());
        };
        object.drop_unused_vertices();
        match self.model.objects.insert(id, object) {
            None => Ok(()),
            Some(_) => Err(Error::input(
                Code::S006,
                format!("two objects have the id {id}"),
            )),
        }
    }

    /// Counts memory, and registers it with the limit from time to time.
    fn took(&mut self, bytes: u64) -> Result<()> {
        self.bytes += bytes;
        if self.bytes < 1 << 16 {
            Ok(())
        } else {
            self.indexed.hold(std::mem::take(&mut self.bytes))
        }
    }
}

/// Fails if the root element is not a model.
fn check_root(element: &XmlElement) -> Result<()> {
    if element.is_core("model") {
        return Ok(());
    }
    let text = match element.namespace {
        Some(namespace) if element.local == "model" => {
            format!(
                "the model has the unknown namespace '{}'",
                sanitize(namespace)
            )
        }
        _ => format!("not a model: its root is <{}>", sanitize(element.local)),
    };
    Err(Error::input(Code::S006, text))
}

/// Reads the start tag of an object.
fn object(element: &XmlElement) -> Result<(u64, ModelObject)> {
    let kind = element.text("type")?;
    let group = element.whole("pid")?;
    let place = element.whole("pindex")?.unwrap_or(0);
    let object = ModelObject {
        name: element.text("name")?.unwrap_or_default().into(),
        kind: VolumeKind::of_object(kind.as_deref()),
        material: group.map(|group| [group, place, place, place]),
        ..ModelObject::default()
    };
    Ok((element.needed("id")?, object))
}

/// Parses the 12 numbers of a matrix.
fn transform(text: &str) -> Option<Affine> {
    let mut numbers = [0.0; 12];
    let mut words = text.split_ascii_whitespace();
    for number in &mut numbers {
        let value: f64 = words.next()?.parse().ok()?;
        if !value.is_finite() {
            return None;
        }
        *number = value;
    }
    // The matrix of the file is the transpose of the map's matrix.
    let map = Affine([0, 1, 2].map(|row| [0, 3, 6, 9].map(|column| numbers[column + row])));
    words.next().is_none().then_some(map)
}

impl ModelObject {
    /// Drops vertices that no triangle uses, if they are the majority. Otherwise they would be transformed
    /// each time the object is placed, which may be many times.
    fn drop_unused_vertices(&mut self) {
        if self.vertices.len() <= 3 * self.triangles.len() {
            return;
        }
        let mut places = HashMap::new();
        let mut kept = vec![];
        for corner in self.triangles.as_flattened_mut() {
            // The number of a vertex that does not exist is unchanged, so it stays larger than all existing
            // numbers.
            let Some(vertex) = self.vertices.get(*corner as usize) else {
                continue;
            };
            *corner = *places.entry(*corner).or_insert_with(|| {
                kept.push(*vertex);
                kept.len() as u32 - 1
            });
        }
        self.vertices = kept;
    }
}

impl PackageModel {
    /// Returns the map from the coordinates of this model to coordinates in the unit of another model. `None`
    /// if both have the same unit.
    pub(super) fn scale_to(&self, other: &Self) -> Option<Affine> {
        if self.unit == other.unit {
            return None;
        }
        let factor: Rational = &self.unit.millimetres() / &other.unit.millimetres();
        let factor = factor.to_f64();
        let mut map = Affine::IDENTITY;
        for (axis, row) in map.0.iter_mut().enumerate() {
            row[axis] = factor;
        }
        Some(map)
    }
}

/// Adds an item to a list, and registers its memory with the limit.
fn push<T>(list: &mut Vec<T>, item: T, indexed: &mut Indexed) -> Result<()> {
    if list.len() == list.capacity() {
        let more = list.capacity().max(64);
        // When the list grows, the old and the new memory exist at the same time.
        let bytes = (more * size_of::<T>()) as u64;
        indexed.admit(2 * bytes)?;
        list.try_reserve_exact(more)
            .map_err(|_| Error::too_large("more vertices than the system provides memory for"))?;
        indexed.hold(bytes)?;
    }
    list.push(item);
    Ok(())
}
