//! Fields of parts: the fraction or the area of each part of a mesh, next to the field of all parts together.

use std::io::Read;

use voxelize::geom::Triangle;
use voxelize::grid::Digest;
use voxelize::job::{Extras, JobLabels};
use voxelize::mesh::PartKind;
use voxelize::{Fit, Lattice, Mesh, Rational, Rule, Voxelizer, Voxels, fraction};

use crate::support::place::Place;
use crate::support::rows;
use crate::support::solids::{between, inside_out, stl};

/// Boxes with corners in eighths: the first two overlap, the third lies inside the first.
const BOXES: [(&str, [f32; 3], [f32; 3]); 3] = [
    ("body", [0.0, 0.125, 0.25], [5.5, 4.25, 3.0]),
    ("the lid", [3.125, 1.0, 1.5], [7.0, 6.375, 4.625]),
    ("core", [1.25, 1.375, 1.5], [2.0, 2.25, 2.875]),
];

fn triangles(n: usize) -> Vec<Triangle> {
    between(BOXES[n].1, BOXES[n].2)
}

/// Returns a folder with a file for each box.
fn place() -> Place {
    let place = Place::new();
    for (n, (name, _, _)) in BOXES.iter().enumerate() {
        place.write(
            &format!("{}.stl", name.replace(' ', "_")),
            stl(&triangles(n)),
        );
    }
    place
}

const FILES: &str = "body.stl lid=the_lid.stl core.stl";

/// Grid around all boxes. The sides of its cells are powers of two, so that all shares are floats.
const GRID: &str = "--bounds=-0.5,-1,0,7.5,7,5 --voxel-size 0.5,1,0.25";
const DIMS: [usize; 3] = [16, 8, 20];
const SIDES: [f64; 3] = [0.5, 1.0, 0.25];
const CORNER: [f64; 3] = [-0.5, -1.0, 0.0];

/// Returns the length of a cell of this axis that lies between two coordinates. All numbers are binary
/// fractions, so that nothing is rounded.
fn within(axis: usize, n: usize, low: f64, high: f64) -> f64 {
    let start = CORNER[axis] + n as f64 * SIDES[axis];
    let end = start + SIDES[axis];
    (end.min(high) - start.max(low)).max(0.0)
}

/// Returns the volume that a cell shares with the common part of some boxes.
fn common(cell: [usize; 3], boxes: &[usize]) -> f64 {
    let mut volume = 1.0;
    for (axis, n) in cell.into_iter().enumerate() {
        let low = boxes.iter().map(|n| f64::from(BOXES[*n].1[axis]));
        let high = boxes.iter().map(|n| f64::from(BOXES[*n].2[axis]));
        let low = low.fold(f64::NEG_INFINITY, f64::max);
        let high = high.fold(f64::INFINITY, f64::min);
        volume *= within(axis, n, low, high);
    }
    volume
}

fn cells() -> impl Iterator<Item = [usize; 3]> {
    let [nx, ny, nz] = DIMS;
    (0..nx * ny * nz).map(move |n| [n % nx, n / nx % ny, n / nx / ny])
}

/// Returns the exact share of each cell.
fn shares(volume: impl Fn([usize; 3]) -> f64) -> Vec<f32> {
    let cell = SIDES.iter().product::<f64>();
    cells().map(|at| (volume(at) / cell) as f32).collect()
}

/// Returns a member of an archive of NumPy: its header and its data.
fn member(place: &Place, file: &str, name: &str) -> (String, Vec<u8>) {
    let file = std::fs::File::open(place.path(file)).unwrap();
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let mut bytes = vec![];
    let mut member = archive.by_name(&format!("{name}.npy")).unwrap();
    member.read_to_end(&mut bytes).unwrap();
    let length = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let data = bytes.split_off(length);
    (String::from_utf8_lossy(&bytes[10..]).into_owned(), data)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty());
    numbers
        .iter()
        .map(|number| f32::from_le_bytes(*number))
        .collect()
}

