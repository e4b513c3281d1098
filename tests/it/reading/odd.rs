//! Odd and damaged files of formats with numbered vertices: each is read as intended, or refused with the right
//! code.

use voxelize::Result;
use voxelize::mesh::read::{Loaded, ReadOptions, Tolerance, read_stream};

use super::inputs::{codes, rows, text};

/// Parts of many files.
const PARTS: [(&str, &str); 7] = [
    ("{v}", r"v 0 0 0\nv 1 0 0\nv 0 1 0\n"),
    ("{points}", r"0 0 0\n1 0 0\n0 1 0\n"),
    ("{ply}", r"ply\nformat ascii 1.0\n"),
    ("{three}", r"element vertex 3\n{xyz}"),
    (
        "{xyz}",
        r"property float x\nproperty float y\nproperty float z\n",
    ),
    ("{face}", r"element face 1\n{list}"),
    ("{list}", r"property list uchar int vertex_indices\n"),
];

// A row is a result, a name and a file. Results:
//
// - `=`: the triangle of `{v}`, without findings. A number: this number of triangles. Codes of findings follow.
// - A code: an error. Its line and the number of triangles with `--lenient` follow, if they are decided.

const OBJ: &str = r"
    = | plain | {v}f 1 2 3\n
    = | byte order mark | \xef\xbb\xbf{v}f 1 2 3\n
    = | CR LF | v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n
    = | places | {v}f 1/1 2/2 3/3\n
    = | normals | {v}f 1//1 2//1 3//1\n
    = | places and normals | {v}f 1/1/1 2/2/1 3/3/1\n
    = | numbers from the end | {v}f -3 -2 -1\n
    = | both kinds, and a comment | {v}f -3//-1 -2 3 # a comment\n
    = | a face of three lines | {v}f 1 \\\n2 \\\r\n3\n
    = | an old keyword | {v}fo 1 2 3\n
    = | blanks and tabs | # made by hand\n\n{v}  f 1\t2 3  \n
    = | other statements | {v}s off\nusemtl red\ng\nvn 0 0 1\nvt 0 0\nf 1 2 3\n
    = | a sign | {v}f +1 2 3\n
    = | weights, colours, exponents | v 0 0 0 1\nv 1.0e0 0 0 0.5 0.5 1\nv 0.000 +1 -0e5 255 0 0\nf 1 2 3\n
    3 | five corners | v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 1 0\nf 1 2 3 4 5\n
    1 | a corner twice | {v}f 1 2 2\n
    = | ends in a backslash | {v}f 1 2 3 \\
    = | names in other scripts | o körper\n{v}usemtl 赤\nf 1 2 3\n
    = | an object without a name | o\n{v}f 1 2 3\n
    = | colours of some vertices | v 0 0 0 1 0 0\nv 1 0 0\nv 0 1 0 0 0 1\nf 1 2 3\n
    2 | faces between vertices | {v}f 1 2 3\nv 1 1 0\nf 2 4 3\n
    = S107 | points and lines | {v}p 1\nl 1 2\nf 1 2 3\n
    = S110 | materials next to a stream | mtllib none.mtl\n{v}f 1 2 3\n
    0 | vertices alone | {v}
    S012 | a face before its vertices | v 0 0 0\nf 1 2 3\nv 1 0 0\nv 0 1 0\n
    S012 4 1 | vertex 4 | {v}f 1 2 4\nf 1 2 3\n
    S012 4 1 | vertex 0 | {v}f 0 2 3\nf 1 2 3\n
    S012 4 1 | too far back | {v}f -4 2 3\nf 1 2 3\n
    S007 4 1 | a number of twenty digits | {v}f 99999999999999999999 2 3\nf 1 2 3\n
    S007 4 1 | a word for a number | {v}f 1 2 x\nf 1 2 3\n
    S007 4 1 | a vertex of two numbers | {v}v 0 1\nf 1 2 3\n
    S007 4 1 | commas in numbers | {v}v 1,5 0 0\nf 1 2 3\nf 2 3 4\n
    S004 4 1 | not a number | {v}v nan 0 0\nf 1 2 3\nf 2 3 4\n
    S004 4 1 | beyond floats | {v}v 0 1e39 0\nf 4 2 3\nf 1 2 3\n
    S004 | infinite | v 0 0 0\nv inf 0 0\nv 0 1 0\nf 1 2 3\n
    S006 4 1 | two corners | {v}f 1 2\nf 1 2 3\n
    = | a comment that ends in a backslash | # C:\\\n{v}f 1 2 3\n
    = | a name that ends in a backslash | {v}o C:\\\nf 1 2 3\n
    2 | a comment after a face | {v}f 1 2 3 # C:\\\nf 3 2 1\n
    2 | a backslash, and no numbers | {v}f 1 2 3 \\\nf 3 2 1\n
    = | a vertex of three lines | v 0 \\\n0 \\ \n 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n
    = | stray lines first | $ made by x\nof many words\n{v}f 1 2 3\n
    = | places first | vt 0 0\nvn 0 0 1\n{v}f 1/1 2/1 3/1\n
    1 | a vertex that is not finite and not used | v 0 0 0\nv nan 0 0\nv 0 1 0\nv 1 1 0\nf 1 3 4\n
    0 S110 | materials alone | mtllib a.mtl\nusemtl a\n
    S012 | faces alone | f -3 -2 -1\n
    S002 | version 1.0 of a letter | dear all\nv 1.0 is there\n
