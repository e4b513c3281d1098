//! Masks for facts of one run or one machine, and for lists that grow: times, memory, instruction sets, lists of
//! formats, available threads, sizes of files whose bytes depend on the compressor, temporary paths, the version.

use voxelize::Level;
use voxelize::format::FORMATS;

/// Keys of JSON whose values vary between runs: scalars, or flat objects.
const KEYS: [&str; 7] = [
    "timings_ms",
    "region_bytes",
    "time_ms",
    "peak_bytes",
    "simd",
    "version",
    "available_bytes",
];

const TIME: [&str; 4] = ["ms", "s", "µs", "min"];
const SIZE: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];

/// Masks one line of output for a transcript.
pub fn line(text: &str, folder: &str) -> String {
    let mut text = text.replace(folder, "[folder]");
    text = text.replace(
        concat!("voxelize ", env!("CARGO_PKG_VERSION")),
        "voxelize [version]",
    );
    KEYS.iter().for_each(|key| text = value(&text, key));
    text = without_disk(&text);
    text = formats(&text);
    text = compressed(&levels(&text));
    if let Some(start) = text
        .split("offers ")
        .next()
        .filter(|start| start.len() < text.len())
    {
        return format!("{start}offers [of this machine]");
    }
    durations(&available(&text))
}

/// Masks lists of more than four formats, `vox, npy, npz, nrrd, nii` or `.vox, .npy, …`, so that a new format changes no
/// transcript.
fn formats(text: &str) -> String {
    let is_format = |word: &str| {
        let name = word.trim_start_matches('.');
        FORMATS.iter().any(|format| format.name == name)
    };
    let mut words: Vec<String> = vec![];
    let mut run = 0;
    for word in text.split_inclusive(' ') {
        let name = word.trim_end_matches([' ', ',', ';', ']']);
        run = if is_format(name) { run + 1 } else { 0 };
        words.push(word.to_string());
        if run == 5 {
            words.truncate(words.len() - 5);
            words.push(format!("[formats]{}", &word[name.len()..]));
        } else if run > 5 {
            words.truncate(words.len() - 2);
            words.push(format!("[formats]{}", &word[name.len()..]));
        }
    }
    words.concat()
}

/// Reports whether a line is about the free disk space of this machine.
pub fn is_of_disk(line: &str) -> bool {
    line.starts_with("warning[W012]")
}

/// Removes the warning about disk space from JSON.
fn without_disk(text: &str) -> String {
    let Some((before, rest)) = text.split_once(r#"{"level":"warning","code":"W012""#) else {
        return text.to_string();
    };
    let after = rest.split_once('}').map_or("", |(_, after)| after);
    format!("{}{}", before.trim_end_matches(','), after)
}

/// Masks a value of JSON by its key.
fn value(text: &str, key: &str) -> String {
    let start = format!("\"{key}\":");
    let mut parts = text.split(&start);
    let mut masked = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let end = match part.as_bytes().first() {
            Some(b'{') => part.find('}').map(|n| n + 1),
            _ => part.find([',', '}']),
        };
        masked += &format!("{start}[{key}]{}", &part[end.unwrap_or(part.len())..]);
    }
    masked
}

/// Masks the name of the level that a run uses, and the levels of the machine.
fn levels(text: &str) -> String {
    // The list of all levels is the same on every machine.
    let all = Level::ALL.map(|level| level.name()).join(", ");
    text.split(&all)
        .map(available_levels)
        .collect::<Vec<_>>()
        .join(&all)
}

fn available_levels(text: &str) -> String {
    let names: Vec<_> = Level::available()
        .iter()
        .map(|level| level.name())
        .collect();
    let mut text = text
        .replace(&names.join(", "), "[levels]")
        .replace(&names.join("|"), "[levels]");
    for name in names {
        text = text.replace(&format!("simd {name}:"), "simd [level]:");
    }
    text
}

/// Masks sizes of .npz and .png files: `a.npz, 1.2 KiB`.
fn compressed(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_string).collect();
    for n in 2..words.len() {
        let named = [".npz,", ".png,"]
            .iter()
            .any(|end| words[n - 2].ends_with(end));
        let unit = words[n].trim_end_matches(',').to_string();
        if named && is_number(&words[n - 1]) && SIZE.contains(&unit.as_str()) {
            words[n - 1] = "[size]".to_string();
            words[n] = words[n][unit.len()..].to_string();
        }
    }
    words
        .join(" ")
        .replace("[size] ,", "[size],")
        .trim_end()
        .to_string()
}

/// Masks the free memory of a machine: `(12.3 GiB available)`.
fn available(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_string).collect();
    for n in 2..words.len() {
        let size = match words[n - 1].as_str() {
            "are" if n > 2 => n - 3,
            _ => n - 2,
        };
        let number = words[size].trim_start_matches('(');
        if words[n].starts_with("available") && is_number(number) {
            words[size] = words[size].replace(number, "[memory]");
            words[size + 1] = words[size + 1]
                .trim_start_matches(|c: char| c.is_alphabetic())
                .to_string();
        }
    }
    words
        .join(" ")
        .replace("[memory]  ", "[memory] ")
        .replace("[memory] :", "[memory]:")
}

/// Masks durations, `3.2 ms`. The rest of a line about time or a total also varies.
fn durations(text: &str) -> String {
    let words: Vec<_> = text.split(' ').collect();
    let is_unit = |word: &&str| TIME.contains(&word.trim_end_matches([':', ';', ',', ')', '.']));
    let mut masked: Vec<String> = vec![];
    let mut n = 0;
    while n < words.len() {
        if is_number(words[n].trim_start_matches('(')) && words.get(n + 1).is_some_and(is_unit) {
            while masked.last().is_some_and(String::is_empty) {
                masked.pop();
            }
            masked.push("[time]".to_string());
            if ["time", "total"].contains(&words[0]) {
                break;
            }
            n += 2;
        } else {
            masked.push(words[n].to_string());
            n += 1;
        }
    }
    if words[0] == "time" {
        "time    [time]".to_string()
    } else {
        masked.join(" ")
    }
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word
            .bytes()
            .all(|b| b.is_ascii_digit() || b == b'.' || b == b',')
}
