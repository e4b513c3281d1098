//! Writing `.npz`.

use std::io;

use flate2::Compression;

use super::archive::LARGE;
use super::arrays;
use super::sparse::{Sparse, SparseRows};
use super::{DIGESTS, is_filled};
use crate::arrays::KeptArrays;
use crate::container::ArchiveWriter;
use crate::packed::LEVEL;
use crate::save::Sink;
use crate::{
    BIT_ORDER, Choice, Dtype, SaveOptions, metadata, npy, put_digest, runs, shares, values,
};
use voxelize_core::grid::metadata::{Metadata, hex};
use voxelize_core::grid::{CellSource, Legend};

/// Name of the member that holds the cells.
const CELLS_NAME: &str = "voxels.npy";

pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let mut archive = ArchiveWriter::new(out);
    let mut contents = vec![];
    match Sparse::of(options.choices) {
        Some(form) => {
            let rows = SparseRows::collect(source, form, dtype, options)?;
            for (name, header, mut data, bytes) in rows.members()? {
                archive.deflate(
                    (&format!("{name}.npy"), Compression::fast()),
                    bytes > LARGE,
                    |out| {
                        out.write_all(&header)?;
                        io::copy(&mut data, out).map(drop)
                    },
                )?;
            }
        }
        None => {
            let large = npy::bytes_for(source.dims(), dtype).is_none_or(|bytes| bytes > LARGE);
            if runs::are_written(source.cell_type(), dtype, options) {
                let header = npy::header_of_cells(source.dims(), dtype, options);
                archive.put_deflated(CELLS_NAME, large, |out| {
                    runs::write(source, &header, out, options.progress)
                })?;
            } else {
                let mut kept = KeptArrays::new(source, dtype);
                archive.deflate((CELLS_NAME, Compression::fast()), large, |out| {
                    npy::write(&mut kept, out, dtype, options)
                })?;
                arrays::write(&mut kept, &mut archive, options)?;
                contents = kept.contents();
            }
        }
    }
    let of_bits = if is_packed(dtype, options) {
        bit_members(source.dims())
    } else {
        vec![]
    };
    let mut metadata = metadata(source, dtype);
    if values::keep_digest(source.cell_type(), dtype, options) {
        put_digest(source.digest(), &mut metadata);
    }
    let mut others = small_members(&metadata, options);
    let names = arrays::names_of_labels(&contents);
    if !names.is_empty() {
        others.push((arrays::LABEL_NAMES, text(&[names.len()], &names)));
    }
    for (name, bytes) in of_bits.into_iter().chain(others) {
        archive.deflate(
            (&format!("{name}.npy"), Compression::new(LEVEL)),
            false,
            |out| out.write_all(&bytes),
        )?;
    }
    archive.finish()
}

/// Returns `true` if the cells are stored as an array of packed bits.
fn is_packed(dtype: Dtype, options: &SaveOptions) -> bool {
    dtype == Dtype::Bit && Sparse::of(options.choices).is_none()
}

/// Returns the members that readers need to unpack the bits.
fn bit_members(dims: [usize; 3]) -> Vec<(&'static str, Vec<u8>)> {
    let [name, order] = BIT_ORDER;
    let sizes = dims.map(|n| (n as i64).to_le_bytes()).concat();
    vec![
        (name, text(&[], &[order])),
        ("shape", [npy::header("<i8", &[3]), sizes].concat()),
    ]
}

