//! Tables on standard output, a row as soon as it is measured: aligned for people, or TSV.

/// A table whose head is printed.
pub struct Table {
    widths: Vec<usize>,
    tsv: bool,
}

impl Table {
    /// Prints the head of a table; `columns` are names and the widths their cells need.
    pub fn new(tsv: bool, columns: &[(&str, usize)]) -> Self {
        let table = Self {
            widths: columns
                .iter()
                .map(|(name, width)| *width.max(&name.len()))
                .collect(),
            tsv,
        };
        table.row(
            &columns
                .iter()
                .map(|(name, _)| name.to_string())
                .collect::<Vec<_>>(),
        );
        table
    }

    /// Prints one row.
    pub fn row(&self, cells: &[String]) {
        assert_eq!(cells.len(), self.widths.len(), "a cell for each column");
        if self.tsv {
            return println!("{}", cells.join("\t"));
        }
        let cells: Vec<_> = cells
            .iter()
            .zip(&self.widths)
            .map(|(c, width)| format!("{c:>width$}"))
            .collect();
        println!("{}", cells.join("  ").trim_end());
    }
}

/// Milliseconds.
pub fn ms(value: f64) -> String {
    format!("{value:.3}")
}

/// Mebibytes of a number of bytes.
pub fn mib(bytes: u128) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 20))
}
