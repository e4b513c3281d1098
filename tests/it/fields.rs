//! Fields computed in slabs under a memory limit equal fields computed at once.

use voxelize::grid::Quantity;
use voxelize::job::{Extras, Transform};
use voxelize::{Fit, Mesh, Rational, Rule, Voxelizer};

use crate::support::place::Place;

#[test]
fn slabs_under_a_limit_of_memory_have_the_bytes_of_the_whole() {
    let place = Place::new();
    let knot = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/knot.stl");
    std::fs::copy(knot, place.path("knot.stl")).unwrap();
    let mut seen = 0;
    for options in ["", "--band all", "--signed"] {
        for extension in ["npy", "npz", "raw"] {
            let make = |name: &str, limit: &str| {
                let nearest = format!("--nearest {name}.nearest.npy");
                let words =
                    format!("knot.stl -r 150 --rule distance {options} {nearest} {limit} --json");
                place
                    .run(&format!("{words} -o {name}.{extension}"))
                    .expect(0)
                    .json()
            };
            let whole = make("whole", "");
            let slabs = make("slabs", "-j 2 --max-memory 30M");
            assert_ne!(
                whole["run"]["plan"], slabs["run"]["plan"],
                "{options}: {}",
                slabs["run"]
            );
            assert_eq!(whole["digest"], slabs["digest"]);
            let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
            for end in [extension, "nearest.npy"] {
                let [whole, slabs] = ["whole", "slabs"].map(|name| bytes(&format!("{name}.{end}")));
                assert!(whole == slabs, "{options}: .{end} has other bytes");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 18);
}

#[test]
fn cells_within_a_distance_are_not_cut_by_the_grid() {
    let place = Place::new();
    let sphere = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sphere.stl");
    std::fs::copy(sphere, place.path("sphere.stl")).unwrap();
    let cells = |options: &str| {
        let line = format!(
            "sphere.stl -r 20 --rule distance --signed --iso 2vx {options} --json -o x.npz"
        );
        place.run(&line).expect(0).json()["counts"]["occupied"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(cells("--band all"), cells("--band 5"));
    assert!(cells("--band all --pad 0") < cells("--band all"));
}

#[test]
fn arrays_of_quantities_are_members_of_their_shape() {
    let place = Place::new();
    let knot = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/knot.stl");
    std::fs::copy(knot, place.path("knot.stl")).unwrap();
    let mut seen = 0;
    for (order, shapes) in [
        (
            "",
            [
                "'fortran_order': True, 'shape': (100, 102, 46), ",
                "'fortran_order': True, 'shape': (3, 100, 102, 46), ",
            ],
        ),
        (
            "--order zyx",
            [
                "'fortran_order': False, 'shape': (46, 102, 100), ",
                "'fortran_order': False, 'shape': (46, 102, 100, 3), ",
            ],
        ),
    ] {
        let make = |name: &str, limit: &str| {
            let grid = "--bounds -30,-30,-15,20,21,8 --voxel-size 0.5";
            let words = format!(
                "knot.stl {grid} --rule fraction --with area,normal,faces,centroid {order} {limit}"
            );
            place
                .run(&format!("{words} --json -o {name}.npz"))
                .expect(0)
                .json()
        };
        let whole = make("whole", "");
        let slabs = make("slabs", "-j 2 --max-memory 30M");
        let [few, many] =
            ["-n", "-n -j 2 --max-memory 30M"].map(|limit| make("none", limit)["estimate"].clone());
        assert!(
            few["slabs"].as_u64() < many["slabs"].as_u64(),
            "{few} {many}"
        );
        assert!(
            many["output_bytes"].as_u64() > Some(11 * 4 * 100 * 102 * 46 - 1),
            "{many}"
        );
        assert_eq!(
            (&whole["digest"], &whole["field"]),
            (&slabs["digest"], &slabs["field"])
        );
        assert_eq!(whole["field"]["arrays"].as_array().unwrap().len(), 4);
        let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
        assert!(
            bytes("whole.npz") == bytes("slabs.npz"),
            "{order}: other bytes"
        );
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes("whole.npz"))).unwrap();
        for (name, shape) in [("area", 0), ("normal", 1), ("faces", 1), ("centroid", 1)] {
            let mut member = vec![];
            let mut file = archive.by_name(&format!("{name}.npy")).unwrap();
            std::io::Read::read_to_end(&mut file, &mut member).unwrap();
            let header = String::from_utf8_lossy(&member[10..128]).into_owned();
            assert!(
                header.contains(shapes[shape]) && header.contains("'<f4'"),
                "{name}: {header}"
            );
            assert_eq!(
                member.len(),
                128 + 4 * 100 * 102 * 46 * if shape == 0 { 1 } else { 3 }
            );
            seen += 1;
        }
        // The shares equal the shares of a file without arrays.
        let plain = place.run("info whole.npz --json").expect(0).json();
        assert_eq!(plain["digest"], whole["digest"]);
    }
    assert_eq!(seen, 8);
}

#[test]
fn a_conversion_reports_omitted_arrays() {
    let place = Place::new();
    place
        .run("cube.stl -r 4 --rule fraction --with faces,area -o with.npz")
        .expect(0);
    place
        .run("cube.stl -r 4 --rule fraction -o without.npz")
        .expect(0);
    for output in ["a.npz", "a.vti"] {
        let run = place
            .run(&format!("convert with.npz {output} --json"))
            .expect(0)
            .json();
        let warnings = run["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert_eq!(warnings[0]["code"], "W004");
        assert!(
            warnings[0]["message"]
                .as_str()
                .unwrap()
                .contains("area, faces"),
            "{warnings:?}"
        );
        let run = place
            .run(&format!("convert without.npz {output} --json"))
            .expect(0)
            .json();
        assert_eq!(run["warnings"], serde_json::json!([]));
    }
}

#[test]
fn scaled_fields_are_multiplied_by_the_factor() {
    let mesh = Mesh::open("fixtures/knot.stl").unwrap();
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
        let mesh = Mesh::open(format!(
            "{}/fixtures/{name}.stl",
            env!("CARGO_MANIFEST_DIR")
        ))
        .unwrap();
        for (res, pad) in [(11, 0), (20, 2), (33, 1)] {
            let lattice = Fit::longest(res).pad(pad).to(mesh.bounds()).unwrap();
            let inside = voxelize::Inside::Flood { close_holes };
            let filled =
                voxelize::voxelize(&mesh, &lattice, Rule::filled().with_inside(inside).unwrap())
                    .unwrap();
            let filled = filled.occupied().unwrap();
            for (band, iso) in [
                (voxelize::Band::All, None),
                (voxelize::Band::cells(3), None),
                (voxelize::Band::All, Some("0")),
            ] {
                let iso = iso.map(|text| text.parse().unwrap());
                let rule = Rule::Distance {
                    band,
                    sign: Some(inside),
                    iso,
                };
                let signed = voxelize::voxelize(&mesh, &lattice, rule).unwrap();
                let [nx, ny, nz] = lattice.dims();
                for k in 0..nz {
                    for j in 0..ny {
                        for i in 0..nx {
                            let is_inside = match signed.field() {
                                Some(field) => field.row(j, k)[i].is_sign_negative(),
                                None => signed.occupied().unwrap().get([i, j, k]),
                            };
                            let is_filled = filled.get([i, j, k]);
                            // For bits, centres on the mesh are also occupied.
                            let agrees = is_inside == is_filled || iso.is_some() && is_inside;
                            assert!(agrees, "{name} at {res}: {i} {j} {k}, {band:?} {iso:?}");
                            cells[usize::from(is_filled)] += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(cells[0] > 10_000 && cells[1] > 10_000, "{cells:?}");
}