#[test]
fn fractions_of_parts_are_exact_and_independent() {
    let place = place();
    let runs = rows::check(
        &place,
        &format!(
            "0 {FILES} --labels file --rule fraction {GRID} --unit mm -o all.npz --json
                 /counts/labels/0/label \"body\"
                 /counts/labels/1/label \"lid\"
                 /counts/labels/2/value 3
             0 {FILES} --labels file --rule fraction {GRID} --unit mm -o zyx.npz --order zyx
                 err labels  body (1): volume 62.3906 mm³, lid (2): volume 65.0879 mm³, core (3)
                 err shared  parts overlap in 144 cells, volume 12.4805 mm³; each part keeps its own fraction
                 no err W016
             0 {FILES} --rule fraction {GRID} --unit mm -o none.npz --json"
        ),
    );
    let json = runs[0].json();
    // The cells are those of a run without labels.
    assert_eq!(json["digest"], runs[2].json()["digest"]);
    let volumes: Vec<f64> = (0..3)
        .map(|n| cells().map(|at| common(at, &[n])).sum())
        .collect();
    let counts = &json["counts"];
    for (n, volume) in volumes.iter().enumerate() {
        let found = counts["labels"][n]["volume"].as_f64().unwrap();
        assert!((found - volume).abs() < 1e-5, "{n}: {found} for {volume}");
    }
    let pairs = [[0, 1], [0, 2], [1, 2]];
    let shared = pairs.map(|pair| cells().map(|at| common(at, &pair)).sum::<f64>());
    assert!(shared[0] > 0.0 && shared[1] > 0.0 && shared[2] == 0.0);
    let overlap = counts["overlap"]["volume"].as_f64().unwrap();
    assert!((overlap - shared[0] - shared[1]).abs() < 1e-5, "{overlap}");
    let whole = volumes.iter().sum::<f64>() - shared[0] - shared[1];
    assert!((json["volume"].as_f64().unwrap() - whole).abs() < 1e-5);

    let (header, data) = member(&place, "all.npz", "fractions");
    let (rows, same) = member(&place, "zyx.npz", "fractions");
    assert!(
        header.contains("'fortran_order': True, 'shape': (16, 8, 20, 3), "),
        "{header}"
    );
    assert!(
        rows.contains("'fortran_order': False, 'shape': (3, 20, 8, 16), "),
        "{rows}"
    );
    assert!(data == same);
    let found = floats(&data);
    let count = DIMS.iter().product::<usize>();
    assert_eq!(found.len(), 3 * count);
    for (n, found) in found.chunks(count).enumerate() {
        let exact = shares(|at| common(at, &[n]));
        let differing = found.iter().zip(&exact).filter(|(a, b)| a != b).count();
        assert_eq!(differing, 0, "part {n}");
        assert_eq!(
            counts["labels"][n]["cells"].as_u64().unwrap() as usize,
            exact.iter().filter(|share| **share > 0.0).count()
        );
    }
    let (_, names) = member(&place, "all.npz", "label_names");
    let names: Vec<_> = names.chunks(4).map(|c| char::from(c[0])).collect();
    assert_eq!(names.iter().collect::<String>(), "bodylid\0core");
}

