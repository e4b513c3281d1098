//! Faults with the code that causes them.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::disk::{self, Before};
use crate::support::place::{Place, Triangle, binary, stl};
use crate::support::random::Random;

/// Outcome of a fault.
pub struct Found {
    pub code: i32,
    pub left: String,
}

/// Faults in the order of the table: what happens, the outputs, and how. Before the command, the outputs are
/// missing or older files.
pub const FAULTS: &str = "\
none: the file is replaced | a.npy | run cube.stl -r 4 -o a.npy
a file size limit, reached while writing | a.npy | file-size 16 cube.stl -r 64 -o a.npy
a file size limit, with too large a sidecar | a.raw a.raw.json | file-size 0 cube.stl -r 4 -f raw --dtype bit -o a.raw
a file size limit, with too large a grid of one of two meshes | out/cube.npy out/thirds.npy | \
file-size 16 cube.stl thirds.stl --voxel-size 0.4 -o out -f npy
a full device, `-o /dev/full` | a.npy | dev-full cube.stl -r 64 -o /dev/full -f npy
a full device behind standard output | a.npy | full-stdout cube.stl -r 4 -o - -f npy
a folder that accepts no files, `-o /proc/a.npy` | a.npy | run cube.stl -r 4 -o /proc/a.npy
an output folder that is a file | a.npy | run cube.stl -r 4 -o thirds.stl/a.npy
more memory than allowed | a.npy | run cube.stl -r 60000 --max-memory 12M -o a.npy
SIGINT while reading a pipe that stalls | a.npy | reading INT
SIGTERM while reading a pipe that stalls | a.npy | reading TERM
SIGHUP while reading a pipe that stalls | a.npy | reading HUP
SIGTERM while standard input stalls | a.npy | stalled - -r 4 -o a.npy
SIGTERM while the list of meshes stalls | a.npy | stalled --files-from - -r 4 -f npy -o .
SIGINT while voxelizing | a.npz | voxelizing INT
SIGTERM while voxelizing | a.npz | voxelizing TERM
SIGINT while writing | a.vti | writing INT
SIGTERM while writing | a.vti | writing TERM
SIGTERM twice while writing | a.vti | writing TERM TERM
SIGHUP while writing | a.vti | writing HUP
SIGKILL while writing | a.vti | writing KILL
SIGKILL while writing, and a later run to the same folder | a.vti | killed-then cube.stl -r 4 -o b.npz
SIGQUIT while writing | a.vti | writing QUIT
SIGUSR1 while writing | a.vti | writing USR1
SIGALRM while writing | a.vti | writing ALRM
SIGTERM while the second of two meshes is written | out/cube.vti out/long.vti | second-of-two
a reader of `-o -` that stops early | a.json | stops-early cube.stl -r 1 --pad 100 -o - -f raw --json=a.json
a reader of `-o -` that stalls, and SIGTERM | a.json | stalled cube.stl -r 1 --pad 100 -o - -f raw --json=a.json
`--json=PIPE` that nobody opens, and SIGTERM | a.npy | unread cube.stl -r 4 -o a.npy --json=pipe
`--json=PIPE` that nobody opens, a usage error, and SIGTERM | a.npy | unread cube.stl --rez 4 -o a.npy --json=pipe
`--junit PIPE` that nobody opens, and SIGTERM | a.npy | unread-list verify list.toml --junit pipe
a reader of text that stalls, and SIGTERM | a.npy | full-stderr cube.stl -r 4 -o a.npy
a usage error with `--json=/dev/zero` | a.npy | memory 4000000 cube.stl --rez 4 -o a.npy --json=/dev/zero
`--files-from /dev/zero` | a.npy | memory 4000000 --files-from /dev/zero -r 4 -f npy -o .
an address space of 200 MiB, smaller than the grid | a.npy | memory 204800 cube.stl -r 1500 --solid -o a.npy
an address space too small for 64 threads: one thread runs | a.npy | one-thread cube.stl -r 4 -j 64 -o a.npy
a mesh whose triangles have no area | a.npy | no-area
a reader of a named pipe that stalls, and SIGTERM | a.json | \
stalled-pipe cube.stl -r 1 --pad 100 -o pipe -f raw --json=a.json
";

/// Causes a fault with and without older files. Returns its name and both outcomes.
pub fn find(row: &str) -> (&str, [Found; 2]) {
    let columns: Vec<&str> = row.split(" | ").collect();
    let [what, outputs, how] = columns[..] else {
        panic!("{row}")
    };
    let outputs: Vec<&str> = outputs.split(' ').collect();
    let found = |before| {
        let place = Place::new();
        disk::prepare(&place, &outputs, before);
        let files = disk::files(&place);
        let code = happen(&place, how);
        let left = disk::left(&place, &outputs, &files);
        Found { code, left }
    };
    // Both wait most of the time.
    std::thread::scope(|scope| {
        let with = scope.spawn(|| found(Before::Older));
        let without = found(Before::Nothing);
        (what, [with.join().unwrap(), without])
    })
}

