//! Texts and names of files cannot control a terminal or the log of a CI service. Every command shows
//! records, names of cases and names of files that try to. The output contains no control character.

use std::fs;

use crate::support::place::Place;
use crate::support::suite::Counts;

/// Colours, C1, a line that is a command, a line that is a verdict, reversed text, zero-width characters.
const HOSTILE: &str =
    "x\u{1b}[31m\u{9b}2J\n::error::forged\npass   forged\r\u{202e}\u{200b}\u{7f}y";

pub fn no_text_controls_the_terminal() -> Counts {
    let place = Place::new();
    place.run("cube.stl -r 4 -o part.raw").expect(0);
    let mut sidecar: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path("part.raw.json")).unwrap()).unwrap();
    let record = sidecar.as_object_mut().unwrap();
    let words: Vec<_> = record
        .iter()
        .filter(|(_, value)| value.is_string())
        .map(|(key, _)| key.clone())
        .collect();
    for key in words
        .iter()
        .filter(|key| ["tool", "rule", "input", "ties", "snap", "inside"].contains(&key.as_str()))
    {
        record.insert(key.clone(), HOSTILE.into());
    }
    place.write("part.raw.json", sidecar.to_string());
    let name = "a\u{1b}[31m\u{9b}\n::error::b\u{202e}.stl";
    fs::copy(place.path("cube.stl"), place.path(name)).unwrap();
    fs::create_dir(place.path("in")).unwrap();
    fs::copy(place.path("cube.stl"), place.path(&format!("in/{name}"))).unwrap();
    fs::write(place.path(&format!("in/z{name}")), "no mesh").unwrap();
    let text = serde_json::to_string(HOSTILE)
        .unwrap()
        .replace("\u{7f}", "\\u007f");
    let case = |options: &str| format!("[[case]]\nname = {text}\nmesh = \"cube.stl\"\n{options}\n");
    let mut list =
        case("options = \"-r 4\"\ngrid = \"v1:00000000000000000000000000000000\"\ncells = 1");
    list += "[[case]]\nmesh = \"::error::x\"\ngrid = \"v1:00000000000000000000000000000000\"\ncells = 1\n";
    place.write("list.toml", list);
    let mut seen = 0;
    let mut wrong = vec![];
    for line in [
        "info part.raw",
        "info part.raw --json",
        "view part.raw --slice z -v",
        "diff part.raw part.raw -v",
        "diff part.raw part.raw --json",
        "verify part.raw cube.stl -v",
        "in -r 4 -o out/ -v",
        "in -r 4 -o out/ --json",
        "info in/*",
        "verify list.toml -v --junit report.xml",
        "verify list.toml --json=report.json",
        "verify --update list.toml",
    ] {
        let mut command = place.command("");
        let words = line.split(' ').flat_map(|word| match word {
            "in/*" => vec![format!("in/{name}"), format!("in/z{name}")],
            word => vec![word.to_string()],
        });
        let output = command.args(words).output().unwrap();
        let mut texts = vec![output.stdout, output.stderr];
        texts.extend(
            ["report.xml", "report.json"]
                .iter()
                .filter_map(|name| fs::read(place.path(name)).ok()),
        );
        for text in texts
            .iter()
            .map(|text| String::from_utf8_lossy(text))
            .filter(|text| !text.is_empty())
        {
            seen += 1;
            let obeyed = text.chars().find(|c| *c != '\n' && is_control(*c));
            let forged = text
                .lines()
                .find(|line| line.trim_start().starts_with("::") || line.starts_with("pass   f"));
            if obeyed.is_some() || forged.is_some() {
                wrong.push(format!("{line}: {obeyed:?} {forged:?}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {seen} texts are not escaped:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    vec![("texts of commands", seen)]
}

/// Reports whether a character controls a terminal. This list is independent of the command's list.
fn is_control(c: char) -> bool {
    let c = u32::from(c);
    c < 0x20
        || (0x7f..0xa0).contains(&c)
        || (0x200b..0x2010).contains(&c)
        || (0x202a..0x202f).contains(&c)
        || (0x2066..0x206a).contains(&c)
        || c == 0xfeff
}
