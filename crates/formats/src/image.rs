//! Functions that the medical image formats share: the position of the cells in millimetres of a patient, and
//! reading the cells.
//!
//! Mesh coordinates are LPS: x points to the left, y to the back (posterior) and z up (superior), as in
//! DICOM, ITK and 3D Slicer. An image states the centre of its first cell and a step along each of its axes.
//! The axes may have another order, run backwards, or be tilted, but they must be perpendicular. The cells of a
//! tilted image have a lattice along the axes of the image; see [`frame`](voxelize_core::grid::frame).

use std::io::Read;

use flate2::read::MultiGzDecoder;

use super::dense::{self, Order};
use super::open::{VoxelSource, nameless};
use super::packed::MOST_PACKED;
use super::{Dtype, ORDER, metadata, shares};
use crate::Voxels;
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::geom::Rational;
use voxelize_core::grid::frame::{ArrayAxis, ArrayPlace, PLAIN_AXES, SCAN_FRAME, determinant};
use voxelize_core::grid::metadata::{Metadata, Style};
use voxelize_core::grid::{
    BitGrid, CellSource, Cells, Field, Labels, Lattice, Legend, Record, ScanFrame,
};

/// Returns the exact centre of cell (0, 0, 0), and the distance between cells along each axis.
pub(super) fn centre_and_step(lattice: &Lattice) -> ([Rational; 3], [Rational; 3]) {
    let half = Rational::new(1, 2);
    let [origin, spacing] = [lattice.origin(), lattice.spacing()];
    (
        std::array::from_fn(|axis| &origin[axis] + &(&spacing[axis] * &half)),
        spacing.clone(),
    )
}

/// Returns the position of the array in which an image stores cells with this lattice and record.
pub(super) fn place_of(lattice: &Lattice, record: &Record) -> ArrayPlace {
    match ScanFrame::of(record) {
        Some(frame) => frame.place(lattice),
        None => ScanFrame::place_without(lattice),
    }
}

/// Returns the metadata of cells that are stored as `dtype`, as one line of JSON.
pub(super) fn described(source: &dyn CellSource, dtype: Dtype) -> String {
    let mut metadata = metadata(source, dtype);
    super::npy::annotate(dtype, &mut metadata);
    metadata.to_json(Style::OneLine)
}

/// Key in [`Metadata::extra`] for the axes of an image, such as `-x,-y,z`. The key is absent if the axes are
/// x, y and z in this order.
pub const IMAGE_AXES: &str = "axes";

/// Value of [`IMAGE_AXES`] for an image that does not state the directions of its axes. They are read as x, y
/// and z.
pub const UNKNOWN_AXES: &str = "unknown";

/// Key in [`Metadata::extra`] for a cell type that cannot be read. The value is the format's name of the
/// type, such as `int16`.
pub const UNREAD_TYPE: &str = "type";

/// Adds the unit that the header of an image states, unless the image has metadata of this tool.
pub(super) fn take_unit(metadata: &mut Metadata, unit: Option<&str>) {
    if metadata.dims.is_none() {
        metadata
            .record
            .transform
            .extend(unit.map(|unit| ("unit", unit.to_string())));
    }
}

/// Position and orientation of the cells of an image.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ImageFrame {
    /// Lattice of the cells, with its axes in the order x, y, z. If the image is tilted, its axes are the axes
    /// of the image.
    pub lattice: Lattice,
    /// Number of cells along each axis of the image.
    dims: [usize; 3],
    /// For each axis of the image: the axis of the lattice, and `true` if the image axis runs backwards along
    /// it.
    axes: [ArrayAxis; 3],
    /// Order and directions of the axes. `None` if they are exactly x, y and z.
    frame: Option<ScanFrame>,
    /// Position that the image states.
    place: ArrayPlace,
}

impl ImageFrame {
    /// Creates the frame of an image. `centre` is the centre of its first cell. `steps[n]` is the vector from
    /// a cell to the next one along image axis `n`.
    ///
    /// # Errors
    /// Fails if the axes of the image are not perpendicular, or if one has no length.
    pub(super) fn new(
        dims: [usize; 3],
        centre: &[Rational; 3],
        steps: &[[Rational; 3]; 3],
    ) -> Result<Self> {
        match parallel_axes(dims, steps) {
            Some(axes) => Self::along_axes(dims, centre, steps, axes),
            None => Self::tilted(dims, centre, steps),
        }
    }

