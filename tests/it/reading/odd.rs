//! Odd files of formats with numbered vertices: each is read as intended, or rejected with the right code.

use voxelize::mesh::read::{ReadOptions, read_stream};

/// Expected result of a file: the number of triangles with findings, or an error.
type Odd = (
    &'static str,
    &'static str,
    Result<(usize, &'static str), &'static str>,
);

const OBJ: &[Odd] = &[
    ("plain", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", Ok((1, ""))),
    (
        "mark of UTF-8",
        "\u{feff}v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        Ok((1, "")),
    ),
    (
        "CR LF",
        "v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n",
        Ok((1, "")),
    ),
    (
        "five corners",
        "v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 1 0\nf 1 2 3 4 5\n",
        Ok((3, "")),
    ),
    (
        "a corner twice",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 2\n",
        Ok((1, "")),
    ),
    (
        "ends in a backslash",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 \\",
        Ok((1, "")),
    ),
    (
        "names in other scripts",
        "o körper\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl 赤\nf 1 2 3\n",
        Ok((1, "")),
    ),
    (
        "an object without a name",
        "o\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        Ok((1, "")),
    ),
    (
        "colours of some vertices",
        "v 0 0 0 1 0 0\nv 1 0 0\nv 0 1 0 0 0 1\nf 1 2 3\n",
        Ok((1, "")),
    ),
    (
        "faces between vertices",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nv 1 1 0\nf 2 4 3\n",
        Ok((2, "")),
    ),
    (
        "points and lines",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\np 1\nl 1 2\nf 1 2 3\n",
        Ok((1, "S107")),
    ),
    ("vertices alone", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", Ok((0, ""))),
    (
        "a face before its vertices",
        "v 0 0 0\nf 1 2 3\nv 1 0 0\nv 0 1 0\n",
        Err("S012"),
    ),
    (
        "vertex 0",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n",
        Err("S012"),
    ),
    (
        "too far back",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -4 -2 -1\n",
        Err("S012"),
    ),
    (
        "a number of twenty digits",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999999999999\n",
        Err("S007"),
    ),
    (
        "a word for a number",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 three\n",
        Err("S007"),
    ),
    (
        "a vertex of two numbers",
        "v 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        Err("S007"),
    ),
    (
        "commas in numbers",
        "v 0 0 0\nv 1,5 0 0\nv 0 1 0\nf 1 2 3\n",
        Err("S007"),
    ),
    (
        "not finite",
        "v 0 0 0\nv inf 0 0\nv 0 1 0\nf 1 2 3\n",
        Err("S004"),
    ),
    (
        "two corners",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n",
        Err("S006"),
    ),
    (
        "a comment that ends in a backslash",
        "# C:\\\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        Ok((1, "")),
    ),
    (
        "a name that ends in a backslash",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\no C:\\\nf 1 2 3\n",
        Ok((1, "")),
    ),
    (
        "a comment behind a face",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 # C:\\\nf 3 2 1\n",
        Ok((2, "")),
    ),
    (
        "a backslash, and no numbers",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 \\\nf 3 2 1\n",
        Ok((2, "")),
    ),
    (
        "a vertex in three lines",
        "v 0 \\\n0 \\ \n 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        Ok((1, "")),
    ),
    (
        "a stray line first",
        "$ made by x\nof many words\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        Ok((1, "")),
    ),
    (
        "places first",
        "vt 0 0\nvn 0 0 1\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/1 2/1 3/1\n",
        Ok((1, "")),
    ),
    (
        "a vertex that is not finite and not used",
        "v 0 0 0\nv nan 0 0\nv 0 1 0\nv 1 1 0\nf 1 3 4\n",
        Ok((1, "")),
    ),
    (
        "materials alone",
        "mtllib a.mtl\nusemtl a\n",
        Ok((0, "S110")),
    ),
    ("faces alone", "f -3 -2 -1\n", Err("S012")),
    (
        "version 1.0 of a letter",
        "dear all\nv 1.0 is there\n",
        Err("S002"),
    ),
];

const OFF: &[Odd] = &[
    (
        "plain",
        "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        Ok((1, "")),
    ),
    (
        "counts behind the keyword",
        "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        Ok((1, "")),
    ),
    (
        "no count of edges",
        "OFF\n3 1\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        Ok((1, "")),
    ),
    (
        "comments and blank lines",
        "# a\nOFF\n\n3 1 0 # b\n0 0 0\n#c\n1 0 0\n\n0 1 0\n3 0 1 2 # d\n",
        Ok((1, "")),
    ),
    (
        "CR LF",
        "OFF\r\n3 1 0\r\n0 0 0\r\n1 0 0\r\n0 1 0\r\n3 0 1 2\r\n",
        Ok((1, "")),
    ),
    (
        "a colour of a face",
        "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 0.5 0.5 0.5 1.0\n",
        Ok((1, "")),
    ),
    (
        "a number in a table of colours",
        "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 7\n",
        Ok((1, "")),
    ),
    (
        "COFF",
        "COFF\n3 1 0\n0 0 0 255 0 0 255\n1 0 0 0 255 0 255\n0 1 0 0 0 255 255\n3 0 1 2\n",
        Ok((1, "")),
    ),
    (
        "NOFF",
        "NOFF\n3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 0 1\n3 0 1 2\n",
        Ok((1, "")),
    ),
    ("no faces", "OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n", Ok((0, ""))),
    (
        "a face of four",
        "OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
        Ok((2, "")),
    ),
    (
        "a face of three lines",
        "OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0\n1 # a\n2 3\n",
        Ok((2, "")),
    ),
    (
        "a face with a corner too few, and another",
        "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1\n3 0 1 2\n",
        Err("S007"),
    ),
    (
        "four coordinates",
        "4OFF\n3 1 0\n0 0 0 1\n1 0 0 1\n0 1 0 1\n3 0 1 2\n",
        Err("S009"),
    ),
    ("binary", "OFF BINARY\n\0\0\0\x03", Err("S009")),
    (
        "a negative number",
        "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n",
        Err("S012"),
    ),
    (
        "fewer faces than said",
        "OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        Err("S003"),
    ),
    (
        "more lines than said",
        "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 2 1\n",
        Err("S005"),
    ),
    (
        "a vertex of two numbers",
        "OFF\n3 1 0\n0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        Err("S007"),
    ),
    (
        "one corner",
        "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n1 0\n",
        Err("S006"),
    ),
    (
        "no keyword",
        "3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        Ok((1, "")),
    ),
    ("no keyword, and cut", "3 1 0\n0 0 0\n1 0 0\n", Err("S002")),
    (
        "a list of points",
        "3 1 0\n0 0 0\n1 0 0\n0 1 0\n0.5 1 2\n",
        Err("S002"),
    ),
    (
        "a keyword and a number",
        "OFF3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        Ok((1, "")),
    ),
    (
        "blanks before the keyword",
        "\n  OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        Ok((1, "")),
    ),
    (
        "lower case",
        "off\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        Ok((1, "")),
    ),
    (
        "normals in lower case",
        "noff 3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 0 1\n3 0 1 2\n",
        Ok((1, "")),
    ),
    (
        "n coordinates",
        "nOFF\n3\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        Err("S009"),
    ),
    ("a word of a language", "off topic\nand more\n", Err("S002")),
    (
        "a backslash",
        "OFF\n3 1 0\n0 0 0 # C:\\\n1 0 0\n0 1 0\n3 0 1 2\n",
        Ok((1, "")),
    ),
    (
        "a vertex that is not finite and not used",
        "OFF\n4 1 0\n0 0 0\n1 0 0\n0 1 0\nnan 0 0\n3 0 1 2\n",
        Ok((1, "")),
    ),
];

/// Common start of most files: three vertices of floats.
macro_rules! ply {
    ($more:literal) => {
        concat!(
            "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n",
            $more
        )
    };
}

const PLY: &[Odd] = &[
    (
        "plain",
        ply!(
            "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
        ),
        Ok((1, "")),
    ),
    (
        "vertex_index",
        ply!(
            "element face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
        ),
        Ok((1, "")),
    ),
    (
        "comments",
        ply!(
            "comment a\nobj_info b\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
        ),
        Ok((1, "")),
    ),
    (
        "lists of shorts",
        ply!(
            "element face 1\nproperty list ushort short vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
        ),
        Ok((1, "")),
    ),
    (
        "new names of types",
        ply!(
            "element face 1\nproperty list uint8 int32 vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
        ),
        Ok((1, "")),
    ),
    (
        "CR LF",
        "ply\r\nformat ascii 1.0\r\nelement vertex 0\r\nproperty float x\r\nend_header\r\n",
        Ok((0, "")),
    ),
    (
        "points alone",
        ply!("end_header\n0 0 0\n1 0 0\n0 1 0\n"),
        Ok((0, "")),
    ),
    (
        "numbers behind a face",
        ply!(
            "element face 1\nproperty list uchar int vertex_indices\nproperty float quality\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 0.5\n"
        ),
        Ok((1, "")),
    ),
    (
        "edges before faces",
        ply!(
            "element edge 1\nproperty int vertex1\nproperty int vertex2\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 1\n3 0 1 2\n"
        ),
        Ok((1, "")),
    ),
    (
        "blank lines",
        ply!(
            "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n\n1 0 0\n0 1 0\n\n3 0 1 2\n\n"
        ),
        Ok((1, "")),
    ),
    (
        "strips",
        ply!(
            "element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
        ),
        Ok((1, "")),
    ),
    (
        "faces before vertices",
        "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_indices\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nend_header\n3 0 1 2\n0 0 0\n1 0 0\n0 1 0\n",
        Ok((1, "")),
    ),
    (
        "strips before vertices",
        "ply\nformat ascii 1.0\nelement tristrips 1\nproperty list int int vertex_indices\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nend_header\n4 0 1 2 3\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n",
        Ok((2, "")),
    ),
    (
        "a face before vertices names one that is not there",
        "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_indices\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nend_header\n3 0 1 3\n0 0 0\n1 0 0\n0 1 0\n",
        Err("S012"),
    ),
    (
        "CR alone",
        "ply\rformat ascii 1.0\relement vertex 3\rproperty float x\rproperty float y\rproperty float z\relement face 1\rproperty list uchar int vertex_indices\rend_header\r0 0 0\r1 0 0\r0 1 0\r3 0 1 2\r",
        Ok((1, "")),
    ),
    (
        "surplus words of a face",
        ply!(
            "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 9\n"
        ),
        Err("S006"),
    ),
    (
        "surplus words of a vertex",
        ply!(
            "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0 1\n0 1 0\n3 0 1 2\n"
        ),
        Err("S006"),
    ),
    (
        "another name of the corners",
        ply!(
            "element face 1\nproperty list uchar int corners\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
        ),
        Ok((1, "")),
    ),
    (
        "strips that are joined",
        ply!(
            "element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n8 0 1 2 2 2 1 0 0\n"
        ),
        Ok((2, "")),
    ),
    (
        "an unknown type",
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty half x\nend_header\n0\n",
        Err("S006"),
    ),
    (
        "no end of the header",
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\n",
        Err("S003"),
    ),
    (
        "no format",
        "ply\nelement vertex 1\nproperty float x\nend_header\n0\n",
        Err("S006"),
    ),
    (
        "another version",
        "ply\nformat ascii 2.0\nelement vertex 0\nend_header\n",
        Ok((0, "")),
    ),
    (
        "faces without a list",
        ply!("element face 1\nproperty int a\nend_header\n0 0 0\n1 0 0\n0 1 0\n3\n"),
        Err("S006"),
    ),
    (
        "beyond the vertices",
        ply!(
            "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n"
        ),
        Err("S012"),
    ),
    (
        "fewer faces than said",
        ply!(
            "element face 2\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
        ),
        Err("S003"),
    ),
    (
        "a list that is too short",
        ply!(
            "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n4 0 1 2\n"
        ),
        Err("S007"),
    ),
    (
        "a list of minus one",
        ply!(
            "element face 1\nproperty list char int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n-1\n"
        ),
        Err("S007"),
    ),
    (
        "more than is said",
        ply!(
            "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 2 1\n"
        ),
        Err("S005"),
    ),
];

#[test]
fn obj_is_recognized_after_much_else() {
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    for (name, line) in [
        ("comments", "# a comment of some length"),
        ("places", "vt 0.5 0.5"),
        ("normals", "vn 0 0 1"),
        ("groups", "g a"),
        ("stray lines", "made by somebody"),
        ("blank lines", "   "),
    ] {
        for count in [1_usize, 300, 100_000] {
            let text = format!("{}{mesh}", format!("{line}\n").repeat(count));
            let read = read_stream(&mut text.as_bytes(), "-", &ReadOptions::default());
            let loaded = read.unwrap_or_else(|error| panic!("{count} {name}: {error}"));
            assert_eq!(
                (loaded.format, loaded.mesh.triangles().len()),
                ("obj", 1),
                "{count} {name}"
            );
        }
    }
}

#[test]
fn odd_files_are_read_as_they_are_meant() {
    let mut wrong = vec![];
    for (format, odds) in [("obj", OBJ), ("off", OFF), ("ply", PLY)] {
        assert!(odds.len() >= 15, "{format}");
        for (name, text, expected) in odds {
            let read = read_stream(
                &mut text.as_bytes(),
                &format!("odd.{format}"),
                &ReadOptions::default(),
            );
            let found = match &read {
                Ok(loaded) => {
                    let codes: Vec<_> = loaded
                        .findings
                        .iter()
                        .map(|found| found.code().name())
                        .collect();
                    Ok((loaded.mesh.triangles().len(), codes.join(" ")))
                }
                Err(error) => Err(error.code().name()),
            };
            let expected = expected.map(|(count, codes)| (count, codes.to_string()));
            if found != expected {
                wrong.push(format!(
                    "{format}, {name}: {found:?}, not {expected:?}; {:?}",
                    read.err()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
