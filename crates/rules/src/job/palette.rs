//! Palette of the colours of a mesh. If there are more than 255 colours, similar ones are merged.

use std::collections::{BTreeMap, HashMap, HashSet};

use color_quant::NeuQuant;

use voxelize_core::error::{Code, Error, Finding, Result};
use voxelize_core::geom::vector::{dot, minus};
use voxelize_core::grid::Lattice;
use voxelize_core::text::grouped;
use voxelize_meshes::{Mesh, MeshColours};

/// Greatest number of colours in a palette, because labels are numbers from 1 to 255.
pub(super) const MOST: usize = 255;

/// Red, green and blue in sRGB.
pub(super) type Rgb = [u8; 3];

/// Greatest number of parts into which each side of a triangle is divided to sample its colours. The first
/// number is for triangles without a texture. The second is for triangles with a texture, which may have more
/// detail.
const MOST_PIECES: [f64; 2] = [64.0, 1024.0];

/// Greatest number of colours that are distinguished exactly. If a mesh has more colours, colours that differ
/// only in the lowest two bits of each channel are treated as equal.
const MOST_DISTINCT: usize = 1 << 16;

/// Memory, in bytes, that is needed to make a palette.
pub(super) const PALETTE_BYTES: u128 = 64 * MOST_DISTINCT as u128;

/// Returns the colours of a mesh.
///
/// # Errors
/// Fails if the mesh has no colours.
pub(super) fn colours(mesh: &Mesh) -> Result<&MeshColours> {
    let hint =
        "PLY, OBJ, OFF, glTF, 3MF and binary STL may have colours of vertices, faces or materials";
    mesh.colours()
        .ok_or_else(|| Error::unfit("the mesh has no colours").with_hint(hint))
}

/// Palette of at most 255 colours, with the label of each colour of the mesh.
pub(super) struct Palette {
    entries: Vec<Rgb>,
    /// Number of distinct colours of the mesh.
    seen: usize,
    /// The colours of the mesh were distinguished exactly.
    is_all: bool,
    /// Label of each colour that was found in the mesh.
    known: HashMap<Rgb, u8>,
}

impl Palette {
    /// Makes a palette of all colours of a mesh if they fit, and otherwise of fewer, similar colours. Colours
    /// of large areas change least.
    pub(super) fn new(mesh: &Mesh, colours: &MeshColours, lattice: &Lattice) -> Self {
        let (areas, is_all) = areas(mesh, colours, lattice);
        let mut entries: Vec<Rgb> = match areas.len() {
            0..=MOST => areas.keys().copied().collect(),
            _ => reduced(&areas),
        };
        entries.sort_unstable();
        entries.dedup();
        let mut palette = Self {
            entries,
            seen: areas.len(),
            is_all,
            known: HashMap::new(),
        };
        // The quantization may add colours that are not the closest to any colour of the mesh. They are
        // removed.
        let used: HashSet<u8> = areas
            .keys()
            .map(|colour| palette.closest(*colour))
            .collect();
        let mut entries = vec![];
        for (n, colour) in palette.entries.iter().enumerate() {
            if used.contains(&(n as u8 + 1)) {
                entries.push(*colour);
            }
        }
        palette.entries = entries;
        palette.known = areas
            .keys()
            .map(|colour| (*colour, palette.closest(*colour)))
            .collect();
        palette
    }

    /// Returns the finding that similar colours of the mesh were merged. `None` if all colours are kept.
    pub(super) fn finding(&self) -> Option<Finding> {
        let Self {
            entries,
            seen,
            is_all,
            ..
        } = self;
        if *seen <= entries.len() {
            return None;
        }
        let more = if *is_all { "" } else { "more than " };
        let text = format!(
            "{more}{} colours of the mesh are merged into {}",
            grouped(*seen as u64),
            entries.len()
        );
        Some(Finding::new(Code::W015, text))
    }

    /// Returns the colours. The colour with label `n` has the index `n − 1`.
    pub(super) fn entries(&self) -> &[Rgb] {
        &self.entries
    }

    /// Returns the label of a colour of the mesh.
    pub(super) fn label(&self, colour: Rgb) -> u8 {
        match self.known.get(&colour) {
            Some(label) => *label,
            None => self.closest(colour),
        }
    }

