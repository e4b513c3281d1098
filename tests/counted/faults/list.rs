//! Faults with the code that causes them.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::disk::{self, Before};
use crate::support::place::{Place, Triangle, binary, stl};
use crate::support::random::Random;

/// Fault.
pub struct Fault {
    pub what: &'static str,
    /// Outputs. Before the command, they are missing or older files.
    outputs: &'static [&'static str],
    /// Causes the fault and returns the exit code.
    happen: fn(&Place) -> i32,
}

/// Outcome of a fault.
pub struct Found {
    pub code: i32,
    pub left: String,
}

impl Fault {
    pub fn find(&self, before: Before) -> Found {
        let place = Place::new();
        disk::prepare(&place, self.outputs, before);
        let files = disk::files(&place);
        let code = (self.happen)(&place);
        Found {
            code,
            left: disk::left(&place, self.outputs, &files),
        }
    }
}

const fn fault(
    what: &'static str,
    outputs: &'static [&'static str],
    happen: fn(&Place) -> i32,
) -> Fault {
    Fault {
        what,
        outputs,
        happen,
    }
}

pub const FAULTS: &[Fault] = &[
    fault("none: the file is replaced", &["a.npy"], |place| {
        place.run("cube.stl -r 4 -o a.npy").code.unwrap()
    }),
    fault(
        "a file size limit, reached while writing",
        &["a.npy"],
        |place| limited(place, "cube.stl -r 64 -o a.npy", 16),
    ),
    fault(
        "a file size limit, with too large a sidecar",
        &["a.raw", "a.raw.json"],
        |place| limited(place, "cube.stl -r 4 -f raw --dtype bit -o a.raw", 0),
    ),
    fault(
        "a file size limit, with too large a grid of one of two meshes",
        &["out/cube.npy", "out/thirds.npy"],
        |place| {
            limited(
                place,
                "cube.stl thirds.stl --voxel-size 0.4 -o out -f npy",
                16,
            )
        },
    ),
    fault("a full device, `-o /dev/full`", &["a.npy"], |place| {
        let run = place.run("cube.stl -r 64 -o /dev/full -f npy");
        assert!(
            run.err.contains("/dev/full: cannot be written"),
            "{}",
            run.err
        );
        run.code.unwrap()
    }),
    fault(
        "a full device behind standard output",
        &["a.npy"],
        |place| {
            let mut command = place.command("cube.stl -r 4 -o - -f npy");
            let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
            command
                .stdout(full)
                .stderr(Stdio::null())
                .status()
                .unwrap()
                .code()
                .unwrap()
        },
    ),
    fault(
        "a folder that accepts no files, `-o /proc/a.npy`",
        &["a.npy"],
        |place| place.run("cube.stl -r 4 -o /proc/a.npy").code.unwrap(),
    ),
    fault("an output folder that is a file", &["a.npy"], |place| {
        place.run("cube.stl -r 4 -o thirds.stl/a.npy").code.unwrap()
    }),
    fault("more memory than allowed", &["a.npy"], |place| {
        place
            .run("cube.stl -r 60000 --max-memory 12M -o a.npy")
            .code
            .unwrap()
    }),
    fault(
        "SIGINT while reading a pipe that stalls",
        &["a.npy"],
        |place| reading(place, "INT"),
    ),
    fault(
        "SIGTERM while reading a pipe that stalls",
        &["a.npy"],
        |place| reading(place, "TERM"),
    ),
    fault(
        "SIGHUP while reading a pipe that stalls",
        &["a.npy"],
        |place| reading(place, "HUP"),
    ),
    fault("SIGTERM while standard input stalls", &["a.npy"], |place| {
        signalled(place, "- -r 4 -o a.npy", "TERM", |_| pause())
    }),
    fault(
        "SIGTERM while the list of meshes stalls",
        &["a.npy"],
        |place| {
            signalled(place, "--files-from - -r 4 -f npy -o .", "TERM", |_| {
                pause()
            })
        },
    ),
    fault("SIGINT while voxelizing", &["a.npz"], |place| {
        voxelizing(place, "INT")
    }),
    fault("SIGTERM while voxelizing", &["a.npz"], |place| {
        voxelizing(place, "TERM")
    }),
    fault("SIGINT while writing", &["a.vti"], |place| {
        writing(place, "INT")
    }),
    fault("SIGTERM while writing", &["a.vti"], |place| {
        writing(place, "TERM")
    }),
    fault("SIGTERM twice while writing", &["a.vti"], |place| {
        writing(place, "TERM TERM")
    }),
    fault("SIGHUP while writing", &["a.vti"], |place| {
        writing(place, "HUP")
    }),
    fault("SIGKILL while writing", &["a.vti"], |place| {
        writing(place, "KILL")
    }),
    fault(
        "SIGKILL while writing, and a later run to the same folder",
        &["a.vti"],
        |place| {
            writing(place, "KILL");
            place.run("cube.stl -r 4 -o b.npz").expect(0);
            fs::remove_file(place.path("b.npz")).unwrap();
            0
        },
    ),
    fault("SIGQUIT while writing", &["a.vti"], |place| {
        writing(place, "QUIT")
    }),
    fault("SIGUSR1 while writing", &["a.vti"], |place| {
        writing(place, "USR1")
    }),
    fault("SIGALRM while writing", &["a.vti"], |place| {
        writing(place, "ALRM")
    }),
    fault(
        "SIGTERM while the second of two meshes is written",
        &["out/cube.vti", "out/long.vti"],
        second_of_two,
    ),
    fault(
        "a reader of `-o -` that stops early",
        &["a.json"],
        stops_early,
    ),
    fault(
        "a reader of `-o -` that stalls, and SIGTERM",
        &["a.json"],
        |place| {
            signalled(
                place,
                "cube.stl -r 1 --pad 100 -o - -f raw --json=a.json",
                "TERM",
                |_| pause(),
            )
        },
    ),
    fault(
        "`--json=PIPE` that nobody opens, and SIGTERM",
        &["a.npy"],
        |place| unread(place, "cube.stl -r 4 -o a.npy --json=pipe", 3.0),
    ),
    fault(
        "`--json=PIPE` that nobody opens, a usage error, and SIGTERM",
        &["a.npy"],
        |place| unread(place, "cube.stl --rez 4 -o a.npy --json=pipe", 3.0),
    ),
    fault(
        "`--junit PIPE` that nobody opens, and SIGTERM",
        &["a.npy"],
        |place| {
            place
                .run("verify --update list.toml cube.stl -r 4")
                .expect(0);
            let code = unread(place, "verify list.toml --junit pipe", 3.0);
            fs::remove_file(place.path("list.toml")).unwrap();
            code
        },
    ),
    fault(
        "a reader of text that stalls, and SIGTERM",
        &["a.npy"],
        |place| {
            // A pipe that is full before anything is written.
            let (_reader, mut writer) = std::io::pipe().unwrap();
            writer.write_all(&[b' '; 64 << 10]).unwrap();
            let mut command = place.command("cube.stl -r 4 -o a.npy");
            command
                .stderr(writer.try_clone().unwrap())
                .stdout(Stdio::null());
            ends_soon(command.spawn().unwrap(), 3.0)
        },
    ),
    fault(
        "a usage error with `--json=/dev/zero`",
        &["a.npy"],
        |place| {
            limited_by(
                place,
                "ulimit -v 4000000",
                "cube.stl --rez 4 -o a.npy --json=/dev/zero",
            )
        },
    ),
    fault("`--files-from /dev/zero`", &["a.npy"], |place| {
        limited_by(
            place,
            "ulimit -v 4000000",
            "--files-from /dev/zero -r 4 -f npy -o .",
        )
    }),
    fault(
        "an address space of 200 MiB, smaller than the grid",
        &["a.npy"],
        |place| {
            limited_by(
                place,
                "ulimit -v 204800",
                "cube.stl -r 1500 --solid -o a.npy",
            )
        },
    ),
    fault(
        "an address space too small for 64 threads: one thread runs",
        &["a.npy"],
        |place| {
            let output = under(place, "ulimit -v 100000", "cube.stl -r 4 -j 64 -o a.npy");
            let report = String::from_utf8_lossy(&output.stderr);
            assert!(report.contains("; 1 thread,"), "{report}");
            output.status.code().expect("it ends by itself")
        },
    ),
    fault("a mesh whose triangles have no area", &["a.npy"], |place| {
        let point = |n: f32| [n, n, n];
        place.write("line.stl", stl(&[[point(0.0), point(1.0), point(2.0)]]));
        let codes = ["auto", "nonzero", "evenodd", "flood", "vote", "robust"].map(|inside| {
            place
                .run(&format!(
                    "line.stl --solid --inside {inside} -r 16 -o a.npy"
                ))
                .code
                .unwrap()
        });
        fs::remove_file(place.path("line.stl")).unwrap();
        assert!(codes.iter().all(|code| *code == codes[0]), "{codes:?}");
        codes[0]
    }),
    fault(
        "a reader of a named pipe that stalls, and SIGTERM",
        &["a.json"],
        |place| {
            fifo(place, "pipe");
            let line = "cube.stl -r 1 --pad 100 -o pipe -f raw --json=a.json";
            let code = signalled(place, line, "TERM", |_| pause());
            fs::remove_file(place.path("pipe")).unwrap();
            code
        },
    ),
];

