//! Odd and broken STL files of other programs: each has a name, its bytes, and the result by default,
//! strictly and leniently. The bytes are generated here; nothing is downloaded.

pub mod files;

use voxelize::mesh::read::Tolerance;

use files::{ascii, binary, facet, gzip, plate, record};

/// File with its expected results.
pub struct Case {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub usual: Answer,
    pub strict: Answer,
    pub lenient: Answer,
}

/// Expected result.
#[derive(Clone, Copy)]
pub enum Answer {
    /// Number of triangles, without findings.
    Read(usize),
    /// Number of triangles, with these findings.
    Found(usize, &'static [&'static str]),
    /// Number of triangles and of dropped ones, with these findings.
    Dropped(usize, u64, &'static [&'static str]),
    /// Error of this code.
    Refused(&'static str),
}
use Answer::{Dropped, Found, Read, Refused};

impl Case {
    pub fn answer(&self, tolerance: Tolerance) -> Answer {
        match tolerance {
            Tolerance::Strict => self.strict,
            Tolerance::Lenient => self.lenient,
            _ => self.usual,
        }
    }
}

/// Names of the cases with the results by default, strictly and leniently, or one for all three. A result is
/// the number of triangles, also of dropped ones, and the codes of findings, or the code of the error.
const CASES: &str = "\
binary | 4
binary, no triangle | 0
binary, header of blanks | 4
binary, header of line ends | 4
binary, header 'solid' | 4 S101 | S101 | 4 S101
binary, header 'solid', 10 triangles | 10 S101 | S101 | 10 S101
binary, header 'solid', 2570 triangles | 2570 S101 | S101 | 2570 S101
binary, header 'SOLID' | 4 S101 | S101 | 4 S101
binary, header ' solid' | 4 S101 | S101 | 4 S101
binary, header is ASCII STL | 4 S101 | S101 | 4 S101
binary, header 'solid', no triangle | 0 S101 | S101 | 0 S101
binary, colours | 4 S102 | S102 | 4 S102
binary, Magics header | 4 S102 | S102 | 4 S102
binary, NaN normals | 4 S103 | S103 | 4 S103
empty | S001
binary, half a header | S003
binary, only a header of 4 | S003
binary, count too high | S003 | S003 | 4 S003
binary, count 0xFFFFFFFF | S003 | S003 | 4 S003
binary, count too low | S005 | S005 | 4 S005
binary, count 0 | S005 | S005 | 4 S005
binary, count 0 and half a triangle | S005 | S005 | 3-1 S005
binary, last triangle cut | S003 | S003 | 3-1 S003
binary, last triangle missing | S003 | S003 | 3 S003
binary, first triangle cut | S003
binary, a line end behind | S005 | S005 | 4 S005
binary, text behind | S005 | S005 | 4 S005
binary 'solid', count too high | S003 | S003 | 4 S003 S101
binary 'solid', count too low | S005 | S005 | 4 S005 S101
text of something else | S002
binary, NaN | S004 | S004 | 3-1 S004
binary, infinite | S004 | S004 | 3-1 S004
binary, -infinite | S004 | S004 | 3-1 S004
binary, all NaN | S004
ASCII, nan | S004 | S004 | 3-1 S004
ASCII, -nan(ind) | S004 | S004 | 3-1 S004
ASCII, inf | S004 | S004 | 3-1 S004
ASCII, 1.#INF | S004 | S004 | 3-1 S004
ASCII, 1e400 | S004 | S004 | 3-1 S004
ASCII, 3.5e38 | S004 | S004 | 3-1 S004
ASCII, 1e-400 | 4
ASCII, 40 digits | 4
ASCII, '+1.', '.5' | 4
ASCII, comma | S007 | S007 | 3-1 S007
ASCII, Fortran exponent | S007 | S007 | 3-1 S007
ASCII, hexadecimal | S007 | S007 | 3-1 S007
ASCII, numbers run together | S007 | S007 | 3-1 S007
ASCII | 4
ASCII, no triangle | 0
ASCII, CRLF | 4
ASCII, tabs | 4
ASCII, a tab behind 'solid' | 4
ASCII, blanks before | 4
ASCII, blanks behind | 4
ASCII, no last line end | 4
ASCII, a name of keywords | 4
ASCII, another name at the end | 4
ASCII, no name | 4 S105 | S105 | 4 S105
ASCII, 'solid' and a blank | 4 S105 | S105 | 4 S105
ASCII, upper case | 4 S106 | S106 | 4 S106
ASCII, byte order mark | 4 S106 | S106 | 4 S106
ASCII, CR line ends | 4 S106 | S106 | 4 S106
ASCII, one line | 4 S106 | S106 | 4 S106
ASCII, latin-1 name | 4 S106 | S106 | 4 S106
ASCII, two solids | 8 S104 | S104 | 8 S104
ASCII, two solids, no names | 8 S104 S105 | S105 | 8 S104 S105
ASCII, nan normals | 4 S103 | S103 | 4 S103
ASCII, -nan(ind) normals | 4 S103 | S103 | 4 S103
ASCII, comma normals | 4 S103 | S103 | 4 S103
ASCII, no normals | 4 S103 | S103 | 4 S103
ASCII, four vertices | S006 | S006 | 3-1 S006
ASCII, two vertices | S006 | S006 | 3-1 S006
ASCII, two coordinates | S006 | S006 | 3-1 S006
ASCII, four coordinates | S006 | S006 | 3-1 S006
ASCII, no endloop | S006 | S006 | 3-1 S006
ASCII, no endfacet | S006 | S006 | 3-1 S006
ASCII, no outer loop | S006 | S006 | 3-1 S006
ASCII, a comment | S006 | S006 | 4 S006
ASCII, a colour | S006 | S006 | 4 S006
ASCII, text behind | S006 | S006 | 4 S006
ASCII, a facet behind | S006 | S006 | 5 S003 S006
ASCII, no endsolid | S003 | S003 | 4 S003
ASCII, cut in a word | S003 | S003 | 4 S003
ASCII, cut in a facet | S003 | S003 | 3-1 S003
ASCII, cut in a number | S003 | S003 | 3-1 S003
ASCII, cut in the first | S003
ASCII, only 'solid' | S003
ASCII, zeros behind | S006 | S006 | 4 S006
gzip, binary | 4
gzip, ASCII | 4
gzip, two members | 4
gzip, header 'solid' | 4 S101 | S101 | 4 S101
gzip, no check sum | S003 | S003 | 4 S003
gzip, bytes behind | S005 | S005 | 4 S005
gzip, of a cut file | S003 | S003 | 2-1 S003
gzip, wrong check sum | S011
gzip, two bytes | S003
gzip, of nothing | S001
gzip, of a plate in text | S002
";

