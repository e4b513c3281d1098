//! Lists of goldens, valid and invalid.

use super::Seeds;

const DIGEST: &str = "grid = \"v1:0a64e28bf9b4a4bc6ec4ea63ee0ea8ef\"\ncells = 23816\n";

/// Returns every list.
pub fn goldens() -> Seeds {
    let case = |keys: &str| format!("[[case]] # a case\nmesh = \"meshes/a.stl\"\n{keys}");
    let lists = [
        ("one", case(DIGEST)),
        (
            "options",
            case(&format!("options = \"--res 64  --pad 1\" # two\n{DIGEST}")),
        ),
        (
            "keys",
            case(&format!(
                "res = 64\ndims = [8, 0.5, \"1/3\"]\nsolid = true\nonly = ['a']\n{DIGEST}"
            )),
        ),
        (
            "file",
            case("golden = \"a.npz\"\nname = \"a, half\"\nallow = 3\niou_min = 0.999\n"),
        ),
        (
            "two",
            case(DIGEST) + "\n# Between.\n" + &case("options = '--res 8'\ngolden = \"b.vox\"\n"),
        ),
        ("doubles", case(DIGEST) + &case(DIGEST)),
        ("both", case(&format!("golden = \"b\"\n{DIGEST}"))),
        (
            "inline",
            format!("case = [{{ mesh = \"a\", golden = \"b\" }}]\n{DIGEST}"),
        ),
        ("dotted", case("").replace("mesh", "mesh.file")),
        ("crlf", case(DIGEST).replace('\n', "\r\n")),
        ("no-toml", "[[case]\nmesh".to_string()),
        ("empty", "# nothing\n".to_string()),
    ];
    lists
        .map(|(name, text)| (name.to_string(), text.into_bytes()))
        .into()
}
