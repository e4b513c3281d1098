//! Report of the features that the rule solid loses.

/// Features of a mesh that [`Rule::Solid`](crate::Rule::Solid) loses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LostFeatures {
    /// Components of filled cells that are lost or broken. `None` if there are no such components.
    pub components: Option<LostComponents>,
    /// Lost places in components that are not lost. `None` if there are no such places.
    pub places: Option<LostPlaces>,
}

/// Connected components of filled cells that [`Rule::Solid`](crate::Rule::Solid) loses or breaks.
/// Cells that share a face, an edge or a corner are connected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LostComponents {
    /// Number of all components of filled cells, including intact ones.
    pub components: u64,
    /// Number of components without a solid cell.
    pub lost: u64,
    /// Number of components whose solid cells form more pieces than there are components of the mesh in them.
    /// Cavities do not count as components of the mesh.
    pub broken: u64,
    /// Greatest number of pieces of solid cells in one broken component. 0 if no component is broken.
    pub pieces: u64,
    /// Least and greatest corner of the largest component. It is the lost component with the longest
    /// diagonal, or, if no component is lost, the broken one. The corners are those of the bounding box of
    /// the components of the mesh in it, limited to the component's cells. If no component of the mesh is
    /// known, they are those of the cells' bounding box.
    pub largest: [[f64; 3]; 2],
    /// Number of triangles in the components of the mesh that reach the largest component.
    pub triangles: u64,
    /// Least thickness among the components of the mesh that reach the largest component. The thickness is 2
    /// × volume / area, as for a thin plate. 0 if it is unknown.
    pub thickness: f64,
    /// Length of the shortest side of a cell.
    pub cell: f64,
}

/// Places of a mesh that [`Rule::Solid`](crate::Rule::Solid) loses. A filled cell is lost if neither it nor
/// any of its 26 neighbours is solid. A place is a set of lost cells that are connected by faces, edges or
/// corners. Places that are shorter than four cells along every axis, such as the tip of a horn, are not
/// reported. Places in lost components are not reported either.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LostPlaces {
    /// Number of reported places.
    pub places: u64,
    /// Total number of cells in the reported places.
    pub cells: u64,
    /// Least and greatest corner of the bounding box of the longest place.
    pub largest: [[f64; 3]; 2],
    /// Length of the longest place along each axis, in cells.
    pub dims: [usize; 3],
}
