//! 3MF: a zip of models in XML.
//!
//! | element | |
//! |---|---|
//! | `model` | its `unit`; what it requires by `requiredextensions` must be known |
//! | `object` | a mesh or components; those of type `support`, `solidsupport` and `other` are left out, and noted |
//! | `vertex`, `triangle` | of a mesh, by numbers that count from 0 |
//! | `component` | another object, placed by `transform`; `path` names its part (production extension) |
//! | `build`, `item` | the objects of the mesh, each placed by `transform` |
//! | `basematerials`, `colorgroup` | names of materials, or their colours as `#RRGGBB`, for `pid` and `pindex`, `p1` |
//!
//! Each mesh of an item is a part. z is up. Matrices are multiplied as doubles, and a vertex is rounded once, for all
//! triangles of its object; where nothing is placed its decimals are. Where a matrix mirrors, triangles turn the other way.
//!
//! The format: 3MF Consortium, Core Specification 1.3, Production Extension 1.1, Materials and Properties Extension 1.2.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};
use quick_xml::{NsReader, XmlVersion};
use zip::ZipArchive;

use super::affine::Affine;
use super::indexed::{FilePosition, Indexed};
use super::number;
use super::source::{Head, MeshBytes};
use super::triage::Triage;
use super::{Content, Guess, InputFormat, ReadOptions};
use crate::error::{Code, Error, Result, sanitize};
use crate::geom::Point;
use crate::mesh::{UnitOfLength, UpAxis};
use crate::par::Progress;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "3mf",
    extensions: &["3mf"],
    about: "3MF: items of a build with their components; z is up",
    states_unit: true,
    recognise,
    read,
};

const CORE: &str = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02";
const MATERIALS: &str = "http://schemas.microsoft.com/3dmanufacturing/material/2015/02";

/// What a model may require: these do not change its triangles, or are read.
const KNOWN: &[&str] = &[
    MATERIALS,
    "http://schemas.microsoft.com/3dmanufacturing/production/2015/06",
    "http://schemas.microsoft.com/3dmanufacturing/slice/2015/07",
    "http://schemas.microsoft.com/3dmanufacturing/trianglesets/2021/07",
];

/// The part of a package that has the build, unless its relations name another.
const START: &str = "3D/3dmodel.model";

/// Components may lie in components so deep.
const MAX_DEPTH: usize = 32;

/// So many objects may be placed.
const MAX_PLACED: u64 = 1 << 20;

/// A piece of XML, from one bracket to the next, may have so many bytes.
const MAX_TOKEN: usize = 1 << 20;

fn recognise(head: &Head) -> Guess {
    let name = head.bytes.get(30..).unwrap_or_default();
    let begins = ["[Content_Types].xml", "_rels/", "3D/", "Metadata/", "Thumbnails/"];
    let is_package = begins.iter().any(|begin| name.starts_with(begin.as_bytes()));
    if head.bytes.starts_with(b"PK\x03\x04") && is_package { Guess::Sure } else { Guess::No }
}

fn read(source: MeshBytes, options: &ReadOptions, triage: &Triage) -> Result<Content> {
    let file = source.into_bytes(options.max_memory, options.progress)?;
    let mut indexed = Indexed::new(options.max_memory, triage, 0).numbered(options.vertex_numbers);
    indexed.hold(file.len() as u64)?;
    let archive = ZipArchive::new(Cursor::new(&file[..])).map_err(|error| {
        Error::input(Code::S006, format!("the zip of the 3MF is broken: {}", sanitize(error.to_string())))
    })?;
    let mut package = Package { archive, models: HashMap::new(), progress: options.progress };
    let start = package.start()?;
    package.load(&start, &mut indexed)?;
    let model = &package.models[&start];
    let unit = model.unit;
    let items = model.items.clone();
    Placing { package: &mut package, indexed: &mut indexed, triage, placed: 0 }.all(&start, items)?;
    Ok(Content {
        mesh: indexed.into_mesh()?,
        bytes: file.len() as u64,
        unit: Some(unit),
        up: Some(UpAxis::Z),
    })
}

/// The parts of a package, each read when it is first named.
struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    models: HashMap<String, PackageModel>,
    progress: &'a dyn Progress,
}

