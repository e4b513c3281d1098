//! Reader of PLY, the format of Stanford's scans, as text and as binary data in both byte orders.
//!
//! ```text
//! ply
//! format ascii 1.0                       (or binary_little_endian, binary_big_endian)
//! comment …, obj_info …
//! element vertex 8
//! property float x                       (any type; red, green, blue or r, g, b are a colour, others are skipped)
//! element face 6
//! property list uchar int vertex_indices (or vertex_index; any types)
//! element tristrips 1                    (strips of triangles; −1 begins another)
//! property list int int vertex_indices
//! end_header
//! ```
//!
//! The file lists its elements in the order of the header. The properties of an element are also in the order
//! of the header. In text, the properties of an element are words on one line. In binary files, they are
//! bytes without separators. Vertices are numbered from 0, and polygons may come before their vertices.
//! Elements of other kinds are skipped. Faces are cut into triangles (`polygon.rs`). Every second triangle of
//! a strip has the opposite orientation. A triangle of a strip with two equal vertices only connects strips
//! and is left out.
//!
//! Pictures are named by `comment TextureFile NAME`. The positions of corners in a picture are s and t of the
//! vertices, or the list `texcoord` of the faces, whose `texnumber` selects the picture. Lines of the header
//! end in LF, CRLF or CR.
//!
//! Source: Greg Turk, The PLY Polygon File Format, 1994.

use std::io::Read;

use super::indexed::{FilePosition, Indexed, no_number};
use super::lines::{Lines, next_word, split_word, whole};
use super::materials::{read_first, ways};
use super::number;
use super::picture;
use super::shares::{ColourRange, WrittenColour};
use super::source::{Head, MeshBytes, MeshFolder, fill};
use super::triage::Triage;
use super::window::Window;
use super::{Content, Guess, InputFormat, ReadOptions};
use crate::TextureWrap;
use crate::colours::channel;
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::geom::Point;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "ply",
    extensions: &["ply"],
    about: "PLY, text and binary: polygons and strips of triangles",
    states_unit: false,
    has_decimals: true,
    recognise,
    read,
};

/// Maximum size of a header in bytes.
const MAX_HEADER: usize = 1 << 20;

/// Number of bytes that are read at a time.
const BLOCK: usize = 256 << 10;

fn recognise(head: &Head) -> Guess {
    let is_it = [&b"ply\n"[..], b"ply\r", b"ply "]
        .iter()
        .any(|magic| head.bytes.starts_with(magic));
    if is_it { Guess::Sure } else { Guess::No }
}

/// Number type of a property.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn of(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// Property of an element: one number or a list of numbers.
struct Property {
    name: Vec<u8>,
    /// Number type of the length of a list. `None` if the property is a single number.
    list: Option<Scalar>,
    scalar: Scalar,
    /// Axis of a coordinate. `None` unless the property is x, y or z.
    axis: Option<usize>,
    /// Channel of a colour. `None` unless the property is red, green or blue.
    channel: Option<usize>,
    /// Axis of a texture coordinate: 0 for u (to the right), 1 for v (upwards). `None` for other properties.
    texture: Option<usize>,
}

impl Property {
    fn new(name: &[u8], list: Option<Scalar>, scalar: Scalar) -> Self {
        let plain = name.strip_prefix(b"diffuse_").unwrap_or(name);
        let names = [[&b"red"[..], b"r"], [b"green", b"g"], [b"blue", b"b"]];
        let channel = names.iter().position(|names| names.contains(&plain));
        let axis = [&b"x"[..], b"y", b"z"]
            .iter()
            .position(|axis| *axis == name);
        let names = [
            [&b"s"[..], b"u", b"texture_u", b"texture_s"],
            [b"t", b"v", b"texture_v", b"texture_t"],
        ];
        let texture = names.iter().position(|names| names.contains(&name));
        Self {
            name: name.to_vec(),
            list,
            scalar,
            axis,
            channel,
            texture,
        }
    }
}

struct Element {
    name: Vec<u8>,
    count: u64,
    properties: Vec<Property>,
}

impl Element {
    /// Returns the minimum length of an element in bytes, with all lists empty.
    fn least_bytes(&self) -> u64 {
        self.properties
            .iter()
            .map(|property| property.list.unwrap_or(property.scalar).size() as u64)
            .sum()
    }

