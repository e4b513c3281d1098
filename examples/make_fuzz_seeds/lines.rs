//! Command lines, one word per line.

use super::Seeds;

const LINES: [&str; 42] = [
    "a.stl",
    "a.stl -r 512 -o a.npz",
    "a.stl --res=64 --pad 1 --cube --snap none",
    "a.stl --voxel-size 0.5 --pad 1 -o a.raw --dtype bit",
    "a.stl --pitch 0.1,0.2,0.3 -f npy --origin -0.5,0,1e-3",
    "a.stl --bounds -1,0,0,1,1,1 --voxel-size 0.1 -o corner.npy --sidecar",
    "a.stl --dims 32,16,8 --stretch -f raw",
    "a.stl --dims 7,7,7 --rule surface --ties both",
    "a.stl --surface --ties none -qn",
    "a.stl -vnr8 -j2 --simd scalar",
    "a.stl -r 4096 --dry-run --max-memory 1.5GiB -o a.raw",
    "a.stl -r 16777216 --max-memory 1T -o a.npy --json",
    "a.stl -r 1024 --max-memory 16M -o a.vox",
    "a.stl --json=a.json -o a.vox -f npz",
    "- -f npy -o -",
    "a.stl b.stl",
    "a.stl b.stl -r 32 -f npz -o out/ --skip-existing --same-grid",
    "--files-from list.txt -0 -o out/",
    "a.stl -0",
    "a.stl --strict -v --voxel-size 1,1,0.000001",
    "a.stl --lenient --no-sync -o out/ -f nrrd",
    "a.stl --lenient --strict",
    "a.stl --res 8 --dims 1,1,1",
    "a.stl --stretch",
    "a.stl --origin 0,0,0",
    "a.stl --voxel-size 0",
    "a.stl --voxel-size 1e-60 --bounds -1e60,0,0,1e60,1,1",
    "a.stl --res 18446744073709551616",
    "a.stl -o a.xyz --dtype bit",
    "--rse 8 a.stl",
    "formats",
    "verify golden.toml --update a.stl -- --res 8",
    "verify golden.npz a.stl --allow 3",
    "diff a.vox b.npz --iou-min 0.9 -o c.vox",
    "-qj 2 --json=a.json info a.vox",
    "view a.stl -r 64 --size 640x480 -o a.png",
    "a.stl --like b.npz",
    "help view",
    "verfy golden.toml",
    "--help",
    "-V",
    "-- --res",
];

/// Returns every line.
pub fn words() -> Seeds {
    let mut seeds = Seeds::new();
    for (n, line) in LINES.iter().enumerate() {
        seeds.push((format!("line-{n:02}"), line.replace(' ', "\n").into_bytes()));
    }
    seeds
}

/// Returns seeds of the target `names`: each command with an input, a link, and another word about each of
/// the names.
pub fn names() -> Seeds {
    let verbs = 7u8;
    let words = 17u8;
    let names = 24u8;
    let mut seeds = Seeds::new();
    for verb in 0..verbs {
        for word in 0..words {
            let name = (5 * word + verb) % names;
            let bytes = vec![1, verb, 17, name, 0, name / 2, word, name, 1, 22];
            seeds.push((format!("{verb}-{word}"), bytes));
        }
    }
    seeds
}