/// Causes the fault and returns the exit code.
fn happen(place: &Place, how: &str) -> i32 {
    let (kind, line) = how.split_once(' ').unwrap_or((how, ""));
    let limited = |unit: &str, line: &str| {
        let (limit, line) = line.split_once(' ').unwrap();
        under(place, &format!("ulimit {unit} {limit}"), line)
    };
    let run = |line: &str| place.run(line).code.unwrap();
    match kind {
        "run" => run(line),
        "dev-full" => {
            let run = place.run(line);
            assert!(
                run.err.contains("/dev/full: cannot be written"),
                "{}",
                run.err
            );
            run.code.unwrap()
        }
        "full-stdout" => {
            let mut command = place.command(line);
            let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
            let status = command.stdout(full).stderr(Stdio::null()).status();
            status.unwrap().code().unwrap()
        }
        // A limit in KiB. It must be noticed and reported.
        "file-size" => {
            let (code, err) = limited("-f", line);
            assert!(err.contains("File too large"), "{err}");
            code
        }
        "memory" => {
            let (code, err) = limited("-v", line);
            assert!(err.contains("error") && err.contains("hint: "), "{err}");
            code
        }
        "one-thread" => {
            let (code, report) = under(place, "ulimit -v 100000", line);
            assert!(report.contains("; 1 thread,"), "{report}");
            code
        }
        "reading" => reading(place, line),
        "voxelizing" => voxelizing(place, line),
        "writing" => writing(place, line),
        "killed-then" => {
            writing(place, "KILL");
            place.run(line).expect(0);
            fs::remove_file(place.path("b.npz")).unwrap();
            0
        }
        "second-of-two" => second_of_two(place),
        "stops-early" => stops_early(place, line),
        "stalled" => signalled(place, line, "TERM", |_| pause()),
        "stalled-pipe" => {
            fifo(place, "pipe");
            let code = signalled(place, line, "TERM", |_| pause());
            fs::remove_file(place.path("pipe")).unwrap();
            code
        }
        "unread" => unread(place, line),
        "unread-list" => {
            run("verify --update list.toml cube.stl -r 4");
            let code = unread(place, line);
            fs::remove_file(place.path("list.toml")).unwrap();
            code
        }
        "full-stderr" => {
            // A pipe that is full before anything is written.
            let (_reader, mut writer) = std::io::pipe().unwrap();
            writer.write_all(&[b' '; 64 << 10]).unwrap();
            let mut command = place.command(line);
            command
                .stderr(writer.try_clone().unwrap())
                .stdout(Stdio::null());
            ends_soon(command.spawn().unwrap())
        }
        "no-area" => {
            let point = |n: f32| [n, n, n];
            place.write("line.stl", stl(&[[point(0.0), point(1.0), point(2.0)]]));
            let codes = ["auto", "nonzero", "evenodd", "flood", "vote", "robust"].map(|inside| {
                run(&format!(
                    "line.stl --solid --inside {inside} -r 16 -o a.npy"
                ))
            });
            fs::remove_file(place.path("line.stl")).unwrap();
            assert!(codes.iter().all(|code| *code == codes[0]), "{codes:?}");
            codes[0]
        }
        _ => panic!("no such fault: {how}"),
    }
}

/// The file also has more bytes than the grid has cells.
const HEADERS: u64 = 2000;

/// Waits until the command works, or waits itself.
fn pause() {
    std::thread::sleep(Duration::from_millis(400));
}

/// Runs `line` under a limit. Returns the exit code and the text.
fn under(place: &Place, limit: &str, line: &str) -> (i32, String) {
    let script = format!("{limit}; exec \"$0\" {line}");
    let mut command = Command::new("bash");
    command
        .args(["-c", &script])
        .arg(binary())
        .current_dir(place.path(""));
    let output = command.output().unwrap();
    let code = output.status.code().expect("it ends by itself");
    (code, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Runs `line`, which writes to a named pipe that nobody reads, and stops it.
fn unread(place: &Place, line: &str) -> i32 {
    fifo(place, "pipe");
    let mut command = place.command(line);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let code = ends_soon(command.spawn().unwrap());
    fs::remove_file(place.path("pipe")).unwrap();
    code
}

/// Stops a process after a second, like `timeout 1`. It must end by then, or soon after one signal.
fn ends_soon(mut child: Child) -> i32 {
    std::thread::sleep(Duration::from_secs(1));
    if let Some(status) = child.try_wait().unwrap() {
        return status.code().unwrap();
    }
    let start = Instant::now();
    let code = stop(child, "TERM");
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "it took {:?}",
        start.elapsed()
    );
    code
}

fn fifo(place: &Place, name: &str) {
    let status = Command::new("mkfifo").arg(place.path(name)).status();
    assert!(status.unwrap().success());
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

fn stops_early(place: &Place, line: &str) -> i32 {
    let mut command = place.command(line);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 1000]).unwrap();
    drop(stdout);
    child.wait().unwrap().code().unwrap()
}