/// The file also has more bytes than the grid has cells.
const HEADERS: u64 = 2000;

/// Waits until the command works, or waits itself.
fn pause() {
    std::thread::sleep(Duration::from_millis(400));
}

/// Runs `line` with a limit on the size of files, in KiB.
fn limited(place: &Place, line: &str, kib: usize) -> i32 {
    let output = under(place, &format!("ulimit -f {kib}"), line);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("File too large"), "{errors}");
    output.status.code().unwrap()
}

/// Runs `line` under a limit. The limit must be noticed and reported as an error.
fn limited_by(place: &Place, limit: &str, line: &str) -> i32 {
    let output = under(place, limit, line);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("error") && errors.contains("hint: "),
        "{errors}"
    );
    output.status.code().expect("it ends by itself")
}

fn under(place: &Place, limit: &str, line: &str) -> Output {
    let script = format!("{limit}; exec \"$0\" {line}");
    let mut command = Command::new("bash");
    command
        .arg("-c")
        .arg(&script)
        .arg(binary())
        .current_dir(place.path(""));
    command.output().unwrap()
}

/// Runs `line`, which writes to a named pipe that nobody reads, and stops it.
fn unread(place: &Place, line: &str, seconds: f64) -> i32 {
    fifo(place, "pipe");
    let mut command = place.command(line);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let code = ends_soon(command.spawn().unwrap(), seconds);
    fs::remove_file(place.path("pipe")).unwrap();
    code
}

