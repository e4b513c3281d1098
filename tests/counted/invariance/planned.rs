//! Independence of results from the plan: slabs give the digests, counts and bytes of the whole grid.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;
use voxelize::format::{self, Dtype, FORMATS, Format, SaveOptions};
use voxelize::grid::{CellKind, CellSource, InMemory, MAX_DIM};
use voxelize::run::{Demand, Plan};
use voxelize::{Kind, Lattice, Level, Mesh, Progress, Rule, Run, Voxelizer};

use super::how::LONGEST;
use crate::support::meshes::{fixture, fixtures, mapped, rules_for};
use crate::support::solids::stl;
use crate::support::suite::Counts;

const THREADS: [usize; 3] = [1, 2, 7];

/// Layers of a brick.
const BRICK: usize = 8;

/// Returns every single-file format that is written in slabs, with every type for cells of this kind.
fn kinds(cells: CellKind) -> impl Iterator<Item = (&'static Format, Dtype)> {
    let dtypes = move |format: &'static Format| {
        if cells == CellKind::Bits {
            format.dtypes
        } else {
            format.dtypes_of(cells)
        }
    };
    let in_slabs = FORMATS
        .iter()
        .filter(|format| format.slab_layers < MAX_DIM && !format.is_folder());
    in_slabs.flat_map(move |format| dtypes(format).iter().map(move |dtype| (format, *dtype)))
}

/// Returns the bytes of a file of these cells.
fn file(layers: &mut dyn CellSource, format: &Format, dtype: Dtype) -> Vec<u8> {
    let mut bytes = vec![];
    let options = SaveOptions {
        dtype: Some(dtype),
        ..SaveOptions::default()
    };
    format::write_source_to(layers, &mut bytes, format, &options).expect("memory takes it");
    bytes
}

/// Number of compared files with their kinds. Formats and types alternate.
#[derive(Default)]
struct Compared {
    files: u64,
    kinds: BTreeSet<(&'static str, &'static str)>,
}

impl Compared {
    /// Compares slabs of `height` layers, from passes over the triangles and from bricks, with the whole, as
    /// files of a format for them.
    fn compare(
        &mut self,
        name: &str,
        mesh: &Mesh,
        lattice: &Lattice,
        what: Rule,
        heights: &[usize],
    ) {
        let voxelize::Voxelized {
            voxels: whole,
            stats,
            ..
        } = Voxelizer::new(what).run(mesh, lattice).expect("it fits");
        let levels = Level::available();
        for &height in heights {
            let slabs = lattice.dims()[2].div_ceil(height);
            if slabs < 3 {
                continue;
            }
            let takes = |(format, _): &(&Format, Dtype)| height.is_multiple_of(format.slab_layers);
            let mut kinds: Vec<_> = kinds(what.kind()).filter(takes).collect();
            // Formats of tiles are used only for slabs of that height.
            if kinds.iter().any(|(format, _)| format.slab_layers > BRICK) {
                kinds.retain(|(format, _)| format.slab_layers > BRICK);
            }
            let turn = self.files as usize;
            let (format, dtype) = kinds[turn % kinds.len()];
            let expected = file(&mut InMemory::new(&whole), format, dtype);
            let level = Some(levels[turn % levels.len()]);
            let run = Run::default().threads(THREADS[turn % 3]).level(level);
            let slabs_by = |plan| {
                Voxelizer::new(what)
                    .with_run(run)
                    .slabs(mesh, lattice, plan)
            };
            let passes = slabs_by(Plan::Slabs(height)).expect("it fits");
            let bricks = slabs_by(Plan::Bricks(height));
            let has_bricks = what.has_bricks() && height.is_multiple_of(BRICK);
            assert_eq!(bricks.is_ok(), has_bricks, "{height} layers of bricks");
            for mut made in [Some(passes), bricks.ok()].into_iter().flatten() {
                let name = format!(
                    "{name}, {} {}, {height} layers, {level:?}",
                    format.name,
                    dtype.name()
                );
                assert!(file(&mut made, format, dtype) == expected, "{name}: bytes");
                assert_eq!(made.digest(), whole.digest(), "{name}");
                let known = made.made();
                assert_eq!(
                    (known.slabs, known.occupied, known.stats),
                    (slabs, whole.count(), stats.clone()),
                    "{name}"
                );
                self.files += 1;
            }
            self.kinds.insert((format.name, dtype.name()));
        }
    }

