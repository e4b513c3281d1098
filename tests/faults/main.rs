//! What is on the disk after a fault? The command is made to fail at every stage, where a file of that name
//! was and where none was, and what is found is printed and compared with the table of `docs/faults.md`.
//!
//! `VOXELIZE_BLESS=1` writes the table again, and fails once more.

#[cfg(target_os = "linux")]
mod disk;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
#[path = "../place/mod.rs"]
mod place;

#[cfg(target_os = "linux")]
fn main() {
    let mut table = String::from("| fault | exit code | an older file was there | none was there |\n");
    table += "| --- | --- | --- | --- |\n";
    for fault in faults::FAULTS {
        let [with, without] = [disk::Before::Older, disk::Before::Nothing].map(|before| fault.find(before));
        assert_eq!(with.code, without.code, "{}", fault.what);
        assert!(!with.left.is_empty() && !without.left.is_empty(), "{}: nothing was looked at", fault.what);
        let row = format!("| {} | {} | {} | {} |", fault.what, with.code, with.left, without.left);
        println!("{row}");
        table += &format!("{row}\n");
    }
    println!("{} faults, each twice", faults::FAULTS.len());
    assert!(faults::FAULTS.len() > 15);
    compare(&table);
}

/// Compares the table with the one that is kept.
#[cfg(target_os = "linux")]
fn compare(table: &str) {
    const BEGIN: &str = "<!-- made -->\n";
    const END: &str = "<!-- end -->";
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/faults.md");
    let old = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = old.split_once(BEGIN).expect("the table begins");
    let (kept, after) = rest.split_once(END).expect("the table ends");
    if kept != table && std::env::var_os("VOXELIZE_BLESS").is_some() {
        std::fs::write(&page, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    }
    for (kept, found) in kept.lines().zip(table.lines()) {
        assert_eq!(kept, found, "VOXELIZE_BLESS=1 writes the table again, and fails once more");
    }
    assert_eq!(kept, table);
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("faults are made by the means of Linux; nothing was tried");
}
