//! Is a broken mesh turned outwards, whatever was done to it? Are its boundary, its caps and its winding
//! numbers what they say?

mod closing;
mod shapes;
mod t_junctions;
mod turning;
mod winding;