/// Stops a process after two seconds, like `timeout 2`. It must end by then, or soon after one signal.
fn ends_soon(mut child: Child, seconds: f64) -> i32 {
    let start = Instant::now();
    std::thread::sleep(Duration::from_secs(2));
    if let Some(status) = child.try_wait().unwrap() {
        return status.code().unwrap();
    }
    let code = stop(child, "TERM");
    assert!(
        start.elapsed().as_secs_f64() < seconds,
        "it took {:?}",
        start.elapsed()
    );
    code
}

fn fifo(place: &Place, name: &str) {
    assert!(
        Command::new("mkfifo")
            .arg(place.path(name))
            .status()
            .unwrap()
            .success()
    );
}

/// Sends signals, such as `TERM TERM`, and waits for the process, which must end soon. Returns the exit code,
/// or the exit code of a shell if the signal ended the process.
fn stop(mut child: Child, signals: &str) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    assert!(
        child.try_wait().unwrap().is_none(),
        "it ended before the signal"
    );
    let start = Instant::now();
    for signal in signals.split(' ') {
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status();
        assert!(sent.unwrap().success() || signals.contains(' '));
    }
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status
                .code()
                .unwrap_or_else(|| 128 + status.signal().unwrap());
        }
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{signals} did not end it");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Starts `line` with open pipes at both ends, waits, and stops it.
fn signalled(place: &Place, line: &str, signals: &str, wait: impl Fn(&Place)) -> i32 {
    let mut command = place.command(line);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let _ends = (child.stdin.take(), child.stdout.take());
    wait(place);
    stop(child, signals)
}

