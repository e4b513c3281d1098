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

pub fn uniform_map(centre: [f64; 3], size: f64) -> Vec<u8> {
    let numbers = [
        centre,
        [size; 3],
        [size; 3],
        [1.0 / size; 3],
        [1.0 / size / size; 3],
        [0.5 / size; 3],
    ];
    [
        put_text("UniformScaleTranslateMap"),
        numbers
            .as_flattened()
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect(),
    ]
    .concat()
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
        let mut head = self.compression.to_le_bytes().to_vec();
        let text = |name: &str, value: &str| {
            [put_text(name), put_text("string"), put_text(value)].concat()
        };
        let delayed = [
            put_text("file_delayed_load"),
            put_text("__delayedload"),
            put_text("anything"),
        ]
        .concat();
        let mut entries = vec![text("name", "a"), delayed];
        entries.extend(self.json.as_ref().map(|json| text("voxelize", json)));
        head.extend((entries.len() as u32).to_le_bytes());
        head.extend(entries.concat());
        head.extend(&self.map);
        head.extend(1_u32.to_le_bytes());
        head.extend(&self.background);
        head.extend((self.tiles.len() as u32).to_le_bytes());
        head.extend(1_u32.to_le_bytes());
        for (origin, value, is_active) in &self.tiles {
            head.extend(origin.iter().flat_map(|n| n.to_le_bytes()));
            head.extend(value);
            head.push(u8::from(*is_active));
        }
        head.extend(self.root.iter().flat_map(|n| n.to_le_bytes()));
        for (count, place) in [(32768, 31 * 32 * 32), (4096, 15 * 256 + 2)] {
            let mut masks = vec![0_u8; 2 * count / 8];
            masks[place / 8] |= 1 << (place % 8);
            head.extend(masks);
            head.extend(&self.no_values);
        }
        head.extend(self.mask);
        let mut buffers = self.mask.to_vec();
        if self.kind.contains("bool") {
            buffers.extend(
                [self.root[0] + 4088, self.root[1], self.root[2] + 16]
                    .iter()
                    .flat_map(|n| n.to_le_bytes()),
            );
        }
        buffers.extend(&self.values);
        [head, buffers]
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = b" BDV\0\0\0\0".to_vec();
        [self.version, 9, 1]
            .iter()
            .for_each(|n| bytes.extend(n.to_le_bytes()));
        bytes.push(u8::from(self.has_offsets));
        bytes.extend([b'x'; 36]);
        bytes.extend(
            [
                1_u32.to_le_bytes().to_vec(),
                put_text("by"),
                put_text("string"),
                put_text("hand"),
            ]
            .concat(),
        );
        bytes.extend((1 + u32::from(self.before)).to_le_bytes());
        let mut put = |name: &str, kind: &str, parts: [Vec<u8>; 2]| {
            bytes.extend([put_text(name), put_text(kind), put_text("")].concat());
            let start = bytes.len() + 24;
            let buffers = start + parts[0].len();
            let offsets = [start, buffers, buffers + parts[1].len()]
                .map(|n| if self.has_offsets { n as u64 } else { 0 });
            bytes.extend(offsets.iter().flat_map(|n| n.to_le_bytes()));
            bytes.extend(parts.concat());
        };
        if self.before {
            put("v", "Tree_vec3s_5_4_3", [vec![1; 99], vec![2; 7]]);
        }
        put("a", self.kind, self.grid());
        bytes
    }
}

pub fn doubles(name: &str, numbers: &[f64]) -> Vec<u8> {
    [
        put_text(name),
        numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
    ]
    .concat()
}
