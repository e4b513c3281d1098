//! Runs with files that others write at the same time: shells, users, other processes.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::place::{Place, binary};
use crate::support::rows;

/// Runs a shell command line that succeeds. `voxelize` stands for the command.
fn shell(place: &Place, line: &str) {
    let line = line.replace("voxelize", &binary().to_string_lossy());
    let mut command = Command::new("sh");
    command
        .args(["-c", &line])
        .current_dir(place.path(""))
        .stdin(Stdio::null());
    assert_eq!(command.output().unwrap().status.code(), Some(0), "{line}");
}

/// Regression: `>>` truncated the file, with exit code 0.
#[test]
fn an_open_file_of_the_shell_grows() {
    let place = Place::new();
    let log = || fs::read(place.path("log")).unwrap();
    shell(&place, "voxelize cube.stl -r 4 -o a.raw");
    let cells = fs::read(place.path("a.raw")).unwrap();
    for output in [
        "/dev/stdout >> log",
        "/dev/fd/3 3>> log",
        "/dev/fd/1 >> log",
    ] {
        place.write("log", "before\n");
        shell(
            &place,
            &format!("voxelize cube.stl -r 4 -f raw -o {output}"),
        );
        assert_eq!(log(), [b"before\n", &*cells].concat(), "{output}");
        place.write("log", "before\n");
        shell(
            &place,
            &format!("voxelize cube.stl -r 4 -o b.raw --json={output}"),
        );
        let text = String::from_utf8(log()).unwrap();
        assert!(text.starts_with("before\n{\"schema\""), "{text}");
        assert!(text.ends_with("}\n"), "{text}");
    }
    shell(
        &place,
        "{ echo before; voxelize cube.stl -r 4 -f raw -o /dev/stdout; echo behind; } > log",
    );
    assert_eq!(log(), [b"before\n", &*cells, b"behind\n"].concat());
}

/// Starts a run whose mesh comes from a pipe, calls `meanwhile` before the mesh ends, and waits for the exit
/// code.
fn meanwhile(place: &Place, line: &str, meanwhile: impl Fn()) -> Option<i32> {
    assert!(
        Command::new("mkfifo")
            .arg(place.path("pipe.stl"))
            .status()
            .unwrap()
            .success()
    );
    let mut child = place
        .command(line)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let bytes = fs::read(place.path("cube.stl")).unwrap();
    // Opening the pipe waits for the run to read it, so the run has already looked up its names.
    let mut pipe = OpenOptions::new()
        .write(true)
        .open(place.path("pipe.stl"))
        .unwrap();
    pipe.write_all(&bytes[..300]).unwrap();
    meanwhile();
    pipe.write_all(&bytes[300..]).unwrap();
    drop(pipe);
    let code = child.wait().unwrap().code();
    fs::remove_file(place.path("pipe.stl")).unwrap();
    code
}

/// Only names given by options replace a file that appears later. Names are looked up only at the start.
#[test]
fn a_file_that_appears_during_the_run_stays() {
    for (line, name, code, is_kept) in [
        ("pipe.stl -r 4", "pipe.vox", 6, true),
        ("pipe.stl -r 4 -o out/", "out/pipe.vox", 6, true),
        (
            "pipe.stl -r 4 -o out/pipe.vox --skip-existing",
            "out/pipe.vox",
            0,
            true,
        ),
        (
            "pipe.stl cube.stl -r 4 -o out/ --skip-existing",
            "out/pipe.vox",
            0,
            true,
        ),
        ("pipe.stl -r 4 -o out/pipe.vox", "out/pipe.vox", 0, false),
        ("view pipe.stl -r 4", "pipe.png", 6, true),
    ] {
        let place = Place::new();
        fs::create_dir(place.path("out")).unwrap();
        let found = meanwhile(&place, line, || place.write(name, "of the user"));
        assert_eq!(found, Some(code), "{line}");
        let after = fs::read(place.path(name)).unwrap();
        assert_eq!(after == b"of the user", is_kept, "{line}");
    }
}

#[test]
fn names_that_are_not_utf_8_are_read_and_refused_in_lists() {
    let place = Place::new();
    let [mesh, golden] = [&b"caf\xe9.stl"[..], b"caf\xe9.npz"].map(OsStr::from_bytes);
    fs::copy(place.path("cube.stl"), place.path("").join(mesh)).unwrap();
    for (line, code) in [
        ("MESH -r 4 -o GOLDEN", 0),
        ("verify GOLDEN MESH", 0),
        ("verify --update list.toml MESH -r 4", 2),
        ("verify --update list.toml cube.stl --like GOLDEN", 2),
    ] {
        let words = line.split(' ').map(|word| match word {
            "MESH" => mesh,
            "GOLDEN" => golden,
            word => OsStr::new(word),
        });
        let output = place.command("").args(words).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {err}");
        assert_eq!(err.contains("UTF-8"), code == 2, "{line}: {err}");
        assert!(!place.path("list.toml").exists());
    }
}