    /// Returns whether the elements have coordinates in doubles.
    fn has_doubles(&self) -> bool {
        let is_double =
            |property: &Property| property.axis.is_some() && property.scalar == Scalar::F64;
        self.kind() == ElementKind::Vertex && self.properties.iter().any(is_double)
    }

    fn kind(&self) -> ElementKind {
        match &self.name[..] {
            b"vertex" => ElementKind::Vertex,
            b"face" => ElementKind::Face,
            b"tristrips" => ElementKind::Strips,
            _ => ElementKind::Other,
        }
    }

    /// Returns the index of the property that lists the corners of a face. It is found by its name, or it is
    /// the only list and has integers.
    fn corners(&self) -> Option<usize> {
        let named = self.properties.iter().position(|property| {
            property.list.is_some()
                && matches!(&property.name[..], b"vertex_indices" | b"vertex_index")
        });
        if named.is_some() {
            return named;
        }
        let lists = self
            .properties
            .iter()
            .filter(|property| property.list.is_some());
        if lists.count() != 1 {
            return None;
        }
        self.properties.iter().position(|property| {
            property.list.is_some() && !matches!(property.scalar, Scalar::F32 | Scalar::F64)
        })
    }

    /// Returns the element type if the only property is a list whose length is stored in one byte.
    fn short_list(&self) -> Option<Scalar> {
        match &self.properties[..] {
            [
                Property {
                    list: Some(Scalar::U8),
                    scalar,
                    ..
                },
            ] => Some(*scalar),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PlyForm {
    Text,
    Little,
    Big,
}

fn read(source: MeshBytes, options: &ReadOptions, triage: &Triage) -> Result<Content> {
    let whole = source.length();
    let folder = source.folder();
    let mut reader = source.into_reader();
    let PlyHeader {
        form,
        elements,
        pictures,
        bytes: length,
        lines,
    } = header(&mut reader)?;
    let mut indexed = Indexed::new(options.max_memory, triage, 0)
        .numbered(options.vertex_numbers)
        .heard_by(options.progress);
    let wanted = if options.textures { &pictures[..] } else { &[] };
    let is_placed = elements
        .iter()
        .flat_map(|element| &element.properties)
        .any(|property| property.texture.is_some() || property.name == b"texcoord");
    indexed.set_unread_picture(is_placed && wanted.len() < pictures.len())?;
    let mut pictures = PlyPictures::read(wanted, folder, &mut indexed)?;
    let bytes = if form == PlyForm::Text {
        let mut values = TextValues {
            lines: Lines::new(reader, options.progress),
            before: lines,
            at: 0,
        };
        read_elements(&elements, &mut values, &mut indexed, &mut pictures, triage)?;
        length + values.lines.bytes()
    } else {
        if !elements.iter().any(Element::has_doubles) {
            triage.place_plainly();
        }
        // Reserves memory for at most the elements that fit into the file, because the counts of the header
        // may be wrong.
        let most = whole.unwrap_or(0).saturating_sub(length);
        let expected = |name: &[u8], least: u64| {
            let of = elements.iter().filter(|element| element.name == name);
            of.map(|element| element.count.min(most / element.least_bytes().max(least)))
                .max()
                .unwrap_or(0)
        };
        indexed.expect(expected(b"vertex", 3), expected(b"face", 6))?;
        let mut values = ByteValues {
            window: Window::new(reader, BLOCK, length, options.progress),
            is_big: form == PlyForm::Big,
            element: length,
        };
        read_elements(&elements, &mut values, &mut indexed, &mut pictures, triage)?;
        values.window.bytes()
    };
    let unread_pictures = indexed.take_unread_pictures()?;
    Ok(Content {
        unread_pictures,
        ..Content::new(indexed.into_mesh()?, bytes)
    })
}

/// Content of the header.
struct PlyHeader {
    form: PlyForm,
    elements: Vec<Element>,
    /// File names of pictures, each with the number of its line.
    pictures: Vec<(String, u64)>,
    bytes: u64,
    lines: u64,
}

/// Reads a header.
fn header(reader: &mut impl Read) -> Result<PlyHeader> {
    let mut order = None;
    let mut elements: Vec<Element> = vec![];
    let mut pictures = vec![];
    let mut lines = HeaderLines {
        reader,
        line: vec![],
        ahead: None,
        ends_in_cr: false,
        bytes: 0,
    };
    for at in 1_u64.. {
        lines.advance(at)?;
        let mut rest = &lines.line[..];
        let mut next = || {
            let (word, following) = split_word(rest);
            rest = following;
            word
        };
        let bad =
            |what: &str| Error::input(Code::S006, format!("a header of PLY: {what}")).at_line(at);
        match next() {
            b"comment" if next().eq_ignore_ascii_case(b"TextureFile") => {
                pictures.push((String::from_utf8_lossy(rest.trim_ascii()).into_owned(), at));
            }
            b"ply" | b"comment" | b"obj_info" | b"" => {}
            b"format" => {
                order = Some(match next() {
                    b"ascii" => PlyForm::Text,
                    b"binary_little_endian" => PlyForm::Little,
                    b"binary_big_endian" => PlyForm::Big,
                    other => return Err(bad(&format!("'{}' is not a format", sanitize(other)))),
                });
            }
            b"element" => {
                let name = next().to_vec();
                let count = whole(next()).and_then(|count| u64::try_from(count).ok());
                let count = count.ok_or_else(|| bad("an element without its count"))?;
                elements.push(Element {
                    name,
                    count,
                    properties: vec![],
                });
            }
            b"property" => {
                let first = next();
                let list = if first == b"list" {
                    Some(Scalar::of(next()))
                } else {
                    None
                };
                let scalar = if list.is_some() {
                    Scalar::of(next())
                } else {
                    Scalar::of(first)
                };
                let (Some(scalar), true) = (scalar, list != Some(None)) else {
                    return Err(bad("a property of an unknown type"));
                };
                let name = next().to_vec();
                let Some(element) = elements.last_mut() else {
                    return Err(bad("a property before the first element"));
                };
                element
                    .properties
                    .push(Property::new(&name, list.flatten(), scalar));
            }
            b"end_header" => {
                let form = order.ok_or_else(|| bad("it does not state a format"))?;
                return Ok(PlyHeader {
                    form,
                    elements,
                    pictures,
                    bytes: lines.bytes as u64,
                    lines: at,
                });
            }
            other => return Err(bad(&format!("'{}' is not a keyword", sanitize(other)))),
        }
    }
    Err(Error::input(
        Code::S003,
        "cut short: the header does not end",
    ))
}

/// Lines of the header. They are read byte by byte, because the data after the header may be binary.
struct HeaderLines<'a, R> {
    reader: &'a mut R,
    line: Vec<u8>,
    /// First byte of the next line. It was read to find out whether the current line ends in CR or CRLF.
    ahead: Option<u8>,
    /// Lines end in CR without LF.
    ends_in_cr: bool,
    bytes: usize,
}

impl<R: Read> HeaderLines<'_, R> {
    /// Reads the next line, whose number is `at`.
    fn advance(&mut self, at: u64) -> Result<()> {
        self.line.clear();
        self.line.extend(self.ahead.take());
        loop {
            match self.byte(at)? {
                b'\n' => return Ok(()),
                b'\r' if self.ends_in_cr => return Ok(()),
                // The line end of the first line is expected for all lines.
                b'\r' if at == 1 => match self.byte(at)? {
                    b'\n' => return Ok(()),
                    other => {
                        self.ends_in_cr = true;
                        self.ahead = Some(other);
                        return Ok(());
                    }
                },
                other => self.line.push(other),
            }
        }
    }

    fn byte(&mut self, at: u64) -> Result<u8> {
        if self.bytes == MAX_HEADER {
            return Err(Error::input(
                Code::S006,
                format!("the header has more than {MAX_HEADER} bytes"),
            )
            .at_line(at));
        }
        let mut byte = [0];
        if fill(self.reader, &mut byte)? == 0 {
            return Err(Error::input(Code::S003, "cut short: the header does not end").at_line(at));
        }
        self.bytes += 1;
        Ok(byte[0])
    }
}

/// Source of the numbers of elements, either text or binary.
trait Values {
    /// Advances to the next element. Returns `false` at the end of the input.
    fn begin(&mut self) -> Result<bool>;

