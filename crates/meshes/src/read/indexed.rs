//! Polygons of numbered vertices on their way to triangles.

use std::collections::HashMap;

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

/// The most corners of a polygon: to cut ears may take time as their square.
const MAX_CORNERS: usize = 20_000;

/// A polygon of more corners takes so long to cut that an interrupt is looked for.
const MANY_CORNERS: usize = 64;

/// Where something is in a file.
#[derive(Clone, Copy)]
pub(super) enum FilePosition<'a> {
    Line(u64),
    Byte(u64),
    /// Of a format whose data may lie in several files.
    Of(&'a str),
}

impl FilePosition<'_> {
    /// The error, found here.
    pub(super) fn of(self, error: Error) -> Error {
        match self {
            Self::Line(line) => error.at_line(line),
            Self::Byte(byte) => error.at_byte(byte),
            Self::Of(what) => error.about(what),
        }
    }
}

/// The vertices and the triangles read so far.
pub(super) struct Indexed<'a> {
    room: Room,
    triage: &'a Triage,
    /// The number that the file has for the first vertex.
    first: i64,
    /// Damaged ones are NaN, so that numbers stay.
    vertices: Vec<Point>,
    /// The first vertex that is not finite, and where it is.
    not_finite: Option<(usize, Error)>,
    /// The bytes that the reader itself holds.
    held: u64,
    pub triangles: Vec<Triangle>,
    pub objects: Naming,
    pub materials: Naming,
    paint: Colouring,
    polygon: Vec<Point>,
    /// The places of its corners among the vertices, where they are wanted.
    places: Vec<usize>,
    numbered: Option<VertexNumbers>,
    cutter: PolygonCutter,
    /// The listener, which may cancel while polygons are cut.
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
            polygon: vec![],
            places: vec![],
            numbered: None,
            cutter: PolygonCutter::new(),
            progress: None,
        }
    }

    /// Heard by `progress`, which may cancel.
    pub(super) fn heard_by(self, progress: &'a dyn Progress) -> Self {
        Self {
            progress: Some(progress),
            ..self
        }
    }

    /// With the numbers of the vertices of each triangle, if they are wanted.
    pub(super) fn numbered(mut self, is_wanted: bool) -> Self {
        self.numbered = is_wanted.then(VertexNumbers::default);
        self
    }

    /// How many vertices there are.
    pub(super) fn count(&self) -> u64 {
        self.vertices.len() as u64
    }

    /// Begins with another list of vertices: places count from its first.
    pub(super) fn begin_vertices(&mut self) {
        if let Some(numbered) = &mut self.numbered {
            numbered.before += self.vertices.len() as u64;
        }
        self.vertices.clear();
        self.not_finite = None;
        self.paint.vertices.clear();
    }

    /// Room for so many vertices and triangles more, all of which are known to be there.
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

    /// Knows of so many bytes more that the reader itself holds.
    pub(super) fn hold(&mut self, more: u64) -> Result<()> {
        self.held += more;
        self.admit(0)
    }

    /// Names the object that the next triangles belong to.
    pub(super) fn begin_object(&mut self, name: impl Into<String>) -> Result<()> {
        self.objects.begin(name.into(), self.triangles.len());
        self.admit(0)
    }

    /// Names the object that the next triangles are, which is none of those before it.
    pub(super) fn begin_instance(&mut self, name: String) -> Result<()> {
        self.objects.begin_another(name, self.triangles.len());
        self.admit(0)
    }

    /// Names the material that the next triangles are of.
    pub(super) fn begin_material(&mut self, name: impl Into<String>) -> Result<()> {
        self.materials.begin(name.into(), self.triangles.len());
        self.admit(0)
    }

    /// The mesh of all triangles, with objects and materials where the file names any.
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

    /// Adds a vertex; one that is not finite is damage of the faces that name it.
    pub(super) fn vertex(&mut self, point: Point, place: FilePosition<'_>) -> Result<()> {
        let bad = point.iter().find(|coordinate| !coordinate.is_finite());
        if let (Some(bad), None) = (bad, &self.not_finite) {
            let error = not_finite(*bad);
            let error = if let FilePosition::Of(_) = place {
                error
            } else {
                place.of(error)
            };
            self.not_finite = Some((self.vertices.len(), error));
        }
        self.push(if bad.is_some() { [f32::NAN; 3] } else { point })
    }

    /// The triage, which also places coordinates.
    pub(super) fn triage(&self) -> &Triage {
        self.triage
    }

    /// Gives the vertex added last this colour.
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

    /// Gives vertex number `place` the colour that a file writes so. Other vertices have none.
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

    /// The colours of vertices, whose range the whole file tells.
    pub(super) fn vertex_range(&mut self) -> &mut ColourRange {
        &mut self.paint.vertex_range
    }

    /// The colours of faces, whose range the whole file tells.
    pub(super) fn face_range(&mut self) -> &mut ColourRange {
        &mut self.paint.face_range
    }

    /// The next face alone has the colour that a file writes so, whatever its vertices have.
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

    /// The next faces are of a material of this colour, which multiplies those of vertices; of none, if not known.
    pub(super) fn set_base_colour(&mut self, colour: Option<[u8; 3]>) {
        self.paint.base = colour;
    }

    /// The corners of the next face alone have these colours, whatever its vertices have.
    pub(super) fn colour_next(&mut self, corners: [[u8; 3]; 3]) {
        self.paint.next = Some(corners);
    }

    /// Adds the picture in these bytes, and gives its number. One that cannot be read is noted and left out.
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
            picture::decode(bytes.as_ref(), budget, &mut self.paint.broken)
        });
        let texture = |(size, texels)| Ok((size, MeshTexture::new(size, texels, wrap)?));
        match decoded.and_then(texture) {
            Ok((size, texture)) => {
                self.paint.texels += u64::from(size[0]) * u64::from(size[1]);
                self.paint.textures.push(texture);
                Ok(Some(self.paint.textures.len() as u32 - 1))
            }
            Err(error) if matches!(error.kind(), Kind::TooLarge | Kind::Usage) => Err(error),
            Err(error) => self.no_colours(&error, place).map(|()| None),
        }
    }

    /// Notes that a file with colours cannot be read.
    pub(super) fn no_colours(&self, error: &Error, place: FilePosition<'_>) -> Result<()> {
        let text = format!("colours are not known: {}", error.message());
        let found = || {
            let found = place.of(Error::input(Code::S110, text.clone()));
            match error.hint() {
                Some(hint) => found.with_hint(hint),
                None => found,
            }
        };
        self.triage.found_all(Code::S110, 1, found)
    }

    /// The next faces are of a material with this picture, where they have a place in it.
    pub(super) fn set_texture(&mut self, texture: Option<u32>) {
        self.paint.texture = texture;
    }

    /// Whether a picture lies on the next faces.
    pub(super) fn has_texture(&self) -> bool {
        self.paint.texture.is_some()
    }

    /// The corners of the next face alone lie at these places of its picture.
    pub(super) fn place_next(&mut self, corners: impl Iterator<Item = [f32; 2]>) {
        self.paint.next_places.clear();
        self.paint.next_places.extend(corners);
    }

    /// Adds a vertex whose coordinates are these words.
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

    /// Adds a vertex that is damaged so.
    pub(super) fn no_vertex(&mut self, damage: Error) -> Result<()> {
        self.triage.found(damage)?;
        self.push([f32::NAN; 3])
    }

    fn push(&mut self, point: Point) -> Result<()> {
        if self.vertices.len() == self.vertices.capacity() {
            let more = self.vertices.capacity().max(512);
            // While they move, both are there.
            let bytes = (self.vertices.len() + more) as u64 * size_of::<Point>() as u64;
            self.room
                .admit(self.triangles.capacity() as u64, self.beside() + bytes)?;
            let too_many =
                |_| Error::too_large("more vertices than the system provides memory for");
            self.vertices.try_reserve_exact(more).map_err(too_many)?;
        }
        self.vertices.push(point);
        Ok(())
    }

    /// Adds a triangle, whose corners are the places of vertices. Most need nothing but these.
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

    /// Adds the triangles of a polygon, whose corners are the places of vertices, or why one of them is none; a damaged
    /// one is refused, or dropped.
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
                    let text = format!("a polygon of more than {MAX_CORNERS} corners");
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
        let is_short = damage.is_none() && count < 3;
        let short = || {
            Error::input(
                Code::S006,
                format!("a polygon of {count} corners, not of three or more"),
            )
        };
        if let Some(error) = damage.or_else(|| is_short.then(short)) {
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
        if let (true, Some(progress)) = (count > MANY_CORNERS, self.progress) {
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
        match usize::try_from(place)
            .ok()
            .and_then(|place| self.vertices.get(place))
        {
            Some(vertex) if vertex[0].is_finite() => Ok(*vertex),
            Some(_) => Err(self.not_finite_at(place)),
            None => {
                let count = self.vertices.len();
                let text = format!(
                    "vertex {} is not there: {count} come before",
                    place.saturating_add(self.first)
                );
                Err(Error::input(Code::S012, text))
            }
        }
    }

    /// The error for a face with a vertex that is not finite: where the vertex is, if it is the first of its kind.
    fn not_finite_at(&self, place: i64) -> Error {
        match &self.not_finite {
            Some((first, error)) if i64::try_from(*first) == Ok(place) => error.clone(),
            _ => Error::input(
                Code::S004,
                format!("vertex {} is not finite", place + self.first),
            ),
        }
    }

    /// The memory beside the triangles, in bytes.
    fn beside(&self) -> u64 {
        let vertices = self.vertices.capacity() * size_of::<Point>();
        let named = self.objects.bytes() + self.materials.bytes();
        let numbered = self
            .numbered
            .as_ref()
            .map_or(0, |numbered| numbered.missing(0));
        vertices as u64 + self.held + named + self.triage.bytes() + self.paint.bytes() + numbered
    }

    /// Bytes of all that has been read.
    #[cfg(feature = "3mf")]
    pub(super) fn bytes(&self) -> u64 {
        (self.triangles.capacity() * size_of::<Triangle>()) as u64 + self.beside()
    }

    /// Refuses what has been read, and so many bytes more, where that is too much.
    pub(super) fn admit(&self, more: u64) -> Result<()> {
        self.room
            .admit(self.triangles.capacity() as u64, self.beside() + more)
    }
}