    fn counts(self) -> Counts {
        vec![
            ("files from slabs", self.files),
            ("kinds of files", self.kinds.len() as u64),
        ]
    }
}

/// Every fixture, rule and ties, in slabs of one layer, of a few, and of a brick's height.
pub fn slabs_are_the_whole() -> Counts {
    let mut compared = Compared::default();
    for (name, mesh) in fixtures() {
        for longest in LONGEST {
            let lattice = Lattice::fit(mesh.bounds(), longest).expect("it fits");
            for what in rules_for(&mesh) {
                let name = format!("{name}, {longest}, {what:?}");
                // Rules with an inside are slow.
                let heights = if what.inside().is_some() {
                    &[8, 17][..]
                } else {
                    &[1, 3, 8, 17, 24]
                };
                compared.compare(&name, &mesh, &lattice, what, heights);
            }
        }
    }
    let all = [CellKind::Bits, CellKind::Field]
        .into_iter()
        .flat_map(kinds);
    let all: BTreeSet<_> = all
        .filter(|(format, _)| format.slab_layers <= BRICK)
        .map(|(f, d)| (f.name, d.name()))
        .collect();
    assert!(
        compared.kinds.is_superset(&all),
        "{:?} of {all:?}",
        compared.kinds
    );
    compared.counts()
}

/// Returns a mesh stretched along z, so that few cells form many layers.
fn tall(name: &str) -> (Mesh, Lattice) {
    let mesh = mapped(&fixture(name), |[x, y, z]| [x, y, 60.0 * z]);
    let lattice = Lattice::fit(mesh.bounds(), 700).expect("it fits");
    assert_eq!(lattice.dims()[2], 700);
    (mesh, lattice)
}

/// Grids with more layers than a tile of a .vox scene, which is written in slabs of that height.
pub fn slabs_of_tiles() -> Counts {
    let mut compared = Compared::default();
    let mut refused = 0;
    let scene = format::by_name("vox").expect("a format");
    for name in ["knot.stl", "octahedron.stl", "cube.stl"] {
        let (mesh, lattice) = tall(name);
        for height in [1, 100, 255, 257] {
            let mut slabs = Voxelizer::new(Rule::surface())
                .slabs(&mesh, &lattice, Plan::Slabs(height))
                .expect("it fits");
            let result =
                format::write_source_to(&mut slabs, &mut vec![], scene, &SaveOptions::default());
            assert_eq!(
                result.expect_err("half tiles").kind(),
                Kind::Usage,
                "{name}, {height}"
            );
            refused += 1;
        }
        for what in rules_for(&mesh) {
            compared.compare(
                &format!("tall {name}, {what:?}"),
                &mesh,
                &lattice,
                what,
                &[256, 100, 104],
            );
        }
    }
    let tiled = kinds(CellKind::Bits).filter(|(format, _)| format.slab_layers > BRICK);
    tiled.for_each(|(f, d)| {
        assert!(
            compared.kinds.contains(&(f.name, d.name())),
            "{} {}",
            f.name,
            d.name()
        )
    });
    let mut counts = compared.counts();
    counts.push(("refused", refused));
    counts
}

