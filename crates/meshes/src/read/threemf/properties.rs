//! Properties of triangles: materials, colours, pictures, and mixtures of these.
//!
//! | element | |
//! |---|---|
//! | `basematerials` | names and optional colours |
//! | `colorgroup` | colours, `#RRGGBB` or `#RRGGBBAA` |
//! | `texture2dgroup` | positions in the picture of a `texture2d` |
//! | `compositematerials` | mixtures of base materials; the colour is the mean of their colours, weighted by their shares |
//! | `multiproperties` | layers of properties from other groups; their colours are mixed by opacity or multiplied |

use std::collections::HashMap;

use super::xml::XmlElement;
use crate::TextureWrap;
use voxelize_core::error::Result;

/// Maximum nesting depth of groups.
const MAX_DEPTH: usize = 4;

/// Name and colour of one property: red, green, blue and opacity.
pub(super) struct NamedColour {
    pub name: String,
    pub colour: Option<[u8; 4]>,
}

/// Picture file in the package.
pub(super) struct Texture {
    pub path: String,
    pub wrap: [TextureWrap; 2],
}

/// Group of properties. A triangle refers to a property by the number of a group and the index of the
/// property in that group.
pub(super) enum Group {
    Materials(Vec<NamedColour>),
    Texture {
        texture: u64,
        /// Positions in the picture, from left to right and from bottom to top.
        places: Vec<[f32; 2]>,
    },
    Composites {
        materials: u64,
        indices: Vec<u64>,
        /// For each mixture, the share of each material.
        shares: Vec<Vec<f64>>,
    },
    Layers {
        groups: Vec<u64>,
        /// For each layer: its colour is multiplied with the layers below it.
        is_multiplied: Vec<bool>,
        /// For each property, an index into the group of each layer.
        places: Vec<Vec<u64>>,
    },
}

/// All groups of properties and all pictures of a model.
#[derive(Default)]
pub(super) struct Properties {
    groups: HashMap<u64, Group>,
    textures: HashMap<u64, Texture>,
    /// Number of the group that the following elements belong to.
    current: Option<u64>,
}

/// Name, colours and picture of a triangle.
#[derive(Default)]
pub(super) struct Appearance {
    pub name: String,
    pub colours: Option<[[u8; 3]; 3]>,
    /// Number of the picture, and the positions of the corners in it. The second coordinate increases
    /// downwards.
    pub texture: Option<(u64, [[f32; 2]; 3])>,
    /// All properties of the triangle exist and are supported.
    pub is_known: bool,
}

impl Properties {
    /// Reads an element that defines properties, and returns its memory in bytes. `None` for other elements.
    pub(super) fn element(&mut self, element: &XmlElement) -> Result<Option<u64>> {
        let bytes = if element.is_core("basematerials") || element.is_material("colorgroup") {
            self.begin(element, Group::Materials(vec![]))?
        } else if element.is_core("base") {
            let name = element.text("name")?.unwrap_or_default();
            let colour = element.text("displaycolor")?.and_then(|text| colour(&text));
            self.add_material(name, colour)
        } else if element.is_material("color") {
            let text = element.text("color")?.unwrap_or_default();
            // The name is the colour without its opacity.
            self.add_material(text.chars().take(7).collect(), colour(&text))
        } else if element.is_material("texture2d") {
            let path = element.text("path")?.unwrap_or_default();
            let mut wrap = [TextureWrap::Repeat; 2];
            for (wrap, name) in wrap.iter_mut().zip(["tilestyleu", "tilestylev"]) {
                *wrap = match element.text(name)?.as_deref() {
                    Some("mirror") => TextureWrap::Mirror,
                    Some("clamp" | "none") => TextureWrap::Clamp,
                    _ => TextureWrap::Repeat,
                };
            }
            let bytes = path.len() + 2 * size_of::<Texture>();
            self.textures
                .insert(element.needed("id")?, Texture { path, wrap });
            bytes as u64
        } else if element.is_material("texture2dgroup") {
            let texture = element.needed("texid")?;
            self.begin(
                element,
                Group::Texture {
                    texture,
                    places: vec![],
                },
            )?
        } else if element.is_material("tex2coord") {
            let mut place = [0.0; 2];
            for (number, name) in place.iter_mut().zip(["u", "v"]) {
                let text = element.text(name)?.unwrap_or_default();
                *number = text
                    .trim()
                    .parse()
                    .map_err(|_| element.bad(&format!("{name} is '{text}'")))?;
            }
            if let Some(Group::Texture { places, .. }) = self.current() {
                places.push(place);
            }
            2 * size_of::<[f32; 2]>() as u64
        } else if element.is_material("compositematerials") {
            let group = Group::Composites {
                materials: element.needed("matid")?,
                indices: element.numbers("matindices")?,
                shares: vec![],
            };
            self.begin(element, group)?
        } else if element.is_material("composite") {
            let text = element.text("values")?.unwrap_or_default();
            let mut mixture = vec![];
            for word in text.split_ascii_whitespace() {
                let share: f64 = word
                    .parse()
                    .map_err(|_| element.bad(&format!("values are '{text}'")))?;
                mixture.push(share);
            }
            let bytes = size_of::<f64>() * mixture.capacity() + 2 * size_of::<Vec<f64>>();
            if let Some(Group::Composites { shares, .. }) = self.current() {
                shares.push(mixture);
            }
            bytes as u64
        } else if element.is_material("multiproperties") {
            let groups = element.numbers("pids")?;
            let methods = element.text("blendmethods")?.unwrap_or_default();
            let mut is_multiplied = vec![false];
            is_multiplied.extend(
                methods
                    .split_ascii_whitespace()
                    .map(|method| method == "multiply"),
            );
            is_multiplied.resize(groups.len(), false);
            self.begin(
                element,
                Group::Layers {
                    groups,
                    is_multiplied,
                    places: vec![],
                },
            )?
        } else if element.is_material("multi") {
            let own = element.numbers("pindices")?;
            let bytes = size_of::<u64>() * own.capacity() + 2 * size_of::<Vec<u64>>();
            if let Some(Group::Layers { places, .. }) = self.current() {
                places.push(own);
            }
            bytes as u64
        } else {
            return Ok(None);
        };
        Ok(Some(bytes))
    }