fn terminate(mut child: Child) -> Option<i32> {
    let sent = Command::new("kill")
        .arg(child.id().to_string())
        .status()
        .unwrap();
    assert!(sent.success());
    child.wait().unwrap().code()
}

fn until(happens: impl Fn() -> bool) {
    let start = Instant::now();
    while !happens() {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "it never happened"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Regression: the wait ignored signals, and gave up after ten seconds with exit code 6.
#[test]
fn the_wait_for_a_folder_ends_by_a_signal() {
    let place = Place::new();
    let folder = File::open(place.path("")).unwrap();
    folder.lock().unwrap();
    let child = place
        .command("cube.stl -r 4 -o a.raw")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The sidecar is written last, and then the run waits for the lock.
    let is_sidecar = |name: &String| {
        name.starts_with(".voxelize-")
            && fs::read(place.path(name)).is_ok_and(|bytes| bytes.starts_with(b"{"))
    };
    until(|| place.files().iter().any(is_sidecar));
    assert_eq!(terminate(child), Some(143));
    assert_eq!(place.files(), ["cube.stl", "thirds.stl"]);
}

/// Regression: all layers were written after a signal, and then the message was "nothing was written".
#[test]
fn a_signal_ends_the_layers_and_leaves_none() {
    let place = Place::new();
    let mut command =
        place.command("view cube.stl --voxel-size 1,1,0.002 --slice z=all -o layers/");
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    // The layers are in a folder with a temporary name until all of them are complete.
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    until(|| {
        let folders = entries(&place.path("layers"));
        folders.iter().any(|folder| entries(folder).len() > 2)
    });
    let mut err = child.stderr.take().unwrap();
    assert_eq!(terminate(child), Some(143));
    let mut text = String::new();
    err.read_to_string(&mut text).unwrap();
    assert!(text.contains("interrupted; nothing was written"), "{text}");
    assert!(!place.path("layers").exists());
}

/// A run does not overwrite the files that its meshes name, read or not, or the files that a plan names.
#[test]
fn files_that_meshes_and_plans_name_are_no_outputs() {
    let place = Place::new();
    let text = "mtllib m.mtl\nusemtl a\nv 0 0 0\nv 4 0 0\nv 0 4 0\nv 0 0 4\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    place.write("m.obj", text);
    place.write(
        "m.mtl",
        "newmtl a\nKd 1 0 0\nmap_Kd -s 2 2 1 t.png\nbump b.png\n",
    );
    let positions: Vec<u8> = [0f32, 0., 0., 4., 0., 0., 0., 4., 0., 0., 0., 4.]
        .map(f32::to_le_bytes)
        .concat();
    let json = r#"{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"images":[{"uri":"t.png"}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[4,4,0]}],
        "bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"uri":"m.bin","byteLength":48}]}"#;
    place.write("m.gltf", json);
    place.write("m.bin", positions);
    place.write("t.png", "a picture");
    place.write("b.png", "another picture");
    rows::check(
        &place,
        "0 plan m.obj -r 6 -o p.zarr
         0 plan cube.stl -r 6 -o c.zarr",
    );
    let mut table = String::new();
    for line in [
        "m.obj -r 6 -o n.npz --json=m.mtl",
        "m.obj -r 6 -o n.npz --json=t.png",
        "m.obj -r 6 -o n.npz --json=b.png",
        "m.obj -r 6 --labels colour -o n.npz --json=t.png",
        "m.obj -r 6 -f raw -o m.mtl",
        "m.obj cube.stl -r 6 -f raw -o m.mtl",
        "m.gltf -r 6 -f raw -o m.bin",
        "m.gltf -r 6 -o n.npz --json=m.bin",
        "m.gltf -r 6 -o n.npz --json=t.png",
        "check m.obj --json=m.mtl",
        "check m.gltf --json=m.bin",
        "info m.obj --json=m.mtl",
        "info m.gltf --json=t.png",
        "view m.obj -r 6 -o t.png",
        "view m.obj -r 6 --labels colour -o t.png",
        "view m.obj --mesh -o t.png",
        "clearance cube.stl m.obj --json=m.mtl",
        "p.zarr --region 1/1 --json=m.obj",
        "p.zarr --region 1/1 --json=m.mtl",
        "p.zarr --region 1/1 --json=p.zarr/plan.json",
        "c.zarr --region 1/1 --json=cube.stl",
        "finish c.zarr --json=cube.stl",
        "finish c.zarr --json=c.zarr/0/zarr.json",
    ] {
        table += &format!("2 {line}\n err would be overwritten\n");
    }
    rows::refused(&place, &table);
    rows::check(
        &place,
        "0 m.obj -r 6 --labels colour -o n.npz --json=n.json
         0 c.zarr --region 1/1 --json=c.zarr.json
         0 finish c.zarr --json=c.zarr.json",
    );
}