/// What a part of a package says.
struct PackageModel {
    unit: UnitOfLength,
    objects: HashMap<u64, ModelObject>,
    /// Names of materials by group.
    groups: HashMap<u64, Vec<PackageMaterial>>,
    items: Vec<PlacedObject>,
}

#[derive(Default)]
struct ModelObject {
    name: String,
    is_left_out: bool,
    vertices: Vec<Vertex>,
    triangles: Vec<[u32; 3]>,
    /// Where runs of triangles of one material begin, and its group and place in that.
    materials: Vec<(u64, Option<[u64; 4]>)>,
    /// The material of triangles that name none.
    material: Option<[u64; 4]>,
    components: Vec<PlacedObject>,
}

/// A vertex as its decimals say: the nearest floats, and the nearest doubles for what a matrix makes of it.
#[derive(Clone, Copy)]
struct Vertex {
    floats: Point,
    doubles: [f64; 3],
}

/// A material, or a colour.
struct PackageMaterial {
    name: String,
    colour: Option<[u8; 3]>,
}

/// An object at its place.
#[derive(Clone)]
struct PlacedObject {
    object: u64,
    /// The part of the package that has it, if that is another.
    path: Option<String>,
    map: Option<Affine>,
}

impl Package<'_> {
    /// The part with the build.
    fn start(&mut self) -> Result<String> {
        let kind = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel";
        let mut target = None;
        let relations = "_rels/.rels".to_string();
        if self.archive.index_for_name(&relations).is_some() {
            self.each_element(&relations, |element| {
                if element.local == "Relationship" && element.text("Type")?.as_deref() == Some(kind) {
                    target = element.text("Target")?;
                }
                Ok(())
            })?;
        }
        let start = target.map_or_else(|| START.to_string(), |target| in_package(&target));
        match self.archive.index_for_name(&start) {
            Some(_) => Ok(start),
            None => {
                let error =
                    Error::input(Code::S002, format!("a zip that is no 3MF: it has no {}", sanitize(&start)));
                Err(error.with_hint("a mesh is expected"))
            }
        }
    }

    /// Reads a part, if it was not read.
    fn load(&mut self, path: &str, indexed: &mut Indexed) -> Result<()> {
        if self.models.contains_key(path) {
            return Ok(());
        }
        let mut reading = ModelReader {
            model: PackageModel {
                unit: UnitOfLength::Millimetre,
                objects: HashMap::new(),
                groups: HashMap::new(),
                items: vec![],
            },
            indexed,
            object: None,
            group: None,
            strings: 0,
        };
        self.each_element(path, |element| reading.element(element))?;
        reading.end_object()?;
        let model = reading.model;
        self.models.insert(path.to_string(), model);
        Ok(())
    }

    /// Calls `take` for every element of a part.
    fn each_element(&mut self, path: &str, mut take: impl FnMut(&XmlElement) -> Result<()>) -> Result<()> {
        let broken = |text: String| Error::input(Code::S006, sanitize(text)).about(path);
        let entry = self.archive.by_name(path).map_err(|error| broken(error.to_string()))?;
        let length = Rc::new(Cell::new(0));
        let mut reader =
            NsReader::from_reader(XmlBytes { reader: BufReader::new(entry), length: Rc::clone(&length) });
        let mut buffer = vec![];
        let mut depth = 0_u64;
        for n in 0_u64.. {
            if n % 4096 == 0 {
                self.progress.check()?;
            }
            buffer.clear();
            length.set(0);
            let at = reader.buffer_position();
            let (namespace, event) = reader
                .read_resolved_event_into(&mut buffer)
                .map_err(|error| broken(error.to_string()).at_byte(at))?;
            let element = match event {
                Event::Start(element) => {
                    depth += 1;
                    element
                }
                Event::Empty(element) => element,
                Event::End(_) => {
                    depth = depth.saturating_sub(1);
                    continue;
                }
                Event::DocType(_) => {
                    return Err(broken("a document type, which 3MF forbids".into()).at_byte(at));
                }
                Event::Eof if depth > 0 => {
                    return Err(Error::input(Code::S003, "cut short: elements do not end").about(path));
                }
                Event::Eof => return Ok(()),
                _ => continue,
            };
            let namespace = match namespace {
                ResolveResult::Bound(Namespace(name)) => Some(name),
                _ => None,
            };
            let resolver = |prefix: &str| namespace_of(&element, prefix);
            let found = XmlElement {
                local: element.local_name().into_inner(),
                namespace,
                start: &element,
                resolver: &resolver,
            };
            take(&found).map_err(|error| error.about(path).at_byte(at))?;
        }
        Ok(())
    }
}

