//! Fields computed in slabs under a memory limit equal fields computed at once.

use std::io::Read;

use voxelize::grid::Quantity;
use voxelize::job::{Extras, Transform};
use voxelize::{Band, Fit, Inside, Rational, Rule, Voxelizer, voxelize};

use crate::support::meshes::{fixture, folder};
use crate::support::place::Place;
use crate::support::rows;

/// Creates a folder with the knot and the sphere.
fn place() -> Place {
    let place = Place::new();
    for name in ["knot.stl", "sphere.stl"] {
        std::fs::copy(folder().join(name), place.path(name)).unwrap();
    }
    place
}

/// Asserts that two files have the same bytes.
#[track_caller]
fn assert_same_bytes(place: &Place, first: &str, second: &str) {
    let [a, b] = [first, second].map(|name| std::fs::read(place.path(name)).unwrap());
    assert!(a == b, "{first} and {second} differ");
}

#[test]
fn slabs_under_a_limit_of_memory_have_the_bytes_of_the_whole() {
    let place = place();
    for options in ["", "--band all", "--signed"] {
        for extension in ["npy", "npz", "raw"] {
            let line = format!("0 knot.stl -r 150 --rule distance {options} --json");
            let runs = rows::check(
                &place,
                &format!(
                    "{line} -o whole.{extension} --nearest whole.nearest.npy
                     {line} -o slabs.{extension} --nearest slabs.nearest.npy -j 2 --max-memory 30M"
                ),
            );
            let [whole, slabs] = [runs[0].json(), runs[1].json()];
            assert_ne!(whole["run"]["plan"], slabs["run"]["plan"], "{options}");
            assert_eq!(whole["digest"], slabs["digest"]);
            for end in [extension, "nearest.npy"] {
                assert_same_bytes(&place, &format!("whole.{end}"), &format!("slabs.{end}"));
            }
        }
    }
}

#[test]
fn cells_within_a_distance_are_not_cut_by_the_grid() {
    let place = place();
    let cells = |options: &str| {
        let line = format!("sphere.stl -r 20 --rule distance --signed --iso 2vx {options}");
        let run = place.run(&format!("{line} --json -o x.npz")).expect(0);
        run.json()["counts"]["occupied"].as_u64().unwrap()
    };
    assert_eq!(cells("--band all"), cells("--band 5"));
    assert!(cells("--band all --pad 0") < cells("--band all"));
}

#[test]
fn arrays_of_quantities_are_members_of_their_shape() {
    let place = place();
    const CELLS: usize = 100 * 102 * 46;
    for (order, one, three) in [
        (
            "",
            "'fortran_order': True, 'shape': (100, 102, 46), ",
            "'fortran_order': True, 'shape': (3, 100, 102, 46), ",
        ),
        (
            "--order zyx",
            "'fortran_order': False, 'shape': (46, 102, 100), ",
            "'fortran_order': False, 'shape': (46, 102, 100, 3), ",
        ),
    ] {
        let line = format!(
            "0 knot.stl --bounds -30,-30,-15,20,21,8 --voxel-size 0.5 --rule fraction --json \
             --with area,normal,faces,centroid {order}"
        );
        let runs = rows::check(
            &place,
            &format!(
                "{line} -o whole.npz
                 {line} -o slabs.npz -j 2 --max-memory 30M
                 {line} -o none.npz -n
                 {line} -o none.npz -n -j 2 --max-memory 30M
                 0 info whole.npz --json"
            ),
        );
        let [whole, slabs, few, many, info] = [0, 1, 2, 3, 4].map(|n: usize| runs[n].json());
        assert_same_bytes(&place, "whole.npz", "slabs.npz");
        assert_eq!(whole["digest"], slabs["digest"]);
        assert_eq!(whole["field"], slabs["field"]);
        // The shares equal the shares of a file without arrays.
        assert_eq!(whole["digest"], info["digest"]);
        assert_eq!(whole["field"]["arrays"].as_array().unwrap().len(), 4);
        let [few, many] = [&few["estimate"], &many["estimate"]];
        assert!(
            few["slabs"].as_u64() < many["slabs"].as_u64(),
            "{few} {many}"
        );
        let bytes = many["output_bytes"].as_u64().unwrap();
        assert!(bytes >= 11 * 4 * CELLS as u64, "{many}");
        let file = std::fs::File::open(place.path("whole.npz")).unwrap();
        let mut archive = zip::ZipArchive::new(file).unwrap();
        for (name, numbers, shape) in [
            ("area", 1, one),
            ("normal", 3, three),
            ("faces", 3, three),
            ("centroid", 3, three),
        ] {
            let mut member = vec![];
            let mut file = archive.by_name(&format!("{name}.npy")).unwrap();
            file.read_to_end(&mut member).unwrap();
            let header = String::from_utf8_lossy(&member[10..128]);
            assert!(
                header.contains(shape) && header.contains("'<f4'"),
                "{name}: {header}"
            );
            assert_eq!(member.len(), 128 + 4 * CELLS * numbers);
        }
    }
}

