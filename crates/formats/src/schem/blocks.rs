//! Minecraft blocks for labels: concrete, wool and terracotta in the sixteen colours of the game. The table
//! has the mean colour of each block's texture.

use voxelize_core::grid::Legend;

/// Block for cells that have no labels.
pub(super) const STONE: &str = "minecraft:stone";

/// Colours of the game. Each has the red, green and blue values of its concrete, wool and terracotta.
const BLOCKS: [(&str, [[u8; 3]; 3]); 16] = [
    ("white", [[207, 213, 214], [234, 236, 237], [210, 178, 161]]),
    ("orange", [[224, 97, 1], [241, 118, 20], [162, 84, 38]]),
    ("magenta", [[169, 48, 159], [190, 69, 180], [150, 88, 109]]),
    (
        "light_blue",
        [[36, 137, 199], [58, 175, 217], [113, 109, 138]],
    ),
    ("yellow", [[241, 175, 21], [249, 198, 40], [186, 133, 35]]),
    ("lime", [[94, 169, 24], [112, 185, 26], [103, 118, 53]]),
    ("pink", [[214, 101, 143], [238, 141, 172], [162, 78, 79]]),
    ("gray", [[55, 58, 62], [63, 68, 72], [58, 42, 36]]),
    (
        "light_gray",
        [[125, 125, 115], [142, 142, 135], [135, 107, 98]],
    ),
    ("cyan", [[21, 119, 136], [21, 138, 145], [87, 91, 91]]),
    ("purple", [[100, 32, 156], [122, 42, 173], [118, 70, 86]]),
    ("blue", [[45, 47, 143], [53, 57, 157], [74, 60, 91]]),
    ("brown", [[96, 60, 32], [114, 72, 41], [77, 51, 36]]),
    ("green", [[73, 91, 36], [85, 110, 28], [76, 83, 42]]),
    ("red", [[142, 33, 33], [161, 39, 35], [143, 61, 47]]),
    ("black", [[8, 10, 15], [21, 21, 26], [37, 23, 16]]),
];

/// Materials, in the order of the table's columns.
const MATERIALS: [&str; 3] = ["concrete", "wool", "terracotta"];

/// Block: the index of its colour, and the index of its material.
type BlockPlace = [usize; 2];

/// Returns all blocks. The blocks of concrete come first.
fn all() -> impl Iterator<Item = BlockPlace> {
    (0..MATERIALS.len())
        .flat_map(|material| (0..BLOCKS.len()).map(move |colour| [colour, material]))
}

/// Returns the name of a block, such as `minecraft:red_wool`.
fn name([colour, material]: BlockPlace) -> String {
    format!("minecraft:{}_{}", BLOCKS[colour].0, MATERIALS[material])
}

/// Returns the squared distance between two sRGB colours.
fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| u32::from(a.abs_diff(b)).pow(2))
        .sum()
}

/// Returns the value and the block of each label, in the order of the legend. A label gets the block with the
/// nearest colour. If there are at most 48 labels and all have names, each gets the nearest block that is not
/// yet used. Names that only state a colour (`#8e2121`) do not count as names.
pub(super) fn blocks(legend: &Legend) -> Vec<(u8, String)> {
    let labels = legend.labels();
    let is_named = labels.iter().all(|label| !label.name.starts_with('#'));
    let are_unique = is_named && !labels.is_empty() && labels.len() <= all().count();
    let coloured: Vec<(u8, [u8; 3])> = match labels {
        [] => (1..=255)
            .map(|value| (value, legend.colour(value)))
            .collect(),
        labels => {
            let mut coloured = Vec::new();
            for label in labels {
                let colour = label.standard_colour();
                let colour = colour.unwrap_or(legend.colour(label.value));
                coloured.push((label.value, colour));
            }
            coloured
        }
    };
    let mut used: Vec<BlockPlace> = Vec::new();
    for (_, colour) in &coloured {
        let free = all().filter(|block| !are_unique || !used.contains(block));
        let nearest = free.min_by_key(|[c, m]| distance(BLOCKS[*c].1[*m], *colour));
        used.extend(nearest);
    }
    coloured
        .iter()
        .zip(used)
        .map(|((value, _), block)| (*value, name(block)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::grid::Label;

    #[test]
    fn labels_get_the_nearest_blocks_that_differ() {
        let red = |value: u8, name: &str| Label::new(value, name).with_colour([142, 33, 33]);
        let legend = Legend::new([
            red(1, "a"),
            red(9, "b"),
            Label::new(3, "c").with_colour([0, 0, 0]),
        ])
        .unwrap();
        let found = blocks(&legend);
        let expected = [
            "minecraft:red_concrete",
            "minecraft:red_wool",
            "minecraft:black_concrete",
        ];
        assert!(found.iter().map(|(_, name)| name).eq(expected) && found[1].0 == 9);
        // The names of these labels only state colours, so they may share a block.
        let legend = Legend::new([red(1, "#8e2121"), red(2, "#8e2122")]).unwrap();
        assert!(
            blocks(&legend)
                .iter()
                .all(|(_, name)| name == "minecraft:red_concrete")
        );
        let most =
            Legend::new((1..=48).map(|value| Label::new(value, format!("part {value}")))).unwrap();
        let mut names: Vec<_> = blocks(&most).into_iter().map(|(_, name)| name).collect();
        names.sort();
        names.dedup();
        assert_eq!((names.len(), blocks(&Legend::default()).len()), (48, 255));
        let standard = blocks(&Legend::surface_and_interior());
        assert_eq!(standard[0].1, "minecraft:white_terracotta");
        assert_eq!(standard[1].1, "minecraft:light_blue_terracotta");
    }
}
