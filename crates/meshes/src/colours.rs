//! The colours of a mesh: red, green and blue of sRGB for each corner of each triangle, and pictures on triangles.

use crate::{Mesh, MeshTexture, TexturePlace};
use voxelize_core::error::{Error, Result};

/// The colour of what has none, in a mesh that has colours.
pub(crate) const WHITE: [u8; 3] = [255; 3];

/// The colours of the corners of every triangle, in the order of the mesh.
///
/// ```
/// # use voxelize_meshes::voxelize;
/// use voxelize::mesh::MeshColours;
///
/// let colours = MeshColours::new(vec![[[255, 0, 0], [0, 255, 0], [0, 0, 255]]]);
/// assert_eq!(colours.of(0)[1], [0, 255, 0]);
/// assert_eq!(colours.at(0, [0.5, 0.5, 0.0]), [128, 128, 0]);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeshColours {
    corners: Vec<[[u8; 3]; 3]>,
    textures: Vec<MeshTexture>,
    /// Of the triangles up to the last that has a picture.
    places: Vec<Option<TexturePlace>>,
}

impl MeshColours {
    /// These colours, of three corners for each triangle.
    pub fn new(corners: Vec<[[u8; 3]; 3]>) -> Self {
        Self {
            corners,
            ..Self::default()
        }
    }

    /// These colours, multiplied in light by those of pictures, on the triangles that have a place in one.
    ///
    /// # Errors
    /// If a triangle has a place in a picture that is not there, or places are of more triangles than colours.
    pub fn with_textures(
        mut self,
        textures: Vec<MeshTexture>,
        places: Vec<Option<TexturePlace>>,
    ) -> Result<Self> {
        let is_known = |place: &TexturePlace| (place.texture as usize) < textures.len();
        let unknown = places
            .iter()
            .position(|place| place.is_some_and(|place| !is_known(&place)));
        let beyond = (places.len() > self.corners.len()).then_some(self.corners.len());
        if let Some(triangle) = unknown.or(beyond) {
            let text = format!(
                "{} pictures, on {} triangles",
                textures.len(),
                self.corners.len()
            );
            let error = Error::usage(text).at_triangle(triangle as u64);
            return Err(error.with_hint("pictures count from 0"));
        }
        (self.textures, self.places) = (textures, places);
        Ok(self)
    }

    /// The picture on a triangle, and the place of the triangle in it.
    pub fn texture(&self, triangle: u32) -> Option<(&MeshTexture, TexturePlace)> {
        let place = (*self.places.get(triangle as usize)?)?;
        Some((&self.textures[place.texture as usize], place))
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
        let between = std::array::from_fn(|channel| {
            let parts =
                [0, 1, 2].map(|corner| weights[corner] * f64::from(corners[corner][channel]));
            (parts[0] + parts[1] + parts[2]).round() as u8
        });
        match self.texture(triangle) {
            Some((texture, place)) => multiplied(texture.at(place.of(weights)), between),
            None => between,
        }
    }

    /// The colour of a triangle that has the same everywhere.
    pub fn only(&self, triangle: u32) -> Option<[u8; 3]> {
        let corners = self.of(triangle);
        let is_same = self.texture(triangle).is_none_or(
            |(
                _,
                TexturePlace {
                    corners: [a, b, c], ..
                },
            )| a == b && a == c,
        );
        (is_same && corners == [corners[0]; 3]).then(|| self.at(triangle, [1.0, 0.0, 0.0]))
    }

    /// The memory that they take, in bytes.
    pub fn bytes(&self) -> u64 {
        let textures: u64 = self.textures.iter().map(MeshTexture::bytes).sum();
        let places = self.places.capacity() * size_of::<Option<TexturePlace>>();
        textures + (places + 9 * self.corners.capacity()) as u64
    }

    /// The colours of these triangles alone, in this order.
    pub(super) fn select(&self, triangles: &[u32]) -> Self {
        let place = |n: &u32| self.places.get(*n as usize).copied().flatten();
        let places = if self.places.is_empty() {
            vec![]
        } else {
            triangles.iter().map(place).collect()
        };
        let corners = triangles.iter().map(|n| self.of(*n)).collect();
        Self {
            corners,
            textures: self.textures.clone(),
            places,
        }
    }