/// Parses a result.
fn answer(text: &'static str) -> Answer {
    let (count, codes) = text.split_once(' ').unwrap_or((text, ""));
    if count.starts_with('S') {
        return Refused(text);
    }
    let codes: &[&str] = codes.split_whitespace().collect::<Vec<_>>().leak();
    let number = |text: &str| text.parse().expect("a whole number");
    match count.split_once('-') {
        Some((read, dropped)) => Dropped(number(read), number(dropped) as u64, codes),
        None if codes.is_empty() => Read(number(count)),
        None => Found(number(count), codes),
    }
}

/// Returns every case.
pub fn all() -> Vec<Case> {
    let makers = [headers, lengths, numbers, texts, facets, packed];
    let case = |row: &'static str| {
        let columns: Vec<&str> = row.split(" | ").collect();
        let (name, [usual, strict, lenient]) = match columns[..] {
            [name, all] => (name, [all; 3]),
            [name, usual, strict, lenient] => (name, [usual, strict, lenient]),
            _ => panic!("{row}"),
        };
        let bytes = makers.iter().find_map(|make| make(name));
        Case {
            name,
            bytes: bytes.unwrap_or_else(|| panic!("no bytes of {name}")),
            usual: answer(usual),
            strict: answer(strict),
            lenient: answer(lenient),
        }
    };
    CASES.lines().map(case).collect()
}

/// Binary files with information in the header or the attributes.
fn headers(name: &str) -> Option<Vec<u8>> {
    let colour: Vec<u8> = (0..4_u16)
        .flat_map(|n| record(n.into(), [0.0; 3], 0x8000 | n))
        .collect();
    let magics = b"COLOR=\x10\x20\x30\xff,MATERIAL=\0\0\0\0\0\0\0\0\0\0\0\0";
    let solid = b"solid exported by SomeCAD";
    let with_body = |body: &[u8]| [&binary(b"", 4, 0)[..], body].concat();
    let nan = [f32::NAN, 0.0, 1.0];
    let nan_normals: Vec<u8> = (0..4).flat_map(|n| record(n as f32, nan, 0)).collect();
    let bytes = match name {
        "binary" => binary(b"made by hand", 4, 4),
        "binary, no triangle" => binary(b"", 0, 0),
        "binary, header of blanks" => binary(&[b' '; 80], 4, 4),
        "binary, header of line ends" => binary(&[b'\n'; 80], 4, 4),
        "binary, header 'solid'" => binary(solid, 4, 4),
        "binary, header 'solid', 10 triangles" => binary(solid, 10, 10),
        "binary, header 'solid', 2570 triangles" => binary(solid, 2570, 2570),
        "binary, header 'SOLID'" => binary(b"SOLID X", 4, 4),
        "binary, header ' solid'" => binary(b" solid x", 4, 4),
        "binary, header is ASCII STL" => binary(b"solid\nfacet normal 0 0 1\n", 4, 4),
        "binary, header 'solid', no triangle" => binary(solid, 0, 0),
        "binary, colours" => with_body(&colour),
        "binary, Magics header" => binary(magics, 4, 4),
        "binary, NaN normals" => with_body(&nan_normals),
        _ => return None,
    };
    Some(bytes)
}