/// The namespace that an element itself binds to a prefix.
fn namespace_of(element: &BytesStart, prefix: &str) -> Option<String> {
    let bound = element.attributes().flatten().find(|attribute| attribute.key.0 == format!("xmlns:{prefix}"));
    bound.map(|attribute| attribute.value.into_owned())
}

/// A name in a package, from its root.
fn in_package(name: &str) -> String {
    name.trim_start_matches('/').to_string()
}

/// An element of XML.
struct XmlElement<'a> {
    local: &'a str,
    namespace: Option<&'a str>,
    start: &'a BytesStart<'a>,
    resolver: &'a dyn Fn(&str) -> Option<String>,
}

impl XmlElement<'_> {
    /// An attribute, whatever its prefix.
    fn text(&self, name: &str) -> Result<Option<String>> {
        for attribute in self.start.attributes() {
            let attribute = attribute.map_err(|error| self.bad(&error.to_string()))?;
            if attribute.key.local_name().into_inner() == name && !attribute.key.0.starts_with("xmlns") {
                let value = attribute.normalized_value(XmlVersion::Implicit1_0);
                let value = value.map_err(|error| self.bad(&error.to_string()))?;
                return Ok(Some(value.into_owned()));
            }
        }
        Ok(None)
    }

    /// Attributes without a prefix, by one look at all of them; of many elements these are most of the work.
    fn texts<const N: usize>(&self, names: [&str; N]) -> Result<[Option<Cow<'_, str>>; N]> {
        let mut found = [const { None }; N];
        for attribute in self.start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| self.bad(&error.to_string()))?;
            let Some(n) = names.iter().position(|name| *name == attribute.key.0) else { continue };
            let is_plain =
                !attribute.value.bytes().any(|byte| matches!(byte, b'&' | b'<' | b'\t' | b'\n' | b'\r'));
            let value = match attribute.value {
                value if is_plain => value,
                _ => {
                    let value = attribute.normalized_value(XmlVersion::Implicit1_0);
                    Cow::Owned(value.map_err(|error| self.bad(&error.to_string()))?.into_owned())
                }
            };
            if found[n].replace(value).is_some() {
                return Err(self.bad(&format!("it has {} twice", names[n])));
            }
        }
        Ok(found)
    }

    /// The whole number in this text of an attribute.
    fn number(&self, name: &str, text: &str) -> Result<u64> {
        text.trim().parse().map_err(|_| {
            let text = sanitize(text);
            Error::input(
                Code::S007,
                format!("<{}>: {name} is '{text}', no whole number", sanitize(self.local)),
            )
        })
    }

    fn bad(&self, what: &str) -> Error {
        Error::input(Code::S006, format!("<{}>: {}", sanitize(self.local), sanitize(what)))
    }

    fn whole(&self, name: &str) -> Result<Option<u64>> {
        self.text(name)?.map(|text| self.number(name, &text)).transpose()
    }

    fn needed(&self, name: &str) -> Result<u64> {
        self.whole(name)?.ok_or_else(|| self.bad(&format!("it has no {name}")))
    }

    fn is(&self, namespace: &str, local: &str) -> bool {
        // Some write no namespace at all.
        self.local == local && self.namespace.is_none_or(|name| name == namespace)
    }

    /// The object at its place that it names.
    fn placed(&self) -> Result<PlacedObject> {
        let map = self.text("transform")?.map(|text| {
            let numbers: Option<Vec<f64>> = text
                .split_ascii_whitespace()
                .map(|word| word.parse().ok().filter(|n: &f64| n.is_finite()))
                .collect();
            let numbers = numbers.and_then(|numbers| <[f64; 12]>::try_from(numbers).ok());
            numbers.ok_or_else(|| self.bad(&format!("its transform is not 12 numbers: {text}")))
        });
        // Rows of the file are columns of the map.
        let map =
            map.transpose()?.map(|m| Affine([0, 1, 2].map(|row| [0, 3, 6, 9].map(|column| m[column + row]))));
        let path = self.text("path")?.map(|path| in_package(&path));
        Ok(PlacedObject { object: self.needed("objectid")?, path, map })
    }
}

