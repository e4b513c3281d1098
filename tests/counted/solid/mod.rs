//! Exactness of the inside. The rules solid and filled, by nonzero and evenodd, are compared with an oracle
//! in independent arithmetic: every cell of every mesh, at every level, with several threads and in slabs.
//! The other methods are compared with their definitions.

mod boxes;
mod broken;
mod centres;
mod check;
mod closed;
mod itself;
mod methods;
mod sheets;
mod soups;
mod stopped;
mod winding;

use crate::support::oracle;
use crate::support::suite::{Check, Suite};

pub const SUITE: Suite = Suite::of(
    "solid",
    &[
        // The longest checks start first.
        Check {
            name: "flat_sheets_are_empty",
            run: sheets::flat_ones_are_empty,
        },
        Check {
            name: "the_oracle_against_itself",
            run: itself::rays_agree,
        },
        Check {
            name: "the_oracle_by_hand",
            run: itself::by_hand,
        },
        Check {
            name: "boxes_by_the_formula",
            run: boxes::by_the_formula,
        },
        Check {
            name: "boxes_at_half_cells",
            run: || check::all(&boxes::at_half_cells()),
        },
        Check {
            name: "a_cube_is_its_volume",
            run: boxes::a_cube_is_its_volume,
        },
        Check {
            name: "sponges",
            run: || check::all(&closed::sponges()),
        },
        Check {
            name: "spheres_rounded",
            run: || check::all(&closed::spheres_rounded()),
        },
        Check {
            name: "prisms_through_corners",
            run: || check::all(&closed::prisms()),
        },
        Check {
            name: "images_of_cubes",
            run: || check::all(&closed::images_of_cubes()),
        },
        Check {
            name: "fixtures",
            run: || check::all(&closed::fixtures()),
        },
        Check {
            name: "tetrahedra_on_halves",
            run: || check::all(&soups::on_halves()),
        },
        Check {
            name: "tetrahedra_anywhere",
            run: || check::all(&soups::anywhere()),
        },
        Check {
            name: "tetrahedra_on_odd_walls",
            run: || check::all(&soups::on_walls()),
        },
        Check {
            name: "tetrahedra_huge",
            run: || check::all(&soups::huge()),
        },
        Check {
            name: "tetrahedra_tiny",
            run: || check::all(&soups::tiny()),
        },
        Check {
            name: "a_crowd_of_tetrahedra",
            run: || check::all(&soups::crowd()),
        },
        Check {
            name: "closed_but_not_oriented",
            run: || check::all(&soups::not_oriented()),
        },
        Check {
            name: "aimed_at_centres",
            run: || check::all(&centres::aimed_at()),
        },
        Check {
            name: "open_meshes",
            run: || check::all(&soups::open()),
        },
        Check {
            name: "vote_is_two_of_three_rays",
            run: methods::vote,
        },
        Check {
            name: "flood_is_what_a_queue_does_not_reach",
            run: methods::flood,
        },
        Check {
            name: "robust_is_the_sum_of_solid_angles",
            run: methods::robust,
        },
        Check {
            name: "soups_are_the_sum_of_solid_angles",
            run: sheets::soups,
        },
        Check {
            name: "robust_stops_soon",
            run: stopped::soon,
        },
        Check {
            name: "broken_meshes_differ_little",
            run: broken::differs_little,
        },
    ],
);
