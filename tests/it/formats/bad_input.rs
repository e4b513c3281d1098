//! Bad files produce errors with a place. They never cause a panic or an allocation for a size that only a
//! header claims.

use super::*;

#[test]
fn files_that_are_cut_lengthened_or_changed_are_errors_within_the_file() {
    let [mut cuts, mut changes, mut errors] = [0; 3];
    for (format, dtype) in kinds() {
        let (mut bytes, sidecar) = saved(&at_odd_place(f_grid()), format, dtype);
        for cut in 0..bytes.len() {
            let error = read(&bytes[..cut], format, sidecar.as_deref()).expect_err(format.name);
            assert_eq!(error.kind(), Kind::Input, "{format:?} at {cut}: {error}");
            assert!(error.code().name().starts_with('V'), "{error}");
            let is_within = error.byte().is_none_or(|byte| byte <= cut as u64);
            assert!(is_within, "{format:?} at {cut}: {error}");
            cuts += 1;
        }
        for at in 0..bytes.len() {
            for change in [1, 0x10, 0x80, 0xff] {
                bytes[at] ^= change;
                if let Err(error) = read(&bytes, format, sidecar.as_deref()) {
                    let is_within = error.byte().is_none_or(|byte| byte <= bytes.len() as u64);
                    assert!(is_within, "{format:?}, {} bytes: {error}", bytes.len());
                    errors += 1;
                }
                bytes[at] ^= change;
                changes += 1;
            }
        }
        bytes.push(0);
        let is_refused = read(&bytes, format, sidecar.as_deref()).is_err();
        assert!(is_refused || format.name == "npz", "{format:?}");
    }
    assert!(cuts > 5000 && changes > 20_000, "{cuts} {changes}");
    assert!(errors > changes / 4, "{errors} of {changes}");
}

#[test]
fn sidecars_cut_at_any_length_are_errors() {
    let (bytes, sidecar) = saved(&at_odd_place(f_grid()), named("raw"), Dtype::Bit);
    let sidecar = sidecar.unwrap();
    for cut in (0..sidecar.trim_end().len()).filter(|cut| sidecar.is_char_boundary(*cut)) {
        let found = read(&bytes, named("raw"), Some(&sidecar[..cut]));
        check_error(found, "V007", cut);
    }
}

/// Returns an array with this header and a number of empty cells.
fn npy(descr: &str, fortran_order: &str, shape: &str, cells: usize) -> Vec<u8> {
    let dict =
        format!("{{'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n");
    let length = (dict.len() as u16).to_le_bytes();
    let data = vec![0; cells];
    [b"\x93NUMPY\x01\x00", &length[..], dict.as_bytes(), &data].concat()
}

#[test]
fn sizes_that_arrays_only_claim_are_errors() {
    for [code, descr, shape] in table(
        "
        V002 |b1 (1000000, 1000000, 1000000)
        V002 |b1 (18446744073709551615, 18446744073709551615, 18446744073709551615)
        V002 |b1 (4, 4, 2)
        V005 |b1 (3, 4, 1)
        V004 |b1 (3, 0, 2)
        V004 |b1 (24,)
        V004 |b1 ()
        V004 |b1 (3, 4)
        V004 |b1 (3, 4, 2, 1)
        V003 |b1 3
        V002 <f4 (999999, 999999, 999999)
        V004 >f4 (1, 2, 3)",
    ) {
        let file = npy(&format!("'{descr}'"), "True", shape, 24);
        check_error(read(&file, named("npy"), None), code, shape);
    }
}

