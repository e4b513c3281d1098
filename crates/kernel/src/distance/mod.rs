//! Distances from the cells of a lattice to the nearest of many triangles. A brick of 8 × 8 × 8 cells is
//! processed at a time.
//!
//! The value of a cell is the least [`squared_distance`](crate::geom::distance::squared_distance) of all
//! triangles. These steps ensure that few triangles are examined for each cell:
//!
//! - `order` collects triangles that are near each other in clusters of sixteen. The [`tree`](TriangleTree)
//!   has the bounding boxes of clusters, sixteen per node. A box that is farther away than an upper bound of
//!   the distance is skipped with its contents.
//! - `search` narrows the list of clusters from a brick to its eighths and to blocks of sixteen cells. The
//!   distance from the middle of such a part bounds the distances from its cells (Lipschitz). Only the
//!   clusters that may be the nearest to one of these cells are kept.
//! - `near` examines clusters from a point, sixteen at a time. `oriented` boxes enclose a cluster more
//!   closely than axis-aligned boxes.
//! - `blocks` examines the remaining clusters for sixteen cells at a time, and measures the clusters that may
//!   be the nearest.
//! - `frames` computes the distances of the triangles of a cluster in floats, each with an error bound. The
//!   lanes of a vector hold different triangles.
//! - `cells` is used if few triangles are near a brick. It computes the distances of each triangle in floats.
//!   The lanes of a vector hold different cells.
//! - `pairs` computes the exact sequence of doubles that defines the value, for all triangles that may be the
//!   nearest within these bounds. The lanes of a vector hold different pairs of a cell and a triangle.
//! - `ties`, if requested, decides which of these triangles is the nearest. It uses the exact `centres` of
//!   cells.
//!
//! Only triangles that are certainly not the nearest are skipped. The results are therefore identical in
//! every bit for any order of triangles and any level. Error bounds: docs/internals/distance.md.

mod blocks;
mod cells;
mod centres;
mod cluster;
mod frames;
mod near;
mod order;
mod oriented;
mod pairs;
mod search;
mod ties;
mod tree;

pub use centres::{CentreLattice, TieBreak};
pub use near::SIDE;
pub use order::ClusterJob;
pub use pairs::SquaredBrick;
pub use search::BrickSearch;
pub use tree::TriangleTree;
