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
use crate::support::suite::{Counts, Suite};

pub const SUITE: Suite = Suite::of(
    "faults",
    &[
        (
            "files_on_the_disk_after_a_fault",
            files_on_the_disk_after_a_fault,
        ),
        (
            "no_file_is_lost_to_a_name",
            names::no_file_is_lost_to_a_name,
        ),
        ("no_output_is_an_input", names::no_output_is_an_input),
        (
            "no_implied_name_replaces_a_file_of_others",
            names::no_implied_name_replaces_a_file_of_others,
        ),
        (
            "no_text_controls_the_terminal",
            text::no_text_controls_the_terminal,
        ),
        ("writers_side_by_side", together::writers_side_by_side),
    ],
);

fn files_on_the_disk_after_a_fault() -> Counts {
    let mut table = String::from("| fault | exit code | with an older file | without one |\n");
    table += "| --- | --- | --- | --- |\n";
    let mut faults = 0;
    for row in list::FAULTS.lines() {
        let (what, [with, without]) = list::find(row);
        assert_eq!(with.code, without.code, "{what}");
        let (code, with, without) = (with.code, with.left, without.left);
        assert!(
            !with.is_empty() && !without.is_empty(),
            "{what}: nothing was looked at"
        );
        let row = format!("| {what} | {code} | {with} | {without} |");
        println!("{row}");
        table += &format!("{row}\n");
        faults += 1;
    }
    assert!(faults > 15);
    compare(&table);
    vec![("faults, each twice", faults)]
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