#[test]
fn sizes_that_sidecars_only_claim_are_errors() {
    for [code, dtype, dims] in table(
        "
        V005 u8 [1000000,1000000,1000000]
        V005 bit [18446744073709551615,18446744073709551615,64]
        V005 u8 [3,4,3]
        V007 u8 [0,4,3]
        V007 f64 [3,4,2]
        V005 f32 [3,4,2]",
    ) {
        let sidecar = format!(r#"{{"dims":{dims},"dtype":"{dtype}"}}"#);
        check_error(read(&[0; 24], named("raw"), Some(&sidecar)), code, dims);
    }
    let enough = r#"{"dims":[3,4,2],"dtype":"u8"}"#;
    let found = read(&[0; 24], named("raw"), Some(enough)).unwrap();
    assert_eq!(found.dims(), [3, 4, 2]);
}

/// Reads a scene after replacing part of its bytes.
fn changed_scene(dims: [usize; 3], from: &[u8], to: &[u8]) -> Result<Voxels> {
    assert_eq!(from.len(), to.len());
    let bits = if dims == [3, 4, 2] {
        f_grid()
    } else {
        BitGrid::new(dims).unwrap()
    };
    let (mut bytes, _) = saved(&at_odd_place(bits), named("vox"), Dtype::U8);
    let mut windows = bytes.windows(from.len());
    let at = windows.position(|window| window == from).expect("is there");
    bytes[at..at + to.len()].copy_from_slice(to);
    read(&bytes, named("vox"), None)
}

#[test]
fn lying_scenes_are_errors() {
    const SMALL: [usize; 3] = [3, 4, 2];
    for (dims, from, to, code) in [
        (
            SMALL,
            "\x24\0\0\0\0\0\0\0\x08\0\0\0",
            &b"\x24\0\0\0\0\0\0\0\xff\xff\xff\x3f"[..],
            "V003",
        ),
        (SMALL, "XYZI\x24\0\0\0", b"XYZI\xff\xff\xff\xff", "V002"),
        (
            SMALL,
            "SIZE\x0c\0\0\0\0\0\0\0\x04",
            b"SIZE\x0c\0\0\0\0\0\0\0\x02",
            "V009",
        ),
        (SMALL, "\"dims\":[3,4,2]", b"\"dims\":[1,1,1]", "V009"),
        (SMALL, "\"dims\":[3,4,2]", b"\"dims\":[3,4,-]", "V007"),
        (SMALL, "nGRP", b"nGRX", "V008"),
        (SMALL, "1 0 1", b"1 x 1", "V008"),
        // A grid out of proportion to the scene.
        (
            [1000, 1000, 1],
            "\"dims\":[1000,1000,1],\"origin\"",
            b"\"dims\":[999999,999999,1], \"o\"",
            "too-large",
        ),
    ] {
        check_error(changed_scene(dims, from.as_bytes(), to), code, from);
    }
}

/// Regression: messages quoted a whole header or attribute, with terminal control characters.
#[test]
fn messages_of_broken_files_are_short_and_harmless() {
    let odd = format!("'\x1b[2J\n{}'", "x".repeat(5000));
    let long = format!("({}2)", "1, ".repeat(5000));
    let sidecar = |key: &str, value: &str| {
        let sevens = "7".repeat(3000);
        let sidecar = format!(
            r#"{{"dims":[3,4,2],"dtype":"u8","closed":[true,true,true],"origin":["0/1","0/1","0/1"],"spacing":["1/10","1/10","1/10"],"{key}":["{value}","{value}","\u001b[2J{sevens}"]}}"#
        );
        read(&[0; 24], named("raw"), Some(&sidecar))
    };
    let array = |descr, order, shape| read(&npy(descr, order, shape, 0), named("npy"), None);
    for found in [
        array(&odd, "True", "(3, 4, 2)"),
        array("'|b1'", &odd, "(3, 4, 2)"),
        array("'|b1'", "True", &odd),
        array("'|b1'", "True", &long),
        sidecar("origin", "0/1"),
        sidecar("spacing", "1/10"),
    ] {
        let error = found.unwrap_err();
        let message = error.message();
        let is_harmless = message.len() < 200 && !message.contains(char::is_control);
        assert!(is_harmless, "{message}");
    }
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
            fs::write(&path, content).unwrap();
        }
        let error = Voxels::open(&path).unwrap_err();
        assert_eq!(error.code().name(), code, "{error}");
        assert!(error.to_string().contains(name), "{error}");
        assert!(!voxelize::tool::made_by_this_tool(&path));
    }
}
