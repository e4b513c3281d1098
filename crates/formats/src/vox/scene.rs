//! The scene graph of `.vox`: nodes, and the turns and moves that lead to each model.

use std::collections::{BTreeMap, BTreeSet};

use voxelize_core::error::{Code, Error, Result};

/// Node of the scene.
pub(super) enum SceneNode {
    Transform {
        child: u32,
        motion: Motion,
    },
    Group(Vec<u32>),
    /// The model of the first frame.
    Shape(u32),
}

/// Turn by quarters, possibly mirrored, followed by a move: axis `a` of the result is axis `from[a]`, times
/// `sign[a]`, plus `by[a]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Motion {
    from: [usize; 3],
    sign: [i64; 3],
    by: [i64; 3],
}

impl Motion {
    pub(super) const NONE: Self = Self {
        from: [0, 1, 2],
        sign: [1; 3],
        by: [0; 3],
    };

    /// Parses the attributes of a frame. `None` if they are invalid.
    pub(super) fn parse(attributes: &[(String, String)]) -> Option<Self> {
        let mut motion = Self::NONE;
        for (key, value) in attributes {
            match key.as_str() {
                "_t" => motion.by = parse_move(value)?,
                "_r" => (motion.from, motion.sign) = parse_turn(value.trim().parse().ok()?)?,
                _ => {}
            }
        }
        Some(motion)
    }

    /// Combines two motions: first `inner`, then this one. `None` if the result is too far out.
    fn after(&self, inner: &Self) -> Option<Self> {
        let mut both = *self;
        for a in 0..3 {
            both.from[a] = inner.from[self.from[a]];
            both.sign[a] = self.sign[a] * inner.sign[self.from[a]];
            both.by[a] = self.sign[a] * inner.by[self.from[a]] + self.by[a];
        }
        if both.by.iter().any(|by| by.abs() >= 1 << 40) {
            return None;
        }
        Some(both)
    }

    /// Returns the place of cell `at` of a model of `size`. Models turn about the lower corner of cell
    /// floor(size / 2), so that a mirrored axis ends one cell lower.
    pub(super) fn place(&self, at: [u8; 3], size: [u32; 3]) -> [i64; 3] {
        std::array::from_fn(|a| {
            let from = self.from[a];
            let centred = i64::from(at[from]) - i64::from(size[from] / 2);
            let turned = if self.sign[a] > 0 {
                centred
            } else {
                -1 - centred
            };
            turned + self.by[a]
        })
    }
}

fn parse_move(text: &str) -> Option<[i64; 3]> {
    let values: Vec<i64> = text
        .split_whitespace()
        .map(|n| n.parse::<i32>().ok().map(i64::from))
        .collect::<Option<_>>()?;
    values.try_into().ok()
}

/// Parses a turn. Bits 0–1 and 2–3 are the axes in the first and in the second row; bits 4, 5, 6 are signs.
fn parse_turn(bits: u8) -> Option<([usize; 3], [i64; 3])> {
    let x = usize::from(bits & 3);
    let y = usize::from(bits >> 2 & 3);
    if x == 3 || y == 3 || x == y {
        return None;
    }
    let sign = std::array::from_fn(|a| if bits >> (4 + a) & 1 == 1 { -1 } else { 1 });
    Some(([x, y, 3 - x - y], sign))
}

fn broken(what: String) -> Error {
    Error::input(Code::V008, what)
}

/// Returns every use of a model in the scene, with its motion, from node 0 on.
pub(super) fn placements(nodes: &BTreeMap<u32, SceneNode>) -> Result<Vec<(u32, Motion)>> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![(0, Motion::NONE)];
    while let Some((id, motion)) = open.pop() {
        if !seen.insert(id) {
            return Err(broken(format!("node {id} of the scene has two parents")));
        }
        match nodes.get(&id) {
            None => return Err(broken(format!("the scene has no node {id}"))),
            Some(SceneNode::Transform {
                child,
                motion: inner,
            }) => {
                let both = motion
                    .after(inner)
                    .ok_or_else(|| broken(format!("node {id} is too far from the origin")))?;
                open.push((*child, both));
            }
            Some(SceneNode::Group(children)) => {
                open.extend(children.iter().rev().map(|child| (*child, motion)))
            }
            Some(SceneNode::Shape(model)) => found.push((*model, motion)),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion(turn: &str, by: &str) -> Motion {
        let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
        Motion::parse(&[pair("_r", turn), pair("_t", by)]).unwrap()
    }

    #[test]
    fn turns_move_whole_models() {
        // 4 is the identity: axis 0 in row 0, axis 1 in row 1.
        assert_eq!(motion("4", "1 2 3").place([0, 0, 0], [2, 2, 2]), [0, 1, 2]);
        // A quarter turn about z: x' = −y, y' = x (axis 1 in row 0 with a minus, axis 0 in row 1).
        let quarter = motion("17", "0 0 0");
        assert_eq!(quarter.place([0, 0, 0], [4, 4, 4]), [1, -2, -2]);
        assert_eq!(quarter.place([3, 0, 0], [4, 4, 4]), [1, 1, -2]);
        // Four of them are the identity.
        let half = quarter.after(&quarter).unwrap();
        assert_eq!(half.after(&half), Some(Motion::NONE));
    }

    #[test]
    fn outer_turns_apply_to_inner_moves() {
        let outer = motion("17", "10 0 0");
        let inner = motion("4", "1 0 0");
        assert_eq!(outer.after(&inner).unwrap().by, [10, 1, 0]);
    }

    #[test]
    fn scenes_that_are_no_trees_are_refused() {
        let still = |child| SceneNode::Transform {
            child,
            motion: Motion::NONE,
        };
        for nodes in [
            vec![],
            vec![(0, still(0))],
            vec![
                (0, still(1)),
                (1, SceneNode::Group(vec![2, 2])),
                (2, SceneNode::Shape(0)),
            ],
            vec![(0, still(1)), (1, SceneNode::Group(vec![0]))],
        ] {
            let error = placements(&nodes.into_iter().collect()).unwrap_err();
            assert_eq!(error.code(), Code::V008);
        }
    }
}
