//! Files before and after a fault.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use voxelize::Voxels;

use crate::support::place::Place;

/// File at the path of the output before the command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// File that the command must not touch.
    Older,
    Nothing,
}

/// Returns an array or a sidecar as this tool writes it, so that it may be replaced even if only a folder is
/// named.
fn older(name: &str) -> Vec<u8> {
    if name.ends_with(".json") {
        return br#"{"tool": "voxelize 0.1.0"}"#.to_vec();
    }
    let header = "{'descr': '|b1', 'fortran_order': True, 'shape': (1, 1, 1), }";
    [
        b"\x93NUMPY\x01\x00v\x00",
        format!("{header:<117}\n").as_bytes(),
        &[1],
    ]
    .concat()
}

const MODE: u32 = 0o604;

/// Writes the older files. `names` are outputs.
pub fn prepare(place: &Place, names: &[&str], before: Before) {
    for name in names {
        fs::create_dir_all(place.path(name).parent().unwrap()).unwrap();
        if before == Before::Nothing {
            continue;
        }
        place.write(name, older(name));
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(MODE)).unwrap();
    }
}

/// Returns all files by their paths.
pub fn files(place: &Place) -> Vec<String> {
    let root = place.path("");
    let mut folders = vec![place.path("")];
    let mut files = vec![];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(
                    path.strip_prefix(&root)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_string(),
                );
            }
        }
    }
    files.sort();
    files
}

/// Describes the remaining outputs and all other new files.
pub fn left(place: &Place, names: &[&str], before: &[String]) -> String {
    let named = |name: &&str| {
        let found = output(place, name)?;
        Some(if names.len() > 1 {
            format!("`{name}`: {found}")
        } else {
            found
        })
    };
    let mut found: Vec<String> = names.iter().filter_map(named).collect();
    let new = files(place)
        .into_iter()
        .filter(|file| !before.contains(file));
    for file in new.filter(|file| !names.contains(&file.as_str())) {
        let is_temporary = file.contains(".voxelize-") && file.ends_with(".tmp");
        found.push(if is_temporary {
            "a `.voxelize-….tmp`".to_string()
        } else {
            format!("`{file}`")
        });
    }
    if found.is_empty() {
        "nothing".to_string()
    } else {
        found.join(", ")
    }
}

fn output(place: &Place, name: &str) -> Option<String> {
    let path = place.path(name);
    let bytes = fs::read(&path).ok()?;
    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    Some(if bytes == older(name) && mode == MODE {
        "the older file".to_string()
    } else if Voxels::open(&path).is_ok() {
        "the new file, whole".to_string()
    } else if name.ends_with(".json") && bytes.ends_with(b"}\n") {
        "the JSON of the run".to_string()
    } else {
        format!("{} bytes of something in `{name}`", bytes.len())
    })
}
