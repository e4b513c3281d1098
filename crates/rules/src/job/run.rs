//! Functions that run a voxelizer: on the whole grid at once, or slab by slab.

use super::findings;
use super::slabs::Slabs;
use super::voxelizer::{Extras, Voxelized, Voxelizer};
use crate::rule::Rule;
use crate::run::Plan;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::{CellArray, CellKind, Lattice};
use voxelize_core::text::{bytes, counted};
use voxelize_meshes::Mesh;
use voxelize_meshes::read::Tolerance;

impl<'a> Voxelizer<'a> {
    /// Voxelizes a mesh on `lattice`.
    ///
    /// # Errors
    /// Fails if options of the rule exclude each other, if the mesh does not suit the rule, if the grid does
    /// not fit in memory or exceeds the memory limit, if the machine lacks the instruction set, or if the run
    /// was cancelled.
    pub fn run(&self, mesh: &Mesh, lattice: &Lattice) -> Result<Voxelized> {
        self.with_findings_of_lattice(mesh, lattice, || self.fill(mesh, lattice))
    }

    /// Voxelizes a mesh as [`run`](Self::run) does, but without findings about the size and position of the
    /// mesh.
    ///
    /// # Errors
    /// Fails for the reasons listed at [`run`](Self::run).
    pub fn fill(&self, mesh: &Mesh, lattice: &Lattice) -> Result<Voxelized> {
        Ok(self.filled(mesh, lattice)?.0)
    }

    /// Returns all cells, the numbers of the nearest triangles, and the additional arrays. The last two are
    /// empty unless [`Extras`] requests them.
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

    /// Runs `fill`, and inserts the findings about the size and position of the mesh before the findings of
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

    /// Makes the field of [`Rule::Distance`]. Also returns the number of the triangle nearest to each cell,
    /// with x fastest. Among equally near triangles it is the least number. Cells with the background value
    /// have −1.
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
    /// Fails for the reasons listed at [`run`](Self::run), and if the rule is not [`Rule::Distance`] or makes
    /// bits.
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
            return Err(error.with_hint("the rule distance has them, without an iso value"));
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

    /// Voxelizes a mesh as [`run`](Self::run) does. Also returns the additional arrays that
    /// [`Extras::quantities`] requests, in the order of
    /// [`Quantity::ALL`](voxelize_core::grid::Quantity::ALL), then the fields of parts that
    /// [`Extras::labels`] requests from a rule that [has them](Rule::has_label_fields).
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
    /// Fails for the reasons listed at [`run`](Self::run), and if the rule cannot compute a requested
    /// quantity.
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

    /// Fails if a requested quantity is not one that the rule can compute.
    pub(super) fn refuse_other_quantities(&self) -> Result<()> {
        let has = self.rule.quantities();
        let Some(other) = self.extras.quantities.iter().find(|one| !has.contains(one)) else {
            return Ok(());
        };
        let rule = self.rule.name();
        let name = other.name();
        let error = Error::usage(format!("the rule {rule} cannot compute {name}"));
        Err(error.with_hint("the rule fraction can"))
    }

    /// Returns the plan that fits in the memory limit. It is the whole grid if that fits, and otherwise the
    /// least number of slabs. The height of slabs is a multiple of `multiple` layers, which should be
    /// [`Format::slab_layers`](voxelize_formats::Format::slab_layers) of the output format, or 1 for a writer
    /// of your own.
    ///
    /// # Errors
    /// Fails if no plan fits. The error states the least limit for which a plan fits.
    pub fn plan(&self, mesh: &Mesh, lattice: &Lattice, multiple: usize) -> Result<Plan> {
        let Some(limit) = self.run.max_memory() else {
            return Ok(Plan::Dense);
        };
        let demand = self.demand(mesh, lattice);
        demand.fit(u128::from(limit), multiple).ok_or_else(|| {
            let layers = multiple.min(lattice.dims()[2]);
            let layers = counted(layers as u64, "layer", "layers");
            let text = format!(
                "mesh and slabs of {layers}, the least, need {}; the limit is {}",
                bytes(demand.least(multiple)),
                bytes(limit)
            );
            Error::too_large(text).with_hint("make the cells larger, or raise the limit")
        })
    }

    /// Fails if this plan exceeds the memory limit.
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

    /// Returns a source of the cells of a grid that may be larger than memory. The source makes the cells in
    /// slabs of layers along z, each when it is requested.
    ///
    /// With [`Plan::Slabs`] every slab needs a pass over all triangles. With [`Plan::Bricks`] one pass stores
    /// all cells in bricks of 64 × 8 × 8 cells, and slabs are made from the bricks. If the grid is mostly
    /// empty, bricks need much less memory and time than the whole grid at once.
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::format::{self, SaveOptions};
    /// use voxelize::grid::CellSource;
    /// use voxelize::run::Plan;
    /// use voxelize::{Lattice, Mesh, Rule, Voxelizer, voxelize};
    ///
    /// let mesh = Mesh::open("fixtures/knot.stl")?;
    /// let lattice = Lattice::fit(mesh.bounds(), 256)?;
    /// let npz = format::by_name("npz").unwrap();
    ///
    /// // Mesh and cells are to take at most half a MiB.
    /// let voxelizer = Voxelizer::new(Rule::surface()).memory(512 << 10);
    /// let plan = voxelizer.plan(&mesh, &lattice, npz.slab_layers)?;
    /// assert!(matches!(plan, Plan::Slabs(_)));
    ///
    /// let mut slabs = voxelizer.slabs(&mesh, &lattice, plan)?;
    /// let mut file = Vec::new();
    /// format::write_source_to(&mut slabs, &mut file, npz, &SaveOptions::default())?;
    ///
    /// let whole = voxelize(&mesh, &lattice, Rule::surface())?;
    /// assert_eq!(slabs.made().occupied, whole.count());
    /// assert_eq!(slabs.digest(), whole.digest());
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the slabs of the plan have no layers, if slabs made from bricks have a height that is not a
    /// multiple of 8 layers, if the rule does not support bricks, if the plan exceeds the memory limit, or if
    /// the machine lacks the instruction set. Making a slab fails if memory runs out or the run is cancelled.
    pub fn slabs(&self, mesh: &'a Mesh, lattice: &'a Lattice, plan: Plan) -> Result<Slabs<'a>> {
        self.admit(mesh, lattice, plan)?;
        Slabs::new(self, mesh, lattice, plan)
    }
}
