//! One layer of cells as text or as squares, and sheets of many layers.
//!
//! A layer across z shows x to the right and y upwards, one across y shows x and z, one across x shows y and
//! z.

use super::axes::label;
use super::colours;
use super::contours::Contours;
use super::font;
use super::paint::Paint;
use super::picture::{Background, CLEAR, Picture, Pixel, pixel};
use super::shown::Shown;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::CellsRef;
use voxelize_core::grid::lattice::AXES;

/// Free border of a picture of slices, and gap between two, in pixels.
const GAP: usize = 8;

/// Height of the name above a layer.
const LABEL: usize = font::HEIGHT + 4;

/// Minimum side, in pixels, of a layer on a sheet with at least as many cells.
const THUMB: usize = 88;

/// Layer across an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer {
    /// Axis perpendicular to the layer: 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Index of the layer, counted from 0 at the lowest coordinates.
    pub index: usize,
}

impl Layer {
    /// Returns the axes to the right and upwards.
    pub fn plane(self) -> [usize; 2] {
        match self.axis {
            0 => [1, 2],
            1 => [0, 2],
            _ => [0, 1],
        }
    }

    fn cell(self, [right, up]: [usize; 2]) -> [usize; 3] {
        let mut cell = [self.index; 3];
        let [u, v] = self.plane();
        (cell[u], cell[v]) = (right, up);
        cell
    }

    /// Returns the name: `z=40`.
    fn name(self) -> String {
        format!("{}={}", AXES[self.axis], self.index)
    }
}

/// Cells with their size.
struct Layers<'a> {
    paint: Paint<'a>,
    dims: [usize; 3],
    spacing: [f64; 3],
}

impl<'a> Layers<'a> {
    fn new(shown: Shown<'a>, spacing: [f64; 3]) -> Self {
        Self {
            paint: Paint::new(shown),
            dims: shown.cells.dims(),
            spacing,
        }
    }

    fn check(&self, layer: Layer) -> Result<()> {
        let layers = self.dims[layer.axis];
        if layer.index < layers {
            return Ok(());
        }
        let axis = AXES[layer.axis];
        Err(Error::usage(format!(
            "no layer {}: {axis} has {layers} layers, counted from 0",
            layer.name()
        )))
    }

    /// Returns the extent of layers across an axis, in units of length.
    fn extent(&self, layer: Layer) -> [f64; 2] {
        layer.plane().map(|a| self.dims[a] as f64 * self.spacing[a])
    }

    /// Draws a layer into a rectangle. Each pixel is the mean of the cells that it covers.
    fn draw(
        &self,
        layer: Layer,
        rows: &mut [Vec<Pixel>],
        [left, top]: [usize; 2],
        size: [usize; 2],
    ) {
        let dims = layer.plane().map(|a| self.dims[a]);
        let covered = |n: usize, axis: usize| {
            let first = n * dims[axis] / size[axis];
            first
                ..((n + 1) * dims[axis])
                    .div_ceil(size[axis])
                    .clamp(first + 1, dims[axis])
        };
        for y in 0..size[1] {
            for x in 0..size[0] {
                // Up to sixteen cells are enough for a mean.
                let columns = covered(x, 0);
                let lines = covered(size[1] - 1 - y, 1);
                let thin = |range: &std::ops::Range<usize>| range.len().div_ceil(4);
                let mut sum = [0.0; 3];
                let mut count = 0.0;
                for up in lines.clone().step_by(thin(&lines)) {
                    for right in columns.clone().step_by(thin(&columns)) {
                        let colour = self.paint.colour(layer.cell([right, up]));
                        (0..3).for_each(|c| sum[c] += colour[c]);
                        count += 1.0;
                    }
                }
                rows[top + y][left + x] = pixel(sum.map(|c| c / count), 1.0);
            }
        }
    }

    /// Draws the contour lines of these values and of zero over a layer of a field.
    fn draw_lines(
        &self,
        layer: Layer,
        values: &[f64],
        rows: &mut [Vec<Pixel>],
        corner: [usize; 2],
        size: [usize; 2],
    ) {
        let Paint::Field(field, _) = self.paint else {
            return;
        };
        let dims = layer.plane().map(|a| self.dims[a]);
        Contours {
            field,
            cell: |place| layer.cell(place),
            dims,
            corner,
            size,
        }
        .draw(values, rows);
    }
}

