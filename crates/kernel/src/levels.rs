//! Instruction sets that a kernel can run on, chosen at run time from one build.
//!
//! The level affects only speed, because every decision is either certain or made exactly. Kernels that
//! return floats do not use fused multiply-add, so that their results are the same on every level.

use fearless_simd::{Simd, f32x16, prelude::*};

/// Instruction set for the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Instructions that every machine of the compilation target has. Surfaces are covered one triangle at a
    /// time.
    Scalar,
    /// x86-64-v2, with vectors of 128 bits.
    Sse42,
    /// x86-64-v3, with vectors of 256 bits.
    Avx2,
    /// x86-64 with vectors of 512 bits: Ice Lake, Zen 4 and later.
    Avx512,
    /// 64-bit ARM, with vectors of 128 bits.
    Neon,
}

impl Level {
    /// Levels of all targets, from the narrowest vectors to the widest.
    pub const ALL: [Self; 5] = [
        Self::Scalar,
        Self::Sse42,
        Self::Avx2,
        Self::Avx512,
        Self::Neon,
    ];

    /// Returns the name of the level on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Sse42 => "sse4.2",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    /// Returns the level with this name. `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Returns the level with the widest vectors that this machine can run.
    pub fn best() -> Self {
        Self::available()
            .into_iter()
            .next_back()
            .unwrap_or(Self::Scalar)
    }

    /// Returns the levels that this machine can run, from the narrowest to the widest.
    pub fn available() -> Vec<Self> {
        Self::ALL
            .into_iter()
            .filter(|level| level.is_available())
            .collect()
    }

    /// Returns the levels compiled into this build, from the narrowest to the widest.
    pub fn built() -> Vec<Self> {
        Self::ALL
            .into_iter()
            .filter(|level| level.is_built())
            .collect()
    }

    fn is_built(self) -> bool {
        match self {
            Self::Scalar => true,
            Self::Neon => cfg!(target_arch = "aarch64"),
            _ => cfg!(any(target_arch = "x86", target_arch = "x86_64")),
        }
    }

    /// Returns `true` if this machine can run the level.
    pub fn is_available(self) -> bool {
        self.find_token().is_some()
    }

    /// Returns a token, which proves that this machine can run the level.
    ///
    /// # Panics
    /// If the machine does not support the level.
    pub(crate) fn token(self) -> Token {
        self.find_token()
            .expect("the level was checked to run here")
    }

    fn find_token(self) -> Option<Token> {
        match self {
            Self::Scalar => baseline().map(Token::Scalar),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Sse42 => fearless_simd::Level::new().as_sse4_2().map(Token::Sse42),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx2 => fearless_simd::Level::new().as_avx2().map(Token::Avx2),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx512 => fearless_simd::Level::new().as_avx512().map(Token::Avx512),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => fearless_simd::Level::new().as_neon().map(Token::Neon),
            _ => None,
        }
    }
}

/// Proof that this machine can run a level.
#[derive(Clone, Copy)]
pub(crate) enum Token {
    Scalar(Baseline),
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Sse42(fearless_simd::Sse4_2),
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx2(fearless_simd::Avx2),
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512(fearless_simd::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(fearless_simd::Neon),
}

/// Instruction set of the scalar level: the baseline of the target. `fearless_simd::Fallback` stores lanes in
/// arrays. It is used only on targets without vector instructions, because LLVM takes minutes to compile long
/// kernels for it.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
type Baseline = fearless_simd::Sse2;
#[cfg(target_arch = "aarch64")]
type Baseline = fearless_simd::Neon;
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
type Baseline = fearless_simd::Fallback;

fn baseline() -> Option<Baseline> {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    return fearless_simd::Level::new().as_sse2();
    #[cfg(target_arch = "aarch64")]
    return fearless_simd::Level::new().as_neon();
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    Some(Baseline::new())
}

/// Number of floats in a vector.
pub const LANES: usize = 16;

/// Value that is aligned to a cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub struct Aligned<T>(pub T);

impl<T> std::ops::Deref for Aligned<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> std::ops::DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Returns a function that loads row `n` of a group into a vector.
#[inline(always)]
pub fn rows<S: Simd, const N: usize>(
    simd: S,
    group: &[[f32; LANES]; N],
) -> impl Fn(usize) -> f32x16<S> {
    #[inline(always)]
    move |n| f32x16::from_slice(simd, &group[n])
}

/// Returns a function that copies each coordinate of a point into all lanes of a vector.
#[inline(always)]
pub fn splats<S: Simd>(simd: S) -> impl Fn([f32; 3]) -> [f32x16<S>; 3] {
    #[inline(always)]
    move |[x, y, z]| {
        [
            f32x16::splat(simd, x),
            f32x16::splat(simd, y),
            f32x16::splat(simd, z),
        ]
    }
}

/// Returns `true` on levels that permute a whole vector in one instruction.
#[inline(always)]
pub fn is_avx512<S: Simd>(simd: S) -> bool {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    return matches!(simd.level(), fearless_simd::Level::Avx512(_));
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
    {
        let _ = simd;
        false
    }
}

/// Evaluates an expression that is compiled for the instructions of a level. An optional second expression is
/// evaluated on the scalar level instead.
macro_rules! on_level {
    ($level:expr, $simd:ident => $lanes:expr, $scalar:ident => $one:expr) => {{
        use crate::levels::Token;
        use fearless_simd::Simd as _;
        match $level.token() {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Token::Sse42($simd) => $simd.vectorize(
                #[inline(always)]
                || $lanes,
            ),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Token::Avx2($simd) => $simd.vectorize(
                #[inline(always)]
                || $lanes,
            ),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Token::Avx512($simd) => $simd.vectorize(
                #[inline(always)]
                || $lanes,
            ),
            #[cfg(target_arch = "aarch64")]
            Token::Neon($simd) => $simd.vectorize(
                #[inline(always)]
                || $lanes,
            ),
            Token::Scalar($scalar) => $one,
        }
    }};
    ($level:expr, $simd:ident => $lanes:expr) => {
        on_level!($level, $simd => $lanes, $simd => $lanes)
    };
}
pub(crate) use on_level;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_scalar_is_everywhere() {
        for level in Level::ALL {
            assert_eq!(Level::from_name(level.name()), Some(level));
        }
        assert!(Level::available().contains(&Level::Scalar));
        assert!(
            Level::available()
                .iter()
                .all(|level| Level::built().contains(level))
        );
    }
}
