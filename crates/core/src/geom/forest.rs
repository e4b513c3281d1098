//! Union-find data structure: a forest stored as an array that has the parent of each number. A root is its
//! own parent. Every search halves the path to the root.

/// Returns the root of the tree that contains `n`. The root is the smallest number in the tree.
#[inline]
pub fn root(forest: &mut [u32], mut n: u32) -> u32 {
    while forest[n as usize] != n {
        let next = forest[forest[n as usize] as usize];
        forest[n as usize] = next;
        n = next;
    }
    n
}

/// Joins the trees that contain two numbers. Returns the root of the joined tree, which is the smaller of
/// both roots.
#[inline]
pub fn join(forest: &mut [u32], a: u32, b: u32) -> u32 {
    let a = root(forest, a);
    let b = root(forest, b);
    forest[a.max(b) as usize] = a.min(b);
    a.min(b)
}
