//! Measures the wall of a hollow part. Each face between a cell of the wall and a cell of the cavity has a
//! thickness: the distance from the centre of the face to the mesh. Faces are measured brick by brick, and
//! only in bricks that contain one of them.
//!
//! Distances are added as integers, so that the mean depends neither on threads nor on slabs.

use crate::run::Run;
use crate::run::memory::MemoryEstimate;
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, Lattice};
use voxelize_core::par::{self, Progress};
use voxelize_kernel::Level;
use voxelize_kernel::distance::{BrickSearch, CentreLattice, ClusterJob, SIDE, TriangleTree};
use voxelize_meshes::Mesh;

/// Number of integer steps in the shortest side of a cell, for the sum of distances.
const STEPS: f64 = (1u64 << 32) as f64;

/// Thickness of the wall of a hollow part, measured at every face between the wall and the cavity: the
/// distance from the centre of the face to the mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct WallThickness {
    /// Number of faces between the wall and the cavity. It is 0 if there is no cavity.
    pub faces: u64,
    /// Least thickness. 0 without a cavity.
    pub least: f64,
    /// Mean of the thicknesses of all faces. 0 without a cavity.
    pub mean: f64,
    /// Greatest thickness. 0 without a cavity.
    pub greatest: f64,
}

/// Measures walls slab by slab, from the lowest slab to the highest.
pub(crate) struct WallGauge {
    tree: TriangleTree,
    /// Centres of the faces between neighbours along each axis. Face `i` is above cell `i`.
    centres: [CentreLattice; 3],
    /// Shortest side of a cell.
    side: f64,
    sums: Sums,
    /// Wall and cavity in the layer below the next slab. `None` before the first slab.
    below: Option<[BitGrid; 2]>,
}

/// Sums over faces.
#[derive(Debug, Clone, Copy)]
struct Sums {
    faces: u64,
    steps: u128,
    least_squared: f64,
    greatest_squared: f64,
}

/// Row of bricks along x, with faces between neighbours along one axis.
struct FaceRow {
    axis: usize,
    /// Index of the first face along y and along z.
    first: [usize; 2],
}

/// Wall and cavity of a slab and of the layer below it.
struct WallSlab<'a> {
    wall: &'a BitGrid,
    cavity: &'a BitGrid,
    below: Option<&'a [BitGrid; 2]>,
    /// Layer of the lattice that is layer 0 of the slab.
    first: usize,
}

impl Sums {
    const NONE: Self = Self {
        faces: 0,
        steps: 0,
        least_squared: f64::INFINITY,
        greatest_squared: 0.0,
    };

    fn add(&mut self, other: &Self) {
        self.faces += other.faces;
        self.steps += other.steps;
        self.least_squared = self.least_squared.min(other.least_squared);
        self.greatest_squared = self.greatest_squared.max(other.greatest_squared);
    }
}

