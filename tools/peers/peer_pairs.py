"""Interfaces of the peers. For one or two meshes, given as points and numbers of corners, each returns the
timed call and the conversion of its result. Structures that a peer builds for the result, such as a tree, are
part of the call."""

import numpy


def meshlib_itself(mesh):
    """All pairs, by 32-bit floats. It omits neighbours with a common edge."""
    from meshlib import mrmeshnumpy
    from meshlib import mrmeshpy as meshlib

    points, triangles = mesh
    solid = mrmeshnumpy.meshFromFacesVerts(triangles.astype("i4"), points)

    def call():
        solid.invalidateCaches()
        return meshlib.findSelfCollidingTriangles(meshlib.MeshPart(solid))

    def found(result):
        pairs = [[pair.aFace.get(), pair.bFace.get()] for pair in result]
        return {"pairs": pairs, "triangles": sorted({n for pair in pairs for n in pair})}

    return call, found


def pymeshlab_itself(mesh):
    """Selected faces."""
    import pymeshlab

    points, triangles = mesh
    meshes = pymeshlab.MeshSet()
    meshes.add_mesh(pymeshlab.Mesh(vertex_matrix=points.astype("f8"), face_matrix=triangles.astype("i4")))

    def found(_):
        selected = meshes.current_mesh().face_selection_array()
        return {"triangles": [int(n) for n in numpy.flatnonzero(selected)]}

    return meshes.compute_selection_by_self_intersections_per_face, found


def cgal_itself(mesh):
    """All pairs, exactly. Requires a polyhedron, so non-manifold vertices and edges are duplicated first, and
    triangles that repeat a vertex are dropped."""
    from CGAL import CGAL_Polygon_mesh_processing as processing
    from CGAL.CGAL_Kernel import Point_3
    from CGAL.CGAL_Polyhedron_3 import Polyhedron_3

    points, triangles = mesh
    corners, polygons = processing.Point_3_Vector(), processing.Polygon_Vector()
    for point in points:
        corners.append(Point_3(*map(float, point)))
    for triangle in triangles:
        polygon = processing.Int_Vector()
        for n in triangle:
            polygon.append(int(n))
        polygons.append(polygon)
    processing.orient_polygon_soup(corners, polygons)
    solid = Polyhedron_3()
    processing.polygon_soup_to_polygon_mesh(corners, polygons, solid)
    numbers = {tuple(sorted(map(tuple, points[triangle]))): n for n, triangle in enumerate(triangles)}

    def number(facet):
        around, at = [], facet.halfedge()
        for _ in range(3):
            point = at.vertex().point()
            around.append((point.x(), point.y(), point.z()))
            at = at.next()
        return numbers[tuple(sorted(around))]

    def call():
        pairs = []
        processing.self_intersections(solid, pairs)
        return pairs

    def found(result):
        pairs = [[number(pair.first), number(pair.second)] for pair in result]
        return {"pairs": pairs, "triangles": sorted({n for pair in pairs for n in pair})}

    return call, found


def meshlib_two(first, second):
    """Colliding pairs and, if there are none, the distance, by 32-bit floats."""
    from meshlib import mrmeshnumpy
    from meshlib import mrmeshpy as meshlib

    solids = [mrmeshnumpy.meshFromFacesVerts(t.astype("i4"), p) for p, t in (first, second)]

    def call():
        for solid in solids:
            solid.invalidateCaches()
        parts = [meshlib.MeshPart(solid) for solid in solids]
        pairs = meshlib.findCollidingTriangles(*parts)
        return pairs, 0.0 if len(pairs) else meshlib.findDistance(*parts).distSq ** 0.5

    def found(result):
        return {"pairs": [[pair.aFace.get(), pair.bFace.get()] for pair in result[0]], "distance": result[1]}

    return call, found


def coal_two(first, second):
    """The distance, in doubles."""
    import coal

    def body(points, triangles):
        tree = coal.BVHModelOBBRSS()
        tree.beginModel(len(triangles), len(points))
        tree.addVertices(points.astype("f8"))
        tree.addTriangles(triangles.astype("i8"))
        tree.endModel()
        return tree

    def call():
        place = coal.Transform3s.Identity()
        bodies = [body(*mesh) for mesh in (first, second)]
        return coal.distance(bodies[0], place, bodies[1], place, coal.DistanceRequest(), coal.DistanceResult())

    return call, lambda distance: {"distance": max(distance, 0.0)}


def fcl_two(first, second):
    """The distance, in doubles."""
    import fcl

    def body(points, triangles):
        tree = fcl.BVHModel()
        tree.beginModel(len(points), len(triangles))
        tree.addSubModel(points.astype("f8"), triangles.astype("i4"))
        tree.endModel()
        return fcl.CollisionObject(tree)

    def call():
        return fcl.distance(body(*first), body(*second), fcl.DistanceRequest(), fcl.DistanceResult())

    return call, lambda distance: {"distance": max(distance, 0.0)}
