//! Rendering of cells. Each pixel has one ray, and pixels that differ from their neighbours have more.

use std::borrow::Cow;

use super::camera::Camera;
use super::colours::{self, Colour};
use super::paint;
use super::panel::Panel;
use super::picture::{CLEAR, Pixel, over, pixel};
use super::rays::{Hit, first_hit};
use super::ring;
use super::shade;
use super::smooth::{REACH, Smooth, smooth};
use super::solid::{Cell, Solid};
use super::tiles::Tiles;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::{BitGrid, CellsRef, Label, Labels};
use voxelize_core::par;

/// Number of rows that a thread draws at a time.
const BAND: usize = 64;

/// Offsets of the additional sample points of a pixel. They form a rotated square, so that no two are in the
/// same row or column.
const AGAIN: [[f64; 2]; 4] = [
    [-0.125, -0.375],
    [0.375, -0.125],
    [0.125, 0.375],
    [-0.375, 0.125],
];

/// Opacity of the veil in front of other cells.
const VEIL: f32 = 0.45;

/// Whether the edges of cells are antialiased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Borders {
    /// Edges are antialiased: a pixel that differs from its neighbours gets four additional rays.
    #[default]
    Smooth,
    /// Edges are not antialiased: each pixel has one ray through its middle.
    Hard,
}

/// Cells to be drawn. Each label has its own colour.
pub(super) struct Scene<'a> {
    solid: Option<Solid<'a>>,
    /// Translucent cells around the others.
    veil: Option<Solid<'a>>,
    /// Labels, and the colour of each value. `None` for bits, which have a single colour.
    labels: Option<(&'a Labels, [Colour; 256])>,
    /// Size of a cell along each axis. The largest is 1.
    spacing: [f64; 3],
}

impl<'a> Scene<'a> {
    /// Creates a scene of bits or labels. Cells with the labels common, around or sound become the veil, if
    /// there are cells with other labels.
    ///
    /// # Errors
    /// Fails if the cells are a field, or if there is not enough memory.
    pub(super) fn new(
        cells: CellsRef<'a>,
        veil: Option<&BitGrid>,
        spacing: [f64; 3],
    ) -> Result<Self> {
        let occupied = cells.occupied()?;
        let labels = if let CellsRef::Labels(labels) = cells {
            Some(labels)
        } else {
            None
        };
        let translucent = labels.and_then(|labels| {
            let label = [Label::COMMON, Label::AROUND, Label::SOUND]
                .into_iter()
                .find(|label| labels.legend().get(label.value) == Some(label))?;
            Some((labels, label.value))
        });
        let (solid, veil) = match (veil, translucent) {
            (Some(veil), _) => {
                if veil.dims() != occupied.dims() {
                    return Err(Error::usage("the surrounding cells have another grid"));
                }
                let mut veil = veil.clone();
                veil.remove(occupied, 0);
                (
                    Solid::new(Cow::Borrowed(occupied))?,
                    Solid::new(Cow::Owned(veil))?,
                )
            }
            (None, None) => (Solid::new(Cow::Borrowed(occupied))?, None),
            (None, Some((labels, value))) => {
                let veil = labels.cells_of(value)?;
                let mut solid: BitGrid = occupied.clone();
                solid.differ(&veil);
                (
                    Solid::new(Cow::Owned(solid))?,
                    Solid::new(Cow::Owned(veil))?,
                )
            }
        };
        let largest = spacing.iter().fold(0.0_f64, |a, b| a.max(*b));
        let labels = labels.map(|labels| (labels, colours::of(labels.legend())));
        Ok(Self {
            solid,
            veil,
            labels,
            spacing: spacing.map(|s| s / largest),
        })
    }

    /// Returns the extent of all cells along each of the given directions.
    pub(super) fn reach(&self, directions: [[f64; 3]; 6]) -> [f64; 6] {
        let solids = self.solid.iter().chain(&self.veil);
        solids.fold([f64::NEG_INFINITY; 6], |most, solid| {
            let reach = solid.reach(self.spacing, directions);
            std::array::from_fn(|n| reach[n].max(most[n]))
        })
    }

    /// Returns boxes of the cells that are seen through a veil: a box for each cell if there are few,
    /// otherwise one bounding box. Empty if there is no veil.
    pub(super) fn small_boxes(&self) -> Vec<[[f64; 3]; 2]> {
        let (Some(solid), Some(_)) = (&self.solid, &self.veil) else {
            return Vec::new();
        };
        let mut boxes = vec![];
        if solid.bits.count() <= ring::MOST as u64 {
            for cell in solid.bits.iter() {
                boxes.push(self.box_of([cell, cell]));
            }
        } else if let Some(all) = solid.bits.occupied_box() {
            boxes.push(self.box_of(all));
        }
        boxes
    }

