//! Report of the features that solid loses.

/// Features of a mesh that [`Rule::Solid`](crate::Rule::Solid) loses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LostFeatures {
    /// Components that are lost or broken. `None` if there are none.
    pub components: Option<LostComponents>,
    /// Lost places of other components. `None` if there are none.
    pub places: Option<LostPlaces>,
}

/// Connected components of filled cells that [`Rule::Solid`](crate::Rule::Solid) loses or breaks.
/// Cells that share a face, an edge or a corner are connected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LostComponents {
    /// Number of components, including intact ones.
    pub components: u64,
    /// Number of components without a solid cell.
    pub lost: u64,
    /// Number of components whose solid cells form more pieces than the mesh has components there.
    /// Cavities do not count.
    pub broken: u64,
    /// Greatest number of pieces of one broken component. 0 if no component is broken.
    pub pieces: u64,
    /// Least and greatest corner of the component with the longest diagonal. A lost component takes
    /// precedence over a broken one. The corners are the bounds of the components of the mesh
    /// there, limited to the component's cells. Without a component of the mesh they are the bounds
    /// of the cells.
    pub largest: [[f64; 3]; 2],
    /// Number of triangles of the mesh in the largest component.
    pub triangles: u64,
    /// Least thickness of the components of the mesh in the largest component. It is the thickness
    /// of a plate of the same volume and the same total area of both sides. 0 if unknown.
    pub thickness: f64,
    /// Smallest side of a cell.
    pub cell: f64,
}

/// Places of a mesh that [`Rule::Solid`](crate::Rule::Solid) loses. A filled cell is lost if
/// neither it nor any of its 26 neighbours is solid. Lost cells that share a face, an edge or a
/// corner form a place. Places shorter than four cells along every axis, such as the tip of a horn,
/// are not reported. Neither are places of lost components.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LostPlaces {
    /// Number of places.
    pub places: u64,
    /// Number of cells in all places.
    pub cells: u64,
    /// Walls around the longest place, its least and its greatest corner.
    pub largest: [[f64; 3]; 2],
    /// Number of cells of the longest place along each axis.
    pub dims: [usize; 3],
}