/// Files that are longer or shorter than they claim.
fn lengths(name: &str) -> Option<Vec<u8>> {
    let solid = b"solid exported by SomeCAD";
    let cut = |bytes: &[u8], by: usize| bytes[..bytes.len() - by].to_vec();
    let longer = |bytes: &[u8], more: &[u8]| [bytes, more].concat();
    let four = binary(b"", 4, 4);
    let bytes = match name {
        "empty" => vec![],
        "binary, half a header" => cut(&binary(b"", 0, 0), 44),
        "binary, only a header of 4" => binary(b"", 4, 0),
        "binary, count too high" => binary(b"", 6, 4),
        "binary, count 0xFFFFFFFF" => binary(b"", u32::MAX, 4),
        "binary, count too low" => binary(b"", 2, 4),
        "binary, count 0" => binary(b"", 0, 4),
        "binary, count 0 and half a triangle" => cut(&binary(b"", 0, 4), 20),
        "binary, last triangle cut" => cut(&four, 7),
        "binary, last triangle missing" => cut(&four, 50),
        "binary, first triangle cut" => cut(&binary(b"", 1, 1), 1),
        "binary, a line end behind" => longer(&four, b"\r\n"),
        "binary, text behind" => longer(&four, b"<metadata unit='mm'/>"),
        "binary 'solid', count too high" => binary(solid, 6, 4),
        "binary 'solid', count too low" => binary(solid, 3, 4),
        "text of something else" => b"# a list\none 0 0 0\n".to_vec(),
        _ => return None,
    };
    Some(bytes)
}

