//! What images of medicine have in common: where their cells are, in millimetres of a patient, and how their cells are
//! read.
//!
//! A mesh is taken to be in LPS: x to the left, y to the back (posterior), z up (superior), as DICOM, ITK and 3D Slicer
//! have it. An image says the centre of its first cell and the step along each of its axes; it may count its axes in
//! another order, or backwards, but must not be tilted against x, y and z.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use super::dense::{self, Order};
use super::open::{VoxelSource, nameless};
use super::packed::MOST_PACKED;
use super::{Dtype, ORDER, metadata, shares};
use crate::Voxels;
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::geom::Rational;
use voxelize_core::grid::metadata::{Metadata, Style};
use voxelize_core::grid::{AXES, BitGrid, CellSource, Cells, Field, Labels, Lattice, Legend};

/// The exact place of the centre of cell (0, 0, 0), and the step of cells.
pub(super) fn centre_and_step(lattice: &Lattice) -> ([Rational; 3], [Rational; 3]) {
    let half = Rational::new(1, 2);
    let [origin, spacing] = [lattice.origin(), lattice.spacing()];
    (
        std::array::from_fn(|axis| &origin[axis] + &(&spacing[axis] * &half)),
        spacing.clone(),
    )
}

/// What is known of cells that are stored as `dtype`, as JSON on one line.
pub(super) fn described(source: &dyn CellSource, dtype: Dtype) -> String {
    let mut metadata = metadata(source, dtype);
    super::npy::annotate(dtype, &mut metadata);
    metadata.to_json(Style::OneLine)
}

/// The key in [`Metadata::extra`] for the axes of an image, if these are not x, y and z in this order: `-x,-y,z`.
pub const IMAGE_AXES: &str = "axes";

/// Its value where the image does not say how its axes run: they are taken as x, y and z.
pub const UNKNOWN_AXES: &str = "unknown";

/// The key in [`Metadata::extra`] for the type of cells that are not read, in the word of the format: `int16`.
pub const UNREAD_TYPE: &str = "type";

/// Takes over the unit that the header of an image states, where this tool has said nothing of the cells.
pub(super) fn take_unit(metadata: &mut Metadata, unit: Option<&str>) {
    if metadata.dims.is_none() {
        metadata
            .record
            .transform
            .extend(unit.map(|unit| ("unit", unit.to_string())));
    }
}

/// The axes of a lattice.
const PLAIN: [(usize, bool); 3] = [(0, false), (1, false), (2, false)];

/// Where the cells of an image are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ImageFrame {
    /// The cells in the order of x, y and z.
    pub lattice: Lattice,
    /// The cells along each axis of the image.
    dims: [usize; 3],
    /// For each axis of the image the axis of the lattice along it, and whether it goes backwards.
    axes: [(usize, bool); 3],
}

impl ImageFrame {
    /// The frame of an image whose first cell has this centre; `steps[n]` leads from a cell to the next on axis `n`.
    ///
    /// # Errors
    /// If an axis is tilted against x, y and z.
    pub(super) fn new(
        dims: [usize; 3],
        centre: &[Rational; 3],
        steps: &[[Rational; 3]; 3],
    ) -> Result<Self> {
        let axes: Option<Vec<(usize, bool)>> = steps
            .iter()
            .zip(dims)
            .map(|(step, n)| along(step, n))
            .collect();
        let axes = axes.and_then(|axes| <[(usize, bool); 3]>::try_from(axes).ok());
        let is_each =
            |axes: &[(usize, bool); 3]| (0..3).all(|axis| axes.iter().any(|(of, _)| *of == axis));
        let axes = axes
            .filter(is_each)
            .ok_or_else(|| oblique(dims, centre, steps))?;
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
        let lattice = Lattice::new(all, origin, spacing, [true; 3]);
        let lattice =
            lattice.map_err(|error| Error::input(Code::V007, format!("its frame: {error}")))?;
        Ok(Self {
            lattice,
            dims,
            axes,
        })
    }

    /// What is known without reading the cells: those of axes that run otherwise come in another order.
    pub(super) fn describe(&self, mut metadata: Metadata) -> Metadata {
        metadata.dims = Some(self.lattice.dims());
        metadata.extra.insert(ORDER[0].into(), ORDER[1].into());
        if self.axes != PLAIN {
            let name = |(axis, is_back): (usize, bool)| {
                format!("{}{}", if is_back { "-" } else { "" }, AXES[axis])
            };
            metadata
                .extra
                .insert(IMAGE_AXES.into(), self.axes.map(name).join(","));
        }
        metadata
    }

    /// The lattice that `metadata` says exactly, if the image was not moved since; else that of the frame, if the file
    /// says where it is.
    pub(super) fn lattice_of(
        &self,
        metadata: &Metadata,
        is_said: bool,
        round: fn(&Rational) -> f64,
    ) -> Option<Lattice> {
        self.lattice_by(centre_and_step, metadata, is_said, round)
    }

    /// The same of a file that says the outer corner of its first cell, as doubles.
    pub(super) fn lattice_at_corner(&self, metadata: &Metadata, is_said: bool) -> Option<Lattice> {
        let corner = |lattice: &Lattice| (lattice.origin().clone(), lattice.spacing().clone());
        self.lattice_by(corner, metadata, is_said, Rational::to_f64)
    }