#[test]
fn fields_of_parts_are_those_of_separate_runs() {
    let place = place();
    place.write("knot.stl", std::fs::read("fixtures/knot.stl").unwrap());
    let all = "knot.stl body.stl the_lid.stl";
    let grid = "--bounds=-30,-30,-15,30,30,15 --voxel-size 0.7,1,0.9";
    for rule in [
        "--rule fraction",
        "--rule area",
        "--rule area --scale 0.1 --unit m",
    ] {
        let grid = if rule.contains("scale") {
            "--bounds=-3,-3,-1.5,3,3,1.5 --voxel-size 0.07,0.1,0.09"
        } else {
            grid
        };
        let runs = rows::check(
            &place,
            &format!(
                "0 {all} --labels file {rule} {grid} -o all.npz --json
                 0 {all} --labels file {rule} {grid} -o all.vti --uncompressed --json
                 0 {all} {rule} {grid} -f npz -o each/ --quiet"
            ),
        );
        let json = runs[0].json();
        assert_eq!(json["digest"], runs[1].json()["digest"]);
        assert_eq!(json["counts"], runs[1].json()["counts"]);
        let name = if rule.contains("area") {
            "areas"
        } else {
            "fractions"
        };
        let (_, data) = member(&place, "all.npz", name);
        let fields = floats(&data);
        let image = std::fs::read(place.path("all.vti")).unwrap();
        let xml = String::from_utf8_lossy(&image);
        let begin = image
            .windows(7)
            .position(|part| part == b"\"raw\">\n")
            .unwrap()
            + 8;
        for (n, part) in ["knot", "body", "the_lid"].into_iter().enumerate() {
            let alone = Voxels::open(place.path(&format!("each/{part}.npz"))).unwrap();
            let values = alone.field().unwrap().values();
            assert!(values.iter().any(|value| *value > 0.0));
            let of_part = &fields[n * values.len()..(n + 1) * values.len()];
            assert!(of_part == values, "{rule}: {part}");
            let label = &json["counts"]["labels"][n];
            let Digest { cells, .. } = alone.digest();
            assert_eq!(label["digest"].as_str().unwrap(), cells.to_string());
            // The array of the image.
            let element = xml.find(&format!("Name=\"{part}\"")).unwrap();
            let offset = xml[element..].find("offset=\"").unwrap() + element + 8;
            let digits: String = xml[offset..]
                .chars()
                .take_while(char::is_ascii_digit)
                .collect();
            let start = begin + digits.parse::<usize>().unwrap();
            let bytes = &image[start..start + 8 + 4 * values.len()];
            assert_eq!(bytes[..8], (4 * values.len() as u64).to_le_bytes());
            assert!(floats(&bytes[8..]) == values, "{rule}: {part} in .vti");
        }
    }
    rows::check(
        &place,
        "0 info all.vti
             out knot, body, the_lid
         0 info all.npz
             out areas (knot, body, the_lid)
         0 convert all.npz only.npz
             err areas (knot, body, the_lid)
         0 diff only.npz all.vti",
    );
}

#[test]
fn fields_of_parts_do_not_depend_on_slabs_threads_and_compression() {
    let place = place();
    let line = format!("0 {FILES} --labels file --rule fraction -r 200 --json");
    for (extension, more, limit) in [
        ("npz", "", 40),
        ("npz", "--dtype u8 --order zyx", 40),
        ("vti", "--with area,normal", 100),
        ("vti", "--uncompressed --dtype u8", 48),
    ] {
        let runs = rows::check(
            &place,
            &format!(
                "{line} {more} -j 1 -o whole.{extension}
                 {line} {more} -j 2 -o slabs.{extension} --max-memory {limit}M
                 {line} {more} -j 2 -n -o slabs.{extension} --max-memory {limit}M"
            ),
        );
        let [whole, slabs, planned] = [0, 1, 2].map(|n: usize| runs[n].json());
        assert!(planned["estimate"]["slabs"].as_u64() > Some(1), "{planned}");
        assert_eq!(whole["digest"], slabs["digest"]);
        assert_eq!(whole["counts"], slabs["counts"]);
        let peak = slabs["memory"]["peak_bytes"].as_u64().unwrap();
        assert!(peak <= limit << 20, "{extension} {more}: {peak}");
        let [whole, slabs] = ["whole", "slabs"]
            .map(|name| std::fs::read(place.path(&format!("{name}.{extension}"))).unwrap());
        assert!(whole == slabs, "{extension} {more}");
    }
    let (_, bytes) = member(&place, "whole.npz", "fractions");
    let (_, cells) = member(&place, "whole.npz", "voxels");
    assert_eq!(bytes.len(), 3 * cells.len());
}