    /// Creates the frame of an image like [`Self::new`], for a format whose images are not tilted.
    ///
    /// # Errors
    /// Fails if an axis of the image is not parallel to x, y or z.
    pub(super) fn parallel(
        dims: [usize; 3],
        centre: &[Rational; 3],
        steps: &[[Rational; 3]; 3],
    ) -> Result<Self> {
        match parallel_axes(dims, steps) {
            Some(axes) => Self::along_axes(dims, centre, steps, axes),
            None => Err(oblique(dims, centre, steps)),
        }
    }

    /// Creates the frame of an image whose axes are tilted. The lattice is along these axes, and its zero is the
    /// centre of the first cell. The size of a cell is the length of a step as a short decimal; the directions state the rest, so that the product is exactly
    /// the step.
    fn tilted(
        dims: [usize; 3],
        centre: &[Rational; 3],
        steps: &[[Rational; 3]; 3],
    ) -> Result<Self> {
        check_perpendicular(steps)?;
        let spacing = steps.each_ref().map(short_length);
        let directions = std::array::from_fn(|n| {
            let size = &spacing[n];
            steps[n].each_ref().map(|part| part / size)
        });
        let Some(frame) = ScanFrame::tilted(directions, centre.clone()) else {
            return Err(flat());
        };
        let origin = spacing.each_ref().map(|size| size * &Rational::new(-1, 2));
        let lattice = Lattice::new(dims, origin, spacing, [true; 3]);
        Ok(Self {
            lattice: lattice.map_err(broken_frame)?,
            dims,
            axes: PLAIN_AXES,
            frame: Some(frame),
            place: ArrayPlace {
                centre: centre.clone(),
                steps: steps.clone(),
            },
        })
    }

    /// Creates the frame of an image with these axes.
    fn along_axes(
        dims: [usize; 3],
        centre: &[Rational; 3],
        steps: &[[Rational; 3]; 3],
        axes: [ArrayAxis; 3],
    ) -> Result<Self> {
        let mut all = [0; 3];
        let (mut origin, mut spacing) = (centre.clone(), centre.clone());
        for (n, (axis, is_back)) in axes.into_iter().enumerate() {
            let step = &steps[n][axis];
            all[axis] = dims[n];
            spacing[axis] = step.abs();
            let first = if is_back {
                step * &Rational::from(dims[n] as i64 - 1)
            } else {
                Rational::ZERO
            };
            origin[axis] = &(&centre[axis] + &first) - &(&spacing[axis] * &Rational::new(1, 2));
        }
        let directions = std::array::from_fn(|n| {
            let size = &spacing[axes[n].0];
            steps[n].each_ref().map(|part| part / size)
        });
        let lattice = Lattice::new(all, origin, spacing, [true; 3]);
        Ok(Self {
            lattice: lattice.map_err(broken_frame)?,
            dims,
            axes,
            frame: ScanFrame::parallel(axes, directions),
            place: ArrayPlace {
                centre: centre.clone(),
                steps: steps.clone(),
            },
        })
    }

    /// Adds the properties that are known without reading the cells. Cells are read in the order of the
    /// lattice, so the metadata note image axes that have another order.
    pub(super) fn describe(&self, mut metadata: Metadata) -> Metadata {
        metadata.dims = Some(self.lattice.dims());
        metadata.extra.insert(ORDER[0].into(), ORDER[1].into());
        if self.axes != PLAIN_AXES {
            let axes = self.frame.as_ref().and_then(ScanFrame::axes_text);
            metadata
                .extra
                .extend(axes.map(|axes| (IMAGE_AXES.into(), axes)));
        }
        metadata
    }

