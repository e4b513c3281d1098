//! Triage of findings: a finding either ends the reading or is kept for the report.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::numbers::Dropped;
use voxelize_core::error::{Code, Error, Finding, Result, Severity};
use voxelize_core::geom::Rational;

use super::ReadNear;
use super::decimal::Placement;
use super::kept::KeptStream;
use super::number;

/// Tolerance of a reader for damaged and unusual files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Tolerance {
    /// Damage that could change the result without being noticed is refused. Harmless peculiarities are
    /// reported.
    #[default]
    Usual,
    /// Every finding is refused. This is for files that all programs should read in the same way.
    Strict,
    /// Intact triangles are kept. Damaged triangles are dropped and counted.
    Lenient,
}

impl Tolerance {
    /// Returns the severity of findings with this code. An error ends the reading.
    pub fn severity(self, code: Code) -> Severity {
        match self {
            Self::Strict => Severity::Error,
            Self::Usual => code.info().severity,
            Self::Lenient => code.info().lenient,
        }
    }
}

/// Findings while one file is read. Findings with the same code are counted as one, so their number is
/// bounded.
#[derive(Default)]
pub(super) struct Triage {
    tolerance: Tolerance,
    findings: RefCell<Vec<Finding>>,
    dropped: RefCell<Dropped>,
    /// Number of incomplete triangles at the end of the file.
    cut: Cell<u64>,
    /// The reading ended because of a finding that a lenient reader would only report.
    is_refused: Cell<bool>,
    place: CoordinatePlace,
}

/// Conversion of the numbers of a file to coordinates of the mesh.
struct CoordinatePlace {
    placement: RefCell<Placement>,
    /// Numbers are rounded to floats without subtracting a point.
    is_plain: Cell<bool>,
    /// At least one coordinate was a decimal or a double.
    is_used: Cell<bool>,
    /// Bytes of a stream that may have to be read again. They are dropped once it is known that the mesh is
    /// not far from the origin.
    kept: RefCell<Option<Rc<KeptStream>>>,
}

impl Default for CoordinatePlace {
    fn default() -> Self {
        Self {
            placement: RefCell::default(),
            is_plain: Cell::new(true),
            is_used: Cell::new(false),
            kept: RefCell::default(),
        }
    }
}

impl Triage {
    pub(super) fn new(tolerance: Tolerance) -> Self {
        Self {
            tolerance,
            ..Self::default()
        }
    }

    /// Sets the point that is subtracted from the coordinates of the file before they are rounded. `kept` has
    /// the bytes of a stream that may have to be read again. They are dropped once the point is known to be
    /// the origin.
    pub(super) fn place(&self, near: ReadNear, kept: Option<Rc<KeptStream>>) {
        let placement = match near {
            ReadNear::Origin => None,
            ReadNear::Mesh => Some(Placement::watching()),
            ReadNear::Point(point) => Some(Placement::near(point)),
        };
        self.place.is_plain.set(placement.is_none());
        self.place.placement.replace(placement.unwrap_or_default());
        self.place.kept.replace(kept);
    }

    /// Keeps the coordinates of the file unchanged, even if a point was requested.
    pub(super) fn place_plainly(&self) {
        self.place.is_plain.set(true);
        self.place.placement.replace(Placement::Plain);
        if let Some(kept) = self.place.kept.take() {
            kept.forget();
        }
    }

    /// Returns whether numbers are rounded to floats without subtracting a point.
    pub(super) fn is_plain(&self) -> bool {
        self.place.is_plain.get()
    }

    /// Converts a word of the file to a coordinate along an axis. `None` if the word is not a number.
    #[inline]
    pub(super) fn coordinate(&self, axis: usize, word: &[u8]) -> Option<f32> {
        if self.is_plain() {
            number::of(word)
        } else {
            self.far_coordinate(axis, word)
        }
    }

    #[cold]
    fn far_coordinate(&self, axis: usize, word: &[u8]) -> Option<f32> {
        self.place.is_used.set(true);
        let mut placement = self.place.placement.borrow_mut();
        let value = placement.coordinate(axis, word);
        let is_plain = placement.is_plain();
        drop(placement);
        if is_plain {
            self.place_plainly();
        }
        value
    }

