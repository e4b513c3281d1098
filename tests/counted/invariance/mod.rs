//! Invariants of the whole program: changes that must not affect a result, and changes that must move,
//! rotate, cut or coarsen it.

mod how;
mod known;
mod moved;
mod planned;
mod program;
mod tied;
mod tiled;

use crate::support::suite::{Check, Suite};

pub const SUITE: Suite = Suite::of(
    "invariance",
    &[
        Check {
            name: "levels_and_threads",
            run: how::levels_and_threads,
        },
        Check {
            name: "order_of_triangles_and_vertices",
            run: how::order_of_triangles_and_vertices,
        },
        Check {
            name: "many_triangles",
            run: how::many_triangles,
        },
        Check {
            name: "the_program_and_its_files",
            run: program::the_program_and_its_files,
        },
        Check {
            name: "slabs_are_the_whole",
            run: planned::slabs_are_the_whole,
        },
        Check {
            name: "slabs_of_tiles",
            run: planned::slabs_of_tiles,
        },
        Check {
            name: "a_limit_chooses_the_plan",
            run: planned::a_limit_chooses_the_plan,
        },
        Check {
            name: "cancelled_slabs_leave_nothing",
            run: planned::cancelled_slabs_leave_nothing,
        },
        Check {
            name: "the_program_in_slabs",
            run: planned::the_program_in_slabs,
        },
        Check {
            name: "the_program_in_bricks",
            run: planned::the_program_in_bricks,
        },
        Check {
            name: "mesh_and_lattice_move",
            run: moved::mesh_and_lattice_move,
        },
        Check {
            name: "axes_permute",
            run: moved::axes_permute,
        },
        Check {
            name: "axes_mirror",
            run: moved::axes_mirror,
        },
        Check {
            name: "double_spacing_is_the_or",
            run: tied::double_spacing_is_the_or,
        },
        Check {
            name: "ties_are_nested",
            run: tied::ties_are_nested,
        },
        Check {
            name: "tiles_join",
            run: tiled::tiles_join,
        },
        Check {
            name: "a_tile_where_the_mesh_ends",
            run: tiled::a_tile_where_the_mesh_ends,
        },
        Check {
            name: "padding_folds_away",
            run: tiled::padding_folds_away,
        },
        Check {
            name: "the_lattice_grows_and_shrinks",
            run: tiled::the_lattice_grows_and_shrinks,
        },
        Check {
            name: "the_cube_is_counted",
            run: known::the_cube_is_counted,
        },
        Check {
            name: "halves_of_the_cube_join",
            run: known::halves_of_the_cube_join,
        },
        Check {
            name: "steps_of_the_bracket",
            run: known::steps_of_the_bracket,
        },
    ],
);
