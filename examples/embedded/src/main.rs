//! Voxelizes generated triangles in at most a minute, and prints the centres of the cells.

use std::thread;
use std::time::Duration;

use voxelize::{CancelToken, Fit, Inside, Mesh, Rule, Voxelizer};

fn main() -> voxelize::Result<()> {
    let corners = [[0.0; 3], [4.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 2.0]];
    let mesh = Mesh::from_indexed(&corners, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])?;
    let lattice = Fit::cell_size("0.25")?.pad(1).to(mesh.bounds())?;
    let rule = Rule::filled().with_inside(Inside::Robust)?.with_shell(1)?;

    let cancel = CancelToken::new();
    let watch = cancel.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_secs(60));
        watch.cancel();
    });
    let result = Voxelizer::new(rule)
        .threads(2)
        .cancel(&cancel)
        .run(&mesh, &lattice)?;
    for finding in &result.findings {
        eprintln!("{finding}");
    }
    for cell in result.voxels.occupied()?.iter() {
        println!("{cell:?} {:?}", lattice.centre(cell));
    }
    Ok(())
}
