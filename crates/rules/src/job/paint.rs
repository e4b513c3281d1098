//! Labels cells by the nearest triangle of a mesh: by its colour at the nearest point, by its part, or by both.
//!
//! If several triangles are equally near to the centre of a cell, the triangle whose inner side faces the
//! centre most directly decides. A body thus keeps its colour where another body touches it. If several
//! triangles face the centre equally, the one with the least number decides.

use std::ops::Range;
use std::sync::Arc;

use super::palette::{Palette, Rgb, colours};
use super::part_colours::PartColours;
use crate::rule::{Band, Rule};
use crate::run::Run;
use crate::run::nearest::Distances;
use voxelize_core::error::{Finding, Result};
use voxelize_core::geom::Triangle;
use voxelize_core::geom::closest::on_triangle;
use voxelize_core::geom::vector::{dot, minus};
use voxelize_core::grid::bits::bits_of;
use voxelize_core::grid::{BitGrid, Field, Label, Labels, Lattice, Legend};
use voxelize_core::par::{self, Progress};
use voxelize_kernel::distance::TieBreak;
use voxelize_meshes::{Mesh, PartKind};

/// Labels cells by the nearest triangle. It can be prepared before the cells are known.
pub(super) struct Painter<'a> {
    mesh: Mesh,
    lattice: &'a Lattice,
    distances: Distances,
    background: f32,
    source: LabelSource,
}

/// Property of a triangle that determines the label.
enum LabelSource {
    /// Colour of the triangle at the point nearest to the cell's centre.
    Colours(Palette),
    /// Part of this kind to which the triangle belongs. The list has the label value of each part.
    Parts(PartKind, Vec<u8>),
    /// Colour at the point nearest to the cell's centre, among the colours of the triangle's part.
    PartColours(Arc<PartColours>, PaintedParts),
}

/// Parts of the triangles of a painter.
#[derive(Debug, Clone)]
pub(super) enum PaintedParts {
    /// All triangles belong to the part whose label has this value.
    One(u8),
    /// Kind of the parts, and the label value of each part.
    Several(PartKind, Vec<u8>),
}

impl<'a> Painter<'a> {
    /// Prepares to label the cells of `rule` with the colours of a mesh.
    ///
    /// # Errors
    /// Fails if the mesh has no colours.
    pub(super) fn of_colours(
        mesh: &Mesh,
        lattice: &'a Lattice,
        rule: &Rule,
        run: &Run,
    ) -> Result<Self> {
        let palette = Palette::new(mesh, colours(mesh)?, lattice);
        Self::new(mesh, lattice, rule, run, LabelSource::Colours(palette))
    }

    /// Prepares to label the cells of `rule` with the parts of a mesh. `values` has the label value of each
    /// part.
    pub(super) fn of_parts(
        mesh: &Mesh,
        lattice: &'a Lattice,
        rule: &Rule,
        run: &Run,
        kind: PartKind,
        values: Vec<u8>,
    ) -> Result<Self> {
        Self::new(mesh, lattice, rule, run, LabelSource::Parts(kind, values))
    }

    /// Prepares to label the cells of `rule` with the colours of parts.
    pub(super) fn of_part_colours(
        mesh: &Mesh,
        lattice: &'a Lattice,
        rule: &Rule,
        run: &Run,
        (colours, parts): (Arc<PartColours>, PaintedParts),
    ) -> Result<Self> {
        let source = LabelSource::PartColours(colours, parts);
        Self::new(mesh, lattice, rule, run, source)
    }

    fn new(
        mesh: &Mesh,
        lattice: &'a Lattice,
        rule: &Rule,
        run: &Run,
        source: LabelSource,
    ) -> Result<Self> {
        let band = band(rule, lattice);
        let distance = Rule::Distance {
            band,
            sign: None,
            iso: None,
        };
        let background = distance.background(lattice).unwrap_or(f32::INFINITY);
        let distances =
            par::with_threads(run.thread_count(), || Distances::new(mesh, lattice, run))??;
        Ok(Self {
            mesh: mesh.clone(),
            lattice,
            distances,
            background,
            source,
        })
    }

    /// Returns the legend whose labels are the colours of the palette. It is empty if cells are labelled by
    /// parts.
    pub(super) fn legend(&self) -> Result<Legend> {
        let mut labels = vec![];
        if let Some(palette) = self.palette() {
            for (n, [r, g, b]) in palette.entries().iter().enumerate() {
                let label = Label::new(n as u8 + 1, format!("#{r:02x}{g:02x}{b:02x}"));
                labels.push(label.with_colour([*r, *g, *b]));
            }
        }
        Legend::new(labels)
    }

    fn palette(&self) -> Option<&Palette> {
        match &self.source {
            LabelSource::Colours(palette) => Some(palette),
            LabelSource::Parts(..) | LabelSource::PartColours(..) => None,
        }
    }

    /// Returns the finding that similar colours of the mesh were merged. `None` if all colours are kept.
    pub(super) fn finding(&self) -> Option<Finding> {
        self.palette()?.finding()
    }

