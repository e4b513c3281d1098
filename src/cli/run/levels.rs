//! Rows of the summary about several levels of detail.

use voxelize::grid::CellKind;
use voxelize::{Rule, ShellThickness};

use super::report::{RunReport, left_out, surface_and_interior};
use super::summary::{cells, grid, label_rows, mesh_rows, plan, rule, volume, wrote};
use crate::cli::contents::{made_values, range};
use crate::cli::options::{Mode, Options};
use crate::cli::report::{ReportRows, display, hint_text};

/// Adds the rows that all levels share: the mesh, the rule and the colours that are left out.
pub fn shared_rows(rows: &mut ReportRows, options: &Options, found: &RunReport) {
    mesh_rows(rows, options, found);
    if let Some(lattice) = found.lattice.as_ref().filter(|_| !is_own_rule(options)) {
        rows.row("rule", rule(&options.job.options, lattice, found));
    }
    if let Some(finding) = left_out(options, found) {
        let hint = finding.first.hint().map(hint_text).unwrap_or_default();
        rows.row("colours", format!("{}; {hint}", finding.first.message()));
    }
}

/// Returns `true` if the text about the rule has a length that is a number of cells, so that each level has its own.
fn is_own_rule(options: &Options) -> bool {
    let rule = &options.job.options.rule;
    matches!(
        rule,
        Rule::Filled {
            shell: Some(ShellThickness::Steps(_)),
            ..
        }
    )
}

/// Adds the rows of a level with this number of cells along the longest axis: its grid, its cells and its files.
pub fn level_rows(rows: &mut ReportRows, longest: usize, options: &Options, found: &RunReport) {
    if let Some(kept) = options.output.kept().filter(|_| found.mesh.is_none()) {
        rows.row(
            "level",
            format!("{longest}: skipped, {} exists", kept.display()),
        );
        return;
    }
    let Some(lattice) = &found.lattice else {
        return;
    };
    let mut text = format!(
        "{longest}: {}",
        grid(options, lattice, found.cut.as_deref())
    );
    if let (Some(memory), Mode::DryRun) = (&found.memory, options.mode) {
        text += &format!("; {}", plan(options, found, memory));
    }
    rows.row("level", text);
    if is_own_rule(options) {
        rows.row("rule", rule(&options.job.options, lattice, found));
    }
    if options.job.options.rule.kind() == CellKind::Field {
        if let Some(summary) = &found.field {
            let mut text = made_values(&options.job.options.rule, summary, lattice);
            if let Some(shares) = found.shares {
                text += &volume(options, shares * lattice.cell_volume().to_f64(), found);
            }
            rows.row("", format!("{text}; {}", range(summary)));
        }
    } else if let Some(occupied) = found.occupied {
        rows.row("", cells(options, occupied, lattice, found));
        let is_surface = matches!(surface_and_interior(&found.labels), Some([_, 0]));
        if !found.labels.is_empty() && !is_surface {
            label_rows(rows, &options.job.options, lattice, found);
        }
    }
    if let Some(doubt) = &found.doubt {
        rows.row("doubt", doubt.line());
    }
    for written in found.outputs.iter().flatten() {
        rows.row("wrote", wrote(options, written));
    }
    if let Some(digest) = &found.digest {
        rows.row("digest", display::digest(digest));
    }
}
