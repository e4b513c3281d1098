// The corners of the triangles of a scene as GLTFLoader of three.js builds it, in world coordinates, as doubles on standard
// output: glb.mjs SCENE.glb

import { readFileSync, writeSync } from 'node:fs';
import { Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

// The loader asks for it, though a scene without pictures needs none.
globalThis.self = globalThis;

const file = readFileSync(process.argv[2]);
const scene = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
new GLTFLoader().parse(scene, '', ({ scene: root }) => {
    root.updateMatrixWorld(true);
    root.traverse(mesh => {
        if (!mesh.isMesh) return;
        if (mesh.material.vertexColors || !mesh.material.flatShading) throw new Error('not shaded flat');
        const { position } = mesh.geometry.attributes;
        const { array } = mesh.geometry.index;
        const corner = new Vector3();
        const corners = new Float64Array(3 * array.length);
        array.forEach((vertex, n) => {
            corner.fromBufferAttribute(position, vertex).applyMatrix4(mesh.matrixWorld);
            corners.set([corner.x, corner.y, corner.z], 3 * n);
        });
        const bytes = Buffer.from(corners.buffer);
        for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at);
    });
}, error => { throw error; });
