//! The `voxelize` program: its command line and its output.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Returns the command that voxelizes a mesh to one bit per cell at `output`, with summary and digests as
/// JSON.
pub fn voxelize(mesh: &Path, res: usize, threads: usize, output: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxelize"));
    command
        .arg(mesh)
        .args(["--res", &res.to_string(), "--threads", &threads.to_string()]);
    command
        .args(["--format", "raw", "--dtype", "bit", "--json", "--output"])
        .arg(output);
    command
}

/// Content of the JSON of a run.
pub struct Answer {
    pub triangles: u64,
    pub dims: [usize; 3],
    pub occupied: u64,
    /// Digest of the cells.
    pub digest: String,
    /// Number of written bytes.
    pub written: u64,
}

impl Answer {
    /// Parses the output of a successful run.
    pub fn of(json: &str) -> Self {
        let json: Value = serde_json::from_str(json).expect("the tool says JSON");
        let number = |value: &Value| {
            value
                .as_u64()
                .unwrap_or_else(|| panic!("{value} is no whole number"))
        };
        let outputs = json["outputs"].as_array().expect("it wrote something");
        Self {
            triangles: number(&json["mesh"]["triangles"]),
            dims: std::array::from_fn(|axis| number(&json["grid"]["dims"][axis]) as usize),
            occupied: number(&json["counts"]["occupied"]),
            digest: json["digest"]["cells"]
                .as_str()
                .expect("a digest")
                .to_string(),
            written: outputs.iter().map(|output| number(&output["bytes"])).sum(),
        }
    }
}

/// Returns the message of a failed run.
pub fn refusal(json: &str) -> String {
    let json: Value = serde_json::from_str(json).unwrap_or_default();
    json["error"]["message"]
        .as_str()
        .unwrap_or("no reason given")
        .to_string()
}