    /// Sets the lattice and the frame in `metadata`. If the position in the header still agrees with the exact
    /// lattice and frame in `metadata`, keeps them; otherwise takes those of the header. The lattice is `None`
    /// if the file does not state a position. `round` is the rounding of the header's numbers.
    pub(super) fn set_place(
        &self,
        metadata: &mut Metadata,
        is_stated: bool,
        round: fn(&Rational) -> f64,
    ) {
        if let Some(exact) = &metadata.lattice
            && exact.dims() == self.lattice.dims()
            && rounded_place(&place_of(exact, &metadata.record), round)
                == rounded_place(&self.place, round)
        {
            return;
        }
        // A program that reorders the axes of an image keeps the place of its cells.
        let is_parallel = |frame: Option<&ScanFrame>| frame.is_none_or(|frame| !frame.is_tilted());
        metadata.lattice = if is_parallel(self.frame.as_ref())
            && is_parallel(ScanFrame::of(&metadata.record).as_ref())
        {
            self.lattice_of(metadata, is_stated, round)
        } else {
            let snap = metadata.record.snap_of_lattice();
            is_stated.then(|| self.lattice.clone().with_snap(snap))
        };
        let transform = &mut metadata.record.transform;
        transform.retain(|(name, _)| *name != SCAN_FRAME);
        if is_stated && let Some(frame) = &self.frame {
            transform.push((SCAN_FRAME, frame.to_string()));
        }
    }

    /// Returns the lattice. If the position in the header still agrees with the exact lattice in `metadata`,
    /// returns the exact one, otherwise the lattice of this frame. `None` if the file does not state a
    /// position. `round` is the rounding of the header's numbers.
    pub(super) fn lattice_of(
        &self,
        metadata: &Metadata,
        is_stated: bool,
        round: fn(&Rational) -> f64,
    ) -> Option<Lattice> {
        self.lattice_by(centre_and_step, metadata, is_stated, round)
    }

    /// Returns the lattice like [`Self::lattice_of`], but for a file that states the outer corner of its
    /// first cell, in doubles.
    pub(super) fn lattice_at_corner(
        &self,
        metadata: &Metadata,
        is_stated: bool,
    ) -> Option<Lattice> {
        self.lattice_by(corner_and_step, metadata, is_stated, Rational::to_f64)
    }

    fn lattice_by(
        &self,
        place: fn(&Lattice) -> ([Rational; 3], [Rational; 3]),
        metadata: &Metadata,
        is_stated: bool,
        round: fn(&Rational) -> f64,
    ) -> Option<Lattice> {
        if let Some(exact) = &metadata.lattice
            && exact.dims() == self.lattice.dims()
            && rounded(place(exact), round) == rounded(place(&self.lattice), round)
        {
            return Some(exact.clone());
        }
        if !is_stated {
            return None;
        }
        let snap = metadata.record.snap_of_lattice();
        Some(self.lattice.clone().with_snap(snap))
    }

    /// Returns the number of cells along each axis of the image.
    pub(super) fn dims(&self) -> [usize; 3] {
        self.dims
    }

    /// Reorders cells from the axes of the image to the axes of the lattice. Keeps the names that `metadata`
    /// gives to labels.
    pub(super) fn placed(&self, cells: Cells, metadata: &Metadata) -> Result<Cells> {
        let is_described = metadata.dims.is_some() || metadata.legend.is_some();
        self.turned(if is_described {
            cells
        } else {
            nameless(cells)?
        })
    }

    /// Converts the indices of a cell from the image to the lattice.
    fn place(&self, cell: [usize; 3]) -> [usize; 3] {
        let mut at = [0; 3];
        for (n, (axis, is_back)) in self.axes.into_iter().enumerate() {
            at[axis] = if is_back {
                self.dims[n] - 1 - cell[n]
            } else {
                cell[n]
            };
        }
        at
    }

    /// Reorders cells from the axes of the image to the axes of the lattice.
    pub(super) fn turned(&self, cells: Cells) -> Result<Cells> {
        if self.axes == PLAIN_AXES {
            return Ok(cells);
        }
        let dims = self.lattice.dims();
        Ok(match cells {
            Cells::Bits(bits) => {
                let mut turned = BitGrid::new(dims)?;
                for cell in bits.iter() {
                    turned.set(self.place(cell));
                }
                turned.into()
            }
            Cells::Labels(labels) => {
                let mut turned = Labels::new(dims, labels.legend().clone())?;
                for (cell, value) in labels.iter() {
                    turned.set(self.place(cell), value);
                }
                turned.into()
            }
            Cells::Field(field) => {
                let mut turned = Field::new(dims, field.background())?;
                let [nx, ny, nz] = self.dims;
                for k in 0..nz {
                    for j in 0..ny {
                        for i in 0..nx {
                            let [x, y, z] = self.place([i, j, k]);
                            turned.row_mut(y, z)[x] = field.get([i, j, k]);
                        }
                    }
                }
                turned.into()
            }
        })
    }
}

