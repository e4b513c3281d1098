//! Labels cells by the nearest triangle of a mesh: by its colour at the nearest point, or by its part.
//!
//! If several triangles are equally near to the centre of a cell, the triangle whose inner side faces the
//! centre most directly decides. A body thus keeps its colour where another body touches it. If several
//! triangles face the centre equally, the one with the least number decides.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use color_quant::NeuQuant;

use crate::rule::{Band, Rule};
use crate::run::Run;
use crate::run::nearest::Distances;
use voxelize_core::error::{Code, Error, Finding, Result};
use voxelize_core::geom::Triangle;
use voxelize_core::geom::closest::on_triangle;
use voxelize_core::geom::vector::{dot, minus};
use voxelize_core::grid::bits::bits_of;
use voxelize_core::grid::{BitGrid, Field, Label, Labels, Lattice, Legend};
use voxelize_core::par::{self, Progress};
use voxelize_core::text::grouped;
use voxelize_kernel::distance::TieBreak;
use voxelize_meshes::{Mesh, MeshColours, PartKind};

/// Greatest number of colours in a palette, because labels are numbers from 1 to 255.
const MOST: usize = 255;

/// Red, green and blue in sRGB.
type Rgb = [u8; 3];

/// Greatest number of parts into which each side of a triangle is divided to sample its colours. The first
/// number is for triangles without a texture. The second is for triangles with a texture, which may have more
/// detail.
const MOST_PIECES: [f64; 2] = [64.0, 1024.0];

/// Greatest number of colours that are distinguished exactly. If a mesh has more colours, colours that differ
/// only in the lowest two bits of each channel are treated as equal.
const MOST_DISTINCT: usize = 1 << 16;

/// Memory, in bytes, that is needed to make a palette.
pub(super) const PALETTE_BYTES: u128 = 64 * MOST_DISTINCT as u128;

/// Labels cells by the nearest triangle. It can be prepared before the cells are known.
pub(super) struct Painter<'a> {
    mesh: Mesh,
    lattice: &'a Lattice,
    distances: Distances,
    background: f32,
    source: LabelSource,
}

/// Property of a triangle that determines the label.
enum LabelSource {
    /// Colour of the triangle at the point nearest to the cell's centre.
    Colours(Palette),
    /// Part of this kind to which the triangle belongs. The list has the label value of each part.
    Parts(PartKind, Vec<u8>),
}

impl<'a> Painter<'a> {
    /// Prepares to label the cells of `rule` with the colours of a mesh.
    ///
    /// # Errors
    /// Fails if the mesh has no colours.
    pub(super) fn of_colours(
        mesh: &Mesh,
        lattice: &'a Lattice,
        rule: &Rule,
        run: &Run,
    ) -> Result<Self> {
        let palette = Palette::new(mesh, colours(mesh)?, lattice);
        Self::new(mesh, lattice, rule, run, LabelSource::Colours(palette))
    }

    /// Prepares to label the cells of `rule` with the parts of a mesh. `values` has the label value of each
    /// part.
    pub(super) fn of_parts(
        mesh: &Mesh,
        lattice: &'a Lattice,
        rule: &Rule,
        run: &Run,
        kind: PartKind,
        values: Vec<u8>,
    ) -> Result<Self> {
        Self::new(mesh, lattice, rule, run, LabelSource::Parts(kind, values))
    }

    fn new(
        mesh: &Mesh,
        lattice: &'a Lattice,
        rule: &Rule,
        run: &Run,
        source: LabelSource,
    ) -> Result<Self> {
        let band = band(rule, lattice);
        let distance = Rule::Distance {
            band,
            sign: None,
            iso: None,
        };
        let background = distance.background(lattice).unwrap_or(f32::INFINITY);
        let distances =
            par::with_threads(run.thread_count(), || Distances::new(mesh, lattice, run))??;
        Ok(Self {
            mesh: mesh.clone(),
            lattice,
            distances,
            background,
            source,
        })
    }

    /// Returns the legend whose labels are the colours of the palette. It is empty if cells are labelled by
    /// parts.
    pub(super) fn legend(&self) -> Result<Legend> {
        let mut labels = vec![];
        if let Some(palette) = self.palette() {
            for (n, [r, g, b]) in palette.entries.iter().enumerate() {
                let label = Label::new(n as u8 + 1, format!("#{r:02x}{g:02x}{b:02x}"));
                labels.push(label.with_colour([*r, *g, *b]));
            }
        }
        Legend::new(labels)
    }

    fn palette(&self) -> Option<&Palette> {
        match &self.source {
            LabelSource::Colours(palette) => Some(palette),
            LabelSource::Parts(..) => None,
        }
    }

