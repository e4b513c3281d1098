//! Invariants of the whole program: changes that must not affect a result, and changes that must move,
//! rotate, cut or coarsen it.

mod how;
mod known;
mod moved;
mod planned;
mod program;
mod tied;
mod tiled;

use voxelize::{BitGrid, Lattice, Mesh, Rule, Ties, Voxelizer};

use crate::support::meshes::occupied;
use crate::support::suite::Suite;

pub const SUITE: Suite = Suite::of(
    "invariance",
    &[
        ("levels_and_threads", how::levels_and_threads),
        (
            "order_of_triangles_and_vertices",
            how::order_of_triangles_and_vertices,
        ),
        ("many_triangles", how::many_triangles),
        (
            "the_program_and_its_files",
            program::the_program_and_its_files,
        ),
        ("slabs_are_the_whole", planned::slabs_are_the_whole),
        ("slabs_of_tiles", planned::slabs_of_tiles),
        (
            "a_limit_chooses_the_plan",
            planned::a_limit_chooses_the_plan,
        ),
        (
            "cancelled_slabs_leave_nothing",
            planned::cancelled_slabs_leave_nothing,
        ),
        ("the_program_in_slabs", planned::the_program_in_slabs),
        ("the_program_in_bricks", planned::the_program_in_bricks),
        ("mesh_and_lattice_move", moved::mesh_and_lattice_move),
        ("axes_permute", moved::axes_permute),
        ("axes_mirror", moved::axes_mirror),
        ("double_spacing_is_the_or", tied::double_spacing_is_the_or),
        ("ties_are_nested", tied::ties_are_nested),
        ("tiles_join", tiled::tiles_join),
        (
            "a_tile_where_the_mesh_ends",
            tiled::a_tile_where_the_mesh_ends,
        ),
        ("padding_folds_away", tiled::padding_folds_away),
        (
            "the_lattice_grows_and_shrinks",
            tiled::the_lattice_grows_and_shrinks,
        ),
        ("the_cube_is_counted", known::the_cube_is_counted),
        ("halves_of_the_cube_join", known::halves_of_the_cube_join),
        ("steps_of_the_bracket", known::steps_of_the_bracket),
    ],
);

/// Returns the rule surface with all ties, and thin.
fn shells() -> [Rule; 4] {
    let [up, both, none] = [Ties::Up, Ties::Both, Ties::None].map(|ties| Rule::Surface { ties });
    [up, both, none, Rule::Thin]
}

/// Returns the cells of a rule.
fn cells_of(rule: Rule, mesh: &Mesh, lattice: &Lattice) -> BitGrid {
    occupied(Voxelizer::new(rule), mesh, lattice)
}