    /// Converts a double of the file to a coordinate along an axis.
    pub(super) fn double(&self, axis: usize, value: f64) -> f32 {
        if self.is_plain() {
            return value as f32;
        }
        self.coordinate(axis, format!("{value:e}").as_bytes())
            .unwrap_or(value as f32)
    }

    /// Returns the point that is subtracted from coordinates. If it had to be detected, returns the detected
    /// point.
    pub(super) fn near(&self) -> [Rational; 3] {
        let origin = [const { Rational::ZERO }; 3];
        match &*self.place.placement.borrow() {
            Placement::Near { point, .. } if self.place.is_used.get() => point.clone(),
            placement => placement.found().unwrap_or(origin),
        }
    }

    /// Returns whether damaged triangles are dropped.
    pub(super) fn is_lenient(&self) -> bool {
        self.tolerance == Tolerance::Lenient
    }

    /// Reports a finding. If it is an error, returns it, which ends the reading.
    pub(super) fn found(&self, error: Error) -> Result<()> {
        self.found_all(error.code(), 1, || error.clone())
    }

    /// Reports `count` findings of one code. `first` creates the error for the first of them.
    pub(super) fn found_all(
        &self,
        code: Code,
        count: u64,
        first: impl Fn() -> Error,
    ) -> Result<()> {
        let severity = self.tolerance.severity(code);
        if severity == Severity::Error {
            return Err(self.refused(first()));
        }
        let mut findings = self.findings.borrow_mut();
        match findings.iter_mut().find(|finding| finding.code() == code) {
            Some(known) => known.count += count,
            None => findings.push(Finding {
                severity,
                first: first(),
                count,
            }),
        }
        Ok(())
    }

    /// Records that this error ends the reading, and whether a lenient reader would only report it. Returns
    /// the error.
    pub(super) fn refused(&self, error: Error) -> Error {
        self.is_refused
            .set(error.code().info().lenient != Severity::Error);
        error
    }

    /// Removes the advice to use the lenient mode from an error if that mode would not have helped.
    pub(super) fn advised(&self, error: Error) -> Error {
        let advice = error.code().info().advice;
        let rest: Vec<_> = advice
            .iter()
            .filter(|step| !step.contains("`--lenient`"))
            .copied()
            .collect();
        if self.is_refused.get() || error.hint().is_some() || rest.len() == advice.len() {
            return error;
        }
        error.with_hint(rest.as_slice())
    }

    /// Records a dropped triangle. `kept` is the number of triangles kept before it.
    pub(super) fn drop_triangle(&self, kept: usize) {
        self.dropped.borrow_mut().push(kept as u64);
    }

    /// Records an incomplete triangle at the end of the file.
    pub(super) fn drop_part(&self) {
        self.cut.set(self.cut.get() + 1);
    }

    /// Returns the number of dropped triangles, including incomplete ones.
    pub(super) fn count_dropped(&self) -> u64 {
        self.dropped.borrow().count() + self.cut.get()
    }

    /// Returns the memory for the numbers of dropped triangles in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.dropped.borrow().bytes()
    }

    /// Returns the numbers of the dropped triangles, which become part of the mesh.
    pub(super) fn take_dropped(&self) -> Dropped {
        self.dropped.take()
    }

    /// Returns the findings in the order of their codes. If there is damage and no triangle was intact, the
    /// first damage is returned as an error.
    pub(super) fn finish(&self, triangles: usize) -> Result<Vec<Finding>> {
        let mut findings = self.findings.take();
        let is_damage = |finding: &&Finding| finding.code().info().severity == Severity::Error;
        if triangles == 0
            && let Some(damage) = findings.iter().find(is_damage)
        {
            return Err(damage
                .first
                .clone()
                .with_hint("it has no intact triangle: export it again"));
        }
        findings.sort_by_key(|finding| finding.code());
        Ok(findings)
    }
}
