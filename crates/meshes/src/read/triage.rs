//! Triage: what becomes of a finding. It ends the reading, or is kept for the report.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::numbers::Dropped;
use voxelize_core::error::{Code, Error, Finding, Result, Severity};
use voxelize_core::geom::Rational;

use super::ReadNear;
use super::decimal::Placement;
use super::kept::KeptStream;
use super::number;

/// How much a reader takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Tolerance {
    /// Damage that could change the result unnoticed is refused; oddities are noted.
    #[default]
    Usual,
    /// Every finding is refused: for files that any program should read alike.
    Strict,
    /// Intact triangles are kept; damaged ones are dropped and counted.
    Lenient,
}

impl Tolerance {
    /// How serious a finding is; an error ends the reading.
    pub fn severity(self, code: Code) -> Severity {
        match self {
            Self::Strict => Severity::Error,
            Self::Usual => code.info().severity,
            Self::Lenient => code.info().lenient,
        }
    }
}

/// The findings of one reading: at most one of each code, so their number is bounded.
#[derive(Default)]
pub(super) struct Triage {
    tolerance: Tolerance,
    findings: RefCell<Vec<Finding>>,
    dropped: RefCell<Dropped>,
    /// Triangles at the end of which a part is missing.
    cut: Cell<u64>,
    /// A finding ended the reading, which leniency would note.
    is_refused: Cell<bool>,
    place: CoordinatePlace,
}

/// The way from the numbers of a file to coordinates of the mesh.
struct CoordinatePlace {
    placement: RefCell<Placement>,
    /// Numbers are rounded as they are.
    is_plain: Cell<bool>,
    /// Some coordinate was a decimal or a double.
    is_used: Cell<bool>,
    /// The bytes of a stream, to be forgotten as soon as the mesh is not far from the origin.
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

    /// Coordinates are relative to this point. The bytes of a stream are forgotten when it is known to be the origin.
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

    /// Coordinates are those of the file, whatever was wanted.
    pub(super) fn place_plainly(&self) {
        self.place.is_plain.set(true);
        self.place.placement.replace(Placement::Plain);
        if let Some(kept) = self.place.kept.take() {
            kept.forget();
        }
    }

    /// Whether the numbers of a file are rounded as they are.
    pub(super) fn is_plain(&self) -> bool {
        self.place.is_plain.get()
    }

    /// The coordinate that a word is along an axis; none if it is no number.
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

    /// The coordinate that a double is along an axis.
    pub(super) fn double(&self, axis: usize, value: f64) -> f32 {
        if self.is_plain() {
            return value as f32;
        }
        self.coordinate(axis, format!("{value:e}").as_bytes())
            .unwrap_or(value as f32)
    }

    /// The point that coordinates are relative to, or, where that was to be found out, should be.
    pub(super) fn near(&self) -> [Rational; 3] {
        let origin = [const { Rational::ZERO }; 3];
        match &*self.place.placement.borrow() {
            Placement::Near { point, .. } if self.place.is_used.get() => point.clone(),
            placement => placement.found().unwrap_or(origin),
        }
    }

    /// Whether damaged triangles are dropped.
    pub(super) fn is_lenient(&self) -> bool {
        self.tolerance == Tolerance::Lenient
    }

    /// Notes a finding, or ends the reading.
    pub(super) fn found(&self, error: Error) -> Result<()> {
        self.found_all(error.code(), 1, || error.clone())
    }

    /// Notes `count` findings at once, of which the first makes the error.
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

    /// An error that ended the reading, and that leniency would have noted.
    pub(super) fn refused(&self, error: Error) -> Error {
        self.is_refused
            .set(error.code().info().lenient != Severity::Error);
        error
    }

    /// An error that ended the reading, with advice that helps: leniency does not help where it decides nothing.
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

    /// Notes a triangle that was there but is not taken, behind so many that are.
    pub(super) fn drop_triangle(&self, kept: usize) {
        self.dropped.borrow_mut().push(kept as u64);
    }

    /// Notes a part of a triangle at the end.
    pub(super) fn drop_part(&self) {
        self.cut.set(self.cut.get() + 1);
    }

    /// The triangles not taken.
    pub(super) fn count_dropped(&self) -> u64 {
        self.dropped.borrow().count() + self.cut.get()
    }

    /// The memory for their numbers, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.dropped.borrow().bytes()
    }

    /// The triangles not taken, to be known by the mesh.
    pub(super) fn take_dropped(&self) -> Dropped {
        self.dropped.take()
    }

    /// The findings, by code. If no triangle was intact, the first damage is an error.
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
