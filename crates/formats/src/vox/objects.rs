//! Objects of a scene: the parts of a grid of labels. Each part has its own models and its name in the outline
//! of MagicaVoxel. The colours of parts share one palette.

use voxelize_core::grid::{CellType, Legend};

/// Maximum number of layers that viewers list.
const MOST_LAYERS: usize = 32;

/// Number of label values.
const VALUES: usize = 256;

/// Objects of a scene, and what each label stands for.
pub(super) struct SceneObjects {
    /// Names of the objects. Empty if the labels do not stand for parts.
    names: Vec<String>,
    /// Index of the object for each label value.
    of: [u8; VALUES],
    /// Number of the colour in the palette for each label value.
    colours: [u8; VALUES],
    shares_colours: bool,
}

impl SceneObjects {
    /// Returns the objects of a grid of these cells.
    pub(super) fn of(cells: &CellType) -> Self {
        match cells {
            CellType::Labels(legend) => Self::of_legend(legend),
            _ => Self::none(),
        }
    }

    fn none() -> Self {
        Self {
            names: vec![],
            of: [0; VALUES],
            colours: std::array::from_fn(|value| value as u8),
            shares_colours: false,
        }
    }

    /// Returns the objects of labels. Labels that are named only by their colours, and the standard labels,
    /// are not parts.
    pub(super) fn of_legend(legend: &Legend) -> Self {
        let mut objects = Self::none();
        let labels = legend.labels();
        let parts = legend.coloured_parts();
        if !parts.is_empty() {
            // Equal colours of several parts are a single colour of the palette.
            let mut palette = vec![];
            for label in labels {
                let colour = legend.colour(label.value);
                let n = palette.iter().position(|known| *known == colour);
                let n = n.unwrap_or_else(|| {
                    palette.push(colour);
                    palette.len() - 1
                });
                let part = label.part().unwrap_or_default();
                let object = parts.iter().position(|name| *name == part);
                objects.colours[usize::from(label.value)] = n as u8 + 1;
                objects.of[usize::from(label.value)] = object.unwrap_or(0) as u8;
            }
            objects.shares_colours = true;
            objects.names = parts.into_iter().map(str::to_string).collect();
            return objects;
        }
        if legend.is_standard() || labels.iter().any(|label| label.name.starts_with('#')) {
            return objects;
        }
        for (n, label) in labels.iter().enumerate() {
            objects.of[usize::from(label.value)] = n as u8;
            objects.names.push(label.name.to_string());
        }
        objects
    }

    /// Returns the names of the objects. Empty if the grid has no parts.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Reports whether several labels may have the same colour of the palette, in different objects.
    pub(super) fn has_shared_colours(&self) -> bool {
        self.shares_colours
    }

    /// Returns the names of the layers, one for each object. Empty if there are too many objects.
    pub(super) fn layers(&self) -> &[String] {
        if self.names.len() > MOST_LAYERS {
            &[]
        } else {
            &self.names
        }
    }

    /// Returns the layer of an object. All objects are in layer 0 if there are too many.
    pub(super) fn layer(&self, object: Option<usize>) -> u32 {
        match object {
            Some(object) if object < self.layers().len() => object as u32,
            _ => 0,
        }
    }

    /// Returns the index of the object that has the cells with this label.
    pub(super) fn object(&self, value: u8) -> usize {
        usize::from(self.of[usize::from(value)])
    }

    /// Returns the number in the palette of the colour of this label.
    pub(super) fn colour(&self, value: u8) -> u8 {
        self.colours[usize::from(value)]
    }

    /// Returns the label for each number of the palette in the object with this name. Without an object of
    /// this name, a number stands for a label only if no other label has it. 0 stands for no label.
    pub(super) fn labels(&self, legend: &Legend, name: Option<&str>) -> [u8; VALUES] {
        let object = self.names.iter().position(|own| Some(&**own) == name);
        let mut labels = [0; VALUES];
        let mut count = [0; VALUES];
        for label in legend.labels() {
            if object.is_none_or(|object| object == self.object(label.value)) {
                let colour = usize::from(self.colour(label.value));
                labels[colour] = label.value;
                count[colour] += 1;
            }
        }
        for (label, count) in labels.iter_mut().zip(count) {
            if count > 1 {
                *label = 0;
            }
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize_core::grid::Label;

    #[test]
    fn equal_colours_of_parts_are_one_colour_of_the_palette() {
        let (red, blue) = ([255, 0, 0], [0, 0, 255]);
        let legend = Legend::new([
            Label::of_part(1, "body", red),
            Label::of_part(2, "lid", blue),
            Label::of_part(9, "lid", red),
        ])
        .unwrap();
        let objects = SceneObjects::of_legend(&legend);
        assert_eq!(objects.names(), ["body", "lid"]);
        assert_eq!([1, 2, 9].map(|value| objects.colour(value)), [1, 2, 1]);
        assert_eq!([1, 2, 9].map(|value| objects.object(value)), [0, 1, 1]);
        for (name, expected) in [
            (Some("body"), [1, 0]),
            (Some("lid"), [9, 2]),
            (Some("other"), [0, 2]),
            (None, [0, 2]),
        ] {
            let labels = objects.labels(&legend, name);
            assert_eq!([labels[1], labels[2]], expected, "{name:?}");
        }
    }

    #[test]
    fn labels_of_parts_are_objects_and_up_to_32_are_layers() {
        let parts =
            |count: u8| Legend::new((1..=count).map(|n| Label::new(n, format!("part {n}"))));
        let colours = [Label::new(1, "#ff0000").with_colour([255, 0, 0])];
        for (legend, objects, layers) in [
            (parts(3), 3, 3),
            (parts(32), 32, 32),
            (parts(33), 33, 0),
            (Legend::new(colours), 0, 0),
            (Ok(Legend::surface_and_interior()), 0, 0),
            (Ok(Legend::default()), 0, 0),
        ] {
            let found = SceneObjects::of_legend(&legend.unwrap());
            assert_eq!(
                (found.names().len(), found.layers().len()),
                (objects, layers)
            );
            assert_eq!(found.layer(Some(2)), if layers == 0 { 0 } else { 2 });
            assert_eq!(found.colour(7), 7);
        }
    }
}