    fn begin(&mut self, element: &XmlElement, group: Group) -> Result<u64> {
        let id = element.needed("id")?;
        self.current = Some(id);
        self.groups.insert(id, group);
        // The text of a list of numbers is usually longer than its numbers in memory.
        let text = element.bytes() as u64;
        Ok(8 * text + 2 * size_of::<Group>() as u64)
    }

    fn add_material(&mut self, name: String, colour: Option<[u8; 4]>) -> u64 {
        let bytes = 2 * (name.len() + size_of::<NamedColour>()) as u64;
        if let Some(Group::Materials(all)) = self.current() {
            all.push(NamedColour { name, colour });
        }
        bytes
    }

    fn current(&mut self) -> Option<&mut Group> {
        self.groups.get_mut(&self.current?)
    }

    /// Returns the picture with this number.
    pub(super) fn texture(&self, id: u64) -> Option<&Texture> {
        self.textures.get(&id)
    }

    /// Returns the appearance of a triangle. `places` has the index in the group for each corner.
    pub(super) fn look(&self, group: u64, places: [u64; 3]) -> Appearance {
        match self.groups.get(&group) {
            None => Appearance::default(),
            Some(Group::Texture {
                texture,
                places: all,
            }) => {
                let at = |place: u64| {
                    all.get(usize::try_from(place).ok()?)
                        .map(|[u, v]| [*u, 1.0 - *v])
                };
                let [Some(a), Some(b), Some(c)] = places.map(at) else {
                    return Appearance::default();
                };
                let Some(picture) = self.textures.get(texture) else {
                    return Appearance::default();
                };
                let name = picture
                    .path
                    .rsplit('/')
                    .next()
                    .unwrap_or_default()
                    .to_string();
                Appearance {
                    name,
                    texture: Some((*texture, [a, b, c])),
                    is_known: true,
                    ..Appearance::default()
                }
            }
            Some(Group::Layers {
                groups,
                is_multiplied,
                places: all,
            }) => self.layers(groups, is_multiplied, all, places),
            Some(_) => {
                let name = self.name(group, places[0], 0);
                let [a, b, c] = places.map(|place| self.colour(group, place, 0));
                let colours = match (a, b, c) {
                    (Some(a), Some(b), Some(c)) => Some([a, b, c].map(bytes)),
                    _ => None,
                };
                Appearance {
                    is_known: name.is_some(),
                    name: name.unwrap_or_default(),
                    colours,
                    texture: None,
                }
            }
        }
    }