";

const OFF: &str = r"
    = | plain | OFF\n3 1 0\n{points}3 0 1 2\n
    = | counts after the keyword | OFF 3 1 0\n{points}3 0 1 2\n
    = | no count of edges | OFF\n3 1\n{points}3 0 1 2\n
    = | comments and blank lines | # a\nOFF # b\n# c\n\n3 1 0 # d\n0 0 0\n#e\n1 0 0\n\n0 1 0\n3 0 1 2 # f\n\n
    = | CR LF | OFF\r\n3 1 0\r\n0 0 0\r\n1 0 0\r\n0 1 0\r\n3 0 1 2\r\n
    = | a colour of a face | OFF\n3 1 0\n{points}3 0 1 2 0.5 0.5 0.5 1.0\n
    = | a number in a table of colours | OFF\n3 1 0\n{points}3 0 1 2 7\n
    = | COFF | COFF\n3 1 0\n0 0 0 255 0 0 255\n1 0 0 0 255 0 255\n0 1 0 0 0 255 255\n3 0 1 2 255 0 0\n
    = | COFF, shares | COFF\n3 1 0\n0 0 0 1 0 0 1\n1 0 0 1 0 0 1\n0 1 0 1 0 0 1\n3 0 1 2 255 0 0\n
    = | NOFF | NOFF\n3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 0 1\n3 0 1 2\n
    = | STCNOFF | STCNOFF\n3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 0 1\n3 0 1 2\n
    0 | no faces | OFF\n3 0 0\n{points}
    2 | a face of four | OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n
    2 | a face of three lines | OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0\n1 # a\n2 3\n
    S007 6 1 | a corner too few, and a face | OFF\n3 2 0\n{points}3 0 1\n3 0 1 2\n
    S007 6 1 | a negative count of corners | OFF\n3 2 0\n{points}-3 0 1\n3 0 1 2\n
    S009 | four coordinates | 4OFF\n3 1 0\n0 0 0 1\n1 0 0 1\n0 1 0 1\n3 0 1 2\n
    S009 | binary | OFF BINARY\n\0\0\0\x03
    S012 | a negative number | OFF\n3 1 0\n{points}3 0 1 -1\n
    S012 6 1 | vertex 3 | OFF\n3 2 0\n{points}3 0 1 3\n3 0 1 2\n
    S003 6 1 | fewer faces than said | OFF\n3 2 0\n{points}3 0 1 2\n
    S005 7 1 | more lines than said | OFF\n3 1 0\n{points}3 0 1 2\n7\n
    S005 | more faces than said | OFF\n3 1 0\n{points}3 0 1 2\n3 0 2 1\n
    S007 | a vertex of two numbers | OFF\n3 1 0\n0 0\n1 0 0\n0 1 0\n3 0 1 2\n
    S006 | one corner | OFF\n3 1 0\n{points}1 0\n
    = | no keyword | 3 1 0\n{points}3 0 1 2\n
    S002 | no keyword, and cut | 3 1 0\n0 0 0\n1 0 0\n
    S002 | a list of points | 3 1 0\n{points}0.5 1 2\n
    = | a keyword and a number | OFF3 1 0\n{points}3 0 1 2\n
    = | blanks before the keyword | \n  OFF\n3 1 0\n{points}3 0 1 2\n
    = | lower case | off\n3 1 0\n{points}3 0 1 2\n
    = | normals in lower case | noff 3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 0 1\n3 0 1 2\n
    S009 | n coordinates | nOFF\n3\n3 1 0\n{points}3 0 1 2\n
    S002 | a word of a language | off topic\nand more\n
    = | a backslash | OFF\n3 1 0\n0 0 0 # C:\\\n1 0 0\n0 1 0\n3 0 1 2\n
    = | a vertex that is not finite and not used | OFF\n4 1 0\n{points}nan 0 0\n3 0 1 2\n
    S003 | no counts | OFF\n
    S007 | a count that is a word | OFF\nx 1 0\n
    S007 | a negative count | OFF\n-1 1 0\n
