//! Conversion of polygons to triangles. Polygons are given by the indices of their vertices.

use std::collections::HashMap;
use std::ops::Range;

use super::picture;
use super::polygon::PolygonCutter;
use super::room::Room;
use super::shares::{ColourRange, WrittenColour};
use super::triage::Triage;
use crate::colours::{WHITE, channel};
use crate::{
    Mesh, MeshColours, MeshParts, MeshTexture, PartKind, TexturePlace, TextureWrap, not_finite,
};
use voxelize_core::error::{Code, Error, Kind, Result, sanitize};
use voxelize_core::geom::{Point, Triangle};
use voxelize_core::par::Progress;

/// Maximum number of corners of a polygon, because cutting it into triangles may take quadratic time.
const MAX_CORNERS: usize = 20_000;

/// Cancellation is checked before polygons with more corners than this, because they take long to cut.
const MANY_CORNERS: usize = 64;

/// Position in a file.
#[derive(Clone, Copy)]
pub(super) enum FilePosition<'a> {
    Line(u64),
    Byte(u64),
    /// Description of a position, for formats whose data may be spread over several files.
    Of(&'a str),
}

impl FilePosition<'_> {
    /// Adds this position to an error.
    pub(super) fn of(self, error: Error) -> Error {
        match self {
            Self::Line(line) => error.at_line(line),
            Self::Byte(byte) => error.at_byte(byte),
            Self::Of(what) => error.about(what),
        }
    }
}

/// Vertices and triangles read so far.
pub(super) struct Indexed<'a> {
    room: Room,
    triage: &'a Triage,
    /// Number of the first vertex in the file, 0 or 1.
    first: i64,
    /// Coordinates of the vertices. Damaged vertices are NaN, so that the numbers of the other vertices stay
    /// the same.
    vertices: Vec<Point>,
    /// Index of the first vertex that is not finite, and the error with its position.
    not_finite: Option<(usize, Error)>,
    /// Memory held by the reader itself, in bytes.
    held: u64,
    pub triangles: Vec<Triangle>,
    pub objects: Naming,
    pub materials: Naming,
    paint: Colouring,
    /// Ranges of triangles with pictures that are not read.
    unread: Vec<Range<usize>>,
    /// First of the following triangles with a picture that is not read. `None` if they have no such picture.
    unread_from: Option<usize>,
    polygon: Vec<Point>,
    /// Vertex indices of the current polygon, if its colours or numbers need them.
    places: Vec<usize>,
    numbered: Option<VertexNumbers>,
    cutter: PolygonCutter,
    /// Receives progress and may cancel while polygons are cut.
    progress: Option<&'a dyn Progress>,
}

impl<'a> Indexed<'a> {
    pub(super) fn new(max_memory: Option<u64>, triage: &'a Triage, first: i64) -> Self {
        Self {
            room: Room::new(max_memory),
            triage,
            first,
            vertices: vec![],
            not_finite: None,
            held: 0,
            triangles: vec![],
            objects: Naming::default(),
            materials: Naming::default(),
            paint: Colouring::default(),
            unread: vec![],
            unread_from: None,
            polygon: vec![],
            places: vec![],
            numbered: None,
            cutter: PolygonCutter::new(),
            progress: None,
        }
    }

    /// Sets the receiver of progress, which may also cancel.
    pub(super) fn heard_by(self, progress: &'a dyn Progress) -> Self {
        Self {
            progress: Some(progress),
            ..self
        }
    }

    /// If `is_wanted` is true, stores the vertex numbers of each triangle.
    pub(super) fn numbered(mut self, is_wanted: bool) -> Self {
        self.numbered = is_wanted.then(VertexNumbers::default);
        self
    }

    /// Returns the number of vertices.
    pub(super) fn count(&self) -> u64 {
        self.vertices.len() as u64
    }