    /// Skips the rest of the input.
    fn finish(&mut self) -> Result<()>;

    /// Reads the next number as a coordinate along an axis. It is rounded to a float once.
    fn coordinate(&mut self, axis: usize, scalar: Scalar, triage: &Triage) -> Result<f32>;

    /// Reads the next number, rounded to a float once.
    fn float(&mut self, scalar: Scalar) -> Result<f32>;

    /// Reads the next number, which must be an integer.
    fn whole(&mut self, scalar: Scalar) -> Result<i64>;

    /// Returns the next element if it is a list of three 4-byte numbers and is completely buffered. Otherwise
    /// reads nothing and returns `None`.
    fn three(&mut self) -> Option<[u32; 3]> {
        None
    }

    /// Ends an element. In text, further words on its line are an error.
    fn end(&mut self) -> Result<()> {
        Ok(())
    }

    /// Skips the next `count` numbers.
    fn skip(&mut self, scalar: Scalar, count: u64) -> Result<()>;

    /// Returns the position in the file at which the element starts.
    fn place(&self) -> FilePosition<'static>;

    /// Returns whether the start of the next element can be found if this element is damaged.
    fn is_found_again(&self) -> bool;
}

/// Kind of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ElementKind {
    Vertex,
    Face,
    Strips,
    Other,
}

