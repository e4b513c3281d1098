//! Turn triangle meshes into voxels, exactly.
//!
//! A [`Mesh`] is a list of triangles. A [`Lattice`] defines the position of the cells. A [`Rule`] decides
//! which cells are occupied. [`voxelize()`] returns the [`Voxels`].
//!
//! ```no_run
//! use voxelize::{Lattice, Mesh, Rule, voxelize};
//!
//! let mesh = Mesh::open("fixtures/knot.stl")?;
//! let lattice = Lattice::fit(mesh.bounds(), 128)?;
//! let voxels = voxelize(&mesh, &lattice, Rule::surface())?;
//! println!("{} voxels", voxels.count());
//! voxels.save("knot.vox")?;
//! # Ok::<(), voxelize::Error>(())
//! ```
//!
//! # Every cell by a written rule
//!
//! The lattice and the rule determine every bit of the result. [`Run`] sets the threads, the instruction set,
//! the progress and the memory, and never changes a bit. No decision depends on rounded numbers: where the
//! result in doubles is uncertain, it is computed again in big integers. Two grids can be compared by their
//! [`Digest`].
//!
//! Faces of CAD parts often lie exactly on the walls between cells. By default such a face marks only the
//! cell above it. [`Rule::with_ties`] selects another of the [`Ties`].
//!
//! A rule has methods that set its options. The methods can be chained. They return an error if the rule does
//! not have the option:
//!
//! ```
//! use voxelize::{Inside, Rule, Ties};
//!
//! let shell = Rule::filled().with_inside(Inside::Robust)?.with_shell(2)?;
//! assert_eq!(shell.fields().len(), 3);
//! assert!(Rule::solid().with_ties(Ties::Both).is_err());
//! # Ok::<(), voxelize::Error>(())
//! ```
//!
//! # Axes and units
//!
//! The axes are always in the order x, y, z. Cell `(i, j, k)` is the box between walls `i` and `i + 1` along
//! x, and likewise along y and z. Wall `i` is at `origin + i * spacing`. The origin is the outer corner of
//! cell (0, 0, 0). In memory x varies fastest. Coordinates have the unit of the file and are not scaled.
//! Origin and spacing are exact fractions ([`Rational`]), so a tenth is stored exactly.
//!
//! A small grid can be printed as text, one layer at a time. `#` is an occupied cell, x points to the right
//! and y upwards. This is the third layer of a pyramid that has no floor and whose top leans to the left:
//!
//! ```
//! use voxelize::{Fit, Mesh, Rational, Rule, Size, voxelize};
//!
//! let corners = [[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [8.0, 6.0, 0.0], [0.0, 6.0, 0.0]];
//! let top = [2.5, 3.5, 4.0];
//! let sides = (0..4).map(|n| [corners[n], corners[(n + 1) % 4], top]);
//! let mesh = Mesh::from_triangles(sides.collect())?;
//!
//! let lattice = Fit::new(Size::Spacing([1, 1, 1].map(Rational::from))).to(mesh.bounds())?;
//! let voxels = voxelize(&mesh, &lattice, Rule::surface())?;
//! assert_eq!(voxels.dims(), [8, 6, 4]);
//! assert_eq!(voxels.occupied()?.layer_text(2), "\
//! ........\n\
//! .#####..\n\
//! .#.###..\n\
//! .#####..\n\
//! .#####..\n\
//! ........\n\
//! ");
//! assert!(voxels.occupied()?.get([1, 3, 2]) && !voxels.occupied()?.get([2, 3, 2]));
//! # Ok::<(), voxelize::Error>(())
//! ```
//!
//! # Where to go on
//!
//! - [`Rule::Solid`], [`Rule::Filled`] and [`Inside`]: the inside of a mesh, even if the mesh is not closed.
//! - [`Fit`]: all ways to choose a lattice: by cell size, by number of cells, by a box, with padding.
//! - [`Voxelizer`]: threads, instruction set, progress, cancellation and a memory limit. It can also write
//!   grids that are larger than memory, slab by slab.
//! - [`format`](mod@format): saving and reading voxels. [`mesh::read`]: reading meshes.
//! - [`compare`]: differences between two grids and between their lattices.
//! - [`view`]: pictures of cells.
//! - [`Cells`]: [`BitGrid`] (64 cells per word), [`Labels`] or [`Field`]. With the feature `ndarray` they
//!   convert to dense arrays `[x, y, z]` in Fortran order, in which x varies fastest.
//! - [`Error`]: what is wrong, where, and what to do about it. [`Kind`]: who has to act.
//!
//! Without the default feature `cli`, the library does not depend on the crates that only the command line
//! needs.
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

