//! Findings about the relative position of a mesh and its grid, about occupied cells, and about features that
//! the rule solid loses.

use super::Transform;
use crate::rule::{self, Band, LostFeatures, Rule, Stats, ThinFeatures, lost};
use crate::run::Run;
use crate::run::memory::MemoryEstimate;
use voxelize_core::error::{Code, Error, Finding, Result, sanitize};
use voxelize_core::geom::axis::AxisMap;
use voxelize_core::geom::{Bounds, Rational};
use voxelize_core::grid::{
    AXES, BitGrid, Fit, Label, Lattice, Length, LengthUnit, ScanFrame, Snap,
};
use voxelize_core::text::{GridCoordinates, bytes, counted, number};
use voxelize_formats::{Format, FrameSupport, UNKNOWN_AXES};
use voxelize_meshes::Mesh;
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::read::Tolerance;

/// Returns the findings about the size and position of the mesh relative to the lattice. The mesh may be
/// outside the grid (W002), smaller than a cell (W021) or smaller than the radius (W022). It may also be so
/// far from the origin that the spacing of its floats is large compared to the cells (L001).
///
/// # Errors
/// Fails with the finding L001 if the mesh is too far from the origin and `tolerance` is strict.
pub fn of_lattice(
    mesh: &Mesh,
    lattice: &Lattice,
    rule: &Rule,
    tolerance: Tolerance,
    coordinates: &GridCoordinates,
) -> Result<Vec<Finding>> {
    let misses = misses(lattice, mesh, coordinates).filter(|_| rule.margin() == Length::ZERO);
    let elsewhere = [
        "check `--bounds`, `--translate` and `--scale`",
        "scans are in LPS: `--axes -x,-y,z` is for a mesh in RAS",
    ];
    let what = match rule {
        // Every cell stores its distance, even if the mesh is far from the grid.
        Rule::Distance {
            band: Band::All,
            iso: None,
            ..
        } => "the mesh is outside the grid",
        _ => "no cell is occupied: the mesh is outside the grid",
    };
    let misses = misses
        .map(|apart| Finding::new(Code::W002, format!("{what}; {apart}")).with_hint(elsewhere));
    let mut findings: Vec<Finding> = misses.into_iter().collect();
    findings.extend(less_than_a_cell(mesh.bounds(), lattice, coordinates));
    findings.extend(less_than_the_radius(
        mesh.bounds(),
        lattice,
        rule,
        coordinates,
    ));
    if !rule.subtracts_from(mesh) {
        let found = not_subtracted(mesh, &format!("the rule {}", rule.name()));
        findings.extend(found.map(|one| one.with_hint("`--solid` or `--filled` subtracts them")));
    }
    match far_from_origin(mesh.bounds(), lattice, coordinates) {
        Some(far) if tolerance == Tolerance::Strict => return Err(far),
        Some(far) => findings.push(Finding {
            severity: tolerance.severity(far.code()),
            first: far,
            count: 1,
        }),
        None => {}
    }
    Ok(findings)
}

/// Returns the finding that the negative volumes of a mesh are ignored (W023). `None` if the mesh has no
/// negative volumes. `what` names the rule or operation that ignores them.
pub fn not_subtracted(mesh: &Mesh, what: &str) -> Option<Finding> {
    let count = mesh.cuts()?.count() as u64;
    let triangles = counted(count, "triangle", "triangles");
    let text = format!("negative volumes of {triangles} are not subtracted: {what} ignores them");
    Some(Finding::new(Code::W023, text))
}

