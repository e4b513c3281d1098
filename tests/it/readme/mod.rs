//! Tests of the README and the pages of docs. Their tables and pictures are generated here from the tables of the tool and
//! compared; their commands are run and their output is compared.
//!
//! `VOXELIZE_BLESS=1` writes the parts between `<!-- made: NAME -->` and `<!-- end -->` again, and fails once
//! more. The text between these marks is never written by hand.

mod commands;
mod parts;

use std::fs;
use std::path::Path;

use crate::support::bless::{self, root};

/// Returns the README and the pages below docs: the path from the root, and the text.
fn pages() -> Vec<(String, String)> {
    let mut paths = vec!["README.md".to_string()];
    let mut folders = vec!["docs".to_string()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().into_string().unwrap());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.ends_with(".md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    assert!(paths.len() > 40, "{paths:?}");
    let page = |path: String| {
        let text = fs::read_to_string(root(&path)).unwrap();
        (path, text)
    };
    paths.into_iter().map(page).collect()
}

/// A page for users, as opposed to one about the insides of the project.
fn is_for_users(path: &str) -> bool {
    !path.starts_with("docs/internals/")
}

fn page(path: &str) -> String {
    fs::read_to_string(root(path)).unwrap()
}

/// The fenced blocks of a text, without their fences: the language and the content of each.
fn fenced(text: &str) -> Vec<(&str, String)> {
    let mut blocks = vec![];
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let inside: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((language, inside.join("\n")));
        }
    }
    blocks
}

/// The fenced blocks of one language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut found = vec![];
    for (name, block) in fenced(text) {
        if name == language {
            found.push(block);
        }
    }
    found
}

#[test]
fn every_made_part_is_as_the_tool_makes_it() {
    const END: &str = "<!-- end -->";
    let mut made = vec![];
    let pages = pages().into_iter().map(|(path, old)| {
        let mut new = String::new();
        let mut rest = old.as_str();
        while let Some((before, after)) = rest.split_once("<!-- made: ") {
            let (name, after) = after.split_once(" -->\n").expect("a marker ends in ` -->`");
            let (_, after) = after
                .split_once(END)
                .unwrap_or_else(|| panic!("no end of {name}"));
            new += &format!(
                "{before}<!-- made: {name} -->\n{}\n{END}",
                parts::make(name).trim_end()
            );
            made.push(name.to_string());
            rest = after;
        }
        (path, new + rest)
    });
    let pages: Vec<_> = pages.collect();
    for (name, _) in parts::PARTS {
        assert!(
            made.iter().any(|made| made == name),
            "no page has the part {name}"
        );
    }
    bless::compare_all(pages);
}

/// The anchor of a heading, as forges and mdBook make it.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || ['-', '_', ' '].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_file_and_heading_that_is_linked_is_there() {
    let mut files = 0;
    let mut headings = 0;
    for (path, text) in pages() {
        let folder = Path::new(&path).parent().unwrap();
        for rest in text.split("](").skip(1) {
            let link = rest.split(')').next().unwrap();
            if link.contains("://") {
                continue;
            }
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                root(&path)
            } else {
                root(folder.join(file).to_str().unwrap())
            };
            assert!(target.exists(), "{path}: {link}");
            // The site has the pages of docs alone.
            let is_inside = target.canonicalize().unwrap().starts_with(root("docs"));
            assert!(
                path == "README.md" || is_inside,
                "{path}: {link} leads out of docs"
            );
            files += 1;
            if !fragment.is_empty() {
                let there = fs::read_to_string(&target).unwrap();
                let mut lines = there.lines().filter(|line| line.starts_with('#'));
                assert!(
                    lines.any(|line| anchor(line) == fragment),
                    "{path}: {link} has no such heading"
                );
                headings += 1;
            }
        }
    }
    assert!(
        files > 100 && headings > 10,
        "{files} links, {headings} of them to headings"
    );
}

#[test]
fn every_page_is_in_the_summary_of_the_site() {
    let summary = page("docs/SUMMARY.md");
    for (path, _) in pages() {
        let Some(name) = path.strip_prefix("docs/") else {
            continue;
        };
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("]({name})")),
            "{path} is not in docs/SUMMARY.md"
        );
    }
}

/// Number of words of the pages whose path begins so. Blocks of code and the bars of tables are no words.
fn words(start: &str) -> usize {
    let mut count = 0;
    for (path, text) in pages() {
        if !path.starts_with(start) {
            continue;
        }
        let mut is_code = false;
        for line in text.lines() {
            if line.starts_with("```") {
                is_code = !is_code;
            } else if !is_code {
                let words = line.split_whitespace();
                count += words.filter(|w| w.contains(char::is_alphanumeric)).count();
            }
        }
    }
    count
}

#[test]
fn pages_keep_to_their_length() {
    const LIMITS: [(&str, usize); 6] = [
        ("README.md", 1500),
        ("docs/README.md", 400),
        ("docs/tutorial.md", 1000),
        ("docs/how-to/", 3900),
        ("docs/reference/", 13_400),
        ("docs/explanation/", 4000),
    ];
    let mut sum = 0;
    for (start, limit) in LIMITS {
        let words = words(start);
        println!("{start}: {words} of {limit} words");
        assert!((200..=limit).contains(&words), "{start} has {words} words");
        sum += words;
    }
    assert!(sum <= 22_200, "{sum} words for users");
}

#[test]
fn named_recipes_exist_in_the_justfile() {
    let text = page("docs/internals/development.md");
    let justfile = page("justfile");
    let starts =
        |line: &&str| line.starts_with(|c: char| c.is_ascii_lowercase()) && line.contains(':');
    let words = |line: &str| line.split([' ', ':']).next().unwrap().to_string();
    let recipes: Vec<_> = justfile
        .lines()
        .filter(starts)
        .map(words)
        .filter(|r| r != "default")
        .collect();
    assert!(recipes.len() > 3, "{recipes:?}");
    for recipe in &recipes {
        assert!(
            text.contains(&format!("`just {recipe}`")),
            "{recipe} is not in docs/internals/development.md"
        );
    }
    for named in text
        .split("`just ")
        .skip(1)
        .filter_map(|rest| rest.split(['`', ' ']).next())
    {
        assert!(
            recipes.iter().any(|recipe| recipe == named),
            "no recipe {named}"
        );
    }
}
