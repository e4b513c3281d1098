//! Writes the odd and broken files of the tests to a folder, and prints a tab-separated line for each: its
//! file, its name, the results of this reader by default, strictly and leniently, and the result of stl_io.
//!
//! `cargo run --example wild -- FOLDER`

#[path = "../tests/support/wild/mod.rs"]
#[expect(dead_code, reason = "what is expected of them is for the tests")]
mod cases;

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::process::ExitCode;

use voxelize::mesh::read::{ReadOptions, Tolerance, read_file};

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: wild FOLDER");
        return 2.into();
    };
    let folder = Path::new(&folder);
    fs::create_dir_all(folder).expect("a folder to write to");
    for (n, case) in cases::all().iter().enumerate() {
        let name = format!("{n:02}.stl");
        let path = folder.join(&name);
        fs::write(&path, &case.bytes).expect("room for a file");
        let ours =
            [Tolerance::Usual, Tolerance::Strict, Tolerance::Lenient].map(|t| ours(&path, t));
        println!(
            "{name}\t{}\t{}\t{}",
            case.name,
            ours.join("\t"),
            theirs(&case.bytes)
        );
    }
    0.into()
}

/// Returns the number of triangles without dropped ones and the codes of findings, or the code of the error.
fn ours(path: &Path, tolerance: Tolerance) -> String {
    match read_file(path, &ReadOptions::default().tolerance(tolerance)) {
        Err(error) => format!("refused {}", error.code().name()),
        Ok(loaded) => {
            let mut text = loaded.mesh.triangles().len().to_string();
            for finding in &loaded.findings {
                text += " ";
                text += finding.code().name();
            }
            text
        }
    }
}

/// Returns the number of triangles until the end or an error. After an error the reader would never end.
fn theirs(bytes: &[u8]) -> String {
    let mut bytes = Cursor::new(bytes);
    let Ok(triangles) = stl_io::create_stl_reader(&mut bytes) else {
        return "refused".to_string();
    };
    let mut count = 0;
    for triangle in triangles {
        match triangle {
            Ok(_) => count += 1,
            Err(_) if count == 0 => return "refused".to_string(),
            Err(_) => return format!("refused after {count}"),
        }
    }
    count.to_string()
}