    fn lattice_by(
        &self,
        place: fn(&Lattice) -> ([Rational; 3], [Rational; 3]),
        metadata: &Metadata,
        is_said: bool,
        round: fn(&Rational) -> f64,
    ) -> Option<Lattice> {
        let known = metadata.lattice.as_ref().filter(|lattice| {
            let (exact, read) = (place(lattice), place(&self.lattice));
            let same =
                |a: &[Rational; 3], b: &[Rational; 3]| (0..3).all(|n| round(&a[n]) == round(&b[n]));
            lattice.dims() == self.lattice.dims()
                && same(&exact.0, &read.0)
                && same(&exact.1, &read.1)
        });
        let own = || {
            self.lattice
                .clone()
                .with_snap(metadata.record.snap_of_lattice())
        };
        known.cloned().or_else(|| is_said.then(own))
    }

    /// The cells along each axis of the image.
    pub(super) fn dims(&self) -> [usize; 3] {
        self.dims
    }

    /// Cells in the order of the image, in that of the lattice, with the names that `metadata` gives them.
    pub(super) fn placed(&self, cells: Cells, metadata: &Metadata) -> Result<Cells> {
        let is_described = metadata.dims.is_some() || metadata.legend.is_some();
        self.turned(if is_described {
            cells
        } else {
            nameless(cells)?
        })
    }

    /// Cells in the order of the image, in that of the lattice.
    pub(super) fn turned(&self, cells: Cells) -> Result<Cells> {
        if self.axes == PLAIN {
            return Ok(cells);
        }
        let place = |cell: [usize; 3]| {
            let mut at = [0; 3];
            for (n, (axis, is_back)) in self.axes.into_iter().enumerate() {
                at[axis] = if is_back {
                    self.dims[n] - 1 - cell[n]
                } else {
                    cell[n]
                };
            }
            at
        };
        let dims = self.lattice.dims();
        Ok(match cells {
            Cells::Bits(bits) => {
                let mut turned = BitGrid::new(dims)?;
                bits.iter().for_each(|cell| turned.set(place(cell)));
                turned.into()
            }
            Cells::Labels(labels) => {
                let mut turned = Labels::new(dims, labels.legend().clone())?;
                labels
                    .iter()
                    .for_each(|(cell, value)| turned.set(place(cell), value));
                turned.into()
            }
            Cells::Field(field) => {
                let mut turned = Field::new(dims, field.background())?;
                let [nx, ny, nz] = self.dims;
                for (k, j, i) in
                    (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| (k, j, i))))
                {
                    let [x, y, z] = place([i, j, k]);
                    turned.row_mut(y, z)[x] = field.get([i, j, k]);
                }
                turned.into()
            }
        })
    }
}

/// The axis that a step goes along, and whether backwards; none if it is tilted so much that the last of `count` cells is
/// a thousandth of a cell away.
fn along(step: &[Rational; 3], count: usize) -> Option<(usize, bool)> {
    let sizes = step.each_ref().map(|part| part.abs());
    let axis = (0..3).fold(0, |best, axis| {
        if sizes[axis] > sizes[best] {
            axis
        } else {
            best
        }
    });
    let most = &sizes[axis] * &Rational::new(1, 1000);
    let count = Rational::from(count as i64);
    let is_straight = (0..3).all(|other| other == axis || &sizes[other] * &count <= most);
    (is_straight && sizes[axis].is_positive()).then(|| (axis, step[axis] < Rational::ZERO))
}