    /// Returns the box that contains all cells from `low` to `high`.
    fn box_of(&self, [low, high]: [[usize; 3]; 2]) -> [[f64; 3]; 2] {
        [
            std::array::from_fn(|a| low[a] as f64 * self.spacing[a]),
            std::array::from_fn(|a| (high[a] + 1) as f64 * self.spacing[a]),
        ]
    }

    /// Returns the legend of the colours.
    pub(super) fn panel(&self) -> Panel {
        match &self.labels {
            Some((labels, colours)) => paint::of_labels(labels, colours),
            None => Panel::default(),
        }
    }

    fn colour(&self, cell: Cell) -> Colour {
        match &self.labels {
            None => match (&self.veil, &self.solid) {
                (Some(_), Some(solid)) if solid.holds(cell) => colours::MARKED,
                (Some(_), _) => colours::COMMON,
                (None, _) => colours::SURFACE,
            },
            // The cells of a veil may have no label.
            Some((labels, colours)) => match labels.get(cell.map(|c| c as usize)) {
                0 => colours::COMMON,
                value => colours[usize::from(value)],
            },
        }
    }
}

/// Returns an upper bound for the memory of drawing a picture of this size with this number of threads, in
/// bytes. It includes the hits in the rows of each thread, the pixels, and the picture with its file.
pub fn bytes_for([width, height]: [usize; 2], threads: usize) -> u64 {
    let pixel = size_of::<Pixel>() + 2 * size_of::<u32>();
    // A veil is drawn as a separate picture, one band at a time.
    let band = width
        * (BAND + 2 * REACH)
        * (size_of::<Option<SeenCell>>() + 2 * (size_of::<Pixel>() + size_of::<f64>()));
    (width * height * pixel + threads.min(height.div_ceil(BAND)) * band) as u64
}

/// Returns the pixels of all rows.
pub(super) fn rows(
    scene: &Scene,
    camera: &Camera,
    size: [usize; 2],
    borders: Borders,
) -> Vec<Vec<Pixel>> {
    let [solid, veil] = [&scene.solid, &scene.veil].map(|solid| {
        let solid = solid.as_ref()?;
        Some(Frame {
            scene,
            camera,
            size,
            borders,
            solid,
            tiles: Tiles::new(solid, scene.spacing, camera, size),
        })
    });
    let bands = par::map_range(0..size[1].div_ceil(BAND), |n| {
        let rows = n * BAND..((n + 1) * BAND).min(size[1]);
        match (&solid, &veil) {
            (None, None) => vec![vec![CLEAR; size[0]]; rows.len()],
            (Some(one), None) | (None, Some(one)) => one.band(rows).0,
            (Some(solid), Some(veil)) => blend(&solid.band(rows.clone()), &veil.band(rows)),
        }
    });
    bands.into_iter().flatten().collect()
}

/// Pixels of a range of rows, and the nearness of the points that they show. A greater nearness is nearer to
/// the viewer.
type DrawnBand = (Vec<Vec<Pixel>>, Vec<Vec<f64>>);

/// Composites solid cells and translucent cells. The nearer one is on top.
fn blend((solid, near): &DrawnBand, (veil, veil_near): &DrawnBand) -> Vec<Vec<Pixel>> {
    let mut rows = solid.clone();
    for (y, row) in rows.iter_mut().enumerate() {
        for (x, pixel) in row.iter_mut().enumerate() {
            let [solid, veil] = [*pixel, veil[y][x]];
            *pixel = if near[y][x] >= veil_near[y][x] {
                over(solid, veil)
            } else {
                // If no solid cells are behind it, the veil is opaque.
                over(veil.map(|c| c * (1.0 - (1.0 - VEIL) * solid[3])), solid)
            };
        }
    }
    rows
}

/// Solid cells or veil in a picture.
struct Frame<'a> {
    scene: &'a Scene<'a>,
    camera: &'a Camera,
    size: [usize; 2],
    borders: Borders,
    solid: &'a Solid<'a>,
    tiles: Tiles,
}

/// Hits of the rays in a range of rows.
struct Hits {
    first: usize,
    rows: Vec<Vec<Option<SeenCell>>>,
}

/// Hit of a ray, with its position in the view.
struct SeenCell {
    hit: Hit,
    /// Position of the hit in view coordinates.
    place: [f64; 3],
    /// Length in pixels of the smallest side of a cell at this position.
    pixels: f64,
}

impl Hits {
    fn get(&self, x: isize, y: isize) -> Option<&SeenCell> {
        let row = self
            .rows
            .get(usize::try_from(y - self.first as isize).ok()?)?;
        row.get(usize::try_from(x).ok()?)?.as_ref()
    }
}

