//! The scene graph of a `.vox` file: its nodes, and the rotations and translations that place each model.

use std::collections::{BTreeMap, BTreeSet};

use voxelize_core::error::{Code, Error, Result};

/// Node of the scene graph.
pub(super) enum SceneNode {
    Transform {
        child: u32,
        motion: Motion,
        /// Name in the outline. Empty if the node has none.
        name: String,
    },
    Group(Vec<u32>),
    /// Index of the model in the first frame.
    Shape(u32),
}

/// Rotation by right angles, possibly mirrored, followed by a translation. Axis `a` of the result is axis
/// `from[a]` of the input times `sign[a]`, plus `by[a]`.
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

    /// Combines two motions. `inner` is applied first, then this one. `None` if the translation becomes too
    /// large.
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

    /// Returns the position of cell `at` in a model of this size. Models rotate about the lower corner of
    /// cell floor(size / 2). Relative to this corner, mirroring an axis maps cell c to cell -1 - c.
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

/// Parses a rotation. Bits 0–1 are the axis in the first row of the matrix, and bits 2–3 the axis in the
/// second row. Bits 4, 5 and 6 are the signs of the rows.
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

/// Use of a model in the scene graph.
pub(super) struct ModelUse<'a> {
    pub model: u32,
    pub motion: Motion,
    /// Name of the nearest transform that has one. Empty if none has a name.
    pub name: &'a str,
}

/// Returns all uses of models in the scene graph. The search begins at node 0.
pub(super) fn placements(nodes: &BTreeMap<u32, SceneNode>) -> Result<Vec<ModelUse<'_>>> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![(0, Motion::NONE, "")];
    while let Some((id, motion, outer)) = open.pop() {
        if !seen.insert(id) {
            return Err(broken(format!("node {id} of the scene has two parents")));
        }
        match nodes.get(&id) {
            None => return Err(broken(format!("the scene has no node {id}"))),
            Some(SceneNode::Transform {
                child,
                motion: inner,
                name,
            }) => {
                let both = motion
                    .after(inner)
                    .ok_or_else(|| broken(format!("node {id} is too far from the origin")))?;
                let name = if name.is_empty() { outer } else { name };
                open.push((*child, both, name));
            }
            Some(SceneNode::Group(children)) => {
                open.extend(children.iter().rev().map(|child| (*child, motion, outer)))
            }
            Some(SceneNode::Shape(model)) => found.push(ModelUse {
                model: *model,
                motion,
                name: outer,
            }),
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
        // The rotation 4 is the identity: axis 0 in row 0, and axis 1 in row 1.
        assert_eq!(motion("4", "1 2 3").place([0, 0, 0], [2, 2, 2]), [0, 1, 2]);
        // A quarter turn about z: x' = −y, y' = x. Row 0 has axis 1 with a minus, and row 1 has axis 0.
        let quarter = motion("17", "0 0 0");
        assert_eq!(quarter.place([0, 0, 0], [4, 4, 4]), [1, -2, -2]);
        assert_eq!(quarter.place([3, 0, 0], [4, 4, 4]), [1, 1, -2]);
        // Four quarter turns are the identity.
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
            name: String::new(),
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
            let error = placements(&nodes.into_iter().collect()).err();
            assert_eq!(error.map(|error| error.code()), Some(Code::V008));
        }
    }
}
