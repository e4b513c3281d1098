//! `voxelize verify` detects and reports every difference. The tests cover lists of goldens, recording,
//! reports, and every misuse.

mod misuse;
mod pictures;
mod recording;
mod reports;
mod single;
mod story;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Separate folder for a test, with meshes to verify.
struct Place {
    folder: TempDir,
}

impl Place {
    /// Creates a folder with `meshes/cube.stl`, `meshes/knot.stl` and `meshes/f.stl`.
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(place.path("meshes")).unwrap();
        for mesh in ["cube.stl", "knot.stl", "f.stl"] {
            place.bring(mesh, &format!("meshes/{mesh}"));
        }
        place
    }

    /// Adds a list: the cube by its digest, the F and the knot by files.
    fn recorded() -> Self {
        let place = Self::new();
        place
            .run("--update goldens.toml meshes/cube.stl -r 16 --pad 1")
            .expect(0);
        place
            .run("--update goldens.toml meshes/f.stl --res 20 --golden cells")
            .expect(0);
        place
            .run("--update goldens.toml meshes/knot.stl --res 40 --golden cells")
            .expect(0);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Copies a fixture.
    fn bring(&self, fixture: &str, to: &str) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures")
            .join(fixture);
        fs::copy(from, self.path(to)).unwrap();
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn read_bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Moves one vertex of the knot inwards by half a cell of 40.
    fn dent_knot(&self) {
        let from = 34.081_3;
        let y = 0.888_183_6;
        let z = -1.908_203_1;
        self.move_vertex(
            "meshes/knot.stl",
            [from, y, z],
            [from - 65.67 / 40.0 / 2.0, y, z],
        );
    }

    /// Moves vertices of a binary STL from `from` to `to`.
    fn move_vertex(&self, mesh: &str, from: [f32; 3], to: [f32; 3]) {
        let bytes = |point: [f32; 3]| point.map(f32::to_le_bytes).concat();
        let mut mesh_bytes = fs::read(self.path(mesh)).unwrap();
        let from = bytes(from);
        let to = bytes(to);
        let mut moved = 0;
        for triangle in mesh_bytes[84..].chunks_mut(50) {
            for vertex in triangle[12..48]
                .chunks_mut(12)
                .filter(|vertex| **vertex == from)
            {
                vertex.copy_from_slice(&to);
                moved += 1;
            }
        }
        assert!(moved > 0, "{mesh} has no such vertex");
        self.write(mesh, mesh_bytes);
    }

    /// Runs with `--json` and returns the outcome of every case.
    #[track_caller]
    fn outcomes(&self, line: &str, code: i32) -> Vec<String> {
        self.run(&format!("{line} --json")).expect(code).outcomes()
    }

    /// Runs `voxelize verify` with these arguments, outside of CI.
    fn run(&self, line: &str) -> Run {
        self.run_as(line, None)
    }

    fn run_as(&self, line: &str, ci: Option<&str>) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_voxelize"));
        command
            .arg("verify")
            .args(line.split_whitespace())
            .env_remove("CI");
        if let Some(ci) = ci {
            command.env("CI", ci);
        }
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        Run::new(line, &command.output().unwrap())
    }

    /// Returns all files below `folder`, sorted.
    fn files(&self) -> Vec<String> {
        let mut folders = vec![self.folder.path().to_path_buf()];
        let mut files = vec![];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(
                        path.strip_prefix(self.folder.path())
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
}

/// Exit code and output of a command.
struct Run {
    line: String,
    code: Option<i32>,
    out: String,
    err: String,
}

impl Run {
    fn new(line: &str, output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let out = text(&output.stdout);
        let err = text(&output.stderr);
        Self {
            line: line.to_string(),
            code: output.status.code(),
            out,
            err,
        }
    }

    #[track_caller]
    fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "voxelize verify {}\n{}{}",
            self.line,
            self.out,
            self.err
        );
        self
    }

    /// Returns the objects of `--json`, one per case.
    #[track_caller]
    fn cases(&self) -> Vec<Value> {
        let parsed =
            |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        self.out.lines().map(parsed).collect()
    }

    /// Returns the outcome of every case in order: `same`, `cells`, `error`; for recordings `new`, `changed`,
    /// `again`.
    #[track_caller]
    fn outcomes(&self) -> Vec<String> {
        self.cases()
            .iter()
            .map(|case| case["outcome"].as_str().unwrap_or("none").to_string())
            .collect()
    }

    /// Returns the line of the table about `name`, with single blanks between its columns.
    #[track_caller]
    fn row(&self, name: &str) -> String {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut rows = self
            .out
            .lines()
            .filter(|line| !line.starts_with(' '))
            .map(words);
        let row = rows.find(|row| row.split(' ').nth(1) == Some(name));
        row.unwrap_or_else(|| panic!("no row for {name} in\n{}", self.out))
    }
}