    /// Returns the finding that similar colours of the mesh were merged. `None` if all colours are kept.
    pub(super) fn finding(&self) -> Option<Finding> {
        let Palette {
            entries,
            seen,
            is_all,
            ..
        } = self.palette()?;
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

    /// Labels the occupied cells of these layers. Uses the calling thread pool.
    pub(super) fn paint(
        &self,
        cells: &BitGrid,
        legend: &Legend,
        layers: Range<usize>,
        run: &Run,
    ) -> Result<Labels> {
        let dims @ [nx, ny, _] = cells.dims();
        let mut field = Field::new(dims, self.background)?;
        let mut nearest = vec![-1; dims.iter().product()];
        let found = Some((&mut nearest[..], TieBreak::InnerSide));
        self.distances
            .fill(layers.clone(), &mut field, found, run)?;
        drop(field);
        let mut labels = Labels::new(dims, legend.clone())?;
        // Only a few layers are labelled at a time, so that their rows take little memory.
        for some in (0..dims[2])
            .collect::<Vec<_>>()
            .chunks(2 * par::current_threads())
        {
            run.check()?;
            let painted = par::map(some.to_vec(), |k| {
                let mut rows = vec![0; nx * ny];
                for (n, row) in rows.chunks_mut(nx).enumerate() {
                    let words = cells.row(n, k).iter().enumerate();
                    for i in words.flat_map(|(w, word)| bits_of(*word).map(move |bit| 64 * w + bit))
                    {
                        let number = nearest[(k * ny + n) * nx + i];
                        row[i] = self.label([i, n, layers.start + k], number);
                    }
                }
                rows
            });
            for (k, rows) in some.iter().zip(painted) {
                for (j, row) in rows.chunks(nx).enumerate() {
                    labels
                        .put_row(j, *k, row)
                        .expect("the legend has all labels of triangles");
                }
            }
        }
        Ok(labels)
    }

    /// Returns the label of a cell whose nearest triangle has the number `number`.
    fn label(&self, cell: [usize; 3], number: i32) -> u8 {
        let Ok(number) = u64::try_from(number) else {
            return 1;
        };
        let n = self.mesh.at_number(number);
        let palette = match &self.source {
            LabelSource::Colours(palette) => palette,
            LabelSource::Parts(kind, values) => {
                return self
                    .mesh
                    .parts(*kind)
                    .map_or(1, |parts| values[parts.of(n) as usize]);
            }
        };
        let Some(colours) = self.mesh.colours() else {
            return 1;
        };
        if let Some(colour) = colours.only(n) {
            return palette.label(colour);
        }
        let triangle = self.mesh.triangles()[n as usize];
        let weights = weights(self.lattice.centre(cell), &triangle);
        palette.label(colours.at(n, weights))
    }
}

fn colours(mesh: &Mesh) -> Result<&MeshColours> {
    let hint = "PLY, OBJ, OFF, glTF and 3MF have colours of vertices, faces or materials";
    mesh.colours()
        .ok_or_else(|| Error::unfit("the mesh has no colours").with_hint(hint))
}

/// Returns a band that contains the centres of all cells that the rule occupies.
fn band(rule: &Rule, lattice: &Lattice) -> Band {
    if !matches!(rule, Rule::Surface { .. } | Rule::Thin) {
        return Band::All;
    }
    // The mesh is at most half a diagonal away from the centre of a touched cell. The width of the band is in
    // units of the shortest side of a cell.
    let sides = lattice.spacing().each_ref().map(|side| side.to_f64());
    let smallest = sides[0].min(sides[1]).min(sides[2]);
    let diagonal = dot(sides, sides).sqrt();
    Band::cells((diagonal / smallest / 2.0) as u32 + 2)
}

/// Returns the barycentric weights of the point of a triangle that is nearest to `p`.
fn weights(p: [f64; 3], triangle: &Triangle) -> [f64; 3] {
    let [a, b, c] = triangle.map(|corner| corner.map(f64::from));
    let q = on_triangle(p, [a, b, c]);
    let [ab, ac, aq] = [minus(b, a), minus(c, a), minus(q, a)];
    let [bb, bc, cc] = [dot(ab, ab), dot(ab, ac), dot(ac, ac)];
    let [qb, qc] = [dot(aq, ab), dot(aq, ac)];
    let area = bb * cc - bc * bc;
    let [v, w] = [(cc * qb - bc * qc) / area, (bb * qc - bc * qb) / area];
    let weights = [1.0 - v - w, v, w];
    if weights.iter().all(|weight| weight.is_finite()) {
        return weights.map(|weight| weight.clamp(0.0, 1.0));
    }
    // The triangle has no area. All weight is given to the corner nearest to the point.
    let away = [a, b, c].map(|corner| dot(minus(q, corner), minus(q, corner)));
    let nearest = (0..3).fold(0, |best, n| if away[n] < away[best] { n } else { best });
    let mut weights = [0.0; 3];
    weights[nearest] = 1.0;
    weights
}

/// Palette of at most 255 colours, with the label of each colour of the mesh.
struct Palette {
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
    fn new(mesh: &Mesh, colours: &MeshColours, lattice: &Lattice) -> Self {
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

    fn label(&self, colour: Rgb) -> u8 {
        match self.known.get(&colour) {
            Some(label) => *label,
            None => self.closest(colour),
        }
    }

    /// Returns the label of the entry of the palette that is closest to a colour. Among equally close entries
    /// the first is used.
    fn closest(&self, colour: Rgb) -> u8 {
        let away = |entry: &Rgb| -> u32 {
            entry
                .iter()
                .zip(colour)
                .map(|(a, b)| u32::from(a.abs_diff(b)).pow(2))
                .sum()
        };
        let closest = (0..self.entries.len()).min_by_key(|n| away(&self.entries[*n]));
        closest.map_or(1, |n| n as u8 + 1)
    }
}

/// Returns the area of each colour of a mesh. The second value is true if colours were distinguished exactly.
/// Triangles with several colours are sampled at points that are about a cell apart.
fn areas(mesh: &Mesh, colours: &MeshColours, lattice: &Lattice) -> (BTreeMap<Rgb, f64>, bool) {
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
