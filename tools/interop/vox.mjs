// Compares a scene as VOXLoader of three.js builds it with an array of the same cells: vox.mjs NAME SCENE.vox CELLS.npy
//
// Voxels are taken from the triangles that three.js would draw, in world coordinates, not from the file: faces across x
// enter and leave the solid parts of each row. CELLS.npy has labels as u8, x fastest, and a sidecar. Colours must tell the
// labels of the visible cells apart.

import { readFileSync } from 'node:fs';
import { Vector3 } from 'three';
import { VOXLoader } from 'three/addons/loaders/VOXLoader.js';

const [name, scene, array] = process.argv.slice(2);

function readArray(path) {
    const bytes = readFileSync(path);
    const length = bytes.readUInt16LE(8);
    const header = bytes.toString('latin1', 10, 10 + length);
    const shape = header.match(/'shape': \((\d+), (\d+), (\d+)\)/).slice(1).map(Number);
    if (!/'descr': '\|u1', 'fortran_order': True/.test(header)) throw new Error(header);
    return { dims: shape, cells: bytes.subarray(10 + length), up: JSON.parse(readFileSync(path + '.json')).up ?? 'z' };
}

const { dims, cells, up } = readArray(array);
const [nx, ny, nz] = dims;
const turned = up === 'y';
const sceneDims = turned ? [nx, nz, ny] : dims;
const shift = [Math.floor(sceneDims[0] / 2), Math.floor(sceneDims[1] / 2), 0];

// The cell at a place of three.js, whose y is up; -1 outside the grid.
function indexOf(x, y, z) {
    const place = [x + shift[0], -z - 1 + shift[1], y + shift[2]];
    if (place.some((n, axis) => n < 0 || n >= sceneDims[axis])) return -1;
    const [i, j, k] = turned ? [place[0], place[2], nz - 1 - place[1]] : place;
    return i + nx * (j + ny * k);
}

const file = readFileSync(scene);
const { scene: root } = new VOXLoader().parse(file.buffer.slice(file.byteOffset, file.byteOffset + file.length));
root.updateMatrixWorld(true);

const found = new Uint8Array(cells.length);
const labelOfColour = new Map();
let wrong = 0;

function addMesh(mesh) {
    const { position, color } = mesh.geometry.attributes;
    const corner = new Vector3();
    const rows = new Map();
    // Four corners for each rectangle.
    for (let n = 0; n < position.count; n += 4) {
        const corners = [0, 1, 2, 3].map(m => {
            corner.fromBufferAttribute(position, n + m).applyMatrix4(mesh.matrixWorld);
            return [corner.x, corner.y, corner.z];
        });
        if (corners.flat().some(c => !Number.isInteger(c))) throw new Error(`a corner between cells: ${corners}`);
        const x = corners[0][0];
        if (corners.some(c => c[0] !== x)) continue;
        const [a, b, d] = [corners[0], corners[1], corners[3]];
        const normal = (b[1] - a[1]) * (d[2] - a[2]) - (b[2] - a[2]) * (d[1] - a[1]);
        const leaves = normal > 0;
        const colour = `${color.getX(n)} ${color.getY(n)} ${color.getZ(n)}`;
        const [y0, y1] = [Math.min(...corners.map(c => c[1])), Math.max(...corners.map(c => c[1]))];
        const [z0, z1] = [Math.min(...corners.map(c => c[2])), Math.max(...corners.map(c => c[2]))];
        for (let y = y0; y < y1; y++) {
            for (let z = z0; z < z1; z++) {
                const key = (y + 65536) * 262144 + z + 131072;
                if (!rows.has(key)) rows.set(key, []);
                rows.get(key).push({ x, y, z, leaves, colour });
            }
        }
    }
    for (const faces of rows.values()) {
        faces.sort((a, b) => a.x - b.x || Number(b.leaves) - Number(a.leaves));
        for (let n = 0; n < faces.length; n += 2) {
            const [enter, leave] = [faces[n], faces[n + 1]];
            if (enter.leaves || !leave?.leaves) throw new Error('a row that is not closed');
            for (let x = enter.x; x < leave.x; x++) add(x, enter.y, enter.z);
            checkColour(enter.x, enter);
            checkColour(leave.x - 1, leave);
        }
    }
}

function add(x, y, z) {
    const index = indexOf(x, y, z);
    if (index < 0 || found[index]) wrong++;
    else found[index] = 1;
}

function checkColour(x, { y, z, colour }) {
    const label = cells[indexOf(x, y, z)];
    if (!labelOfColour.has(colour)) labelOfColour.set(colour, label);
    if (labelOfColour.get(colour) !== label) wrong++;
}

root.traverse(object => object.isMesh && addMesh(object));
let voxels = 0;
for (let n = 0; n < cells.length; n++) {
    voxels += found[n];
    if (Boolean(cells[n]) !== Boolean(found[n])) wrong++;
}
console.log(`| ${name} | ${voxels} | ${wrong} |`);
if (wrong || !voxels) process.exitCode = 1;
