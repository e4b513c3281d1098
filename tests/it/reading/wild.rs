//! Every odd and broken file is read, noted, dropped or rejected as its case expects, from files and pipes.

use std::collections::BTreeSet;

use voxelize::mesh::read::{Loaded, ReadOptions, Tolerance};
use voxelize::{Mesh, Result};

use super::inputs::{read_with, stream};
use crate::support::wild::{Answer, Case, all, files};

const TOLERANCES: [Tolerance; 3] = [Tolerance::Usual, Tolerance::Strict, Tolerance::Lenient];

fn read(bytes: &[u8], tolerance: Tolerance) -> Result<Loaded> {
    read_with(bytes, &ReadOptions::default().tolerance(tolerance))
}

/// Describes the deviation from the case.
fn wrong(case: &Case, tolerance: Tolerance) -> Option<String> {
    let (loaded, expected) = match (case.answer(tolerance), read(&case.bytes, tolerance)) {
        (Answer::Refused(code), Err(error)) => {
            return (error.code().name() != code)
                .then(|| format!("{}: {error}, not {code}", error.code().name()));
        }
        (_, Err(error)) => return Some(format!("refused, {}: {error}", error.code().name())),
        (Answer::Refused(code), Ok(loaded)) => {
            return Some(format!("read, not {code}: {loaded:?}"));
        }
        (Answer::Read(n), Ok(loaded)) => (loaded, (n, 0, &[][..])),
        (Answer::Found(n, codes), Ok(loaded)) => (loaded, (n, 0, codes)),
        (Answer::Dropped(n, dropped, codes), Ok(loaded)) => (loaded, (n, dropped, codes)),
    };
    let codes: Vec<_> = loaded
        .findings
        .iter()
        .map(|finding| finding.first.code().name())
        .collect();
    let found = (loaded.mesh.triangles().len(), loaded.dropped, &codes[..]);
    if found != expected || loaded.bytes != case.bytes.len() as u64 {
        return Some(format!(
            "{found:?}, not {expected:?}: {:?}",
            loaded.findings
        ));
    }
    is_whole(&loaded.mesh, case.name);
    None
}

/// Checks that every triangle is a triangle that the files are created from.
fn is_whole(mesh: &Mesh, what: &str) {
    for triangle in mesh.triangles() {
        let n = triangle[0][0];
        assert_eq!(
            (triangle[0], triangle[2][0]),
            ([n, 0.0, 0.0], n),
            "{what}: {triangle:?}"
        );
    }
    assert_eq!(
        *mesh,
        Mesh::from_triangles(mesh.triangles().to_vec()).unwrap(),
        "{what}: bounds"
    );
}

#[test]
fn every_case_has_the_result_of_the_table() {
    let cases = all();
    let names: BTreeSet<_> = cases.iter().map(|case| case.name).collect();
    assert!(names.len() >= 60 && names.len() == cases.len());
    let mut all_wrong = vec![];
    for case in &cases {
        for tolerance in TOLERANCES {
            if let Some(what) = wrong(case, tolerance) {
                all_wrong.push(format!("{}, {tolerance:?}: {what}", case.name));
            }
        }
    }
    assert!(all_wrong.is_empty(), "{}", all_wrong.join("\n"));
}

#[test]
fn every_code_of_a_reader_has_a_case() {
    let mut seen = BTreeSet::new();
    for case in all() {
        for answer in TOLERANCES.map(|tolerance| case.answer(tolerance)) {
            match answer {
                Answer::Refused(code) => drop(seen.insert(code)),
                Answer::Found(_, codes) | Answer::Dropped(_, _, codes) => seen.extend(codes),
                Answer::Read(_) => (),
            }
        }
    }
    // Names, folders and formats of numbered vertices have separate tests.
    let elsewhere = "S008 S009 S010 S012 S107 S108 S109 S110 S111 S112 S113 S120 S121";
    for row in voxelize::CODES {
        let is_seen = seen.contains(row.name) || elsewhere.contains(row.name);
        assert!(
            !row.name.starts_with('S') || is_seen,
            "{} has no case",
            row.name
        );
    }
}

#[test]
fn intact_triangles_of_a_truncated_file_are_kept() {
    let binary = files::binary(b"", 5, 5);
    for cut in 134..binary.len() {
        let loaded = read(&binary[..cut], Tolerance::Lenient).unwrap();
        let whole = (cut - 84) / 50;
        assert_eq!(loaded.mesh.triangles().len(), whole, "cut at {cut}");
        let dropped = u64::from((cut - 84) % 50 > 0);
        assert_eq!(loaded.dropped, dropped, "cut at {cut}");
        assert_eq!(loaded.findings[0].first.code().name(), "S003");
    }
    let ascii = files::ascii("part", 5);
    let one = ascii.find("endfacet").unwrap() + 8;
    for cut in one..ascii.rfind(" part").unwrap() {
        let loaded = read(&ascii.as_bytes()[..cut], Tolerance::Lenient).unwrap();
        let whole = ascii[..cut].matches("endfacet").count();
        assert_eq!(loaded.mesh.triangles().len(), whole, "cut at {cut}");
        is_whole(&loaded.mesh, "cut");
    }
    let packed = files::gzip(&files::binary(b"", 300, 300));
    let mut taken = 0;
    for cut in 0..packed.len() {
        match read(&packed[..cut], Tolerance::Lenient) {
            Ok(loaded) => taken += loaded.mesh.triangles().len(),
            Err(error) => assert!(["S001", "S003"].contains(&error.code().name()), "{error}"),
        }
        assert!(read(&packed[..cut], Tolerance::Usual).is_err(), "{cut}");
    }
    assert!(taken > 300, "{taken}");
}

#[test]
fn damage_deep_in_a_long_file_is_found_in_its_place() {
    // Longer than the blocks in which plain facets are searched for, by one thread or several.
    const ALL: usize = 40_000;
    let text = files::ascii("part", ALL as u16);
    for damaged in [0, 1, 3000, 20_000, ALL - 1] {
        let from = format!("vertex {damaged} 1 0");
        let to = format!("vertex {damaged} 1 x");
        let text = text.replacen(&from, &to, 1);
        let line = text[..text.find(&to).unwrap()].matches('\n').count() as u64 + 1;
        for threads in [1, 2, 5] {
            voxelize::par::with_threads(threads, || {
                let error = stream(&text, Tolerance::Usual).unwrap_err();
                assert_eq!((error.code().name(), error.line()), ("S007", Some(line)));
                let loaded = stream(&text, Tolerance::Lenient).unwrap();
                assert_eq!(
                    (loaded.mesh.triangles().len(), loaded.dropped),
                    (ALL - 1, 1)
                );
                let expected = (0..ALL).filter(|n| *n != damaged).map(|n| n as f32);
                assert!(loaded.mesh.triangles().iter().map(|t| t[0][0]).eq(expected));
            })
            .unwrap();
        }
    }
}

#[test]
fn every_second_facet_damaged_is_still_read_at_once() {
    let text = files::ascii("part", 30_000).replace("5 1 0", "5 1 nan");
    let loaded = stream(&text, Tolerance::Lenient).unwrap();
    assert_eq!(
        loaded.mesh.triangles().len() as u64 + loaded.dropped,
        30_000
    );
    assert_eq!(
        (loaded.findings.len(), loaded.findings[0].count),
        (1, loaded.dropped)
    );
    assert!(loaded.dropped >= 3000, "{}", loaded.dropped);
}
