//! Memory limits: a command never uses more memory than its limit, and its peak is near the prediction.
//!
//! The peak is the kernel's measurement of the child. A child starts with the peak of the process that starts
//! it, so a small process is started in between: this binary again. `VOXELIZE_MEMORY=1` runs every
//! combination and prints the table.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use voxelize::geom::Triangle;
use wait4::Wait4;

use crate::support::meshes::fixture;
use crate::support::place::binary;
use crate::support::random::Random;
use crate::support::solids::{between, stl};
use crate::support::suite::{Counts, Suite};

pub const SUITE: Suite = Suite::of(
    "memory",
    &[
        ("no_run_takes_more_than_its_limit", runs),
        ("no_command_takes_more_than_its_limit", commands),
        ("no_limit_changes_a_cell", equal_cells),
        ("large_grids_in_slabs_stay_within_their_limits", large_grids),
        ("a_region_of_bins_takes_its_slab_and_little_more", bins),
        ("a_generous_limit_takes_the_plan_of_no_limit", generous),
    ],
);

/// First argument of the intermediate process.
const MEASURE: &str = "--measure-the-memory-of";

/// Outcome of a command.
struct Measured {
    code: i32,
    /// Peak memory in bytes.
    peak: u64,
    out: String,
    err: String,
}

impl Measured {
    /// Describes a peak above a limit.
    fn above(&self, limit: u64, line: &str) -> Option<String> {
        let mib = self.peak as f64 / f64::from(1 << 20);
        (self.peak > limit).then(|| format!("{mib} MiB: {line}"))
    }

    /// Returns the JSON on standard output. The command must have succeeded.
    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.err);
        serde_json::from_str(&self.out).expect("JSON")
    }
}

/// Runs the command after [`MEASURE`], prints its peak after its output, and ends with its exit code.
pub fn measured_here() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_none_or(|word| word != MEASURE) {
        return None;
    }
    let child = Command::new(words.next().expect("a command"))
        .args(words)
        .spawn()
        .expect("it starts");
    let used = { child }.wait4().expect("it ends");
    println!("\n{}", used.rusage.maxrss);
    Some(ExitCode::from(used.status.code().unwrap_or(99) as u8))
}