/// Returns the lower corner of cell (0, 0, 0), and the distance between cells along each axis.
fn corner_and_step(lattice: &Lattice) -> ([Rational; 3], [Rational; 3]) {
    (lattice.origin().clone(), lattice.spacing().clone())
}

fn rounded_place(place: &ArrayPlace, round: fn(&Rational) -> f64) -> [[f64; 3]; 4] {
    let [x, y, z] = &place.steps;
    [&place.centre, x, y, z].map(|vector| vector.each_ref().map(round))
}

fn broken_frame(error: Error) -> Error {
    Error::input(Code::V007, format!("its frame: {error}"))
}

/// Greatest cosine of the angle between two axes of an image that count as perpendicular. Directions in 32-bit
/// floats are off by 1e-7; ITK accepts the same deviation in NIfTI files.
const PERPENDICULAR: f64 = 1e-4;

/// Fails if an axis of an image has no length, or if two axes are not perpendicular.
fn check_perpendicular(steps: &[[Rational; 3]; 3]) -> Result<()> {
    let lengths = steps.each_ref().map(length);
    if determinant(steps).is_zero() || !lengths.iter().all(|length| *length > 0.0) {
        return Err(flat());
    }
    for [one, two] in [[0, 1], [0, 2], [1, 2]] {
        let mut product = Rational::ZERO;
        for (a, b) in steps[one].iter().zip(&steps[two]) {
            product = &product + &(a * b);
        }
        let cosine = product.to_f64() / (lengths[one] * lengths[two]);
        // Also refuses a cosine that is not a number.
        let is_perpendicular = cosine.abs() <= PERPENDICULAR;
        if !is_perpendicular {
            let angle = cosine.clamp(-1.0, 1.0).acos().to_degrees();
            let text = format!(
                "the axes of the image are not perpendicular: axes {} and {} meet at {angle:.4} degrees; at most 0.0057 off 90 \
                 are accepted",
                one + 1,
                two + 1
            );
            let hint = "resample the image on perpendicular axes, for example with 'Resample Scalar Volume' of 3D Slicer; a CT \
                        of a tilted gantry needs this";
            return Err(Error::input(Code::V004, text).with_hint(hint));
        }
    }
    Ok(())
}

/// Returns the error for axes that span no volume.
fn flat() -> Error {
    let text = "the axes of the image span no volume: two are parallel, or one has no length";
    Error::input(Code::V004, text)
        .with_hint("write the position again with the program that made it")
}

fn length(step: &[Rational; 3]) -> f64 {
    let mut squares = Rational::ZERO;
    for part in step {
        squares = &squares + &(part * part);
    }
    squares.root_to_f64()
}

/// Returns the length of a step as the shortest decimal that differs from it by at most 1e-7 of the length.
/// Programs compute steps from such decimals and round them to floats.
fn short_length(step: &[Rational; 3]) -> Rational {
    let length = length(step);
    for digits in 0..17 {
        let text = format!("{length:.digits$e}");
        let is_near = text
            .parse::<f64>()
            .is_ok_and(|short| (short - length).abs() <= 1e-7 * length);
        if is_near && let Ok(short) = Rational::parse_decimal(&text) {
            return short;
        }
    }
    Rational::from_f64(length).unwrap_or(Rational::ONE)
}

/// Returns the axis of the lattice for each axis of an image. `None` if an axis is not parallel to x, y or z.
fn parallel_axes(dims: [usize; 3], steps: &[[Rational; 3]; 3]) -> Option<[ArrayAxis; 3]> {
    let mut axes = PLAIN_AXES;
    for (axis, (step, count)) in axes.iter_mut().zip(steps.iter().zip(dims)) {
        *axis = along(step, count)?;
    }
    let has_all = (0..3).all(|axis| axes.iter().any(|(of, _)| *of == axis));
    has_all.then_some(axes)
}