/// Polygon, or list of triangle strips, that comes before its vertices in the file.
struct Early {
    kind: ElementKind,
    /// Index in `corners` of the end of its corners.
    end: usize,
    colour: Option<PlyColour>,
    place: FilePosition<'static>,
}

/// Polygons that come before their vertices in the file.
#[derive(Default)]
struct EarlyFaces {
    corners: Vec<i64>,
    faces: Vec<Early>,
}

impl EarlyFaces {
    fn push(&mut self, face: Early, corners: &[i64], indexed: &mut Indexed) -> Result<()> {
        let corners_before = self.corners.capacity();
        let faces_before = self.faces.capacity();
        let corners_after = grown(corners_before, self.corners.len() + corners.len());
        let faces_after = grown(faces_before, self.faces.len() + 1).max(512);
        if corners_after != corners_before || faces_after != faces_before {
            let more = (corners_after - corners_before) * size_of::<i64>()
                + (faces_after - faces_before) * size_of::<Early>();
            indexed.hold(more as u64)?;
            self.corners
                .reserve_exact(corners_after - self.corners.len());
            self.faces.reserve_exact(faces_after - self.faces.len());
        }
        self.corners.extend_from_slice(corners);
        self.faces.push(Early {
            end: self.corners.len(),
            ..face
        });
        Ok(())
    }

    /// Adds these polygons, after all vertices were read.
    fn add_to(self, indexed: &mut Indexed, pictures: &PlyPictures) -> Result<()> {
        let mut begin = 0;
        for face in self.faces {
            let corners = &self.corners[begin..face.end];
            begin = face.end;
            let values = ElementValues {
                colour: face.colour,
                ..ElementValues::default()
            };
            add_face(face.kind, corners, &values, face.place, indexed, pictures)?;
        }
        Ok(())
    }
}

