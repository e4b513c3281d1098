//! Table printed by the benchmark.

use std::str::FromStr;

/// Measured point.
pub struct Row {
    /// Variable of the curve: `triangles` or `res`.
    pub curve: String,
    /// `textbook` or `voxelize`.
    pub who: String,
    pub threads: usize,
    pub triangles: f64,
    pub res: f64,
    pub ms: f64,
}

/// Parses the rows. Columns are found by name.
pub fn read(text: &str) -> Result<Vec<Row>, String> {
    let mut lines = text.lines();
    let head: Vec<_> = lines.next().unwrap_or_default().split('\t').collect();
    let mut rows = vec![];
    for line in lines {
        rows.push(row(&head, line).map_err(|error| format!("{error}: {line}"))?);
    }
    Ok(rows)
}

fn row(head: &[&str], line: &str) -> Result<Row, String> {
    let cells: Vec<_> = line.split('\t').collect();
    let cell = |name: &str| {
        let at = head.iter().position(|column| *column == name);
        at.and_then(|at| cells.get(at).copied())
            .ok_or(format!("there is no {name}"))
    };
    Ok(Row {
        curve: cell("curve")?.to_string(),
        who: cell("who")?.to_string(),
        threads: number(cell("threads")?)?,
        triangles: number(cell("triangles")?)?,
        res: number(cell("res")?)?,
        ms: number(cell("ms")?)?,
    })
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text} is no number"))
}
