//! VTK images of other programs are read in their place, and rejected if they are incomplete.

use voxelize::format::{self, read_from};
use voxelize::grid::Cells;
use voxelize::{Code, Rational, Result, Voxels};

fn read(bytes: &[u8]) -> Result<Voxels> {
    read_from(
        std::io::Cursor::new(bytes),
        format::by_name("vti").unwrap(),
        None,
    )
}

/// Returns a VTK image of 2 × 3 × 4 values. Only the second is not 0. `place` is inserted in ImageData.
fn image(place: &str, arrays: &str, data: &[u8]) -> Vec<u8> {
    let head = format!(
        "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\">\n  <ImageData {place}>\n\
         <Piece>{arrays}</Piece></ImageData>\n  <AppendedData encoding=\"raw\">\n   _"
    );
    [head.as_bytes(), data, b"\n  </AppendedData>\n</VTKFile>\n"].concat()
}

fn bytes_of_cells() -> Vec<u8> {
    let mut cells = vec![0; 4 + 24];
    cells[0] = 24;
    cells[4 + 1] = 1;
    cells
}

const CELLS: &str =
    "<CellData><DataArray type=\"UInt8\" Name=\"a\" format=\"appended\" offset=\"0\"/></CellData>";
const POINTS: &str = "<PointData><DataArray type=\"UInt8\" Name=\"a\" format=\"appended\" offset=\"0\"/></PointData>";

#[test]
fn cells_and_points_are_placed_as_in_vtk() {
    let mut seen = 0;
    for (place, arrays, dims, origin, spacing, cell) in [
        (
            "WholeExtent=\"0 2 0 3 0 4\" Origin=\"0.1 2 3\" Spacing=\"0.5 0.25 1\"",
            CELLS,
            [2, 3, 4],
            ["0.1", "2", "3"],
            ["0.5", "0.25", "1"],
            [1, 0, 0],
        ),
        // A point is the centre of a cell.
        (
            "WholeExtent=\"0 1 0 2 0 3\" Origin=\"0.1 2 3\" Spacing=\"0.5 0.25 1\"",
            POINTS,
            [2, 3, 4],
            ["-0.15", "1.875", "2.5"],
            ["0.5", "0.25", "1"],
            [1, 0, 0],
        ),
        // An extent that does not start at 0.
        (
            "WholeExtent=\"10 12 -1 2 0 4\" Spacing=\"0.5 1 1\"",
            CELLS,
            [2, 3, 4],
            ["5", "-1", "0"],
            ["0.5", "1", "1"],
            [1, 0, 0],
        ),
        // The first axis points along y, the second along -x.
        (
            "WholeExtent=\"0 2 0 3 0 4\" Origin=\"0 0 0\" Spacing=\"1 2 3\" Direction=\"0 -1 0 1 0 0 0 0 1\"",
            CELLS,
            [3, 2, 4],
            ["-6", "0", "0"],
            ["2", "1", "3"],
            [2, 1, 0],
        ),
    ] {
        let found = read(&image(place, arrays, &bytes_of_cells())).unwrap();
        let lattice = found.lattice.unwrap();
        let exact = |words: [&str; 3]| words.map(|word| Rational::parse_decimal(word).unwrap());
        let expected = (dims, &exact(origin), &exact(spacing));
        assert_eq!(
            (lattice.dims(), lattice.origin(), lattice.spacing()),
            expected,
            "{place}"
        );
        let Cells::Bits(bits) = found.cells else {
            panic!("no bits: {place}")
        };
        assert_eq!(bits.iter().collect::<Vec<_>>(), [cell], "{place}");
        seen += 1;
    }
    assert_eq!(seen, 4);
}

#[test]
fn unsupported_images_are_specific_errors() {
    const PLACE: &str = "WholeExtent=\"0 2 0 3 0 4\"";
    let whole = image(PLACE, CELLS, &bytes_of_cells());
    let with = |from: &str, to: &str| {
        let head = String::from_utf8(whole.clone()).unwrap();
        assert!(head.contains(from), "{from}");
        head.replacen(from, to, 1).into_bytes()
    };
    let mut seen = 0;
    for (bytes, code) in [
        (with("LittleEndian", "BigEndian"), Code::V004),
        (with("\"ImageData\"", "\"RectilinearGrid\""), Code::V004),
        (with("UInt8", "Int32"), Code::V004),
        (with("encoding=\"raw\"", "encoding=\"base64\""), Code::V004),
        (with("format=\"appended\"", "format=\"binary\""), Code::V004),
        (
            with("version=\"0.1\"", "compressor=\"vtkLZ4DataCompressor\""),
            Code::V004,
        ),
        (with("<DataArray", "<Nothing"), Code::V004),
        (with("offset=\"0\"", "offset=\"99999999999\""), Code::V002),
        (with("0 2 0 3 0 4", "0 2 0 3 0 5"), Code::V005),
        (with("0 2 0 3 0 4", "0 2 0 3 4 0"), Code::V004),
        (
            with("0 2 0 3 0 4", "0 9999999 0 9999999 0 9999999"),
            Code::V005,
        ),
        (with("0 2 0 3 0 4", "0 2 0 x 0 4"), Code::V003),
        (
            with("version=\"0.1\"", "compressor=\"vtkZLibDataCompressor\""),
            Code::V005,
        ),
        (
            with(PLACE, "WholeExtent=\"0 2 0 3 0 4\" Spacing=\"1 0 1\""),
            Code::V004,
        ),
        (with("</VTKFile>", "</AnyFile>"), Code::V002),
    ] {
        let error = read(&bytes).unwrap_err();
        assert_eq!(error.code(), code, "{error}, case {seen}");
        seen += 1;
    }
    assert_eq!(seen, 15);
}