/// Elements on their way to a model.
struct ModelReader<'a, 'b> {
    model: PackageModel,
    indexed: &'a mut Indexed<'b>,
    object: Option<(u64, ModelObject)>,
    group: Option<u64>,
    /// The bytes of names and of objects placed since the memory was last asked for.
    strings: u64,
}

impl ModelReader<'_, '_> {
    fn element(&mut self, element: &XmlElement) -> Result<()> {
        let core = |local: &str| element.is(CORE, local);
        let material = |local: &str| element.is(MATERIALS, local);
        if core("vertex") {
            self.vertex(element)
        } else if core("triangle") {
            self.triangle(element)
        } else if core("object") {
            self.end_object()?;
            self.object = Some(object(element)?);
            self.took(256)
        } else if core("component") {
            let placed = element.placed()?;
            if let Some((_, object)) = &mut self.object {
                object.components.push(placed);
            }
            self.took(2 * size_of::<PlacedObject>() as u64)
        } else if core("item") {
            self.end_object()?;
            self.model.items.push(element.placed()?);
            self.took(2 * size_of::<PlacedObject>() as u64)
        } else if core("model") {
            self.begin_model(element)
        } else if core("basematerials") || material("colorgroup") {
            self.group = Some(element.needed("id")?);
            Ok(())
        } else if core("base") {
            self.name(element.text("name")?, element.text("displaycolor")?)
        } else if material("color") {
            let color = element.text("color")?;
            // Without its opacity.
            self.name(color.as_ref().map(|color| color.chars().take(7).collect()), color)
        } else {
            Ok(())
        }
    }

    fn begin_model(&mut self, element: &XmlElement) -> Result<()> {
        self.model.unit = match element.text("unit")?.as_deref() {
            Some("micron") => UnitOfLength::Micrometre,
            Some("centimeter") => UnitOfLength::Centimetre,
            Some("inch") => UnitOfLength::Inch,
            Some("foot") => UnitOfLength::Foot,
            Some("meter") => UnitOfLength::Metre,
            Some("millimeter") | None => UnitOfLength::Millimetre,
            Some(other) => return Err(element.bad(&format!("its unit is '{other}'"))),
        };
        for prefix in element.text("requiredextensions")?.unwrap_or_default().split_ascii_whitespace() {
            let name = (element.resolver)(prefix).unwrap_or_else(|| prefix.to_string());
            if !KNOWN.contains(&name.as_str()) {
                // The last word of a name such as …/beamlattice/2017/02.
                let is_word = |part: &&str| part.starts_with(|c: char| c.is_ascii_alphabetic());
                let last = name.rsplit('/').find(is_word).unwrap_or(&name);
                let text = format!("the 3MF extension '{}' is not supported", sanitize(last));
                return Err(Error::input(Code::S009, text).with_hint("export it without, or binary STL"));
            }
        }
        Ok(())
    }

    /// Adds a name and a colour to the group of materials.
    fn name(&mut self, name: Option<String>, color: Option<String>) -> Result<()> {
        let colour = color.and_then(|color| {
            let bits = u32::from_str_radix(color.strip_prefix('#')?.get(..6)?, 16).ok()?;
            Some([16, 8, 0].map(|shift| (bits >> shift) as u8))
        });
        let name = name.unwrap_or_default();
        let bytes = 2 * (name.len() + size_of::<String>() + 4) as u64;
        if let Some(group) = self.group {
            self.model.groups.entry(group).or_default().push(PackageMaterial { name, colour });
        }
        self.took(bytes)
    }

    fn vertex(&mut self, element: &XmlElement) -> Result<()> {
        let Some((_, object)) = &mut self.object else { return Ok(()) };
        let mut vertex = Vertex { floats: [0.0; 3], doubles: [0.0; 3] };
        const NAMES: [&str; 3] = ["x", "y", "z"];
        for (axis, (name, text)) in NAMES.into_iter().zip(element.texts(NAMES)?).enumerate() {
            let text = text.unwrap_or_default();
            let word = text.trim();
            let numbers = number::of(word.as_bytes()).zip(word.parse().ok());
            let Some((float, double)) = numbers else {
                let text = format!("<vertex>: {name} is '{}', no number", sanitize(&*text));
                return Err(Error::input(Code::S007, text));
            };
            (vertex.floats[axis], vertex.doubles[axis]) = (float, double);
        }
        push(&mut object.vertices, vertex, self.indexed)
    }