    /// Begins a new list of vertices. Indices of faces then refer to this list.
    pub(super) fn begin_vertices(&mut self) {
        if let Some(numbered) = &mut self.numbered {
            numbered.before += self.vertices.len() as u64;
        }
        self.vertices.clear();
        self.not_finite = None;
        self.paint.vertices.clear();
    }

    /// Reserves memory for further vertices and triangles that are known to exist.
    pub(super) fn expect(&mut self, vertices: u64, triangles: u64) -> Result<()> {
        let all = self.triangles.len() as u64 + triangles;
        self.room
            .admit(all, self.beside() + size_of::<Point>() as u64 * vertices)?;
        let counts = [vertices, triangles].map(usize::try_from);
        let [Ok(vertices), Ok(triangles)] = counts else {
            return Ok(());
        };
        let reserved = self
            .vertices
            .try_reserve_exact(vertices)
            .and(self.triangles.try_reserve_exact(triangles));
        reserved.map_err(|_| Error::too_large("more triangles than the system provides memory for"))
    }

    /// Registers `more` bytes of memory that the reader itself holds.
    pub(super) fn hold(&mut self, more: u64) -> Result<()> {
        self.held += more;
        self.admit(0)
    }

    /// Sets the object that the next triangles belong to.
    pub(super) fn begin_object(&mut self, name: impl Into<String>) -> Result<()> {
        self.objects.begin(name.into(), self.triangles.len());
        self.admit(0)
    }

    /// Begins a new object for the next triangles, even if an earlier object has the same name.
    pub(super) fn begin_instance(&mut self, name: String) -> Result<()> {
        self.objects.begin_another(name, self.triangles.len());
        self.admit(0)
    }

    /// Sets the material that the next triangles belong to.
    pub(super) fn begin_material(&mut self, name: impl Into<String>) -> Result<()> {
        self.materials.begin(name.into(), self.triangles.len());
        self.admit(0)
    }

    /// Returns a mesh of all triangles. It has objects and materials as parts if the file names any.
    pub(super) fn into_mesh(self) -> Result<Mesh> {
        let count = self.triangles.len();
        let colours = self.paint.into_colours(count)?;
        let named = [
            (PartKind::Object, self.objects),
            (PartKind::Material, self.materials),
        ];
        let mut mesh = Mesh::of_finite(self.triangles.into());
        for (kind, naming) in named {
            if let Some(parts) = naming.into_parts(count) {
                mesh = mesh.with_parts(kind, parts)?;
            }
        }
        if let Some(numbers) = self.numbered.and_then(VertexNumbers::whole) {
            mesh = mesh.with_vertex_numbers(numbers)?;
        }
        match colours {
            Some(colours) => mesh.with_colours(colours),
            None => Ok(mesh),
        }
    }

    /// Adds a vertex. A vertex that is not finite is reported later, as damage of the faces that use it.
    pub(super) fn vertex(&mut self, point: Point, place: FilePosition<'_>) -> Result<()> {
        let bad = point.iter().find(|coordinate| !coordinate.is_finite());
        if let Some(bad) = bad
            && self.not_finite.is_none()
        {
            let error = match place {
                FilePosition::Of(_) => not_finite(*bad),
                FilePosition::Line(_) | FilePosition::Byte(_) => place.of(not_finite(*bad)),
            };
            self.not_finite = Some((self.vertices.len(), error));
        }
        self.push(if bad.is_some() { [f32::NAN; 3] } else { point })
    }

    /// Returns the triage of findings. It also knows the point that coordinates are relative to.
    pub(super) fn triage(&self) -> &Triage {
        self.triage
    }

    /// Sets the colour of the last vertex.
    pub(super) fn colour_vertex(&mut self, colour: [u8; 3]) -> Result<()> {
        let last = self.vertices.len() - 1;
        let paint = &mut self.paint.vertices;
        if paint.capacity() <= last {
            let more = (last + 1).max(512);
            self.room.admit(
                self.triangles.capacity() as u64,
                self.beside() + 6 * more as u64,
            )?;
            self.paint.vertices.reserve_exact(more);
        }
        self.paint.vertices.resize(last, WHITE);
        self.paint.vertices.push(colour);
        Ok(())
    }