    /// Returns the label of the entry of the palette that is closest to a colour. Among equally close entries
    /// the first is used.
    fn closest(&self, colour: Rgb) -> u8 {
        let closest = (0..self.entries.len()).min_by_key(|n| distance(self.entries[*n], colour));
        closest.map_or(1, |n| n as u8 + 1)
    }
}

/// Returns the square of the distance between two colours.
pub(super) fn distance(one: Rgb, other: Rgb) -> u32 {
    let mut sum = 0;
    for (a, b) in one.into_iter().zip(other) {
        sum += u32::from(a.abs_diff(b)).pow(2);
    }
    sum
}

/// Returns the area of each colour of a mesh. The second value is true if colours were distinguished exactly.
/// Triangles with several colours are sampled at points that are about a cell apart.
pub(super) fn areas(
    mesh: &Mesh,
    colours: &MeshColours,
    lattice: &Lattice,
) -> (BTreeMap<Rgb, f64>, bool) {
    let sides = lattice.spacing().each_ref().map(|side| side.to_f64());
    let side = sides[0].min(sides[1]).min(sides[2]);
    let mut areas = BTreeMap::new();
    let mut mask = 0xff;
    let mut add = |colour: Rgb, area: f64| {
        *areas
            .entry(colour.map(|channel| channel & mask))
            .or_insert(0.0) += area;
        if areas.len() > MOST_DISTINCT && mask == 0xff {
            mask = 0xfc;
            let all = std::mem::take(&mut areas);
            for (colour, area) in all {
                *areas
                    .entry(colour.map(|channel: u8| channel & mask))
                    .or_insert(0.0) += area;
            }
        }
    };
    for (n, triangle) in (0..).zip(mesh.triangles()) {
        let [a, b, c] = triangle.map(|corner| corner.map(f64::from));
        let [ab, ac, bc] = [minus(b, a), minus(c, a), minus(c, b)];
        let [x, y] = [dot(ab, ab), dot(ac, ac)];
        let area = (x * y - dot(ab, ac).powi(2)).max(0.0).sqrt() / 2.0;
        if let Some(colour) = colours.only(n) {
            add(colour, area);
            continue;
        }
        let longest = x.max(y).max(dot(bc, bc)).sqrt() / side;
        let most = MOST_PIECES[usize::from(colours.texture(n).is_some())];
        // The number of points is roughly the number of cells. Some points are added, because a long triangle
        // may be thin.
        let pieces = longest
            .min(4.0 * area.sqrt() / side + 16.0)
            .ceil()
            .clamp(1.0, most) as usize;
        let share = area / (pieces * pieces) as f64;
        // The triangle is divided into small triangles, half of them upside down. The points are the centres
        // of the small triangles.
        for (i, j) in (0..pieces).flat_map(|i| (0..pieces - i).map(move |j| (i, j))) {
            for third in if i + j + 1 < pieces {
                &[1.0, 2.0][..]
            } else {
                &[1.0][..]
            } {
                let [v, w] = [i, j].map(|n| (n as f64 + third / 3.0) / pieces as f64);
                add(colours.at(n, [1.0 - v - w, v, w]), share);
            }
        }
    }
    (areas, mask == 0xff)
}

/// Reduces the colours to 255 by a neural network (NeuQuant) that is trained on pixels. The number of pixels
/// of a colour is proportional to its area.
fn reduced(areas: &BTreeMap<Rgb, f64>) -> Vec<Rgb> {
    const PIXELS: f64 = (1 << 16) as f64;
    let total: f64 = areas.values().sum();
    let mut pixels = vec![];
    let mut sum = 0.0;
    for ([r, g, b], area) in areas {
        let before = (sum / total * PIXELS) as usize;
        sum += area;
        // Each colour has at least one pixel, so that colours of small areas count as well.
        let count = ((sum / total * PIXELS) as usize - before).max(1);
        pixels.extend(std::iter::repeat_n([*r, *g, *b, 255], count).flatten());
    }
    let found = NeuQuant::new(1, MOST, &pixels).color_map_rgb();
    found
        .chunks_exact(3)
        .map(|colour| [colour[0], colour[1], colour[2]])
        .collect()
}
