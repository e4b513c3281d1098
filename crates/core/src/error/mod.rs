//! What can go wrong, sorted by who must act, and what is found on the way.

mod code;
mod hint;

use std::fmt;

pub use self::code::{CODES, Code, CodeInfo, Severity};
pub use self::hint::{Hint, Opt, Setting, Step};
#[doc(hidden)]
pub use crate::hint;

pub use voxelize_geom::text::sanitize;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The party that must act on an [`Error`]. Each kind has one exit code of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The question was wrong: options that conflict, a value out of range.
    Usage,
    /// The input cannot be read: missing, cut short, not a mesh.
    Input,
    /// The mesh was read but is unfit for the request.
    Unfit,
    /// The result does not fit: memory, or a limit of the format.
    TooLarge,
    /// The output could not be written.
    Output,
    /// A signal or the caller interrupted the run.
    Interrupted,
    /// A bug of this crate.
    Internal,
}

/// One error: what is wrong, where, and what to do about it.
///
/// `Display` gives one line, `part.stl: triangle 812: vertex is NaN (byte 40696)`; [`Error::hint`]
/// is a second one. Triangles and bytes count from 0, lines from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    code: Code,
    // Boxes of text keep what every result carries small.
    message: Box<str>,
    hint: Option<Box<Hint>>,
    file: Option<Box<str>>,
    triangle: Option<u64>,
    byte: Option<u64>,
    line: Option<u64>,
}

impl Error {
    fn new(kind: Kind, code: Code, message: impl Into<String>) -> Self {
        let hint = None;
        let file = None;
        let triangle = None;
        let byte = None;
        let line = None;
        let message = message.into().into_boxed_str();
        Self {
            kind,
            code,
            message,
            hint,
            file,
            triangle,
            byte,
            line,
        }
    }

    /// A wrong question.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, Code::Usage, message)
    }

    /// An input that cannot be read; `code` is stable and names the finding.
    pub fn input(code: Code, message: impl Into<String>) -> Self {
        Self::new(Kind::Input, code, message)
    }

    /// A mesh unfit for the request.
    pub fn unfit(message: impl Into<String>) -> Self {
        Self::new(Kind::Unfit, Code::Unfit, message)
    }

    /// A mesh without triangles, where some are needed.
    pub fn no_triangles() -> Self {
        Self::unfit("the mesh has no triangles")
    }

    /// A result that does not fit.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(Kind::TooLarge, Code::TooLarge, message)
    }

    /// An output that could not be written.
    pub fn output(message: impl Into<String>) -> Self {
        Self::new(Kind::Output, Code::Output, message)
    }

    /// A file that exists and stays. Its code, `exists`, lets a caller skip the output.
    pub fn exists(message: impl Into<String>) -> Self {
        Self::new(Kind::Output, Code::Exists, message)
    }

    /// The reader of a pipe went away. Its code, `closed-pipe`, lets a caller end quietly.
    pub fn closed_pipe() -> Self {
        Self::new(
            Kind::Output,
            Code::ClosedPipe,
            "the pipe was closed by its reader",
        )
    }

    /// The run was interrupted.
    pub fn interrupted() -> Self {
        Self::new(
            Kind::Interrupted,
            Code::Interrupted,
            "interrupted; nothing was written",
        )
    }

    /// The run was interrupted after so many of its files were written.
    pub fn interrupted_after(written: usize, all: usize, what: &str) -> Self {
        let message = format!("interrupted; {written} of {all} {what} were written");
        Self::new(Kind::Interrupted, Code::Interrupted, message)
    }

    /// A bug of this crate: what failed, and where.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, Code::Internal, message)
    }

    /// Adds advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(Box::new(hint.into()));
        self
    }

    /// This error with a subject before its message: `lid: …`.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Self {
        self.message = format!("{}: {}", sanitize(subject), self.message).into();
        self
    }

    /// The file it is about. The innermost name stays.
    #[must_use]
    pub fn in_file(mut self, file: impl AsRef<std::path::Path>) -> Self {
        self.file
            .get_or_insert_with(|| file.as_ref().display().to_string().into());
        self
    }

    /// The triangle it is about, counted from 0.
    #[must_use]
    pub fn at_triangle(mut self, triangle: u64) -> Self {
        self.triangle = Some(triangle);
        self
    }

    /// The byte offset in the file where it was found.
    #[must_use]
    pub fn at_byte(mut self, byte: u64) -> Self {
        self.byte = Some(byte);
        self
    }

    /// The line of the file where it was found, counted from 1.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The party that must act.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The stable name of the finding, for scripts.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The message, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The advice, if there is any.
    pub fn hint(&self) -> Option<&Hint> {
        self.hint.as_deref()
    }

    /// The file it is about.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The triangle it is about, counted from 0.
    pub fn triangle(&self) -> Option<u64> {
        self.triangle
    }

    /// The byte offset where it was found.
    pub fn byte(&self) -> Option<u64> {
        self.byte
    }

    /// The line where it was found, counted from 1.
    pub fn line(&self) -> Option<u64> {
        self.line
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        if let Some(triangle) = self.triangle {
            write!(f, "triangle {triangle}: ")?;
        }
        f.write_str(&self.message)?;
        match (self.byte, self.line) {
            (Some(byte), _) => write!(f, " (byte {byte})"),
            (None, Some(line)) => write!(f, " (line {line})"),
            (None, None) => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// A warning or a note: it did not end the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How serious it is: never [`Severity::Error`].
    pub severity: Severity,
    /// The first of its kind: code, place, and the message it would have as an error.
    pub first: Error,
    /// How many there are.
    pub count: u64,
}

impl Finding {
    /// This finding with advice of its own.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<Hint>) -> Self {
        Self {
            first: self.first.with_hint(hint),
            ..self
        }
    }

    /// One finding, as serious as its code is by default.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            severity: code.info().severity,
            first: Error::input(code, message),
            count: 1,
        }
    }

    /// This finding with a subject before its message: `lid: …`.
    #[must_use]
    pub fn about(self, subject: &str) -> Self {
        Self {
            first: self.first.about(subject),
            ..self
        }
    }

    /// Its code.
    pub fn code(&self) -> Code {
        self.first.code()
    }

    /// The first of its kind with its place, and how many there are.
    pub fn text(&self) -> String {
        match self.count {
            0 | 1 => self.first.to_string(),
            count => format!("{}, the first of {count}", self.first),
        }
    }
}

impl fmt::Display for Finding {
    /// `warning[W006]: the mesh is not closed`, with its place and how many there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}[{}]: {}",
            self.severity.name(),
            self.code(),
            self.text()
        )
    }
}