/// Returns a capacity of at least `length` items. If `capacity` is too small, it is at least doubled.
fn grown(capacity: usize, length: usize) -> usize {
    if length > capacity {
        length.max(2 * capacity)
    } else {
        capacity
    }
}
/// Reads all elements and adds their vertices and polygons.
fn read_elements(
    elements: &[Element],
    values: &mut impl Values,
    indexed: &mut Indexed,
    pictures: &mut PlyPictures,
    triage: &Triage,
) -> Result<()> {
    let mut list = vec![];
    let mut early = EarlyFaces::default();
    for (n, element) in elements.iter().enumerate() {
        let kind = element.kind();
        let is_polygon = matches!(kind, ElementKind::Face | ElementKind::Strips);
        let places = element.corners().filter(|_| is_polygon);
        if is_polygon && element.count > 0 && places.is_none() {
            return Err(Error::input(
                Code::S006,
                "the faces of the PLY have no list vertex_indices",
            ));
        }
        let is_early = elements[n..]
            .iter()
            .any(|later| later.kind() == ElementKind::Vertex && later.count > 0);
        let is_simple = kind == ElementKind::Face && !is_early && pictures.numbers.is_empty();
        let short = element.short_list().filter(|_| is_simple);
        let is_plain = matches!(short, Some(Scalar::I32 | Scalar::U32));
        let number = |bits: u32| {
            if short == Some(Scalar::I32) {
                i64::from(bits as i32)
            } else {
                i64::from(bits)
            }
        };
        // An element without properties has no data, so its count is ignored.
        let count = if element.properties.is_empty() {
            0
        } else {
            element.count
        };
        for n in 0..count {
            if !values.begin()? {
                let text = format!(
                    "cut short: {} {n} of {} is missing",
                    sanitize(&element.name),
                    element.count
                );
                triage.found(values.place().of(Error::input(Code::S003, text)))?;
                early.add_to(indexed, pictures)?;
                return values.finish();
            }
            if is_plain && let Some(corners) = values.three() {
                indexed.triangle(corners.map(number), values.place())?;
                continue;
            }
            let read = read_element(element, kind, places, values, indexed, &mut list);
            let place = values.place();
            match read {
                Ok(read) if kind == ElementKind::Vertex => {
                    indexed.vertex(read.point, place)?;
                    pictures.place_vertex(read.texture, indexed)?;
                    match read.colour {
                        Some(PlyColour::Bytes(colour)) => indexed.colour_vertex(colour)?,
                        Some(PlyColour::Shares(colour)) => {
                            let number = indexed.count() as usize - 1;
                            see(indexed.vertex_range(), colour);
                            indexed.colour_written(number, colour)?;
                        }
                        None => {}
                    }
                }
                Ok(read) if is_polygon && is_early => {
                    early.push(
                        Early {
                            kind,
                            end: 0,
                            colour: read.colour,
                            place,
                        },
                        &list,
                        indexed,
                    )?;
                }
                Ok(read) if is_polygon => add_face(kind, &list, &read, place, indexed, pictures)?,
                Ok(_) => {}
                // After this error, the start of the next element cannot be found.
                Err(error) if !values.is_found_again() => {
                    triage.found(place.of(error))?;
                    early.add_to(indexed, pictures)?;
                    return values.finish();
                }
                Err(error) if kind == ElementKind::Vertex => {
                    indexed.no_vertex(place.of(error))?;
                    pictures.place_vertex([None; 2], indexed)?;
                }
                Err(error) if is_polygon => indexed.face(std::iter::once(Err(error)), place)?,
                Err(error) => triage.found(place.of(error))?,
            }
        }
    }
    early.add_to(indexed, pictures)?;
    if values.begin()? {
        let error = Error::input(Code::S005, "bytes follow the last element");
        triage.found(values.place().of(error))?;
    }
    values.finish()
}

/// Adds a polygon or triangle strips with these corners.
fn add_face(
    kind: ElementKind,
    corners: &[i64],
    values: &ElementValues,
    place: FilePosition,
    indexed: &mut Indexed,
    pictures: &PlyPictures,
) -> Result<()> {
    if kind == ElementKind::Strips {
        return strip(corners, indexed, place);
    }
    pictures.place_face(corners, values, indexed);
    match values.colour {
        Some(PlyColour::Bytes(colour)) => indexed.colour_next([colour; 3]),
        Some(PlyColour::Shares(colour)) => {
            see(indexed.face_range(), colour);
            indexed.colour_next_written(colour)?;
        }
        None => {}
    }
    match corners[..] {
        [a, b, c] => indexed.triangle([a, b, c], place),
        _ => indexed.face(corners.iter().copied().map(Ok), place),
    }
}

/// Numbers of an element, except for the list of corners.
struct ElementValues {
    point: Point,
    colour: Option<PlyColour>,
    /// Position of a vertex in a picture.
    texture: [Option<f32>; 2],
    /// Positions of the corners of a face in its picture, two numbers each.
    corners: Vec<f32>,
    /// Index of the face's picture among those of the header.
    picture: usize,
}

impl Default for ElementValues {
    fn default() -> Self {
        Self {
            point: [f32::NAN; 3],
            colour: None,
            texture: [None; 2],
            corners: vec![],
            picture: 0,
        }
    }
}

/// Pictures that the header names, and the positions of vertices in them.
struct PlyPictures {
    /// Index in the mesh of each picture. `None` for a picture that cannot be read.
    numbers: Vec<Option<u32>>,
    places: Vec<[f32; 2]>,
}

