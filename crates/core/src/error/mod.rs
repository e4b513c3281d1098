//! Errors, classified by who or what must change, and findings, which do not end a run.

mod code;
mod hint;

use std::fmt;

pub use self::code::{CODES, Code, CodeInfo, Severity};
pub use self::hint::Hint;

pub use voxelize_geom::text::sanitize;

/// Result type of the fallible functions of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Kind of an [`Error`], by its cause. The command line has one exit code for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The request is wrong, for example because options conflict or a value is out of range.
    Usage,
    /// The input cannot be read, for example because it is missing, truncated or not a mesh.
    Input,
    /// The mesh was read but does not suit the request.
    Unfit,
    /// The result does not fit in memory, or exceeds a limit of the format.
    TooLarge,
    /// The output could not be written.
    Output,
    /// A signal or the caller interrupted the run.
    Interrupted,
    /// The program has a bug.
    Internal,
}

/// Error with a message, a position in a file, and advice.
///
/// `Display` prints one line, such as `part.stl: triangle 812: a vertex is NaN (byte 40696)`. It does not print
/// the advice, which [`Error::advice`] returns. Triangles and bytes are numbered from 0, lines from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    code: Code,
    // The text is boxed so that every `Result` stays small.
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

    /// Creates an error for a wrong request.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, Code::Usage, message)
    }

    /// Creates an error for an input that cannot be read. `code` identifies the problem.
    pub fn input(code: Code, message: impl Into<String>) -> Self {
        Self::new(Kind::Input, code, message)
    }

    /// Creates an error for a mesh that does not suit the request.
    pub fn unfit(message: impl Into<String>) -> Self {
        Self::new(Kind::Unfit, Code::Unfit, message)
    }

    /// Creates an error for a mesh without triangles.
    pub fn no_triangles() -> Self {
        Self::unfit("the mesh has no triangles")
    }

    /// Creates an error for a result that does not fit in memory or in the format.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(Kind::TooLarge, Code::TooLarge, message)
    }

    /// Creates an error for an output that could not be written.
    pub fn output(message: impl Into<String>) -> Self {
        Self::new(Kind::Output, Code::Output, message)
    }

    /// Creates an error for an existing file that must not be replaced. A caller can recognize it by the code
    /// `exists` and skip the output.
    pub fn exists(message: impl Into<String>) -> Self {
        Self::new(Kind::Output, Code::Exists, message)
    }

    /// Creates an error for a pipe that its reader closed. A caller can recognize it by the code
    /// `closed-pipe` and exit without a message.
    pub fn closed_pipe() -> Self {
        Self::new(
            Kind::Output,
            Code::ClosedPipe,
            "the pipe was closed by its reader",
        )
    }

    /// Creates an error for an interrupted run.
    pub fn interrupted() -> Self {
        Self::new(
            Kind::Interrupted,
            Code::Interrupted,
            "interrupted; nothing was written",
        )
    }

    /// Creates an error for a run that was interrupted after it had written `written` of `all` outputs.
    /// `what` is the plural noun for the outputs.
    pub fn interrupted_after(written: usize, all: usize, what: &str) -> Self {
        let message = format!("interrupted; {written} of {all} {what} were written");
        Self::new(Kind::Interrupted, Code::Interrupted, message)
    }

    /// Creates an error that reports a bug in this crate. The message describes the failure.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, Code::Internal, message)
    }

    /// Sets the advice of this error.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(Box::new(hint.into()));
        self
    }

    /// Prefixes the message with a subject, as in `lid: …`.
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

    /// Sets the name of the file, unless the error already has a file.
    #[must_use]
    pub fn in_file(mut self, file: impl AsRef<std::path::Path>) -> Self {
        self.file
            .get_or_insert_with(|| file.as_ref().display().to_string().into());
        self
    }

    /// Sets the number of the triangle, counted from 0.
    #[must_use]
    pub fn at_triangle(mut self, triangle: u64) -> Self {
        self.triangle = Some(triangle);
        self
    }

    /// Sets the byte offset in the file.
    #[must_use]
    pub fn at_byte(mut self, byte: u64) -> Self {
        self.byte = Some(byte);
        self
    }

    /// Sets the line number in the file, counted from 1.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the code of the error. Its meaning never changes, so scripts can rely on it.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns the message without the file and the position.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the advice that was set for this error. `None` if none was set, although the code may have
    /// advice.
    pub fn hint(&self) -> Option<&Hint> {
        self.hint.as_deref()
    }

    /// Returns the advice that was set for this error, or otherwise the advice of its code.
    pub fn advice(&self) -> Hint {
        match &self.hint {
            Some(hint) => (**hint).clone(),
            None => self.code.info().advice.into(),
        }
    }

    /// Returns the name of the file. `None` if it is unknown.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Returns the number of the triangle, counted from 0. `None` if it is unknown.
    pub fn triangle(&self) -> Option<u64> {
        self.triangle
    }

    /// Returns the byte offset in the file. `None` if it is unknown.
    pub fn byte(&self) -> Option<u64> {
        self.byte
    }

    /// Returns the line number, counted from 1. `None` if it is unknown.
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

/// Warning or note, which does not end the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Severity, never [`Severity::Error`].
    pub severity: Severity,
    /// First occurrence of the finding, stored as an error with code, position and message.
    pub first: Error,
    /// Number of occurrences of the finding.
    pub count: u64,
}

impl Finding {
    /// Sets the advice of this finding.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<Hint>) -> Self {
        Self {
            first: self.first.with_hint(hint),
            ..self
        }
    }

    /// Creates a finding with one occurrence and the default severity of its code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            severity: code.info().severity,
            first: Error::input(code, message),
            count: 1,
        }
    }

    /// Prefixes the message with a subject, as in `lid: …`.
    #[must_use]
    pub fn about(self, subject: &str) -> Self {
        Self {
            first: self.first.about(subject),
            ..self
        }
    }

    /// Returns the code of the finding.
    pub fn code(&self) -> Code {
        self.first.code()
    }

    /// Returns the text of the first occurrence with its position, and the number of occurrences if there are
    /// several.
    pub fn text(&self) -> String {
        match self.count {
            0 | 1 => self.first.to_string(),
            count => format!("{}, the first of {count} such findings", self.first),
        }
    }
}

impl fmt::Display for Finding {
    /// Writes the severity, the code and the text of the finding, as in `warning[W006]: the mesh is not
    /// closed`.
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
