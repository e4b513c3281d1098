//! Small pictures that were reviewed once and must not change in any pixel.

use std::path::{Path, PathBuf};

use crate::support::bless;
use crate::support::meshes::{fixture, remapped, surface};
use voxelize::grid::{CellsRef, Label, Legend};
use voxelize::view::{self, Axes, Background, From, Layer, Picture, Projection, Shown, Up, View};
use voxelize::{Band, BitGrid, Field, Fit, Labels, Lattice, Length, Rule, Ties, compare, voxelize};

fn folder() -> PathBuf {
    bless::root("tests/it/view/pictures")
}

fn cells(name: &str, res: usize) -> BitGrid {
    let mesh = fixture(name);
    let lattice = Lattice::fit(mesh.bounds(), res).unwrap();
    surface(&mesh, &lattice, Ties::Up)
}

/// Compares the knot without one piece with the knot without another.
fn changed() -> Labels {
    let whole = cells("knot.stl", 32);
    let first = without(&whole, |[i, ..]| i < 8);
    let second = without(&whole, |[_, j, _]| j > 25);
    compare::diff::labels(&first, &second).unwrap()
}

/// Returns the cells outside a region.
fn without(cells: &BitGrid, is_within: impl Fn([usize; 3]) -> bool) -> BitGrid {
    remapped(cells, cells.dims(), |cell| {
        (!is_within(cell)).then_some(cell)
    })
}

/// Returns the knot in three labels along x.
fn labelled() -> Labels {
    let cells = cells("knot.stl", 32);
    let names = [(7, "left end"), (20, "Middle (2)"), (200, "right & last")];
    let mut labels = names.map(|(value, name)| Label::new(value, name));
    labels[1].colour = Some([0x70, 0x30, 0xa0]);
    let mut grid = Labels::new(cells.dims(), Legend::new(labels).unwrap()).unwrap();
    cells
        .iter()
        .for_each(|cell| grid.set(cell, names[cell[0] * 3 / cells.dims()[0]].0));
    grid
}

/// Returns the distance from a sphere within a band, with a few cells without a value.
fn band() -> Field {
    let mut field = Field::new([36, 28, 20], f32::INFINITY).unwrap();
    for (j, k) in (0..20).flat_map(|k| (0..28).map(move |j| (j, k))) {
        for (i, value) in field.row_mut(j, k).iter_mut().enumerate() {
            let [x, y, z] = [i as f32 - 17.5, j as f32 - 13.5, k as f32 - 9.5];
            let distance = (x * x + y * y + z * z).sqrt() - 9.0;
            *value = match distance {
                _ if i < 4 && j < 4 => f32::NAN,
                near if near.abs() < 5.0 => near,
                _ => f32::INFINITY,
            };
        }
    }
    field
}

fn small(from: (f64, f64)) -> View {
    View {
        size: [160, 120],
        from: From::new(from.0, from.1),
        ..View::default()
    }
}

