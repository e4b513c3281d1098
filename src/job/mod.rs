//! What surrounds the filling of a grid: the files of a run.

pub mod names;

pub use self::names::{InFile, Names, NewFile, OutFile};
