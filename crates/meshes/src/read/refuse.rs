//! Errors for inputs that are not meshes in a supported format.

use std::path::Path;

use super::INPUTS;
use super::number;
use super::records::length_for;
use super::source::{Head, is_blank, unreadable};
use voxelize_core::error::{Code, Error, Result};

/// Known format that cannot be read as a mesh.
struct Other {
    name: &'static str,
    extensions: &'static [&'static str],
    signs: &'static [Sign],
    holds: Holds,
    hint: &'static str,
}

/// Content of files in a format.
#[derive(PartialEq)]
enum Holds {
    Meshes,
    /// Files of other formats. The file extension states which.
    Files,
    /// No mesh.
    NoMesh,
}

/// Property of a file's content by which a format is recognized.
enum Sign {
    /// These bytes are at this position.
    Bytes(usize, &'static [u8]),
    /// The text starts with this word, after blanks. Upper and lower case are equivalent.
    Begins(&'static str),
    /// A line starts with this word. Upper and lower case are equivalent.
    Line(&'static str),
    /// An XML element with this name is near the start.
    Element(&'static str),
    Test(fn(&Head) -> bool),
}

const EXPORT: &str = "export binary STL from the program that made it";
const SCENE: &str = "export glTF (.glb) from the program that made it; Blender converts it, too";
const GAME: &str = "open it in Blender with an add-on for it, or in Noesis, and export glTF (.glb)";
const CAD: &str = "export STL or 3MF from the CAD program, which converts it to triangles";
const FREE_CAD: &str =
    "export STL or 3MF from the CAD program, which converts it to triangles; FreeCAD does, too";
const DECOMPRESS: &str = "decompress it first";
const MESH: &str = "a mesh is expected";
const VOXELS: &str = "the file contains voxels, but a mesh is expected";
const SCAN: &str = "the file contains voxels, but a mesh is expected; `--like FILE` can use its grid if it is saved as .nrrd or .nii.gz";
const PARAVIEW: &str = "in ParaView: Extract Surface, then File, Save Data as STL or PLY";
const MESHIO: &str =
    "'meshio convert' converts its surface to PLY; so does ParaView with Extract Surface";
const SOLVER: &str = "export the surface as STL from the preprocessor, or with ParaView or meshio";
const POINTS: &str = "the file contains points without triangles: make a mesh from them first, for example with MeshLab or CloudCompare";
const TILE: &str = "extract the glTF from it: '3d-tiles-tools b3dmToGlb -i FILE -o mesh.glb'";
const GEOLOGY: &str = "export the surface as OBJ, PLY or STL from the program that made it";

const fn other(
    name: &'static str,
    extensions: &'static [&'static str],
    signs: &'static [Sign],
    hint: &'static str,
) -> Other {
    Other {
        name,
        extensions,
        signs,
        holds: Holds::Meshes,
        hint,
    }
}

impl Other {
    const fn holding(self, holds: Holds) -> Self {
        Self { holds, ..self }
    }
}

use Sign::{Begins, Bytes, Element, Line, Test};

static OTHERS: &[Other] = &[
    #[cfg(not(feature = "3mf"))]
    other("3MF", &["3mf"], &[], EXPORT),
    // Formats for scenes.
    other(
        "AMF",
        &["amf"],
        &[Element("amf")],
        "export 3MF, which followed it, or binary STL",
    ),
    other(
        "Blender",
        &["blend"],
        &[Bytes(0, b"BLENDER")],
        "in Blender: File, Export, glTF 2.0 or STL",
    ),
    other("Collada", &["dae"], &[Element("COLLADA")], SCENE),
    other(
        "FBX",
        &["fbx"],
        &[Bytes(0, b"Kaydara FBX Binary"), Begins("; FBX")],
        SCENE,
    ),
    other(
        "USD",
        &["usd", "usda", "usdc", "usdz"],
        &[Bytes(0, b"PXR-USDC"), Begins("#usda")],
        SCENE,
    ),
    other(
        "VRML or X3D",
        &["wrl", "vrml", "x3d", "x3dv", "x3db"],
        &[Begins("#VRML"), Begins("#X3D"), Element("X3D")],
        SCENE,
    ),
    other("Open Inventor", &["iv"], &[Begins("#Inventor")], SCENE),
    other(
        "3DS",
        &["3ds"],
        &[Test(is_3ds)],
        "open it in 3ds Max or an older Blender, and export glTF (.glb) or STL",
    ),
    other(
        "LightWave",
        &["lwo", "lws"],
        &[Bytes(8, b"LWO"), Begins("LWSC")],
        SCENE,
    ),
    other(
        "Cinema 4D",
        &["c4d"],
        &[Bytes(0, b"QC4DC4D6"), Bytes(8, b"XC4D")],
        SCENE,
    ),
    other(
        "Maya",
        &["ma", "mb"],
        &[Begins("//Maya"), Bytes(8, b"Maya")],
        SCENE,
    ),
    other(
        "Houdini",
        &["bgeo", "geo", "hip"],
        &[Begins("PGEOMETRY"), Bytes(0, b"\x7fNSJb")],
        SCENE,
    ),
    other("Alembic", &["abc"], &[Bytes(0, b"Ogawa")], SCENE),
    other(
        "SketchUp",
        &["skp"],
        &[Bytes(0, b"\xff\xfe\xff\x0eS\0k\0e\0t\0c\0h\0")],
        "in SketchUp: File, Export, 3D Model, as STL, OBJ or GLB",
    ),
    other("3ds Max", &["max"], &[], SCENE),
    other(
        "an ASE file of 3ds Max",
        &["ase", "ask"],
        &[Begins("*3DSMAX")],
        SCENE,
    ),
    other("DirectX", &["x"], &[Bytes(0, b"xof 0")], SCENE),
    other(
        "AC3D",
        &["ac", "ac3d"],
        &[Bytes(0, b"AC3Db"), Bytes(0, b"AC3Dc")],
        SCENE,
    ),
    other("MilkShape", &["ms3d"], &[Bytes(0, b"MS3D000000")], GAME),
    other("Blitz3D", &["b3d"], &[Bytes(0, b"BB3D")], GAME),
    other("MD2 of Quake II", &["md2"], &[Bytes(0, b"IDP2")], GAME),
    other("MD3 of Quake III", &["md3"], &[Bytes(0, b"IDP3")], GAME),
    other(
        "MDL",
        &["mdl"],
        &[Bytes(0, b"IDPO"), Bytes(0, b"IDST")],
        GAME,
    ),
    other(
        "MD5 of Doom 3",
        &["md5mesh", "md5anim"],
        &[Begins("MD5Version")],
        GAME,
    ),
    other(
        "PMX or PMD of MikuMikuDance",
        &["pmx", "pmd"],
        &[Bytes(0, b"PMX "), Bytes(0, b"Pmd\0")],
        GAME,
    ),
    other(
        "URDF",
        &["urdf", "xacro"],
        &[Element("robot")],
        "list its meshes and their poses in a scene: `--scene FILE`",
    ),
    other(
        "OGRE",
        &["mesh.xml"],
        &[Bytes(2, b"[MeshSerializer"), Element("mesh")],
        GAME,
    ),
    other("SMD of Source", &["smd"], &[], GAME),
    other(
        "Unreal",
        &["uasset", "psk"],
        &[Bytes(0, b"\xc1\x83\x2a\x9e"), Bytes(0, b"ACTRHEAD")],
        "export glTF (.glb) from the Unreal editor",
    ),
    other("Wings 3D", &["wings"], &[Bytes(0, b"#!WINGS")], SCENE),
    other("OpenFlight", &["flt"], &[], SCENE),
    other("POV-Ray", &["pov"], &[], SCENE),
    other(
        "Draco",
        &["drc"],
        &[Bytes(0, b"DRACO")],
        "export GLB: Draco in it is read; 'draco_decoder -i FILE -o mesh.ply' converts it to PLY",
    ),
    other(
        "CTM",
        &["ctm"],
        &[Bytes(0, b"OCTM")],
        "MeshLab or 'ctmconv FILE mesh.ply' converts it to PLY",
    ),
    other(
        "U3D",
        &["u3d"],
        &[Bytes(0, b"U3D\0")],
        "export glTF (.glb) or STL from the program that made it",
    ),
    other(
        "3D Tiles",
        &["b3dm", "i3dm", "cmpt"],
        &[Bytes(0, b"b3dm"), Bytes(0, b"i3dm"), Bytes(0, b"cmpt")],
        TILE,
    ),
    // Formats for CAD.
    other(
        "IFC",
        &["ifc", "ifcxml", "ifczip"],
        &[Test(is_ifc), Element("ifcXML")],
        "'IfcConvert FILE mesh.glb' of IfcOpenShell converts it to glTF; so does Blender with Bonsai",
    ),
    other(
        "STEP",
        &["step", "stp", "stpz", "p21"],
        &[Begins("ISO-10303-21")],
        FREE_CAD,
    ),
    other("IGES", &["iges", "igs"], &[Test(is_iges)], FREE_CAD),
    other(
        "DXF",
        &["dxf"],
        &[Bytes(0, b"AutoCAD Binary DXF"), Test(is_dxf)],
        "export STL from the CAD program: STLOUT in AutoCAD; Blender and FreeCAD open DXF, too",
    ),
    other(
        "DWG",
        &["dwg"],
        &[Test(is_dwg)],
        "export STL from the CAD program: STLOUT in AutoCAD",
    ),
    other(
        "Rhino 3DM",
        &["3dm"],
        &[Bytes(0, b"3D Geometry File Format")],
        "in Rhino: File, Export Selected, as STL or OBJ",
    ),
    other("JT", &["jt"], &[Test(is_jt)], CAD),
    other(
        "Parasolid",
        &["x_t", "x_b", "xmt_txt", "xmt_bin"],
        &[Begins("**ABCDEFGHIJKLMNOPQRSTUVWXYZ"), Bytes(0, b"PS\0\0")],
        FREE_CAD,
    ),
    other(
        "ACIS",
        &["sat", "sab"],
        &[Bytes(0, b"ACIS BinaryFile"), Bytes(0, b"ASM BinaryFile")],
        CAD,
    ),
    other(
        "BREP of Open CASCADE",
        &["brep", "brp"],
        &[Begins("DBRep_DrawableShape"), Begins("CASCADE Topology")],
        FREE_CAD,
    ),
    other(
        "SolidWorks",
        &["sldprt", "sldasm"],
        &[],
        "in SolidWorks: File, Save As, STL or 3MF",
    ),
    other(
        "Inventor",
        &["ipt", "iam"],
        &[],
        "in Inventor: File, Export, CAD Format, STL",
    ),
    other("Solid Edge", &["par", "psm"], &[], CAD),
    other(
        "CATIA",
        &["catpart", "catproduct", "cgr"],
        &[Bytes(0, b"V5_CFV2")],
        CAD,
    ),
    other("Creo or NX", &["prt"], &[Begins("#UGC:2")], CAD),
    other(
        "FreeCAD",
        &["fcstd"],
        &[],
        "in FreeCAD: File, Export, as STL or 3MF",
    ),
    other(
        "Fusion",
        &["f3d", "f3z"],
        &[],
        "in Fusion: File, Export, STL or 3MF",
    ),
    other(
        "OpenSCAD",
        &["scad"],
        &[],
        "'openscad -o mesh.stl FILE' converts it to STL",
    ),
    other(
        "G-code",
        &["gcode", "gco", "bgcode"],
        &[
            Bytes(0, b"GCDE"),
            Begins("; generated by"),
            Begins(";FLAVOR:"),
        ],
        "the file contains the paths of a printer: use the mesh that was sliced",
    ),
    // Formats for simulation.
    other(
        "Gmsh",
        &["msh", "geo_unrolled"],
        &[Begins("$MeshFormat"), Begins("$NOD"), Begins("$Comments")],
        "in Gmsh: File, Export, as STL; 'gmsh FILE -2 -o mesh.stl' does it, too",
    ),
    other(
        "a mesh of ANSYS Fluent",
        &["cas"],
        &[Test(is_fluent)],
        SOLVER,
    ),
    other(
        "Medit",
        &["mesh", "meshb"],
        &[Begins("MeshVersionFormatted")],
        "Gmsh opens it: 'gmsh FILE -2 -o mesh.stl'; 'meshio convert' converts it to PLY",
    ),
    other(
        "MFEM",
        &[],
        &[Begins("MFEM mesh")],
        "in GLVis or ParaView: save the surface as STL",
    ),
    other(
        "Nastran",
        &["nas", "bdf", "fem"],
        &[
            Line("BEGIN BULK"),
            Line("GRID,"),
            Line("GRID*"),
            Line("GRID  "),
            Line("CTRIA3"),
            Line("CQUAD4"),
            Begins("SOL "),
            Begins("$ Nastran"),
        ],
        SOLVER,
    ),
    other("Abaqus", &["inp"], &[Test(is_abaqus)], SOLVER),
    other("LS-DYNA", &["k", "key", "dyn"], &[Line("*KEYWORD")], SOLVER),
    other(
        "ANSYS",
        &["cdb"],
        &[Begins("/COM,ANSYS"), Begins("/PREP7")],
        SOLVER,
    ),
    other("UNV of I-DEAS", &["unv", "unf"], &[Test(is_unv)], SOLVER),
    other(
        "Tecplot",
        &["tec", "plt"],
        &[
            Bytes(0, b"#!TDV"),
            Begins("TITLE     ="),
            Begins("TITLE=\""),
            Begins("TITLE = \""),
        ],
        PARAVIEW,
    ),
    other("SU2", &["su2"], &[Line("NDIME=")], MESHIO),
    other(
        "COMSOL",
        &["mphtxt", "mphbin", "mph"],
        &[Begins("# Created by COMSOL")],
        "in COMSOL: export the mesh as STL",
    ),
    other("FLAC3D", &["f3grid"], &[Begins("* FLAC3D")], MESHIO),
    other(
        "OpenFOAM",
        &[],
        &[Line("FoamFile")],
        "'foamToSurface surface.stl' writes the surface of the case",
    ),
    other("AVS-UCD", &["avs", "ucd"], &[], MESHIO),
    other("XDMF", &["xdmf", "xmf"], &[Element("Xdmf")], PARAVIEW),
    other("CGNS", &["cgns"], &[], PARAVIEW),
    other("Exodus", &["e", "exo", "ex2"], &[], PARAVIEW),
    other(
        "MED of Salome",
        &["med"],
        &[],
        "in Salome: export the mesh as STL",
    ),
    other(
        "VTK",
        &["vtk", "vtp", "vtu", "vti", "vtm", "vtr", "vts"],
        &[Bytes(0, b"# vtk"), Element("VTKFile")],
        PARAVIEW,
    ),
    other(
        "TetGen",
        &["node", "ele", "smesh", "poly", "face"],
        &[],
        "'tetgen -pg' writes .mesh or, with -O, .off; 'meshio convert' converts .node and .ele to PLY",
    ),
    other(
        "GTS",
        &["gts"],
        &[Line("0 GtsVertex"), Test(is_gts)],
        "'gts2stl < FILE > mesh.stl' converts it to STL",
    ),
    // Formats for geology and for scans of terrain.
    other("GOCAD", &["ts"], &[Begins("GOCAD ")], GEOLOGY),
    other("LAS", &["las", "laz"], &[Bytes(0, b"LASF")], POINTS),
    other("E57", &["e57"], &[Bytes(0, b"ASTM-E57")], POINTS),
    other(
        "PCD",
        &["pcd"],
        &[Begins("# .PCD"), Line("FIELDS x y z")],
        POINTS,
    ),
    other("a tile of points", &["pnts"], &[Bytes(0, b"pnts")], POINTS),
    other(
        "a list of points",
        &["xyz", "pts", "ptx", "asc"],
        &[],
        POINTS,
    ),
    // Formats for medicine.
    other(
        "GIFTI",
        &["gii"],
        &[Element("GIFTI")],
        "'mris_convert FILE mesh.stl' of FreeSurfer converts it to STL; nibabel reads it, too",
    ),
    other(
        "a surface of FreeSurfer",
        &["pial", "white", "inflated", "smoothwm", "sphere"],
        &[Bytes(0, b"\xff\xff\xfe"), Bytes(0, b"#!ascii")],
        "'mris_convert FILE mesh.stl' of FreeSurfer converts it to STL",
    ),
    other(
        "OBJ of MNI (BIC)",
        &[],
        &[Test(is_mni)],
        "export GIFTI, PLY or STL from the program that made it; 'mris_convert' converts GIFTI to STL",
    ),
    other("BrainSuite", &["dfs"], &[Bytes(0, b"DFS_")], EXPORT),
    other("NRRD", &["nrrd", "nhdr"], &[Bytes(0, b"NRRD000")], VOXELS),
    other(
        "NIfTI",
        &["nii", "hdr"],
        &[
            Bytes(344, b"n+1\0"),
            Bytes(344, b"ni1\0"),
            Bytes(4, b"n+2\0"),
        ],
        VOXELS,
    ),
    other(
        "MetaImage",
        &["mha", "mhd"],
        &[Bytes(0, b"ObjectType")],
        SCAN,
    ),
    other("DICOM", &["dcm"], &[Bytes(128, b"DICM")], SCAN),
    other("MGH of FreeSurfer", &["mgh", "mgz"], &[], SCAN),
    other("binvox", &["binvox"], &[Bytes(0, b"#binvox")], VOXELS),
    other("OpenVDB", &["vdb"], &[Bytes(0, b" BDV")], VOXELS),
    other("OctoMap", &["bt", "ot"], &[Bytes(0, b"# Octomap")], VOXELS),
    other("MagicaVoxel", &["vox"], &[Bytes(0, b"VOX ")], VOXELS),
    other(
        "a NumPy array",
        &["npy", "npz"],
        &[Bytes(0, b"\x93NUMPY")],
        VOXELS,
    ),
    // Container formats.
    other(
        "HDF5",
        &["h5", "hdf5", "mnc"],
        &[Bytes(0, b"\x89HDF\r\n")],
        VOXELS,
    )
    .holding(Holds::Files),
    other(
        "NetCDF",
        &["nc"],
        &[Bytes(0, b"CDF\x01"), Bytes(0, b"CDF\x02")],
        PARAVIEW,
    )
    .holding(Holds::Files),
    other("bzip2", &["bz2"], &[Bytes(0, b"BZh")], DECOMPRESS).holding(Holds::Files),
    other("xz", &["xz"], &[Bytes(0, b"\xfd7zXZ")], DECOMPRESS).holding(Holds::Files),
    other(
        "Zstandard",
        &["zst"],
        &[Bytes(0, b"\x28\xb5\x2f\xfd")],
        DECOMPRESS,
    )
    .holding(Holds::Files),
    other(
        "7z",
        &["7z"],
        &[Bytes(0, b"7z\xbc\xaf\x27\x1c")],
        DECOMPRESS,
    )
    .holding(Holds::Files),
    other("RAR", &["rar"], &[Bytes(0, b"Rar!")], DECOMPRESS).holding(Holds::Files),
    other("tar", &["tar"], &[Bytes(257, b"ustar")], DECOMPRESS).holding(Holds::Files),
    other(
        "zip",
        &["zip"],
        &[Bytes(0, b"PK\x03\x04"), Bytes(0, b"PK\x05\x06")],
        DECOMPRESS,
    )
    .holding(Holds::Files),
    other(
        "a file of SolidWorks, Inventor or another program of Windows",
        &[],
        &[Bytes(0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")],
        CAD,
    )
    .holding(Holds::Files),
    // Formats that never contain a mesh.
    other("PNG", &["png"], &[Bytes(0, b"\x89PNG")], MESH),
    other("JPEG", &["jpg", "jpeg"], &[Bytes(0, b"\xff\xd8\xff")], MESH),
    other(
        "TIFF",
        &["tif", "tiff"],
        &[Bytes(0, b"II*\0"), Bytes(0, b"MM\0*")],
        MESH,
    ),
    other("PDF", &["pdf"], &[Bytes(0, b"%PDF")], MESH),
    other("a program", &[], &[Bytes(0, b"\x7fELF")], MESH).holding(Holds::NoMesh),
    other(
        "a web page",
        &["html", "htm"],
        &[Begins("<!DOCTYPE html"), Begins("<html")],
        "download the mesh itself, not the page that shows it",
    )
    .holding(Holds::NoMesh),
    other(
        "a pointer of Git LFS",
        &[],
        &[Begins("version https://git-lfs")],
        "'git lfs pull' fetches the file",
    )
    .holding(Holds::NoMesh),
    other(
        "a scene of voxelize",
        &[],
        &[Line("[[mesh]]")],
        "`--scene FILE` reads it",
    )
    .holding(Holds::NoMesh),
    other(
        "a file of materials",
        &["mtl"],
        &[],
        "name the OBJ that it belongs to",
    )
    .holding(Holds::NoMesh),
    other(
        "UTF-32 text",
        &[],
        &[Bytes(0, b"\xff\xfe\0\0"), Bytes(0, b"\0\0\xfe\xff")],
        UTF8,
    ),
    other(
        "UTF-16 text",
        &[],
        &[Bytes(0, b"\xff\xfe"), Bytes(0, b"\xfe\xff"), Test(is_utf16)],
        UTF8,
    ),
];

const UTF8: &str = "save it as UTF-8 or plain ASCII";

impl Sign {
    fn is_in(&self, head: &Head) -> bool {
        let text = || {
            let text = head.text();
            text[..text.len().min(LOOKED_AT)].trim_ascii_start()
        };
        match self {
            Self::Bytes(at, bytes) => head
                .bytes
                .get(*at..)
                .is_some_and(|rest| rest.starts_with(bytes)),
            Self::Begins(word) => begins(text(), word),
            Self::Line(word) => head.is_text() && lines(text()).any(|line| begins(line, word)),
            Self::Element(name) => {
                let text = text();
                text.starts_with(b"<")
                    && text.windows(name.len() + 2).any(|window| {
                        window[0] == b'<'
                            && window[1..=name.len()] == *name.as_bytes()
                            && !window[name.len() + 1].is_ascii_alphanumeric()
                    })
            }
            Self::Test(test) => test(head),
        }
    }
}

/// Returns whether a text begins with a word, ignoring ASCII case.
fn begins(text: &[u8], word: &str) -> bool {
    match text.get(..word.len()) {
        Some(start) => start.eq_ignore_ascii_case(word.as_bytes()),
        None => false,
    }
}

/// Number of bytes at the start of a text that are searched.
const LOOKED_AT: usize = 4096;

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| matches!(byte, b'\n' | b'\r'))
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty())
}

/// Returns the first `N` lines of a text, without surrounding blanks. `None` if the file is not text.
fn first_lines<'a, const N: usize>(head: &Head<'a>) -> Option<[&'a [u8]; N]> {
    let mut all = lines(&head.bytes[..head.bytes.len().min(LOOKED_AT)]).filter(|_| head.is_text());
    let mut found = [&b""[..]; N];
    for line in &mut found {
        *line = all.next()?;
    }
    Some(found)
}

/// Returns whether the file is 3DS: its main chunk is as long as the file, or the first inner chunk is a
/// version or a scene.
fn is_3ds(head: &Head) -> bool {
    let Some([b'M', b'M', a, b, c, d, e, f]) = head.bytes.first_chunk() else {
        return false;
    };
    let length = u32::from_le_bytes([*a, *b, *c, *d]);
    let first = u16::from_le_bytes([*e, *f]);
    head.length == Some(u64::from(length)) && length > 6
        || matches!(first, 0x0002 | 0x3d3d | 0xafff)
}

fn is_ifc(head: &Head) -> bool {
    let start = &head.bytes[..head.bytes.len().min(LOOKED_AT)];
    let is_step = start.trim_ascii_start().starts_with(b"ISO-10303-21");
    is_step
        && start
            .windows(5)
            .any(|window| window == b"('IFC" || window == b"(\"IFC")
}

/// Returns whether the file is IGES: it has records of 80 columns, and the first is in the start section.
fn is_iges(head: &Head) -> bool {
    let Some(line) = head
        .bytes
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .next()
    else {
        return false;
    };
    line.get(72..80)
        .is_some_and(|end| end.starts_with(b"S") && end[1..].trim_ascii() == b"1".as_slice())
        || line.get(72..80) == Some(b"S0000001")
}

/// Returns whether the file is DXF: it has pairs of a code and a value, and the first pair begins a section
/// or is a comment.
fn is_dxf(head: &Head) -> bool {
    let Some([code, value]) = first_lines::<2>(head) else {
        return false;
    };
    code == b"0" && value.eq_ignore_ascii_case(b"SECTION")
        || code == b"999"
            && first_lines::<4>(head).is_some_and(|lines| lines[2] == b"0" || lines[2] == b"999")
}

fn is_dwg(head: &Head) -> bool {
    head.bytes.starts_with(b"AC10")
        && head
            .bytes
            .get(4..6)
            .is_some_and(|version| version.iter().all(u8::is_ascii_digit))
}

fn is_jt(head: &Head) -> bool {
    let start = &head.bytes[..head.bytes.len().min(80)];
    start.starts_with(b"Version ") && start.windows(2).any(|window| window == b"JT")
}

/// Returns whether the file is from Fluent: it has sections in parentheses, and the first is a comment, a
/// header or the dimensions.
fn is_fluent(head: &Head) -> bool {
    let Some([line]) = first_lines::<1>(head) else {
        return false;
    };
    [&b"(0 \""[..], b"(1 \"", b"(2 2)", b"(2 3)"]
        .iter()
        .any(|start| line.starts_with(start))
}

/// Returns whether the file is from Abaqus: it begins with a keyword after a star. Two stars begin a comment.
fn is_abaqus(head: &Head) -> bool {
    let text = &head.bytes[..head.bytes.len().min(LOOKED_AT)];
    let keyword = lines(text).find(|line| !line.starts_with(b"**"));
    let known = [
        "*HEADING",
        "*NODE",
        "*PART",
        "*PREPRINT",
        "*ELEMENT",
        "*INCLUDE",
    ];
    head.is_text()
        && keyword.is_some_and(|line| {
            let word = line
                .split(|byte| matches!(byte, b',' | b' '))
                .next()
                .unwrap_or_default();
            known
                .iter()
                .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
        })
}

/// Returns whether the file is UNV: it has data sets between lines of -1.
fn is_unv(head: &Head) -> bool {
    let Some([mark, set]) = first_lines::<2>(head) else {
        return false;
    };
    mark == b"-1" && !set.is_empty() && set.len() <= 6 && set.iter().all(u8::is_ascii_digit)
}

/// Returns whether the file is GTS: it begins with three counts and the names of classes.
fn is_gts(head: &Head) -> bool {
    let line = first_lines::<1>(head).map(|[line]| line);
    line.is_some_and(|line| {
        line.windows(9)
            .any(|window| window == b"GtsVertex" || window == b"GtsSurfac")
    })
}

/// Returns whether the file is an MNI surface: it begins with `P`, six numbers that describe the surface, and
/// the number of points.
fn is_mni(head: &Head) -> bool {
    let Some([line]) = first_lines::<1>(head) else {
        return false;
    };
    let mut words = line
        .split(|byte| is_blank(*byte))
        .filter(|word| !word.is_empty());
    let is_polygons = words.next() == Some(b"P");
    let numbers = words.filter(|word| number::of(word).is_some()).count();
    is_polygons && numbers >= 6
}

/// Returns whether the file is UTF-16 without a byte order mark: every second byte is zero, and the others
/// are text.
fn is_utf16(head: &Head) -> bool {
    let start = &head.bytes[..head.bytes.len().min(256) & !1];
    start.len() >= 8 && (has_text_at(start, 0) || has_text_at(start, 1))
}

/// Returns whether each pair of bytes has a character of text at index `place` and a zero at the other index.
fn has_text_at(bytes: &[u8], place: usize) -> bool {
    bytes.chunks_exact(2).all(|pair| {
        let byte = pair[place];
        (byte.is_ascii_graphic() || is_blank(byte)) && pair[1 - place] == 0
    })
}

/// Returns the error for a file whose content is in another format. `None` if no other format is recognized.
/// For a container, the file extension decides.
pub(super) fn by_content(path: &Path, head: &Head) -> Option<Error> {
    let other = OTHERS
        .iter()
        .find(|other| other.signs.iter().any(|sign| sign.is_in(head)))?;
    if other.holds == Holds::Files
        && let Some(inner) = by_extension(path)
    {
        return Some(inner);
    }
    let what = if other.holds == Holds::NoMesh {
        "not a mesh"
    } else {
        "which is not supported"
    };
    let message = format!("this is {}, {what}", other.name);
    Some(Error::input(Code::S009, message).with_hint(other.hint))
}

/// Returns the error for a file with the extension of another format. `None` for other extensions.
pub(super) fn by_extension(path: &Path) -> Option<Error> {
    let extension = extension(path);
    let other = OTHERS
        .iter()
        .find(|other| other.extensions.contains(&extension.as_str()))?;
    let message = if other.holds == Holds::NoMesh {
        format!("{} is not a mesh", other.name)
    } else {
        format!("{} is not supported", other.name)
    };
    Some(Error::input(Code::S009, message).with_hint(other.hint))
}

/// Returns the error for bytes in an unknown format. `count` is the number of triangles that a binary STL
/// with these bytes would state.
pub(super) fn no_mesh(count: u64, length: Option<u64>) -> Error {
    let expected = length_for(count);
    let length = length.map_or_else(String::new, |length| format!(", and it has {length}"));
    let message = format!(
        "not a mesh of a known format: as binary STL it would have {count} triangles and {expected} bytes{length}"
    );
    Error::input(Code::S002, message).with_hint(EXPORT)
}

/// Returns the error for text in an unknown format.
pub(super) fn unknown() -> Error {
    Error::input(
        Code::S002,
        "the file is text, but neither ASCII STL, which begins with 'solid', nor OBJ",
    )
    .with_hint(EXPORT)
}

/// Returns the error for a folder in place of a file. It depends on the files in the folder.
pub(super) fn folder(path: &Path) -> Error {
    match count_meshes(path) {
        Err(error) => error,
        Ok(0) => {
            let mut extensions: Vec<_> = INPUTS
                .iter()
                .flat_map(|i| i.extensions)
                .map(|e| format!(".{e}"))
                .collect();
            extensions.dedup();
            Error::input(
                Code::S010,
                format!("no mesh ({}) in this folder", extensions.join(", ")),
            )
        }
        Ok(1) => Error::usage("a folder, with 1 mesh in it; name the file"),
        Ok(n) => Error::usage(format!(
            "a folder, with {n} meshes in it; one file is expected"
        )),
    }
}

/// Returns the number of files in a folder that have the extension of a mesh format.
fn count_meshes(folder: &Path) -> Result<usize> {
    let mut meshes = 0;
    for entry in folder.read_dir().map_err(|e| unreadable(&e))? {
        let entry = entry.map_err(|e| unreadable(&e))?.path();
        let extension = extension(&entry);
        let is_known = INPUTS
            .iter()
            .any(|input| input.extensions.contains(&extension.as_str()));
        meshes += usize::from(is_known && !entry.is_dir());
    }
    Ok(meshes)
}

/// Returns the file extension in lower case, or an empty string. For a `.gz` file, the extension before it.
fn extension(path: &Path) -> String {
    let extension = last_extension(path);
    if extension == "gz" {
        return last_extension(&path.with_extension(""));
    }
    extension
}

/// Returns the last file extension in lower case, or an empty string.
fn last_extension(path: &Path) -> String {
    match path.extension() {
        Some(extension) => extension.to_string_lossy().to_lowercase(),
        None => String::new(),
    }
}
