//! Voxel formats.