/// Returns the finding that at least a tenth of the mesh's area lies on walls between two cells of the grid
/// (W004). The rule surface marks the cells on the high side of these walls, also where that side is outside of
/// the part. The first and the last wall of a lattice that ends there do no harm.
pub fn on_walls(mesh: &Mesh, lattice: &Lattice) -> Option<Finding> {
    const PART: f64 = 0.1;
    let axes = [0, 1, 2].map(|axis| lattice.axis(axis));
    let mut area = 0.0;
    let mut area_on_walls = 0.0;
    let mut count = 0;
    for triangle in mesh.triangles() {
        let [a, b, c] = triangle.map(|p| p.map(f64::from));
        let [u, v]: [[f64; 3]; 2] = [b, c].map(|p| std::array::from_fn(|axis| p[axis] - a[axis]));
        let product: [f64; 3] = std::array::from_fn(|axis| {
            let [s, t] = [(axis + 1) % 3, (axis + 2) % 3];
            u[s] * v[t] - u[t] * v[s]
        });
        let twice = product.into_iter().map(|c| c * c).sum::<f64>().sqrt();
        area += twice;
        let is_on_wall = (0..3).any(|axis| {
            let [a, b, c] = triangle.map(|p| p[axis]);
            let last = 2 * lattice.dims()[axis] as i64;
            let wall = axes[axis].snapped(a).filter(|_| a == b && b == c);
            wall.is_some_and(|m| m % 2 == 0 && m > 0 && m < last)
        });
        if is_on_wall && twice > 0.0 {
            area_on_walls += twice;
            count += 1;
        }
    }
    if area_on_walls < PART * area || count == 0 {
        return None;
    }
    let triangles = counted(count, "triangle lies", "triangles lie");
    let text = format!(
        "{triangles} on walls between cells: the rule surface marks the cells above them, also outside of the part"
    );
    Some(Finding::new(Code::W004, text).with_hint("`--filled` marks the cells that the part fills"))
}

/// Returns the finding that a mesh with these bounds is smaller than one cell along every axis (W021).
fn less_than_a_cell(
    mesh: &Bounds,
    lattice: &Lattice,
    coordinates: &GridCoordinates,
) -> Option<Finding> {
    let sizes = sizes(mesh);
    let spacing = lattice.spacing().each_ref().map(Rational::to_f64);
    if !(0..3).all(|axis| sizes[axis] < spacing[axis]) {
        return None;
    }
    let [sizes, cell] = [sizes, spacing].map(|sides| {
        sides
            .map(|side| number(coordinates.length(side)))
            .join(" × ")
            + &coordinates.suffix()
    });
    let text =
        format!("the mesh, {sizes}, is smaller than a cell, {cell}: it may be in another unit");
    Some(Finding::new(Code::W021, text))
}

/// Returns the finding that the radius of the rule offset is longer than the longest side of these bounds
/// (W022).
fn less_than_the_radius(
    mesh: &Bounds,
    lattice: &Lattice,
    rule: &Rule,
    coordinates: &GridCoordinates,
) -> Option<Finding> {
    let Rule::Offset { radius } = rule else {
        return None;
    };
    // A radius in cells does not depend on the unit of the mesh, so it is not suspicious.
    if radius.unit() == LengthUnit::Cells {
        return None;
    }
    let radius = radius.in_world(lattice.spacing()).to_f64();
    let longest = sizes(mesh).into_iter().fold(0.0, f64::max);
    let [radius_text, longest_text] =
        [radius, longest].map(|length| coordinates.length_text(length));
    let text = format!(
        "the radius, {radius_text}, is longer than the mesh, {longest_text}: it may be in another unit"
    );
    let hint = "`--radius 2vx` is two cells";
    (radius > longest && longest > 0.0).then(|| Finding::new(Code::W022, text).with_hint(hint))
}

/// Returns the length of a box along each axis.
fn sizes(bounds: &Bounds) -> [f64; 3] {
    [0, 1, 2].map(|axis| f64::from(bounds.max[axis]) - f64::from(bounds.min[axis]))
}

