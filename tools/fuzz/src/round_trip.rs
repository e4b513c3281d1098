//! Grids of every shape, written and read back in every format.
//!
//! The input, numbers little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 1 | format, among the readable single-file formats |
//! | 1 | kind of cells, among the kinds of the format |
//! | 1 | type of numbers, among the types of the kind |
//! | 3 × 2 | cells per axis |
//! | 1 | bits 0: a lattice, 1: of cubes, 2–4: closed axes, 5: snap |
//! | 6 × (4 + 2) | origin and spacing, numerator and denominator |
//! | 2 | bits of the entries of the record |
//! | 7 × 1 + … | entries of the record, length and bytes |
//! | 1 | height of slabs |
//! | … | cells, 8 per byte; labels, one per byte; fields, one per 4 bytes; repeated from the first byte |

use std::io::Cursor;

use arbitrary::Unstructured;
use voxelize::format::{self, Carries, Dtype, FORMATS, Format, SaveOptions};
use voxelize::grid::record::FIELDS;
use voxelize::grid::{
    CellKind, CellSource, CellType, Cells, Digest, Field, Label, Labels, Legend, Slab,
};
use voxelize::{BitGrid, Lattice, Rational, Record, Result, Snap, Voxels};

use crate::alone;
use crate::read_voxels::sidecar_of;

/// Maximum number of words of cells.
const MOST: usize = 512;

/// Writes a grid as a whole and in slabs, and reads it back.
pub fn check(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let (format, dtype, voxels, height) = case(&mut input).expect("zeros follow the end");
    alone();
    let options = SaveOptions {
        dtype: Some(dtype),
        ..SaveOptions::default()
    };
    if let Some(lattice) = &voxels.lattice
        && let Err(refused) = format::check(voxels.kind(), lattice, format, &options)
    {
        let mut bytes = Vec::new();
        assert_eq!(
            format::write_to(&voxels, &mut bytes, format, &options),
            Err(refused)
        );
        assert!(bytes.is_empty());
        return;
    }
    let mut file = Vec::new();
    let length = format::write_to(&voxels, &mut file, format, &options).expect("a small grid");
    assert_eq!(length, file.len() as u64);
    check_slabs(&voxels, height, format, &options, &file);
    check_back(&voxels, format, dtype, &file);
}

/// Checks that slabs give the same file.
fn check_slabs(
    voxels: &Voxels,
    height: usize,
    format: &Format,
    options: &SaveOptions,
    file: &[u8],
) {
    let height = height.next_multiple_of(format.slab_layers);
    let mut slabs = Slabs {
        voxels,
        height,
        next: 0,
        slab: None,
    };
    let mut again = Vec::new();
    format::write_source_to(&mut slabs, &mut again, format, options).expect("a small grid");
    assert!(again == file, "{} in slabs of {height} layers", format.name);
}

/// Checks that the written data is read back.
fn check_back(voxels: &Voxels, format: &Format, dtype: Dtype, file: &[u8]) {
    if !format.is_readable() {
        return;
    }
    let sidecar = (format.carries != Carries::InFile).then(|| sidecar_of(voxels, dtype));
    let back = format::read_from(Cursor::new(file), format, sidecar.as_deref());
    let back = back.unwrap_or_else(|error| panic!("{} {}: {error}", format.name, dtype.name()));
    assert_eq!(back, *voxels, "{} {}", format.name, dtype.name());
    assert_eq!(back.digest(), voxels.digest());
    let cut = format::read_from(
        Cursor::new(&file[..file.len() - 1]),
        format,
        sidecar.as_deref(),
    );
    assert!(cut.is_err(), "{} without its last byte", format.name);
}

