//! The report of features that solid loses.

use crate::mesh::components::Component;

/// The features of a mesh that [`Rule::Solid`](crate::Rule::Solid) loses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LostFeatures {
    /// Whole components, if any.
    pub components: Option<LostComponents>,
    /// Places of other components, if any.
    pub places: Option<LostPlaces>,
    /// Whether places were searched: the mesh is closed, or its repair is.
    pub closed: bool,
}

/// The lost components of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LostComponents {
    /// The number of components of the mesh.
    pub components: u64,
    /// The number of components that contain no cell centre, wherever the grid ends.
    pub lost: u64,
    /// The number of components that are thinner than a cell and have solid cells for only some of their extent:
    /// these cells are not connected by faces, or end a cell or more before the component does.
    pub scattered: u64,
    /// The component with the longest diagonal, of the lost ones if there are any.
    pub largest: Component,
    /// The least thickness of all of these.
    pub thickness: f64,
    /// The size of a cell along the axis where it is smallest.
    pub cell: f64,
}

/// The places of a mesh that [`Rule::Solid`](crate::Rule::Solid) loses. A cell is lost that shares volume with the
/// mesh and whose centre is not inside, if none of the 26 cells around it is solid, or if it is broken: more than
/// three cells from every cell that is solid with the 26 around it, and with several pieces of solid cells within two
/// cells, of those that are connected there through filled cells (all by faces, edges or corners). Lost cells that
/// touch make one place. Places of fewer than four cells along every axis, such as the tip of a horn, are not
/// reported.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LostPlaces {
    /// How many there are.
    pub places: u64,
    /// How many cells they have.
    pub cells: u64,
    /// The walls around the longest: its least and its greatest corner.
    pub largest: [[f64; 3]; 2],
    /// How many cells the longest has along each axis.
    pub dims: [usize; 3],
}