    /// Sets the colour of the vertex with index `place` as the file stores it. Vertices without a call have
    /// no colour.
    pub(super) fn colour_written(&mut self, place: usize, colour: WrittenColour) -> Result<()> {
        let there = self.paint.written.capacity();
        if there <= place {
            let more = (place + 1).max(2 * there).max(512);
            let bytes = size_of::<WrittenColour>() * (there + more);
            self.room.admit(
                self.triangles.capacity() as u64,
                self.beside() + bytes as u64,
            )?;
            self.paint
                .written
                .reserve_exact(more - self.paint.written.len());
        }
        if self.paint.written.len() <= place {
            self.paint.written.resize(place + 1, NO_COLOUR);
        }
        self.paint.written[place] = colour;
        Ok(())
    }

    /// Returns the range of numbers in colours of vertices. It is final only after the whole file was read.
    pub(super) fn vertex_range(&mut self) -> &mut ColourRange {
        &mut self.paint.vertex_range
    }

    /// Returns the range of numbers in colours of faces. It is final only after the whole file was read.
    pub(super) fn face_range(&mut self) -> &mut ColourRange {
        &mut self.paint.face_range
    }

    /// Sets the colour of the next face, as the file stores it. For this face it replaces the colours of its
    /// vertices.
    pub(super) fn colour_next_written(&mut self, colour: WrittenColour) -> Result<()> {
        let faces = &mut self.paint.written_faces;
        if faces.last() != Some(&colour) {
            if faces.len() == faces.capacity() {
                let more = faces.capacity().max(512);
                let bytes = size_of::<WrittenColour>() * (faces.capacity() + more);
                self.room.admit(
                    self.triangles.capacity() as u64,
                    self.beside() + bytes as u64,
                )?;
                self.paint.written_faces.reserve_exact(more);
            }
            self.paint.written_faces.push(colour);
        }
        self.paint.next_written = true;
        Ok(())
    }

    /// Sets the colour of the material of the following faces, which is multiplied with the colours of
    /// vertices. `None` if the colour is not known.
    pub(super) fn set_base_colour(&mut self, colour: Option<[u8; 3]>) {
        self.paint.base = colour;
    }

    /// Sets the colours of the corners of the next face. For this face they replace the colours of its
    /// vertices.
    pub(super) fn colour_next(&mut self, corners: [[u8; 3]; 3]) {
        self.paint.next = Some(corners);
    }

    /// Adds the picture with these bytes and returns its index in the mesh. A picture that cannot be decoded
    /// is reported, and `None` is returned.
    pub(super) fn add_picture(
        &mut self,
        bytes: Result<impl AsRef<[u8]>>,
        wrap: [TextureWrap; 2],
        place: FilePosition<'_>,
    ) -> Result<Option<u32>> {
        let budget = picture::Budget {
            texels: picture::MAX_TEXELS.saturating_sub(self.paint.texels),
            broken: picture::MAX_BROKEN_TEXELS.saturating_sub(self.paint.broken),
            bytes: self
                .room
                .left(self.triangles.capacity() as u64, self.beside()),
        };
        let decoded = bytes.and_then(|bytes| {
            let held = bytes.as_ref().len() as u64;
            let budget = picture::Budget {
                bytes: budget.bytes.saturating_sub(held),
                ..budget
            };
            let (size, texels) = picture::decode(bytes.as_ref(), budget, &mut self.paint.broken)?;
            Ok((size, MeshTexture::new(size, texels, wrap)?))
        });
        match decoded {
            Ok((size, texture)) => {
                self.paint.texels += u64::from(size[0]) * u64::from(size[1]);
                self.paint.textures.push(texture);
                Ok(Some(self.paint.textures.len() as u32 - 1))
            }
            Err(error) if matches!(error.kind(), Kind::TooLarge | Kind::Usage) => Err(error),
            Err(error) => self.no_colours(&error, place).map(|()| None),
        }
    }

