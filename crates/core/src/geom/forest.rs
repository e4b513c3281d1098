//! Union-find: a forest in which each number stores its parent and a root is its own parent. Searches halve
//! the paths.

/// Returns the root of the tree of `n`, which is the smallest number in the tree.
#[inline]
pub fn root(forest: &mut [u32], mut n: u32) -> u32 {
    while forest[n as usize] != n {
        let next = forest[forest[n as usize] as usize];
        forest[n as usize] = next;
        n = next;
    }
    n
}

/// Joins the trees of two numbers. Returns the root of the joined tree, the smaller of both roots.
#[inline]
pub fn join(forest: &mut [u32], a: u32, b: u32) -> u32 {
    let a = root(forest, a);
    let b = root(forest, b);
    forest[a.max(b) as usize] = a.min(b);
    a.min(b)
}
