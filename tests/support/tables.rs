//! Tables of text: one row per line, with fields between `|`.

/// Returns the rows of a table with fields between `|`. Lines that begin with `#` are comments.
pub fn rows<const N: usize>(table: &str) -> Vec<[&str; N]> {
    let lines = table.lines().map(str::trim);
    let rows: Vec<[&str; N]> = lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let fields: Vec<_> = line.split('|').map(str::trim).collect();
            fields.try_into().expect(line)
        })
        .collect();
    assert!(!rows.is_empty(), "a table without rows");
    rows
}

/// Returns the bytes of a field: escapes as in byte strings of Rust, other characters in UTF-8.
pub fn unescaped(field: &str) -> Vec<u8> {
    let mut bytes = vec![];
    let mut rest = field;
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend(plain.bytes());
        let (kind, mut after) = escape.split_at(1);
        match kind {
            "n" => bytes.push(b'\n'),
            "r" => bytes.push(b'\r'),
            "t" => bytes.push(b'\t'),
            "0" => bytes.push(0),
            "\\" => bytes.push(b'\\'),
            "x" => {
                let (digits, others) = after.split_at(2);
                bytes.push(u8::from_str_radix(digits, 16).expect(field));
                after = others;
            }
            _ => panic!("an unknown escape in {field}"),
        }
        rest = after;
    }
    bytes.extend(rest.bytes());
    bytes
}

/// Returns the text of a field.
pub fn text(field: &str) -> String {
    String::from_utf8(unescaped(field)).expect(field)
}