    /// These colours behind those of other triangles.
    pub(super) fn append(&mut self, other: Option<&Self>, triangles: usize) {
        let Some(other) = other else {
            return self
                .corners
                .resize(self.corners.len() + triangles, [WHITE; 3]);
        };
        if !other.places.is_empty() {
            let first = self.textures.len() as u32;
            let moved = |place: TexturePlace| TexturePlace {
                texture: first + place.texture,
                ..place
            };
            self.places.resize(self.corners.len(), None);
            self.places
                .extend(other.places.iter().map(|place| place.map(moved)));
            self.textures.extend_from_slice(&other.textures);
        }
        self.corners.extend_from_slice(&other.corners);
    }

    /// The colours of triangles whose last two corners have changed places.
    pub(super) fn turned(&self) -> Self {
        let mut turned = self.clone();
        turned
            .corners
            .iter_mut()
            .for_each(|corners| corners.swap(1, 2));
        turned
            .places
            .iter_mut()
            .flatten()
            .for_each(|place| place.corners.swap(1, 2));
        turned
    }
}

/// A channel of a colour that files have as a number from 0 to 1.
pub(super) fn channel(share: f64) -> u8 {
    // A conversion ends at 0 and 255.
    (share * 255.0).round() as u8
}

/// A channel of sRGB for one of linear light, 0 to 1 (IEC 61966-2-1).
pub(super) fn channel_of_light(light: f64) -> u8 {
    channel(if light <= 0.003_130_8 {
        12.92 * light
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    })
}

/// The linear light, 0 to 1, of a channel of sRGB.
fn light(channel: u8) -> f64 {
    let share = f64::from(channel) / 255.0;
    if share <= 0.04045 {
        share / 12.92
    } else {
        ((share + 0.055) / 1.055).powf(2.4)
    }
}

/// The colour of what reflects one colour of another.
fn multiplied(a: [u8; 3], b: [u8; 3]) -> [u8; 3] {
    let channel = |n| {
        if b[n] == 255 {
            a[n]
        } else {
            channel_of_light(light(a[n]) * light(b[n]))
        }
    };
    std::array::from_fn(channel)
}

impl Mesh {
    /// This mesh with colours.
    ///
    /// # Errors
    /// If they are not of as many triangles.
    pub fn with_colours(mut self, colours: MeshColours) -> Result<Self> {
        if colours.len() != self.triangles.len() {
            let text = format!(
                "colours of {} triangles, the mesh has {}",
                colours.len(),
                self.triangles.len()
            );
            return Err(Error::usage(text).with_hint("give three colours for every triangle"));
        }
        self.colours = Some(colours.into());
        Ok(self)
    }

    /// The colours, if its file has any.
    pub fn colours(&self) -> Option<&MeshColours> {
        self.colours.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TextureWrap;

    #[test]
    fn light_and_channels_are_inverse() {
        for channel in 0..=255 {
            assert_eq!(channel_of_light(light(channel)), channel);
            assert_eq!(multiplied([channel; 3], WHITE), [channel; 3]);
            assert_eq!(multiplied(WHITE, [channel; 3]), [channel; 3]);
        }
        assert_eq!(multiplied([188; 3], [188, 0, 255]), [138, 0, 188]);
    }

    #[test]
    fn pictures_stay_on_their_triangles() {
        let picture =
            |colour| MeshTexture::new([1, 1], vec![colour], [TextureWrap::Repeat; 2]).unwrap();
        let place = |texture| {
            Some(TexturePlace {
                texture,
                corners: [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
            })
        };
        let white = |count| MeshColours::new(vec![[WHITE; 3]; count]);
        let (a, b) = ([1, 2, 3], [4, 5, 6]);
        let first = white(2)
            .with_textures(vec![picture(a)], vec![place(0)])
            .unwrap();
        let second = white(3)
            .with_textures(vec![picture(b), picture(a)], vec![None, place(0), place(1)])
            .unwrap();
        let mut all = first;
        all.append(None, 1);
        all.append(Some(&second), 3);
        let colours = |colours: &MeshColours| {
            (0..colours.len() as u32)
                .map(|n| colours.at(n, [0.2, 0.3, 0.5]))
                .collect()
        };
        let found: Vec<_> = colours(&all);
        assert_eq!(found, [a, WHITE, WHITE, WHITE, b, a]);
        let found: Vec<_> = colours(&all.select(&[4, 1, 0]));
        assert_eq!(found, [b, WHITE, a]);
        assert_eq!(
            all.turned().texture(0).unwrap().1.corners,
            [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
        );
        assert!(white(1).with_textures(vec![], vec![place(0)]).is_err());
        assert!(white(1).with_textures(vec![], vec![None, None]).is_err());
    }
}
