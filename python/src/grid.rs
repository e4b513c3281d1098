//! Voxels for Python: cells with their lattice and record.

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::OnceLock;

use numpy::ndarray::ArrayView1;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use voxelize::format::{self, Choice, Dtype, Existing, FORMATS, Format, SaveOptions, Sidecar};
use voxelize::grid::{CellKind, CellsRef, ScanFrame};
use voxelize::view::{self, Background, Layer, Shown, View};
use voxelize::{Code, Digest, Error, Lattice, Progress, Rational, Result, Voxels};

use crate::errors::raised;
use crate::options::named;
use crate::work::{How, run, run_here, run_silently};

/// Number of cells above which copying takes so long that it must be possible to interrupt it.
const LARGE: usize = 1 << 26;

/// Cells with their lattice and record.
#[pyclass(frozen, module = "voxelize._native")]
pub struct Grid {
    pub voxels: Voxels,
    digest: OnceLock<Digest>,
}

impl Grid {
    pub fn new(voxels: Voxels) -> Self {
        Self {
            voxels,
            digest: OnceLock::new(),
        }
    }

    fn cells(&self) -> CellsRef<'_> {
        self.voxels.cells.as_ref()
    }

    fn digest(&self, py: Python<'_>) -> PyResult<Digest> {
        if let Some(digest) = self.digest.get() {
            return Ok(*digest);
        }
        let digest = run_silently(py, |_| Ok(self.voxels.digest()))?;
        Ok(*self.digest.get_or_init(|| digest))
    }

    fn lattice(&self) -> Result<&Lattice> {
        let none = || Error::usage("the file of these cells does not say where they are");
        self.voxels.lattice.as_ref().ok_or_else(none)
    }
}

/// Options for saving a grid.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Saving {
    format: Option<String>,
    dtype: Option<String>,
    /// Name and value of each choice of the format. Flags have no value.
    choices: Vec<(String, Option<String>)>,
    values: Vec<i16>,
    /// Width and height of the pictures of layers.
    size: Option<[usize; 2]>,
    sidecar: bool,
    overwrite: bool,
}

impl Saving {
    fn format(&self, path: Option<&PathBuf>) -> Result<&'static Format> {
        match (&self.format, path) {
            (Some(name), _) => {
                let known: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
                named("format", name, format::by_name(name), &known)
            }
            (None, Some(path)) => format::named_by(path),
            (None, None) => Err(Error::usage("no format is given")),
        }
    }

    fn with_options<T>(&self, save: impl FnOnce(&SaveOptions) -> Result<T>) -> Result<T> {
        let dtype = self.dtype.as_deref().map(|name| {
            let all = FORMATS
                .iter()
                .flat_map(|format| format.dtypes)
                .map(|dtype| dtype.name());
            let known: std::collections::BTreeSet<_> = all.collect();
            named(
                "dtype",
                name,
                Dtype::from_name(name),
                &known.into_iter().collect::<Vec<_>>(),
            )
        });
        let choice = |(option, value): &(String, Option<String>)| {
            let is_meant = |c: &&Choice| c.option() == option && c.value() == value.as_deref();
            Choice::ALL
                .iter()
                .copied()
                .find(|c| is_meant(&c))
                .ok_or_else(|| {
                    Error::usage(format!(
                        "{}: no format has this choice",
                        option.replace('-', "_")
                    ))
                })
        };
        let choices = self
            .choices
            .iter()
            .map(choice)
            .collect::<Result<Vec<_>>>()?;
        save(&SaveOptions {
            dtype: dtype.transpose()?,
            choices: &choices,
            values: &self.values,
            plate: self.size,
            existing: if self.overwrite {
                Existing::Replace
            } else {
                Existing::ReplaceIf(|_| false)
            },
            sidecar: if self.sidecar {
                Sidecar::Write
            } else {
                Sidecar::Auto
            },
            ..SaveOptions::default()
        })
    }
}

