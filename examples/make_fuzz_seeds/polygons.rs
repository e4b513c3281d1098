//! Seeds of OBJ, OFF and PLY.

use super::Seeds;

const VERTICES: &str = "0 0 0\n2 0 0\n2 2 0\n1 0.5 0\n0 2 0\n0 0 1e0\n";

/// Returns small files of every kind, sound and odd.
pub fn files() -> Seeds {
    let obj: String = VERTICES.lines().map(|line| format!("v {line}\n")).collect();
    let off = format!("OFF\n6 3 0\n{VERTICES}5 0 1 2 3 4\n3 0 1 5 255 0 0\n3 1 2 5\n");
    let header = |format: &str, scalar: &str, index: &str| {
        format!(
            "ply\nformat {format} 1.0\ncomment c\nelement vertex 6\nproperty {scalar} x\nproperty {scalar} y\n\
             property {scalar} z\nelement face 2\nproperty list uchar {index} vertex_indices\nproperty uchar red\n\
             end_header\n"
        )
    };
    let strips = "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float z\n\
                  element tristrips 1\nproperty list int int vertex_indices\nend_header\n";
    let text = |text: String| text.into_bytes();
    let mut seeds = vec![
        ("obj".to_string(), text(format!("{obj}f 1 2 3 4 5\nf 1 2 6\n"))),
        (
            "obj-parts".to_string(),
            text(format!("o a\n{obj}g x\nf -1/1 -2//3 -3/1/2\no b\nusemtl m\nf 1 2 \\\n3\np 1\n")),
        ),
        (
            "obj-damaged".to_string(),
            text(format!("{obj}f 1 2 9\nf 1 2\nv 1 x\nv nan 0 0\nf 0 1 2\nf 7 1 2\nf 1 2 3\n")),
        ),
        (
            "obj-wild".to_string(),
            text(format!(
                "$ stray\n# C:\\\nusemtl a # b\nmtllib a.mtl b c.mtl\n{obj}v 0 \\\n1 0 0.5 1.5 0\n#MRGB ffff000000ff0000\nf 1 2 3\n"
            )),
        ),
        ("obj-far".to_string(), text(obj.replace("v ", "v 5411876.").replace("1e0", "1") + "f 1 2 3\n")),
        ("off-glued".to_string(), text(off.replace("OFF\n", "off"))),
        ("off-bare".to_string(), text(off.replace("OFF\n", ""))),
        ("off".to_string(), text(off.clone())),
        ("off-cut".to_string(), text(off[..off.len() - 12].to_string())),
        ("coff".to_string(), text(format!("# c\nCOFF 6 1 0\n{VERTICES}3 0 1 2 # c\n"))),
        ("ply".to_string(), text(header("ascii", "float", "int") + VERTICES + "3 0 1 2 9\n5 0 1 2 3 4 8\n")),
        ("ply-strips".to_string(), text(format!("{strips}{VERTICES}7 0 1 2 3 -1 4 5\n"))),
        ("ply-joined".to_string(), text(format!("{strips}{VERTICES}8 0 1 2 2 2 3 4 5\n"))),
        (
            "ply-early".to_string(),
            text(
                "ply\rformat ascii 1.0\rcomment TextureFile t.png\relement face 1\rproperty list uchar int vertex_index\r\
                 property list uchar float texcoord\relement vertex 3\rproperty double x\rproperty double y\rproperty \
                 double z\rproperty float s\rproperty float t\rproperty float r\rproperty float g\rproperty float b\r\
                 end_header\r3 0 1 2 6 0 0 1 0 0 1\r0 0 0 0 0 1 0 0\r1 0 0 1 0 0 1 0\r0 1 0 0 1 0 0 255\r"
                    .to_string(),
            ),
        ),
    ];
    for (name, format, is_big) in [
        ("ply-little", "binary_little_endian", false),
        ("ply-big", "binary_big_endian", true),
    ] {
        let mut bytes = header(format, "double", "ushort").into_bytes();
        let mut put = |number: &mut [u8]| {
            if is_big {
                number.reverse();
            }
            bytes.extend_from_slice(number);
        };
        for word in VERTICES.split_whitespace() {
            put(&mut word.parse::<f64>().expect("a number").to_le_bytes());
        }
        for face in [&[0_u16, 1, 2][..], &[0, 1, 2, 3, 4]] {
            put(&mut [face.len() as u8]);
            face.iter().for_each(|n| put(&mut n.to_le_bytes()));
            put(&mut [7]);
        }
        seeds.push((name.to_string(), bytes));
    }
    seeds
}