#[cfg(feature = "cli")]
extern crate self as voxelize;

/// Command line, for packages that include the command. This interface is not stable.
#[cfg(feature = "cli")]
#[doc(hidden)]
#[allow(missing_docs, unreachable_pub)]
pub mod cli;
#[doc(hidden)]
pub mod tool;

#[doc(inline)]
pub use voxelize_core::{
    BitGrid, Bounds, CODES, CancelToken, Cells, Code, Digest, Error, Field, Finding, Fit, Hint,
    Kind, Labels, Lattice, Length, LengthUnit, Level, Progress, Rational, Record, Result, Severity,
    Size, Snap, TOOL, Ties,
};
#[doc(inline)]
pub use voxelize_formats::Voxels;
#[doc(inline)]
pub use voxelize_meshes::Mesh;
#[doc(inline)]
pub use voxelize_rules::{
    Band, Inside, Iso, METHODS, RULES, Rule, Run, ShellThickness, Slabs, Stats, ThinFeatures,
    Voxelized, Voxelizer, distance, fraction, voxelize,
};

/// The crate `ndarray`, whose arrays cells can be converted to and from.
#[cfg(feature = "ndarray")]
pub use voxelize_core::ndarray;

// Documented items are for users of the library. Hidden items are for the command, the tests and the Python
// package.

/// Comparison of grids and lattices, checks and clearance of meshes, and golden results.
pub mod compare {
    #[doc(hidden)]
    pub use voxelize_compare::*;
    #[doc(inline)]
    pub use voxelize_compare::{
        BoxSize, Deepest, DepthFrom, Difference, DifferenceDepth, FieldDifference,
        LargestDifference, Mismatch, check, clearance, confused_factor, differ_by_factor,
        differ_by_rounding, grids, lattices,
    };
    #[cfg(feature = "goldens")]
    #[doc(inline)]
    pub use voxelize_compare::{Case, CaseResult, Gate, Golden, Goldens};
}

/// Errors and findings, their codes and their hints.
pub mod error {
    #[doc(inline)]
    pub use voxelize_core::error::CodeInfo;
    #[doc(hidden)]
    pub use voxelize_core::error::*;
}

/// Voxel formats: saving and reading, and the table of all formats, [`FORMATS`](format::FORMATS).
pub mod format {
    #[cfg(feature = "npz")]
    #[doc(inline)]
    pub use voxelize_formats::GridStack;
    #[doc(hidden)]
    pub use voxelize_formats::*;
    #[doc(inline)]
    pub use voxelize_formats::{
        Carries, Choice, Description, Dtype, Durability, Existing, FORMATS, FileSize, Format,
        FrameSupport, SaveOptions, Sidecar, Written, by_name, by_path, check, describe, named_by,
        open, read_from, save, save_source, sniff, write_source_to, write_to,
    };
}

/// Exact geometric predicates for triangles, boxes, spheres, segments and closest points.
pub mod geom {
    #[doc(hidden)]
    pub use voxelize_core::geom::*;
    #[doc(inline)]
    pub use voxelize_core::geom::{
        Point, Triangle, Winding, closest, segment_box, tri_box, tri_sphere, tri_tri,
    };
}