/// A limit selects the plan, and slabs above it are refused.
pub fn a_limit_chooses_the_plan() -> Counts {
    let mut slabs = 0;
    let mut refused = 0;
    for (name, mesh) in fixtures() {
        let lattice = Lattice::fit(mesh.bounds(), 90).expect("it fits");
        let demand = Demand::new(&mesh, &lattice, &Run::default());
        let least = demand.least(1);
        let all = demand.bytes(Plan::Dense);
        assert_eq!(demand.fit(all, 1), Some(Plan::Dense), "{name}");
        assert_eq!(demand.fit(least - 1, 1), None, "{name}");
        let Some(Plan::Slabs(height)) = demand.fit(least + (all - least) / 4, 1) else {
            continue;
        };
        let need = u64::try_from(demand.bytes(Plan::Slabs(height))).expect("small");
        let with = |limit| {
            let run = Run::default().memory(limit);
            Voxelizer::new(Rule::surface())
                .with_run(run)
                .slabs(&mesh, &lattice, Plan::Slabs(height))
                .map(|slabs| slabs.count())
        };
        assert!(with(need).expect(&name) >= 3, "{name}");
        assert_eq!(
            with(need - 1).expect_err(&name).kind(),
            Kind::TooLarge,
            "{name}"
        );
        (slabs, refused) = (slabs + 1, refused + 1);
    }
    vec![("plans in slabs", slabs), ("refused", refused)]
}

/// Cancels at a given number of polls.
struct StopAt(AtomicU32);

impl Progress for StopAt {
    fn cancelled(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) == 1
    }
}

/// Cancelled slabs leave no file, at any point of cancellation.
pub fn cancelled_slabs_leave_nothing() -> Counts {
    let dir = tempfile::tempdir().expect("a folder");
    let (mesh, lattice) = tall("octahedron.stl");
    let mut stopped = 0;
    for (format, path) in FORMATS
        .iter()
        .map(|format| (format, dir.path().join(format.name)))
    {
        for at in [1, 2, 5, 20] {
            let stop = StopAt(at.into());
            let run = Run::default().progress(&stop);
            let mut slabs = Voxelizer::new(Rule::surface())
                .with_run(run)
                .slabs(&mesh, &lattice, Plan::Slabs(256))
                .expect("it fits");
            let options = SaveOptions {
                progress: &stop,
                ..SaveOptions::default()
            };
            let error =
                format::save_source(&mut slabs, &path, format, &options).expect_err(format.name);
            assert_eq!(error.kind(), Kind::Interrupted, "{}, {at}", format.name);
            assert_eq!(
                dir.path().read_dir().expect("a folder").count(),
                0,
                "{}, {at}",
                format.name
            );
            stopped += 1;
        }
    }
    vec![("stopped", stopped)]
}

/// The tool under `--max-memory`: the same files and sidecars, and the same JSON except for the plan.
pub fn the_program_in_slabs() -> Counts {
    let dir = tempfile::tempdir().expect("a folder");
    let mut files = 0;
    let mut piped = 0;
    for name in ["knot.stl", "cube.stl"] {
        let (mesh, lattice) = tall(name);
        std::fs::write(dir.path().join("mesh.stl"), stl(mesh.triangles()))
            .expect("room on the disk");
        let demand = Demand::new(&mesh, &lattice, &Run::default().threads(1));
        for (format, dtype) in kinds(CellKind::Bits) {
            let options = format!("-r 700 -j 1 -f {} --dtype {}", format.name, dtype.name());
            let run = |output: &str, more: &str| {
                let more = format!("--sidecar --json {more} -o {output}");
                json(dir.path(), &format!("{options} {more}"))
            };
            let whole = run("whole", "");
            // The whole grid plus the memory of the writer. The program uses 16.75 MiB, and 64 KiB per
            // thread.
            let dense = run("whole", "-n")["estimate"]["memory_bytes"]
                .as_u64()
                .expect("bytes");
            let saved = demand.bytes(Plan::Dense) - demand.bytes(Plan::Slabs(256));
            let limit = (u128::from(dense) - saved + (67 << 18) + (64 << 10)).to_string();
            let slabs = run("slabs", &format!("--max-memory {limit}"));
            let planned = run("slabs", &format!("--max-memory {limit} -n"));
            assert!(
                planned["estimate"]["slabs"].as_u64().expect("slabs") >= 3,
                "{planned}"
            );
            assert_eq!(
                (&whole["run"]["plan"], &slabs["run"]["plan"]),
                (&"dense".into(), &"slabs".into())
            );
            for key in SAME {
                assert_eq!(whole[key], slabs[key], "{name}, {}: {key}", format.name);
            }
            let of = |file: &str| std::fs::read(dir.path().join(file)).expect("it was written");
            assert!(
                of("whole") == of("slabs"),
                "{name}, {} {}",
                format.name,
                dtype.name()
            );
            assert!(
                of("whole.json") == of("slabs.json"),
                "{name}, {}: sidecar",
                format.name
            );
            files += 1;
            let piped_line = format!("{options} --max-memory {limit} -q -o -");
            let out = tool(dir.path(), &piped_line)
                .output()
                .expect("the tool starts");
            assert!(
                out.stdout == of("whole"),
                "{name}, {} in a pipe",
                format.name
            );
            piped += 1;
        }
    }
    vec![("files from slabs", files), ("pipes", piped)]
}