/// Returns the size in pixels of a layer within a room: whole pixels per cell if there are enough.
fn fitted(dims: [usize; 2], extent: [f64; 2], room: [usize; 2]) -> [usize; 2] {
    let scale = (room[0] as f64 / extent[0]).min(room[1] as f64 / extent[1]);
    std::array::from_fn(|n| {
        let pixels = scale * extent[n] / dims[n] as f64;
        let size = if pixels >= 1.0 {
            pixels.floor() * dims[n] as f64
        } else {
            scale * extent[n]
        };
        (size as usize).clamp(1, room[n])
    })
}

/// Returns one layer as text: a row for each step upwards, the highest first.
///
/// | cell | letter |
/// |---|---|
/// | empty, background of a field, share 0 | `.` |
/// | occupied, share 1 | `#` |
/// | added, removed | `+`, `-` |
/// | other labels | 1 to 9, a to z, and `#` beyond 35 |
/// | value of a field | digit: tenth of the range of all values |
/// | value of a field with values below zero | digit: tenth of the largest magnitude; a to j: the same below zero; `#`: inside and beyond the band |
/// | share of a cell | digit: tenth between 0 and 1 |
/// | no value | `?` |
///
/// # Errors
/// The layer does not exist.
pub fn slice_text<'a>(cells: impl Into<Shown<'a>>, layer: Layer) -> Result<String> {
    let layers = Layers::new(cells.into(), [1.0; 3]);
    layers.check(layer)?;
    let [columns, rows] = layer.plane().map(|a| layers.dims[a]);
    let mut text = String::new();
    for up in (0..rows).rev() {
        for right in 0..columns {
            text.push(layers.paint.letter(layer.cell([right, up])));
        }
        text.push('\n');
    }
    Ok(text)
}

/// Draws one layer as a picture of at most `size` pixels: a square for each cell, interior cells in another
/// colour. If cells outnumber pixels, a pixel is the mean of its cells. Names of labels, or the scale of a
/// field, are drawn next to the layer if there is room. A field has thin contour lines at the values of the
/// scale and a thick one at zero. Shares of cells are greys without lines.
///
/// # Errors
/// The layer does not exist, or the picture is too small.
pub fn slice<'a>(
    cells: impl Into<Shown<'a>>,
    spacing: [f64; 3],
    layer: Layer,
    size: [usize; 2],
    background: Background,
) -> Result<Picture> {
    super::check_size(size)?;
    let layers = Layers::new(cells.into(), spacing);
    layers.check(layer)?;
    let dims = layer.plane().map(|a| layers.dims[a]);
    let panel = layers.paint.panel();
    let legend = panel.size(size);
    let room = [
        size[0] - legend.map_or(0, |[width, _]| width + GAP),
        size[1],
    ];
    let fits = fitted(dims, layers.extent(layer), room);
    let all = legend.map_or(fits, |[width, height]| {
        [fits[0] + GAP + width, fits[1].max(height)]
    });
    let mut rows = vec![vec![CLEAR; all[0]]; all[1]];
    layers.draw(layer, &mut rows, [0, 0], fits);
    layers.draw_lines(layer, &panel.values(size), &mut rows, [0, 0], fits);
    panel.draw(&mut rows, [fits[0] + GAP, 0], size);
    let scale = fits[0] as f64 / layers.extent(layer)[0];
    Ok(Picture::from_rows(all, &rows, background).with_scale(scale))
}

/// Draws one layer with one pixel per cell, white where it is occupied and black elsewhere, in the form that
/// printers require. The picture has the size of the layer, or shows it in the middle of a plate of the given
/// size.
///
/// # Errors
/// The layer does not exist, it has more cells along an axis than the plate or the maximum size of pictures,
/// or the cells are a field.
pub fn mask<'a>(
    cells: impl Into<CellsRef<'a>>,
    layer: Layer,
    plate: Option<[usize; 2]>,
) -> Result<Picture> {
    let cells = cells.into();
    Layers::new(cells.into(), [1.0; 3]).check(layer)?;
    let occupied = cells.occupied()?;
    let dims = layer.plane().map(|a| occupied.dims()[a]);
    let size = plate.unwrap_or(dims);
    super::check_size(size)?;
    if (0..2).any(|n| dims[n] > size[n]) {
        let [columns, lines] = dims;
        let [width, height] = size;
        return Err(Error::usage(format!(
            "a layer of {columns} × {lines} cells does not fit on a plate of {width} × {height} pixels"
        )));
    }
    Ok(Picture::mask(size, dims, |[x, y]| {
        occupied.get(layer.cell([x, dims[1] - 1 - y]))
    }))
}

