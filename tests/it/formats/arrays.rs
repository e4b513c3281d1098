//! Arrays of packed bits and of chosen numbers: bytes by hand, read back by what describes them, refused where cells could
//! not be told apart.

use voxelize::format::Choice;
use voxelize::grid::{CellSource, CellType, Cells, Digest, Slab};

use super::*;

fn npy() -> &'static Format {
    format::by_name("npy").unwrap()
}

/// Bits a few layers at a time.
struct Layers<'a> {
    voxels: &'a Voxels,
    height: usize,
    next: usize,
    slab: Cells,
}

impl<'a> Layers<'a> {
    fn new(voxels: &'a Voxels, height: usize) -> Self {
        Self { voxels, height, next: 0, slab: BitGrid::new([1; 3]).unwrap().into() }
    }
}

impl CellSource for Layers<'_> {
    fn dims(&self) -> [usize; 3] {
        self.voxels.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        self.voxels.lattice.as_ref()
    }

    fn record(&self) -> &Record {
        &self.voxels.record
    }

    fn cell_type(&self) -> CellType<'_> {
        CellType::Bits
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        let [nx, ny, nz] = self.dims();
        let (first, end) = (self.next, nz.min(self.next + self.height));
        if first == end {
            return Ok(None);
        }
        let mut slab = BitGrid::new([nx, ny, end - first])?;
        let all = self.voxels.occupied()?;
        for [i, j, k] in all.iter().filter(|[_, _, k]| (first..end).contains(k)) {
            slab.set([i, j, k - first]);
        }
        self.slab = slab.into();
        self.next = end;
        Ok(Some(Slab { first, cells: self.slab.as_ref() }))
    }

    fn digest(&self) -> Digest {
        self.voxels.digest()
    }
}

/// What follows the header of an array.
fn data(bytes: &[u8]) -> &[u8] {
    &bytes[10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))..]
}

fn header(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[10..bytes.len() - data(bytes).len()]).trim().to_string()
}

#[test]
fn packed_bits_are_bytes_of_eight_cells_along_x() {
    let mut bits = BitGrid::new([11, 2, 2]).unwrap();
    for cell in [[0, 0, 0], [3, 0, 0], [8, 0, 0], [10, 1, 0], [7, 0, 1]] {
        bits.set(cell);
    }
    let voxels = at_odd_place(bits);
    let (bytes, sidecar) = saved(&voxels, npy(), Dtype::Bit);
    assert_eq!(header(&bytes), "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 2), }");
    // Rows (0, 0), (1, 0), (0, 1) and (1, 1).
    assert_eq!(data(&bytes), [0b1001, 1, 0, 0b100, 0b1000_0000, 0, 0, 0]);
    let text = sidecar.clone().unwrap();
    for entry in ["\"dtype\": \"bit\"", "\"bit_order\": \"little\""] {
        assert!(text.contains(entry), "{text}");
    }
    assert_eq!(read(&bytes, npy(), sidecar.as_deref()).unwrap(), voxels);
    // Alone it is an array of numbers.
    let plain = read(&bytes, npy(), None).unwrap();
    assert_eq!((plain.dims(), plain.labels().unwrap().get([0, 0, 0])), ([2, 2, 2], 0b1001));
    // The sidecar of other bits is none of these.
    let (_, other) = saved(&at_odd_place(full([11, 2, 2])), npy(), Dtype::Bit);
    assert_eq!(read(&bytes, npy(), other.as_deref()).unwrap(), plain);
}

#[test]
fn packed_bits_come_back_from_slabs_and_either_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for dims in [[1, 1, 1], [8, 3, 2], [63, 4, 5], [65, 40, 90], [1000, 30, 20]] {
        let voxels = at_odd_place(scattered(dims));
        for format in FORMATS.iter().filter(|format| ["npy", "npz"].contains(&format.name)) {
            for choices in [&[][..], &[Choice::Zyx]] {
                let options = SaveOptions { choices, ..as_dtype(Dtype::Bit) };
                let path = folder.path().join(format!("{seen}.{}", format.name));
                format::save(&voxels, &path, format, &options).unwrap();
                assert_eq!(Voxels::open(&path).unwrap(), voxels, "{} {dims:?}", format.name);
                let described = format::describe(&path).unwrap();
                assert_eq!((described.dtype, described.metadata.dims), (Some(Dtype::Bit), Some(dims)));
                let whole = std::fs::read(&path).unwrap();
                for height in [1, 7] {
                    let mut slabs = vec![];
                    let mut source = Layers::new(&voxels, height);
                    format::write_source_to(&mut source, &mut slabs, format, &options).unwrap();
                    assert!(slabs == whole, "{} {dims:?} {height}", format.name);
                }
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn packed_bits_that_do_not_fit_their_dims_are_errors() {
    let voxels = at_odd_place(scattered([11, 5, 4]));
    let (bytes, sidecar) = saved(&voxels, npy(), Dtype::Bit);
    // A bit beyond the row: no longer these cells, so numbers.
    let mut beyond = bytes.clone();
    let at = beyond.len() - 1;
    beyond[at] |= 0x80;
    assert_eq!(read(&beyond, npy(), sidecar.as_deref()).unwrap().dims(), [2, 5, 4]);
    for (from, to) in [("\"little\"", "\"big\""), ("11,", "21,"), ("\"bit\"", "\"u8\"")] {
        let sidecar = sidecar.as_deref().unwrap().replace(from, to);
        assert_eq!(read(&bytes, npy(), Some(&sidecar)).unwrap().dims(), [2, 5, 4], "{from}");
    }
}

#[cfg(feature = "npz")]
#[test]
fn archives_of_packed_bits_are_small_and_say_their_dims() {
    use super::sparse::archive;
    let npz = format::by_name("npz").unwrap();
    let voxels = at_odd_place(scattered([300, 200, 20]));
    let (packed, _) = saved(&voxels, npz, Dtype::Bit);
    let (plain, _) = saved(&voxels, npz, Dtype::Bool);
    assert!(2 * packed.len() < plain.len(), "{} {}", packed.len(), plain.len());
    let text = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<_>>();
    let sizes = |dims: [i64; 3]| dims.map(i64::to_le_bytes).concat();
    for (order, dims, code) in [
        ("little", [9, 1, 1], Ok(9)),
        ("little", [16, 1, 1], Ok(16)),
        ("bigger", [16, 1, 1], Err("V004")),
        ("little", [17, 1, 1], Err("V005")),
        ("little", [8, 2, 1], Err("V005")),
        ("little", [-8, 1, 1], Err("V004")),
        // A bit beyond the row.
        ("little", [3, 1, 1], Err("V005")),
    ] {
        let bytes = archive(&[
            ("voxels", "|u1", "(2, 1, 1)", vec![0b101, 1]),
            ("bit_order", "<U6", "()", text(order)),
            ("shape", "<i8", "(3,)", sizes(dims)),
        ]);
        let back = read(&bytes, npz, None);
        let found = back.as_ref().map(|voxels| voxels.dims()[0]).map_err(|error| error.code().name());
        assert_eq!(found, code, "{order} {dims:?}");
        assert!(back.is_err() || back.unwrap().count() == 3);
    }
}
