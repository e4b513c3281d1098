//! The command reports oddities of a mesh, and --strict and --lenient follow their documentation. The texts are
//! in the transcripts `errors`, `info` and `warnings`.

use crate::support::place::{Place, cuboid, stl};
use crate::support::rows::check;
use crate::support::solids::damaged;
use crate::support::wild::files::gzip;

#[test]
fn oddities_are_reported_as_numbers() {
    let place = Place::new();
    place.write("bad.stl", damaged());
    let mut odd = stl(&cuboid([20.0; 3]));
    odd[..5].copy_from_slice(b"solid");
    place.write("odd.stl", odd);
    let far = cuboid([20.0; 3])
        .into_iter()
        .map(|t| t.map(|[x, y, z]| [x + 500_000.0, y, z]));
    place.write("far.stl", stl(&far.collect::<Vec<_>>()));
    check(
        &place,
        r#"
        0 bad.stl -r 8 --lenient --json -o a.npy
            /mesh/triangles 10
            /mesh/dropped 2
            /warnings/0/code "S003"
            /warnings/1/code "S004"
            /warnings/1/level "warning"
            /warnings/1/count 1
            /warnings/1/triangle 3
            /warnings/1/byte 246
            /warnings/1/line null
        3 bad.stl --json -o a.npy
            /error/code "S003"
            /error/byte 674
        0 info --lenient --json bad.stl
            /mesh/dropped 2
            /warnings/0/code "S003"
        0 odd.stl -r 8 --json -o a.npy
            /warnings/0/level "note"
        0 cube.stl -r 8 --strict -o a.npy
        0 far.stl -r 8 --json -o a.npy
            /warnings/0/code "L001"
        # Cells that are coarse enough.
        0 far.stl -r 4 -o a.npy
            no err warning[
        "#,
    );
}

#[test]
fn a_gzip_file_is_read_as_its_content() {
    let place = Place::new();
    let packed = gzip(&stl(&cuboid([20.0; 3])));
    place.write("part.stl.gz", &packed);
    let runs = check(
        &place,
        r#"
        0 part.stl.gz -r 8
            file part.vox
        0 part.stl.gz -r 8 --json -o a.npy
            /input/packing "gzip"
        0 cube.stl -r 8 --json -o b.npy
        "#,
    );
    let piped = place.run_with("- -r 8 --json -o c.npy", &packed).expect(0);
    let plain = &runs[2].json()["digest"];
    assert_eq!(&runs[1].json()["digest"], plain);
    assert_eq!(&piped.json()["digest"], plain);
}
