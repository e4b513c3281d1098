//! Distances from the cells of a lattice to the nearest of many triangles, a brick of 8 × 8 × 8 cells at a time.
//!
//! The value is that of [`squared_distance`](crate::geom::distance::squared_distance), the least of all triangles.
//! Few of them are looked at for a cell:
//!
//! - `order` puts triangles near each other in clusters of sixteen, [`tree`](TriangleTree) has their bounds, sixteen
//!   to a node. Bounds farther than an upper bound of the distance are left out with all that is in them.
//! - `search`: from a brick to its eighths to blocks of sixteen cells the bounds get tighter. The distance from the middle
//!   of a part bounds those of its cells (Lipschitz), and leaves the clusters that may be the nearest for one of them.
//! - `near`: a point looks at clusters, sixteen at a time. `oriented` boxes bound a cluster more closely than boxes
//!   along the axes do.
//! - `blocks`: sixteen cells look at each of the clusters that are left, and measure those that may be the nearest.
//! - `frames`: what is left of a cluster is measured in floats, lanes across triangles, each within an error bound.
//! - `cells`: where few triangles are near a brick, each is measured in floats, lanes across cells.
//! - `pairs`: triangles that may be the nearest within these bounds are measured by the sequence of doubles that
//!   defines the value, lanes across pairs of a cell and a triangle.
//! - `ties` decides which of them is the nearest, with the exact `centres` of cells, where that is asked.
//!
//! Only what is certainly not the nearest is left out, so the order of triangles and the level change no bit.
//! Bounds: docs/distance.md.

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
