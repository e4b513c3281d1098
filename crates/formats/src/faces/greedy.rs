//! Greedy meshing on runs of bits: faces are merged into rectangles.
//!
//! Faces with the same plane and direction are processed row by row. A run of faces that have the same label
//! and belong to no rectangle begins a new rectangle. The rectangle continues in the next row if all faces at
//! the same positions there have its label and belong to no other rectangle. So each face is in exactly one
//! rectangle, and a rectangle contains nothing but faces. Faces along x have rows along y, and faces along y
//! and z have rows along x. The next row is the next one along z, or along y for faces along z. Therefore
//! rectangles can begin and end at each wall of z, and only the unfinished ones are kept from one wall to the
//! next, with 32 bytes each.
//!
//! Corners of a rectangle may lie in the middle of another rectangle's edge (T-junctions). A renderer may
//! show specks of background there. The edges of such a mesh do not match in pairs, although it encloses the
//! same volume.
//!
//! Mikola Lysenko, Meshing in a Minecraft Game, 2012.

use std::io;
use std::iter::Peekable;
use std::mem::swap;

use super::exposed::{CellLayer, ExposedFace, Facing, LayerPair};
use super::numbers::WallNumbers;
use super::sink::{FaceMaker, FaceSink, put_vertices};
use voxelize_core::grid::bits::bits_of;

/// Consecutive faces with the same label in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FaceRun {
    /// Index of the cell along the axis that the faces point along. Always 0 for faces along z, because a
    /// layer is one plane.
    plane: u32,
    start: u32,
    end: u32,
    label: u8,
}

/// Rectangle: a run that repeats in each row, beginning with row `since`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FaceRect {
    run: FaceRun,
    since: u32,
    /// Row after the last row. It is set when the rectangle is finished.
    until: u32,
    /// Numbers of the vertices at the start and the end of the first row.
    vertices: [u32; 2],
}

/// Unfinished rectangles whose faces have the same direction. They may continue in the next row.
#[derive(Default)]
struct OpenRects {
    /// Sorted by plane and then by start. The runs of a row have the same order.
    open: Vec<FaceRect>,
    runs: Vec<FaceRun>,
}

impl FaceRect {
    /// Begins a rectangle in row `since` that consists of the faces from `start` to `end` of a run.
    fn begin(run: FaceRun, start: u32, end: u32, since: u32) -> Self {
        Self {
            run: FaceRun { start, end, ..run },
            since,
            until: 0,
            vertices: [0; 2],
        }
    }

    /// Returns the two corners at the start and the end of the run. `at` is the wall between two rows. For
    /// faces along z, `k` is the wall of z on which they are.
    fn ends(&self, facing: Facing, at: u32, k: u32) -> [[u32; 3]; 2] {
        let FaceRun {
            plane, start, end, ..
        } = self.run;
        let wall = facing.wall(plane);
        [start, end].map(|end| match facing.axis {
            0 => [wall, end, at],
            1 => [end, wall, at],
            _ => [end, at, k],
        })
    }

    fn face(&self, facing: Facing, k: u32) -> ExposedFace {
        let [low, _] = self.ends(facing, self.since, k);
        let [_, high] = self.ends(facing, self.until, k);
        ExposedFace {
            facing,
            label: self.run.label,
            low,
            high,
        }
    }
}

impl OpenRects {
    /// Advances to row `at`, whose runs are in `self.runs`. Rectangles that end before this row are moved to
    /// `closed`.
    fn advance(&mut self, at: u32, closed: &mut Vec<FaceRect>) {
        let before = std::mem::take(&mut self.open);
        let mut before = before.into_iter().peekable();
        for run in self.runs.drain(..) {
            let mut start = run.start;
            while let Some(rect) = next_before(&mut before, &run) {
                let is_within = rect.run.start >= run.start && rect.run.end <= run.end;
                if (rect.run.plane, rect.run.label) != (run.plane, run.label) || !is_within {
                    closed.push(FaceRect { until: at, ..rect });
                    continue;
                }
                if start < rect.run.start {
                    self.open
                        .push(FaceRect::begin(run, start, rect.run.start, at));
                }
                self.open.push(rect);
                start = rect.run.end;
            }
            if start < run.end {
                self.open.push(FaceRect::begin(run, start, run.end, at));
            }
        }
        closed.extend(before.map(|rect| FaceRect { until: at, ..rect }));
    }