/// Returns the finding that a mesh with these bounds is so far from the origin that adjacent 32-bit floats
/// near its coordinates are more than a hundredth of a cell apart (L001). Rounding may have moved faces by
/// such distances. The finding names the axis with the largest ratio of float spacing to cell size.
fn far_from_origin(
    mesh: &Bounds,
    lattice: &Lattice,
    coordinates: &GridCoordinates,
) -> Option<Error> {
    const PART: i64 = 100;
    if let Some(near) = coordinates.near {
        return far_output(mesh, lattice, coordinates, near);
    }
    let coarse = (0..3).filter_map(|axis| {
        let farthest = mesh.min[axis].abs().max(mesh.max[axis].abs());
        let step = f64::from(farthest.next_up()) - f64::from(farthest);
        let spacing = &lattice.spacing()[axis];
        (&Rational::from_f64(step)? * &Rational::from(PART) > *spacing)
            .then(|| (axis, farthest, step, step / spacing.to_f64()))
    });
    let (axis, farthest, step, _) = coarse.max_by(|a, b| a.3.total_cmp(&b.3))?;
    let name = AXES[axis];
    let size = lattice.spacing()[axis].to_f64();
    let off = coordinates.length_text(step / 2.0);
    let [step, size] = [step, size].map(|length| coordinates.length_text(length));
    let scaled = if coordinates.scale == 1.0 {
        ""
    } else {
        " when scaled"
    };
    let text = format!(
        "the mesh is far from the origin: near {name} = {} in the file, neighbouring 32-bit floats differ by {step}{scaled}, and \
         a cell is {size} wide; faces may be off by {off}",
        number(f64::from(farthest))
    );
    let hint = "move the mesh to the origin in the program that made it, and export it again";
    Some(Error::input(Code::L001, text).with_hint(hint))
}

/// Returns the finding (L001) about a mesh whose coordinates were read relative to a point near the mesh. The
/// cells are correct, but their coordinates in the output are as far from the origin as in the file.
fn far_output(
    mesh: &Bounds,
    lattice: &Lattice,
    coordinates: &GridCoordinates,
    near: [f64; 3],
) -> Option<Error> {
    const PART: f64 = 100.0;
    let coarse = (0..3).filter_map(|axis| {
        let [min, max] =
            [mesh.min[axis], mesh.max[axis]].map(|end| coordinates.at(axis, f64::from(end)));
        let farthest = if min.abs() > max.abs() { min } else { max };
        let step = f64::from((farthest.abs() as f32).next_up()) - f64::from(farthest.abs() as f32);
        let size = coordinates.length(lattice.spacing()[axis].to_f64());
        (step * PART > size).then_some((axis, farthest, step, size))
    });
    let (axis, farthest, step, size) = coarse.max_by(|a, b| (a.2 / a.3).total_cmp(&(b.2 / b.3)))?;
    let suffix = coordinates.suffix();
    let text = format!(
        "the mesh is far from the origin: near {} = {}, neighbouring 32-bit floats differ by {}{suffix}, and a cell is \
         {}{suffix} wide. Coordinates were read relative to {}, so rounding moves no face here, but it does in programs that \
         read the output as 32-bit floats",
        AXES[axis],
        number(farthest),
        number(step),
        number(size),
        near.map(|value| value.to_string()).join(","),
    );
    let back = near.map(|value| (0.0 - value).to_string()).join(",");
    let hint = format!("`--translate {back}` moves the mesh to the origin");
    Some(Error::input(Code::L001, text).with_hint(hint))
}

/// Returns the finding that the mesh extends beyond a lattice that was not fitted to it (W001). `grid` is the
/// name of the lattice in the text.
pub fn beyond(mesh: &Mesh, lattice: &Lattice, grid: &str) -> Option<Finding> {
    let axes = passed(mesh, lattice)?;
    let text = format!(
        "the mesh extends beyond the grid of {grid} along {axes}; the part outside is left out"
    );
    Some(Finding::new(Code::W001, text))
}