    /// Labels the occupied cells of these layers. Uses the calling thread pool.
    pub(super) fn paint(
        &self,
        cells: &BitGrid,
        legend: &Legend,
        layers: Range<usize>,
        run: &Run,
    ) -> Result<Labels> {
        let dims @ [nx, ny, _] = cells.dims();
        let mut field = Field::new(dims, self.background)?;
        let mut nearest = vec![-1; dims.iter().product()];
        let found = Some((&mut nearest[..], TieBreak::InnerSide));
        self.distances
            .fill(layers.clone(), &mut field, found, run)?;
        drop(field);
        let mut labels = Labels::new(dims, legend.clone())?;
        // Only a few layers are labelled at a time, so that their rows take little memory.
        for some in (0..dims[2])
            .collect::<Vec<_>>()
            .chunks(2 * par::current_threads())
        {
            run.check()?;
            let painted = par::map(some.to_vec(), |k| {
                let mut rows = vec![0; nx * ny];
                for (n, row) in rows.chunks_mut(nx).enumerate() {
                    let words = cells.row(n, k).iter().enumerate();
                    for i in words.flat_map(|(w, word)| bits_of(*word).map(move |bit| 64 * w + bit))
                    {
                        let number = nearest[(k * ny + n) * nx + i];
                        row[i] = self.label([i, n, layers.start + k], number);
                    }
                }
                rows
            });
            for (k, rows) in some.iter().zip(painted) {
                for (j, row) in rows.chunks(nx).enumerate() {
                    labels
                        .put_row(j, *k, row)
                        .expect("the legend has all labels of triangles");
                }
            }
        }
        Ok(labels)
    }

    /// Returns the label of a cell whose nearest triangle has the number `number`.
    fn label(&self, cell: [usize; 3], number: i32) -> u8 {
        let triangle = u64::try_from(number).ok().map(|n| self.mesh.at_number(n));
        match &self.source {
            LabelSource::Parts(kind, values) => match (triangle, self.mesh.parts(*kind)) {
                (Some(n), Some(parts)) => values[parts.of(n) as usize],
                _ => 1,
            },
            LabelSource::Colours(palette) => match triangle.and_then(|n| self.colour(cell, n)) {
                Some(colour) => palette.label(colour),
                None => 1,
            },
            LabelSource::PartColours(colours, parts) => {
                let part = match (parts, triangle) {
                    (PaintedParts::One(value), _) => *value,
                    (PaintedParts::Several(kind, values), Some(n)) => self
                        .mesh
                        .parts(*kind)
                        .map_or(1, |parts| values[parts.of(n) as usize]),
                    (PaintedParts::Several(..), None) => 1,
                };
                colours.value(part, triangle.and_then(|n| self.colour(cell, n)))
            }
        }
    }

    /// Returns the colour of triangle `n` at the point that is nearest to the centre of a cell.
    fn colour(&self, cell: [usize; 3], n: u32) -> Option<Rgb> {
        let colours = self.mesh.colours()?;
        if let Some(colour) = colours.only(n) {
            return Some(colour);
        }
        let triangle = self.mesh.triangles()[n as usize];
        let weights = weights(self.lattice.centre(cell), &triangle);
        Some(colours.at(n, weights))
    }
}

/// Returns a band that contains the centres of all cells that the rule occupies.
fn band(rule: &Rule, lattice: &Lattice) -> Band {
    if !matches!(rule, Rule::Surface { .. } | Rule::Thin) {
        return Band::All;
    }
    // The mesh is at most half a diagonal away from the centre of a touched cell. The width of the band is in
    // units of the shortest side of a cell.
    let sides = lattice.spacing().each_ref().map(|side| side.to_f64());
    let smallest = sides[0].min(sides[1]).min(sides[2]);
    let diagonal = dot(sides, sides).sqrt();
    Band::cells((diagonal / smallest / 2.0) as u32 + 2)
}

/// Returns the barycentric weights of the point of a triangle that is nearest to `p`.
fn weights(p: [f64; 3], triangle: &Triangle) -> [f64; 3] {
    let [a, b, c] = triangle.map(|corner| corner.map(f64::from));
    let q = on_triangle(p, [a, b, c]);
    let [ab, ac, aq] = [minus(b, a), minus(c, a), minus(q, a)];
    let [bb, bc, cc] = [dot(ab, ab), dot(ab, ac), dot(ac, ac)];
    let [qb, qc] = [dot(aq, ab), dot(aq, ac)];
    let area = bb * cc - bc * bc;
    let [v, w] = [(cc * qb - bc * qc) / area, (bb * qc - bc * qb) / area];
    let weights = [1.0 - v - w, v, w];
    if weights.iter().all(|weight| weight.is_finite()) {
        return weights.map(|weight| weight.clamp(0.0, 1.0));
    }
    // The triangle has no area. All weight is given to the corner nearest to the point.
    let away = [a, b, c].map(|corner| dot(minus(q, corner), minus(q, corner)));
    let nearest = (0..3).fold(0, |best, n| if away[n] < away[best] { n } else { best });
    let mut weights = [0.0; 3];
    weights[nearest] = 1.0;
    weights
}