    /// Returns the appearance of a triangle with several layers, from the bottom to the top.
    fn layers(
        &self,
        groups: &[u64],
        is_multiplied: &[bool],
        all: &[Vec<u64>],
        places: [u64; 3],
    ) -> Appearance {
        let mut corners = [&[][..]; 3];
        for (corner, place) in corners.iter_mut().zip(places) {
            let Some(own) = usize::try_from(place).ok().and_then(|place| all.get(place)) else {
                return Appearance::default();
            };
            *corner = own;
        }
        let mut look = Appearance {
            is_known: true,
            ..Appearance::default()
        };
        let mut below: [Option<[f64; 4]>; 3] = [None; 3];
        for (layer, group) in groups.iter().enumerate() {
            // Missing indices are 0.
            let own = corners.map(|corner| corner.get(layer).copied().unwrap_or(0));
            if let Some(Group::Texture { .. }) = self.groups.get(group) {
                let picture = self.look(*group, own);
                look.is_known &= picture.is_known;
                look.texture = picture.texture;
                if !is_multiplied[layer] {
                    // An opaque picture hides the layers below it.
                    below = [None; 3];
                }
                continue;
            }
            if look.name.is_empty() && matches!(self.groups.get(group), Some(Group::Materials(_))) {
                look.name = self.name(*group, own[0], 0).unwrap_or_default();
            }
            let colours = own.map(|place| self.colour(*group, place, 0));
            look.is_known &= self.name(*group, own[0], 0).is_some();
            let is_opaque = colours
                .iter()
                .all(|colour| colour.is_some_and(|colour| colour[3] == 255.0));
            if look.texture.is_some() && is_multiplied[layer] {
                // The colour is multiplied with the picture below it.
            } else if look.texture.is_some() && is_opaque {
                look.texture = None;
                below = [None; 3];
            } else if look.texture.is_some() && colours.iter().any(Option::is_some) {
                // A transparent colour above a picture is not supported.
                look.is_known = false;
                continue;
            }
            for (below, colour) in below.iter_mut().zip(colours) {
                let Some(colour) = colour else { continue };
                *below = Some(match *below {
                    None => colour,
                    Some(lower) if is_multiplied[layer] => {
                        std::array::from_fn(|n| lower[n] * colour[n] / 255.0)
                    }
                    Some(lower) => {
                        let share = colour[3] / 255.0;
                        std::array::from_fn(|n| share * colour[n] + (1.0 - share) * lower[n])
                    }
                });
            }
        }
        if let [Some(a), Some(b), Some(c)] = below {
            look.colours = Some([a, b, c].map(bytes));
        }
        if look.name.is_empty() {
            look.name = look.colours.map(|[a, ..]| hex(a)).unwrap_or_default();
        }
        look
    }

    /// Returns the name of a property. `None` if it does not exist.
    fn name(&self, group: u64, place: u64, depth: usize) -> Option<String> {
        let place = usize::try_from(place).ok()?;
        match self.groups.get(&group).filter(|_| depth < MAX_DEPTH)? {
            Group::Materials(all) => all.get(place).map(|material| material.name.clone()),
            Group::Composites {
                materials,
                indices,
                shares,
            } => {
                let mut text = String::new();
                for (index, share) in indices.iter().zip(shares.get(place)?) {
                    if *share > 0.0 {
                        let name = self.name(*materials, *index, depth + 1)?;
                        let plus = if text.is_empty() { "" } else { " + " };
                        text += &format!("{plus}{name} {share}");
                    }
                }
                Some(text)
            }
            Group::Texture { .. } | Group::Layers { .. } => None,
        }
    }

    /// Returns the colour of a property. `None` if it is not known.
    fn colour(&self, group: u64, place: u64, depth: usize) -> Option<[f64; 4]> {
        let place = usize::try_from(place).ok()?;
        match self.groups.get(&group).filter(|_| depth < MAX_DEPTH)? {
            Group::Materials(all) => all.get(place)?.colour.map(|colour| colour.map(f64::from)),
            Group::Composites {
                materials,
                indices,
                shares,
            } => {
                let mut sum = [0.0; 4];
                let mut all = 0.0;
                for (index, share) in indices.iter().zip(shares.get(place)?) {
                    if *share > 0.0 {
                        let colour = self.colour(*materials, *index, depth + 1)?;
                        for (sum, channel) in sum.iter_mut().zip(colour) {
                            *sum += share * channel;
                        }
                        all += share;
                    }
                }
                if all > 0.0 {
                    Some(sum.map(|channel| channel / all))
                } else {
                    None
                }
            }
            Group::Texture { .. } | Group::Layers { .. } => None,
        }
    }
}

/// Parses `#RRGGBB` or `#RRGGBBAA` as red, green, blue and opacity.
fn colour(text: &str) -> Option<[u8; 4]> {
    let digits = text.trim().strip_prefix('#')?;
    if !matches!(digits.len(), 6 | 8) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let bits = u32::from_str_radix(digits, 16).ok()?;
    let bits = if digits.len() == 6 {
        bits << 8 | 0xff
    } else {
        bits
    };
    Some(bits.to_be_bytes())
}

/// Returns red, green and blue as bytes.
fn bytes(colour: [f64; 4]) -> [u8; 3] {
    [0, 1, 2].map(|n| colour[n].round() as u8)
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