/// Returns the finding that the mesh reaches the last layer of cells only because its coordinates were
/// rounded to floats (W017). The bounds may be those of several meshes that share a grid.
pub fn rounded(bounds: &Bounds, fit: &Fit, transform: &Transform) -> Option<Finding> {
    let is_rounded = fit.rounded_axes(bounds);
    let axes = axes_where(|axis| is_rounded[*axis])?;
    let text = format!(
        "along {axes} the mesh reaches the last layer of cells only because coordinates are rounded to floats"
    );
    let found = Finding::new(Code::W017, text);
    // The origin is printed with the shortest decimals that are read as these floats.
    let origin = bounds.min.map(|c| (c + 0.0).to_string()).join(",");
    let is_as_written = !transform.is_scaled() && !transform.is_moved();
    Some(if is_as_written {
        found.with_hint(format!(
            "`--origin {origin}` gives a grid with one layer fewer"
        ))
    } else {
        found
    })
}

/// Returns the finding that faces of the mesh pass walls of the lattice only because coordinates were rounded
/// to floats (W017). The rule filled marks one more layer of cells behind each of these faces. Only faces that
/// are parallel to two axes are examined. The finding needs a face that is larger than a side of a cell, or a
/// tenth of the area of all examined faces. `fit` is the fit of the lattice to the mesh, if there is one.
pub fn past_walls(
    mesh: &Mesh,
    lattice: &Lattice,
    fit: Option<&Fit>,
    transform: &Transform,
) -> Option<Finding> {
    const PART: f64 = 0.1;
    if lattice.snap() != Snap::Float {
        return None;
    }
    let bounds = mesh.bounds();
    let is_rounded = fit.map_or([false; 3], |fit| fit.rounded_axes(bounds));
    let axes = [0, 1, 2].map(|axis| lattice.axis(axis));
    let spacing = lattice.spacing().each_ref().map(Rational::to_f64);
    // Lattice with the same cells and walls at multiples of their size.
    let multiples = [0, 1, 2]
        .map(|axis| AxisMap::new(Rational::ZERO, lattice.spacing()[axis].clone(), Snap::Float));
    let mut area = 0.0;
    let mut area_past_walls = 0.0;
    let mut has_large_face = false;
    let mut are_at_multiples = true;
    let mut count = 0;
    let mut farthest = 0.0_f64;
    for triangle in mesh.triangles() {
        let flat = (0..3).find(|axis| {
            let [a, b, c] = triangle.map(|p| p[*axis]);
            a == b && b == c
        });
        let Some(axis) = flat else {
            continue;
        };
        let [a, b, c] = triangle.map(|p| p.map(f64::from));
        let [s, t] = [(axis + 1) % 3, (axis + 2) % 3];
        // Twice the area, negative if the face points to lower coordinates.
        let twice = (b[s] - a[s]) * (c[t] - a[t]) - (b[t] - a[t]) * (c[s] - a[s]);
        area += twice.abs();
        let at = triangle[0][axis];
        // Another finding reports the last layer.
        if is_rounded[axis] && at == bounds.max[axis] {
            continue;
        }
        let position = (f64::from(at) - axes[axis].origin().to_f64()) / spacing[axis];
        let wall = position.round();
        let past = (position - wall) * twice.signum();
        let cell = if twice > 0.0 { wall } else { wall - 1.0 };
        let is_in_grid = cell >= 0.0 && cell < lattice.dims()[axis] as f64;
        let is_past = past > 0.0 && past <= rounding(at, spacing[axis]);
        if twice == 0.0 || !is_in_grid || !is_past || axes[axis].snapped(at).is_some() {
            continue;
        }
        area_past_walls += twice.abs();
        has_large_face |= twice.abs() > 2.0 * spacing[s] * spacing[t];
        are_at_multiples &= multiples[axis].snapped(at).is_some_and(|m| m % 2 == 0);
        farthest = farthest.max(past * spacing[axis]);
        count += 1;
    }
    if count == 0 || !has_large_face && area_past_walls < PART * area {
        return None;
    }
    let triangles = counted(count, "triangle passes", "triangles pass");
    let farthest = transform.coordinates().length_text(farthest);
    let text = format!(
        "{triangles} walls between cells by at most {farthest}, the rounding of coordinates to floats: the rule filled marks \
         one more layer of cells there"
    );
    let hint = if are_at_multiples && !transform.is_moved() {
        "`--origin 0,0,0` puts walls at multiples of the cell size, as these triangles are"
    } else {
        "`--solid` marks the cells whose centre is inside"
    };
    Some(Finding::new(Code::W017, text).with_hint(hint))
}