impl Frame<'_> {
    fn band(&self, rows: std::ops::Range<usize>) -> DrawnBand {
        let first = rows.start.saturating_sub(REACH);
        let last = (rows.end + REACH).min(self.size[1]);
        let width = self.size[0];
        let mut hits = Hits {
            first,
            rows: vec![],
        };
        for y in first..last {
            let seen = (0..width).map(|x| self.look([x as f64 + 0.5, y as f64 + 0.5]));
            hits.rows.push(seen.collect());
        }
        let mut pixels = vec![];
        let mut near = vec![];
        for y in rows {
            pixels.push((0..width).map(|x| self.pixel(&hits, x, y)).collect());
            let hits = hits.rows[y - first].iter();
            near.push(
                hits.map(|seen| {
                    seen.as_ref()
                        .map_or(f64::NEG_INFINITY, |seen| seen.place[2])
                })
                .collect(),
            );
        }
        (pixels, near)
    }

    fn look(&self, at: [f64; 2]) -> Option<SeenCell> {
        let start = self.tiles.start(at)?;
        let spacing = self.scene.spacing;
        let index = |p: [f64; 3]| std::array::from_fn(|a| p[a] / spacing[a]);
        let hit = first_hit(self.solid, self.camera.segment(at).map(index), start)?;
        let point = std::array::from_fn(|a| hit.at[a] * spacing[a]);
        let pixels = self.camera.pixels(self.side(), point);
        Some(SeenCell {
            hit,
            place: self.camera.turn(point),
            pixels,
        })
    }

    /// Returns the length of the smallest side of a cell.
    fn side(&self) -> f64 {
        self.scene.spacing.iter().fold(1.0_f64, |a, b| a.min(*b))
    }

    fn pixel(&self, hits: &Hits, x: usize, y: usize) -> Pixel {
        let column = x as isize;
        let row = y as isize;
        let here = hits.get(column, row);
        let smooth = here.and_then(|seen| {
            let point = |dx, dy| hits.get(column + dx, row + dy).map(|seen| seen.place);
            smooth(seen.place, self.side(), seen.pixels, point)
        });
        let shade = |seen: &SeenCell| pixel(self.shade(seen, smooth), 1.0);
        let plain = here.map_or(CLEAR, shade);
        let around = [(-1, 0), (1, 0), (0, -1), (0, 1)];
        let differs =
            |(dx, dy): &(isize, isize)| !self.alike(here, hits.get(column + dx, row + dy), smooth);
        if self.borders == Borders::Hard || !around.iter().any(differs) {
            return plain;
        }
        let mut sum = plain;
        for [dx, dy] in AGAIN {
            let seen = self.look([x as f64 + 0.5 + dx, y as f64 + 0.5 + dy]);
            let seen = seen.as_ref().map_or(CLEAR, shade);
            (0..4).for_each(|c| sum[c] += seen[c]);
        }
        sum.map(|c| c / 5.0)
    }

    /// Returns `true` if no edge line is drawn between two adjacent hits.
    fn alike(&self, a: Option<&SeenCell>, b: Option<&SeenCell>, smooth: Option<Smooth>) -> bool {
        let (Some(SeenCell { hit: a, .. }), Some(SeenCell { hit: b, .. })) = (a, b) else {
            return a.is_none() && b.is_none();
        };
        if self.scene.labels.is_some() && self.scene.colour(a.cell) != self.scene.colour(b.cell) {
            return false;
        }
        let are_near = (0..3).all(|axis| a.cell[axis].abs_diff(b.cell[axis]) <= 3);
        plane_of(a) == plane_of(b) || smooth.is_some_and(|s| s.share == 1.0) && are_near
    }

    fn shade(&self, SeenCell { hit, pixels, .. }: &SeenCell, smooth: Option<Smooth>) -> Colour {
        let light = match smooth {
            Some(Smooth {
                light,
                share: 1.0,
                open,
            }) => light * open,
            Some(Smooth { light, share, open }) => {
                (self.light_on_face(hit, *pixels) * (1.0 - share) + light * share) * open
            }
            None => self.light_on_face(hit, *pixels),
        };
        self.scene.colour(hit.cell).map(|c| c * light as f32)
    }

    fn light_on_face(&self, hit: &Hit, pixels: f64) -> f64 {
        let face = self.facing(usize::from(hit.axis), hit.high);
        shade::light(face) * shade::openness(self.solid, hit) * shade::edge(hit, pixels)
    }

    /// Returns the normal of a face in view coordinates.
    fn facing(&self, axis: usize, high: bool) -> [f64; 3] {
        let mut normal = [0.0; 3];
        normal[axis] = if high { 1.0 } else { -1.0 };
        self.camera.turn(normal)
    }
}

/// Returns the plane of the face that a ray hit, as its axis, its side and its layer.
fn plane_of(hit: &Hit) -> (u8, bool, i32) {
    (hit.axis, hit.high, hit.cell[usize::from(hit.axis)])
}
