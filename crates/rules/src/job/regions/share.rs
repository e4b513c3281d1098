//! Selects the triangles of each region: all triangles that can affect its cells.
//!
//! A triangle is in the bin of a region if its range of z overlaps the layers of the region, extended by the
//! reach of the rule and by one layer for snapping. Additional triangles do not change the cells, because a
//! cell is a minimum of distances, a sum over the triangles of a layer, or a decision about a triangle and a
//! cell. A bin is never empty. It has at least one triangle of every part that labels represent.

use std::io::{self, Write};
use std::ops::Range;

use crate::rule::{self, Band, Inside, Rule};
use voxelize_core::error::{Error, Hint, Result};
use voxelize_core::geom::{Rational, Triangle};
use voxelize_core::grid::Lattice;
use voxelize_core::par::{self, Progress};
use voxelize_meshes::{Mesh, MeshParts, PartKind};

/// Number of triangles in a chunk. The range of z is stored for each chunk.
const CHUNK: usize = 1 << 12;

/// Number of layers around a region whose triangles may affect shares and areas in the region. Shares and
/// areas are summed in layers of bricks, which have this height.
const LAYERS_OF_SUMS: i64 = 8;

/// Fails if the rule needs the connected components or the negative volumes of the mesh, which a bin does not
/// have. The rule fraction needs components if parts of the mesh may overlap.
pub(super) fn check_parts(
    mesh: &Mesh,
    lattice: &Lattice,
    used: &Rule,
    progress: &dyn Progress,
) -> Result<()> {
    if used.subtracts_from(mesh) {
        let text = "bins hold only the triangles of the mesh, not its negative volumes";
        return Err(Error::usage(text).with_hint("leave out `--bin`"));
    }
    if matches!(used, Rule::Fraction { .. }) && rule::may_overlap(mesh, lattice, progress)? {
        let text = "a bin holds only the triangles near its region: parts of the mesh may overlap, or lie in each other";
        return Err(Error::usage(text).with_hint("leave out `--bin`"));
    }
    Ok(())
}

/// Fails if the cells of the rule may depend on triangles far from the region.
pub(super) fn check_bins(requested: &Rule, used: &Rule, decides_by_part: bool) -> Result<()> {
    let refused = |what: &str, hint: Hint| Err(Error::usage(what).with_hint(hint));
    if decides_by_part {
        return refused(
            "a bin holds only the triangles near its region: the method for a part depends on whether the whole part is closed",
            ["leave out `--bin`", "or use `--inside nonzero`"].into(),
        );
    }
    let method = match used.inside() {
        Some(Inside::Vote) => Some("the method vote uses rows along z through all layers"),
        Some(Inside::Robust) if requested.inside() == Some(Inside::Auto) => {
            Some("the mesh is not closed, and the method robust repairs the whole mesh")
        }
        Some(Inside::Robust) => Some("the method robust repairs the whole mesh"),
        _ => None,
    };
    match (used, method) {
        (_, Some(why)) => refused(
            &format!("a bin holds only the triangles near its region: {why}"),
            ["leave out `--bin`", "or use `--inside nonzero`"].into(),
        ),
        (
            Rule::Distance {
                band: Band::All, ..
            },
            None,
        ) => refused(
            "a bin holds only the triangles near its region: a band of all cells needs the whole mesh",
            ["leave out `--bin`", "or use `--band W`"].into(),
        ),
        _ => Ok(()),
    }
}

/// Triangles of a mesh, prepared for distribution to the bins of regions.
pub(super) struct TriangleBins<'a> {
    mesh: &'a Mesh,
    /// Parts of the mesh that labels represent. `None` if labels do not represent parts.
    pub(super) parts: Option<&'a MeshParts>,
    lattice: &'a Lattice,
    /// Distance from the layers of a region within which triangles affect its cells.
    reach: Rational,
    /// Least and greatest z of each chunk.
    chunks: Vec<[f32; 2]>,
    /// Indices of the triangles that are in every bin, in ascending order.
    everywhere: Vec<u32>,
}