#[pymethods]
impl Grid {
    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        self.voxels.dims().into()
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.voxels.kind().name()
    }

    #[getter]
    fn count(&self) -> u64 {
        self.voxels.count()
    }

    /// Memory of the cells in bytes.
    #[getter]
    fn nbytes(&self) -> u128 {
        self.cells().bytes()
    }

    /// Outer corner of the first cell. `None` if the position of the cells is unknown.
    #[getter]
    fn origin(&self) -> Option<(f64, f64, f64)> {
        Some(
            self.voxels
                .lattice
                .as_ref()?
                .origin()
                .each_ref()
                .map(|c| c.to_f64())
                .into(),
        )
    }

    #[getter]
    fn spacing(&self) -> Option<(f64, f64, f64)> {
        Some(
            self.voxels
                .lattice
                .as_ref()?
                .spacing()
                .each_ref()
                .map(|c| c.to_f64())
                .into(),
        )
    }

    /// Origin and spacing as fractions `p/q`. `None` if the position of the cells is unknown.
    #[getter]
    fn exact(&self) -> Option<[[String; 3]; 2]> {
        let lattice = self.voxels.lattice.as_ref()?;
        Some(
            [lattice.origin(), lattice.spacing()]
                .map(|point| point.each_ref().map(|c| c.to_string())),
        )
    }

    /// Directions of the axes in the world, and the point of the world at the zero of the coordinates. `None` if
    /// the axes are x, y and z.
    #[getter]
    fn tilted(&self) -> Option<([[f64; 3]; 3], [f64; 3])> {
        let frame = ScanFrame::tilted_of(&self.voxels.record)?;
        let doubles = |vector: &[Rational; 3]| vector.each_ref().map(Rational::to_f64);
        let directions = frame.directions().each_ref().map(doubles);
        Some((directions, doubles(frame.zero()?)))
    }

    #[getter]
    fn closed(&self) -> Option<[bool; 3]> {
        Some(self.voxels.lattice.as_ref()?.closed())
    }

    #[getter]
    fn cell_volume(&self) -> Option<f64> {
        Some(self.voxels.lattice.as_ref()?.cell_volume().to_f64())
    }

    /// Digest of the cells, and digest of the cells with their lattice.
    #[getter]
    fn digests(&self, py: Python<'_>) -> PyResult<(String, Option<String>)> {
        let digest = self.digest(py)?;
        Ok((
            digest.cells.to_string(),
            digest.grid.map(|grid| grid.to_string()),
        ))
    }

    #[getter]
    fn record(&self) -> Vec<(String, String)> {
        let record = &self.voxels.record;
        let one = |name: &str, value: &Option<String>| {
            value.clone().map(|value| (name.to_string(), value))
        };
        let more = record.fields.iter().chain(&record.transform);
        let more = more.map(|(name, value)| (name.to_string(), value.clone()));
        one("tool", &record.tool)
            .into_iter()
            .chain(one("rule", &record.rule_name))
            .chain(more)
            .chain(one("snap", &record.snap))
            .chain(one("input", &record.input))
            .collect()
    }

    /// Value, name, colour and number of cells of each label.
    #[getter]
    fn legend(&self) -> Vec<(u8, String, [u8; 3], u64)> {
        let Some(labels) = self.voxels.labels() else {
            return vec![];
        };
        let legend = labels.legend();
        let fact = |(value, count)| {
            (
                value,
                legend.name(value).into_owned(),
                legend.colour(value),
                count,
            )
        };
        labels.counts().into_iter().map(fact).collect()
    }

    #[getter]
    fn background(&self) -> Option<f32> {
        self.voxels.field().map(|field| field.background())
    }

    /// Returns one byte per cell, x fastest. It is 1 for an occupied cell, or its label if `labels` is true.
    fn bytes<'py>(&self, py: Python<'py>, labels: bool) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let [nx, ny, nz] = self.voxels.dims();
        let occupied = self.voxels.occupied().map_err(|error| raised(py, &error))?;
        let array = PyArray1::<u8>::zeros(py, [nx * ny * nz], false);
        let mut writing = array.try_readwrite()?;
        let all = writing.as_slice_mut()?;
        let labels = self.voxels.labels().filter(|_| labels);
        let mut unpack = |watcher: &dyn Progress| {
            for (k, layer) in all.chunks_exact_mut(nx * ny).enumerate() {
                watcher.check()?;
                for (j, row) in layer.chunks_exact_mut(nx).enumerate() {
                    match labels {
                        Some(labels) => labels.row(j, k, row),
                        None => occupied.row_bytes(j, k, row),
                    }
                }
            }
            Ok(())
        };
        if nx * ny * nz < LARGE {
            run_here(py, || unpack(&()))?;
        } else {
            run_silently(py, |watcher| unpack(watcher))?;
        }
        drop(writing);
        Ok(array)
    }

    /// Returns the occupied cells as words of 64 cells along x. Rows are padded to whole words. The array
    /// shares the memory of the grid.
    fn words<'py>(this: Bound<'py, Self>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let grid = this.get();
        let occupied = grid
            .voxels
            .occupied()
            .map_err(|error| raised(this.py(), &error))?;
        let view = ArrayView1::from(occupied.words());
        Ok(shared(&view, this.clone().into_any()))
    }

    /// Returns the values of a field, x fastest. The array shares the memory of the grid.
    fn values<'py>(this: Bound<'py, Self>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let none = || raised(this.py(), &Error::usage("the cells are no field"));
        let field = this.get().voxels.field().ok_or_else(none)?;
        let view = ArrayView1::from(field.values());
        Ok(shared(&view, this.clone().into_any()))
    }

    /// Returns x, y and z of each occupied cell. Cells are ordered with x varying fastest. In a field, the
    /// cells whose value differs from the background are returned.
    fn indices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let indices = run_here(py, || {
            let differing;
            let occupied = match self.voxels.field() {
                Some(field) => {
                    differing = field.differing()?;
                    &differing
                }
                None => self.voxels.occupied()?,
            };
            let mut all = Vec::with_capacity(3 * occupied.count() as usize);
            all.extend(occupied.iter().flatten().map(|index| index as i32));
            Ok(all)
        })?;
        Ok(indices.into_pyarray(py))
    }

    /// Returns the indices of the cell that contains each point. They are −1, −1, −1 for a point outside the
    /// grid.
    fn index<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        if points.shape()[1] != 3 {
            return Err(raised(
                py,
                &Error::usage("points: an array of shape (n, 3) is expected"),
            ));
        }
        let numbers = points.as_slice()?;
        let cells = run_here(py, || {
            let cells = self.lattice()?.cells_at(numbers.as_chunks::<3>().0);
            Ok(cells
                .flat_map(|cell| cell.map_or([-1; 3], |cell| cell.map(|i| i as i64)))
                .collect::<Vec<_>>())
        })?;
        Ok(cells.into_pyarray(py))
    }

    /// Saves the grid. Returns the path, the format and the size in bytes of each file.
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        saving: Saving,
        how: How,
    ) -> PyResult<Vec<(PathBuf, &'static str, u64)>> {
        let written = run(py, &how, |watcher| {
            let format = saving.format(Some(&path))?;
            saving.with_options(|options| {
                let options = SaveOptions {
                    progress: watcher,
                    ..*options
                };
                format::save(&self.voxels, &path, format, &options).map_err(|error| {
                    match error.code() {
                        Code::Exists => error.with_hint("overwrite=True replaces it"),
                        _ => error,
                    }
                })
            })
        })?;
        Ok(written
            .into_iter()
            .map(|file| (file.path, file.format, file.bytes))
            .collect())
    }

    /// Returns the content of a file of this grid as bytes.
    fn packed<'py>(&self, py: Python<'py>, saving: Saving) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = run_silently(py, |_| {
            let mut bytes = vec![];
            let format = saving.format(None)?;
            saving.with_options(|options| {
                format::write_to(&self.voxels, &mut bytes, format, options)
            })?;
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Draws the cells from above a corner, or one layer across an axis. Returns a PNG file as bytes.
    fn picture<'py>(
        &self,
        py: Python<'py>,
        size: [usize; 2],
        layer: Option<(usize, usize)>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let picture = run_silently(py, |_| {
            let spacing = self
                .voxels
                .lattice
                .as_ref()
                .map_or([1.0; 3], |l| l.spacing().each_ref().map(|s| s.to_f64()));
            let picture = match layer {
                Some((axis, index)) => {
                    let rule = self.voxels.record.rule_name.as_deref();
                    let shown = Shown::by_rule(self.cells(), rule);
                    view::slice(
                        shown,
                        spacing,
                        Layer { axis, index },
                        size,
                        Background::default(),
                    )?
                }
                None => view::cells(
                    self.cells(),
                    spacing,
                    &View {
                        size,
                        ..View::default()
                    },
                )?,
            };
            picture.to_png()
        })?;
        Ok(PyBytes::new(py, &picture))
    }
}