/// References: the name and the function that draws the picture.
type Reference = (&'static str, fn() -> Picture);

const REFERENCES: &[Reference] = &[
    ("knot-iso", || {
        let view = View {
            size: [240, 180],
            ..View::default()
        };
        drawn(&cells("knot.stl", 24), &view)
    }),
    ("knot-fine", || {
        drawn(&cells("knot.stl", 128), &small((30.0, 30.0)))
    }),
    ("f-perspective", || {
        let view = View {
            projection: Projection::Perspective,
            background: WHITE,
            ..small((30.0, 25.0))
        };
        drawn(&cells("f.stl", 12), &view)
    }),
    ("f-up-y", || {
        let view = View {
            up: Up::Y,
            ..small((30.0, 25.0))
        };
        view::cells(&cells("f.stl", 12), [1.0, 1.0, 2.0], &view).unwrap()
    }),
    ("changed", || drawn(&changed(), &small((45.0, 35.0)))),
    ("mesh", || {
        view::facets(&fixture("knot.stl"), &small((30.0, 30.0))).unwrap()
    }),
    ("slice", || {
        layer(&changed(), 1, 12, [160, 120], Background::Transparent)
    }),
    ("labels", || {
        let view = View {
            size: [320, 240],
            ..View::default()
        };
        drawn(&labelled(), &view)
    }),
    ("labels-slice", || {
        layer(&labelled(), 1, 12, [320, 160], WHITE)
    }),
    ("field", || layer(&band(), 2, 9, [320, 200], WHITE)),
    ("field-sheet", || {
        view::sheet(&band(), [1.0; 3], 2, [400, 300], Background::Transparent).unwrap()
    }),
    ("sheet", || {
        view::sheet(&cells("knot.stl", 24), [1.0; 3], 2, [160, 120], WHITE).unwrap()
    }),
];

/// Pictures of the README.
const README: &[Reference] = &[
    ("knot-mesh", || {
        view::facets(&fixture("knot.stl"), &wide()).unwrap()
    }),
    ("knot-32", || drawn(&cells("knot.stl", 32), &wide())),
    ("knot-128", || drawn(&cells("knot.stl", 128), &wide())),
    ("knot-512", || drawn(&cells("knot.stl", 512), &wide())),
    ("open-surface", || opened(Rule::surface())),
    ("open-solid", || opened(Rule::solid())),
    ("open-filled", || opened(Rule::filled())),
    ("slice-surface", || sliced(Rule::surface())),
    ("slice-thin", || sliced(Rule::Thin)),
    ("slice-offset", || sliced(Rule::offset(Length::cells(2)))),
    ("slice-distance", || {
        let signed = Rule::distance().with_sign().unwrap();
        sliced(signed.with_band(Band::All).unwrap())
    }),
];

const WHITE: Background = Background::Plain([255; 3]);

fn drawn<'a>(cells: impl Into<CellsRef<'a>>, view: &View) -> Picture {
    view::cells(cells, [1.0; 3], view).unwrap()
}

fn layer<'a>(
    cells: impl Into<Shown<'a>>,
    axis: usize,
    index: usize,
    size: [usize; 2],
    background: Background,
) -> Picture {
    view::slice(cells, [1.0; 3], Layer { axis, index }, size, background).unwrap()
}

/// Draws a layer in the middle of the knot by a rule.
fn sliced(rule: Rule) -> Picture {
    let mesh = fixture("knot.stl");
    let lattice = Fit::longest(48).pad(3).to(mesh.bounds()).unwrap();
    let voxels = voxelize(&mesh, &lattice, rule).unwrap();
    let middle = lattice.dims()[2] / 2;
    layer(
        &voxels.cells,
        2,
        middle,
        [420, 320],
        Background::Transparent,
    )
}

/// Draws the knot by a rule, with its upper half cut off.
fn opened(rule: Rule) -> Picture {
    let mesh = fixture("knot.stl");
    let lattice = Lattice::fit(mesh.bounds(), 48).unwrap();
    let voxels = voxelize(&mesh, &lattice, rule).unwrap();
    let whole = voxels.into_occupied().unwrap();
    let middle = whole.dims()[2] / 2;
    drawn(&without(&whole, |[.., k]| k >= middle), &wide())
}

fn wide() -> View {
    View {
        size: [400, 320],
        axes: Axes::Hidden,
        ..small((30.0, 32.0))
    }
}

/// Returns the pixels of a file. Compressed bytes may differ between machines, pixels may not.
fn pixels(path: &Path) -> Option<Vec<u8>> {
    let file = std::io::BufReader::new(std::fs::File::open(path).ok()?);
    let mut reader = png::Decoder::new(file).read_info().ok()?;
    let mut pixels = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut pixels).ok()?;
    pixels.extend(
        [info.width, info.height]
            .iter()
            .flat_map(|n| n.to_le_bytes()),
    );
    Some(pixels)
}

/// Compares the pictures in a folder, and writes them again on request.
fn compare_all(folder: &Path, references: &[Reference]) {
    let mut stale = vec![];
    for (name, draw) in references {
        let path = folder.join(name).with_extension("png");
        let drawn = draw();
        let mut expected = drawn.as_bytes().to_vec();
        expected.extend(drawn.size().iter().flat_map(|n| (*n as u32).to_le_bytes()));
        if pixels(&path) != Some(expected) {
            stale.push(*name);
            if bless::is_blessing() {
                std::fs::create_dir_all(folder).unwrap();
                drawn.save(&path).unwrap();
            }
        }
    }
    assert!(
        stale.is_empty(),
        "{stale:?} differ; look at them, then VOXELIZE_BLESS=1 writes them again"
    );
}

