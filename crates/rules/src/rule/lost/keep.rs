//! Cells that are added to the solid cells in order to keep lost features. Cells are added only in components
//! of filled cells that are lost or broken, or have a reported place. The added cells are the lost cells, and
//! every filled cell with two different pieces of solid cells at a distance of at most two cells. A lost cell
//! counts as a separate piece.
//!
//! Afterwards the solid and added cells of each of these components are connected. Proof: take a shortest
//! path of filled cells between two pieces. A cell of the path that is not next to one of the two pieces is
//! lost, because otherwise there would be a shorter path. A cell of the path that is next to a piece has a
//! second piece or a lost cell within two cells, because the following cell of the path is lost or next to a
//! second piece.

use super::judge::JudgedCells;
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, bits};
use voxelize_core::par;

/// Greatest distance, in cells, at which pieces are searched.
const NEAR: usize = 2;

/// Returns the cells to add to the solid cells.
pub(super) fn added(found: &JudgedCells, solid: &BitGrid) -> Result<BitGrid> {
    let mut added = BitGrid::new(solid.dims())?;
    let words = added.row_words();
    let layer_words = added.layer_words();
    let layers = added
        .words_mut()
        .chunks_exact_mut(layer_words)
        .enumerate()
        .collect();
    par::map(layers, |(k, layer): (usize, &mut [u64])| {
        for (j, row) in layer.chunks_exact_mut(words).enumerate() {
            let filled = found.filled.row(j, k);
            let inside = solid.row(j, k);
            let lost = found.lost.row(j, k);
            for run in found
                .components
                .row(j, k)
                .filter(|run| found.is_flagged[run.label as usize])
            {
                let start = run.start as usize;
                let end = run.end as usize;
                for n in start / 64..=(end - 1) / 64 {
                    let from = start.max(64 * n);
                    let to = end.min(64 * n + 64);
                    let these = !0 << (from % 64) & !0 >> (63 - (to - 1) % 64);
                    let rest = filled[n] & !inside[n] & !lost[n] & these;
                    row[n] |= lost[n] & these;
                    if rest == 0 || !found.has_two(solid.dims(), from, to - 1, [j, k]) {
                        continue;
                    }
                    for i in bits::bits_of(rest).map(|bit| 64 * n + bit) {
                        if found.has_two(solid.dims(), i, i, [j, k]) {
                            row[n] |= 1 << (i % 64);
                        }
                    }
                }
            }
        }
    });
    Ok(added)
}

impl JudgedCells {
    /// Returns true if two different pieces are within [`NEAR`] cells of the cells `from..=to` in row `j` of
    /// layer `k`.
    fn has_two(
        &self,
        [nx, ny, nz]: [usize; 3],
        from: usize,
        to: usize,
        [j, k]: [usize; 2],
    ) -> bool {
        let from = from.saturating_sub(NEAR);
        let to = nx.min(to + NEAR + 1);
        let mut lost = 0;
        let mut first = None;
        for k in k.saturating_sub(NEAR)..nz.min(k + NEAR + 1) {
            for j in j.saturating_sub(NEAR)..ny.min(j + NEAR + 1) {
                let row = self.lost.row(j, k);
                if (from / 64..=(to - 1) / 64).any(|n| row[n] != 0) {
                    lost += (from..to)
                        .filter(|i| row[i / 64] >> (i % 64) & 1 == 1)
                        .count();
                }
                let runs = self
                    .pieces
                    .row(j, k)
                    .skip_while(|run| run.end as usize <= from);
                for run in runs.take_while(|run| (run.start as usize) < to) {
                    if *first.get_or_insert(run.label) != run.label {
                        return true;
                    }
                }
                if lost + usize::from(first.is_some()) > 1 {
                    return true;
                }
            }
        }
        false
    }
}