/// The refusal of a tilted image, with the grid along x, y and z that holds all of it.
fn oblique(dims: [usize; 3], centre: &[Rational; 3], steps: &[[Rational; 3]; 3]) -> Error {
    let centre = centre.each_ref().map(Rational::to_f64);
    let steps = steps
        .each_ref()
        .map(|step| step.each_ref().map(Rational::to_f64));
    let (mut least, mut most) = (centre, centre);
    for corner in 0..8 {
        for axis in 0..3 {
            let reach = |n: usize| {
                if corner >> n & 1 == 0 {
                    -0.5
                } else {
                    dims[n] as f64 - 0.5
                }
            };
            let at = centre[axis] + (0..3).map(|n| reach(n) * steps[n][axis]).sum::<f64>();
            (least[axis], most[axis]) = (least[axis].min(at), most[axis].max(at));
        }
    }
    let sizes = steps.map(|step| step.iter().map(|part| part * part).sum::<f64>().sqrt());
    // Of each axis of the image the nearest of x, y and z, if these are three.
    let nearest = steps.map(|step| {
        (0..3).fold(0, |best, a| {
            if step[a].abs() > step[best].abs() {
                a
            } else {
                best
            }
        })
    });
    let tilt = |n: usize| {
        (steps[n][nearest[n]].abs() / sizes[n])
            .min(1.0)
            .acos()
            .to_degrees()
    };
    let tilt = (0..3).map(tilt).fold(0.0, f64::max);
    let least_size = sizes.into_iter().fold(f64::INFINITY, f64::min);
    let along = |axis: usize| {
        nearest
            .iter()
            .position(|near| *near == axis)
            .map(|n| sizes[n])
    };
    let list = |numbers: &[f64]| {
        numbers
            .iter()
            .map(|n| format!("{n:.6}"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let size = match [along(0), along(1), along(2)] {
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
        format!("`--voxel-size {size}` are its cells"),
    ];
    Error::input(Code::V004, text).with_hint(hint)
}

/// What follows the header of an image.
pub(super) struct ImageData {
    pub frame: ImageFrame,
    /// The type of the cells; none if they are numbers that no cells of this tool are.
    pub dtype: Option<Dtype>,
    /// The word of the format for the type.
    pub type_name: String,
    pub is_packed: bool,
    /// Where they begin, in what is unpacked.
    pub skip: u64,
}

impl ImageData {
    /// The cells, by what the header says of them.
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
        let says = format!("{x} × {y} × {z} cells take {need} bytes, {left} follow");
        match self.is_packed {
            true if need > left.saturating_mul(MOST_PACKED) => {
                return Err(source.error(Code::V002, says));
            }
            false if need > left => return Err(source.error(Code::V002, says)),
            false if need < left => return Err(source.error(Code::V005, says)),
            _ => {}
        }
        let room = source.room;
        let cells = match self.is_packed {
            true => {
                let mut unpacked = MultiGzDecoder::new(source);
                skip(&mut unpacked, self.skip)?;
                let cells = cells_of(&mut unpacked, &self.frame, dtype, &metadata, room)?;
                if unpacked.read(&mut [0]).map_err(super::open::failure)? > 0 {
                    return Err(Error::input(Code::V005, "more follows the cells"));
                }
                cells
            }
            false => cells_of(source, &self.frame, dtype, &metadata, room)?,
        };
        Ok(Voxels {
            cells,
            lattice: metadata.lattice,
            record: metadata.record,
        })
    }

    /// What is known without reading the cells, of a file that states where they are or does not.
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

/// The cells of an image with this frame, in the order of its lattice.
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
        Dtype::U8 if shares::are_said(metadata) => {
            dense::read_shares(input, dims, Order::XFastest, metadata.background, room)?.into()
        }
        _ => dense::read_values(input, dims, Order::XFastest, legend, room)?,
    };
    frame.placed(cells, metadata)
}

/// The metadata in the JSON of an image, if it has any that is of these cells.
pub(super) fn parse_metadata(json: Option<&str>, dims: [usize; 3]) -> Result<Metadata> {
    let Some(json) = json else {
        return Ok(Metadata::default());
    };
    let metadata = Metadata::from_json(json).map_err(|why| {
        Error::input(
            Code::V007,
            format!("what the file says of the cells is broken: {why}"),
        )
    })?;
    Ok(if metadata.dims == Some(dims) {
        metadata
    } else {
        Metadata::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::Snap;

    fn numbers(values: [f64; 3]) -> [Rational; 3] {
        values.map(|value| Rational::from_f64(value).unwrap())
    }

    #[test]
    fn axes_may_be_in_any_order_and_backwards() {
        // The image's first axis goes down z, its second along x, its third back along y.
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
    fn an_image_that_was_moved_keeps_how_its_coordinates_snap() {
        let steps = [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]].map(numbers);
        let frame = ImageFrame::new([3, 4, 5], &numbers([10.0, 20.0, 30.0]), &steps).unwrap();
        let elsewhere =
            Lattice::new([3, 4, 5], numbers([0.0; 3]), numbers([0.5; 3]), [true; 3]).unwrap();
        let mut metadata = Metadata {
            dims: Some([3, 4, 5]),
            lattice: Some(elsewhere),
            ..Metadata::default()
        };
        for snap in [Snap::Float, Snap::None] {
            metadata.record.snap = Some(snap.name().into());
            let lattice = frame.lattice_of(&metadata, true, Rational::to_f64).unwrap();
            assert_eq!(
                (lattice.snap(), lattice.origin()),
                (snap, &numbers([9.75, 19.75, 29.75]))
            );
        }
    }

    #[test]
    fn tilted_axes_are_refused_with_the_grid_that_holds_them() {
        let tilted = [[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 2.0]].map(numbers);
        let error = ImageFrame::new([10, 10, 10], &numbers([0.0; 3]), &tilted).unwrap_err();
        let hint = error.hint().unwrap().to_string();
        assert!(
            hint.contains("bounds -6.100000,-0.700000,-1.000000,")
                && hint.contains("voxel-size 1.000000"),
            "{hint}"
        );
        // Two axes along one, and none.
        for steps in [
            [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
            [[0.0; 3]; 3],
        ] {
            assert!(ImageFrame::new([2, 2, 2], &numbers([0.0; 3]), &steps.map(numbers)).is_err());
        }
        // So little is rounding.
        let nearly = [[1.0, 1e-9, 0.0], [0.0, 1.0, 0.0], [0.0, -1e-8, 1.0]].map(numbers);
        assert!(ImageFrame::new([500, 500, 500], &numbers([0.0; 3]), &nearly).is_ok());
    }
}