impl PlyPictures {
    fn read(
        names: &[(String, u64)],
        folder: Option<MeshFolder>,
        indexed: &mut Indexed,
    ) -> Result<Self> {
        let mut numbers = vec![];
        for (name, line) in names {
            let found = read_first(folder, &ways(name), picture::MAX_BYTES, |length| {
                indexed.admit(length)
            });
            let bytes = found.map(|(_, bytes)| bytes);
            let wrap = [TextureWrap::Repeat; 2];
            numbers.push(indexed.add_picture(bytes, wrap, FilePosition::Line(*line))?);
        }
        Ok(Self {
            numbers,
            places: vec![],
        })
    }

    /// Stores the position of the last vertex in its picture.
    fn place_vertex(&mut self, place: [Option<f32>; 2], indexed: &mut Indexed) -> Result<()> {
        let ([Some(u), Some(v)], false) = (place, self.numbers.is_empty()) else {
            return Ok(());
        };
        let before = indexed.count() as usize - 1;
        if before >= self.places.capacity() {
            let more = (before + 1).max(2 * self.places.capacity()).max(512);
            indexed.hold((size_of::<[f32; 2]>() * more) as u64)?;
            self.places.reserve_exact(more - self.places.len());
        }
        self.places.resize(before, [0.0; 2]);
        self.places.push([u, v]);
        Ok(())
    }

    /// Sets the positions of the next face's corners in its picture. They are stored for the face or for its
    /// vertices.
    fn place_face(&self, corners: &[i64], values: &ElementValues, indexed: &mut Indexed) {
        let Some(Some(number)) = self.numbers.get(values.picture) else {
            return;
        };
        indexed.set_texture(Some(*number));
        let (own, _) = values.corners.as_chunks::<2>();
        let vertex = |corner: &i64| {
            usize::try_from(*corner)
                .ok()
                .and_then(|corner| self.places.get(corner))
        };
        let upwards = |[u, v]: &[f32; 2]| [*u, 1.0 - *v];
        if own.len() == corners.len() {
            indexed.place_next(own.iter().map(upwards));
        } else if corners.iter().all(|corner| vertex(corner).is_some()) {
            indexed.place_next(corners.iter().filter_map(vertex).map(upwards));
        }
    }
}

/// Colour of an element, in bytes or in floats. The floats are shares of 1 or numbers up to 255.
#[derive(Clone, Copy)]
enum PlyColour {
    Bytes([u8; 3]),
    Shares(WrittenColour),
}

/// Extends a range of numbers by a colour in floats.
fn see(range: &mut ColourRange, colour: WrittenColour) {
    for value in colour {
        range.see(value, true);
    }
}

/// Reads the numbers of an element. The property with index `places` is a list and is read into `list`.
fn read_element(
    element: &Element,
    kind: ElementKind,
    places: Option<usize>,
    values: &mut impl Values,
    indexed: &Indexed,
    list: &mut Vec<i64>,
) -> Result<ElementValues> {
    let mut read = ElementValues::default();
    let mut bytes = [None; 3];
    let mut shares = [None; 3];
    list.clear();
    for (n, property) in element.properties.iter().enumerate() {
        let is_float = matches!(property.scalar, Scalar::F32 | Scalar::F64);
        let Some(length) = property.list else {
            match property {
                Property {
                    axis: Some(axis),
                    scalar,
                    ..
                } if kind == ElementKind::Vertex => {
                    read.point[*axis] = values.coordinate(*axis, *scalar, indexed.triage())?;
                }
                Property {
                    channel: Some(channel),
                    scalar,
                    ..
                } if is_float => {
                    shares[*channel] = Some(values.float(*scalar)?);
                }
                Property {
                    channel: Some(channel),
                    scalar,
                    ..
                } => {
                    bytes[*channel] = Some(channel_of(values, *scalar)?);
                }
                Property {
                    texture: Some(axis),
                    scalar,
                    ..
                } if kind == ElementKind::Vertex && is_float => {
                    read.texture[*axis] = Some(values.float(*scalar)?);
                }
                Property { name, scalar, .. } if name == b"texnumber" && !is_float => {
                    read.picture = usize::try_from(values.whole(*scalar)?).unwrap_or(usize::MAX);
                }
                Property { scalar, .. } => values.skip(*scalar, 1)?,
            }
            continue;
        };
        let count = values.whole(length)?;
        let Ok(count) = u64::try_from(count) else {
            return Err(Error::input(
                Code::S007,
                format!("a list of {count} numbers"),
            ));
        };
        if places == Some(n) {
            // Memory grows with the numbers that are read, because the length of the list may be wrong.
            for _ in 0..count {
                if list.len() == list.capacity() {
                    indexed.admit(3 * size_of::<i64>() as u64 * list.len() as u64)?;
                }
                list.push(values.whole(property.scalar)?);
            }
        } else if property.name == b"texcoord" && is_float && count <= MAX_PLACES {
            for _ in 0..count {
                read.corners.push(values.float(property.scalar)?);
            }
        } else {
            values.skip(property.scalar, count)?;
        }
    }
    values.end()?;
    read.colour = match (bytes, shares) {
        ([Some(r), Some(g), Some(b)], _) => Some(PlyColour::Bytes([r, g, b])),
        (_, [Some(r), Some(g), Some(b)]) => Some(PlyColour::Shares([r, g, b])),
        _ => None,
    };
    Ok(read)
}