fn case(input: &mut Unstructured) -> arbitrary::Result<(&'static Format, Dtype, Voxels, usize)> {
    let formats: Vec<_> = FORMATS
        .iter()
        .filter(|format| format.is_readable() && !format.is_folder())
        .collect();
    let format = formats[usize::from(input.arbitrary::<u8>()?) % formats.len()];
    let kind = format.kinds[usize::from(input.arbitrary::<u8>()?) % format.kinds.len()];
    // A format may store labels only as bits.
    let kind = if format.dtypes_of(kind).is_empty() {
        CellKind::Bits
    } else {
        kind
    };
    let dtypes = format.dtypes_of(kind);
    let dtype = dtypes[usize::from(input.arbitrary::<u8>()?) % dtypes.len()];
    let dims = dims(input.arbitrary()?);
    let lattice = lattice(input, dims)?;
    let snap = lattice.as_ref().map_or(Snap::Float, Lattice::snap);
    let record = record(input, snap)?;
    let height = usize::from(input.arbitrary::<u8>()?) + 1;
    let pattern = input.bytes(input.len())?;
    let cells = match kind {
        CellKind::Labels => labels(dims, pattern).into(),
        CellKind::Field => field(dims, pattern).into(),
        _ => cells(dims, pattern).into(),
    };
    Ok((
        format,
        dtype,
        Voxels {
            cells,
            lattice,
            record,
        },
        height,
    ))
}

/// Returns dims of at most [`MOST`] words.
fn dims(sizes: [u16; 3]) -> [usize; 3] {
    let [x, y, z] = sizes.map(usize::from);
    let x = x % 600 + 1;
    let y = y % (MOST / x.div_ceil(64)).min(600) + 1;
    let z = z % (MOST / (x.div_ceil(64) * y)).max(1) + 1;
    [x, y, z]
}

fn lattice(input: &mut Unstructured, dims: [usize; 3]) -> arbitrary::Result<Option<Lattice>> {
    let flags: u8 = input.arbitrary()?;
    let flag = |n: u8| flags >> n & 1 == 1;
    let mut fraction = || -> arbitrary::Result<Rational> {
        let p = input.arbitrary::<i32>()?;
        let q = input.arbitrary::<u16>()?;
        Ok(Rational::new(p.into(), i64::from(q) + 1))
    };
    let origin = [fraction()?, fraction()?, fraction()?];
    let sizes = [fraction()?, fraction()?, fraction()?];
    let size = |n: usize| {
        if sizes[n].is_zero() {
            Rational::ONE
        } else {
            sizes[n].abs()
        }
    };
    let spacing = [0, 1, 2].map(|a| size(if flag(1) { 0 } else { a }));
    let snap = if flag(5) { Snap::Float } else { Snap::None };
    let lattice = Lattice::new(dims, origin, spacing, [flag(2), flag(3), flag(4)]);
    Ok(flag(0).then(|| lattice.expect("a lattice").with_snap(snap)))
}

/// Returns a record of arbitrary texts. The snap of the lattice is part of it.
fn record(input: &mut Unstructured, snap: Snap) -> arbitrary::Result<Record> {
    let flags: u16 = input.arbitrary()?;
    let mut words = [const { None }; 4 + FIELDS.len()];
    for (n, word) in words.iter_mut().enumerate() {
        let length = usize::from(input.arbitrary::<u8>()?).min(input.len());
        // Texts in arrays end at a 0.
        let text = String::from_utf8_lossy(input.bytes(length)?).replace('\0', "");
        *word = (flags >> n & 1 == 1).then_some(text);
    }
    let [tool, rule_name, input, fields @ .., mesh_volume] = words;
    let fields = FIELDS
        .into_iter()
        .zip(fields)
        .filter_map(|(name, word)| Some((name, word?)))
        .collect();
    // A grid with y up is rotated in scenes.
    let transform = if flags >> 15 == 1 {
        vec![("up", "y".to_string())]
    } else {
        vec![]
    };
    Ok(Record {
        tool,
        rule_name,
        fields,
        drain: None,
        transform,
        snap: Some(snap.name().into()),
        mesh_volume,
        input,
    })
}

