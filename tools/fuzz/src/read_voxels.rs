//! Readers of voxels: every format with any content, from memory and as a file.
//!
//! The input is the file. If it starts with `{`, the part before the first 0 byte is the sidecar. If it
//! starts with the byte 255, the rest contains the files of a folder in the layout of `folder.rs`.

use std::io::Cursor;

use voxelize::format::{self, Carries, Dtype, FORMATS, Format, SaveOptions};
use voxelize::grid::metadata::{Metadata, Style};
use voxelize::{BitGrid, Kind, Record, Rule, Voxels, tool};

use crate::{alone, check_error, folder, scratch, within};

/// Larger grids, in words, are not written again.
const SMALL: usize = 1 << 14;

/// Reads `bytes` as every format.
pub fn check(bytes: &[u8]) {
    alone();
    if let [0xff, files @ ..] = bytes {
        return folder::check(files);
    }
    let (sidecar, file) = split(bytes);
    let readable = FORMATS.iter().filter(|format| format.is_readable());
    let read = readable.filter_map(|format| read(file, format, sidecar.as_deref()));
    let found: Vec<(&Format, Voxels)> = read.collect();
    if sidecar.is_none() {
        check_file(file, &found);
    }
    for (format, voxels) in &found {
        check_voxels(voxels, file.len());
        if !is_large(voxels) {
            check_again(voxels, format);
        }
    }
}

/// Splits the input into the optional sidecar and the file.
fn split(bytes: &[u8]) -> (Option<String>, &[u8]) {
    if !bytes.starts_with(b"{") {
        return (None, bytes);
    }
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    let sidecar = &bytes[..end];
    let file = bytes.get(end + 1..).unwrap_or_default();
    (Some(String::from_utf8_lossy(sidecar).into_owned()), file)
}

fn read<'a>(
    file: &[u8],
    format: &'a Format,
    sidecar: Option<&str>,
) -> Option<(&'a Format, Voxels)> {
    // A few small members of an archive are unpacked at a time.
    let enough = (16 << 20) + 16 * file.len();
    match within(enough, || {
        format::read_from(Cursor::new(file), format, sidecar)
    }) {
        Ok(voxels) => Some((format, voxels)),
        Err(error) => {
            check_error(&error, 'V', file.len());
            None
        }
    }
}

/// Checks that opening a file by its content, and describing it, agree with the reader of that format.
fn check_file(file: &[u8], found: &[(&Format, Voxels)]) {
    scratch::with_file(file, |path| {
        let Some(format) = format::sniff(&path) else {
            let error = format::open(&path).expect_err("of no known format");
            return assert_eq!(error.code().name(), "V001");
        };
        let read = found
            .iter()
            .find(|(found, _)| found.name == format.name)
            .map(|(_, voxels)| voxels);
        let said = format::describe(&path);
        match (format::open(&path), read) {
            (Ok(opened), Some(read)) => {
                assert!(same(&opened, read));
                check_cells(&opened);
                let said = said.expect("what can be read can be described").metadata;
                assert!(said.dims.is_none_or(|dims| dims == read.dims()));
                assert_eq!(
                    (said.lattice, &said.record),
                    (read.lattice.clone(), &read.record)
                );
                let ours = read
                    .record
                    .tool
                    .as_ref()
                    .is_some_and(|tool| tool.starts_with("voxelize "));
                assert_eq!(tool::made_by_this_tool(&path), ours);
                check_rule(&read.record);
            }
            (Err(error), None) => check_error(&error, 'V', file.len()),
            (opened, read) => panic!("{}: {opened:?} from a file, else {read:?}", format.name),
        }
    });
}

/// Checks that the rule of a record is the rule of its fields.
fn check_rule(record: &Record) {
    if let Some(rule) = Rule::from_record(record) {
        assert_eq!(Rule::from_fields(rule.name(), rule.fields()), Ok(rule));
    }
}

