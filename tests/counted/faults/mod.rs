//! Files on the disk after a fault. The command is made to fail at every stage, with and without an older
//! file of that name. The remaining files are printed and compared with the table of `docs/internals/faults.md`.
//!
//! `VOXELIZE_BLESS=1` writes the table again and fails once more.

mod disk;
mod list;
mod names;
mod text;
mod together;

use crate::support::bless;
use crate::support::suite::{Check, Counts, Suite};

pub const SUITE: Suite = Suite::of(
    "faults",
    &[
        Check {
            name: "files_on_the_disk_after_a_fault",
            run: files_on_the_disk_after_a_fault,
        },
        Check {
            name: "no_file_is_lost_to_a_name",
            run: names::no_file_is_lost_to_a_name,
        },
        Check {
            name: "no_output_is_an_input",
            run: names::no_output_is_an_input,
        },
        Check {
            name: "no_implied_name_replaces_a_file_of_others",
            run: names::no_implied_name_replaces_a_file_of_others,
        },
        Check {
            name: "no_text_controls_the_terminal",
            run: text::no_text_controls_the_terminal,
        },
        Check {
            name: "writers_side_by_side",
            run: together::writers_side_by_side,
        },
    ],
);

fn files_on_the_disk_after_a_fault() -> Counts {
    let mut table = String::from("| fault | exit code | with an older file | without one |\n");
    table += "| --- | --- | --- | --- |\n";
    for fault in list::FAULTS {
        let [with, without] =
            [disk::Before::Older, disk::Before::Nothing].map(|before| fault.find(before));
        assert_eq!(with.code, without.code, "{}", fault.what);
        assert!(
            !with.left.is_empty() && !without.left.is_empty(),
            "{}: nothing was looked at",
            fault.what
        );
        let row = format!(
            "| {} | {} | {} | {} |",
            fault.what, with.code, with.left, without.left
        );
        println!("{row}");
        table += &format!("{row}\n");
    }
    assert!(list::FAULTS.len() > 15);
    compare(&table);
    vec![("faults, each twice", list::FAULTS.len() as u64)]
}

/// Compares the table with the committed one.
fn compare(table: &str) {
    const BEGIN: &str = "<!-- made -->\n";
    const END: &str = "<!-- end -->";
    let old = std::fs::read_to_string(bless::root("docs/internals/faults.md")).unwrap();
    let (before, rest) = old.split_once(BEGIN).expect("the table begins");
    let (_, after) = rest.split_once(END).expect("the table ends");
    bless::compare(
        "docs/internals/faults.md",
        &format!("{before}{BEGIN}{table}{END}{after}"),
    );
}