";

const PLY: &str = r"
    = | plain | {ply}{three}{face}end_header\n{points}3 0 1 2\n
    = | vertex_index | {ply}{three}element face 1\nproperty list uchar int vertex_index\nend_header\n{points}3 0 1 2\n
    = | comments | {ply}{three}comment a\nobj_info b\n{face}end_header\n{points}3 0 1 2\n
    = | lists of shorts | {ply}{three}element face 1\nproperty list ushort short vertex_indices\nend_header\n{points}3 0 1 2\n
    = | new names of types | {ply}{three}element face 1\nproperty list uint8 int32 vertex_indices\nend_header\n{points}3 0 1 2\n
    0 | CR LF | ply\r\nformat ascii 1.0\r\nelement vertex 0\r\nproperty float x\r\nend_header\r\n
    0 | points alone | {ply}{three}end_header\n{points}
    = | numbers after a face | {ply}{three}{face}property float quality\nend_header\n{points}3 0 1 2 0.5\n
    = | edges before faces | {ply}{three}element edge 1\nproperty int vertex1\nproperty int vertex2\n{face}end_header\n{points}0 1\n3 0 1 2\n
    = | blank lines | {ply}{three}{face}end_header\n0 0 0\n\n1 0 0\n0 1 0\n\n3 0 1 2\n\n
    = | strips | {ply}{three}element tristrips 1\nproperty list int int vertex_indices\nend_header\n{points}3 0 1 2\n
    = | faces before vertices | {ply}{face}{three}end_header\n3 0 1 2\n{points}
    2 | strips before vertices | {ply}element tristrips 1\nproperty list int int vertex_indices\nelement vertex 4\n{xyz}end_header\n4 0 1 2 3\n{points}1 1 0\n
    S012 | a face before vertices names one that is not there | {ply}{face}{three}end_header\n3 0 1 3\n{points}
    = | CR alone | ply\rformat ascii 1.0\relement vertex 3\rproperty float x\rproperty float y\rproperty float z\relement face 1\rproperty list uchar int vertex_indices\rend_header\r0 0 0\r1 0 0\r0 1 0\r3 0 1 2\r
    S006 | surplus words of a face | {ply}{three}{face}end_header\n{points}3 0 1 2 9\n
    S006 | surplus words of a vertex | {ply}{three}{face}end_header\n0 0 0\n1 0 0 1\n0 1 0\n3 0 1 2\n
    = | another name of the corners | {ply}{three}element face 1\nproperty list uchar int corners\nend_header\n{points}3 0 1 2\n
    2 | strips that are joined | {ply}{three}element tristrips 1\nproperty list int int vertex_indices\nend_header\n{points}8 0 1 2 2 2 1 0 0\n
    S006 | an unknown type | {ply}element vertex 1\nproperty half x\nend_header\n0\n
    S003 | no end of the header | {ply}element vertex 1\nproperty float x\n
    S006 | no format | ply\nelement vertex 1\nproperty float x\nend_header\n0\n
    0 | another version | ply\nformat ascii 2.0\nelement vertex 0\nend_header\n
    S006 | faces without a list | {ply}{three}element face 1\nproperty int a\nend_header\n{points}3\n
    S012 | beyond the vertices | {ply}{three}{face}end_header\n{points}3 0 1 3\n
    S003 | fewer faces than said | {ply}{three}element face 2\n{list}end_header\n{points}3 0 1 2\n
    S003 12 - | no face, but one is said | {ply}{three}{face}end_header\n{points}
    S007 | a list that is too short | {ply}{three}{face}end_header\n{points}4 0 1 2\n
    S007 13 - | a length beyond its type | {ply}{three}{face}end_header\n{points}300 0 1 2\n
    S007 | a list of minus one | {ply}{three}element face 1\nproperty list char int vertex_indices\nend_header\n{points}-1\n
    S005 14 1 | more than is said | {ply}{three}{face}end_header\n{points}3 0 1 2\n9\n
    S005 | more faces than said | {ply}{three}{face}end_header\n{points}3 0 1 2\n3 0 2 1\n
    S007 12 - | a vertex of two numbers | {ply}{three}{face}end_header\n0 0 0\n1 0 0\n0 1\n3 0 1 2\n
    S003 | another version, and no end of the header | ply\nformat ascii 2.0\nelement vertex 1\n
    S006 | no format and no properties | ply\nelement vertex 1\nend_header\n
    S006 | an unknown format | ply\nformat odd 1.0\nend_header\n
    S006 | a property of nothing | {ply}property float x\nend_header\n
    S012 | faces without vertices | {ply}element face 1\nproperty list uchar int corners\nend_header\n3 0 1 2\n
    S006 | a negative count | {ply}element vertex -1\nend_header\n
    S006 | a list without types | {ply}element vertex 1\nproperty list x\nend_header\n
