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

/// Read with the same result in every mode.
fn fine(name: &'static str, bytes: impl Into<Vec<u8>>, triangles: usize) -> Case {
    let answer = Read(triangles);
    Case {
        name,
        bytes: bytes.into(),
        usual: answer,
        strict: answer,
        lenient: answer,
    }
}

/// Odd, but the same triangles. The finding is an error only in strict mode.
fn odd(
    name: &'static str,
    bytes: impl Into<Vec<u8>>,
    triangles: usize,
    codes: &'static [&'static str],
) -> Case {
    let answer = Found(triangles, codes);
    Case {
        name,
        bytes: bytes.into(),
        usual: answer,
        strict: Refused(codes[0]),
        lenient: answer,
    }
}

/// Damaged: rejected. `--lenient` keeps the intact triangles.
fn broken(
    name: &'static str,
    bytes: impl Into<Vec<u8>>,
    code: &'static str,
    lenient: Answer,
) -> Case {
    let refused = Refused(code);
    Case {
        name,
        bytes: bytes.into(),
        usual: refused,
        strict: refused,
        lenient,
    }
}

/// Rejected in every mode.
fn hopeless(name: &'static str, bytes: impl Into<Vec<u8>>, code: &'static str) -> Case {
    broken(name, bytes, code, Refused(code))
}

/// Returns every case.
pub fn all() -> Vec<Case> {
    let parts = [headers(), lengths(), numbers(), texts(), facets(), packed()];
    parts.into_iter().flatten().collect()
}

/// Binary files with information in the header or the attributes.
fn headers() -> Vec<Case> {
    let colour: Vec<u8> = (0..4_u16)
        .flat_map(|n| record(n.into(), [0.0; 3], 0x8000 | n))
        .collect();
    let magics = b"COLOR=\x10\x20\x30\xff,MATERIAL=\0\0\0\0\0\0\0\0\0\0\0\0";
    let solid = b"solid exported by SomeCAD";
    let with_body = |body: &[u8]| [&binary(b"", 4, 0)[..], body].concat();
    let nan = [f32::NAN, 0.0, 1.0];
    let nan_normals: Vec<u8> = (0..4).flat_map(|n| record(n as f32, nan, 0)).collect();
    vec![
        fine("binary", binary(b"made by hand", 4, 4), 4),
        fine("binary, no triangle", binary(b"", 0, 0), 0),
        fine("binary, header of blanks", binary(&[b' '; 80], 4, 4), 4),
        fine("binary, header of line ends", binary(&[b'\n'; 80], 4, 4), 4),
        odd("binary, header 'solid'", binary(solid, 4, 4), 4, &["S101"]),
        odd(
            "binary, header 'solid', 10 triangles",
            binary(solid, 10, 10),
            10,
            &["S101"],
        ),
        odd(
            "binary, header 'solid', 2570 triangles",
            binary(solid, 2570, 2570),
            2570,
            &["S101"],
        ),
        odd(
            "binary, header 'SOLID'",
            binary(b"SOLID X", 4, 4),
            4,
            &["S101"],
        ),
        odd(
            "binary, header ' solid'",
            binary(b" solid x", 4, 4),
            4,
            &["S101"],
        ),
        odd(
            "binary, header is ASCII STL",
            binary(b"solid\nfacet normal 0 0 1\n", 4, 4),
            4,
            &["S101"],
        ),
        odd(
            "binary, header 'solid', no triangle",
            binary(solid, 0, 0),
            0,
            &["S101"],
        ),
        odd("binary, colours", with_body(&colour), 4, &["S102"]),
        odd("binary, Magics header", binary(magics, 4, 4), 4, &["S102"]),
        odd("binary, NaN normals", with_body(&nan_normals), 4, &["S103"]),
    ]
}

