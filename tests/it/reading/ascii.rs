//! ASCII STL of other programs: accepted texts, and rejected ones with their lines.

use voxelize::mesh::read::Tolerance;
use voxelize::{Error, Kind};

use super::inputs::{Triangle, rows, stream, text};

fn read(text: &str) -> Vec<Triangle> {
    let loaded = stream(text, Tolerance::Usual).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(loaded.format, "stl-ascii");
    loaded.mesh.triangles().to_vec()
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

/// Returns a solid on one line.
fn one_line(name: &str) -> String {
    solid(name).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The cases of `wild` vary these texts further.
#[test]
fn every_way_of_writing_it_is_read() {
    let plain = solid(" part");
    for text in [
        plain.clone(),
        plain.to_uppercase(),
        plain.replace(' ', "\t"),
        plain.replace('\n', "\r"),
        plain.replace('\n', "\n\n \n"),
        format!("\u{feff}\r\n {plain}"),
        one_line(" part"),
        one_line(""),
        solid(" Solid facet vertex loop 1"),
        solid(&" very".repeat(2000)),
        plain.replace("normal 0 0 1", "normal inf -inf 1.#INF"),
        plain.replace(" normal 0 0 1", ""),
    ] {
        assert_eq!(read(&text), TRIANGLES, "{text}");
    }
}

#[test]
fn several_solids_are_one_mesh() {
    let a = solid(" a");
    let b = solid(" solid b");
    for text in [
        format!("{a}{b}"),
        format!("{a}\n\n{b}\n").replace('\n', "\r\n"),
        format!("{a} {}", solid(" b")).replace('\n', " "),
    ] {
        assert_eq!(read(&text), [TRIANGLES, TRIANGLES].concat());
    }
    assert!(read("solid\nendsolid").is_empty());
    assert!(read("solid\nendsolid\nsolid\nendsolid").is_empty());
}

/// Regression: the second solid was read as part of the first one's name unless everything was on the first
/// line, and facets without normals were read as part of their solid's name.
#[test]
fn solids_that_share_lines_lose_no_facets() {
    let no_normals = |text: String| {
        text.replace(" normal 0 0 1", "")
            .replace(" normal 0 0 -1", "")
    };
    let lines = solid(" a");
    let one = one_line(" a");
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
        assert_eq!(read(&text), [TRIANGLES, TRIANGLES].concat(), "{text}");
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
        let found = read(&stl)[0][0][0];
        assert_eq!(found.to_bits(), f32::to_bits(value), "{text}");
    }
}

#[test]
fn words_across_blocks_are_whole() {
    // Larger than any block, shifted byte by byte.
    let body = FACETS.repeat(3000);
    for shift in 0..24 {
        let text = format!("solid {}\n{body}endsolid\n", "x".repeat(shift));
        let triangles = read(&text);
        assert_eq!(triangles.len(), 6000);
        assert!(triangles.chunks(2).all(|pair| pair == TRIANGLES));
    }
}

/// Reads a solid in which `from` is replaced by `to`.
fn broken(from: &str, to: &str) -> Error {
    let whole = solid(" part");
    let text = whole.replacen(from, to, 1);
    assert_ne!(text, whole);
    stream(text, Tolerance::Usual).expect_err(&format!("{from} → {to}"))
}

/// Codes, lines, replaced texts and replacements.
const BAD: &str = r"
    S006 | 7 | vertex 0 0 0\n | \n
    S006 | 7 | vertex 0 0 0\n | vertex 0 0 0 vertex 1 1 1\n
    S006 | 5 | vertex 0 0 0 | vertex 0 0
    S006 | 4 | vertex 0 0 0 | vertex 0 0 0 0
    S006 | 4 | outer loop | outer
    S006 | 4 | outer loop |
    S006 | 8 | endfacet | endloop
    S006 | 8 | endfacet | endfacet colour 3
    S006 | 17 | endsolid part\n | endsolid part\njunk here
    S003 | 17 | endsolid part\n | endsolid part\n  facet
    S003 | 16 | endsolid part\n |
    S003 | 16 | endsolid part\n | ends
    S007 | 4 | vertex 0 0 0 | vertex 0,5 0 0
    S007 | 4 | vertex 0 0 0 | vertex 0 1.5d3 0
    S007 | 4 | vertex 0 0 0 | vertex 0 1.2.3 0
    S007 | 4 | vertex 0 0 0 | vertex 0 \x1b[31m 0
";

#[test]
fn bad_syntax_is_refused_with_its_line() {
    for [code, line, from, to] in rows(BAD) {
        let error = broken(&text(from), &text(to));
        assert_eq!(
            (error.kind(), error.code().name(), error.line()),
            (Kind::Input, code, line.parse().ok()),
            "{error}"
        );
        assert!(!error.message().contains(char::is_control), "{error}");
    }
    for (word, advice) in [("0,5", "comma"), ("1D3", "1e3")] {
        let error = broken("vertex 0 0 0", &format!("vertex {word} 0 0"));
        assert!(error.advice().to_string().contains(advice), "{error}");
    }
}

#[test]
fn vertices_that_are_not_finite_are_found_at_their_line() {
    let words = "nan -NaN -nan(ind) 1.#QNAN -1.#IND inf -Infinity 1.#INF 1e400 -3.5e38";
    for word in words.split(' ') {
        let error = broken("vertex 1 2 3", &format!("vertex 1 2 {word}"));
        assert_eq!(
            (error.code().name(), error.triangle(), error.line()),
            ("S004", Some(1), Some(11)),
            "{word}"
        );
    }
}

#[test]
fn lines_are_counted_alike_for_every_line_end() {
    for end in ["\n", "\r", "\r\n"] {
        let bad = solid("").replace("vertex 7e2", "vertex x");
        let error = stream(bad.replace('\n', end), Tolerance::Usual).unwrap_err();
        assert_eq!(error.line(), Some(13), "{end:?}");
    }
}
