//! Files in the form of other programs, created byte by byte.

/// File of another program: one grid with one leaf, whose lowest cell is (-8, 0, 16). Test cases change
/// single properties.
pub struct Foreign {
    pub version: u32,
    pub has_offsets: bool,
    pub kind: &'static str,
    pub compression: u32,
    pub json: Option<String>,
    pub map: Vec<u8>,
    pub background: Vec<u8>,
    pub tiles: Vec<([i32; 3], Vec<u8>, bool)>,
    pub root: [i32; 3],
    /// Stored values of tiles of the nodes, stored values of the leaf, and its mask.
    pub no_values: Vec<u8>,
    pub values: Vec<u8>,
    pub mask: [u8; 64],
    /// An earlier grid of a type without cells.
    pub before: bool,
}

fn put_text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

pub fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

pub fn words(numbers: &[u32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

fn cell(cell: [i32; 3]) -> Vec<u8> {
    cell.map(i32::to_le_bytes).concat()
}

/// Returns a map of this name and these numbers.
pub fn doubles(name: &str, numbers: &[f64]) -> Vec<u8> {
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
    put_text(name).into_iter().chain(numbers).collect()
}

/// Returns the numbers of a map that scales.
pub fn scale(sizes: [f64; 3]) -> Vec<f64> {
    [
        sizes,
        sizes,
        sizes.map(|size| 1.0 / size),
        sizes.map(|size| 1.0 / size / size),
        sizes.map(|size| 0.5 / size),
    ]
    .concat()
}

pub fn uniform_map(centre: [f64; 3], size: f64) -> Vec<u8> {
    let numbers = [centre.to_vec(), scale([size; 3])].concat();
    doubles("UniformScaleTranslateMap", &numbers)
}

/// Returns the first and the last cell.
pub fn ends() -> [u8; 64] {
    let mut mask = [0; 64];
    (mask[0], mask[63]) = (1, 0x80);
    mask
}

impl Default for Foreign {
    fn default() -> Self {
        Self {
            version: 224,
            has_offsets: true,
            kind: "Tree_float_5_4_3",
            compression: 2,
            json: None,
            map: uniform_map([1.0, 2.0, 3.0], 0.5),
            background: floats(&[4.0]),
            tiles: vec![],
            root: [-4096, 0, 0],
            no_values: vec![0],
            values: [vec![0], floats(&[1.0, 2.0])].concat(),
            mask: ends(),
            before: false,
        }
    }
}

impl Foreign {
    /// Returns the bytes before the values of the leaf, and the values.
    pub fn grid(&self) -> [Vec<u8>; 2] {
        let mut entries = vec![
            ["name", "string", "a"],
            ["file_delayed_load", "__delayedload", "anything"],
        ];
        entries.extend(self.json.as_ref().map(|json| ["voxelize", "string", json]));
        let mut head = words(&[self.compression, entries.len() as u32]);
        head.extend(entries.into_iter().flatten().flat_map(put_text));
        head.extend(&self.map);
        head.extend(words(&[1]));
        head.extend(&self.background);
        head.extend(words(&[self.tiles.len() as u32, 1]));
        for (origin, value, is_active) in &self.tiles {
            head.extend(cell(*origin));
            head.extend(value);
            head.push(u8::from(*is_active));
        }
        head.extend(cell(self.root));
        for (count, place) in [(32768, 31 * 32 * 32), (4096, 15 * 256 + 2)] {
            let mut masks = vec![0_u8; 2 * count / 8];
            masks[place / 8] |= 1 << (place % 8);
            head.extend(masks);
            head.extend(&self.no_values);
        }
        head.extend(self.mask);
        let mut buffers = self.mask.to_vec();
        if self.kind.contains("bool") {
            let [x, y, z] = self.root;
            buffers.extend(cell([x + 4088, y, z + 16]));
        }
        buffers.extend(&self.values);
        [head, buffers]
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = b" BDV\0\0\0\0".to_vec();
        bytes.extend(words(&[self.version, 9, 1]));
        bytes.push(u8::from(self.has_offsets));
        bytes.extend([b'x'; 36]);
        bytes.extend(words(&[1]));
        bytes.extend(["by", "string", "hand"].into_iter().flat_map(put_text));
        bytes.extend(words(&[1 + u32::from(self.before)]));
        let mut put = |name: &str, kind: &str, parts: [Vec<u8>; 2]| {
            bytes.extend([name, kind, ""].into_iter().flat_map(put_text));
            let start = bytes.len() + 24;
            let buffers = start + parts[0].len();
            for offset in [start, buffers, buffers + parts[1].len()] {
                let offset = if self.has_offsets { offset as u64 } else { 0 };
                bytes.extend(offset.to_le_bytes());
            }
            bytes.extend(parts.concat());
        };
        if self.before {
            put("v", "Tree_vec3s_5_4_3", [vec![1; 99], vec![2; 7]]);
        }
        put("a", self.kind, self.grid());
        bytes
    }
}

/// Returns the bytes of the default file with some changes.
pub fn changed(change: impl FnOnce(&mut Foreign)) -> Vec<u8> {
    let mut file = Foreign::default();
    change(&mut file);
    file.bytes()
}