";

fn read(format: &str, bytes: &str, tolerance: Tolerance) -> Result<Loaded> {
    let options = ReadOptions::default().tolerance(tolerance);
    read_stream(&mut bytes.as_bytes(), &format!("odd.{format}"), &options)
}

/// Returns the result of a file in the form of the tables.
fn result(format: &str, bytes: &str, expected: &str) -> String {
    let loaded = match read(format, bytes, Tolerance::Usual) {
        Ok(loaded) => loaded,
        Err(error) => {
            let code = error.code().name();
            if !expected.contains(' ') {
                return code.to_string();
            }
            let line = error.line().unwrap_or(0);
            let kept = match read(format, bytes, Tolerance::Lenient) {
                Ok(loaded) => loaded.mesh.triangles().len().to_string(),
                Err(again) => {
                    assert_eq!(again.code(), error.code(), "{bytes}");
                    "-".to_string()
                }
            };
            return format!("{code} {line} {kept}");
        }
    };
    let triangles = loaded.mesh.triangles();
    let is_plain = triangles == [[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]];
    let mut found = triangles.len().to_string();
    if expected.starts_with('=') && is_plain {
        found = "=".to_string();
    }
    format!("{found} {}", codes(&loaded)).trim().to_string()
}

#[test]
fn odd_files_are_read_as_they_are_meant() {
    let mut wrong = vec![];
    for (format, table) in [("obj", OBJ), ("off", OFF), ("ply", PLY)] {
        for [expected, name, file] in rows(table) {
            let mut file = file.to_string();
            for (part, content) in PARTS {
                file = file.replace(part, content);
            }
            let file = text(&file);
            let mut found = vec![result(format, &file, expected)];
            // The end of the last line of a triangle does not matter.
            if let Some(file) = file.strip_suffix('\n')
                && !expected.starts_with(['S', '0'])
            {
                found.push(result(format, file, expected));
            }
            if found.iter().any(|found| found != expected) {
                wrong.push(format!("{format}, {name}: {found:?}, not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn obj_is_recognized_after_much_else() {
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    for line in [
        "# a comment of some length",
        "vt 0.5 0.5",
        "vn 0 0 1",
        "g a",
        "made by somebody",
        "   ",
    ] {
        for count in [1_usize, 300, 100_000] {
            let text = format!("{}{mesh}", format!("{line}\n").repeat(count));
            let read = read_stream(&mut text.as_bytes(), "-", &ReadOptions::default());
            let loaded = read.unwrap_or_else(|error| panic!("{count} {line}: {error}"));
            let found = (loaded.format, loaded.mesh.triangles().len());
            assert_eq!(found, ("obj", 1), "{count} {line}");
        }
    }
}
