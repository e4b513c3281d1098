//! Execution of a voxelizer: filling all cells, or planning slabs of them.

use super::findings;
use super::slabs::Slabs;
use super::voxelizer::{Extras, Voxelized, Voxelizer};
use crate::rule::Rule;
use crate::run::Plan;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::{CellArray, CellKind, Lattice};
use voxelize_meshes::Mesh;
use voxelize_meshes::read::Tolerance;

impl<'a> Voxelizer<'a> {
    /// Fills the cells of `lattice`.
    ///
    /// # Errors
    /// Fails if options of the rule exclude each other, the mesh is unfit for the rule, the grid
    /// does not fit in memory or in the limit, the machine lacks the instruction set, or the run
    /// was cancelled.
    pub fn run(&self, mesh: &Mesh, lattice: &Lattice) -> Result<Voxelized> {
        self.with_findings_of_lattice(mesh, lattice, || self.fill(mesh, lattice))
    }

    /// Fills the cells like [`run`](Self::run), without findings about the place of the lattice.
    ///
    /// # Errors
    /// Fails for the reasons listed at [`run`](Self::run).
    pub fn fill(&self, mesh: &Mesh, lattice: &Lattice) -> Result<Voxelized> {
        Ok(self.filled(mesh, lattice)?.0)
    }

    /// Returns all cells, with the numbers of the nearest triangles and the arrays requested by
    /// [`Extras`].
    fn filled(
        &self,
        mesh: &Mesh,
        lattice: &Lattice,
    ) -> Result<(Voxelized, Vec<i32>, Vec<CellArray>)> {
        self.admit(mesh, lattice, Plan::Dense)?;
        let mut slabs = Slabs::new(self, mesh, lattice, Plan::Dense)?;
        if self.extras.nearest {
            slabs = slabs.with_nearest();
        }
        slabs.fill_next()?;
        Ok(slabs.into_voxelized())
    }

    /// Runs `fill`, and puts the findings about the place of the lattice before the findings of
    /// `fill`.
    fn with_findings_of_lattice(
        &self,
        mesh: &Mesh,
        lattice: &Lattice,
        fill: impl FnOnce() -> Result<Voxelized>,
    ) -> Result<Voxelized> {
        let mut all = vec![];
        if self.has_findings {
            let coordinates = self.coordinates();
            let tolerance = Tolerance::Usual;
            all = findings::of_lattice(mesh, lattice, &self.rule, tolerance, &coordinates)?;
        }
        let made = fill()?;
        findings::add(&mut all, made.findings);
        Ok(Voxelized {
            findings: all,
            ..made
        })
    }

    /// Returns the field of a rule that makes one, and the number of the triangle nearest to each
    /// cell, x fastest. The number is the least of several equally near triangles, and −1 in cells
    /// of the background.
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::{Fit, Mesh, Rule, Voxelizer};
    ///
    /// let mesh = Mesh::open("fixtures/cube.stl")?;
    /// let lattice = Fit::longest(16).pad(3).to(mesh.bounds())?;
    /// let (result, nearest) = Voxelizer::new(Rule::distance()).run_with_nearest(&mesh, &lattice)?;
    /// let field = result.voxels.field().unwrap();
    /// assert!(nearest.iter().zip(field.values()).all(|(n, v)| (*n == -1) == (*v == field.background())));
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails for the reasons listed at [`run`](Self::run), and if the rule makes bits.
    pub fn run_with_nearest(
        &self,
        mesh: &Mesh,
        lattice: &Lattice,
    ) -> Result<(Voxelized, Vec<i32>)> {
        if !matches!(self.rule, Rule::Distance { iso: None, .. }) {
            let error = Error::usage(format!(
                "the rule {} has no nearest triangles",
                self.rule.name()
            ));
            return Err(error.with_hint("the rule distance has, without an iso value"));
        }
        let mut nearest = vec![];
        let made = self.with_findings_of_lattice(mesh, lattice, || {
            let extras = Extras {
                nearest: true,
                ..self.extras
            };
            let (made, numbers, _) = self.extras(extras).filled(mesh, lattice)?;
            nearest = numbers;
            Ok(made)
        })?;
        Ok((made, nearest))
    }