    /// Returns the rectangles that began in row `at`.
    fn begun(&mut self, at: u32) -> impl Iterator<Item = &mut FaceRect> {
        self.open.iter_mut().filter(move |rect| rect.since == at)
    }
}

/// Adds the runs of these faces along x. `words` has a bit for each face, and `label` returns the label of a
/// cell.
fn runs_along_x(
    words: impl Iterator<Item = u64>,
    plane: u32,
    label: Option<&dyn Fn(usize) -> u8>,
    runs: &mut Vec<FaceRun>,
) {
    let mut take = |start: u32, end: u32, label: u8| match runs.last_mut() {
        Some(run) if (run.plane, run.end, run.label) == (plane, start, label) => run.end = end,
        _ => runs.push(FaceRun {
            plane,
            start,
            end,
            label,
        }),
    };
    for (n, mut word) in words.enumerate() {
        while word != 0 {
            let first = word.trailing_zeros();
            let length = (word >> first).trailing_ones();
            word &= u64::MAX.checked_shl(first + length).unwrap_or(0);
            let start = 64 * n as u32 + first;
            match label {
                None => take(start, start + length, 0),
                Some(label) => {
                    (start..start + length).for_each(|i| take(i, i + 1, label(i as usize)))
                }
            }
        }
    }
}

/// Adds the runs along y of a layer's faces that point along x.
fn runs_along_y(
    layer: &CellLayer,
    dims: [usize; 3],
    facing: Facing,
    has_labels: bool,
    runs: &mut Vec<FaceRun>,
) {
    let [nx, ny, _] = dims;
    let label = |i: usize, j: usize| if has_labels { layer.label(i, j) } else { 0 };
    // Unfinished run of each column, and the faces of the previous row.
    let mut open = vec![
        FaceRun {
            plane: 0,
            start: 0,
            end: 0,
            label: 0
        };
        nx
    ];
    let mut before = vec![0; nx.div_ceil(64)];
    let mut row = before.clone();
    for j in 0..=ny {
        row.fill(0);
        if let Some(rows) = layer.rows(j) {
            row.iter_mut()
                .zip(rows.exposed(facing))
                .for_each(|(word, exposed)| *word = exposed);
        }
        for (n, (now, last)) in row.iter().zip(&before).enumerate() {
            let both = if has_labels { now & last } else { 0 };
            let changed =
                bits_of(both).filter(|bit| open[64 * n + bit].label != label(64 * n + bit, j));
            let changed = changed.fold(0, |changed, bit| changed | 1 << bit);
            for i in bits_of(last & !now | changed).map(|bit| 64 * n + bit) {
                runs.push(FaceRun {
                    end: j as u32,
                    ..open[i]
                });
            }
            for i in bits_of(now & !last | changed).map(|bit| 64 * n + bit) {
                open[i] = FaceRun {
                    plane: i as u32,
                    start: j as u32,
                    end: 0,
                    label: label(i, j),
                };
            }
        }
        swap(&mut row, &mut before);
    }
    runs.sort_unstable_by_key(|run| (run.plane, run.start));
}

/// Makes rectangles from exposed faces.
pub(super) struct GreedyFaces {
    dims: [usize; 3],
    has_labels: bool,
    /// Unfinished rectangles of the four directions within a layer.
    within: [OpenRects; 4],
    vertices: WallNumbers,
    count: u64,
}

/// Finished rectangles whose faces have the same direction.
type WholeRects = (Facing, Vec<FaceRect>);