/// Coordinates that are not numbers, or not in the range of floats.
fn numbers(name: &str) -> Option<Vec<u8>> {
    let with = |n: usize, value: f32| {
        let mut bytes = binary(b"", 4, 4);
        let at = 84 + 50 * n + 12;
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let text = |word: &str| {
        let vertex = format!("vertex {word} 0 0");
        ascii("part", 4).replacen("vertex 2 0 0", &vertex, 1)
    };
    let word = |word: &str| text(word).into_bytes();
    let half = || text("+1.").replace("vertex 0 1 0", "vertex 0 .5 0");
    let all_nan = [binary(b"", 1, 0), record(f32::NAN, [0.0, 0.0, 1.0], 0)].concat();
    let bytes = match name {
        "binary, NaN" => with(2, f32::NAN),
        "binary, infinite" => with(0, f32::INFINITY),
        "binary, -infinite" => with(3, f32::NEG_INFINITY),
        "binary, all NaN" => all_nan,
        "ASCII, nan" => word("nan"),
        "ASCII, -nan(ind)" => word("-nan(ind)"),
        "ASCII, inf" => word("inf"),
        "ASCII, 1.#INF" => word("1.#INF"),
        "ASCII, 1e400" => word("1e400"),
        "ASCII, 3.5e38" => word("3.5e38"),
        "ASCII, 1e-400" => word("1e-400"),
        "ASCII, 40 digits" => word("1.000000000000000000000000000000000000001"),
        "ASCII, '+1.', '.5'" => half().into_bytes(),
        "ASCII, comma" => word("1,5"),
        "ASCII, Fortran exponent" => word("1.0D+00"),
        "ASCII, hexadecimal" => word("0x1p3"),
        "ASCII, numbers run together" => word("1.2.3"),
        _ => return None,
    };
    Some(bytes)
}

/// Text that deviates from the format's description.
fn texts(name: &str) -> Option<Vec<u8>> {
    let part = ascii("part", 4);
    let nameless = ascii("", 4);
    let one_line = part.split_whitespace().collect::<Vec<_>>().join(" ");
    let latin1 = [
        b"solid caf\xe9\n",
        part.split_once('\n').unwrap().1.as_bytes(),
    ]
    .concat();
    let normals = |normal: &str| part.replacen("normal 0 0 1", normal, 2);
    let text = match name {
        "ASCII" => part.clone(),
        "ASCII, no triangle" => ascii("part", 0),
        "ASCII, CRLF" => part.replace('\n', "\r\n"),
        "ASCII, tabs" => part.replace("  ", "\t"),
        "ASCII, a tab behind 'solid'" => part.replacen("solid ", "solid\t", 1),
        "ASCII, blanks before" => format!("\n  \t{part}"),
        "ASCII, blanks behind" => format!("{part}\n \n\n"),
        "ASCII, no last line end" => part.trim_end().to_string(),
        "ASCII, a name of keywords" => ascii("solid facet outer loop", 4),
        "ASCII, another name at the end" => part.replace("endsolid part", "endsolid"),
        "ASCII, no name" => nameless.clone(),
        "ASCII, 'solid' and a blank" => nameless.replacen("solid", "solid ", 1),
        "ASCII, upper case" => part.to_uppercase(),
        "ASCII, byte order mark" => format!("\u{feff}{part}"),
        "ASCII, CR line ends" => part.replace('\n', "\r"),
        "ASCII, one line" => one_line,
        "ASCII, latin-1 name" => return Some(latin1),
        "ASCII, two solids" => part.repeat(2),
        "ASCII, two solids, no names" => nameless.repeat(2),
        "ASCII, nan normals" => normals("normal nan nan nan"),
        "ASCII, -nan(ind) normals" => normals("normal -nan(ind) 0 0"),
        "ASCII, comma normals" => normals("normal 0,0 0,0 1,0"),
        "ASCII, no normals" => normals(""),
        _ => return None,
    };
    Some(text.into_bytes())
}

/// Malformed facets and missing ends.
fn facets(name: &str) -> Option<Vec<u8>> {
    let part = ascii("part", 4);
    // In the second facet, on lines 9 to 15.
    let change = |from: &str, to: &str| {
        let (first, rest) = part.split_at(part.find("endfacet").unwrap() + 8);
        format!("{first}{}", rest.replacen(from, to, 1))
    };
    let cut = |at: &str| part[..part.rfind(at).unwrap()].to_string();
    let four = "vertex 1 0 0\n      vertex 1 1 0\n";
    let text = match name {
        "ASCII, four vertices" => change("vertex 1 0 0\n", four),
        "ASCII, two vertices" => change("vertex 1 0 0\n", "\n"),
        "ASCII, two coordinates" => change("vertex 1 0 0", "vertex 1 0"),
        "ASCII, four coordinates" => change("vertex 1 0 0", "vertex 1 0 0 0"),
        "ASCII, no endloop" => change("endloop", ""),
        "ASCII, no endfacet" => change("endfacet", ""),
        "ASCII, no outer loop" => change("outer loop", ""),
        "ASCII, a comment" => change("endfacet", "endfacet # mine"),
        "ASCII, a colour" => change("endfacet", "endfacet color 1 0 0"),
        "ASCII, text behind" => format!("{part}by SomeCAD\n"),
        "ASCII, a facet behind" => format!("{part}{}", facet(9)),
        "ASCII, no endsolid" => cut("endsolid"),
        "ASCII, cut in a word" => cut("dsolid"),
        "ASCII, cut in a facet" => cut("endloop"),
        "ASCII, cut in a number" => cut(" 0\n    endloop"),
        "ASCII, cut in the first" => part[..90].to_string(),
        "ASCII, only 'solid'" => "solid part\n".to_string(),
        "ASCII, zeros behind" => format!("{part}\0\0\0\0"),
        _ => return None,
    };
    Some(text.into_bytes())
}

/// Files in gzip.
fn packed(name: &str) -> Option<Vec<u8>> {
    let four = binary(b"", 4, 4);
    let part = ascii("part", 4);
    let whole = gzip(&four);
    let cut = |by: usize| whole[..whole.len() - by].to_vec();
    let mut wrong_sum = whole.clone();
    wrong_sum[whole.len() - 6] ^= 1;
    let halves = [gzip(&four[..100]), gzip(&four[100..])].concat();
    let behind = [&whole[..], b"behind"].concat();
    let bytes = match name {
        "gzip, binary" => whole.clone(),
        "gzip, ASCII" => gzip(part.as_bytes()),
        "gzip, two members" => halves,
        "gzip, header 'solid'" => gzip(&binary(b"solid x", 4, 4)),
        "gzip, no check sum" => cut(8),
        "gzip, bytes behind" => behind,
        "gzip, of a cut file" => gzip(&four[..200]),
        "gzip, wrong check sum" => wrong_sum,
        "gzip, two bytes" => b"\x1f\x8b".to_vec(),
        "gzip, of nothing" => gzip(b""),
        "gzip, of a plate in text" => gzip(plate().as_bytes()),
        _ => return None,
    };
    Some(bytes)
}