/// The tool on a grid so large that it is kept in bricks: the digests of the whole, and the files written
/// under a limit from slabs and from bricks that were counted first.
pub fn the_program_in_bricks() -> Counts {
    let dir = tempfile::tempdir().expect("a folder");
    let mesh = fixture("knot.stl");
    let lattice = Lattice::fit(mesh.bounds(), 1100).expect("it fits");
    let voxelize::Voxelized { voxels: whole, .. } = Voxelizer::new(Rule::surface())
        .run(&mesh, &lattice)
        .expect("it fits");
    std::fs::write(dir.path().join("mesh.stl"), stl(mesh.triangles())).expect("room on the disk");
    let mut files = 0;
    for (format, dtype, limits) in [
        ("raw", "u8", ["44M", "64M"]),
        ("raw", "bit", ["44M", "64M"]),
        ("npz", "bool", ["44M", "64M"]),
        ("vox", "u8", ["68M", "400M"]),
    ] {
        let run = |output: &str, more: &str| {
            let options = format!("-r 1100 -f {format} --dtype {dtype} --json -j 2");
            json(dir.path(), &format!("{options} {more} -o {output}"))
        };
        let bricks = run("bricks", "");
        let [slabs, counted] = [("slabs", limits[0]), ("counted", limits[1])]
            .map(|(name, limit)| run(name, &format!("--max-memory {limit}")));
        let plans = [&bricks, &slabs, &counted].map(|one: &Value| one["run"]["plan"].clone());
        assert_eq!(plans, ["bricks", "slabs", "bricks"], "{format}");
        assert_eq!(
            bricks["digest"]["cells"],
            whole.digest().cells.to_string().as_str(),
            "{format}"
        );
        assert_eq!(bricks["counts"]["occupied"], whole.count(), "{format}");
        for key in SAME {
            assert_eq!(bricks[key], slabs[key], "{format}: {key}");
            assert_eq!(bricks[key], counted[key], "{format}: {key}");
        }
        let of = |file: &str| std::fs::read(dir.path().join(file)).expect("it was written");
        assert!(of("bricks") == of("slabs"), "{format}");
        assert!(of("bricks") == of("counted"), "{format}");
        files += 1;
    }
    vec![("files from bricks", files)]
}

/// Keys of the report that do not depend on the plan.
const SAME: [&str; 8] = [
    "mesh", "grid", "rule", "snap", "counts", "volume", "digest", "warnings",
];

fn tool(dir: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxelize"));
    command
        .current_dir(dir)
        .arg("mesh.stl")
        .args(line.split_whitespace());
    command
}

/// Runs the tool and returns its output.
fn json(dir: &Path, line: &str) -> Value {
    let out = tool(dir, line).output().expect("the tool starts");
    let [stdout, stderr] = [&out.stdout, &out.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(out.status.success(), "{line}: {stderr}\n{stdout}");
    serde_json::from_str(&stdout).expect("JSON")
}
