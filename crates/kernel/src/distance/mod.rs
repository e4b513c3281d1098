//! Distances from the cells of a lattice to the nearest of many triangles, a brick of 8 × 8 × 8 cells at a
//! time.
//!
//! The value is the least [`squared_distance`](crate::geom::distance::squared_distance) of all triangles. Few
//! triangles are examined per cell:
//!
//! - `order` collects triangles near each other in clusters of sixteen. [`tree`](TriangleTree) has their
//!   bounds, sixteen per node. Bounds farther away than an upper bound of the distance are skipped with their
//!   contents.
//! - `search`: the bounds get tighter from a brick to its eighths and to blocks of sixteen cells. The
//!   distance from the middle of a part bounds the distances from its cells (Lipschitz). It leaves the
//!   clusters that may be the nearest for one of them.
//! - `near`: a point examines clusters, sixteen at a time. `oriented` boxes bound a cluster more closely than
//!   boxes along the axes do.
//! - `blocks`: sixteen cells examine each of the remaining clusters and measure the clusters that may be the
//!   nearest.
//! - `frames`: the remaining triangles of a cluster are measured in floats with lanes across triangles, each
//!   within an error bound.
//! - `cells`: if few triangles are near a brick, each is measured in floats with lanes across cells.
//! - `pairs`: triangles that may be the nearest within these bounds are measured by the sequence of doubles
//!   that defines the value, with lanes across pairs of a cell and a triangle.
//! - `ties`, if requested, decides which of them is the nearest, with the exact `centres` of cells.
//!
//! Only triangles that are certainly not the nearest are skipped. The order of triangles and the level
//! therefore change no bit. Error bounds: docs/internals/distance.md.

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