/// Returns the largest distance of a coordinate from a wall, in cells, that the rounding of coordinates
/// explains: a hundred thousandth of a cell, or the error of a few roundings near that coordinate.
fn rounding(coordinate: f32, spacing: f64) -> f64 {
    const STEPS: f64 = 4.0;
    let largest = coordinate.abs();
    let step = f64::from(largest.next_up()) - f64::from(largest);
    (STEPS * step / spacing).clamp(1e-5, 1e-3)
}

/// Returns the names of the axes along which a mesh extends beyond a lattice, such as `x, z`. `None` if there
/// are no such axes.
pub fn passed(mesh: &Mesh, lattice: &Lattice) -> Option<String> {
    axes_where(|axis| lattice.is_passed(*axis, mesh.bounds()).contains(&true))
}

/// Returns the finding that the array of the output has other axes than the array of the scan whose grid is used
/// (W018). `None` if the format stores the array of the scan, or if the scan has the axes of the output.
pub fn other_axes(frame: Option<&ScanFrame>, format: Option<&Format>) -> Option<Finding> {
    let keeps = format.is_some_and(|format| format.frames == FrameSupport::Header);
    if keeps {
        return None;
    }
    frame?.axes_text().map(|axes| image_axes(&axes))
}

/// Returns the finding that the axes of the image whose grid is used are unknown, or differ from x, y and z
/// (W018).
pub fn image_axes(axes: &str) -> Finding {
    if axes == UNKNOWN_AXES {
        let text = "the image does not state its position: its axes are assumed to be x,y,z, and the centre of its first cell 0,0,0";
        return Finding::new(Code::W018, text).with_hint(
            "state the position in the program that made the image (qform or sform of NIfTI, space of NRRD): other readers may assume another position",
        );
    }
    let text = format!(
        "the axes of the image run {axes}, the axes of the output run x,y,z: their arrays differ in order"
    );
    Finding::new(Code::W018, text).with_hint(format!(
        "save as .nii.gz or .nrrd, which keep the array of the scan, or reorder an array[x, y, z] in NumPy: {}",
        numpy_text(axes)
    ))
}

/// Returns the NumPy expression that reorders an array along x, y and z to one along these axes, such as
/// `array[::-1]` for `-x,y,z`, or `array.transpose(1, 0, 2)` for `y,x,z`.
fn numpy_text(axes: &str) -> String {
    let mut order = vec![];
    let mut steps = vec![];
    for name in axes.split(',') {
        steps.push(if name.starts_with('-') { "::-1" } else { ":" });
        order.push(match name.trim_start_matches('-') {
            "x" => "0",
            "y" => "1",
            _ => "2",
        });
    }
    while steps.last() == Some(&":") {
        steps.pop();
    }
    let mut text = "array".to_string();
    if order != ["0", "1", "2"] {
        text += &format!(".transpose({})", order.join(", "));
    }
    if !steps.is_empty() {
        text += &format!("[{}]", steps.join(", "));
    }
    text
}

/// Returns the names of the axes that satisfy a condition, such as `x, z`. `None` if no axis satisfies it.
fn axes_where(is_so: impl Fn(&usize) -> bool) -> Option<String> {
    let axes: Vec<_> = (0..3)
        .filter(is_so)
        .map(|axis| AXES[axis].to_string())
        .collect();
    (!axes.is_empty()).then(|| axes.join(", "))
}