fn measure(folder: &Path, line: &str) -> Measured {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command
        .arg(MEASURE)
        .arg(binary())
        .args(line.split_whitespace())
        .current_dir(folder);
    // Outside of CI, because goldens are not recorded there.
    let output = command
        .env_remove("CI")
        .stdin(Stdio::null())
        .output()
        .expect("it starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let (out, peak) = text
        .trim_end()
        .rsplit_once('\n')
        .expect("the peak is the last line");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code().expect("it ends");
    Measured {
        code,
        peak: peak.parse().expect("bytes"),
        out: out.to_string(),
        err,
    }
}

/// Reports whether all combinations are run and printed.
fn is_full() -> bool {
    std::env::var_os("VOXELIZE_MEMORY").is_some()
}

const RULES: [&str; 16] = [
    "--surface",
    "--rule thin",
    "--rule offset --radius 2vx",
    "--solid",
    "--filled",
    "--solid --keep-thin",
    "--filled --hollow 2",
    "--solid --inside flood",
    "--solid --inside vote",
    "--solid --inside robust",
    "--rule distance",
    "--rule distance --signed",
    "--rule distance --nearest n.npy",
    "--rule fraction --inside robust",
    "--solid --doubt d.npz",
    "--filled --inside flood --leak l.npz",
];

const FORMATS: [&str; 5] = ["npz", "vox", "raw", "npy", "zarr"];

const THREADS: [usize; 4] = [1, 7, 2, 16];

/// Memory limits in MiB.
const LIMITS: [u64; 3] = [22, 36, 90];

/// Creates a surface with thin and thick parts, a plate with large triangles, a soup of arbitrary triangles,
/// boxes within boxes, and triangles that touch no others.
fn place() -> TempDir {
    let place = tempfile::tempdir().expect("a folder");
    let write = |name: &str, triangles: &[Triangle]| {
        std::fs::write(place.path().join(name), stl(triangles)).expect("room on the disk");
    };
    write("surface.stl", fixture("knot.stl").triangles());
    write("plate.stl", &between([0.0; 3], [100.0, 83.0, 7.0]));
    let mut random = Random(7);
    let mut coordinate = || random.below(1 << 20) as f32 / 1e4;
    let soup: Vec<Triangle> = (0..1500)
        .map(|_| {
            let at = [coordinate(), coordinate(), coordinate()];
            [(); 3].map(|()| at.map(|c| c + coordinate() / 40.0))
        })
        .collect();
    write("soup.stl", &soup);
    let nested = (1..=4000)
        .map(|n| n as f32)
        .flat_map(|n| between([-n; 3], [n; 3]));
    write("nested.stl", &nested.collect::<Vec<_>>());
    let loose = (0..58_000).map(|n| [n % 200, n / 200].map(|n| n as f32));
    let loose = loose.map(|[x, y]| [[x, y, 0.0], [x + 0.5, y, 0.0], [x, y + 0.5, 0.0]]);
    write("loose.stl", &loose.collect::<Vec<_>>());
    place
}

fn runs() -> Counts {
    let place = place();
    let mut kept = 0;
    let mut refused = 0;
    let mut wrong = vec![];
    let mut number = 0_usize;
    let mut predicted = 0;
    for mesh in ["surface", "plate", "soup"] {
        for rule in RULES {
            for limit in LIMITS {
                number += 1;
                let some = [(FORMATS[number % 5], THREADS[number / 5 % 4])];
                let all = FORMATS
                    .iter()
                    .flat_map(|format| THREADS.map(|threads| (*format, threads)));
                let mut chosen = if is_full() {
                    all.collect()
                } else {
                    some.to_vec()
                };
                // Many threads within little memory: each allocates and frees lists.
                if (mesh, rule, limit) == ("soup", "--filled", LIMITS[0]) {
                    chosen.push(("raw", 16));
                }
                for (format, threads) in chosen {
                    let field = rule.contains("distance") || rule.contains("fraction");
                    let resolution = [[300, 500, 300], [110, 150, 110]][usize::from(field)]
                        [usize::from(mesh == "plate")];
                    let line = format!(
                        "{mesh}.stl -r {resolution} {rule} -j {threads} --max-memory {limit}M -o out.{format} --json"
                    );
                    let found = measure(place.path(), &line);
                    match found.code {
                        0 => kept += 1,
                        // .vox stores no fields, and some methods reject soups.
                        2 if field && format == "vox" => continue,
                        5 => refused += 1,
                        code => panic!("{line}: {code}, {}", found.err),
                    }
                    wrong.extend(found.above(limit << 20, &line));
                    if is_full() && found.code == 0 {
                        predicted += u64::from(show(place.path(), &line, &found));
                    }
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} over:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let mut counts = vec![("within the limit", kept), ("refused", refused)];
    if is_full() {
        counts.push(("predicted within a quarter", predicted));
    }
    counts
}

/// Prints a row of the table. Reports whether the prediction is within a quarter of the peak.
fn show(place: &Path, line: &str, found: &Measured) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let planned = json(&measure(place, &format!("{line} -n")).out);
    let plan = json(&found.out)["run"]["plan"]
        .as_str()
        .unwrap_or_default()
        .to_string();
    let mib = |bytes: &Value| bytes.as_u64().unwrap_or(0) as f64 / f64::from(1 << 20);
    let most = mib(&planned["estimate"]["memory_bytes"]);
    let expected = mib(&planned["estimate"]["peak_bytes"]);
    let peak = found.peak as f64 / f64::from(1 << 20);
    let ratio = expected / peak;
    println!(
        "{peak:6.1} MiB, {expected:6.1} predicted ({ratio:4.2}), job at most {most:6.1}, {plan:6}: {line}"
    );
    (0.75..=1.25).contains(&ratio)
}

/// Grids of which one slab, with the memory of a writer, needs a large part of the limit: 1024 cells on the
/// longest axis, and for all combinations a folder of 4096.
fn large_grids() -> Counts {
    let place = place();
    let mut kept = 0;
    let mut wrong = vec![];
    let mut cases = vec![
        ("zarr", 1024, 40),
        ("vti", 1024, 40),
        ("nii.gz", 1024, 48),
        ("vdb", 1024, 48),
        ("vtu", 1024, 90),
        ("slices", 1024, 40),
    ];
    if is_full() {
        cases.push(("zarr", 4096, 512));
    }
    for (format, cells, limit) in cases {
        let line =
            format!("surface.stl -r {cells} -j 2 --max-memory {limit}M -o large.{format} --json");
        let found = measure(place.path(), &line);
        assert_eq!(found.json()["run"]["plan"], "slabs", "{line}");
        wrong.extend(found.above(limit << 20, &line));
        if is_full() && !show(place.path(), &line, &found) && format == "zarr" {
            wrong.push(format!("not as predicted: {line}"));
        }
        kept += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    vec![("within the limit", kept)]
}

/// A process that computes regions from bins needs a slab and 64 MiB, although the mesh itself is larger; and
/// the numbers of the plan.
fn bins() -> Counts {
    let place = tempfile::tempdir().expect("a folder");
    // A tower of crumbs with the same number in every layer.
    let (count, most) = if is_full() {
        (14_000_000_u64, 64)
    } else {
        (2_800_000, 16)
    };
    let layers = 1400;
    let each = count / layers;
    let steps = (0..count).map(|n| [n % each, n * 7 % each, n / each]);
    let triangle = |[x, y, z]: [u64; 3]| {
        let [x, y] = [x, y].map(|n| 400.0 * n as f32 / each as f32);
        [
            [x, y, z as f32],
            [x + 0.25, y, z as f32],
            [x, y + 0.25, z as f32 + 0.5],
        ]
    };
    let triangles: Vec<Triangle> = steps.map(triangle).collect();
    std::fs::write(place.path().join("tower.stl"), stl(&triangles)).expect("room on the disk");
    drop(triangles);
    let run = |line: &str| {
        let found = measure(place.path(), line);
        (found.json(), found.peak)
    };
    let mesh = count * size_of::<Triangle>() as u64;
    let mut counts = vec![];
    for (rule, name) in [
        ("--surface", "surface"),
        ("--rule offset --radius 2vx", "offset"),
    ] {
        let plan =
            format!("plan tower.stl -r 1400 {rule} -j 2 -o {name}.zarr --regions {most} --json");
        let (report, _) = run(&format!("{plan} --bin --max-memory 96M"));
        let predicted = report["memory"]["region_bytes"].as_u64().expect("bytes");
        let number = |at: &str| {
            report
                .pointer(at)
                .and_then(Value::as_u64)
                .expect("a number")
        };
        let cells = number("/grid/dims/0") * number("/grid/dims/1");
        let slab = cells * number("/regions/shard_layers") / 8;
        let bound = slab + (64 << 20);
        let regions = &report["regions"]["count"].clone();
        let (report, peak) = run(&format!(
            "{name}.zarr --region 5/{regions} -j 2 --max-memory 96M --json"
        ));
        assert!(report["counts"]["occupied"].as_u64() > Some(0), "{rule}");
        assert!(
            peak <= bound && peak <= predicted,
            "{rule}: {peak} of {bound}, {predicted} predicted"
        );
        // With the whole mesh it needs more.
        let (_, whole) = run(&format!(
            "{name}.zarr --region 6/{regions} -j 2 --mesh tower.stl --json"
        ));
        assert!(
            whole > bound && whole > mesh && mesh > (64 << 20),
            "{rule}: {whole} of {bound}, the mesh {mesh}"
        );
        println!(
            "{rule}: {} MiB of a bin, {} of the mesh, slab {}",
            peak >> 20,
            whole >> 20,
            slab >> 20
        );
        counts.push((name, 1));
    }
    counts
}

/// Upper bound of the command's own memory in a release build, as part of the amount that limits reserve for
/// it.
const OWN: u64 = 25 << 19;

/// Returns the additional memory of this build of the command. A test build has larger code, and the amount
/// of it in memory depends on the system.
fn excess(folder: &Path) -> u64 {
    let cube = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/cube.stl");
    let small = (0..5).map(|_| measure(folder, &format!("{cube} -r 8 -j 1 -o small.raw")).peak);
    small.max().expect("five runs").saturating_sub(OWN)
}

/// A limit of eight times the memory of an unlimited job leads to the same plan. Half of that limit, and the
/// unlimited peak as a limit, are respected by any plan.
fn generous() -> Counts {
    let place = place();
    let excess = excess(place.path());
    let cases = [
        ("--surface", 1024),
        ("--rule thin", 1024),
        ("--rule offset --radius 2vx", 1024),
        ("--solid", 500),
        ("--filled", 500),
        ("--rule distance", 300),
    ];
    let names = ["bricks", "dense", "slabs"];
    let mut plans = [0; 3];
    let mut kept = 0;
    for (rule, cells) in cases {
        for threads in [1, 7] {
            let line = format!("surface.stl -r {cells} {rule} -j {threads} -o out.raw --json");
            let run = |more: &str| {
                let found = measure(place.path(), &format!("{line} {more}"));
                (found.code != 5).then(|| (found.json(), found.peak))
            };
            let (free, need) = run("").expect("it fits");
            let planned = run("-n").expect("it fits").0;
            let generous = format!("-n --max-memory {}", 8 * need);
            let limited = run(&generous).expect("it fits").0;
            assert_eq!(limited["run"], planned["run"], "{line}");
            let slabs = |report: &Value| report["estimate"]["slabs"].clone();
            assert_eq!(slabs(&limited), slabs(&planned), "{line}");
            let plan = limited["run"]["plan"].as_str().expect("a plan");
            let n = names.iter().position(|name| *name == plan);
            plans[n.expect("a known plan")] += 1;
            for limit in [4 * need, need] {
                let Some((within, peak)) = run(&format!("--max-memory {limit}")) else {
                    continue;
                };
                assert!(
                    peak <= limit + excess,
                    "{line}: {peak} of {limit} and {excess}"
                );
                assert_eq!(within["digest"], free["digest"], "{line} within {limit}");
                kept += 1;
            }
        }
    }
    let [bricks, dense, slabs] = plans;
    vec![
        ("in bricks", bricks),
        ("at once", dense),
        ("in slabs", slabs),
        ("within the limit", kept),
    ]
}

fn commands() -> Counts {
    let place = place();
    let zeros =
        |cells: u64| format!("surface.stl -r {cells} --rule distance --band all -o {cells}.npz -q");
    let setup = [
        zeros(160),
        zeros(60),
        "surface.stl -r 700 -o bits.npz -q".to_string(),
        "surface.stl -r 700 --dtype bit -o bits.raw -q".to_string(),
        "surface.stl -r 500 --filled -o filled.vox -q".to_string(),
        "verify --update list.toml surface.stl -r 400 -q".to_string(),
        "verify --update files.toml surface.stl -r 400 --golden cells -q".to_string(),
    ];
    for line in setup {
        let found = measure(place.path(), &line);
        assert_eq!(found.code, 0, "{line}: {}", found.err);
    }
    let lines = [
        "info 160.npz",
        "info bits.npz",
        "info bits.raw",
        "info filled.vox",
        "info soup.stl",
        "view 160.npz --slice z=3 -o p.png",
        "view bits.npz -o p.png --size 300x200",
        "view filled.vox --slice z=all -o layers/",
        "view surface.stl -r 300 -o p.png --size 300x200",
        "view soup.stl --mesh -o p.png --size 300x200",
        "diff 160.npz 160.npz",
        "diff bits.npz bits.raw",
        "diff bits.npz bits.npz -o d.vox",
        "diff filled.vox filled.vox -o p.png",
        "check surface.stl -r 200",
        "check surface.stl -r 500 --mark m.npz",
        "check surface.stl -r 300 --mark m.stl",
        "check soup.stl",
        "check loose.stl",
        "check loose.stl --json=j.json",
        "nested.stl -r 32 --solid --inside robust -o o.raw",
        "verify list.toml",
        "verify files.toml",
        "clearance soup.stl surface.stl",
        "clearance surface.stl surface.stl",
        "surface.stl --like bits.npz -o o.npz",
        "surface.stl soup.stl plate.stl -r 300 -o many/ -f raw",
    ];
    let excess = excess(place.path());
    let mut kept = 0;
    let mut refused = 0;
    let mut wrong = vec![];
    for line in lines {
        for limit in LIMITS {
            let chosen = if is_full() {
                &THREADS[..]
            } else {
                &THREADS[1..2]
            };
            for threads in chosen {
                let line = format!("{line} -j {threads} --max-memory {limit}M -q");
                let found = measure(place.path(), &line);
                match found.code {
                    0 => kept += 1,
                    5 => refused += 1,
                    code => panic!("{line}: {code}, {}{}", found.out, found.err),
                }
                wrong.extend(found.above((limit << 20) + excess, &line));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} over:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    vec![("within the limit", kept), ("refused", refused)]
}

fn equal_cells() -> Counts {
    let place = place();
    let mut same = 0;
    let mut slabs = 0;
    for rule in [
        "--solid --inside robust",
        "--solid",
        "--filled --inside robust",
    ] {
        let run = |more: &str| {
            let line = format!("soup.stl -r 200 {rule} -j 2 -o o.raw --json {more}");
            measure(place.path(), &line).json()
        };
        let whole = run("");
        for limit in [20, 22, 26, 40] {
            let limited = run(&format!("--max-memory {limit}M"));
            for key in ["digest", "counts", "snap"] {
                assert_eq!(limited[key], whole[key], "{rule}: {key} within {limit} MiB");
            }
            slabs += u64::from(limited["run"]["plan"] == "slabs");
            same += 1;
        }
    }
    vec![("equal results", same), ("in slabs", slabs)]
}