impl GreedyFaces {
    pub(super) fn new(dims: [usize; 3], has_labels: bool) -> Self {
        let within = std::array::from_fn(|_| OpenRects::default());
        Self {
            dims,
            has_labels,
            within,
            vertices: WallNumbers::new(dims),
            count: 0,
        }
    }

    /// Processes the faces of a layer that point along x and y. Returns the rectangles that end at wall `k`.
    fn around(&mut self, k: u32, layer: &CellLayer) -> Vec<WholeRects> {
        let Self {
            dims,
            has_labels,
            within,
            ..
        } = self;
        let mut ended = vec![];
        for (facing, open) in Facing::WITHIN.into_iter().zip(within) {
            if facing.axis == 0 {
                runs_along_y(layer, *dims, facing, *has_labels, &mut open.runs);
            } else {
                for j in 0..dims[1] {
                    let Some(rows) = layer.rows(j) else { continue };
                    let label = |i: usize| layer.label(i, j);
                    let label = has_labels.then_some(&label as &dyn Fn(usize) -> u8);
                    runs_along_x(rows.exposed(facing), j as u32, label, &mut open.runs);
                }
            }
            let mut closed = vec![];
            open.advance(k, &mut closed);
            ended.push((facing, closed));
        }
        ended
    }

    /// Returns the rectangles of one direction on the wall between two layers.
    fn on_wall(&self, layers: &LayerPair, facing: Facing) -> WholeRects {
        let rows = self.dims[1];
        let layer = layers.layer(facing);
        let mut open = OpenRects::default();
        let mut closed = vec![];
        for j in 0..rows {
            let label = |i: usize| layer.label(i, j);
            let label = self.has_labels.then_some(&label as &dyn Fn(usize) -> u8);
            runs_along_x(layers.exposed(j, facing), 0, label, &mut open.runs);
            open.advance(j as u32, &mut closed);
        }
        open.advance(rows as u32, &mut closed);
        (facing, closed)
    }
}

impl FaceMaker for GreedyFaces {
    fn wall(&mut self, k: u32, layers: &LayerPair, sink: &mut dyn FaceSink) -> io::Result<()> {
        let mut whole = self.around(k, &layers.above);
        whole.push(self.on_wall(layers, Facing::UP));
        whole.push(self.on_wall(layers, Facing::DOWN));
        let Self {
            within, vertices, ..
        } = self;
        vertices.clear();
        for (facing, rects) in &whole {
            for rect in rects {
                for corner in rect.face(*facing, k).corners() {
                    if corner[2] == k {
                        vertices.set(corner);
                    }
                }
            }
        }
        for (facing, open) in Facing::WITHIN.into_iter().zip(&mut *within) {
            for rect in open.begun(k) {
                for corner in rect.ends(facing, k, k) {
                    vertices.set(corner);
                }
            }
        }
        self.count = put_vertices(vertices, self.count, k, sink)?;
        for (facing, open) in Facing::WITHIN.into_iter().zip(within) {
            for rect in open.begun(k) {
                rect.vertices = rect.ends(facing, k, k).map(|corner| vertices.of(corner));
            }
        }
        for (facing, rects) in &whole {
            for rect in rects {
                let face = rect.face(*facing, k);
                let numbers = face.corners().map(|corner| {
                    if corner[2] == k {
                        vertices.of(corner)
                    } else {
                        // The lowest corner is at the start of the first row.
                        rect.vertices[usize::from(corner != face.low)]
                    }
                });
                sink.face(&face, numbers)?;
            }
        }
        Ok(())
    }
}

/// Returns the next rectangle if it begins before the end of the run.
fn next_before(
    rects: &mut Peekable<impl Iterator<Item = FaceRect>>,
    run: &FaceRun,
) -> Option<FaceRect> {
    rects.next_if(|rect| (rect.run.plane, rect.run.start) < (run.plane, run.end))
}