#[test]
fn fields_of_parts_are_refused_where_they_have_no_meaning() {
    let place = place();
    // One closed box whose two materials are closed only together.
    let mut text = "mtllib a.mtl\n".to_string();
    for triangle in triangles(0) {
        for [x, y, z] in triangle {
            text += &format!("v {x} {y} {z}\n");
        }
    }
    for n in 0..12 {
        let name = if n < 6 { "red" } else { "blue" };
        text += &format!(
            "usemtl {name}\nf {} {} {}\n",
            3 * n + 1,
            3 * n + 2,
            3 * n + 3
        );
    }
    place.write("a.obj", text);
    place.write("a.mtl", "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n");
    rows::refused(
        &place,
        &format!(
            "2 {FILES} --labels file --rule distance -o a.npz
                 err --labels: the rule distance makes a field
             2 {FILES} --labels file --rule fraction -o a.nrrd
                 err --labels: nrrd cannot store 'the fraction of each part' next to the cells
                 err save it as npz or vti
             2 {FILES} --labels file --rule area -o a.zarr
                 err --labels: zarr cannot store 'the area of each part'
             2 {FILES} --labels file --rule fraction --sparse runs -o a.npz
                 err --labels:
             2 {FILES} --labels file --rule fraction --priority lid -o a.npz
                 err --priority: each part has its own field
             2 a.obj --labels colour --rule fraction -o a.npz
                 err --labels colour: the rule fraction makes a field for each part
             4 a.obj --labels material --rule fraction -o a.npz
                 err red, blue are closed only together
             2 view body.stl --labels object --rule fraction -o a.png
                 err --labels: only a conversion
             2 plan body.stl --labels object --rule fraction -o a.zarr
                 err --labels: only a conversion"
        ),
    );
    rows::check(
        &place,
        "0 a.obj --labels material --rule area -r 8 -o a.npz
             err labels  red (1): area
         0 body.stl core.stl the_lid.stl --labels file --rule fraction --bounds 0,0,0,1,1,1 -r 8 -o b.npz
             err W002
             err 2 of 3 parts have no fraction in any cell: core, the_lid",
    );
}

#[test]
fn the_library_returns_the_fields_of_parts() {
    let meshes: Vec<Mesh> = (0..3)
        .map(|n| Mesh::from_triangles(triangles(n)).unwrap())
        .collect();
    let names = BOXES.map(|(name, _, _)| name);
    let joined = Mesh::join(names.into_iter().zip(&meshes)).unwrap();
    let fit = Fit::cell_size("3/8").unwrap().pad(1);
    let lattice: Lattice = fit.to(joined.bounds()).unwrap();
    // Objects of joined meshes are the meshes.
    for kind in [PartKind::File, PartKind::Object] {
        let extras = Extras {
            labels: JobLabels::Parts(kind),
            ..Extras::default()
        };
        let voxelizer = Voxelizer::new(Rule::fraction()).extras(extras);
        let (whole, arrays) = voxelizer.run_with_arrays(&joined, &lattice).unwrap();
        assert_eq!(
            whole.voxels.field(),
            Some(&fraction(&joined, &lattice).unwrap())
        );
        assert_eq!(arrays.len(), 3);
        for ((array, mesh), name) in arrays.iter().zip(&meshes).zip(names) {
            assert_eq!(array.content.name(), name);
            assert_eq!(array.as_field(), Some(&fraction(mesh, &lattice).unwrap()));
        }
    }
    let extras = Extras {
        labels: JobLabels::Parts(PartKind::File),
        ..Extras::default()
    };
    let distances = Voxelizer::new(Rule::distance()).extras(extras);
    let error = distances.run(&joined, &lattice).unwrap_err();
    assert_eq!(error.message(), "labels: the rule distance makes a field");
}

#[test]
fn a_part_that_is_inside_out_has_the_share_of_its_own_mesh() {
    let meshes = [
        Mesh::from_triangles(triangles(0)).unwrap(),
        Mesh::from_triangles(inside_out(between([10.0; 3], [12.0; 3]))).unwrap(),
    ];
    let joined = Mesh::join(["body", "inverted"].into_iter().zip(&meshes)).unwrap();
    let lattice = Fit::cell_size("1").unwrap().to(joined.bounds()).unwrap();
    let extras = Extras {
        labels: JobLabels::Parts(PartKind::File),
        ..Extras::default()
    };
    let voxelizer = Voxelizer::new(Rule::fraction()).extras(extras);
    let (_, arrays) = voxelizer.run_with_arrays(&joined, &lattice).unwrap();
    let sum: f64 = arrays[1]
        .numbers()
        .iter()
        .map(|share| f64::from(*share))
        .sum();
    assert_eq!(sum, 8.0);
    let one = Rational::ONE;
    assert_eq!(lattice.cell_volume(), one);
}