/// Files that are longer or shorter than they claim.
fn lengths() -> Vec<Case> {
    let solid = b"solid exported by SomeCAD";
    let cut = |bytes: &[u8], by: usize| bytes[..bytes.len() - by].to_vec();
    let longer = |bytes: &[u8], more: &[u8]| [bytes, more].concat();
    let four = binary(b"", 4, 4);
    vec![
        hopeless("empty", *b"", "S001"),
        hopeless("binary, half a header", cut(&binary(b"", 0, 0), 44), "S003"),
        hopeless("binary, only a header of 4", binary(b"", 4, 0), "S003"),
        broken(
            "binary, count too high",
            binary(b"", 6, 4),
            "S003",
            Found(4, &["S003"]),
        ),
        broken(
            "binary, count 0xFFFFFFFF",
            binary(b"", u32::MAX, 4),
            "S003",
            Found(4, &["S003"]),
        ),
        broken(
            "binary, count too low",
            binary(b"", 2, 4),
            "S005",
            Found(4, &["S005"]),
        ),
        broken(
            "binary, count 0",
            binary(b"", 0, 4),
            "S005",
            Found(4, &["S005"]),
        ),
        broken(
            "binary, count 0 and half a triangle",
            cut(&binary(b"", 0, 4), 20),
            "S005",
            Dropped(3, 1, &["S005"]),
        ),
        broken(
            "binary, last triangle cut",
            cut(&four, 7),
            "S003",
            Dropped(3, 1, &["S003"]),
        ),
        broken(
            "binary, last triangle missing",
            cut(&four, 50),
            "S003",
            Found(3, &["S003"]),
        ),
        broken(
            "binary, first triangle cut",
            cut(&binary(b"", 1, 1), 1),
            "S003",
            Refused("S003"),
        ),
        broken(
            "binary, a line end behind",
            longer(&four, b"\r\n"),
            "S005",
            Found(4, &["S005"]),
        ),
        broken(
            "binary, text behind",
            longer(&four, b"<metadata unit='mm'/>"),
            "S005",
            Found(4, &["S005"]),
        ),
        broken(
            "binary 'solid', count too high",
            binary(solid, 6, 4),
            "S003",
            Found(4, &["S003", "S101"]),
        ),
        broken(
            "binary 'solid', count too low",
            binary(solid, 3, 4),
            "S005",
            Found(4, &["S005", "S101"]),
        ),
        hopeless("text of something else", *b"# a list\none 0 0 0\n", "S002"),
    ]
}

