//! Tables on standard output, row by row as measured: aligned for people, or TSV.

/// Table whose header is printed.
pub struct Table {
    widths: Vec<usize>,
    tsv: bool,
}

impl Table {
    /// Prints the header of a table. `columns` are names with the widths of their cells.
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

/// Formats milliseconds.
pub fn ms(value: f64) -> String {
    format!("{value:.3}")
}

/// Formats a number of bytes in mebibytes.
pub fn mib(bytes: u128) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 20))
}