impl<'a> TriangleBins<'a> {
    /// Computes the z range of each chunk of triangles, and the triangles that every bin needs. Uses the
    /// calling thread pool.
    pub(super) fn new(
        mesh: &'a Mesh,
        lattice: &'a Lattice,
        rule: &Rule,
        parts: Option<PartKind>,
    ) -> Self {
        let chunks = par::map(
            mesh.triangles().chunks(CHUNK).collect(),
            |chunk: &[Triangle]| {
                chunk.iter().map(extent).fold(
                    [f32::INFINITY, f32::NEG_INFINITY],
                    |[low, high], [from, to]| [low.min(from), high.max(to)],
                )
            },
        );
        let parts = parts.and_then(|kind| mesh.parts(kind));
        let everywhere = match parts {
            None => (0..mesh.triangles().len().min(1) as u32).collect(),
            Some(parts) => {
                let mut is_seen = vec![false; parts.names().len()];
                let is_first =
                    |n: &u32| !std::mem::replace(&mut is_seen[parts.of(*n) as usize], true);
                (0..mesh.triangles().len() as u32)
                    .filter(is_first)
                    .collect()
            }
        };
        Self {
            mesh,
            parts,
            lattice,
            reach: reach(rule, lattice),
            chunks,
            everywhere,
        }
    }

    /// Returns the range of z within which triangles affect these layers. The ends are rounded outwards to
    /// 32-bit floats, so the range contains every float between the exact ends.
    fn extent_of(&self, layers: Range<usize>) -> [f32; 2] {
        let axis = self.lattice.axis(2);
        let low = &axis.half_plane(2 * layers.start as i64) - &self.reach;
        let high = &axis.half_plane(2 * layers.end as i64) + &self.reach;
        let is_above =
            |number: f32, exact: &Rational| Rational::from_f32(number).is_none_or(|n| n > *exact);
        let is_below =
            |number: f32, exact: &Rational| Rational::from_f32(number).is_none_or(|n| n < *exact);
        let [from, to] = [low.to_f32(), high.to_f32()];
        [
            if is_above(from, &low) {
                from.next_down()
            } else {
                from
            },
            if is_below(to, &high) {
                to.next_up()
            } else {
                to
            },
        ]
    }

