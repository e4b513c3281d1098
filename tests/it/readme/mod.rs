//! The README and the pages of docs are correct. Their tables and pictures are generated here from the tables
//! of the tool and compared. Their commands are run, and the output is compared.
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
    let docs = fs::read_dir(root("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let docs = docs
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("docs/{name}"));
    let mut paths: Vec<_> = docs.chain(["README.md".to_string()]).collect();
    paths.sort();
    assert!(paths.len() > 10, "{paths:?}");
    let page = |path: String| {
        let text = fs::read_to_string(root(&path)).unwrap();
        (path, text)
    };
    paths.into_iter().map(page).collect()
}

fn page(path: &str) -> String {
    fs::read_to_string(root(path)).unwrap()
}

/// Returns the fenced blocks of a language without their fences.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut blocks = vec![];
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(found) = line.strip_prefix("```") {
            let inside: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            if found == language {
                blocks.push(inside.join("\n"));
            }
        }
    }
    blocks
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

#[test]
fn every_file_that_is_linked_is_there() {
    let mut seen = 0;
    for (path, text) in pages() {
        let folder = Path::new(&path).parent().unwrap();
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = link.split('#').next().unwrap();
            if !file.is_empty() && !link.contains("://") {
                assert!(
                    root(folder.join(file).to_str().unwrap()).exists(),
                    "{path}: {link}"
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "only {seen} links");
}

#[test]
fn every_page_is_in_the_index() {
    let index = page("docs/README.md");
    for (path, _) in pages() {
        let name = path.trim_start_matches("docs/");
        assert!(
            name == "README.md" || index.contains(&format!("]({name})")),
            "{path} is not in docs/README.md"
        );
    }
}

#[test]
fn the_readme_is_for_a_first_visit() {
    let words = page("README.md").split_whitespace().count();
    assert!(words <= 2500, "{words} words");
}

#[test]
fn named_recipes_exist_in_the_justfile() {
    let text = page("docs/development.md");
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
            "{recipe} is not in docs/development.md"
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
