//! Union-find over numbers: a forest holds the parent of each, roots are their own. Paths are halved on the way up.

/// The root of the tree of `n`, which is the least number in it.
#[inline]
pub fn root(forest: &mut [u32], mut n: u32) -> u32 {
    while forest[n as usize] != n {
        let next = forest[forest[n as usize] as usize];
        forest[n as usize] = next;
        n = next;
    }
    n
}

/// Joins the trees of two numbers, and returns the root of the new one, the lesser of theirs.
#[inline]
pub fn join(forest: &mut [u32], a: u32, b: u32) -> u32 {
    let a = root(forest, a);
    let b = root(forest, b);
    forest[a.max(b) as usize] = a.min(b);
    a.min(b)
}
