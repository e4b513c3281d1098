//! Exactness of the inside. The rules solid and filled, by nonzero and evenodd, are compared with an oracle
//! in independent arithmetic: every cell of every mesh, at every level, with several threads and in slabs.
//! The other methods are compared with their definitions.

pub mod boxes;
mod broken;
mod centres;
pub mod check;
mod closed;
mod itself;
mod methods;
mod sheets;
mod soups;
mod stopped;
mod winding;

use crate::support::oracle;
use crate::support::suite::Suite;

pub const SUITE: Suite = Suite::of(
    "solid",
    &[
        // The longest checks start first.
        ("flat_sheets_are_empty", sheets::flat_ones_are_empty),
        ("the_oracle_against_itself", itself::rays_agree),
        ("the_oracle_by_hand", itself::by_hand),
        ("boxes_by_the_formula", boxes::by_the_formula),
        (
            "boxes_at_half_cells",
            || check::all(&boxes::at_half_cells()),
        ),
        ("a_cube_is_its_volume", boxes::a_cube_is_its_volume),
        ("sponges", || check::all(&closed::sponges())),
        ("spheres_rounded", || check::all(&closed::spheres_rounded())),
        ("prisms_through_corners", || check::all(&closed::prisms())),
        ("images_of_cubes", || check::all(&closed::images_of_cubes())),
        ("fixtures", || check::all(&closed::fixtures())),
        ("tetrahedra_on_halves", || check::all(&soups::on_halves())),
        ("tetrahedra_anywhere", || check::all(&soups::anywhere())),
        ("tetrahedra_on_odd_walls", || check::all(&soups::on_walls())),
        ("tetrahedra_huge", || check::all(&soups::huge())),
        ("tetrahedra_tiny", || check::all(&soups::tiny())),
        ("a_crowd_of_tetrahedra", || check::all(&soups::crowd())),
        ("closed_but_not_oriented", || {
            check::all(&soups::not_oriented())
        }),
        ("aimed_at_centres", || check::all(&centres::aimed_at())),
        ("open_meshes", || check::all(&soups::open())),
        ("vote_is_two_of_three_rays", methods::vote),
        ("flood_is_what_a_queue_does_not_reach", methods::flood),
        ("robust_is_the_sum_of_solid_angles", methods::robust),
        ("soups_are_the_sum_of_solid_angles", sheets::soups),
        ("robust_stops_soon", stopped::soon),
        ("broken_meshes_differ_little", broken::differs_little),
    ],
);