/// Maximum length of the list with the positions of a face's corners in its picture.
const MAX_PLACES: u64 = 40_000;

/// Reads a channel of a colour and scales it to a byte.
fn channel_of(values: &mut impl Values, scalar: Scalar) -> Result<u8> {
    Ok(match scalar {
        Scalar::U16 => channel(values.whole(scalar)? as f64 / 65_535.0),
        other => values.whole(other)?.clamp(0, 255) as u8,
    })
}

/// Adds the triangles of strips. Every second triangle of a strip has the opposite orientation. A negative
/// number begins a new strip. Triangles with two equal vertices only connect strips and are left out.
fn strip(list: &[i64], indexed: &mut Indexed, place: FilePosition) -> Result<()> {
    for strip in list.split(|number| *number < 0) {
        for (n, three) in strip.windows(3).enumerate() {
            let [a, b, c] = [three[0], three[1], three[2]];
            let is_connector = a == b || b == c || c == a;
            let turned = if n % 2 == 0 { [a, b, c] } else { [b, a, c] };
            if !is_connector {
                indexed.triangle(turned, place)?;
            }
        }
    }
    Ok(())
}

/// Elements in text, one line of words for each.
struct TextValues<'a, R> {
    lines: Lines<'a, R>,
    /// Number of lines in the header.
    before: u64,
    /// Number of bytes of the current line that were read.
    at: usize,
}

impl<R: Read> TextValues<'_, R> {
    fn word(&mut self) -> &[u8] {
        let line = self.lines.line();
        let (word, following) = next_word(&line[self.at..]);
        self.at = line.len() - following.len();
        word
    }
}

impl<R: Read> Values for TextValues<'_, R> {
    fn begin(&mut self) -> Result<bool> {
        self.at = 0;
        while self.lines.advance()? {
            if !next_word(self.lines.line()).0.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn finish(&mut self) -> Result<()> {
        while self.lines.advance()? {}
        Ok(())
    }

    fn coordinate(&mut self, axis: usize, _: Scalar, triage: &Triage) -> Result<f32> {
        let word = self.word();
        triage
            .coordinate(axis, word)
            .ok_or_else(|| no_number(word, "a coordinate"))
    }

    fn float(&mut self, _: Scalar) -> Result<f32> {
        let word = self.word();
        number::of(word).ok_or_else(|| no_number(word, "a number"))
    }

    fn whole(&mut self, _: Scalar) -> Result<i64> {
        let word = self.word();
        whole(word).ok_or_else(|| no_number(word, "a whole number"))
    }

    fn end(&mut self) -> Result<()> {
        match self.word() {
            b"" => Ok(()),
            word => {
                let text = format!(
                    "'{}' follows the last number of the element",
                    sanitize(word)
                );
                Err(Error::input(Code::S006, text))
            }
        }
    }

    fn skip(&mut self, _: Scalar, count: u64) -> Result<()> {
        for _ in 0..count {
            if self.word().is_empty() {
                return Err(no_number(b"", "a number"));
            }
        }
        Ok(())
    }

    fn place(&self) -> FilePosition<'static> {
        FilePosition::Line(self.before + self.lines.number())
    }

    fn is_found_again(&self) -> bool {
        true
    }
}

