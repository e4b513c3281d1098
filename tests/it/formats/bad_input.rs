//! Bad files produce errors with a place. They never cause a panic or an allocation for a size that only a
//! header claims.

use super::*;

#[test]
fn files_cut_at_any_length_are_errors() {
    let mut cases = 0;
    for (format, dtype) in kinds() {
        let (bytes, sidecar) = saved(&at_odd_place(f_grid()), format, dtype);
        for cut in 0..bytes.len() {
            let error = read(&bytes[..cut], format, sidecar.as_deref()).expect_err(format.name);
            assert_eq!(
                error.kind(),
                voxelize::Kind::Input,
                "{} at {cut}: {error}",
                format.name
            );
            assert!(error.code().name().starts_with('V'), "{error}");
            assert!(
                error.byte().is_none_or(|byte| byte <= cut as u64),
                "{} at {cut}: {error}",
                format.name
            );
            cases += 1;
        }
    }
    assert!(cases > 5000, "{cases} cuts");
}

#[test]
fn sidecars_cut_at_any_length_are_errors() {
    let raw = format::by_name("raw").unwrap();
    let (bytes, sidecar) = saved(&at_odd_place(f_grid()), raw, Dtype::Bit);
    let sidecar = sidecar.unwrap();
    for cut in (0..sidecar.trim_end().len()).filter(|cut| sidecar.is_char_boundary(*cut)) {
        assert_eq!(
            read(&bytes, raw, Some(&sidecar[..cut]))
                .unwrap_err()
                .code()
                .name(),
            "V007"
        );
    }
}

#[test]
fn changed_bytes_never_panic() {
    let mut cases = 0;
    let mut errors = 0;
    for (format, dtype) in kinds() {
        let (bytes, sidecar) = saved(&at_odd_place(f_grid()), format, dtype);
        for at in 0..bytes.len() {
            for change in [1, 0x10, 0x80, 0xff] {
                let mut bytes = bytes.clone();
                bytes[at] ^= change;
                cases += 1;
                let Err(error) = read(&bytes, format, sidecar.as_deref()) else {
                    continue;
                };
                // A reported byte lies within the file.
                let is_within = error.byte().is_none_or(|byte| byte <= bytes.len() as u64);
                assert!(
                    is_within,
                    "{}: {error}, of {} bytes",
                    format.name,
                    bytes.len()
                );
                errors += 1;
            }
        }
    }
    assert!(cases > 20_000 && errors > cases / 4, "{errors} of {cases}");
}

#[test]
fn bytes_that_follow_are_errors() {
    for (format, dtype) in kinds()
        .into_iter()
        .filter(|(format, _)| format.name != "npz")
    {
        let (mut bytes, sidecar) = saved(&at_odd_place(f_grid()), format, dtype);
        bytes.push(0);
        assert!(
            read(&bytes, format, sidecar.as_deref()).is_err(),
            "{}",
            format.name
        );
    }
}