    /// Returns the cells of [`run`](Self::run) and the additional arrays of [`Extras::quantities`],
    /// in the order of [`Quantity::ALL`](voxelize_core::grid::Quantity::ALL).
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::grid::Quantity;
    /// use voxelize::job::Extras;
    /// use voxelize::{Lattice, Mesh, Rule, Voxelizer};
    ///
    /// let mesh = Mesh::open("fixtures/cube.stl")?;
    /// let lattice = Lattice::fit(mesh.bounds(), 16)?;
    /// let quantities = [Quantity::Area].into_iter().collect();
    /// let voxelizer = Voxelizer::new(Rule::fraction()).extras(Extras { quantities, ..Extras::default() });
    /// let (_, arrays) = voxelizer.run_with_arrays(&mesh, &lattice)?;
    /// let area: f64 = arrays[0].numbers().iter().map(|area| f64::from(*area)).sum();
    /// assert_eq!(area, 6.0 * 64.0 * 64.0);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails for the reasons listed at [`run`](Self::run), and if the rule has no such arrays.
    pub fn run_with_arrays(
        &self,
        mesh: &Mesh,
        lattice: &Lattice,
    ) -> Result<(Voxelized, Vec<CellArray>)> {
        self.refuse_other_quantities()?;
        let mut found = vec![];
        let made = self.with_findings_of_lattice(mesh, lattice, || {
            let (made, _, arrays) = self.filled(mesh, lattice)?;
            found = arrays;
            Ok(made)
        })?;
        Ok((made, found))
    }

    /// Refuses quantities that the rule does not have.
    pub(super) fn refuse_other_quantities(&self) -> Result<()> {
        let has = self.rule.quantities();
        let Some(other) = self.extras.quantities.iter().find(|one| !has.contains(one)) else {
            return Ok(());
        };
        let rule = self.rule.name();
        let name = other.name();
        let error = Error::usage(format!("the rule {rule} has no {name} beside its cells"));
        Err(error.with_hint("the rule fraction has"))
    }

    /// Returns the plan that fits the limit of memory. It is the whole grid without a limit, and
    /// otherwise the highest slabs that fit. Their height is a multiple of `multiple` layers,
    /// [`Format::slab_layers`](voxelize_formats::Format::slab_layers). `None` if no plan fits.
    pub fn plan(&self, mesh: &Mesh, lattice: &Lattice, multiple: usize) -> Option<Plan> {
        let Some(limit) = self.run.max_memory() else {
            return Some(Plan::Dense);
        };
        self.demand(mesh, lattice).fit(u128::from(limit), multiple)
    }

    /// Refuses cells that do not fit in the limit of memory under this plan.
    fn admit(&self, mesh: &Mesh, lattice: &Lattice, plan: Plan) -> Result<()> {
        if self.run.max_memory().is_none() {
            return Ok(());
        }
        let [x, y, z] = lattice.dims();
        let triangles = mesh.triangles().len();
        let (what, layers) = match plan {
            Plan::Dense if self.rule.kind() == CellKind::Field => ("a field", z),
            Plan::Dense => ("a grid", z),
            Plan::Slabs(height) | Plan::Bricks(height) => ("slabs", height),
        };
        self.run
            .refuse_above(self.demand(mesh, lattice).bytes(plan), || {
                format!("{what} of {x} × {y} × {layers} cells and {triangles} triangles")
            })
    }

    /// Returns the cells of a grid that may be larger than memory. They are made in slabs of layers
    /// of z, each when it is needed.
    ///
    /// With [`Plan::Slabs`] every slab is a pass over all triangles. With [`Plan::Bricks`] one pass
    /// stores the cells in bricks of 64 × 8 × 8, and slabs are made from them. For a mostly empty
    /// grid this takes much less memory and time than the whole grid at once.
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::format::{self, SaveOptions};
    /// use voxelize::run::Plan;
    /// use voxelize::{Lattice, Mesh, Rule, Voxelizer, voxelize};
    ///
    /// let mesh = Mesh::open("fixtures/knot.stl")?;
    /// let lattice = Lattice::fit(mesh.bounds(), 256)?;
    /// let npz = format::by_name("npz").unwrap();
    ///
    /// // Mesh and cells are to take at most half a MiB.
    /// let voxelizer = Voxelizer::new(Rule::surface()).memory(512 << 10);
    /// let plan = voxelizer.plan(&mesh, &lattice, npz.slab_layers).unwrap();
    /// assert!(matches!(plan, Plan::Slabs(_)));
    ///
    /// let mut slabs = voxelizer.slabs(&mesh, &lattice, plan)?;
    /// let mut file = Vec::new();
    /// format::write_source_to(&mut slabs, &mut file, npz, &SaveOptions::default())?;
    ///
    /// let whole = voxelize(&mesh, &lattice, Rule::surface())?;
    /// assert_eq!(slabs.made().occupied, whole.count());
    /// # use voxelize::grid::CellSource;
    /// assert_eq!(slabs.digest(), whole.digest());
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if slabs have no layers, slabs of bricks are no multiple of 8 layers, the rule has no
    /// bricks, the plan needs more than the limit of memory, or the machine lacks the instruction
    /// set. Slabs themselves fail if memory runs out or the run is cancelled.
    pub fn slabs(&self, mesh: &'a Mesh, lattice: &'a Lattice, plan: Plan) -> Result<Slabs<'a>> {
        self.admit(mesh, lattice, plan)?;
        Slabs::new(self, mesh, lattice, plan)
    }
}
