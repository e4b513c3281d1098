//! Colours of a mesh: sRGB red, green and blue for each corner of each triangle, and pictures (textures) on
//! triangles.

use crate::{Mesh, MeshTexture, TexturePlace};
use voxelize_core::error::{Error, Result};

/// Colour of triangles without a colour, in a mesh that has colours.
pub(crate) const WHITE: [u8; 3] = [255; 3];

/// Colours of the corners of every triangle, in the order of the mesh.
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
    /// Position of each triangle in a picture, `None` for a triangle without a picture. Trailing triangles
    /// without a picture have no entry.
    places: Vec<Option<TexturePlace>>,
}

impl MeshColours {
    /// Creates colours from three corners for each triangle.
    pub fn new(corners: Vec<[[u8; 3]; 3]>) -> Self {
        Self {
            corners,
            ..Self::default()
        }
    }

    /// Adds pictures. If a triangle has a position in a picture, its colour is multiplied by the picture's
    /// colour, in linear light.
    ///
    /// # Errors
    /// If a triangle names a picture that does not exist, or there are more positions than triangles with
    /// colours.
    pub fn with_textures(
        mut self,
        textures: Vec<MeshTexture>,
        places: Vec<Option<TexturePlace>>,
    ) -> Result<Self> {
        let unknown = places.iter().position(|place| match place {
            Some(place) => place.texture as usize >= textures.len(),
            None => false,
        });
        let beyond = (places.len() > self.corners.len()).then_some(self.corners.len());
        if let Some(triangle) = unknown.or(beyond) {
            let text = format!(
                "{} pictures, on {} triangles",
                textures.len(),
                self.corners.len()
            );
            let error = Error::usage(text).at_triangle(triangle as u64);
            return Err(error.with_hint("pictures are numbered from 0"));
        }
        self.textures = textures;
        self.places = places;
        Ok(self)
    }

    /// Returns the picture on a triangle, and the triangle's position in it. `None` for a triangle without a
    /// picture.
    pub fn texture(&self, triangle: u32) -> Option<(&MeshTexture, TexturePlace)> {
        let place = (*self.places.get(triangle as usize)?)?;
        Some((&self.textures[place.texture as usize], place))
    }

    /// Number of triangles that have colours.
    pub(super) fn len(&self) -> usize {
        self.corners.len()
    }

    /// Returns the colours of the corners of a triangle.
    ///
    /// # Panics
    /// If there is no such triangle.
    pub fn of(&self, triangle: u32) -> [[u8; 3]; 3] {
        self.corners[triangle as usize]
    }

    /// Returns the colour of a point of a triangle. `weights` are its barycentric coordinates,
    /// whose sum is 1.
    ///
    /// # Panics
    /// If there is no such triangle.
    pub fn at(&self, triangle: u32, weights: [f64; 3]) -> [u8; 3] {
        let corners = self.of(triangle);
        // The conversion to a byte saturates at 0 and 255.
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

    /// Returns the colour of a triangle if all its points have the same colour, otherwise `None`.
    pub fn only(&self, triangle: u32) -> Option<[u8; 3]> {
        let corners = self.of(triangle);
        let is_one_point = match self.texture(triangle) {
            Some((_, place)) => {
                let [a, b, c] = place.corners;
                a == b && a == c
            }
            None => true,
        };
        if is_one_point && corners == [corners[0]; 3] {
            Some(self.at(triangle, [1.0, 0.0, 0.0]))
        } else {
            None
        }
    }

    /// Memory use in bytes.
    pub fn bytes(&self) -> u64 {
        let textures: u64 = self.textures.iter().map(MeshTexture::bytes).sum();
        let places = self.places.capacity() * size_of::<Option<TexturePlace>>();
        textures + (places + 9 * self.corners.capacity()) as u64
    }

    /// Returns the colours of these triangles, in this order.
    pub(super) fn select(&self, triangles: &[u32]) -> Self {
        let mut places = vec![];
        if !self.places.is_empty() {
            for n in triangles {
                places.push(self.places.get(*n as usize).copied().flatten());
            }
        }
        let corners = triangles.iter().map(|n| self.of(*n)).collect();
        Self {
            corners,
            textures: self.textures.clone(),
            places,
        }
    }

    /// Appends the colours of further triangles. `None` makes these `triangles` white.
    pub(super) fn append(&mut self, other: Option<&Self>, triangles: usize) {
        let Some(other) = other else {
            let count = self.corners.len() + triangles;
            self.corners.resize(count, [WHITE; 3]);
            return;
        };
        if !other.places.is_empty() {
            let first = self.textures.len() as u32;
            self.places.resize(self.corners.len(), None);
            for place in &other.places {
                self.places.push(place.map(|place| TexturePlace {
                    texture: first + place.texture,
                    ..place
                }));
            }
            self.textures.extend_from_slice(&other.textures);
        }
        self.corners.extend_from_slice(&other.corners);
    }

    /// Returns the colours after the last two corners of every triangle were exchanged.
    pub(super) fn turned(&self) -> Self {
        let mut turned = self.clone();
        for corners in &mut turned.corners {
            corners.swap(1, 2);
        }
        for place in turned.places.iter_mut().flatten() {
            place.corners.swap(1, 2);
        }
        turned
    }
}

/// Converts a channel from a share between 0 and 1 to a byte.
pub(super) fn channel(share: f64) -> u8 {
    // The conversion saturates at 0 and 255.
    (share * 255.0).round() as u8
}

/// Converts linear light between 0 and 1 to a channel of sRGB (IEC 61966-2-1).
pub(super) fn channel_of_light(light: f64) -> u8 {
    channel(if light <= 0.003_130_8 {
        12.92 * light
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    })
}

/// Converts a channel of sRGB to linear light between 0 and 1.
fn light(channel: u8) -> f64 {
    let share = f64::from(channel) / 255.0;
    if share <= 0.04045 {
        share / 12.92
    } else {
        ((share + 0.055) / 1.055).powf(2.4)
    }
}

/// Returns the product of two colours in linear light.
fn multiplied(a: [u8; 3], b: [u8; 3]) -> [u8; 3] {
    std::array::from_fn(|n| {
        if b[n] == 255 {
            a[n]
        } else {
            channel_of_light(light(a[n]) * light(b[n]))
        }
    })
}

impl Mesh {
    /// Returns this mesh with these colours.
    ///
    /// # Errors
    /// If the number of triangles with colours differs from the mesh's number of triangles.
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

    /// Returns the colours of the mesh. `None` if its file has none.
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