#[test]
fn a_conversion_reports_omitted_arrays() {
    let place = place();
    rows::check(
        &place,
        "0 cube.stl -r 4 --rule fraction --with faces,area -o with.npz
         0 cube.stl -r 4 --rule fraction -o without.npz",
    );
    for output in ["a.npz", "a.vti"] {
        let runs = rows::check(
            &place,
            &format!(
                "0 convert with.npz {output} --json
                     /warnings/0/code \"W004\"
                 0 convert without.npz {output} --json
                     /warnings []"
            ),
        );
        let warnings = runs[0].json()["warnings"].clone();
        assert_eq!(warnings.as_array().unwrap().len(), 1);
        let message = warnings[0]["message"].to_string();
        assert!(message.contains("area, faces"), "{message}");
    }
}

#[test]
fn scaled_fields_are_multiplied_by_the_factor() {
    let mesh = fixture("knot.stl");
    let mut seen = [0; 2];
    for factor in ["2", "1/3", "1000", "0.001"] {
        let scale = Rational::parse(factor).unwrap();
        let transform = Transform {
            scale: scale.clone(),
            ..Transform::default()
        };
        for (rule, power) in [
            (Rule::distance(), 1),
            (Rule::Area, 2),
            (Rule::fraction(), 0),
        ] {
            let lattice = Fit::longest(40).pad(3).to(mesh.bounds()).unwrap();
            let quantities = (power == 0).then_some(Quantity::Area).into_iter().collect();
            let voxelizer = Voxelizer::new(rule).extras(Extras {
                quantities,
                ..Extras::default()
            });
            let (plain, areas) = voxelizer.run_with_arrays(&mesh, &lattice).unwrap();
            let scaled = voxelizer.transform(&transform);
            let (scaled, scaled_areas) = scaled.run_with_arrays(&mesh, &lattice).unwrap();
            let placed = scaled.voxels.lattice.clone().unwrap();
            assert_eq!(placed.spacing()[0], &lattice.spacing()[0] * &scale);

            let [plain, scaled] = [&plain, &scaled].map(|made| made.voxels.field().unwrap());
            assert_eq!(Some(scaled.background()), rule.background(&placed));
            let by = scale.to_f64().powi(power);
            for (value, scaled_value) in plain.values().iter().zip(scaled.values()) {
                let is_background = plain.is_background(*value);
                assert_eq!(
                    scaled.is_background(*scaled_value),
                    is_background,
                    "{factor}: {value}"
                );
                if !is_background {
                    let product = (f64::from(*value) * by) as f32;
                    let limit = if power == 1 {
                        scaled.background().next_down()
                    } else {
                        f32::INFINITY
                    };
                    assert_eq!(*scaled_value, product.min(limit), "{factor}: {value}");
                }
                seen[usize::from(is_background)] += 1;
            }
            let by = scale.to_f64().powi(2);
            for (area, scaled) in areas.iter().zip(&scaled_areas) {
                let products = area
                    .numbers()
                    .iter()
                    .map(|area| (f64::from(*area) * by) as f32);
                assert!(products.eq(scaled.numbers().iter().copied()), "{factor}");
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 10_000), "{seen:?}");
}

/// A flood stops at the cells that the mesh touches. These cells have the sign of the inside, because the
/// rule filled occupies them.
#[test]
fn the_sign_by_a_flood_is_that_of_filled_by_a_flood() {
    let mut cells = [0, 0];
    for (name, close_holes) in [
        ("cube", None),
        ("knot", None),
        ("bracket", None),
        ("open", Some(64)),
        ("open", None),
    ] {
        let mesh = fixture(&format!("{name}.stl"));
        for (res, pad) in [(11, 0), (20, 2), (33, 1)] {
            let lattice = Fit::longest(res).pad(pad).to(mesh.bounds()).unwrap();
            let inside = Inside::Flood { close_holes };
            let rule = Rule::filled().with_inside(inside).unwrap();
            let filled = voxelize(&mesh, &lattice, rule).unwrap();
            let filled = filled.occupied().unwrap();
            for (band, iso) in [
                (Band::All, None),
                (Band::cells(3), None),
                (Band::All, Some("0")),
            ] {
                let iso = iso.map(|text| text.parse().unwrap());
                let rule = Rule::Distance {
                    band,
                    sign: Some(inside),
                    iso,
                };
                let signed = voxelize(&mesh, &lattice, rule).unwrap();
                let [nx, ny, nz] = lattice.dims();
                for n in 0..nx * ny * nz {
                    let cell @ [i, j, k] = [n % nx, n / nx % ny, n / nx / ny];
                    let is_inside = match signed.field() {
                        Some(field) => field.row(j, k)[i].is_sign_negative(),
                        None => signed.occupied().unwrap().get(cell),
                    };
                    let is_filled = filled.get(cell);
                    // For bits, centres on the mesh are also occupied.
                    let agrees = is_inside == is_filled || iso.is_some() && is_inside;
                    assert!(agrees, "{name} at {res}: {cell:?}, {band:?} {iso:?}");
                    cells[usize::from(is_filled)] += 1;
                }
            }
        }
    }
    assert!(cells[0] > 10_000 && cells[1] > 10_000, "{cells:?}");
}