/// The vertices of each triangle by number: those of all lists, one behind the other.
#[derive(Default)]
struct VertexNumbers {
    /// How many vertices come before those of this list.
    before: u64,
    triangles: Vec<[u32; 3]>,
    /// Whether a number is too large.
    is_beyond: bool,
}

impl VertexNumbers {
    /// The bytes of what there is, and of so many triangles more, while they move.
    fn missing(&self, more: usize) -> u64 {
        let (there, need) = (self.triangles.capacity(), self.triangles.len() + more);
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

/// A written colour that is none.
const NO_COLOUR: WrittenColour = [f32::NAN; 3];

/// The place of a written colour that is not there.
const NO_PLACE: u32 = u32::MAX;

/// The places from here on are those of faces.
const FACES: u32 = 1 << 31;

/// Colours on their way to triangles: nothing, while no face has any.
#[derive(Default)]
struct Colouring {
    /// Of the vertices up to the last that has a colour.
    vertices: Vec<[u8; 3]>,
    /// Of the vertices up to the last that has a colour, as the file writes them.
    written: Vec<WrittenColour>,
    vertex_range: ColourRange,
    /// Of faces, as the file writes them; equal ones that follow each other are one.
    written_faces: Vec<WrittenColour>,
    face_range: ColourRange,
    /// The next face has the last colour of `written_faces`.
    next_written: bool,
    base: Option<[u8; 3]>,
    next: Option<[[u8; 3]; 3]>,
    /// Of the triangles up to the last that has colours; where these are written, the colour of the material.
    triangles: Vec<[[u8; 3]; 3]>,
    /// The places of the written colours of triangles.
    places_written: Vec<[u32; 3]>,
    textures: Vec<MeshTexture>,
    /// Number of texels of all pictures.
    texels: u64,
    /// Number of texels of the pictures that turned out to be broken.
    broken: u64,
    texture: Option<u32>,
    /// Where the corners of the next face lie in its picture.
    next_places: Vec<[f32; 2]>,
    /// Of the triangles up to the last that has a picture.
    places: Vec<Option<TexturePlace>>,
}

impl Colouring {
    /// Whether the next face has colours.
    fn is_needed(&self) -> bool {
        self.next.is_some()
            || self.base.is_some()
            || !self.vertices.is_empty()
            || self.is_written()
            || self.is_placed()
    }

    /// Whether the next face may have a colour that is written.
    fn is_written(&self) -> bool {
        self.next_written || !self.written.is_empty()
    }

    /// Whether the places of the corners of a face among the vertices are needed.
    fn needs_places(&self) -> bool {
        !self.vertices.is_empty() || !self.written.is_empty()
    }

    /// Whether the next face has a place in a picture.
    fn is_placed(&self) -> bool {
        self.texture.is_some() && !self.next_places.is_empty()
    }

    /// Forgets what is known of the next face.
    fn forget_next(&mut self) {
        self.next = None;
        self.next_written = false;
        self.next_places.clear();
    }

    /// The bytes that are missing for so many triangles.
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

    /// Adds those of a face behind so many triangles, that is cut so, and whose `corners` corners are these vertices.
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
        let next = self.next;
        let colour = |corner: u32| {
            let vertex = places
                .get(corner as usize)
                .and_then(|place| self.vertices.get(*place));
            match (vertex.copied(), self.base) {
                (Some(colour), Some(base)) => multiplied(colour, base),
                (Some(colour), None) | (None, Some(colour)) => colour,
                (None, None) => WHITE,
            }
        };
        for corners in cut {
            let own = next.map(|next| corners.map(|corner| next[corner as usize % 3]));
            self.triangles
                .push(own.unwrap_or_else(|| corners.map(colour)));
        }
        self.forget_next();
    }

    /// Adds those of a face whose colours are known when the whole file is.
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

    /// Applies the colours that are written, now that the range of their numbers is known.
    fn apply_written(&mut self) {
        let colour = |place: u32| {
            let (colours, place, full) = if place >= FACES {
                (&self.written_faces, place - FACES, self.face_range.full())
            } else {
                (&self.written, place, self.vertex_range.full())
            };
            let colour = colours
                .get(place as usize)
                .filter(|colour| !colour[0].is_nan())?;
            Some(colour.map(|value| channel(f64::from(value) / f64::from(full))))
        };
        for (triangle, places) in self.triangles.iter_mut().zip(&self.places_written) {
            for (corner, place) in triangle.iter_mut().zip(places) {
                if let Some(colour) = colour(*place) {
                    *corner = multiplied(colour, *corner);
                }
            }
        }
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

/// The product of two colours, rounded; 255 is one.
fn multiplied(a: [u8; 3], b: [u8; 3]) -> [u8; 3] {
    std::array::from_fn(|n| ((u16::from(a[n]) * u16::from(b[n]) + 127) / 255) as u8)
}

/// Objects or materials that a file names on its way, and may come back to.
#[derive(Default)]
pub(super) struct Naming {
    /// The runs that have ended.
    parts: MeshParts,
    known: HashMap<String, u32>,
    current: u32,
}

impl Naming {
    /// Triangles from number `count` on are of this name.
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

    /// Triangles from number `count` on are of another part, which may have the name of one before.
    fn begin_another(&mut self, name: String, count: usize) {
        self.end(count);
        self.current = self.parts.name(name);
    }

    /// Forgets all names, as no triangle has one yet.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Ends the current run before triangle `count`. Triangles before the first name have none.
    fn end(&mut self, count: usize) {
        let more = count as u64 - self.parts.len();
        if more > 0 && self.parts.names().is_empty() {
            self.begin(String::new(), 0);
        }
        self.parts.extend(more, self.current);
    }

    /// Names and runs of so many triangles in all, if there is a name or more than one part.
    fn into_parts(mut self, count: usize) -> Option<MeshParts> {
        self.end(count);
        let is_named = self.parts.names().iter().any(|name| !name.is_empty());
        (is_named || self.parts.used().nth(1).is_some()).then_some(self.parts)
    }

    /// Their memory; names are there twice.
    fn bytes(&self) -> u64 {
        2 * self.parts.bytes()
    }
}

/// The damage of a word that is no number.
pub(super) fn no_number(word: &[u8], what: &str) -> Error {
    let found = if word.is_empty() {
        "the end of the line".into()
    } else {
        format!("'{}'", sanitize(word))
    };
    Error::input(Code::S007, format!("found {found} where {what} should be"))
}
