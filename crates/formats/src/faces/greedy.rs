//! Rectangles in place of faces: greedy meshing on runs of bits.
//!
//! In each plane of faces of one direction, row after row, a run of faces of one label that no rectangle takes begins a
//! rectangle; the rectangle takes the same cells of the next row, as long as all of them are faces of its label that no
//! other has. So every face is in one rectangle, and rectangles of a plane cover what its faces cover. Rows of a plane of x run along
//! y, of planes of y and z along x; from one row to the next goes z, in a plane of z it goes y. Thus a wall of z ends and begins
//! rectangles, and what is kept from wall to wall are those that go on: 32 bytes each.
//!
//! Corners of rectangles lie on the edges of others (T-junctions): a renderer may show specks of background there, and a
//! mesh of rectangles is not closed by its edges, though it encloses the same volume.
//!
//! Mikola Lysenko, Meshing in a Minecraft Game, 2012.

use std::io;
use std::iter::Peekable;
use std::mem::swap;

use super::exposed::{CellLayer, ExposedFace, Facing, LayerPair};
use super::numbers::WallNumbers;
use super::sink::{FaceMaker, FaceSink, put_vertices};
use voxelize_core::grid::bits::bits_of;

/// Faces of one label that follow each other in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FaceRun {
    /// The cell along the axis that the faces look along; always 0 in a plane of z.
    plane: u32,
    start: u32,
    end: u32,
    label: u8,
}

/// A rectangle: a run in each row since one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FaceRect {
    run: FaceRun,
    since: u32,
    /// The row after its last, once that is known.
    until: u32,
    /// The vertices at start and end of its first row.
    vertices: [u32; 2],
}

/// The rectangles of planes of one direction that may go on.
#[derive(Default)]
struct OpenRects {
    /// By plane, then by start; so are the runs of a row.
    open: Vec<FaceRect>,
    runs: Vec<FaceRun>,
}

impl FaceRect {
    /// The corners at the start and the end of its run, on wall `at` between rows; `k` is the wall of a plane of z.
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
    /// Goes to row `at`, which has the runs in `self.runs`; rectangles that end there go to `closed`.
    fn advance(&mut self, at: u32, closed: &mut Vec<FaceRect>) {
        let before = std::mem::take(&mut self.open);
        let mut before = before.into_iter().peekable();
        for run in self.runs.drain(..) {
            let mut start = run.start;
            let begin = |start, end| FaceRect {
                run: FaceRun { start, end, ..run },
                since: at,
                until: 0,
                vertices: [0; 2],
            };
            while let Some(rect) = next_before(&mut before, &run) {
                let is_within = rect.run.start >= run.start && rect.run.end <= run.end;
                if (rect.run.plane, rect.run.label) != (run.plane, run.label) || !is_within {
                    closed.push(FaceRect { until: at, ..rect });
                    continue;
                }
                if start < rect.run.start {
                    self.open.push(begin(start, rect.run.start));
                }
                self.open.push(rect);
                start = rect.run.end;
            }
            if start < run.end {
                self.open.push(begin(start, run.end));
            }
        }
        closed.extend(before.map(|rect| FaceRect { until: at, ..rect }));
    }

    /// The rectangles that began in row `at`.
    fn begun(&mut self, at: u32) -> impl Iterator<Item = &mut FaceRect> {
        self.open.iter_mut().filter(move |rect| rect.since == at)
    }
}

/// The runs of a row along x: of the faces in these words, of the label of each cell.
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

/// The runs along y of the faces of a layer that look along x.
fn runs_along_y(
    layer: &CellLayer,
    dims: [usize; 3],
    facing: Facing,
    has_labels: bool,
    runs: &mut Vec<FaceRun>,
) {
    let [nx, ny, _] = dims;
    let label = |i: usize, j: usize| if has_labels { layer.label(i, j) } else { 0 };
    // The run of each column that goes on, and the faces of the row before.
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

/// Makes rectangles of exposed faces.
pub(super) struct GreedyFaces {
    dims: [usize; 3],
    has_labels: bool,
    /// Those of the four directions within a layer.
    within: [OpenRects; 4],
    vertices: WallNumbers,
    count: u64,
}

/// Rectangles of one direction that are whole.
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

    /// Ends and begins the rectangles around layers; the answer is those that end at wall `k`.
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

    /// The rectangles on the wall where these layers meet.
    fn on_wall(&self, layers: &LayerPair) -> Vec<WholeRects> {
        let rows = self.dims[1];
        let rects = |facing| {
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
        };
        [Facing::UP, Facing::DOWN].map(rects).into()
    }
}

impl FaceMaker for GreedyFaces {
    fn wall(&mut self, k: u32, layers: &LayerPair, sink: &mut dyn FaceSink) -> io::Result<()> {
        let mut whole = self.around(k, &layers.above);
        whole.extend(self.on_wall(layers));
        let faces = || {
            whole
                .iter()
                .flat_map(|(facing, rects)| rects.iter().map(|rect| (rect, rect.face(*facing, k))))
        };
        let Self {
            within, vertices, ..
        } = self;
        vertices.clear();
        faces()
            .flat_map(|(_, face)| face.corners())
            .filter(|corner| corner[2] == k)
            .for_each(|corner| vertices.set(corner));
        for (facing, open) in Facing::WITHIN.into_iter().zip(&mut *within) {
            open.begun(k)
                .flat_map(|rect| rect.ends(facing, k, k))
                .for_each(|corner| vertices.set(corner));
        }
        self.count = put_vertices(vertices, self.count, k, sink)?;
        for (facing, open) in Facing::WITHIN.into_iter().zip(within) {
            open.begun(k).for_each(|rect| {
                rect.vertices = rect.ends(facing, k, k).map(|corner| vertices.of(corner))
            });
        }
        for (rect, face) in faces() {
            let number = |corner: [u32; 3]| match corner[2] == k {
                true => vertices.of(corner),
                // Of the two at the first row that at the start is the lowest corner.
                false => rect.vertices[usize::from(corner != face.low)],
            };
            sink.face(&face, face.corners().map(number))?;
        }
        Ok(())
    }
}

/// The next rectangle, if it begins before the end of a run.
fn next_before(
    rects: &mut Peekable<impl Iterator<Item = FaceRect>>,
    run: &FaceRun,
) -> Option<FaceRect> {
    rects.next_if(|rect| (rect.run.plane, rect.run.start) < (run.plane, run.end))
}
