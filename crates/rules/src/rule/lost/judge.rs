//! Decides which components of filled cells, and which places, the rule solid loses.
//!
//! For most meshes the rule loses nothing, and the first test shows it. A component of filled cells without
//! solid cells consists of lost cells. Therefore, if the solid cells are one piece and no cell is lost, no
//! component is lost or broken. If some cells are lost, their neighbours show whether a whole component is
//! lost. The components of all filled cells are computed only if the solid cells form several pieces or a
//! component is lost.

use std::borrow::Cow;

use super::around::Around;
use super::cells::LostCells;
use super::hosts::RequestedCells;
use super::report::{LostComponents, LostFeatures, LostPlaces};
use super::shells::Shells;
use crate::rule::Inside;
use crate::rule::inside::flood;
use crate::run::Run;
use crate::run::cover::{self, Covered, IntersectionTarget};
use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Point, Ties};
use voxelize_core::grid::BitGrid;
use voxelize_core::grid::components::{CellComponent, CellComponents};
use voxelize_kernel::KernelLattice;
use voxelize_meshes::Mesh;
use voxelize_meshes::components::Component;

/// Least length, in cells, of a place that is reported. A place is a connected set of lost cells. Shorter
/// places are corners of the mesh or the tips of horns.
pub(super) const LONG: usize = 4;

/// Finds the features that are missing in solid cells.
pub(super) struct Judge<'a> {
    mesh: &'a Mesh,
    around: &'a Around,
    /// Cells that triangles touch. The triangles include the caps of holes that a flood closes. The touched
    /// cells and the solid cells together are the filled cells.
    touched: Covered,
    frame: KernelLattice,
    run: &'a Run<'a>,
}

/// Result that the caller requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LostOutput {
    /// Only the report.
    Report,
    /// The report, and the cells that are needed to keep lost features.
    Cells,
}

/// Features that the rule solid loses.
pub(super) struct Judged {
    pub report: LostFeatures,
    /// Cells that are needed to keep the features. `None` if they were not requested, or if no feature is
    /// lost.
    pub found: Option<JudgedCells>,
}

/// Filled cells, and the decisions which of them are lost.
pub(super) struct JudgedCells {
    pub filled: BitGrid,
    pub components: CellComponents,
    /// Lost cells.
    pub lost: BitGrid,
    /// Connected components of solid cells.
    pub pieces: CellComponents,
    /// For each component, whether it is lost or broken or has a reported place.
    pub is_flagged: Vec<bool>,
}