/// Draws layers across an axis side by side, each with its name: all layers, or as many as fit, evenly
/// distributed. The picture has at most `size` pixels.
///
/// # Errors
/// The picture is too small for one layer.
pub fn sheet<'a>(
    cells: impl Into<Shown<'a>>,
    spacing: [f64; 3],
    axis: usize,
    size: [usize; 2],
    background: Background,
) -> Result<Picture> {
    super::check_size(size)?;
    let layers = Layers::new(cells.into(), spacing);
    let panel = layers.paint.panel();
    let whole = size;
    let legend = panel.size(size);
    let size = [
        size[0] - legend.map_or(0, |[width, _]| width + GAP),
        size[1],
    ];
    let first = Layer { axis, index: 0 };
    let dims = first.plane().map(|a| layers.dims[a]);
    let plan =
        SheetPlan::new(layers.dims[axis], dims, layers.extent(first), size).ok_or_else(|| {
            Error::usage(format!(
                "a sheet of {} × {} pixels is too small for a layer",
                size[0], size[1]
            ))
        })?;
    let step = [
        plan.thumb[0] + GAP,
        plan.thumb[1] + GAP + LABEL * plan.letters,
    ];
    let sheet = [0, 1].map(|n| GAP + step[n] * plan.shape[n]);
    let size = legend.map_or(sheet, |[width, height]| {
        [sheet[0] + width + GAP, sheet[1].max(height + 2 * GAP)]
    });
    let mut rows = vec![vec![CLEAR; size[0]]; size[1]];
    for (n, index) in plan.layers.iter().enumerate() {
        let place = [n % plan.shape[0], n / plan.shape[0]];
        let corner = [0, 1].map(|n| GAP + place[n] * step[n]);
        let layer = Layer {
            axis,
            index: *index,
        };
        label(
            &mut rows,
            &layer.name(),
            corner,
            plan.letters,
            pixel(colours::INK, 1.0),
        );
        let corner = [corner[0], corner[1] + LABEL * plan.letters];
        layers.draw(layer, &mut rows, corner, plan.thumb);
        layers.draw_lines(layer, &[], &mut rows, corner, plan.thumb);
    }
    panel.draw(&mut rows, [sheet[0], GAP], whole);
    let scale = plan.thumb[0] as f64 / layers.extent(first)[0];
    Ok(Picture::from_rows(size, &rows, background).with_scale(scale))
}

/// Division of a sheet.
struct SheetPlan {
    /// Columns and rows.
    shape: [usize; 2],
    /// Layers to show.
    layers: Vec<usize>,
    /// Size of each layer.
    thumb: [usize; 2],
    /// Size of a font pixel of their names in pixels.
    letters: usize,
}

impl SheetPlan {
    /// Finds the largest number of layers that fit at the minimum size, then the largest size at which they
    /// fit. `None` if no layer fits.
    fn new(count: usize, dims: [usize; 2], extent: [f64; 2], size: [usize; 2]) -> Option<Self> {
        let letters = if size[0].min(size[1]) >= 640 { 2 } else { 1 };
        let label = LABEL * letters;
        let longer = dims[0].max(dims[1]);
        for shown in (1..=count).rev() {
            let mut largest: Option<([usize; 2], [usize; 2])> = None;
            for columns in 1..=shown {
                let shape = [columns, shown.div_ceil(columns)];
                let step = [0, 1].map(|n| size[n].saturating_sub(GAP) / shape[n]);
                if step[0] <= GAP || step[1] <= GAP + label {
                    continue;
                }
                let thumb = fitted(dims, extent, [step[0] - GAP, step[1] - GAP - label]);
                let area = thumb[0] * thumb[1];
                // Of equal sizes, the one with more columns.
                if largest.is_none_or(|(thumb, _)| area >= thumb[0] * thumb[1]) {
                    largest = Some((thumb, shape));
                }
            }
            let Some((thumb, shape)) = largest else {
                continue;
            };
            if shown > 1 && thumb[0].max(thumb[1]) < longer.min(THUMB) {
                continue;
            }
            // The middles of equal shares of the layers.
            let layers = (0..shown).map(|n| (2 * n + 1) * count / (2 * shown));
            return Some(Self {
                shape,
                layers: layers.collect(),
                thumb,
                letters,
            });
        }
        None
    }
}