fn rounded(
    (place, step): ([Rational; 3], [Rational; 3]),
    round: fn(&Rational) -> f64,
) -> [[f64; 3]; 2] {
    [place.each_ref().map(round), step.each_ref().map(round)]
}

/// Returns the index of the largest component of a vector. In a tie, returns the first one.
fn largest<T: PartialOrd>(parts: &[T; 3]) -> usize {
    let mut best = 0;
    for n in 1..3 {
        if parts[n] > parts[best] {
            best = n;
        }
    }
    best
}

/// Returns the axis that a step is parallel to, and `true` if it runs backwards. `None` if the tilt of the step
/// shifts the last of `count` cells sideways by more than a thousandth of a cell.
fn along(step: &[Rational; 3], count: usize) -> Option<(usize, bool)> {
    let sizes = step.each_ref().map(|part| part.abs());
    let axis = largest(&sizes);
    let most = &sizes[axis] * &Rational::new(1, 1000);
    let count = Rational::from(count as i64);
    let is_straight = (0..3).all(|other| other == axis || &sizes[other] * &count <= most);
    if !is_straight || !sizes[axis].is_positive() {
        return None;
    }
    Some((axis, step[axis] < Rational::ZERO))
}

/// Returns the error for a tilted image. It states a grid along x, y and z that contains the whole image.
fn oblique(dims: [usize; 3], centre: &[Rational; 3], steps: &[[Rational; 3]; 3]) -> Error {
    let centre = centre.each_ref().map(Rational::to_f64);
    let steps = steps
        .each_ref()
        .map(|step| step.each_ref().map(Rational::to_f64));
    let (mut least, mut most) = (centre, centre);
    for corner in 0..8 {
        // Position of the corner in image cells.
        let reach: [f64; 3] = std::array::from_fn(|n| {
            if corner >> n & 1 == 0 {
                -0.5
            } else {
                dims[n] as f64 - 0.5
            }
        });
        for axis in 0..3 {
            let at = centre[axis] + (0..3).map(|n| reach[n] * steps[n][axis]).sum::<f64>();
            (least[axis], most[axis]) = (least[axis].min(at), most[axis].max(at));
        }
    }
    let sizes = steps.map(|step| step.iter().map(|part| part * part).sum::<f64>().sqrt());
    // Axis among x, y and z that is nearest to each image axis. The three need not differ.
    let nearest = steps.map(|step| largest(&step.map(f64::abs)));
    let mut tilt = 0.0_f64;
    let mut along = [None; 3];
    for n in (0..3).rev() {
        let cosine = steps[n][nearest[n]].abs() / sizes[n];
        tilt = tilt.max(cosine.min(1.0).acos().to_degrees());
        along[nearest[n]] = Some(sizes[n]);
    }
    let least_size = sizes.into_iter().fold(f64::INFINITY, f64::min);
    let size = match along {
        [Some(x), Some(y), Some(z)] if x != y || y != z => list(&[x, y, z]),
        _ => format!("{least_size:.6}"),
    };
    let text =
        format!("the axes of the image are tilted against x, y and z by up to {tilt:.4} degrees");
    let bounds = list(&[least, most].concat());
    let hint = [
        "resample the image along x, y and z, or turn the mesh (docs/how-to/coming-from.md)"
            .to_string(),
        format!("`--bounds {bounds}` holds it"),
        format!("`--voxel-size {size}` has the cell size of the image"),
    ];
    Error::input(Code::V004, text).with_hint(hint)
}

/// Properties of the data that follow the header of an image.
pub(super) struct ImageData {
    pub frame: ImageFrame,
    /// Number type of the cells. `None` if the type cannot be read.
    pub dtype: Option<Dtype>,
    /// Name of the number type in the format.
    pub type_name: String,
    pub is_packed: bool,
    /// Offset of the cells in the uncompressed data.
    pub skip: u64,
}