/// Decisions which components of filled cells are lost or broken.
struct ComponentVerdicts {
    /// Number of connected pieces of solid cells in each component.
    pieces: Vec<u64>,
    /// Components without solid cells.
    lost: Vec<usize>,
    /// Components in which the solid cells form more pieces than there are outer shells of the mesh.
    broken: Vec<usize>,
    /// Components of the mesh. `None` if they were not needed.
    shells: Option<Shells>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        mesh: &'a Mesh,
        around: &'a Around,
        inside: Inside,
        run: &'a Run,
    ) -> Result<Self> {
        let caps = match inside.closed_holes() {
            Some(cells) => flood::caps(mesh, &around.lattice, cells)?,
            None => vec![],
        };
        let triangles = if caps.is_empty() {
            Cow::from(mesh.triangles())
        } else {
            Cow::from([mesh.triangles(), &caps].concat())
        };
        let ties = if inside.is_flood() {
            Ties::Up
        } else {
            Ties::None
        };
        let bounds = mesh.bounds().union(&Bounds::of(&caps));
        let frame = || KernelLattice::new(around.lattice.axes(), &bounds, ties);
        let dims = around.lattice.dims();
        let target = IntersectionTarget::Box(frame());
        let touched = cover::keep(&target, &triangles, dims, run.supported_level()?, run)?;
        Ok(Self {
            mesh,
            around,
            touched,
            frame: frame(),
            run,
        })
    }

    /// Finds the features that are missing in the solid cells `solid`.
    pub(super) fn of(&self, solid: &BitGrid, wanted: LostOutput) -> Result<Judged> {
        let pieces = CellComponents::of(solid);
        let lost = LostCells::of(solid, &self.touched, self.run)?;
        if pieces.count() <= 1 && lost.is_empty() {
            return Ok(Judged {
                report: LostFeatures::default(),
                found: None,
            });
        }
        let cells = lost.places();
        let places = cells.measured();
        if pieces.count() <= 1 && lost.are_all_connected(&cells, &self.touched) {
            let named: Vec<_> = places
                .iter()
                .filter(|place| self.is_named(place))
                .copied()
                .collect();
            if named.is_empty() || wanted == LostOutput::Report {
                let report = LostFeatures {
                    components: None,
                    places: self.places(&named),
                };
                return Ok(Judged {
                    report,
                    found: None,
                });
            }
        }
        let mut filled = BitGrid::try_from(&self.around.lattice)?;
        self.touched.copy_to(0, &mut filled);
        filled.add(solid);
        let components = CellComponents::of(&filled);
        let measured = components.measured();
        let verdicts = self.verdicts(&components, &measured, &pieces)?;
        let mut is_flagged = vec![false; components.count()];
        for n in verdicts.lost.iter().chain(&verdicts.broken) {
            is_flagged[*n] = true;
        }
        let mut named = vec![];
        for place in places.iter().filter(|place| self.is_named(place)) {
            let host = components.at(place.first).expect("lost cells are filled");
            if !verdicts.lost.contains(&host) {
                is_flagged[host] = true;
                named.push(*place);
            }
        }
        let lost_components = self.components(&measured, &verdicts);
        let report = LostFeatures {
            components: lost_components,
            places: self.places(&named),
        };
        let found = if is_flagged.contains(&true) && wanted == LostOutput::Cells {
            Some(JudgedCells {
                filled,
                components,
                lost: lost.grid()?,
                pieces,
                is_flagged,
            })
        } else {
            None
        };
        Ok(Judged { report, found })
    }

    /// Finds the components that are lost or broken.
    fn verdicts(
        &self,
        components: &CellComponents,
        measured: &[CellComponent],
        pieces: &CellComponents,
    ) -> Result<ComponentVerdicts> {
        let mut counts = vec![0; measured.len()];
        for piece in pieces.measured() {
            counts[components.at(piece.first).expect("solid cells are filled")] += 1;
        }
        let is_whole = |n: &usize| {
            let reach = measured[*n].reach;
            self.around.is_here(reach) && !self.around.goes_on(reach)
        };
        let lost: Vec<_> = (0..measured.len())
            .filter(|n| counts[*n] == 0 && is_whole(n))
            .collect();
        let several: Vec<_> = (0..measured.len())
            .filter(|n| counts[*n] > 1 && is_whole(n))
            .collect();
        // A mesh with a single component has one outer shell, so no search for shells is needed.
        let needs_shells =
            !lost.is_empty() || !several.is_empty() && !self.mesh.is_one_component()?;
        let mut shells = None;
        let mut most = vec![1; counts.len()];
        if needs_shells {
            let requested = lost.iter().chain(&several).copied();
            let requested = RequestedCells::new(components, measured, requested, &self.frame);
            let found = Shells::of(self.mesh, &requested, self.run)?;
            most = found.counts(counts.len());
            shells = Some(found);
        }
        let broken = several
            .into_iter()
            .filter(|n| counts[*n] > most[*n])
            .collect();
        Ok(ComponentVerdicts {
            pieces: counts,
            lost,
            broken,
            shells,
        })
    }

    /// Returns the report of lost and broken components. `None` if no component is lost or broken.
    fn components(
        &self,
        measured: &[CellComponent],
        verdicts: &ComponentVerdicts,
    ) -> Option<LostComponents> {
        let ComponentVerdicts {
            pieces,
            lost,
            broken,
            shells,
        } = verdicts;
        let walls = |n: usize| self.walls(measured[n].reach);
        let diagonal =
            |[low, high]: [[f64; 3]; 2]| (0..3).map(|a| (high[a] - low[a]).powi(2)).sum::<f64>();
        let shown = if lost.is_empty() { broken } else { lost };
        let mut largest = *shown.first()?;
        for n in shown {
            if diagonal(walls(*n)) > diagonal(walls(largest)) {
                largest = *n;
            }
        }
        let parts = || shells.iter().flat_map(|shells| shells.in_host(largest));
        let (bounds, triangles) = match shells {
            None => (
                Some(*self.mesh.bounds()),
                self.mesh.triangles().len() as u64,
            ),
            Some(_) => (
                parts().map(|part| part.bounds).reduce(|a, b| a.union(&b)),
                parts().map(|part| part.triangles).sum(),
            ),
        };
        let thickness = parts()
            .map(Component::thickness)
            .fold(f64::INFINITY, f64::min);
        // A component of the mesh may also reach other components of cells. Its bounds are limited to the
        // cells of this one.
        let around = walls(largest);
        let within = |corner: Point| {
            [0, 1, 2].map(|a| f64::from(corner[a]).clamp(around[0][a], around[1][a]))
        };
        Some(LostComponents {
            components: measured.len() as u64,
            lost: lost.len() as u64,
            broken: broken.len() as u64,
            pieces: broken.iter().map(|n| pieces[*n]).max().unwrap_or(0),
            largest: bounds.map_or(around, |b| [b.min, b.max].map(within)),
            triangles,
            thickness: if thickness.is_finite() {
                thickness
            } else {
                0.0
            },
            cell: (0..3)
                .map(|a| self.around.lattice.spacing()[a].to_f64())
                .fold(f64::INFINITY, f64::min),
        })
    }

    /// Returns the world coordinates of the box around the cells from `low` to `high`.
    fn walls(&self, [low, high]: [[usize; 3]; 2]) -> [[f64; 3]; 2] {
        let wall = |at: [usize; 3]| [0, 1, 2].map(|a| self.around.lattice.wall(a, at[a]).to_f64());
        [wall(low), wall(high.map(|n| n + 1))]
    }

    fn is_named(&self, place: &CellComponent) -> bool {
        place.length() >= LONG && self.around.is_here(place.reach)
    }

    /// Returns the report of the places `named`. `None` if there are none.
    fn places(&self, named: &[CellComponent]) -> Option<LostPlaces> {
        // The reported place is the longest one. Among equally long places it is the one with the most cells,
        // and among these the one with the least corner.
        let rank =
            |place: &CellComponent| (place.length(), place.cells, std::cmp::Reverse(place.reach));
        let largest = named.iter().max_by_key(|place| rank(place))?;
        let [low, high] = largest.reach;
        Some(LostPlaces {
            places: named.len() as u64,
            cells: named.iter().map(|place| place.cells).sum(),
            largest: self.walls(largest.reach),
            dims: [0, 1, 2].map(|a| high[a] + 1 - low[a]),
        })
    }
}