/// Coordinates that are not numbers, or not in the range of floats.
fn numbers() -> Vec<Case> {
    let with = |n: usize, value: f32| {
        let mut bytes = binary(b"", 4, 4);
        let at = 84 + 50 * n + 12;
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let word =
        |word: &str| ascii("part", 4).replacen("vertex 2 0 0", &format!("vertex {word} 0 0"), 1);
    let drops = |code| Dropped(3, 1, code);
    let all_nan = [binary(b"", 1, 0), record(f32::NAN, [0.0, 0.0, 1.0], 0)].concat();
    vec![
        broken("binary, NaN", with(2, f32::NAN), "S004", drops(&["S004"])),
        broken(
            "binary, infinite",
            with(0, f32::INFINITY),
            "S004",
            drops(&["S004"]),
        ),
        broken(
            "binary, -infinite",
            with(3, f32::NEG_INFINITY),
            "S004",
            drops(&["S004"]),
        ),
        hopeless("binary, all NaN", all_nan, "S004"),
        broken("ASCII, nan", word("nan"), "S004", drops(&["S004"])),
        broken(
            "ASCII, -nan(ind)",
            word("-nan(ind)"),
            "S004",
            drops(&["S004"]),
        ),
        broken("ASCII, inf", word("inf"), "S004", drops(&["S004"])),
        broken("ASCII, 1.#INF", word("1.#INF"), "S004", drops(&["S004"])),
        broken("ASCII, 1e400", word("1e400"), "S004", drops(&["S004"])),
        broken("ASCII, 3.5e38", word("3.5e38"), "S004", drops(&["S004"])),
        fine("ASCII, 1e-400", word("1e-400"), 4),
        fine(
            "ASCII, 40 digits",
            word("1.000000000000000000000000000000000000001"),
            4,
        ),
        fine(
            "ASCII, '+1.', '.5'",
            word("+1.").replace("vertex 0 1 0", "vertex 0 .5 0"),
            4,
        ),
        broken("ASCII, comma", word("1,5"), "S007", drops(&["S007"])),
        broken(
            "ASCII, Fortran exponent",
            word("1.0D+00"),
            "S007",
            drops(&["S007"]),
        ),
        broken(
            "ASCII, hexadecimal",
            word("0x1p3"),
            "S007",
            drops(&["S007"]),
        ),
        broken(
            "ASCII, numbers run together",
            word("1.2.3"),
            "S007",
            drops(&["S007"]),
        ),
    ]
}

/// Text that deviates from the format's description.
fn texts() -> Vec<Case> {
    let part = ascii("part", 4);
    let nameless = ascii("", 4);
    let one_line = part.split_whitespace().collect::<Vec<_>>().join(" ");
    let latin1 = [
        b"solid caf\xe9\n",
        part.split_once('\n').unwrap().1.as_bytes(),
    ]
    .concat();
    let normals = |normal: &str| part.replacen("normal 0 0 1", normal, 2);
    vec![
        fine("ASCII", part.clone(), 4),
        fine("ASCII, no triangle", ascii("part", 0), 0),
        fine("ASCII, CRLF", part.replace('\n', "\r\n"), 4),
        fine("ASCII, tabs", part.replace("  ", "\t"), 4),
        fine(
            "ASCII, a tab behind 'solid'",
            part.replacen("solid ", "solid\t", 1),
            4,
        ),
        fine("ASCII, blanks before", format!("\n  \t{part}"), 4),
        fine("ASCII, blanks behind", format!("{part}\n \n\n"), 4),
        fine("ASCII, no last line end", part.trim_end(), 4),
        fine(
            "ASCII, a name of keywords",
            ascii("solid facet outer loop", 4),
            4,
        ),
        fine(
            "ASCII, another name at the end",
            part.replace("endsolid part", "endsolid"),
            4,
        ),
        odd("ASCII, no name", nameless.clone(), 4, &["S105"]),
        odd(
            "ASCII, 'solid' and a blank",
            nameless.replacen("solid", "solid ", 1),
            4,
            &["S105"],
        ),
        odd("ASCII, upper case", part.to_uppercase(), 4, &["S106"]),
        odd(
            "ASCII, byte order mark",
            format!("\u{feff}{part}"),
            4,
            &["S106"],
        ),
        odd(
            "ASCII, CR line ends",
            part.replace('\n', "\r"),
            4,
            &["S106"],
        ),
        odd("ASCII, one line", one_line, 4, &["S106"]),
        odd("ASCII, latin-1 name", latin1, 4, &["S106"]),
        odd("ASCII, two solids", part.repeat(2), 8, &["S104"]),
        odd(
            "ASCII, two solids, no names",
            nameless.repeat(2),
            8,
            &["S104", "S105"],
        )
        .strict("S105"),
        odd(
            "ASCII, nan normals",
            normals("normal nan nan nan"),
            4,
            &["S103"],
        ),
        odd(
            "ASCII, -nan(ind) normals",
            normals("normal -nan(ind) 0 0"),
            4,
            &["S103"],
        ),
        odd(
            "ASCII, comma normals",
            normals("normal 0,0 0,0 1,0"),
            4,
            &["S103"],
        ),
        odd("ASCII, no normals", normals(""), 4, &["S103"]),
    ]
}

/// Malformed facets and missing ends.
fn facets() -> Vec<Case> {
    let part = ascii("part", 4);
    // In the second facet, on lines 9 to 15.
    let change = |from: &str, to: &str| {
        let (first, rest) = part.split_at(part.find("endfacet").unwrap() + 8);
        format!("{first}{}", rest.replacen(from, to, 1))
    };
    let drops = Dropped(3, 1, &["S006"]);
    let found = Found(4, &["S006"]);
    let cut = |at: &str| part[..part.rfind(at).unwrap()].to_string();
    let four = "vertex 1 0 0\n      vertex 1 1 0\n";
    vec![
        broken(
            "ASCII, four vertices",
            change("vertex 1 0 0\n", four),
            "S006",
            drops,
        ),
        broken(
            "ASCII, two vertices",
            change("vertex 1 0 0\n", "\n"),
            "S006",
            drops,
        ),
        broken(
            "ASCII, two coordinates",
            change("vertex 1 0 0", "vertex 1 0"),
            "S006",
            drops,
        ),
        broken(
            "ASCII, four coordinates",
            change("vertex 1 0 0", "vertex 1 0 0 0"),
            "S006",
            drops,
        ),
        broken("ASCII, no endloop", change("endloop", ""), "S006", drops),
        broken("ASCII, no endfacet", change("endfacet", ""), "S006", drops),
        broken(
            "ASCII, no outer loop",
            change("outer loop", ""),
            "S006",
            drops,
        ),
        broken(
            "ASCII, a comment",
            change("endfacet", "endfacet # mine"),
            "S006",
            found,
        ),
        broken(
            "ASCII, a colour",
            change("endfacet", "endfacet color 1 0 0"),
            "S006",
            found,
        ),
        broken(
            "ASCII, text behind",
            format!("{part}by SomeCAD\n"),
            "S006",
            found,
        ),
        broken(
            "ASCII, a facet behind",
            format!("{part}{}", facet(9)),
            "S006",
            Found(5, &["S003", "S006"]),
        ),
        broken(
            "ASCII, no endsolid",
            cut("endsolid"),
            "S003",
            Found(4, &["S003"]),
        ),
        broken(
            "ASCII, cut in a word",
            cut("dsolid"),
            "S003",
            Found(4, &["S003"]),
        ),
        broken(
            "ASCII, cut in a facet",
            cut("endloop"),
            "S003",
            Dropped(3, 1, &["S003"]),
        ),
        broken(
            "ASCII, cut in a number",
            cut(" 0\n    endloop"),
            "S003",
            Dropped(3, 1, &["S003"]),
        ),
        broken(
            "ASCII, cut in the first",
            part[..90].to_string(),
            "S003",
            Refused("S003"),
        ),
        broken(
            "ASCII, only 'solid'",
            "solid part\n",
            "S003",
            Refused("S003"),
        ),
        broken(
            "ASCII, zeros behind",
            format!("{part}\0\0\0\0"),
            "S006",
            found,
        ),
    ]
}

/// Files in gzip.
fn packed() -> Vec<Case> {
    let four = binary(b"", 4, 4);
    let part = ascii("part", 4);
    let whole = gzip(&four);
    let cut = |by: usize| whole[..whole.len() - by].to_vec();
    let mut wrong_sum = whole.clone();
    wrong_sum[whole.len() - 6] ^= 1;
    let halves = [gzip(&four[..100]), gzip(&four[100..])].concat();
    let behind = [&whole[..], b"behind"].concat();
    let found = Found(4, &["S003"]);
    vec![
        fine("gzip, binary", whole.clone(), 4),
        fine("gzip, ASCII", gzip(part.as_bytes()), 4),
        fine("gzip, two members", halves, 4),
        odd(
            "gzip, header 'solid'",
            gzip(&binary(b"solid x", 4, 4)),
            4,
            &["S101"],
        ),
        broken("gzip, no check sum", cut(8), "S003", found),
        broken("gzip, bytes behind", behind, "S005", Found(4, &["S005"])),
        broken(
            "gzip, of a cut file",
            gzip(&four[..200]),
            "S003",
            Dropped(2, 1, &["S003"]),
        ),
        hopeless("gzip, wrong check sum", wrong_sum, "S011"),
        hopeless("gzip, two bytes", *b"\x1f\x8b", "S003"),
        hopeless("gzip, of nothing", gzip(b""), "S001"),
        hopeless("gzip, of a plate in text", gzip(plate().as_bytes()), "S002"),
    ]
}

impl Case {
    /// In strict mode another error is found first.
    fn strict(mut self, code: &'static str) -> Self {
        self.strict = Refused(code);
        self
    }
}