impl ImageData {
    /// Reads the cells that the header describes.
    pub(super) fn read(self, source: &mut VoxelSource, metadata: Metadata) -> Result<Voxels> {
        let dims = self.frame.dims;
        let dtype = self.dtype.ok_or_else(|| {
            let text = format!(
                "its cells are of type '{}', not uint8 or float",
                sanitize(&self.type_name)
            );
            Error::input(Code::V004, text).with_hint([
                "save them as uint8 or float",
                "`--like FILE` takes the grid of any type",
            ])
        })?;
        let need = dense::bytes_for(dims, dtype).unwrap_or(u128::MAX);
        let left = u128::from(source.left());
        let [x, y, z] = dims;
        let text = format!("{x} × {y} × {z} cells take {need} bytes, {left} follow");
        if self.is_packed {
            if need > left.saturating_mul(MOST_PACKED) {
                return Err(source.error(Code::V002, text));
            }
        } else if need > left {
            return Err(source.error(Code::V002, text));
        } else if need < left {
            return Err(source.error(Code::V005, text));
        }
        let room = source.room;
        let cells = if self.is_packed {
            let mut unpacked = MultiGzDecoder::new(source);
            skip(&mut unpacked, self.skip)?;
            let cells = cells_of(&mut unpacked, &self.frame, dtype, &metadata, room)?;
            if unpacked.read(&mut [0]).map_err(super::open::failure)? > 0 {
                return Err(Error::input(Code::V005, "bytes follow the cells"));
            }
            cells
        } else {
            cells_of(source, &self.frame, dtype, &metadata, room)?
        };
        Ok(Voxels {
            cells,
            lattice: metadata.lattice,
            record: metadata.record,
        })
    }

    /// Adds the properties that are known without reading the cells. `is_placed` is `true` if the file states
    /// the position of its cells.
    pub(super) fn describe(&self, metadata: Metadata, is_placed: bool) -> Metadata {
        let is_unplaced = metadata.dims.is_none() && !is_placed;
        let mut metadata = self.frame.describe(metadata);
        if self.dtype.is_none() {
            metadata
                .extra
                .insert(UNREAD_TYPE.into(), sanitize(&self.type_name));
        }
        if is_unplaced {
            metadata
                .extra
                .insert(IMAGE_AXES.into(), UNKNOWN_AXES.into());
        }
        metadata
    }
}

fn skip(input: &mut impl Read, count: u64) -> Result<()> {
    let skipped = std::io::copy(&mut input.take(count), &mut std::io::sink())
        .map_err(super::open::failure)?;
    if skipped == count {
        Ok(())
    } else {
        Err(Error::input(Code::V002, "the file ends early"))
    }
}

/// Reads the cells of an image with this frame. Returns them in the order of the frame's lattice.
pub(super) fn cells_of(
    input: &mut dyn Read,
    frame: &ImageFrame,
    dtype: Dtype,
    metadata: &Metadata,
    room: super::room::CellRoom,
) -> Result<Cells> {
    let legend: Option<&Legend> = metadata.legend.as_ref();
    let dims = frame.dims;
    let cells = match dtype {
        Dtype::F32 => {
            dense::read_floats(input, dims, Order::XFastest, metadata.background, room)?.into()
        }
        Dtype::U8 if shares::are_stated(metadata) => {
            dense::read_shares(input, dims, Order::XFastest, metadata.background, room)?.into()
        }
        _ => dense::read_values(input, dims, Order::XFastest, legend, room)?,
    };
    frame.placed(cells, metadata)
}

/// Parses the metadata in the JSON of an image. Returns the default if there is no JSON, or if it describes
/// other cells.
pub(super) fn parse_metadata(json: Option<&str>, dims: [usize; 3]) -> Result<Metadata> {
    let Some(json) = json else {
        return Ok(Metadata::default());
    };
    let metadata = Metadata::from_json(json).map_err(|why| {
        Error::input(
            Code::V007,
            format!("the description of the cells is broken: {why}"),
        )
    })?;
    Ok(if metadata.dims == Some(dims) {
        metadata
    } else {
        Metadata::default()
    })
}

