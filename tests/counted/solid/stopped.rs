//! Robust stops soon after cancellation and reports its progress.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use voxelize::geom::Triangle;
use voxelize::{Inside, Kind, Lattice, Mesh, Progress, Rule, Run, Voxelizer};

use crate::support::meshes::mesh_of;
use crate::support::random::Random;
use crate::support::suite::Counts;

/// Cancels after a number of polls and records the progress reports.
#[derive(Default)]
struct Recorder {
    stop_at: Option<u64>,
    looks: AtomicU64,
    /// Each phase, the number of polls at its start, its announced total and its actual total.
    phases: Mutex<Vec<(String, u64, u64, u64)>>,
}

impl Progress for Recorder {
    fn begin(&self, phase: &str, total: u64) {
        let look = self.looks.load(Ordering::Relaxed);
        self.phases
            .lock()
            .unwrap()
            .push((phase.to_string(), look, total, 0));
    }

    fn advance(&self, by: u64) {
        self.phases
            .lock()
            .unwrap()
            .last_mut()
            .expect("it has begun")
            .3 += by;
    }

    fn cancelled(&self) -> bool {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed) + 1;
        self.stop_at.is_some_and(|at| looks >= at)
    }
}

/// Returns isolated large triangles, and a torn sheet of many.
fn mesh() -> Mesh {
    let mut random = Random::new(63);
    let mut triangles: Vec<Triangle> = (0..200)
        .map(|_| [0; 3].map(|_| [0; 3].map(|_| random.whole(0, 4000) as f32 / 100.0)))
        .collect();
    let at = |i: i32, j: i32| [i as f32, j as f32, ((i * i + 3 * j) % 7) as f32];
    for (i, j) in (0..40)
        .flat_map(|i| (0..40).map(move |j| (i, j)))
        .filter(|(i, j)| (i * j) % 11 != 5)
    {
        triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
        triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
    }
    mesh_of(triangles)
}

/// Stops in each phase after about one poll.
pub fn soon() -> Counts {
    let mesh = mesh();
    let lattice = Lattice::fit(mesh.bounds(), 48).unwrap();
    let fill = |recorder: &Recorder, threads: usize| {
        let run = Run::default().threads(threads).progress(recorder);
        Voxelizer::new(Rule::solid().with_inside(Inside::Robust).unwrap())
            .with_run(run)
            .without_findings()
            .run(&mesh, &lattice)
            .map(|_| ())
    };
    let whole = Recorder::default();
    fill(&whole, 1).unwrap();
    let all = whole.looks.load(Ordering::Relaxed);
    let phases = whole.phases.into_inner().unwrap();
    assert!(all > 1000, "{all} looks");
    let names: Vec<&str> = phases.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["repair", "winding", "inside"]);
    for (name, _, total, done) in &phases {
        assert_eq!(total, done, "{name}");
    }
    let mut stopped = 0;
    let in_phases = phases.iter().flat_map(|(_, look, ..)| [look + 1, look + 3]);
    for at in in_phases.chain([all / 8, all / 2, all * 7 / 8]) {
        for threads in [1, 3] {
            let recorder = Recorder {
                stop_at: Some(at),
                ..Recorder::default()
            };
            assert_eq!(
                fill(&recorder, threads).unwrap_err().kind(),
                Kind::Interrupted
            );
            // Work that is distributed to threads polls once more for each piece.
            let looks = recorder.looks.into_inner();
            assert!(looks <= at + 600, "{looks} looks, cancelled at {at}");
            stopped += 1;
        }
    }
    vec![
        ("looks", all),
        ("phases", phases.len() as u64),
        ("stopped", stopped),
    ]
}
