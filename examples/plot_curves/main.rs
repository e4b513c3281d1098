//! Plots the measurements of the benchmark `curves`: `cargo run --example plot_curves -- TSV SVG`.
//!
//! Two panels with logarithmic axes and a common scale of time, over triangles and over cells. The colours
//! are readable on white and on black, and there is no background.

mod panel;
mod rows;
mod scale;

use std::process::ExitCode;

use panel::{GREY, Line, Panel};
use rows::Row;
use scale::Scale;

/// Size of the picture and positions of its panels.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 420.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 360.0;
const ACROSS: [[f64; 2]; 2] = [[70.0, 355.0], [565.0, 850.0]];

/// Number of threads with its style.
const OURS: &[(usize, &str, &str)] = &[
    (1, "voxelize, 1 thread", "#3b82f6"),
    (2, "voxelize, 2 threads", "#e07b00"),
];

const STYLE: &str = "
text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; text-anchor: middle; }
.title { font-size: 15px; font-weight: 600; }
.end { text-anchor: end; }
.name { text-anchor: start; font-weight: 600; }
.grid { stroke-opacity: 0.3; }
polyline { fill: none; stroke-width: 2.5; stroke-linejoin: round; stroke-linecap: round; }
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [tsv, svg] = &args[..] else {
        eprintln!("usage: plot_curves TSV SVG");
        return 2.into();
    };
    match plot(tsv, svg) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {tsv} to {svg}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn plot(tsv: &str, svg: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(tsv).map_err(|error| error.to_string())?;
    let picture = draw(&rows::read(&text)?)?;
    std::fs::write(svg, picture).map_err(|error| error.to_string())
}

/// Draws the whole picture.
fn draw(rows: &[Row]) -> Result<String, String> {
    let y = Scale::new(ends(rows.iter().map(|row| row.ms))?, [BOTTOM, TOP]);
    let by_triangles: Vec<_> = rows.iter().filter(|row| row.curve == "triangles").collect();
    let by_res: Vec<_> = rows.iter().filter(|row| row.curve == "res").collect();
    let cells = by_triangles
        .first()
        .ok_or("no row of the curve over triangles")?
        .res;
    let triangles = by_res
        .first()
        .ok_or("no row of the curve over res")?
        .triangles;
    let panels = [
        (
            Panel {
                title: format!("More triangles, {cells} cells long"),
                across: "triangles",
                x: Scale::new(
                    ends(by_triangles.iter().map(|row| row.triangles))?,
                    ACROSS[0],
                ),
                y: y.clone(),
                base: 10.0,
                tick: count,
            },
            lines(&by_triangles, |row| row.triangles),
        ),
        (
            Panel {
                title: format!("More cells, {} triangles", count(triangles)),
                across: "cells on the longest axis",
                x: Scale::new(ends(by_res.iter().map(|row| row.res))?, ACROSS[1]),
                y,
                base: 2.0,
                tick: |cells| cells.to_string(),
            },
            lines(&by_res, |row| row.res),
        ),
    ];
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" fill=\"{GREY}\">\n<title>Time of the textbook and of voxelize</title>\n\
         <style>{STYLE}</style>\n"
    );
    for (panel, lines) in &panels {
        panel
            .draw(lines, &mut svg)
            .map_err(|error| error.to_string())?;
    }
    svg += "</svg>\n";
    Ok(svg)
}

/// Returns the textbook's line and our lines, over the value `x` of a row.
fn lines(rows: &[&Row], x: fn(&Row) -> f64) -> Vec<Line> {
    let mut lines = vec![Line {
        name: "textbook",
        colour: GREY,
        points: points(rows, x, "textbook", 1),
    }];
    for &(threads, name, colour) in OURS {
        lines.push(Line {
            name,
            colour,
            points: points(rows, x, "voxelize", threads),
        });
    }
    lines
}

fn points(rows: &[&Row], x: fn(&Row) -> f64, who: &str, threads: usize) -> Vec<(f64, f64)> {
    let mut points = vec![];
    for row in rows {
        if row.who == who && row.threads == threads {
            points.push((x(row), row.ms));
        }
    }
    points
}

/// Returns the least and the largest value with a small margin.
fn ends(values: impl Iterator<Item = f64>) -> Result<[f64; 2], String> {
    let [low, high] = values.fold([f64::INFINITY, 0.0], |[low, high], value| {
        [low.min(value), high.max(value)]
    });
    if low >= high {
        return Err("a curve needs two points".into());
    }
    let room = (high / low).powf(0.03);
    Ok([low / room, high * room])
}

/// Formats a number of triangles with one digit.
fn count(value: f64) -> String {
    let digit = 10_f64.powf(value.log10().floor());
    let round = (value / digit).round() * digit;
    match round {
        1e6.. => format!("{} M", round / 1e6),
        1e3.. => format!("{} k", round / 1e3),
        _ => round.to_string(),
    }
}
