//! Errors, classified by the party that must act, and findings that do not end a run.

mod code;
mod hint;

use std::fmt;

pub use self::code::{CODES, Code, CodeInfo, Severity};
pub use self::hint::Hint;

pub use voxelize_geom::text::sanitize;

/// Result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Party that must act on an [`Error`]. Each kind has one exit code of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The request is wrong: conflicting options or a value out of range.
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

/// Error with its message, place and advice.
///
/// `Display` prints one line, `part.stl: triangle 812: vertex is NaN (byte 40696)`. [`Error::hint`] returns
/// the advice as a second line. Triangles and bytes are counted from 0, lines from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    code: Code,
    // Boxed text keeps every `Result` small.
    message: Box<str>,
    hint: Option<Box<Hint>>,
    file: Option<Box<str>>,
    triangle: Option<u64>,
    byte: Option<u64>,
    line: Option<u64>,
}

impl Error {
    fn new(kind: Kind, code: Code, message: impl Into<String>) -> Self {
        Self {
            kind,
            code,
            message: message.into().into_boxed_str(),
            hint: None,
            file: None,
            triangle: None,
            byte: None,
            line: None,
        }
    }

    /// Creates an error of a wrong request.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, Code::Usage, message)
    }

    /// Creates an error of an unreadable input. `code` is stable and names the finding.
    pub fn input(code: Code, message: impl Into<String>) -> Self {
        Self::new(Kind::Input, code, message)
    }

    /// Creates an error of a mesh that is unfit for the request.
    pub fn unfit(message: impl Into<String>) -> Self {
        Self::new(Kind::Unfit, Code::Unfit, message)
    }

    /// Creates an error of a mesh without triangles.
    pub fn no_triangles() -> Self {
        Self::unfit("the mesh has no triangles")
    }

    /// Creates an error of a result that does not fit.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(Kind::TooLarge, Code::TooLarge, message)
    }

    /// Creates an error of an output that could not be written.
    pub fn output(message: impl Into<String>) -> Self {
        Self::new(Kind::Output, Code::Output, message)
    }

    /// Creates an error of an existing file that is kept. Its code, `exists`, lets a caller skip the output.
    pub fn exists(message: impl Into<String>) -> Self {
        Self::new(Kind::Output, Code::Exists, message)
    }

    /// Creates an error of a pipe closed by its reader. Its code, `closed-pipe`, lets a caller end quietly.
    pub fn closed_pipe() -> Self {
        Self::new(
            Kind::Output,
            Code::ClosedPipe,
            "the pipe was closed by its reader",
        )
    }

    /// Creates an error of an interrupted run.
    pub fn interrupted() -> Self {
        Self::new(
            Kind::Interrupted,
            Code::Interrupted,
            "interrupted; nothing was written",
        )
    }

    /// Creates an error of a run that was interrupted after `written` of its files.
    pub fn interrupted_after(written: usize, all: usize, what: &str) -> Self {
        let message = format!("interrupted; {written} of {all} {what} were written");
        Self::new(Kind::Interrupted, Code::Interrupted, message)
    }

    /// Creates an error of a bug in this crate. The message names the failure and its place.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, Code::Internal, message)
    }

    /// Adds advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(Box::new(hint.into()));
        self
    }

    /// Prefixes the message with a subject: `lid: …`.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Self {
        self.message = format!("{}: {}", sanitize(subject), self.message).into();
        self
    }

    /// Replaces the message.
    #[must_use]
    pub fn with_message(mut self, message: String) -> Self {
        self.message = message.into();
        self
    }

    /// Adds the file. An existing name is kept.
    #[must_use]
    pub fn in_file(mut self, file: impl AsRef<std::path::Path>) -> Self {
        self.file
            .get_or_insert_with(|| file.as_ref().display().to_string().into());
        self
    }

    /// Adds the triangle, counted from 0.
    #[must_use]
    pub fn at_triangle(mut self, triangle: u64) -> Self {
        self.triangle = Some(triangle);
        self
    }

    /// Adds the byte offset in the file.
    #[must_use]
    pub fn at_byte(mut self, byte: u64) -> Self {
        self.byte = Some(byte);
        self
    }

    /// Adds the line of the file, counted from 1.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Returns the party that must act.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the stable code of the finding, for scripts.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns the message without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the error's own advice. `None` if only its code has advice.
    pub fn hint(&self) -> Option<&Hint> {
        self.hint.as_deref()
    }

    /// Returns the advice of this error itself, or else the advice of its code.
    pub fn advice(&self) -> Hint {
        match &self.hint {
            Some(hint) => (**hint).clone(),
            None => self.code.info().advice.into(),
        }
    }

    /// Returns the file.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Returns the triangle, counted from 0.
    pub fn triangle(&self) -> Option<u64> {
        self.triangle
    }

    /// Returns the byte offset.
    pub fn byte(&self) -> Option<u64> {
        self.byte
    }

    /// Returns the line, counted from 1.
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

/// Warning or note that did not end the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Severity, never [`Severity::Error`].
    pub severity: Severity,
    /// First finding of its kind: code, place, and its message as an error.
    pub first: Error,
    /// Number of findings of the kind.
    pub count: u64,
}

impl Finding {
    /// Adds specific advice.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<Hint>) -> Self {
        Self {
            first: self.first.with_hint(hint),
            ..self
        }
    }

    /// Creates a single finding with the default severity of its code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            severity: code.info().severity,
            first: Error::input(code, message),
            count: 1,
        }
    }

    /// Prefixes the message with a subject: `lid: …`.
    #[must_use]
    pub fn about(self, subject: &str) -> Self {
        Self {
            first: self.first.about(subject),
            ..self
        }
    }

    /// Returns the code.
    pub fn code(&self) -> Code {
        self.first.code()
    }

    /// Returns the first finding with its place, and the number of findings.
    pub fn text(&self) -> String {
        match self.count {
            0 | 1 => self.first.to_string(),
            count => format!("{}, the first of {count}", self.first),
        }
    }
}

impl fmt::Display for Finding {
    /// Writes `warning[W006]: the mesh is not closed`, with the place and the number of findings.
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
