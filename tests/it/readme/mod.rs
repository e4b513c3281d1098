//! Is the README true? Its tables and pictures are made here from the tables of the tool and
//! compared; its commands are run and what they say is compared.
//!
//! `VOXELIZE_BLESS=1` writes the parts between `<!-- made: NAME -->` and `<!-- end -->` again, and
//! fails once more. What is between them is not written by hand.

mod commands;
mod parts;

use std::fs;

use crate::support::bless::{self, root};

fn readme() -> String {
    fs::read_to_string(root("README.md")).unwrap()
}

/// The fenced blocks of a language, without their fences.
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
    let (old, mut new, mut made) = (readme(), String::new(), vec![]);
    let mut rest = old.as_str();
    while let Some((before, after)) = rest.split_once("<!-- made: ") {
        let (name, after) = after.split_once(" -->\n").expect("a marker ends in ` -->`");
        let (_, after) = after.split_once(END).unwrap_or_else(|| panic!("no end of {name}"));
        new += &format!("{before}<!-- made: {name} -->\n{}\n{END}", parts::make(name).trim_end());
        made.push(name);
        rest = after;
    }
    new += rest;
    for (name, _) in parts::PARTS {
        assert!(made.contains(name), "the README has no part {name}");
    }
    bless::compare("README.md", &new);
}

#[test]
fn every_file_that_is_linked_is_there() {
    let text = readme();
    let mut seen = 0;
    for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        let file = link.split('#').next().unwrap();
        if !file.is_empty() && !link.contains("://") {
            assert!(root(file).exists(), "{link}");
            seen += 1;
        }
    }
    assert!(seen > 3, "only {seen} links");
}

#[test]
fn the_recipes_named_are_those_of_the_justfile() {
    let (text, justfile) = (readme(), fs::read_to_string(root("justfile")).unwrap());
    let starts = |line: &&str| line.starts_with(|c: char| c.is_ascii_lowercase()) && line.contains(':');
    let words = |line: &str| line.split([' ', ':']).next().unwrap().to_string();
    let recipes: Vec<_> = justfile.lines().filter(starts).map(words).filter(|r| r != "default").collect();
    assert!(recipes.len() > 3, "{recipes:?}");
    for recipe in &recipes {
        assert!(text.contains(&format!("`just {recipe}`")), "{recipe} is not in the README");
    }
    for named in text.split("`just ").skip(1).filter_map(|rest| rest.split(['`', ' ']).next()) {
        assert!(recipes.iter().any(|recipe| recipe == named), "no recipe {named}");
    }
}