/// Describes an axis along which the ranges of mesh and lattice do not overlap, as in `along x the mesh is in
/// 0 … 64, the grid in 500 … 600`. `None` if they overlap along every axis.
fn misses(lattice: &Lattice, mesh: &Mesh, coordinates: &GridCoordinates) -> Option<String> {
    let bounds = mesh.bounds();
    let walls = lattice.origin().iter().zip(lattice.end());
    for (axis, (low, high)) in walls.enumerate() {
        let low = low.to_f64();
        let high = high.to_f64();
        let min = f64::from(bounds.min[axis]);
        let max = f64::from(bounds.max[axis]);
        if max < low || min > high {
            return Some(extents(lattice, mesh, axis, coordinates));
        }
    }
    None
}

/// Search for features that the rule solid loses. It reuses the solid cells of the job. If these and the
/// search do not fit in memory together, the search is done before the cells are made.
pub(crate) struct LostSearch<'a> {
    pub mesh: &'a Mesh,
    pub lattice: &'a Lattice,
    pub rule: &'a Rule,
    pub run: &'a Run<'a>,
}

/// Result of the search, or the finding that it was skipped.
#[derive(Debug, Clone, Default)]
pub(crate) struct LostFound {
    pub lost: Option<LostFeatures>,
    pub skipped: Option<Finding>,
}

impl LostSearch<'_> {
    /// Returns true if the rule may lose features that have to be searched.
    pub(crate) fn is_needed(&self) -> bool {
        matches!(
            self.rule,
            Rule::Solid {
                thin: ThinFeatures::Lose,
                ..
            }
        )
    }

    /// Returns true if the search fits in memory together with the whole grid. The search can then use the
    /// cells of the grid.
    pub(crate) fn fits_with_grid(&self) -> bool {
        let Some(limit) = self.run.max_memory() else {
            return true;
        };
        self.bytes() + BitGrid::bytes_for(self.lattice.dims()) <= u128::from(limit)
    }

    /// Returns the memory of the search in bytes, including the mesh.
    fn bytes(&self) -> u128 {
        let inside = self.rule.inside().unwrap_or_default();
        let estimate = MemoryEstimate::bound(self.mesh, self.lattice, self.run);
        estimate.meshes(1, 1.0) + lost::memory(inside, &estimate)
    }

    /// Finds the lost features. `solid` has the solid cells if they are already known. If memory does not
    /// suffice, the search is skipped, and the result has a finding (W010).
    pub(crate) fn find(&self, solid: Option<&BitGrid>) -> Result<LostFound> {
        let need = self.bytes();
        if let Some(limit) = self.run.max_memory()
            && need > u128::from(limit)
        {
            let need = bytes(need);
            let available = bytes(u128::from(limit));
            let text = format!(
                "skipped the search for lost features: needs {need}, {available} available"
            );
            return Ok(LostFound {
                lost: None,
                skipped: Some(Finding::new(Code::W010, text)),
            });
        }
        let inside = self.rule.inside().unwrap_or_default();
        let lost = lost::find(self.mesh, self.lattice, inside, solid, self.run)?;
        Ok(LostFound {
            lost: Some(lost),
            skipped: None,
        })
    }
}

/// Returns the findings about the cells that were made: the findings of the rule and, if no cell is occupied,
/// a finding that says so.
pub(crate) fn of_cells(
    rule: &Rule,
    mesh: &Mesh,
    lattice: &Lattice,
    stats: &Stats,
    is_empty: bool,
    coordinates: &GridCoordinates,
) -> Vec<Finding> {
    let mut findings = rule::findings(rule, mesh, lattice, stats, coordinates);
    if is_empty {
        let is_flooded = findings.iter().any(|finding| finding.code() == Code::W007);
        let within = within(lattice, mesh, coordinates).filter(|_| !is_flooded);
        let outside = misses(lattice, mesh, coordinates).map(|apart| {
            let text = format!("no cell is occupied: the mesh is outside the grid; {apart}");
            Finding::new(Code::W002, text)
                .with_hint("check `--bounds`, `--translate` and `--scale`")
        });
        let found = within.or(outside);
        findings.push(found.unwrap_or_else(|| rule::nothing_occupied(rule, &findings)));
    }
    findings
}