impl WallGauge {
    /// Prepares the measurement. Uses the calling thread pool.
    ///
    /// # Errors
    /// Fails if the machine lacks the instruction set.
    pub(crate) fn new(mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<Self> {
        let centres = [0, 1, 2].map(|along| {
            CentreLattice::new([0, 1, 2].map(|a| {
                let axis = lattice.axis(a);
                let cells = lattice.dims()[a];
                let (first, count) = if a == along {
                    (2, cells - 1)
                } else {
                    (1, cells)
                };
                (axis.half_plane(first), axis.spacing().clone(), count)
            }))
        });
        let sides = lattice.spacing().each_ref().map(|side| side.to_f64());
        let share = |jobs: Vec<ClusterJob>| {
            par::map(jobs, ClusterJob::run);
        };
        let tree = TriangleTree::new(
            mesh.triangles(),
            mesh.bounds(),
            sides.iter().copied().fold(0.0, f64::max),
            run.supported_level()?,
            share,
        );
        Ok(Self {
            tree,
            centres,
            side: sides.iter().copied().fold(f64::INFINITY, f64::min),
            sums: Sums::NONE,
            below: None,
        })
    }

    /// Returns the memory, in bytes, that the measurement needs, including temporary memory of the threads.
    pub(crate) fn memory(estimate: &MemoryEstimate) -> u128 {
        let triangles = estimate.mesh.triangles().len();
        let [nx, ny, nz] = estimate.lattice.dims();
        let threads = estimate.run.thread_count() as u128;
        let centres = 3 * (nx + ny + nz) * size_of::<f64>();
        let rows = 3 * ny.div_ceil(SIDE) * (nz.div_ceil(SIDE) + 1) * size_of::<FaceRow>();
        let below = 2 * BitGrid::bytes_for([nx, ny, 1]);
        let bound = TriangleTree::bytes_for(triangles)
            + 3 * threads * BrickSearch::bytes_for(triangles)
            + (centres + rows) as u128
            + below;
        estimate.bytes(bound, 70 * triangles as u128)
    }

    /// Measures the faces of a slab, including the faces to the layer below it. Layer 0 of both grids is layer
    /// `first` of the lattice. Uses the calling thread pool.
    ///
    /// # Errors
    /// Fails if the machine lacks the instruction set, if memory does not suffice, or if the run was
    /// cancelled.
    pub(crate) fn measure(
        &mut self,
        first: usize,
        wall: &BitGrid,
        cavity: &BitGrid,
        run: &Run,
    ) -> Result<()> {
        let level = run.supported_level()?;
        let slab = WallSlab {
            wall,
            cavity,
            below: self.below.as_ref(),
            first,
        };
        let [_, ny, layers] = wall.dims();
        let mut rows = vec![];
        for axis in 0..3 {
            let start = slab.start(axis);
            for z in (start..first + layers).step_by(SIDE) {
                for y in (0..ny).step_by(SIDE) {
                    rows.push(FaceRow {
                        axis,
                        first: [y, z],
                    });
                }
            }
        }
        let found: Vec<Result<Sums>> = par::share(&rows, |next| {
            let mut searches = self
                .centres
                .each_ref()
                .map(|centres| BrickSearch::new(&self.tree, centres, f64::INFINITY));
            let mut sums = Sums::NONE;
            for row in next {
                run.check()?;
                self.add_row(row, &slab, level, &mut searches[row.axis], &mut sums);
            }
            Ok(sums)
        });
        for sums in found {
            self.sums.add(&sums?);
        }
        let below = [wall, cavity].map(last_layer);
        let [wall, cavity] = below;
        self.below = Some([wall?, cavity?]);
        Ok(())
    }

    /// Measures the faces of a row of bricks.
    fn add_row(
        &self,
        row: &FaceRow,
        slab: &WallSlab,
        level: Level,
        search: &mut BrickSearch,
        sums: &mut Sums,
    ) {
        let [y, z] = row.first;
        for place in 0..slab.wall.row_words() {
            let mut words = [[0; SIDE]; SIDE];
            let mut any = 0;
            for (k, layer) in words.iter_mut().enumerate() {
                for (j, word) in layer.iter_mut().enumerate() {
                    *word = slab.faces(row.axis, [place, y + j, z + k]);
                    any |= *word;
                }
            }
            for brick in 0..u64::BITS as usize / SIDE {
                let shift = brick * SIDE;
                if any >> shift & 0xff == 0 {
                    continue;
                }
                search.brick(level, [place * 64 + shift, y, z]);
                for (n, word) in words.as_flattened().iter().enumerate() {
                    for i in 0..SIDE {
                        if word >> (shift + i) & 1 != 0 {
                            self.add_face(search.found.squared[n * SIDE + i], sums);
                        }
                    }
                }
            }
        }
    }

    fn add_face(&self, squared: f64, sums: &mut Sums) {
        sums.faces += 1;
        sums.steps += (squared.sqrt() / self.side * STEPS).round() as u128;
        sums.least_squared = sums.least_squared.min(squared);
        sums.greatest_squared = sums.greatest_squared.max(squared);
    }

    /// Returns the thickness over the faces that were measured so far. `scale` is the factor by which
    /// coordinates are scaled.
    pub(crate) fn thickness(&self, scale: f64) -> WallThickness {
        let Sums {
            faces,
            steps,
            least_squared,
            greatest_squared,
        } = self.sums;
        if faces == 0 {
            return WallThickness {
                faces,
                least: 0.0,
                mean: 0.0,
                greatest: 0.0,
            };
        }
        WallThickness {
            faces,
            least: scale * least_squared.sqrt(),
            mean: scale * self.side * (steps as f64 / STEPS / faces as f64),
            greatest: scale * greatest_squared.sqrt(),
        }
    }
}

impl WallSlab<'_> {
    /// Returns the first index along z of the faces of this slab between neighbours along `axis`.
    fn start(&self, axis: usize) -> usize {
        let below = usize::from(axis == 2 && self.below.is_some());
        self.first - below
    }

    /// Returns a row of the wall and of the cavity. Both are `None` outside the slab and the layer below it.
    fn rows(&self, j: usize, k: usize) -> Option<[&[u64]; 2]> {
        let [_, ny, layers] = self.wall.dims();
        if j >= ny {
            return None;
        }
        if let Some([wall, cavity]) = self.below
            && k + 1 == self.first
        {
            return Some([wall.row(j, 0), cavity.row(j, 0)]);
        }
        let k = k.checked_sub(self.first).filter(|k| *k < layers)?;
        Some([self.wall.row(j, k), self.cavity.row(j, k)])
    }

    /// Returns a bit set with one bit for each of 64 cells along x. A bit is set if the cell and its upper
    /// neighbour along `axis` are a cell of the wall and a cell of the cavity. `place` is the number of the
    /// word.
    fn faces(&self, axis: usize, [place, j, k]: [usize; 3]) -> u64 {
        let Some([wall, cavity]) = self.rows(j, k) else {
            return 0;
        };
        let [upper_wall, upper_cavity] = match axis {
            0 => [wall, cavity].map(|row| {
                let carry = row.get(place + 1).map_or(0, |word| word << 63);
                row[place] >> 1 | carry
            }),
            _ => {
                let upper = if axis == 1 {
                    self.rows(j + 1, k)
                } else {
                    self.rows(j, k + 1)
                };
                let Some(upper) = upper else {
                    return 0;
                };
                upper.map(|row| row[place])
            }
        };
        wall[place] & upper_cavity | cavity[place] & upper_wall
    }
}

/// Returns a copy of the last layer of a grid.
fn last_layer(grid: &BitGrid) -> Result<BitGrid> {
    let [nx, ny, layers] = grid.dims();
    let mut layer = BitGrid::new([nx, ny, 1])?;
    layer.words_mut().copy_from_slice(grid.layer(layers - 1));
    Ok(layer)
}
