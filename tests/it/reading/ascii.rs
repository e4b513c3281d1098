//! ASCII STL of other programs: accepted texts, and rejected ones with their lines.

use voxelize::mesh::read::{Loaded, ReadOptions, read_stream};
use voxelize::{Error, Kind, Mesh, Result};

type Triangle = [[f32; 3]; 3];

fn read(text: &[u8]) -> Result<Loaded> {
    read_stream(&mut { text }, "part.stl", &ReadOptions::default())
}

/// Two facets whose numbers have signs, exponents and leading or trailing points.
const FACETS: &str = "\
  facet normal 0 0 1
    outer loop
      vertex 0 0 0
      vertex 1.5e0 -0.25 0.1
      vertex +2. .5 1E-1
    endloop
  endfacet
  facet normal 0 0 -1
    outer loop
      vertex 1 2 3
      vertex 4 5 6
      vertex 7e2 0.3 -9
    endloop
  endfacet
";

const TRIANGLES: [Triangle; 2] = [
    [[0.0, 0.0, 0.0], [1.5, -0.25, 0.1], [2.0, 0.5, 0.1]],
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [700.0, 0.3, -9.0]],
];

fn solid(name: &str) -> String {
    format!("solid{name}\n{FACETS}endsolid{name}\n")
}

#[test]
fn every_way_of_writing_it_is_read() {
    let plain = solid(" part");
    let one_line = |name: &str| solid(name).split_whitespace().collect::<Vec<_>>().join(" ");
    let latin1: Vec<u8> = [
        &b"solid caf\xe9 \xb5m\n"[..],
        FACETS.as_bytes(),
        b"endsolid caf\xe9\n",
    ]
    .concat();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("plain", plain.clone().into()),
        ("no name", solid("").into()),
        ("upper case", plain.to_uppercase().into()),
        ("leading blanks", format!("\n\n \t  {plain}").into()),
        ("tabs", plain.replace(' ', "\t").into()),
        ("byte order mark", format!("\u{feff}{plain}").into()),
        (
            "byte order mark and blanks",
            format!("\u{feff}\r\n {plain}").into(),
        ),
        ("CRLF", plain.replace('\n', "\r\n").into()),
        ("CR", plain.replace('\n', "\r").into()),
        ("blank lines", plain.replace('\n', "\n\n \n").into()),
        ("no last line end", plain.trim_end().into()),
        ("one line", one_line(" part").into()),
        ("one line without name", one_line("").into()),
        (
            "a name of keywords",
            solid(" Solid facet vertex loop 1").into(),
        ),
        ("latin-1 name", latin1),
        ("a long name", solid(&" very".repeat(2000)).into()),
        (
            "no name at the end",
            plain.replace("endsolid part", "endsolid").into(),
        ),
        (
            "nan normals",
            plain
                .replace("normal 0 0 1", "normal nan -nan(ind) NaN")
                .into(),
        ),
        (
            "inf normals",
            plain
                .replace("normal 0 0 1", "normal inf -inf 1.#INF")
                .into(),
        ),
        (
            "comma normals",
            plain.replace("normal 0 0 1", "normal 0,5 0,5 1,0").into(),
        ),
        ("no normals", plain.replace(" normal 0 0 1", "").into()),
    ];
    assert!(!cases.is_empty());
    for (what, text) in cases {
        let loaded = read(&text).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(loaded.mesh.triangles(), TRIANGLES, "{what}");
        assert_eq!(
            (loaded.format, loaded.bytes),
            ("stl-ascii", text.len() as u64),
            "{what}"
        );
        assert_eq!(
            loaded.mesh,
            Mesh::from_triangles(TRIANGLES.to_vec()).unwrap()
        );
    }
}

#[test]
fn several_solids_are_one_mesh() {
    let a = solid(" a");
    let b = solid(" solid b");
    let on_one_line = format!("{a} {b}")
        .replace("solid b", "b")
        .replace('\n', " ");
    for text in [
        format!("{a}{b}"),
        format!("{a}\n\n{b}\n").replace('\n', "\r\n"),
        on_one_line,
    ] {
        let mesh = read(text.as_bytes()).unwrap().mesh;
        assert_eq!(mesh.triangles(), [TRIANGLES, TRIANGLES].concat());
    }
    for text in [
        "solid\nendsolid",
        "solid nothing\nendsolid nothing\n",
        "solid\nendsolid\nsolid\nendsolid",
    ] {
        assert!(read(text.as_bytes()).unwrap().mesh.triangles().is_empty());
    }
}

/// Regression: the second solid was read as part of the first one's name unless everything was on the first
/// line, and facets without normals were read as part of their solid's name.
#[test]
fn solids_that_share_lines_lose_no_facets() {
    let line = |name: &str| solid(name).split_whitespace().collect::<Vec<_>>().join(" ");
    let no_normals = |text: String| {
        text.replace(" normal 0 0 1", "")
            .replace(" normal 0 0 -1", "")
    };
    let lines = solid(" a");
    let one = line(" a");
    let texts = [
        format!("\n{one} {one}\n"),
        format!("solid\nendsolid\n{one} {one}"),
        format!("{one}\n{one}"),
        format!("{}{one}", lines.trim_end().to_string() + " "),
        no_normals(format!("{one} {one}")),
        no_normals(format!("{lines}{one}")),
        no_normals(format!("{one} {one}")).replace("loop vertex", "loop\nvertex"),
    ];
    for text in texts {
        let mesh = read(text.as_bytes())
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .mesh;
        assert_eq!(mesh.triangles(), [TRIANGLES, TRIANGLES].concat(), "{text}");
    }
}