    fn triangle(&mut self, element: &XmlElement) -> Result<()> {
        let Some((_, object)) = &mut self.object else { return Ok(()) };
        const NAMES: [&str; 7] = ["v1", "v2", "v3", "pid", "p1", "p2", "p3"];
        let texts = element.texts(NAMES)?;
        let number = |n: usize| texts[n].as_ref().map(|text| element.number(NAMES[n], text)).transpose();
        let mut corners = [0; 3];
        for (n, corner) in corners.iter_mut().enumerate() {
            let number = number(n)?.ok_or_else(|| element.bad(&format!("it has no {}", NAMES[n])))?;
            // What is beyond all vertices is found when these are known.
            *corner = u32::try_from(number).unwrap_or(u32::MAX);
        }
        let material = match (number(3)?, number(4)?) {
            (group, Some(a)) => {
                let (b, c) = (number(5)?.unwrap_or(a), number(6)?.unwrap_or(a));
                group.or(object.material.map(|[group, ..]| group)).map(|group| [group, a, b, c])
            }
            (Some(group), None) => Some([group, 0, 0, 0]),
            (None, None) => object.material,
        };
        if object.materials.last().is_none_or(|(_, last)| *last != material) {
            let begin = object.triangles.len() as u64;
            push(&mut object.materials, (begin, material), self.indexed)?;
        }
        push(&mut object.triangles, corners, self.indexed)
    }

    fn end_object(&mut self) -> Result<()> {
        let Some((id, object)) = self.object.take() else { return Ok(()) };
        match self.model.objects.insert(id, object) {
            None => Ok(()),
            Some(_) => Err(Error::input(Code::S006, format!("two objects have the id {id}"))),
        }
    }

    /// Knows of memory that was taken; asks for it from time to time.
    fn took(&mut self, bytes: u64) -> Result<()> {
        self.strings += bytes;
        if self.strings < 1 << 16 { Ok(()) } else { self.indexed.hold(std::mem::take(&mut self.strings)) }
    }
}

/// The object that an element begins.
fn object(element: &XmlElement) -> Result<(u64, ModelObject)> {
    let kind = element.text("type")?;
    let group = element.whole("pid")?;
    let place = element.whole("pindex")?.unwrap_or(0);
    let object = ModelObject {
        name: element.text("name")?.unwrap_or_default(),
        is_left_out: matches!(kind.as_deref(), Some("support" | "solidsupport" | "other")),
        material: group.map(|group| [group, place, place, place]),
        ..ModelObject::default()
    };
    Ok((element.needed("id")?, object))
}

/// Adds to a list, whose memory is asked for.
fn push<T>(list: &mut Vec<T>, item: T, indexed: &mut Indexed) -> Result<()> {
    if list.len() == list.capacity() {
        let more = list.capacity().max(64);
        // While they move, both are there.
        let bytes = (more * size_of::<T>()) as u64;
        indexed.admit(2 * bytes)?;
        list.try_reserve_exact(more)
            .map_err(|_| Error::too_large("more vertices than the system provides memory for"))?;
        indexed.hold(bytes)?;
    }
    list.push(item);
    Ok(())
}

/// Objects on their way to triangles.
struct Placing<'a, 'b, 'c> {
    package: &'a mut Package<'c>,
    indexed: &'a mut Indexed<'b>,
    triage: &'a Triage,
    placed: u64,
}

/// An object that is to be placed, in a part of the package, with the name and the map of what holds it.
struct Placement {
    path: Rc<str>,
    object: u64,
    name: String,
    map: Option<Affine>,
    depth: usize,
}