/// Elements in binary data.
struct ByteValues<'a, R> {
    window: Window<'a, R>,
    is_big: bool,
    /// Position of the current element in bytes.
    element: u64,
}

impl<R: Read> ByteValues<'_, R> {
    /// Returns the next `N` bytes in little-endian order.
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        loop {
            if let Some(bytes) = self.window.rest().first_chunk::<N>() {
                let mut bytes = *bytes;
                self.window.take(N);
                if self.is_big {
                    bytes.reverse();
                }
                return Ok(bytes);
            }
            self.read_more()?;
        }
    }

    /// Reads more bytes into the window. The end of the file is an error, because it is in the middle of an
    /// element.
    fn read_more(&mut self) -> Result<()> {
        if self.window.refill()? > 0 {
            return Ok(());
        }
        Err(Error::input(
            Code::S003,
            "cut short: it ends within an element",
        ))
    }
}

impl<R: Read> Values for ByteValues<'_, R> {
    fn begin(&mut self) -> Result<bool> {
        let is_there = !self.window.rest().is_empty() || self.window.refill()? > 0;
        self.element = self.window.position();
        Ok(is_there)
    }

    fn finish(&mut self) -> Result<()> {
        loop {
            self.window.take(self.window.rest().len());
            if self.window.refill()? == 0 {
                return Ok(());
            }
        }
    }

    fn coordinate(&mut self, axis: usize, scalar: Scalar, triage: &Triage) -> Result<f32> {
        if triage.is_plain() {
            return self.float(scalar);
        }
        let value = match scalar {
            Scalar::F32 => f64::from(f32::from_le_bytes(self.take()?)),
            Scalar::F64 => f64::from_le_bytes(self.take()?),
            other => self.whole(other)? as f64,
        };
        Ok(triage.double(axis, value))
    }

    fn float(&mut self, scalar: Scalar) -> Result<f32> {
        Ok(match scalar {
            Scalar::F32 => f32::from_le_bytes(self.take()?),
            Scalar::F64 => f64::from_le_bytes(self.take()?) as f32,
            other => self.whole(other)? as f32,
        })
    }

    fn whole(&mut self, scalar: Scalar) -> Result<i64> {
        Ok(match scalar {
            Scalar::I8 => i8::from_le_bytes(self.take()?).into(),
            Scalar::U8 => u8::from_le_bytes(self.take()?).into(),
            Scalar::I16 => i16::from_le_bytes(self.take()?).into(),
            Scalar::U16 => u16::from_le_bytes(self.take()?).into(),
            Scalar::I32 => i32::from_le_bytes(self.take()?).into(),
            Scalar::U32 => u32::from_le_bytes(self.take()?).into(),
            Scalar::F32 | Scalar::F64 => {
                let value = match scalar {
                    Scalar::F32 => f64::from(f32::from_le_bytes(self.take()?)),
                    _ => f64::from_le_bytes(self.take()?),
                };
                if value.fract() != 0.0 || value.abs() > 1e15 {
                    return Err(Error::input(
                        Code::S007,
                        format!("expected a whole number, found {value}"),
                    ));
                }
                value as i64
            }
        })
    }

    fn three(&mut self) -> Option<[u32; 3]> {
        let head = self.window.rest().first_chunk::<13>()?;
        if head[0] != 3 {
            return None;
        }
        let number = |bytes: &[u8; 4]| {
            if self.is_big {
                u32::from_be_bytes(*bytes)
            } else {
                u32::from_le_bytes(*bytes)
            }
        };
        let numbers: [u32; 3] = std::array::from_fn(|n| number(&head[1..].as_chunks().0[n]));
        self.window.take(13);
        Some(numbers)
    }

    fn skip(&mut self, scalar: Scalar, count: u64) -> Result<()> {
        let mut left = count.saturating_mul(scalar.size() as u64);
        while left > 0 {
            if self.window.rest().is_empty() {
                self.read_more()?;
            }
            let step = left.min(self.window.rest().len() as u64);
            self.window.take(step as usize);
            left -= step;
        }
        Ok(())
    }

    fn place(&self) -> FilePosition<'static> {
        FilePosition::Byte(self.element)
    }

    fn is_found_again(&self) -> bool {
        false
    }
}