fn npy(shape: &str, cells: usize) -> Vec<u8> {
    let dict = format!("{{'descr': '|b1', 'fortran_order': True, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dict.len() as u16).to_le_bytes());
    bytes.extend(dict.bytes());
    bytes.resize(bytes.len() + cells, 0);
    bytes
}

#[test]
fn sizes_that_arrays_only_claim_are_errors() {
    let format = format::by_name("npy").unwrap();
    for (shape, code) in [
        ("(1000000, 1000000, 1000000)", "V002"),
        (
            "(18446744073709551615, 18446744073709551615, 18446744073709551615)",
            "V002",
        ),
        ("(4, 4, 2)", "V002"),
        ("(3, 4, 1)", "V005"),
        ("(3, 0, 2)", "V004"),
        ("(24,)", "V004"),
        ("()", "V004"),
        ("(3, 4)", "V004"),
        ("(3, 4, 2, 1)", "V004"),
        ("3", "V003"),
    ] {
        let error = read(&npy(shape, 24), format, None).unwrap_err();
        assert_eq!(error.code().name(), code, "{shape}: {error}");
    }
}

#[test]
fn sizes_that_sidecars_only_claim_are_errors() {
    let format = format::by_name("raw").unwrap();
    for (dims, dtype, code) in [
        ("[1000000,1000000,1000000]", "u8", "V005"),
        (
            "[18446744073709551615,18446744073709551615,64]",
            "bit",
            "V005",
        ),
        ("[3,4,3]", "u8", "V005"),
        ("[0,4,3]", "u8", "V007"),
        ("[3,4,2]", "f64", "V007"),
        ("[3,4,2]", "f32", "V005"),
    ] {
        let sidecar = format!(r#"{{"dims":{dims},"dtype":"{dtype}"}}"#);
        let error = read(&[0; 24], format, Some(&sidecar)).unwrap_err();
        assert_eq!(error.code().name(), code, "{dims}: {error}");
    }
    let enough = r#"{"dims":[3,4,2],"dtype":"u8"}"#;
    assert_eq!(
        read(&[0; 24], format, Some(enough)).unwrap().dims(),
        [3, 4, 2]
    );
}

/// Reads a scene with one model after replacing part of its header.
fn vox_with(from: &[u8], to: &[u8]) -> voxelize::Error {
    assert_eq!(from.len(), to.len());
    let format = format::by_name("vox").unwrap();
    let (mut bytes, _) = saved(&at_odd_place(f_grid()), format, Dtype::U8);
    let at = bytes
        .windows(from.len())
        .position(|window| window == from)
        .expect("is there");
    bytes[at..at + to.len()].copy_from_slice(to);
    read(&bytes, format, None).unwrap_err()
}

#[test]
fn lying_scenes_are_errors() {
    for (from, to, code) in [
        (
            &b"\x24\0\0\0\0\0\0\0\x08\0\0\0"[..],
            &b"\x24\0\0\0\0\0\0\0\xff\xff\xff\x3f"[..],
            "V003",
        ),
        (b"XYZI\x24\0\0\0", b"XYZI\xff\xff\xff\xff", "V002"),
        (
            b"SIZE\x0c\0\0\0\0\0\0\0\x04",
            b"SIZE\x0c\0\0\0\0\0\0\0\x02",
            "V009",
        ),
        (b"\"dims\":[3,4,2]", b"\"dims\":[1,1,1]", "V009"),
        (b"\"dims\":[3,4,2]", b"\"dims\":[3,4,-]", "V007"),
        (b"nGRP", b"nGRX", "V008"),
        (b"1 0 1", b"1 x 1", "V008"),
    ] {
        let found = vox_with(from, to);
        assert_eq!(
            found.code().name(),
            code,
            "{}: {found}",
            String::from_utf8_lossy(to)
        );
    }
}

#[test]
fn a_scene_cannot_claim_a_grid_out_of_proportion() {
    let far = "999999";
    let voxels = at_odd_place(BitGrid::new([1000, 1000, 1]).unwrap());
    let format = format::by_name("vox").unwrap();
    let (bytes, _) = saved(&voxels, format, Dtype::U8);
    let from = b"\"dims\":[1000,1000,1],\"origin\"";
    let to = format!("\"dims\":[{far},{far},1],\"o\"");
    let at = bytes
        .windows(from.len())
        .position(|window| window == from)
        .expect("is there");
    let mut bytes = bytes;
    bytes[at..at + from.len()].fill(b' ');
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    assert_eq!(
        read(&bytes, format, None).unwrap_err().kind(),
        voxelize::Kind::TooLarge
    );
}

/// Regression: messages quoted a whole header or attribute, with terminal control characters.
#[test]
fn messages_of_broken_files_are_short_and_harmless() {
    let odd = format!("'\x1b[2J\n{}'", "x".repeat(5000));
    let dict = "{'descr': '|b1', 'fortran_order': True, 'shape': (3, 4, 2), }\n";
    let mut cases = 0;
    for (from, to) in [
        ("'|b1'", odd.as_str()),
        ("True", &odd),
        ("(3, 4, 2)", &odd),
        ("(3, 4, 2)", &format!("({}2)", "1, ".repeat(5000))),
    ] {
        let dict = dict.replace(from, to);
        let file = [
            b"\x93NUMPY\x01\x00",
            &(dict.len() as u16).to_le_bytes()[..],
            dict.as_bytes(),
        ]
        .concat();
        let error = read(&file, format::by_name("npy").unwrap(), None).unwrap_err();
        check_message(&error);
        cases += 1;
    }
    for (key, value) in [("origin", "0/1"), ("spacing", "1/10")] {
        let sidecar = format!(
            r#"{{"dims":[3,4,2],"dtype":"u8","closed":[true,true,true],"origin":["0/1","0/1","0/1"],"spacing":["1/10","1/10","1/10"],"{key}":["{value}","{value}","\u001b[2J{}"]}}"#,
            "7".repeat(3000)
        );
        let error = read(&[0; 24], format::by_name("raw").unwrap(), Some(&sidecar)).unwrap_err();
        check_message(&error);
        cases += 1;
    }
    assert_eq!(cases, 6);
}

fn check_message(error: &voxelize::Error) {
    let message = error.message();
    assert!(
        message.len() < 200 && !message.contains(char::is_control),
        "{message}"
    );
}

#[test]
fn unknown_files_are_specific_errors() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content, code) in [
        ("a.vox", "solid x", "V001"),
        ("a.stl", "solid x", "V001"),
        ("a.npy", "", "V001"),
        ("a.raw", "x", "V006"),
        ("gone.vox", "", "V010"),
    ] {
        let path = folder.path().join(name);
        if code != "V010" {
            std::fs::write(&path, content).unwrap();
        }
        let error = Voxels::open(&path).unwrap_err();
        assert_eq!(error.code().name(), code, "{error}");
        assert!(error.to_string().contains(name), "{error}");
        assert!(!voxelize::tool::made_by_this_tool(&path));
    }
}