    /// Calls `take` with the index of each triangle in the bin of these layers, in ascending order.
    fn each(
        &self,
        layers: Range<usize>,
        progress: &dyn Progress,
        mut take: impl FnMut(u32) -> io::Result<()>,
    ) -> io::Result<()> {
        let [low, high] = self.extent_of(layers);
        let meets = |[from, to]: [f32; 2]| from <= high && to >= low;
        let mut everywhere = self.everywhere.iter().copied().peekable();
        for (chunk, triangles) in self.mesh.triangles().chunks(CHUNK).enumerate() {
            let first = (chunk * CHUNK) as u32;
            let end = first + triangles.len() as u32;
            if !meets(self.chunks[chunk]) {
                while let Some(n) = everywhere.next_if(|n| *n < end) {
                    take(n)?;
                }
                continue;
            }
            progress.check().map_err(io::Error::other)?;
            for (n, triangle) in (first..).zip(triangles) {
                let is_everywhere = everywhere.next_if_eq(&n).is_some();
                if meets(extent(triangle)) || is_everywhere {
                    take(n)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the bin of a region with these layers to `out`.
    pub(super) fn write(
        &self,
        layers: Range<usize>,
        progress: &dyn Progress,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(64 << 10);
        let mut put = |numbers: &mut dyn Iterator<Item = [u8; 4]>, out: &mut dyn Write| {
            buffer.extend(numbers.flatten());
            if buffer.len() < buffer.capacity() - size_of::<Triangle>() {
                return Ok(());
            }
            out.write_all(&buffer)?;
            buffer.clear();
            Ok::<_, io::Error>(())
        };
        self.each(layers.clone(), progress, |n| {
            let triangle = self.mesh.triangles()[n as usize];
            put(
                &mut triangle
                    .as_flattened()
                    .iter()
                    .map(|number| number.to_le_bytes()),
                out,
            )
        })?;
        if let Some(parts) = self.parts {
            self.each(layers, progress, |n| {
                put(&mut [parts.of(n).to_le_bytes()].into_iter(), out)
            })?;
        }
        out.write_all(&buffer)
    }

    /// Returns the mesh of the largest bin if each region has `region_layers` layers.
    pub(super) fn largest(&self, region_layers: usize) -> Result<Mesh> {
        let layers = self.lattice.dims()[2];
        let all: Vec<_> = (0..layers.div_ceil(region_layers))
            .map(|n| n * region_layers..layers.min((n + 1) * region_layers))
            .collect();
        let count = |layers: Range<usize>| {
            let mut count = 0_u32;
            let counted = self.each(layers.clone(), &(), |_| {
                count += 1;
                Ok(())
            });
            counted
                .map(|()| (count, layers))
                .map_err(|error| Error::internal(error.to_string()))
        };
        let counts = par::map(all, count)
            .into_iter()
            .collect::<Result<Vec<_>>>()?;
        let largest = counts.into_iter().max_by_key(|(count, _)| *count);
        let (count, layers) = largest.ok_or_else(Error::no_triangles)?;
        let mut numbers = Vec::with_capacity(count as usize);
        let found = self.each(layers, &(), |n| {
            numbers.push(n);
            Ok(())
        });
        found.map_err(|error| Error::internal(error.to_string()))?;
        let triangles = numbers
            .iter()
            .map(|n| self.mesh.triangles()[*n as usize])
            .collect();
        let mesh = Mesh::from_triangles(triangles)?;
        let mesh = mesh.made_some_of(*self.mesh.bounds(), self.mesh.closedness());
        match self.parts_of_labels() {
            Some((kind, parts)) => {
                let of = numbers.iter().map(|n| parts.of(*n));
                mesh.with_parts(kind, MeshParts::new(parts.names(), of)?)
            }
            None => Ok(mesh),
        }
    }

    /// Returns the kind of the parts that labels represent, and the parts. `None` if the labels do not
    /// represent parts.
    fn parts_of_labels(&self) -> Option<(PartKind, &MeshParts)> {
        let parts = self.parts?;
        let is_this = |kind: &PartKind| {
            self.mesh
                .parts(*kind)
                .is_some_and(|other| std::ptr::eq(other, parts))
        };
        PartKind::ALL
            .into_iter()
            .find(is_this)
            .map(|kind| (kind, parts))
    }
}

/// Returns the least and the greatest z of a triangle.
fn extent(triangle: &Triangle) -> [f32; 2] {
    let [a, b, c] = triangle.map(|corner| corner[2]);
    [a.min(b).min(c), a.max(b).max(c)]
}

/// Returns the distance from the layers of a region within which triangles affect the cells of the region.
fn reach(rule: &Rule, lattice: &Lattice) -> Rational {
    let spacing = lattice.spacing();
    let (far, layers) = match rule {
        Rule::Offset { radius } => (radius.in_world(spacing), 0),
        Rule::Distance {
            band: Band::Width(width),
            ..
        } => (width.in_world(spacing), 0),
        Rule::Fraction { .. } | Rule::Area => (Rational::ZERO, LAYERS_OF_SUMS),
        _ => match rule.wall() {
            Some(wall) => (wall.in_world(spacing), 0),
            None => (Rational::ZERO, 0),
        },
    };
    // One more layer is enough for snapping, which moves a coordinate by much less than a layer.
    &far + &(&spacing[2] * &Rational::from(layers + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_has_every_triangle_that_its_layers_meet_and_few_others() {
        let mesh = Mesh::open("../../fixtures/knot.stl").unwrap();
        let lattice = Lattice::fit(mesh.bounds(), 200).unwrap();
        let sharing = TriangleBins::new(&mesh, &lattice, &Rule::surface(), None);
        let layers = lattice.dims()[2];
        let mut there = 0;
        let mut spare = 0;
        for start in (0..layers).step_by(20) {
            let region = start..layers.min(start + 20);
            let mut found = vec![];
            let each = sharing.each(region.clone(), &(), |n| {
                found.push(n);
                Ok(())
            });
            each.unwrap();
            assert!(found.is_sorted() && found[0] == 0, "{region:?}");
            let axis = lattice.axis(2);
            let [low, high] =
                [region.start, region.end].map(|k| axis.half_plane(2 * k as i64).to_f64());
            let cell = lattice.spacing()[2].to_f64();
            for (n, triangle) in (0..).zip(mesh.triangles()) {
                let [from, to] = extent(triangle).map(f64::from);
                let is_found = found.binary_search(&n).is_ok();
                if from <= high && to >= low {
                    assert!(is_found, "triangle {n} of {region:?}");
                    there += 1;
                } else if n > 0 && (from > high + 1.01 * cell || to < low - 1.01 * cell) {
                    assert!(!is_found, "triangle {n} of {region:?}");
                } else {
                    spare += usize::from(is_found);
                }
            }
        }
        assert!(
            there > 1000 && spare > 0 && spare < there / 3,
            "{there} {spare}"
        );
    }
}