impl Placing<'_, '_, '_> {
    /// Adds all items of a part.
    fn all(mut self, start: &str, items: Vec<PlacedObject>) -> Result<()> {
        let root: Rc<str> = start.into();
        let outer = Placement { path: root, object: 0, name: String::new(), map: None, depth: 0 };
        let mut tasks: Vec<Placement> =
            items.iter().rev().map(|item| outer.inner(item, String::new())).collect();
        let mut left_out = HashSet::new();
        while let Some(task) = tasks.pop() {
            self.package.progress.check()?;
            self.placed += 1;
            if task.depth > MAX_DEPTH || self.placed > MAX_PLACED {
                let what = if task.depth > MAX_DEPTH {
                    "components lie too deep, or in a circle"
                } else {
                    "more than a million components"
                };
                return Err(
                    Error::input(Code::S006, format!("object {}: {what}", task.object)).about(&task.path)
                );
            }
            self.package.load(&task.path, self.indexed)?;
            let model = &self.package.models[&*task.path];
            let Some(object) = model.objects.get(&task.object) else {
                let text = format!("object {} is not there: there are {}", task.object, model.objects.len());
                return Err(Error::input(Code::S012, text).about(&task.path));
            };
            if object.is_left_out {
                if left_out.insert((Rc::clone(&task.path), task.object)) {
                    let text = format!("object {}: supports are left out", task.object);
                    self.triage.found_all(Code::S109, 1, || {
                        Error::input(Code::S109, text.clone()).about(&task.path)
                    })?;
                }
                continue;
            }
            let name = if object.name.is_empty() { task.name.clone() } else { object.name.clone() };
            tasks.extend(object.components.iter().rev().map(|component| task.inner(component, name.clone())));
            if !object.triangles.is_empty() {
                add(object, model, &task, name, self.indexed)?;
            }
        }
        Ok(())
    }
}

impl Placement {
    /// An object that this one places.
    fn inner(&self, placed: &PlacedObject, name: String) -> Self {
        let map = match (self.map, placed.map) {
            (Some(outer), Some(inner)) => Some(outer.after(&inner)),
            (outer, inner) => outer.or(inner),
        };
        let path = placed.path.as_deref().map_or_else(|| Rc::clone(&self.path), Rc::from);
        Self { path, object: placed.object, name, map, depth: self.depth + 1 }
    }
}

/// Adds the triangles of an object.
fn add(
    object: &ModelObject,
    model: &PackageModel,
    task: &Placement,
    name: String,
    indexed: &mut Indexed,
) -> Result<()> {
    let about = format!("{}: object {}", task.path, task.object);
    let is_mirror = task.map.is_some_and(|map| map.is_mirror());
    indexed.begin_instance(name)?;
    indexed.begin_vertices();
    for vertex in &object.vertices {
        let point = task.map.map_or(vertex.floats, |map| map.apply(vertex.doubles));
        indexed.vertex(point, FilePosition::Of(&about))?;
    }
    let mut runs = object.materials.iter().peekable();
    let mut colours = None;
    for (n, &[a, b, c]) in object.triangles.iter().enumerate() {
        if let Some((_, material)) = runs.next_if(|(begin, _)| *begin == n as u64) {
            let at = |[group, place]: [u64; 2]| model.groups.get(&group)?.get(usize::try_from(place).ok()?);
            let name = material.and_then(|[group, place, ..]| at([group, place]));
            indexed.begin_material(name.map(|material| material.name.clone()).unwrap_or_default())?;
            colours = material.and_then(|[group, a, b, c]| {
                let colour = |place| at([group, place]).and_then(|material| material.colour);
                Some([colour(a)?, colour(b)?, colour(c)?])
            });
        }
        let corners = if is_mirror { [a, c, b] } else { [a, b, c] };
        if let Some([a, b, c]) = colours {
            indexed.colour_next(if is_mirror { [a, c, b] } else { [a, b, c] });
        }
        indexed.triangle(corners.map(i64::from), FilePosition::Of(&about))?;
    }
    Ok(())
}

/// Bytes of XML, which refuse a piece without end.
struct XmlBytes<R> {
    reader: BufReader<R>,
    /// The bytes since the piece began.
    length: Rc<Cell<usize>>,
}

impl<R: Read> Read for XmlBytes<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.reader.read(bytes)
    }
}

impl<R: Read> BufRead for XmlBytes<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.length.get() > MAX_TOKEN {
            return Err(std::io::Error::other(format!("a piece of XML of over {MAX_TOKEN} bytes")));
        }
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.length.set(self.length.get() + count);
        self.reader.consume(count);
    }
}
