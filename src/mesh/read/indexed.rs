//! Polygons of numbered vertices on their way to triangles.

use std::collections::HashMap;

use super::number;
use super::polygon::PolygonCutter;
use super::room::Room;
use super::triage::Triage;
use crate::error::{Code, Error, Result, sanitize};
use crate::geom::{Point, Triangle};
use crate::mesh::{Mesh, MeshParts, PartKind, not_finite};

/// The most corners of a polygon: to cut ears may take time as their square.
const MAX_CORNERS: usize = 20_000;

/// Where something is in a file.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Line(u64),
    Byte(u64),
    /// Of a format whose data may lie in several files.
    Of(&'a str),
}

impl Place<'_> {
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
    /// The bytes that the reader itself holds.
    held: u64,
    pub triangles: Vec<Triangle>,
    pub objects: Naming,
    pub materials: Naming,
    polygon: Vec<Point>,
    cutter: PolygonCutter,
}

impl<'a> Indexed<'a> {
    pub(super) fn new(max_memory: Option<u64>, triage: &'a Triage, first: i64) -> Self {
        Self {
            room: Room::new(max_memory),
            triage,
            first,
            vertices: vec![],
            held: 0,
            triangles: vec![],
            objects: Naming::default(),
            materials: Naming::default(),
            polygon: vec![],
            cutter: PolygonCutter::new(),
        }
    }

    /// How many vertices there are.
    pub(super) fn count(&self) -> u64 {
        self.vertices.len() as u64
    }

    /// Begins with another list of vertices: places count from its first.
    pub(super) fn begin_vertices(&mut self) {
        self.vertices.clear();
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
        let named = [(PartKind::Object, self.objects), (PartKind::Material, self.materials)];
        let mut mesh = Mesh::of_finite(self.triangles.into());
        for (kind, naming) in named {
            if let Some(parts) = naming.into_parts(count) {
                mesh = mesh.with_parts(kind, parts)?;
            }
        }
        Ok(mesh)
    }

    /// Adds a vertex; one that is not finite is damage.
    pub(super) fn vertex(&mut self, point: Point, place: Place<'_>) -> Result<()> {
        let bad = point.iter().find(|coordinate| !coordinate.is_finite());
        if let Some(bad) = bad {
            self.triage.found(place.of(not_finite(*bad)))?;
        }
        self.push(if bad.is_some() { [f32::NAN; 3] } else { point })
    }

    /// Adds a vertex whose coordinates are these words.
    pub(super) fn vertex_of<'w>(
        &mut self,
        mut words: impl FnMut() -> &'w [u8],
        place: Place<'_>,
    ) -> Result<()> {
        let mut point = [0.0; 3];
        for coordinate in &mut point {
            let word = words();
            let Some(value) = number::of(word) else {
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
            self.room.admit(self.triangles.capacity() as u64, self.beside() + bytes)?;
            let too_many = |_| Error::too_large("more vertices than the system provides memory for");
            self.vertices.try_reserve_exact(more).map_err(too_many)?;
        }
        self.vertices.push(point);
        Ok(())
    }

    /// Adds the triangles of a polygon, whose corners are the places of vertices, or why one of them is none; a damaged
    /// one is refused, or dropped.
    pub(super) fn face(
        &mut self,
        corners: impl Iterator<Item = Result<i64>>,
        place: Place<'_>,
    ) -> Result<()> {
        self.polygon.clear();
        let mut damage = None;
        for corner in corners {
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
        let short =
            || Error::input(Code::S006, format!("a polygon of {count} corners, not of three or more"));
        if let Some(error) = damage.or_else(|| is_short.then(short)) {
            let triangle = self.triangles.len() as u64 + self.triage.count_dropped();
            self.triage.found(place.of(error.at_triangle(triangle)))?;
            self.triage.drop_triangle(self.triangles.len());
            return self.room.admit(self.triangles.capacity() as u64, self.beside());
        }
        let beside = self.beside();
        let cut = self.cutter.cut(&self.polygon);
        self.room.grow(&mut self.triangles, cut.len(), u64::MAX, beside)?;
        self.triangles.extend(cut.iter().map(|places| places.map(|n| self.polygon[n as usize])));
        Ok(())
    }

    fn at(&self, place: i64) -> Result<Point> {
        match usize::try_from(place).ok().and_then(|place| self.vertices.get(place)) {
            Some(vertex) if vertex[0].is_finite() => Ok(*vertex),
            Some(_) => Err(Error::input(Code::S004, format!("vertex {} is not finite", place + self.first))),
            None => {
                let count = self.vertices.len();
                let text =
                    format!("vertex {} is not there: {count} come before", place.saturating_add(self.first));
                Err(Error::input(Code::S012, text))
            }
        }
    }

    /// The memory beside the triangles, in bytes.
    fn beside(&self) -> u64 {
        let vertices = self.vertices.capacity() * size_of::<Point>();
        vertices as u64 + self.held + self.objects.bytes() + self.materials.bytes() + self.triage.bytes()
    }

    /// Refuses what has been read, and so many bytes more, where that is too much.
    pub(super) fn admit(&self, more: u64) -> Result<()> {
        self.room.admit(self.triangles.capacity() as u64, self.beside() + more)
    }
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

    /// Names and runs of so many triangles in all, if there is a name.
    fn into_parts(mut self, count: usize) -> Option<MeshParts> {
        self.end(count);
        self.parts.names().iter().any(|name| !name.is_empty()).then_some(self.parts)
    }

    /// Their memory; names are there twice.
    fn bytes(&self) -> u64 {
        2 * self.parts.bytes()
    }
}

/// The damage of a word that is no number.
pub(super) fn no_number(word: &[u8], what: &str) -> Error {
    let found = if word.is_empty() { "the end of the line".into() } else { format!("'{}'", sanitize(word)) };
    Error::input(Code::S007, format!("found {found} where {what} should be"))
}