fn cells(dims: [usize; 3], pattern: &[u8]) -> BitGrid {
    let mut bits = BitGrid::new(dims).expect("a small grid");
    let cells = dims.iter().product::<usize>();
    for (n, cell) in (0..cells).map(|n| {
        (
            n,
            [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]],
        )
    }) {
        let byte = if pattern.is_empty() {
            0
        } else {
            pattern[n / 8 % pattern.len()]
        };
        if byte >> (n % 8) & 1 == 1 {
            bits.set(cell);
        }
    }
    bits
}

/// Returns labels without names, or with a legend that the first byte selects. Values without a name are
/// empty.
fn labels(dims: [usize; 3], pattern: &[u8]) -> Labels {
    let count = pattern.first().map_or(0, |byte| byte % 7);
    let named = (1..=count).map(|n| Label::new(n * 36, format!("label {n}")));
    let legend = if count == 0 {
        Legend::default()
    } else {
        Legend::new(named).expect("a legend")
    };
    let mut labels = Labels::new(dims, legend).expect("a small grid");
    for (n, cell) in BitGrid::iter(&full(dims)).enumerate() {
        let value = if pattern.is_empty() {
            0
        } else {
            pattern[n % pattern.len()]
        };
        if labels.legend().allows(value) {
            labels.set(cell, value);
        }
    }
    labels
}

/// Returns a field whose first value is its background.
fn field(dims: [usize; 3], pattern: &[u8]) -> Field {
    let value = |n: usize| {
        let byte = |k: usize| {
            if pattern.is_empty() {
                0
            } else {
                pattern[(4 * n + k) % pattern.len()]
            }
        };
        f32::from_le_bytes([0, 1, 2, 3].map(byte))
    };
    let cells = dims.iter().product();
    Field::from_values(dims, value(0), (0..cells).map(value).collect()).expect("a small grid")
}

fn full(dims: [usize; 3]) -> BitGrid {
    cells(dims, &[0xff])
}

/// Returns some layers of a grid.
fn layers(cells: &Cells, first: usize, end: usize) -> Result<Cells> {
    let [nx, ny, _] = cells.as_ref().dims();
    let dims = [nx, ny, end - first];
    Ok(match cells {
        Cells::Labels(all) => {
            let mut some = Labels::new(dims, all.legend().clone())?;
            let within = |cell: &[usize; 3]| (first..end).contains(&cell[2]);
            all.iter()
                .filter(|(cell, _)| within(cell))
                .for_each(|([i, j, k], value)| some.set([i, j, k - first], value));
            some.into()
        }
        Cells::Field(all) => {
            let values = all.values()[first * nx * ny..end * nx * ny].to_vec();
            Field::from_values(dims, all.background(), values)?.into()
        }
        other => {
            let mut some = BitGrid::new(dims)?;
            let all = other.as_ref().occupied()?;
            let within = |cell: &[usize; 3]| (first..end).contains(&cell[2]);
            all.iter()
                .filter(within)
                .for_each(|[i, j, k]| some.set([i, j, k - first]));
            some.into()
        }
    })
}

/// Source of voxels in slabs of `height` layers.
struct Slabs<'a> {
    voxels: &'a Voxels,
    height: usize,
    next: usize,
    slab: Option<Cells>,
}

impl CellSource for Slabs<'_> {
    fn cell_type(&self) -> CellType<'_> {
        self.voxels.cells.as_ref().cell_type()
    }

    fn dims(&self) -> [usize; 3] {
        self.voxels.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        self.voxels.lattice.as_ref()
    }

    fn record(&self) -> &Record {
        &self.voxels.record
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        let first = self.next;
        let nz = self.dims()[2];
        if first == nz {
            return Ok(None);
        }
        self.next = (first + self.height).min(nz);
        let slab = self
            .slab
            .insert(layers(&self.voxels.cells, first, self.next)?);
        Ok(Some(Slab {
            first,
            cells: slab.as_ref(),
        }))
    }

    fn digest(&self) -> Digest {
        self.voxels.digest()
    }
}