fn list(numbers: &[f64]) -> String {
    let texts: Vec<_> = numbers.iter().map(|n| format!("{n:.6}")).collect();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::Snap;

    fn numbers(values: [f64; 3]) -> [Rational; 3] {
        values.map(|value| Rational::from_f64(value).unwrap())
    }

    #[test]
    fn axes_may_have_any_order_and_direction() {
        // The first axis of the image runs down z, the second along x, and the third backwards along y.
        let steps = [[0.0, 0.0, -2.0], [0.5, 0.0, 0.0], [0.0, -1.0, 0.0]].map(numbers);
        let frame = ImageFrame::new([3, 4, 5], &numbers([10.0, 20.0, 30.0]), &steps).unwrap();
        assert_eq!(frame.lattice.dims(), [4, 5, 3]);
        assert_eq!(
            frame.lattice.origin().each_ref().map(Rational::to_f64),
            [9.75, 15.5, 25.0]
        );
        let mut bits = BitGrid::new([3, 4, 5]).unwrap();
        bits.set([0, 1, 0]);
        let Cells::Bits(turned) = frame.turned(bits.into()).unwrap() else {
            panic!("bits")
        };
        assert_eq!(turned.iter().collect::<Vec<_>>(), [[1, 4, 2]]);
        let values: Vec<f32> = (0..60).map(|n| n as f32).collect();
        let field = Field::from_values([3, 4, 5], 0.0, values).unwrap();
        let Cells::Field(turned) = frame.turned(field.into()).unwrap() else {
            panic!("a field")
        };
        assert_eq!(turned.get([1, 4, 2]), 3.0);
    }

    #[test]
    fn a_moved_image_keeps_its_snap() {
        let steps = [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]].map(numbers);
        let frame = ImageFrame::new([3, 4, 5], &numbers([10.0, 20.0, 30.0]), &steps).unwrap();
        let elsewhere =
            Lattice::new([3, 4, 5], numbers([0.0; 3]), numbers([0.5; 3]), [true; 3]).unwrap();
        let metadata = Metadata {
            dims: Some([3, 4, 5]),
            lattice: Some(elsewhere),
            ..Metadata::default()
        };
        for snap in [Snap::Float, Snap::None] {
            let mut metadata = metadata.clone();
            metadata.record.snap = Some(snap.name().into());
            frame.set_place(&mut metadata, true, Rational::to_f64);
            let lattice = metadata.lattice.clone().unwrap();
            assert_eq!(
                (lattice.snap(), lattice.origin()),
                (snap, &numbers([9.75, 19.75, 29.75]))
            );
        }
    }

    #[test]
    fn sheared_axes_are_refused_with_their_angle() {
        let steps = [[0.5, 0.0, 0.0], [0.0, 0.5, 0.1], [0.0, 0.0, 2.0]].map(numbers);
        let error = ImageFrame::new([10, 10, 10], &numbers([0.0; 3]), &steps).unwrap_err();
        let text = error.message();
        assert!(
            text.contains("axes 2 and 3 meet at 78.6901 degrees"),
            "{text}"
        );
    }

    #[test]
    fn a_tilted_image_has_a_lattice_along_its_axes() {
        let tilted = [[0.4, 0.3, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 2.0]].map(numbers);
        let centre = numbers([10.0, -20.0, 30.0]);
        let frame = ImageFrame::new([10, 11, 12], &centre, &tilted).unwrap();
        let expected = ["0.5", "1", "2"].map(|text| Rational::parse(text).unwrap());
        assert_eq!(frame.lattice.spacing(), &expected);
        let place = frame.frame.as_ref().unwrap().place(&frame.lattice);
        assert_eq!((place.centre, place.steps), (centre, tilted));
    }

    #[test]
    fn tilted_axes_are_refused_with_the_grid_that_holds_them() {
        let tilted = [[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 2.0]].map(numbers);
        let error = ImageFrame::parallel([10, 10, 10], &numbers([0.0; 3]), &tilted).unwrap_err();
        let hint = error.hint().unwrap().to_string();
        assert!(
            hint.contains("bounds -6.100000,-0.700000,-1.000000,")
                && hint.contains("voxel-size 1.000000"),
            "{hint}"
        );
        // Two axes with the same direction, and steps of length zero.
        for steps in [
            [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
            [[0.0; 3]; 3],
        ] {
            assert!(ImageFrame::new([2, 2, 2], &numbers([0.0; 3]), &steps.map(numbers)).is_err());
        }
        // Tilts as small as these result from rounding.
        let nearly = [[1.0, 1e-9, 0.0], [0.0, 1.0, 0.0], [0.0, -1e-8, 1.0]].map(numbers);
        assert!(ImageFrame::new([500, 500, 500], &numbers([0.0; 3]), &nearly).is_ok());
    }
}
