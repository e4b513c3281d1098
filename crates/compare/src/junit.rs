//! Results as JUnit XML, the form that GitHub, GitLab and Jenkins show: one suite, one test case each.
//!
//! There is no binding schema; this file writes the common subset of these readers: `testsuites`,
//! `testsuite` and `testcase` with counts and seconds, `failure` if a result is not as it should
//! be, `error` where there is none.

use std::fmt::Write;
use std::time::Duration;

use voxelize_core::error::is_obeyed;

/// One suite of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suite {
    /// The name.
    pub name: String,
    /// Its tests, in order.
    pub tests: Vec<Test>,
    /// How long all of it took.
    pub time: Duration,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// The name, unique in its suite.
    pub name: String,
    /// The file that says what should come out, and the line in it, counted from 1; 0 for none.
    pub place: (String, u64),
    /// How long it took.
    pub time: Duration,
    /// The outcome.
    pub verdict: Verdict,
}

/// The outcome of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All is well.
    Passed,
    /// The result is wrong.
    Failed(Reason),
    /// There is no result.
    Error(Reason),
}

/// Why a test did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// A word for the kind of it, the same for the same kind.
    pub kind: String,
    /// One line.
    pub message: String,
    /// All that is known, in lines.
    pub text: String,
}

/// The XML of a suite.
pub fn to_xml(suite: &Suite) -> String {
    let count = |of: fn(&Verdict) -> bool| suite.tests.iter().filter(|test| of(&test.verdict)).count();
    let failures = count(|verdict| matches!(verdict, Verdict::Failed(_)));
    let errors = count(|verdict| matches!(verdict, Verdict::Error(_)));
    let counts = format!(
        "name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" time=\"{}\"",
        escaped(&suite.name),
        suite.tests.len(),
        seconds(suite.time)
    );
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_string();
    xml += &format!("<testsuites {counts}>\n  <testsuite {counts}>\n");
    for test in &suite.tests {
        write_test(&mut xml, suite, test);
    }
    xml + "  </testsuite>\n</testsuites>\n"
}

fn write_test(xml: &mut String, suite: &Suite, test: &Test) {
    let file = &test.place.0;
    let line = Some(test.place.1).filter(|line| *line > 0);
    let line = line.map(|line| format!(" line=\"{line}\"")).unwrap_or_default();
    // A writer into a String cannot fail.
    let _ = write!(
        xml,
        "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\"{line} time=\"{}\"",
        escaped(&suite.name),
        escaped(&test.name),
        escaped(file),
        seconds(test.time)
    );
    let (element, Reason { kind, message, text }) = match &test.verdict {
        Verdict::Passed => return xml.push_str("/>\n"),
        Verdict::Failed(reason) => ("failure", reason),
        Verdict::Error(reason) => ("error", reason),
    };
    let kind = escaped(kind);
    let message = escaped(message);
    let text = escaped(text).replace("&#10;", "\n");
    let _ = writeln!(
        xml,
        ">\n      <{element} type=\"{kind}\" message=\"{message}\">{text}</{element}>\n    </testcase>"
    );
}

fn seconds(time: Duration) -> String {
    format!("{:.6}", time.as_secs_f64())
}

/// The text as XML 1.0 can hold it, in elements and in attributes: characters it has no way to write
/// become U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // As they are, an attribute would have blanks in their place.
            '\t' | '\n' | '\r' => drop(write!(escaped, "&#{};", c as u32)),
            '\0'..'\x20' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            // As they are, a terminal or a viewer would obey them.
            c if is_obeyed(c) => drop(write!(escaped, "&#{};", c as u32)),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use roxmltree::{Document, Node};

    use super::*;

    /// Characters that XML has other uses for, and some it cannot hold.
    const HARD: &str = "a<b> & \"c\" 'd' ]]> tab\tline\nend\r\u{e9}\u{1f600}";

    fn suite() -> Suite {
        let reason = || Reason { kind: "cells".into(), message: HARD.into(), text: format!("{HARD}\nmore") };
        let test = |name: &str, verdict| Test {
            name: name.into(),
            place: ("goldens.toml".into(), 7),
            time: Duration::from_micros(1500),
            verdict,
        };
        let tests = vec![
            test("plain", Verdict::Passed),
            test(HARD, Verdict::Failed(reason())),
            test("gone", Verdict::Error(reason())),
        ];
        Suite { name: HARD.into(), tests, time: Duration::from_secs(2) }
    }

    fn child<'a>(node: Node<'a, 'a>, name: &str) -> Node<'a, 'a> {
        node.children().find(|child| child.has_tag_name(name)).unwrap_or_else(|| panic!("no {name}"))
    }

    #[test]
    fn a_parser_reads_what_was_written() {
        let xml = to_xml(&suite());
        let document = Document::parse(&xml).unwrap();
        let root = document.root_element();
        let suite = child(root, "testsuite");
        for node in [root, suite] {
            for (key, value) in
                [("name", HARD), ("tests", "3"), ("failures", "1"), ("errors", "1"), ("time", "2.000000")]
            {
                assert_eq!(node.attribute(key), Some(value));
            }
        }
        let tests: Vec<_> = suite.children().filter(Node::is_element).collect();
        assert_eq!(tests.len(), 3);
        for test in &tests {
            assert!(test.has_tag_name("testcase"));
            assert_eq!((test.attribute("classname"), test.attribute("line")), (Some(HARD), Some("7")));
            assert_eq!(test.attribute("time"), Some("0.001500"));
        }
        assert_eq!(tests[0].children().count(), 0);
        for (test, element) in [(tests[1], "failure"), (tests[2], "error")] {
            let reason = child(test, element);
            assert_eq!((reason.attribute("type"), reason.attribute("message")), (Some("cells"), Some(HARD)));
            assert_eq!(reason.text().unwrap(), format!("{HARD}\nmore"));
        }
    }

    #[test]
    fn what_terminals_obey_is_escaped() {
        let name = "a\u{9b}\u{202e}\u{200b}\u{7f}b";
        let xml = to_xml(&Suite { name: name.into(), ..suite() });
        assert!(!xml.chars().any(|c| is_obeyed(c) && c != '\n'), "{xml}");
        assert_eq!(Document::parse(&xml).unwrap().root_element().attribute("name"), Some(name));
    }

    #[test]
    fn what_xml_cannot_hold_is_marked() {
        for c in ["\0", "\u{1}", "\u{1b}", "\u{ffff}"] {
            let xml = to_xml(&Suite { name: format!("a{c}b"), ..suite() });
            let document = Document::parse(&xml).unwrap();
            assert_eq!(document.root_element().attribute("name"), Some("a\u{fffd}b"), "{c:?}");
        }
    }
}
