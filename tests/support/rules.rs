//! Rules for suites.

use voxelize::{Inside, Length, Rule};

/// Returns rules whose cells depend on the mesh and the cell alone.
pub fn local() -> Vec<Rule> {
    let mut rules = vec![
        Rule::surface(),
        Rule::Thin,
        Rule::offset("1.5vx".parse().unwrap()),
        Rule::distance(),
        Rule::distance().with_sign().unwrap(),
        Rule::distance().with_iso(Length::cells(1)).unwrap(),
    ];
    for inside in [
        Inside::Auto,
        Inside::Nonzero,
        Inside::EvenOdd,
        Inside::Vote,
        Inside::Robust,
    ] {
        rules.extend([Rule::solid(), Rule::filled()].map(|rule| rule.with_inside(inside).unwrap()));
    }
    rules
}