#[test]
fn numbers_are_the_nearest_floats() {
    // Halfway cases, both ends of the range, and more digits than a double holds.
    let cases = [
        ("16777217", 16_777_216.0),
        ("16777219", 16_777_220.0),
        ("16777217.0000000000000000000000000000001", 16_777_218.0),
        (
            "1.00000005960464477539062500000000000000000001",
            1.0_f32.next_up(),
        ),
        ("3.4028235e38", f32::MAX),
        ("1e-45", f32::from_bits(1)),
        ("-0.0", -0.0),
        ("1e-400", 0.0),
        ("0.69999999999999999999999", 0.7),
        ("00012", 12.0),
    ];
    for (text, value) in cases {
        let stl = solid("").replace("vertex 0 0 0", &format!("vertex {text} 0 0"));
        let found = read(stl.as_bytes()).unwrap().mesh.triangles()[0][0][0];
        assert_eq!(found.to_bits(), f32::to_bits(value), "{text}");
    }
}

#[test]
fn words_across_blocks_are_whole() {
    // Larger than any block, shifted byte by byte.
    let body = FACETS.repeat(3000);
    for shift in 0..24 {
        let text = format!("solid {}\n{body}endsolid\n", "x".repeat(shift));
        let mesh = read(text.as_bytes()).unwrap().mesh;
        assert_eq!(mesh.triangles().len(), 6000);
        assert!(mesh.triangles().chunks(2).all(|pair| pair == TRIANGLES));
    }
}

/// Reads a solid in which `from` is replaced by `to`.
fn broken(from: &str, to: &str) -> Error {
    let whole = solid(" part");
    let text = whole.replacen(from, to, 1);
    assert_ne!(text, whole);
    read(text.as_bytes()).expect_err(&format!("{from} → {to}"))
}

#[test]
fn bad_syntax_is_refused_with_its_line() {
    for (from, to, code, line) in [
        ("vertex 0 0 0\n", "\n", "S006", 7),
        ("vertex 0 0 0\n", "vertex 0 0 0 vertex 1 1 1\n", "S006", 7),
        ("vertex 0 0 0", "vertex 0 0", "S006", 5),
        ("vertex 0 0 0", "vertex 0 0 0 0", "S006", 4),
        ("outer loop", "outer", "S006", 4),
        ("outer loop", "", "S006", 4),
        ("endfacet", "endloop", "S006", 8),
        ("endfacet", "endfacet colour 3", "S006", 8),
        ("endsolid part\n", "endsolid part\njunk here", "S006", 17),
        ("endsolid part\n", "endsolid part\n  facet", "S003", 17),
        ("endsolid part\n", "", "S003", 16),
        ("endsolid part\n", "ends", "S003", 16),
        ("vertex 0 0 0", "vertex 0,5 0 0", "S007", 4),
        ("vertex 0 0 0", "vertex 0 1.5d3 0", "S007", 4),
        ("vertex 0 0 0", "vertex 0 1.2.3 0", "S007", 4),
        ("vertex 0 0 0", "vertex 0 \x1b[31m 0", "S007", 4),
    ] {
        let error = broken(from, to);
        assert_eq!(
            (error.kind(), error.code().name()),
            (Kind::Input, code),
            "{error}"
        );
        assert_eq!(error.line(), Some(line), "{error}");
        assert!(!error.message().contains(char::is_control), "{error}");
    }
    assert!(
        broken("vertex 0 0 0", "vertex 0,5 0 0")
            .hint()
            .unwrap()
            .to_string()
            .contains("comma")
    );
    assert!(
        broken("vertex 0 0 0", "vertex 1D3 0 0")
            .hint()
            .unwrap()
            .to_string()
            .contains("1e3")
    );
}

#[test]
fn vertices_that_are_not_finite_are_found_at_their_line() {
    for word in [
        "nan",
        "-NaN",
        "-nan(ind)",
        "1.#QNAN",
        "-1.#IND",
        "inf",
        "-Infinity",
        "1.#INF",
        "1e400",
        "-3.5e38",
    ] {
        let error = broken("vertex 1 2 3", &format!("vertex 1 2 {word}"));
        assert_eq!(
            (error.code().name(), error.triangle(), error.line()),
            ("S004", Some(1), Some(11)),
            "{word}"
        );
        assert!(error.to_string().starts_with("part.stl: "), "{error}");
    }
}

#[test]
fn lines_are_counted_alike_for_every_line_end() {
    for end in ["\n", "\r", "\r\n"] {
        let text = solid("")
            .replace("vertex 7e2", "vertex x")
            .replace('\n', end);
        assert_eq!(
            read(text.as_bytes()).unwrap_err().line(),
            Some(13),
            "{end:?}"
        );
    }
}