/// A mesh in a pipe whose writer pauses in the middle of it.
fn reading(place: &Place, signal: &str) -> i32 {
    fifo(place, "pipe.stl");
    // Open at both ends, so that opening never blocks.
    let mut pipe = OpenOptions::new()
        .read(true)
        .write(true)
        .open(place.path("pipe.stl"))
        .unwrap();
    pipe.write_all(&fs::read(place.path("cube.stl")).unwrap()[..300])
        .unwrap();
    let code = signalled(place, "pipe.stl -r 4 -o a.npy", signal, |_| pause());
    drop(pipe);
    fs::remove_file(place.path("pipe.stl")).unwrap();
    code
}

/// Triangles across the whole grid in random order: seconds of work.
fn voxelizing(place: &Place, signal: &str) -> i32 {
    let mut random = Random::new(1);
    let triangles: Vec<Triangle> = (0..30_000)
        .map(|_| std::array::from_fn(|_| std::array::from_fn(|_| random.unit())))
        .collect();
    place.write("slow.stl", stl(&triangles));
    let code = signalled(place, "slow.stl -r 1000 -j 2 -o a.npz", signal, |place| {
        pause();
        assert!(
            temporary(place).is_none_or(|length| length < HEADERS),
            "it writes already"
        );
    });
    fs::remove_file(place.path("slow.stl")).unwrap();
    code
}

/// Returns the length of the file that is being written.
fn temporary(place: &Place) -> Option<u64> {
    let files = place.files();
    let name = files.iter().find(|name| name.starts_with(".voxelize-"))?;
    fs::metadata(place.path(name)).ok().map(|found| found.len())
}

/// A grid of a billion cells that takes a while to compress.
fn writing(place: &Place, signals: &str) -> i32 {
    signalled(
        place,
        "cube.stl -r 1 --pad 500 -o a.vti",
        signals,
        |place| until(|| temporary(place) > Some(HEADERS)),
    )
}

fn until(happens: impl Fn() -> bool) {
    let start = Instant::now();
    while !happens() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "it never happened"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn second_of_two(place: &Place) -> i32 {
    let thin = |z: f32| [[0.0, 0.0, z], [1.0, 0.0, z], [0.0, 1.0, z]];
    place.write("long.stl", stl(&[thin(0.0), thin(2000.0)]));
    let first = place.path("out/cube.vti");
    let before = fs::read(&first).ok();
    let line = "cube.stl long.stl --voxel-size 1 --pad 350 -f vti -o out -j 1";
    let code = signalled(place, line, "TERM", |_| {
        until(|| fs::read(&first).ok() != before)
    });
    fs::remove_file(place.path("long.stl")).unwrap();
    code
}

fn stops_early(place: &Place) -> i32 {
    let mut command = place.command("cube.stl -r 1 --pad 100 -o - -f raw --json=a.json");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdout
        .take()
        .unwrap()
        .read_exact(&mut [0; 1000])
        .unwrap();
    child.wait().unwrap().code().unwrap()
}
