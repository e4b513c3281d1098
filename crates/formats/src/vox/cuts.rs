//! Division of a grid. Tiles have at most 256 cells along each axis, and each is a model. With `--vox-split`
//! the grid is also divided into pieces of whole tiles. Each piece is a scene that MagicaVoxel can show.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::layers::Shell;
use super::{TILE, Turn, WORLD};
use crate::{Choice, OutputShape};

/// Division of a grid into tiles and pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cuts {
    dims: [usize; 3],
    /// Number of cells of the first tile along each axis, if the grid does not end before.
    first: [usize; 3],
    /// Number of tiles along each axis of a piece.
    per_piece: [usize; 3],
}

/// Piece of a grid: a box of whole tiles that becomes a scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScenePiece {
    /// Index of the piece along each axis.
    pub number: [usize; 3],
    /// Range of tiles along each axis.
    pub tiles: [Range<usize>; 3],
    /// Range of cells along each axis.
    pub cells: [Range<usize>; 3],
}

impl Cuts {
    /// Computes the division of a grid with these dims.
    pub(super) fn new(dims: [usize; 3], turn: Turn, choices: &[Choice]) -> Self {
        // For a hull, the voxels of a layer are known only once the layer above is known. If tiles end one
        // layer before the slab, a tile is complete when its slab is.
        let is_early = Shell::of(choices) == Shell::Hull && dims[2] > TILE;
        let first = [TILE, TILE, if is_early { TILE - 1 } else { TILE }];
        // Maximum size of a scene, with its axes in the order of the grid's axes.
        let world = turn.dims(WORLD);
        let is_split = choices.contains(&Choice::VoxSplit);
        let mut per_piece = [usize::MAX; 3];
        for axis in 0..3 {
            if is_split && dims[axis] > world[axis] {
                per_piece[axis] = world[axis] / TILE;
            }
        }
        Self {
            dims,
            first,
            per_piece,
        }
    }

    /// Returns the range of cells of tile `n` along an axis.
    pub(super) fn tile(&self, axis: usize, n: usize) -> Range<usize> {
        let start = if n == 0 {
            0
        } else {
            self.first[axis] + (n - 1) * TILE
        };
        start..self.dims[axis].min(self.first[axis] + n * TILE)
    }

    /// Returns the number of tiles along an axis.
    pub(super) fn tiles(&self, axis: usize) -> usize {
        1 + self.dims[axis]
            .saturating_sub(self.first[axis])
            .div_ceil(TILE)
    }

    /// Returns the number of pieces along each axis.
    pub(super) fn pieces(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.tiles(axis).div_ceil(self.per_piece[axis]))
    }

    /// Returns all pieces. x varies fastest.
    pub(super) fn all(&self) -> impl Iterator<Item = ScenePiece> + use<> {
        let cuts = *self;
        let [nx, ny, nz] = self.pieces();
        (0..nx * ny * nz).map(move |n| cuts.piece([n % nx, n / nx % ny, n / (nx * ny)]))
    }

    fn piece(&self, number: [usize; 3]) -> ScenePiece {
        let tiles: [Range<usize>; 3] = std::array::from_fn(|axis| {
            let start = number[axis].saturating_mul(self.per_piece[axis]);
            start
                ..self
                    .tiles(axis)
                    .min(start.saturating_add(self.per_piece[axis]))
        });
        let cells = std::array::from_fn(|axis| {
            let Range { start, end } = tiles[axis];
            self.tile(axis, start).start..self.tile(axis, end - 1).end
        });
        ScenePiece {
            number,
            tiles,
            cells,
        }
    }
}

impl ScenePiece {
    /// Returns the number of cells along each axis of the piece.
    pub(super) fn dims(&self) -> [usize; 3] {
        self.cells.clone().map(|cells| cells.len())
    }

    /// Returns the first cell of the piece.
    pub(super) fn origin(&self) -> [usize; 3] {
        self.cells.clone().map(|cells| cells.start)
    }

    /// Returns the path of the piece's file. The first piece has the path of the output, the next one along x
    /// is `NAME-1-0-0.vox`.
    pub(super) fn path(&self, path: &Path) -> PathBuf {
        if self.number == [0; 3] {
            return path.to_path_buf();
        }
        let mut name = path.file_stem().unwrap_or_default().to_os_string();
        name.push(format!("-{}", self.words("-")));
        if let Some(extension) = path.extension() {
            name.push(".");
            name.push(extension);
        }
        path.with_file_name(name)
    }

    /// Returns the index along x, y and z with this separator, such as `1-0-0`.
    pub(super) fn words(&self, between: &str) -> String {
        self.number.map(|n| n.to_string()).join(between)
    }
}

/// Returns the paths of the files that are written next to the output.
pub(super) fn companions(path: &Path, shape: &OutputShape) -> Vec<PathBuf> {
    let turn = if shape.is_y_up { Turn::YUp } else { Turn::None };
    Cuts::new(shape.dims, turn, shape.choices)
        .all()
        .skip(1)
        .map(|piece| piece.path(path))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_fit_the_world_and_cover_each_cell_once() {
        let all = [Choice::VoxSplit, Choice::VoxHull];
        let mut seen = 0;
        for dims in [
            [1, 1, 1],
            [2000, 2000, 1000],
            [2001, 3, 1001],
            [5, 4000, 1792],
            [300, 2, 70_000],
            [1000, 1001, 2000],
        ] {
            for turn in [Turn::None, Turn::YUp] {
                for choices in [&all[..1], &all[..]] {
                    let cuts = Cuts::new(dims, turn, choices);
                    let mut cells = 0;
                    for piece in cuts.all() {
                        let scene = turn.dims(piece.dims());
                        assert!((0..3).all(|axis| scene[axis] <= WORLD[axis]), "{piece:?}");
                        cells += piece.dims().iter().product::<usize>();
                        seen += 1;
                    }
                    assert_eq!(cells, dims.iter().product::<usize>(), "{dims:?}");
                    let is_within = (0..3).all(|axis| turn.dims(dims)[axis] <= WORLD[axis]);
                    assert_eq!(cuts.all().count() == 1, is_within, "{dims:?} {turn:?}");
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn pieces_are_named_by_their_numbers() {
        let shape = OutputShape {
            kind: voxelize_core::grid::CellKind::Bits,
            dims: [4000, 2, 1001],
            is_y_up: false,
            choices: &[Choice::VoxSplit],
        };
        let names: Vec<_> = companions(Path::new("a/big.vox"), &shape)
            .into_iter()
            .map(|path| path.display().to_string())
            .collect();
        assert_eq!(names.len(), 5);
        assert_eq!(
            (&*names[0], &*names[4]),
            ("a/big-1-0-0.vox", "a/big-2-0-1.vox")
        );
        assert!(
            companions(
                Path::new("a/big.vox"),
                &OutputShape {
                    choices: &[],
                    ..shape
                }
            )
            .is_empty()
        );
    }
}