/// Lattices, cells, and records that state how cells were made.
pub mod grid {
    #[doc(hidden)]
    pub use voxelize_core::grid::*;
    #[doc(inline)]
    pub use voxelize_core::grid::{
        AXES, ArrayContent, CellArray, CellKind, CellSource, CellType, CellsMut, CellsRef,
        DigestBuilder, FieldSummary, Hash, Label, Legend, MAX_DIM, Quantities, Quantity, ScanFrame,
        Slab, frame, metadata,
    };
    #[doc(inline)]
    pub use voxelize_formats::InMemory;
    #[doc(hidden)]
    pub use voxelize_formats::Voxels;
}

/// Jobs from a mesh to a file: transforms, parts, labels, memory and regions.
pub mod job {
    #[doc(hidden)]
    pub use voxelize_rules::job::*;
    #[doc(inline)]
    pub use voxelize_rules::job::{
        AxisOrder, Extras, JobLabels, LabelFieldSum, Matrix, Measure, MemoryPlan, MeshPose,
        PartChoice, PosedName, Request, ResolvedRequest, Rotation, Transform, UnitOfLength, UpAxis,
        WrittenLength,
    };
    #[doc(inline)]
    pub use voxelize_rules::run::{MemoryBudget, MemoryLimit};

    /// Regions of a store, each made by a separate process.
    pub mod regions {
        #[doc(hidden)]
        pub use voxelize_rules::job::regions::*;
        #[doc(inline)]
        pub use voxelize_rules::job::regions::{
            RegionMaker, RegionPlan, RegionRequest, RegionState, RegionStore, ShardCheck,
            StoreReport,
        };
    }
}

/// Meshes: reading, parts, colours, boundary and repair.
pub mod mesh {
    #[doc(hidden)]
    pub use voxelize_meshes::*;
    #[doc(inline)]
    pub use voxelize_meshes::{
        MeshColours, MeshCuts, MeshParts, MeshTexture, PartKind, TextureWrap, boundary, closed,
        read,
    };

    /// Repair of open meshes.
    pub mod repair {
        #[doc(inline)]
        pub use voxelize_meshes::repair::Repaired;
        #[doc(hidden)]
        pub use voxelize_meshes::repair::*;
    }
}

/// Threads.
pub mod par {
    #[doc(hidden)]
    pub use voxelize_core::par::*;
    #[doc(inline)]
    pub use voxelize_core::par::{MAX_THREADS, available_threads, with_threads};
}

/// Reports of the rules, and searches for cells in doubt.
pub mod rule {
    #[doc(hidden)]
    pub use voxelize_rules::rule::*;
    #[doc(inline)]
    pub use voxelize_rules::rule::{
        FractionReport, InsideReport, LostComponents, LostFeatures, LostPlaces, Method, Repairs,
        RuleInfo, surface_and_interior,
    };

    /// Cells on which the methods for the inside disagree.
    pub mod doubt {
        #[doc(hidden)]
        pub use voxelize_rules::rule::doubt::*;
        #[doc(inline)]
        pub use voxelize_rules::rule::doubt::{Doubt, doubt};
    }

    /// Path on which a flood enters a mesh.
    pub mod leak_path {
        #[doc(inline)]
        pub use voxelize_rules::rule::leak_path::leak_path;
    }
}

/// Settings that decide how the work is done, such as threads and memory.
pub mod run {
    #[doc(hidden)]
    pub use voxelize_rules::run::*;
    #[doc(inline)]
    pub use voxelize_rules::run::{Leak, Plan, holes};
}

/// Pictures of cells.
pub mod view {
    #[doc(hidden)]
    pub use voxelize_view::*;
    #[doc(inline)]
    pub use voxelize_view::{
        Axes, Background, Borders, Enclosed, FieldScale, Layer, MAX_SIDE, Picture, Projection,
        Shown, Up, View, cells, cells_behind, facets, parse_colour, sheet, slice,
    };
}

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the examples of the page about the library as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/reference/library.md")]
struct LibraryPage;