/// Returns the finding that no cell is occupied, if the lattice is within the bounds of the mesh. The usual
/// reason is that mesh and lattice are in different units.
fn within(lattice: &Lattice, mesh: &Mesh, coordinates: &GridCoordinates) -> Option<Finding> {
    let is_within = (0..3).all(|axis| lattice.is_passed(axis, mesh.bounds()) == [true; 2]);
    is_within.then(|| {
        let extents = extents(lattice, mesh, 0, coordinates);
        let text =
            format!("no cell is occupied: the grid lies within the bounds of the mesh; {extents}");
        Finding::new(Code::W002, text).with_hint("if they are in different units, give `--scale`")
    })
}

/// Describes the ranges of mesh and lattice along an axis, as in `along x the mesh is in 0 … 64 mm, the grid
/// in 1 … 2 mm`.
fn extents(lattice: &Lattice, mesh: &Mesh, axis: usize, coordinates: &GridCoordinates) -> String {
    let ends = [&lattice.origin()[axis], &lattice.end()[axis]].map(Rational::to_f64);
    let bounds = mesh.bounds();
    let of_mesh = [bounds.min[axis], bounds.max[axis]].map(f64::from);
    let [[min, max], [low, high]] =
        [of_mesh, ends].map(|ends| ends.map(|end| number(coordinates.at(axis, end))));
    let unit = coordinates.suffix();
    let axis = AXES[axis];
    format!("along {axis} the mesh is in {min} … {max}{unit}, the grid in {low} … {high}{unit}")
}

/// Returns the finding that some parts are one body only together, and that each cell in their common inside
/// has the label of the nearest face (W024). `closedness` is that of the body.
pub(super) fn filled_together(labels: &[Label], closedness: Closedness) -> Finding {
    const SHOWN: usize = 12;
    let mut names: Vec<_> = labels
        .iter()
        .take(SHOWN)
        .map(|label| sanitize(label.name.as_bytes()))
        .collect();
    if labels.len() > SHOWN {
        names.push("…".into());
    }
    let names = names.join(", ");
    let why = if closedness == Closedness::Open {
        "share open edges and are filled as one body"
    } else {
        "are closed only together"
    };
    let text = format!("{names} {why}: each cell inside has the label of the nearest face");
    Finding::new(Code::W024, text)
}

/// Returns the finding that some parts have no cells. `None` if all parts have cells.
pub(super) fn parts_without_cells(labels: &[(Label, u64)]) -> Option<Finding> {
    const SHOWN: usize = 12;
    let without = labels
        .iter()
        .filter(|(_, cells)| *cells == 0)
        .map(|(label, _)| sanitize(label.name.as_bytes()));
    let without: Vec<_> = without.collect();
    let more = without.len().saturating_sub(SHOWN);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let names = without
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    let count = without.len();
    let all = labels.len();
    let verb = if count == 1 { "has" } else { "have" };
    let text = format!(
        "{count} of {all} parts {verb} no cells: {names}{more}; such a part is outside the grid, thinner than a cell, or covered by \
         parts with a higher priority"
    );
    let hint = [
        "use smaller cells, or put the part first with `--priority NAME`",
        "`--rule surface` marks the cells of flat and open parts",
    ];
    (count > 0).then(|| Finding::new(Code::W002, text).with_hint(hint))
}

/// Appends `more` to `findings`. Skips a finding that no cell is occupied (W002) if there is already one.
pub fn add(findings: &mut Vec<Finding>, more: impl IntoIterator<Item = Finding>) {
    let is_empty = findings.iter().any(|finding| finding.code() == Code::W002);
    findings.extend(
        more.into_iter()
            .filter(|finding| !is_empty || finding.code() != Code::W002),
    );
}
