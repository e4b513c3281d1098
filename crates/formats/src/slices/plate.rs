//! Position of the layers in their pictures.

use std::io;

use voxelize_core::error::{Error, Result};

/// Maximum length of a side of a plate, in pixels.
pub const MAX_PLATE_SIDE: usize = 16_384;

/// Returns an upper bound, in bytes, for the compressed empty pixels of a picture. Deflate stores up to 1032 equal
/// bytes in one byte.
pub(crate) const fn empty_bytes([width, height]: [usize; 2]) -> usize {
    (width * height).div_ceil(900)
}

/// Size of the pictures of a stack, and position of the cells in them.
#[derive(Debug, Clone, Copy)]
pub(super) struct PictureFrame {
    /// Width and height of a picture in pixels.
    pub size: [usize; 2],
    /// Number of empty columns left of the cells, and of empty rows above them.
    pub corner: [usize; 2],
    /// Number of cells along x and y.
    pub cells: [usize; 2],
}

impl PictureFrame {
    /// Places layers of `cells` cells in the middle of a plate. If the number of empty columns or rows is odd,
    /// there is one more at the right or at the bottom. Without a plate, a picture has the size of a layer.
    pub(super) fn new(cells: [usize; 2], plate: Option<[usize; 2]>) -> io::Result<Self> {
        let Some(size) = plate else {
            return Ok(Self {
                size: cells,
                corner: [0; 2],
                cells,
            });
        };
        check_plate(cells, size).map_err(io::Error::other)?;
        Ok(Self {
            size,
            corner: [0, 1].map(|n| (size[n] - cells[n]) / 2),
            cells,
        })
    }

    /// Returns the row of cells, counted along y, that is in row `y` of the picture. `None` for an empty row.
    pub(super) fn cells_in(&self, y: usize) -> Option<usize> {
        let n = y.checked_sub(self.corner[1])?;
        self.cells[1].checked_sub(n + 1)
    }
}

/// Checks that a layer of `cells` cells fits on a plate of `plate` pixels.
///
/// # Errors
/// Fails if the layer is larger than the plate along an axis, or if the plate has no pixels or too many.
pub fn check_plate(cells: [usize; 2], plate: [usize; 2]) -> Result<()> {
    let [columns, lines] = cells;
    let [width, height] = plate;
    if plate
        .iter()
        .any(|side| !(1..=MAX_PLATE_SIDE).contains(side))
    {
        return Err(Error::usage(format!(
            "a plate of {width} × {height} pixels; each side is 1 to {MAX_PLATE_SIDE}"
        )));
    }
    if columns <= width && lines <= height {
        return Ok(());
    }
    let error = Error::usage(format!(
        "a layer of {columns} × {lines} cells does not fit on a plate of {width} × {height} pixels"
    ));
    Err(if columns <= height && lines <= width {
        error.with_hint([
            "turn the part: `--rotate z,90`",
            "or name a larger plate: `--size`",
        ])
    } else {
        error.with_hint(["make the cells larger", "or name a larger plate: `--size`"])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_in_the_middle() {
        for (cells, plate, corner) in [
            ([3, 4], None, [0, 0]),
            ([3, 4], Some([3, 4]), [0, 0]),
            ([3, 4], Some([5, 8]), [1, 2]),
            ([3, 4], Some([4, 7]), [0, 1]),
        ] {
            let frame = PictureFrame::new(cells, plate).unwrap();
            assert_eq!(frame.corner, corner, "{plate:?}");
            let mut seen = vec![];
            for y in 0..frame.size[1] {
                seen.extend(frame.cells_in(y));
            }
            assert_eq!(seen, [3, 2, 1, 0], "{plate:?}");
        }
    }

    #[test]
    fn plates_are_as_large_as_a_layer() {
        for (plate, hint) in [
            ([4, 3], "turn the part"),
            ([3, 3], "make the cells larger"),
            ([2, 9], "make the cells larger"),
        ] {
            let error = check_plate([3, 4], plate).unwrap_err();
            assert!(
                error.message().contains("does not fit on a plate"),
                "{error}"
            );
            assert!(
                error.hint().unwrap().to_string().contains(hint),
                "{plate:?}"
            );
        }
        for plate in [[0, 9], [MAX_PLATE_SIDE + 1, 9]] {
            assert!(check_plate([3, 4], plate).is_err(), "{plate:?}");
        }
    }
}
