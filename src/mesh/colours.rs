//! The colours of a mesh: red, green and blue of sRGB for each corner of each triangle.

use crate::error::{Error, Result};
use crate::mesh::Mesh;

/// The colour of what has none, in a mesh that has colours.
pub(crate) const WHITE: [u8; 3] = [255; 3];

/// The colours of the corners of every triangle, in the order of the mesh.
///
/// ```
/// use voxelize::mesh::MeshColours;
///
/// let colours = MeshColours::new(vec![[[255, 0, 0], [0, 255, 0], [0, 0, 255]]]);
/// assert_eq!(colours.of(0)[1], [0, 255, 0]);
/// assert_eq!(colours.at(0, [0.5, 0.5, 0.0]), [128, 128, 0]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeshColours {
    corners: Vec<[[u8; 3]; 3]>,
}

impl MeshColours {
    /// These colours, of three corners for each triangle.
    pub fn new(corners: Vec<[[u8; 3]; 3]>) -> Self {
        Self { corners }
    }

    /// How many triangles have colours.
    pub(super) fn len(&self) -> usize {
        self.corners.len()
    }

    /// The colours of the corners of a triangle.
    ///
    /// # Panics
    /// If there is no such triangle.
    pub fn of(&self, triangle: u32) -> [[u8; 3]; 3] {
        self.corners[triangle as usize]
    }

    /// The colour of a point of a triangle that lies between the corners with these weights, of sum 1.
    ///
    /// # Panics
    /// If there is no such triangle.
    pub fn at(&self, triangle: u32, weights: [f64; 3]) -> [u8; 3] {
        let corners = self.of(triangle);
        // A conversion from a number to a byte ends at 0 and 255.
        std::array::from_fn(|channel| {
            let parts = [0, 1, 2].map(|corner| weights[corner] * f64::from(corners[corner][channel]));
            (parts[0] + parts[1] + parts[2]).round() as u8
        })
    }

    /// The colours of these triangles alone, in this order.
    pub(super) fn select(&self, triangles: &[u32]) -> Self {
        Self { corners: triangles.iter().map(|n| self.of(*n)).collect() }
    }

    /// These colours behind those of other triangles.
    pub(super) fn append(&mut self, other: Option<&Self>, triangles: usize) {
        match other {
            Some(other) => self.corners.extend_from_slice(&other.corners),
            None => self.corners.resize(self.corners.len() + triangles, [WHITE; 3]),
        }
    }

    /// The colours of triangles whose last two corners have changed places.
    fn turned(&self) -> Self {
        Self { corners: self.corners.iter().map(|[a, b, c]| [*a, *c, *b]).collect() }
    }
}

impl Mesh {
    /// This mesh with colours.
    ///
    /// # Errors
    /// If they are not of as many triangles.
    pub fn with_colours(mut self, colours: MeshColours) -> Result<Self> {
        if colours.len() != self.triangles.len() {
            let text =
                format!("colours of {} triangles, the mesh has {}", colours.len(), self.triangles.len());
            return Err(Error::usage(text).with_hint("give three colours for every triangle"));
        }
        self.colours = Some(colours.into());
        Ok(self)
    }

    /// The colours, if its file has any.
    pub fn colours(&self) -> Option<&MeshColours> {
        self.colours.as_deref()
    }

    /// This mesh with the colours of triangles whose last two corners have changed places.
    pub(crate) fn with_turned_colours(mut self) -> Self {
        self.colours = self.colours.map(|colours| colours.turned().into());
        self
    }
}