/// Checks that counts of labels add up, and that values of a field match its summary.
fn check_cells(voxels: &Voxels) {
    if is_large(voxels) {
        return;
    }
    if let Some(labels) = voxels.labels() {
        assert_eq!(
            labels.counts().iter().map(|(_, count)| count).sum::<u64>(),
            voxels.count()
        );
        assert!(
            labels
                .iter()
                .all(|(_, value)| labels.legend().allows(value))
        );
    }
    if let Some(field) = voxels.field() {
        let differ = field
            .values()
            .iter()
            .filter(|value| !field.is_background(**value))
            .count();
        assert_eq!(field.summary().cells, differ as u64);
    }
}

/// Reports whether the grid is too large for a test of every cell.
fn is_large(voxels: &Voxels) -> bool {
    BitGrid::bytes_for(voxels.dims()) > 8 * SMALL as u128
}

/// Reports whether both are equal. For wide scenes, which may span gigabytes of zeros, the cells are not
/// compared.
fn same(a: &Voxels, b: &Voxels) -> bool {
    if is_large(a) {
        a.dims() == b.dims() && a.lattice == b.lattice && a.record == b.record
    } else {
        a == b
    }
}

/// Checks that the file can contain the cells, that lattices fit their grids, and that numbers can be
/// computed.
fn check_voxels(voxels: &Voxels, length: usize) {
    let dims = voxels.dims();
    // A wide scene of few voxels may be as large as the first bound, in pages that are never touched.
    let most = (8 << 30) + 8 * 1032 * length as u128;
    assert!(
        BitGrid::bytes_for(dims) <= most,
        "{dims:?} from {length} bytes"
    );
    if !is_large(voxels) {
        if let Ok(bits) = voxels.occupied() {
            assert_eq!(
                voxels.count(),
                bits.iter().inspect(|cell| assert!(bits.get(*cell))).count() as u64
            );
        }
        assert_eq!(voxels.digest(), voxels.digest());
    }
    let Some(lattice) = &voxels.lattice else {
        return;
    };
    assert_eq!(lattice.dims(), dims);
    assert!(lattice.cells() > 0 && lattice.cell_volume().is_positive());
    for (axis, end) in lattice.end().iter().enumerate() {
        assert!(*end > lattice.origin()[axis] && !end.to_f64().is_nan());
        assert_eq!(lattice.axis(axis).index_of(end), (dims[axis] as i64).into());
        assert!(!lattice.axis(axis).index(1.5).to_f64().is_nan());
    }
}

/// Checks that the result can be written and reads back equal.
fn check_again(voxels: &Voxels, format: &Format) {
    for &dtype in format.dtypes_of(voxels.kind()) {
        let mut bytes = Vec::new();
        let options = SaveOptions {
            dtype: Some(dtype),
            ..SaveOptions::default()
        };
        match format::write_to(voxels, &mut bytes, format, &options) {
            Ok(length) => assert_eq!(length, bytes.len() as u64),
            Err(error) => {
                // A limit of the format.
                assert_eq!(error.kind(), Kind::Usage, "{error}");
                continue;
            }
        }
        let sidecar = (format.carries != Carries::InFile).then(|| sidecar_of(voxels, dtype));
        let again = format::read_from(Cursor::new(&bytes), format, sidecar.as_deref());
        let again = again.unwrap_or_else(|error| panic!("{}: {error}", format.name));
        assert_eq!(again, *voxels, "{}", format.name);
    }
}

/// Returns a description of `voxels` in the form of a sidecar.
pub(crate) fn sidecar_of(voxels: &Voxels, dtype: Dtype) -> String {
    let mut metadata = Metadata {
        dims: Some(voxels.dims()),
        lattice: voxels.lattice.clone(),
        record: voxels.record.clone(),
        legend: voxels.labels().map(|labels| labels.legend().clone()),
        background: voxels.field().map(|field| field.background()),
        ..Metadata::default()
    };
    metadata.extra.insert("dtype".into(), dtype.name().into());
    metadata
        .extra
        .insert("cells".into(), voxels.digest().cells.to_string());
    metadata.to_json(Style::Pretty)
}