/// Reads a voxel file.
#[pyfunction]
pub fn open_grid(py: Python<'_>, path: PathBuf, how: How) -> PyResult<Grid> {
    let limit = how.max_memory;
    run(py, &how, |_| format::open_within(&path, limit)).map(Grid::new)
}

/// Reads a grid from the content of a file. `name` is the name of the format.
#[pyfunction]
pub fn unpacked(py: Python<'_>, bytes: &[u8], name: &str) -> PyResult<Grid> {
    let voxels = run_silently(py, |_| {
        let format = format::by_name(name)
            .ok_or_else(|| Error::usage(format!("format: there is no '{name}'")))?;
        format::read_from(Cursor::new(bytes), format, None)
    })?;
    Ok(Grid::new(voxels))
}

/// Returns a dictionary for each voxel format.
#[pyfunction]
pub fn formats(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |format: &Format| {
        let row = PyDict::new(py);
        row.set_item("name", format.name)?;
        row.set_item("extensions", format.extensions)?;
        row.set_item("about", format.about)?;
        row.set_item(
            "kinds",
            format
                .kinds
                .iter()
                .copied()
                .map(CellKind::name)
                .collect::<Vec<_>>(),
        )?;
        row.set_item(
            "dtypes",
            format
                .dtypes
                .iter()
                .copied()
                .map(Dtype::name)
                .collect::<Vec<_>>(),
        )?;
        row.set_item("is_readable", format.is_readable())?;
        Ok(row)
    };
    FORMATS.iter().map(row).collect()
}

/// Returns a read-only array that shares memory of `owner`. The array keeps `owner` alive.
fn shared<'py, T: numpy::Element>(
    view: &ArrayView1<'_, T>,
    owner: Bound<'py, PyAny>,
) -> Bound<'py, PyArray1<T>> {
    // SAFETY: The memory belongs to the cells of a frozen class. The cells never change, and they live as
    // long as `owner`, which is the base of the array. The array is marked as read-only.
    let array = unsafe { PyArray1::borrow_from_array(view, owner) };
    array.readwrite().make_nonwriteable();
    array
}
