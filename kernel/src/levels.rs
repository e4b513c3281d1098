//! The instruction sets a kernel can run on, chosen at run time from one build.
//!
//! A level changes speed and nothing else: every decision is either certain or made exactly. Where results are floats, kernels
//! use no fused multiply-add.

use fearless_simd::{Simd, f32x16, prelude::*};

/// An instruction set for the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// One lane at a time; on every machine, and all that x86-64 machines without SSE4.2 have.
    Scalar,
    /// x86-64-v2, 128-bit lanes.
    Sse42,
    /// x86-64-v3, 256-bit lanes.
    Avx2,
    /// Ice Lake and later, Zen 4 and later: 512-bit lanes.
    Avx512,
    /// 64-bit ARM.
    Neon,
}

impl Level {
    /// Every level any build may have, from the narrowest.
    pub const ALL: [Self; 5] = [Self::Scalar, Self::Sse42, Self::Avx2, Self::Avx512, Self::Neon];

    /// The word for it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Sse42 => "sse4.2",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    /// The level of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// The best level of this machine.
    pub fn best() -> Self {
        Self::available().into_iter().next_back().unwrap_or(Self::Scalar)
    }

    /// The levels this machine can run, from the narrowest.
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|level| level.is_available()).collect()
    }

    /// The levels compiled into this build, from the narrowest.
    pub fn built() -> Vec<Self> {
        let here = |level: &Self| match level {
            Self::Scalar => true,
            Self::Neon => cfg!(target_arch = "aarch64"),
            _ => cfg!(any(target_arch = "x86", target_arch = "x86_64")),
        };
        Self::ALL.into_iter().filter(here).collect()
    }

    /// Whether this machine can run the level.
    pub fn is_available(self) -> bool {
        self.token().is_some()
    }

    /// Proof that this machine can run the level; `None` if it cannot.
    pub(crate) fn token(self) -> Option<fearless_simd::Level> {
        use fearless_simd::Level as Simd;
        let found = Simd::new();
        match self {
            Self::Scalar => Some(Simd::fallback()),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Sse42 => found.as_sse4_2().map(Simd::Sse4_2),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx2 => found.as_avx2().map(Simd::Avx2),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx512 => found.as_avx512().map(Simd::Avx512),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => found.as_neon().map(Simd::Neon),
            _ => None,
        }
    }
}

/// Lanes of a vector of floats.
pub const LANES: usize = 16;

/// Rows of lanes that begin where lines of the cache do.
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

/// The rows of a group.
#[inline(always)]
pub fn rows<S: Simd, const N: usize>(simd: S, group: &[[f32; LANES]; N]) -> impl Fn(usize) -> f32x16<S> {
    #[inline(always)]
    move |n| f32x16::from_slice(simd, &group[n])
}

/// Makes points that are in all lanes.
#[inline(always)]
pub fn splats<S: Simd>(simd: S) -> impl Fn([f32; 3]) -> [f32x16<S>; 3] {
    #[inline(always)]
    move |[x, y, z]| [f32x16::splat(simd, x), f32x16::splat(simd, y), f32x16::splat(simd, z)]
}

/// Whether shuffles of whole vectors are single instructions.
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

/// Runs one expression compiled for the level of a token: the first on vector levels, the second on
/// the scalar one. Not `fearless_simd::dispatch`, which would compile the long vector kernels for
/// the scalar level too: sixteen lanes one by one are megabytes of code, slower than no lanes.
macro_rules! on_level {
    ($token:expr, $simd:ident => $lanes:expr, $scalar:ident => $one:expr) => {{
        use fearless_simd::{Level as Token, Simd as _};
        match $token {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Token::Sse4_2($simd) => $simd.vectorize(
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
            Token::Fallback($scalar) => $one,
            _ => unreachable!("Level::token gives no other"),
        }
    }};
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
        assert!(Level::available().iter().all(|level| Level::built().contains(level)));
    }
}
