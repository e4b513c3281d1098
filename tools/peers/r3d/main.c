/* Shares of cells by r3d: a star-shaped mesh around the origin as tetrahedra, each cut by the cells that it meets.
 *
 * main STL CELLS HALF OUT: a grid of CELLS a side from -HALF to HALF; OUT gets the volumes of cells as doubles, x slowest.
 * Prints the seconds of all cells, without reading and writing. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "r3d.h"
#include "v3d.h"

int main(int argc, char **argv) {
    if (argc != 5)
        return 2;
    const int cells = atoi(argv[2]);
    const double half = atof(argv[3]), side = 2 * half / cells;
    FILE *file = fopen(argv[1], "rb");
    unsigned count;
    if (!file || fseek(file, 80, SEEK_SET) || fread(&count, 4, 1, file) != 1)
        return 1;
    unsigned char *records = malloc(50 * (size_t)count);
    double *volumes = calloc((size_t)cells * cells * cells, sizeof *volumes);
    if (!records || !volumes || fread(records, 50, count, file) != count)
        return 1;
    fclose(file);

    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned n = 0; n < count; n++) {
        float corners[3][3];
        memcpy(corners, records + 50 * (size_t)n + 12, sizeof corners);
        /* Grids of r3d begin at the origin. */
        r3d_rvec3 tetrahedron[4];
        for (int axis = 0; axis < 3; axis++) {
            for (int corner = 0; corner < 3; corner++)
                tetrahedron[corner].xyz[axis] = corners[corner][axis] + half;
            tetrahedron[3].xyz[axis] = half;
        }
        /* Seen from the origin, outsides are clockwise to it. */
        const r3d_real sign = r3d_orient(tetrahedron) < 0 ? 1 : -1;
        if (sign > 0) {
            const r3d_rvec3 first = tetrahedron[0];
            tetrahedron[0] = tetrahedron[1];
            tetrahedron[1] = first;
        }
        r3d_poly poly;
        r3d_init_tet(&poly, tetrahedron);
        r3d_rvec3 sides = {{side, side, side}};
        r3d_dvec3 box[2];
        r3d_get_ibox(&poly, box, sides);
        const int across = box[1].j - box[0].j, deep = box[1].k - box[0].k, wide = box[1].i - box[0].i;
        if (across <= 0 || deep <= 0 || wide <= 0)
            continue;
        double *some = calloc((size_t)wide * across * deep, sizeof *some);
        r3d_voxelize(&poly, box, some, sides, 0);
        for (int i = 0; i < wide; i++)
            for (int j = 0; j < across; j++)
                for (int k = 0; k < deep; k++)
                    volumes[((size_t)(box[0].i + i) * cells + box[0].j + j) * cells + box[0].k + k] +=
                        sign * some[(i * across + j) * deep + k];
        free(some);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.9f\n", (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
    FILE *out = fopen(argv[4], "wb");
    const size_t all = (size_t)cells * cells * cells;
    return !out || fwrite(volumes, sizeof *volumes, all, out) != all || fclose(out);
}
