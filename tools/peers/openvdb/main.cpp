// OpenVDB's meshToVolume on a lattice: `openvdb-peer STL OX,OY,OZ SIZE NX,NY,NZ BAND OUT`.
//
// Prints the seconds of the call and how many processors it kept busy as JSON, and writes the unsigned
// distances of the lattice's cells to OUT as 32-bit floats, x fastest; NaN where the band ends. The points
// are in index space, where the centre of cell (0, 0, 0) is the origin.

#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

template <typename T> static std::vector<T> numbers(const char* text) {
    std::vector<T> all;
    std::stringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        std::stringstream word(part);
        T value;
        word >> value;
        all.push_back(value);
    }
    return all;
}

int main(int, char** args) {
    openvdb::initialize();
    const auto origin = numbers<double>(args[2]);
    const double size = std::atof(args[3]);
    const auto dims = numbers<int>(args[4]);
    const float band = static_cast<float>(std::atof(args[5]));

    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;
    std::map<std::tuple<float, float, float>, unsigned> numbered;
    std::ifstream stl(args[1], std::ios::binary);
    stl.seekg(84);
    for (char record[50]; stl.read(record, 50);) {
        openvdb::Vec3I triangle;
        for (int corner = 0; corner < 3; ++corner) {
            float at[3];
            std::copy_n(record + 12 + 12 * corner, 12, reinterpret_cast<char*>(at));
            auto [entry, isNew] = numbered.try_emplace({at[0], at[1], at[2]}, points.size());
            if (isNew) {
                openvdb::Vec3s point;
                for (int a = 0; a < 3; ++a) point[a] = float((at[a] - origin[a]) / size - 0.5);
                points.push_back(point);
            }
            triangle[corner] = entry->second;
        }
        triangles.push_back(triangle);
    }

    const auto transform = openvdb::math::Transform::createLinearTransform(size);
    const openvdb::tools::QuadAndTriangleDataAdapter<openvdb::Vec3s, openvdb::Vec3I> mesh(points, triangles);
    std::vector<double> seconds;
    double all = 0, busy = 0;
    openvdb::FloatGrid::Ptr grid;
    while (seconds.empty() || (seconds.size() < 3 && all < 5)) {
        const auto begin = std::chrono::steady_clock::now();
        const auto processor = std::clock();
        grid = openvdb::tools::meshToVolume<openvdb::FloatGrid>(
            mesh, *transform, band, band, openvdb::tools::UNSIGNED_DISTANCE_FIELD);
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        busy += double(std::clock() - processor) / CLOCKS_PER_SEC;
        all += seconds.back();
    }
    std::sort(seconds.begin(), seconds.end());
    std::printf("{\"seconds\": %.6f, \"busy\": %.2f}\n", seconds[seconds.size() / 2], busy / all);

    std::vector<float> values(size_t(dims[0]) * dims[1] * dims[2], std::nanf(""));
    for (auto cell = grid->cbeginValueOn(); cell; ++cell) {
        const auto at = cell.getCoord();
        if (at.x() < 0 || at.y() < 0 || at.z() < 0) continue;
        if (at.x() >= dims[0] || at.y() >= dims[1] || at.z() >= dims[2]) continue;
        values[(size_t(at.z()) * dims[1] + at.y()) * dims[0] + at.x()] = cell.getValue();
    }
    std::ofstream(args[6], std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}
