//! One layer of cells as text or as coloured squares, and sheets of several layers.
//!
//! In a layer across z, x points to the right and y upwards. A layer across y shows x and z, and a layer
//! across x shows y and z.

use super::axes::label;
use super::colours;
use super::contours::Contours;
use super::font;
use super::paint::Paint;
use super::panel::Panel;
use super::picture::{Background, CLEAR, Picture, Pixel, pixel};
use super::shown::Shown;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::lattice::AXES;
use voxelize_core::grid::{BitGrid, CellsRef};
use voxelize_formats::check_plate;
#[cfg(feature = "png")]
use voxelize_formats::draw_bits;

/// Width in pixels of the margin around a picture of slices, and of the gap between two slices.
const GAP: usize = 8;

/// Height of the name above a layer, in font pixels.
const LABEL: usize = font::HEIGHT + 4;

/// Minimum length, in pixels, of the longer side of a layer on a sheet. A layer with fewer cells needs only
/// one pixel per cell.
const THUMB: usize = 88;

/// Layer of cells across an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer {
    /// Axis perpendicular to the layer: 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Index of the layer. The layer with the lowest coordinates is 0.
    pub index: usize,
}

impl Layer {
    /// Returns the axis that points to the right, and the axis that points upwards.
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

    /// Returns the name of the layer, such as `z=40`.
    fn name(self) -> String {
        format!("{}={}", AXES[self.axis], self.index)
    }
}

/// Cells with their dims and the size of a cell.
struct Layers<'a> {
    paint: Paint<'a>,
    dims: [usize; 3],
    spacing: [f64; 3],
    unit: Option<&'a str>,
}

impl<'a> Layers<'a> {
    fn new(shown: Shown<'a>, spacing: [f64; 3]) -> Self {
        Self {
            paint: Paint::new(shown),
            dims: shown.cells.dims(),
            spacing,
            unit: shown.unit,
        }
    }

    /// Returns the legend of the colours.
    fn panel(&self) -> Panel {
        Panel {
            unit: self.unit.map(str::to_string),
            ..self.paint.panel()
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

    /// Returns the width and the height of a layer in units of length.
    fn extent(&self, layer: Layer) -> [f64; 2] {
        layer.plane().map(|a| self.dims[a] as f64 * self.spacing[a])
    }

    /// Draws a layer in a rectangle. A pixel that covers several cells has their mean colour.
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
                // For the mean colour, at most sixteen cells are sampled.
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

    /// Draws contour lines on a layer of a field, at these values and at zero.
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

/// Returns the size in pixels at which a layer fits into `room`. If a cell is at least one pixel wide, its
/// size is rounded down to whole pixels.
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

/// Returns one layer as text. Each row of cells is one line, and the highest row comes first.
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
/// Fails if the layer does not exist.
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

/// Draws one layer as a picture of at most `size` pixels. Each cell is a square, and interior cells have
/// their own colour. If there are more cells than pixels, a pixel has the mean colour of its cells. If there
/// is room, the names of labels or the scale of a field are drawn next to the layer. A field has thin contour
/// lines at the values of the scale and a thick one at zero. Shares of cells are shown as greys without
/// lines.
///
/// # Errors
/// Fails if the layer does not exist, or if the picture is too small.
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
    let panel = layers.panel();
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

/// Draws one layer as a mask for printers. Each cell is one pixel, white if the cell is occupied and black
/// otherwise. The picture has the size of the layer. If `plate` is given, the picture has that size and the
/// layer is in its middle.
///
/// # Errors
/// Fails if the layer does not exist, if it has more cells along an axis than the plate or the maximum size
/// of a picture, or if the cells are a field.
pub fn mask<'a>(
    cells: impl Into<CellsRef<'a>>,
    layer: Layer,
    plate: Option<[usize; 2]>,
) -> Result<Picture> {
    let mask = Mask::new(cells.into(), layer, plate)?;
    let [_, lines] = mask.dims;
    Ok(Picture::mask(mask.size, mask.dims, |[x, y]| {
        mask.occupied.get(layer.cell([x, lines - 1 - y]))
    }))
}

/// Returns the picture of [`mask`] as a PNG file with one bit per pixel.
///
/// # Errors
/// Fails like [`mask`]. Also fails if the file does not fit into memory.
#[cfg(feature = "png")]
pub fn mask_png<'a>(
    cells: impl Into<CellsRef<'a>>,
    layer: Layer,
    plate: Option<[usize; 2]>,
) -> Result<Vec<u8>> {
    let mask = Mask::new(cells.into(), layer, plate)?;
    let [width, height] = mask.size;
    let [columns, lines] = mask.dims;
    let [left, top] = [0, 1].map(|n| (mask.size[n] - mask.dims[n]) / 2);
    let mut bits = vec![0; width.div_ceil(8) * height];
    let rows = bits.chunks_exact_mut(width.div_ceil(8));
    for (row, up) in rows.skip(top).zip((0..lines).rev()) {
        match layer.axis {
            2 => draw_bits(mask.occupied.row(up, layer.index), left, row),
            1 => draw_bits(mask.occupied.row(layer.index, up), left, row),
            _ => {
                for x in 0..columns {
                    if mask.occupied.get(layer.cell([x, up])) {
                        row[(left + x) / 8] |= 0x80 >> ((left + x) % 8);
                    }
                }
            }
        }
    }
    super::png::of_bits(mask.size, &bits)
}

/// Layer that is drawn as a mask.
struct Mask<'a> {
    occupied: &'a BitGrid,
    /// Number of cells to the right and upwards.
    dims: [usize; 2],
    /// Size of the picture.
    size: [usize; 2],
}

impl<'a> Mask<'a> {
    fn new(cells: CellsRef<'a>, layer: Layer, plate: Option<[usize; 2]>) -> Result<Self> {
        Layers::new(cells.into(), [1.0; 3]).check(layer)?;
        let occupied = cells.occupied()?;
        let dims = layer.plane().map(|a| occupied.dims()[a]);
        let size = plate.unwrap_or(dims);
        super::check_size(size)?;
        check_plate(dims, size)?;
        Ok(Self {
            occupied,
            dims,
            size,
        })
    }
}

/// Draws layers across an axis side by side, each with its name. If not all layers fit, as many as fit are
/// drawn, evenly distributed. The picture has at most `size` pixels.
///
/// # Errors
/// Fails if the picture is too small for a single layer.
pub fn sheet<'a>(
    cells: impl Into<Shown<'a>>,
    spacing: [f64; 3],
    axis: usize,
    size: [usize; 2],
    background: Background,
) -> Result<Picture> {
    super::check_size(size)?;
    let layers = Layers::new(cells.into(), spacing);
    let panel = layers.panel();
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

/// Arrangement of the layers on a sheet.
struct SheetPlan {
    /// Number of columns and of rows.
    shape: [usize; 2],
    /// Indices of the layers that are shown.
    layers: Vec<usize>,
    /// Size of each layer in pixels.
    thumb: [usize; 2],
    /// Size in pixels of a font pixel in the names of the layers.
    letters: usize,
}

impl SheetPlan {
    /// Finds the largest number of layers that fit at their minimum size, and then the largest size at which
    /// that number fits. `None` if not even one layer fits.
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
                // If two arrangements have the same size, the one with more columns is used.
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
            // The layers are divided into equal groups, and the middle layer of each group is shown.
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
