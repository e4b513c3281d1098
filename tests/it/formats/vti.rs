//! VTK images of other programs are read in their place, and rejected if they are incomplete.

use super::*;

/// Reads a VTK image of 2 × 3 × 4 cells or points, of which only the second is not 0. Each change replaces
/// text.
fn image(place: &str, changes: &[(&str, &str)]) -> Result<Voxels> {
    let mut head = format!(
        "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\">\n  <ImageData {place}>\n\
         <Piece><CellData><DataArray type=\"UInt8\" Name=\"a\" format=\"appended\" offset=\"0\"/></CellData>\
         </Piece></ImageData>\n  <AppendedData encoding=\"raw\">\n   _"
    );
    let mut end = "\n  </AppendedData>\n</VTKFile>\n".to_string();
    for (from, to) in changes {
        assert!(head.contains(from) || end.contains(from), "{from}");
        head = head.replace(from, to);
        end = end.replace(from, to);
    }
    let mut cells = [0; 4 + 24];
    cells[0] = 24;
    cells[4 + 1] = 1;
    let bytes = [head.as_bytes(), &cells, end.as_bytes()].concat();
    read(&bytes, named("vti"), None)
}

#[test]
fn cells_and_points_are_placed_as_in_vtk() {
    for (place, data, frame) in [
        (
            "WholeExtent=\"0 2 0 3 0 4\" Origin=\"0.1 2 3\" Spacing=\"0.5 0.25 1\"",
            "CellData",
            "2 3 4 at 0.1 2 3 by 0.5 0.25 1: 1 0 0",
        ),
        // A point is the centre of a cell.
        (
            "WholeExtent=\"0 1 0 2 0 3\" Origin=\"0.1 2 3\" Spacing=\"0.5 0.25 1\"",
            "PointData",
            "2 3 4 at -0.15 1.875 2.5 by 0.5 0.25 1: 1 0 0",
        ),
        // An extent that does not start at 0.
        (
            "WholeExtent=\"10 12 -1 2 0 4\" Spacing=\"0.5 1 1\"",
            "CellData",
            "2 3 4 at 5 -1 0 by 0.5 1 1: 1 0 0",
        ),
        // The first axis points along y, the second along -x.
        (
            "WholeExtent=\"0 2 0 3 0 4\" Origin=\"0 0 0\" Spacing=\"1 2 3\" Direction=\"0 -1 0 1 0 0 0 0 1\"",
            "CellData",
            "3 2 4 at -6 0 0 by 2 1 3: 2 1 0",
        ),
    ] {
        let found = image(place, &[("CellData", data)]).unwrap();
        check_frame(&found, frame);
        assert_eq!(found.kind(), CellKind::Bits, "{place}");
    }
}

#[test]
fn unsupported_images_are_specific_errors() {
    const EXTENT: &str = "0 2 0 3 0 4";
    const PLACE: &str = "WholeExtent=\"0 2 0 3 0 4\"";
    let compressor = |name: &str| format!("compressor=\"vtk{name}DataCompressor\"");
    for (from, to, code) in [
        ("LittleEndian", "BigEndian", "V004"),
        ("\"ImageData\"", "\"RectilinearGrid\"", "V004"),
        ("UInt8", "Int32", "V004"),
        ("encoding=\"raw\"", "encoding=\"base64\"", "V004"),
        ("format=\"appended\"", "format=\"binary\"", "V004"),
        ("version=\"0.1\"", &compressor("LZ4"), "V004"),
        ("<DataArray", "<Nothing", "V004"),
        ("offset=\"0\"", "offset=\"99999999999\"", "V002"),
        (EXTENT, "0 2 0 3 0 5", "V005"),
        (EXTENT, "0 2 0 3 4 0", "V004"),
        (EXTENT, "0 9999999 0 9999999 0 9999999", "V005"),
        (EXTENT, "0 2 0 x 0 4", "V003"),
        ("version=\"0.1\"", &compressor("ZLib"), "V005"),
        (EXTENT, "0 2 0 3 0 4\" Spacing=\"1 0 1", "V004"),
        ("</VTKFile>", "</AnyFile>", "V002"),
    ] {
        check_error(image(PLACE, &[(from, to)]), code, (from, to));
    }
}