/// Returns all members except the cells.
fn small_members(metadata: &Metadata, options: &SaveOptions) -> Vec<(&'static str, Vec<u8>)> {
    let order = if options.has(Choice::Zyx) {
        "zyx"
    } else {
        "xyz"
    };
    let mut members = vec![("order", text(&[], &[order]))];
    if let Some(lattice) = &metadata.lattice {
        for (name, exact, values) in [
            ("origin", "origin_exact", lattice.origin()),
            ("spacing", "spacing_exact", lattice.spacing()),
        ] {
            let doubles = values.each_ref().map(|value| value.to_f64().to_le_bytes());
            members.push((name, [npy::header("<f8", &[3]), doubles.concat()].concat()));
            let fractions = values.each_ref().map(|value| value.to_string());
            members.push((exact, text(&[3], &fractions.each_ref().map(String::as_str))));
        }
        let closed = lattice.closed().map(u8::from);
        members.push((
            "closed",
            [npy::header("|b1", &[3]), closed.to_vec()].concat(),
        ));
    }
    let mut entries: Vec<_> = metadata.record.entries().collect();
    // The first version had this order, and equal grids must make equal files.
    entries.sort_by_key(|(name, _)| {
        ["tool", "input"]
            .iter()
            .position(|last| last == name)
            .map_or(0, |n| n + 1)
    });
    for (name, value) in entries {
        members.push((name, text(&[], &[value])));
    }
    if let Some(legend) = &metadata.legend {
        let is_implied = is_filled(metadata) && *legend == Legend::surface_and_interior();
        if !is_implied {
            members.extend(legend_members(legend));
        }
    }
    if let Some(background) = metadata.background {
        members.push((
            "background",
            [npy::header("<f4", &[]), background.to_le_bytes().to_vec()].concat(),
        ));
    }
    if shares::are_stated(metadata) {
        members.push((
            shares::SCALE[0],
            [
                npy::header("<f8", &[]),
                (1.0_f64 / 255.0).to_le_bytes().to_vec(),
            ]
            .concat(),
        ));
    }
    for (name, key) in DIGESTS {
        if let Some(digest) = metadata.extra.get(key) {
            members.push((name, text(&[], &[digest])));
        }
    }
    members
}

fn legend_members(legend: &Legend) -> [(&'static str, Vec<u8>); 4] {
    let labels = legend.labels();
    let shape = [legend.labels().len()];
    let values = labels.iter().map(|label| label.value).collect();
    let names: Vec<&str> = labels.iter().map(|label| &*label.name).collect();
    let colours: Vec<String> = labels
        .iter()
        .map(|label| label.colour.map_or(String::new(), hex))
        .collect();
    let colours: Vec<&str> = colours.iter().map(String::as_str).collect();
    [
        (
            "label_values",
            [npy::header("|u1", &shape), values].concat(),
        ),
        ("label_names", text(&shape, &names)),
        ("label_colours", text(&shape, &colours)),
        ("label_digest", text(&[], &[legend.digest().name()])),
    ]
}

/// Returns an array of texts. A character takes four bytes. All texts have the length of the longest one, and
/// shorter texts are padded with zeros.
pub(super) fn text(shape: &[usize], values: &[&str]) -> Vec<u8> {
    let longest = values
        .iter()
        .map(|value| value.chars().count())
        .max()
        .unwrap_or(0)
        .max(1);
    let mut bytes = npy::header(&format!("<U{longest}"), shape);
    for value in values {
        let characters = value.chars().map(u32::from).chain(std::iter::repeat(0));
        bytes.extend(characters.take(longest).flat_map(u32::to_le_bytes));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Seek, SeekFrom, Write};

    use super::*;
    use crate::{InMemory, Voxels};
    use voxelize_core::grid::BitGrid;

    /// Disk that is full after `space` bytes are written.
    struct Disk {
        file: Cursor<Vec<u8>>,
        space: u64,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.file.position() + bytes.len() as u64 > self.space {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.file.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Disk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.file.seek(to)
        }
    }

    #[test]
    fn a_full_disk_is_an_error_at_every_byte() {
        let bits = BitGrid::from_text("##.\n#..").unwrap();
        let voxels = Voxels::new(bits);
        let on = |space| {
            let mut disk = Disk {
                file: Cursor::default(),
                space,
            };
            write(
                &mut InMemory::new(&voxels),
                &mut disk,
                Dtype::Bool,
                &SaveOptions::default(),
            )
            .map(|()| disk.file.into_inner().len() as u64)
        };
        let whole = on(u64::MAX).unwrap();
        assert!(whole > 200);
        for space in 0..whole {
            assert_eq!(
                on(space).unwrap_err().kind(),
                io::ErrorKind::StorageFull,
                "{space}"
            );
        }
        assert_eq!(on(whole).unwrap(), whole);
    }
}