    /// Reports that colours are missing because a file with colours cannot be read.
    pub(super) fn no_colours(&self, error: &Error, place: FilePosition<'_>) -> Result<()> {
        let text = format!("colours are unknown: {}", error.message());
        let found = || {
            let found = place.of(Error::input(Code::S110, text.clone()));
            match error.hint() {
                Some(hint) => found.with_hint(hint),
                None => found,
            }
        };
        self.triage.found_all(Code::S110, 1, found)
    }

    /// Sets the picture on the following faces. It is used for those with positions in the picture.
    pub(super) fn set_texture(&mut self, texture: Option<u32>) {
        self.paint.texture = texture;
    }

    /// Sets whether the following faces have a picture that is not read.
    pub(super) fn set_unread_picture(&mut self, has_picture: bool) -> Result<()> {
        let count = self.triangles.len();
        match (self.unread_from, has_picture) {
            (None, true) => self.unread_from = Some(count),
            (Some(from), false) => {
                self.unread_from = None;
                if from < count {
                    self.unread.push(from..count);
                    self.hold(2 * size_of::<Range<usize>>() as u64)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the ranges of triangles with pictures that were not read.
    pub(super) fn take_unread_pictures(&mut self) -> Result<Vec<Range<usize>>> {
        self.set_unread_picture(false)?;
        Ok(std::mem::take(&mut self.unread))
    }

    /// Returns whether a picture is set for the following faces.
    pub(super) fn has_texture(&self) -> bool {
        self.paint.texture.is_some()
    }

    /// Sets the positions of the next face's corners in its picture.
    pub(super) fn place_next(&mut self, corners: impl Iterator<Item = [f32; 2]>) {
        self.paint.next_places.clear();
        self.paint.next_places.extend(corners);
    }

    /// Adds a vertex whose coordinates are the next three words.
    pub(super) fn vertex_of<'w>(
        &mut self,
        mut words: impl FnMut() -> &'w [u8],
        place: FilePosition<'_>,
    ) -> Result<()> {
        let mut point = [0.0; 3];
        for (axis, coordinate) in point.iter_mut().enumerate() {
            let word = words();
            let Some(value) = self.triage.coordinate(axis, word) else {
                return self.no_vertex(place.of(no_number(word, "a coordinate")));
            };
            *coordinate = value;
        }
        self.vertex(point, place)
    }

    /// Adds a damaged vertex, and reports its damage.
    pub(super) fn no_vertex(&mut self, damage: Error) -> Result<()> {
        self.triage.found(damage)?;
        self.push([f32::NAN; 3])
    }

    fn push(&mut self, point: Point) -> Result<()> {
        if self.vertices.len() == self.vertices.capacity() {
            let more = self.vertices.capacity().max(512);
            // When the list grows, the old and the new memory exist at the same time.
            let bytes = (self.vertices.len() + more) as u64 * size_of::<Point>() as u64;
            self.room
                .admit(self.triangles.capacity() as u64, self.beside() + bytes)?;
            self.vertices.try_reserve_exact(more).map_err(|_| {
                Error::too_large("more vertices than the system provides memory for")
            })?;
        }
        self.vertices.push(point);
        Ok(())
    }

    /// Adds a triangle with these vertex indices. Most triangles need no colours or numbers and take a short
    /// path.
    pub(super) fn triangle(&mut self, corners: [i64; 3], place: FilePosition<'_>) -> Result<()> {
        let is_plain = self.numbered.is_none() && !self.paint.is_needed();
        if is_plain && self.triangles.len() < self.triangles.capacity() {
            let at = |n: i64| {
                self.vertices
                    .get(usize::try_from(n).ok()?)
                    .filter(|vertex| vertex[0].is_finite())
            };
            let [a, b, c] = corners.map(at);
            if let (Some(a), Some(b), Some(c)) = (a, b, c) {
                self.triangles.push([*a, *b, *c]);
                return Ok(());
            }
        }
        self.face(corners.into_iter().map(Ok), place)
    }

    /// Adds the triangles of a polygon. Each corner is a vertex index, or an error if it is damaged. A
    /// damaged polygon is refused or dropped, depending on the tolerance.
    pub(super) fn face(
        &mut self,
        corners: impl Iterator<Item = Result<i64>>,
        place: FilePosition<'_>,
    ) -> Result<()> {
        self.polygon.clear();
        self.places.clear();
        let has_places = self.paint.needs_places() || self.numbered.is_some();
        let mut damage = None;
        for corner in corners {
            if let (Ok(place), true) = (&corner, has_places) {
                self.places
                    .push(usize::try_from(*place).unwrap_or(usize::MAX));
            }
            let corner = corner.and_then(|place| self.at(place));
            match corner {
                Ok(_) if self.polygon.len() == MAX_CORNERS => {
                    let text = format!("a polygon has more than {MAX_CORNERS} corners");
                    damage = Some(Error::input(Code::S006, text));
                    break;
                }
                Ok(point) => self.polygon.push(point),
                Err(error) => {
                    damage = Some(error);
                    break;
                }
            }
        }
        let count = self.polygon.len();
        if damage.is_none() && count < 3 {
            let text = format!("a polygon has {count} corners; at least three are needed");
            damage = Some(Error::input(Code::S006, text));
        }
        if let Some(error) = damage {
            let triangle = self.triangles.len() as u64 + self.triage.count_dropped();
            let error = error.at_triangle(triangle);
            let is_placed = error.line().is_some() || error.byte().is_some();
            self.triage
                .found(if is_placed { error } else { place.of(error) })?;
            self.triage.drop_triangle(self.triangles.len());
            self.paint.forget_next();
            return self
                .room
                .admit(self.triangles.capacity() as u64, self.beside());
        }
        let beside = self.beside();
        if count > MANY_CORNERS
            && let Some(progress) = self.progress
        {
            progress.check()?;
        }
        let cut = self.cutter.cut(&self.polygon);
        self.room
            .grow(&mut self.triangles, cut.len(), u64::MAX, beside)?;
        let before = self.triangles.len();
        self.triangles.extend(
            cut.iter()
                .map(|places| places.map(|n| self.polygon[n as usize])),
        );
        if let Some(numbered) = &mut self.numbered {
            let more = numbered.missing(cut.len());
            self.room
                .admit(self.triangles.capacity() as u64, beside + more)?;
            numbered.add(cut, &self.places);
        }
        if self.paint.is_needed() {
            let more = self.paint.missing(before + cut.len());
            self.room
                .admit(self.triangles.capacity() as u64, beside + 2 * more)?;
            self.paint
                .add(before, cut, &self.places, self.polygon.len());
        }
        Ok(())
    }

    fn at(&self, place: i64) -> Result<Point> {
        let vertex = match usize::try_from(place) {
            Ok(place) => self.vertices.get(place),
            Err(_) => None,
        };
        match vertex {
            Some(vertex) if vertex[0].is_finite() => Ok(*vertex),
            Some(_) => Err(self.not_finite_at(place)),
            None => {
                let count = self.vertices.len();
                let text = format!(
                    "vertex {} does not exist (the file has {count} vertices before this line)",
                    place.saturating_add(self.first)
                );
                Err(Error::input(Code::S012, text))
            }
        }
    }

    /// Returns the error of a face with a vertex that is not finite. If it is the first such vertex of the
    /// file, the error has the position of that vertex.
    fn not_finite_at(&self, place: i64) -> Error {
        match &self.not_finite {
            Some((first, error)) if i64::try_from(*first) == Ok(place) => error.clone(),
            _ => Error::input(
                Code::S004,
                format!("vertex {} is not finite", place + self.first),
            ),
        }
    }

    /// Returns the memory in use, except for the triangles, in bytes.
    fn beside(&self) -> u64 {
        let vertices = self.vertices.capacity() * size_of::<Point>();
        let named = self.objects.bytes() + self.materials.bytes();
        let numbered = self
            .numbered
            .as_ref()
            .map_or(0, |numbered| numbered.missing(0));
        vertices as u64 + self.held + named + self.triage.bytes() + self.paint.bytes() + numbered
    }

    /// Returns the memory of everything that was read, in bytes.
    #[cfg(feature = "3mf")]
    pub(super) fn bytes(&self) -> u64 {
        (self.triangles.capacity() * size_of::<Triangle>()) as u64 + self.beside()
    }

    /// Checks that the memory of everything that was read, plus `more` bytes, is within the limit.
    pub(super) fn admit(&self, more: u64) -> Result<()> {
        self.room
            .admit(self.triangles.capacity() as u64, self.beside() + more)
    }
}

/// Vertex numbers of each triangle. They continue from one list of vertices to the next.
#[derive(Default)]
struct VertexNumbers {
    /// Number of vertices in earlier lists.
    before: u64,
    triangles: Vec<[u32; 3]>,
    /// Some number exceeds 32 bits.
    is_beyond: bool,
}

impl VertexNumbers {
    /// Returns the memory in bytes that is needed to enlarge the list by `more` triangles. Zero if it has
    /// room for them.
    fn missing(&self, more: usize) -> u64 {
        let there = self.triangles.capacity();
        let need = self.triangles.len() + more;
        let count = if need > there {
            there + need.max(2 * there)
        } else {
            there
        };
        (count * size_of::<[u32; 3]>()) as u64
    }

    fn add(&mut self, cut: &[[u32; 3]], places: &[usize]) {
        for corners in cut {
            self.triangles.push(corners.map(|corner| {
                let number = u32::try_from(self.before + places[corner as usize] as u64);
                self.is_beyond |= number.is_err();
                number.unwrap_or(0)
            }));
        }
    }

    fn whole(self) -> Option<Vec<[u32; 3]>> {
        (!self.is_beyond).then_some(self.triangles)
    }
}

/// Colour of a vertex that has no colour in the file.
const NO_COLOUR: WrittenColour = [f32::NAN; 3];

/// Index that stands for no colour.
const NO_PLACE: u32 = u32::MAX;

/// Offset that is added to indices into the colours of faces, to distinguish them from indices of vertices.
const FACES: u32 = 1 << 31;

/// Colours of triangles. Empty until a face has a colour.
#[derive(Default)]
struct Colouring {
    /// Colours of the vertices. Vertices after the last coloured one have no entry.
    vertices: Vec<[u8; 3]>,
    /// Colours of the vertices as the file stores them. Vertices after the last coloured one have no entry.
    written: Vec<WrittenColour>,
    vertex_range: ColourRange,
    /// Colours of faces as the file stores them. Consecutive equal colours are stored once.
    written_faces: Vec<WrittenColour>,
    face_range: ColourRange,
    /// The next face has the last colour in `written_faces`.
    next_written: bool,
    base: Option<[u8; 3]>,
    next: Option<[[u8; 3]; 3]>,
    /// Colours of the triangles. Triangles after the last coloured one have no entry. If the colour is stored
    /// in the file, this is the colour of the material, which is multiplied with it.
    triangles: Vec<[[u8; 3]; 3]>,
    /// For each triangle, the indices of the colours that the file stores for its corners.
    places_written: Vec<[u32; 3]>,
    textures: Vec<MeshTexture>,
    /// Number of texels of all pictures.
    texels: u64,
    /// Number of texels that were decoded for pictures that turned out to be broken.
    broken: u64,
    texture: Option<u32>,
    /// Positions of the next face's corners in its picture.
    next_places: Vec<[f32; 2]>,
    /// Positions of the triangles in pictures. Triangles after the last one with a picture have no entry.
    places: Vec<Option<TexturePlace>>,
}

impl Colouring {
    /// Returns whether the next face has colours.
    fn is_needed(&self) -> bool {
        self.next.is_some()
            || self.base.is_some()
            || !self.vertices.is_empty()
            || self.is_written()
            || self.is_placed()
    }

    /// Returns whether the next face may use a colour that the file stores.
    fn is_written(&self) -> bool {
        self.next_written || !self.written.is_empty()
    }

    /// Returns whether colours need the vertex indices of faces.
    fn needs_places(&self) -> bool {
        !self.vertices.is_empty() || !self.written.is_empty()
    }

    /// Returns whether the next face has positions in a picture.
    fn is_placed(&self) -> bool {
        self.texture.is_some() && !self.next_places.is_empty()
    }

    /// Clears the settings that are valid only for one face.
    fn forget_next(&mut self) {
        self.next = None;
        self.next_written = false;
        self.next_places.clear();
    }

    /// Returns the memory in bytes that is needed to enlarge the lists to this many triangles.
    fn missing(&self, triangles: usize) -> u64 {
        let missing = |there: usize, size: usize| (triangles.saturating_sub(there) * size) as u64;
        let places = if self.is_placed() {
            missing(self.places.capacity(), size_of::<Option<TexturePlace>>())
        } else {
            0
        };
        let written = if self.is_written() {
            missing(self.places_written.capacity(), size_of::<[u32; 3]>())
        } else {
            0
        };
        missing(self.triangles.capacity(), size_of::<[[u8; 3]; 3]>()) + places + written
    }

    /// Adds the colours of a face. There are `before` triangles before it. `cut` has the triangles of the
    /// face as indices of its corners, `places` has the vertex index of each corner, and `corners` is the
    /// number of corners.
    fn add(&mut self, before: usize, cut: &[[u32; 3]], places: &[usize], corners: usize) {
        self.triangles.resize(before, [WHITE; 3]);
        if let Some(texture) = self.texture.filter(|_| self.next_places.len() == corners) {
            self.places.resize(before, None);
            let placed = |corners: &[u32; 3]| TexturePlace {
                texture,
                corners: corners.map(|n| self.next_places[n as usize]),
            };
            self.places
                .extend(cut.iter().map(|corners| Some(placed(corners))));
        }
        if self.is_written() && self.next.is_none() {
            self.add_written(before, cut, places);
            return self.forget_next();
        }
        for corners in cut {
            let colours = match self.next {
                Some(next) => corners.map(|corner| next[corner as usize % 3]),
                None => corners.map(|corner| self.corner_colour(places.get(corner as usize))),
            };
            self.triangles.push(colours);
        }
        self.forget_next();
    }

    /// Returns the colour of a vertex multiplied by the colour of the material.
    fn corner_colour(&self, place: Option<&usize>) -> [u8; 3] {
        let vertex = place.and_then(|place| self.vertices.get(*place));
        match (vertex.copied(), self.base) {
            (Some(colour), Some(base)) => multiplied(colour, base),
            (Some(colour), None) | (None, Some(colour)) => colour,
            (None, None) => WHITE,
        }
    }
    /// Adds a face whose colours are known only after the whole file was read.
    fn add_written(&mut self, before: usize, cut: &[[u32; 3]], places: &[usize]) {
        self.places_written.resize(before, [NO_PLACE; 3]);
        let face = self
            .next_written
            .then(|| FACES + self.written_faces.len() as u32 - 1);
        let base = if face.is_some() {
            WHITE
        } else {
            self.base.unwrap_or(WHITE)
        };
        let vertex = |corner: u32| {
            let place = places
                .get(corner as usize)
                .and_then(|place| u32::try_from(*place).ok());
            place.filter(|place| *place < FACES).unwrap_or(NO_PLACE)
        };
        for corners in cut {
            self.triangles.push([base; 3]);
            self.places_written
                .push(corners.map(|corner| face.unwrap_or_else(|| vertex(corner))));
        }
    }

    /// Computes the colours that the file stores, now that the range of their numbers is known.
    fn apply_written(&mut self) {
        let mut triangles = std::mem::take(&mut self.triangles);
        for (triangle, places) in triangles.iter_mut().zip(&self.places_written) {
            for (corner, place) in triangle.iter_mut().zip(places) {
                if let Some(colour) = self.written_colour(*place) {
                    *corner = multiplied(colour, *corner);
                }
            }
        }
        self.triangles = triangles;
    }

    /// Returns the stored colour with this index. `None` if there is none.
    fn written_colour(&self, place: u32) -> Option<[u8; 3]> {
        let (colour, full) = if place >= FACES {
            let colour = self.written_faces.get((place - FACES) as usize)?;
            (colour, self.face_range.full())
        } else {
            (self.written.get(place as usize)?, self.vertex_range.full())
        };
        if colour[0].is_nan() {
            return None;
        }
        Some(colour.map(|value| channel(f64::from(value) / f64::from(full))))
    }

    fn into_colours(mut self, triangles: usize) -> Result<Option<MeshColours>> {
        if self.triangles.is_empty() {
            return Ok(None);
        }
        self.apply_written();
        self.triangles.resize(triangles, [WHITE; 3]);
        MeshColours::new(self.triangles)
            .with_textures(self.textures, self.places)
            .map(Some)
    }

    fn bytes(&self) -> u64 {
        let places = self.places.capacity() * size_of::<Option<TexturePlace>>();
        let written = self.written.capacity()
            + self.written_faces.capacity()
            + self.places_written.capacity();
        let written = size_of::<WrittenColour>() * written;
        3 * self.texels
            + (3 * self.vertices.capacity() + 9 * self.triangles.capacity() + places + written)
                as u64
    }
}

/// Returns the rounded product of two colours, in which 255 stands for 1.
fn multiplied(a: [u8; 3], b: [u8; 3]) -> [u8; 3] {
    std::array::from_fn(|n| ((u16::from(a[n]) * u16::from(b[n]) + 127) / 255) as u8)
}

/// Objects or materials that a file names. The same name may occur several times.
#[derive(Default)]
pub(super) struct Naming {
    /// Parts of the triangles up to the end of the last completed run.
    parts: MeshParts,
    known: HashMap<String, u32>,
    current: u32,
}

impl Naming {
    /// Assigns the triangles from index `count` on to the part with this name.
    fn begin(&mut self, name: String, count: usize) {
        self.end(count);
        self.current = match self.known.get(&name) {
            Some(part) => *part,
            None => {
                let part = self.parts.name(name.clone());
                self.known.insert(name, part);
                part
            }
        };
    }

    /// Begins a new part at triangle `count`, even if an earlier part has the same name.
    fn begin_another(&mut self, name: String, count: usize) {
        self.end(count);
        self.current = self.parts.name(name);
    }

    /// Removes all names. No triangle may have one yet.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Ends the current run before triangle `count`. Triangles before the first name get an empty name.
    fn end(&mut self, count: usize) {
        let more = count as u64 - self.parts.len();
        if more > 0 && self.parts.names().is_empty() {
            self.begin(String::new(), 0);
        }
        self.parts.extend(more, self.current);
    }

    /// Returns the parts of `count` triangles. `None` if there is only one part and it has no name.
    fn into_parts(mut self, count: usize) -> Option<MeshParts> {
        self.end(count);
        let is_named = self.parts.names().iter().any(|name| !name.is_empty());
        (is_named || self.parts.used().nth(1).is_some()).then_some(self.parts)
    }

    /// Returns the memory in bytes. Names are stored twice.
    fn bytes(&self) -> u64 {
        2 * self.parts.bytes()
    }
}

/// Returns the error for a word that should be a number and is not. `what` describes the number.
pub(super) fn no_number(word: &[u8], what: &str) -> Error {
    let found = if word.is_empty() {
        "the end of the line".into()
    } else {
        format!("'{}'", sanitize(word))
    };
    Error::input(Code::S007, format!("expected {what}, found {found}"))
}
