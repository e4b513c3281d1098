//! A broken mesh is oriented outwards after any modification. Its boundary, its caps and its winding numbers
//! are correct.

mod closing;
mod shapes;
mod t_junctions;
mod turning;
mod winding;
