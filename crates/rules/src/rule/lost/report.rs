//! The report of features that solid loses.

/// The features of a mesh that [`Rule::Solid`](crate::Rule::Solid) loses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LostFeatures {
    /// Whole components, if any are lost or broken.
    pub components: Option<LostComponents>,
    /// Places of other components, if any.
    pub places: Option<LostPlaces>,
}

/// The connected components of filled cells that [`Rule::Solid`](crate::Rule::Solid) loses or breaks. Cells that share
/// a face, an edge or a corner are connected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LostComponents {
    /// The number of components.
    pub components: u64,
    /// The number of components without a solid cell.
    pub lost: u64,
    /// The number of components whose solid cells are in more pieces than the mesh has components there; cavities do not
    /// count.
    pub broken: u64,
    /// The most pieces that one is broken into; 0 if none is.
    pub pieces: u64,
    /// The component with the longest diagonal, of the lost ones if there are any: its least and its greatest corner.
    /// Those of the components of the mesh there, as far as its cells reach; or of its cells where there is none.
    pub largest: [[f64; 3]; 2],
    /// How many triangles of the mesh are in it.
    pub triangles: u64,
    /// The least thickness of components of the mesh in it: of a plate with the same area on both sides together, and
    /// the same volume. 0 where it is not known.
    pub thickness: f64,
    /// The size of a cell along the axis where it is smallest.
    pub cell: f64,
}

/// The places of a mesh that [`Rule::Solid`](crate::Rule::Solid) loses. A filled cell is lost if neither it nor any of
/// the 26 cells around it is solid. Lost cells that touch by faces, edges or corners make one place. Places of fewer
/// than four cells along every axis, such as the tip of a horn, are not reported, nor are lost components.
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