#[test]
fn pictures_are_as_they_were() {
    compare_all(&folder(), REFERENCES);
    let files = std::fs::read_dir(folder()).unwrap().count();
    assert_eq!(files, REFERENCES.len(), "a picture that no reference draws");
}

#[test]
fn pictures_of_the_readme_match_the_tool() {
    compare_all(&bless::root("docs/pictures"), README);
    let texts = ["README.md", "docs/reference/rules.md"]
        .map(|page| std::fs::read_to_string(bless::root(page)).unwrap());
    for (name, _) in README {
        let link = format!("pictures/{name}.png");
        assert!(
            texts.iter().any(|text| text.contains(&link)),
            "no page shows {name}"
        );
    }
}

#[test]
fn slices_as_text_have_the_axes_as_documented() {
    let grid = |text| BitGrid::from_text(text).unwrap();
    let cells = grid("##.\n#..\n\n...\n..#\n");
    let text = |axis, index| view::slice_text(&cells, Layer { axis, index });
    for (axis, index, expected) in [
        (2, 0, "##.\n#..\n"),
        (2, 1, "...\n..#\n"),
        (1, 0, "..#\n#..\n"),
        (1, 1, "...\n##.\n"),
        (0, 0, "..\n##\n"),
        (0, 1, "..\n.#\n"),
        (0, 2, "#.\n..\n"),
    ] {
        assert_eq!(text(axis, index).unwrap(), expected, "{axis} {index}");
    }
    let error = text(2, 2).unwrap_err();
    assert_eq!(error.kind(), voxelize::Kind::Usage);
    assert!(error.message().contains("z=2"), "{error}");

    let row = |cells: Shown| view::slice_text(cells, Layer { axis: 2, index: 0 }).unwrap();
    let changed = compare::diff::labels(&grid("#.#."), &grid("##..")).unwrap();
    assert_eq!(row((&changed).into()), "#+-.\n");
    let mut labels = Labels::new([5, 1, 1], Legend::default()).unwrap();
    for (i, value) in [1, 10, 35, 36].into_iter().enumerate() {
        labels.set([i, 0, 0], value);
    }
    assert_eq!(row((&labels).into()), "1az#.\n");
    for (rule, background, values, expected) in [
        (
            None,
            9.0,
            &[-1.0, 0.0, 0.99, 1.0, f32::INFINITY, f32::NAN, 9.0][..],
            "j0999?.\n",
        ),
        // The negated background is inside and beyond the band.
        (None, 2.0, &[2.0, 0.5, -0.1, -2.0], ".9c#\n"),
        (
            Some("fraction"),
            0.0,
            &[0.0, 1e-9, 0.05, 0.55, 0.999, 1.0],
            ".0059#\n",
        ),
        (None, 9.0, &[0.0, 0.5, 1.0, 9.0], "059.\n"),
    ] {
        let dims = [values.len(), 1, 1];
        let field = Field::from_values(dims, background, values.to_vec()).unwrap();
        assert_eq!(row(Shown::by_rule(&field, rule)), expected);
    }
}

#[test]
fn a_slice_is_squares_of_the_cells() {
    let cells = BitGrid::from_text("##.\n#..\n").unwrap();
    let layer = Layer { axis: 2, index: 0 };
    let slice =
        |spacing, size| view::slice(&cells, spacing, layer, size, Background::Transparent).unwrap();
    let picture = slice([1.0; 3], [10, 9]);
    assert_eq!(picture.size(), [9, 6]);
    let text = cells.layer_text(0);
    for (y, line) in text.lines().enumerate() {
        for (x, cell) in line.bytes().enumerate() {
            for (dx, dy) in [(0, 0), (2, 0), (1, 1), (0, 2), (2, 2)] {
                let [r, _, b, _] = picture.get([3 * x + dx, 3 * y + dy]);
                assert_eq!(r > b.saturating_add(20), cell == b'#', "{x} {y}");
            }
        }
    }
    assert_eq!(
        slice([1.0, 2.0, 1.0], [10, 12]).size(),
        [9, 12],
        "cells twice as high as wide"
    );
    assert_eq!(
        slice([1.0; 3], [2, 2]).size(),
        [2, 1],
        "more cells than pixels"
    );
}
