"""Medical and VTK images. Packages: numpy, pynrrd, nibabel, SimpleITK, vtk, pyvista."""

import numpy


def _at_centres(cells, centre, steps):
    """Converts the centre of an image's first cell to the corner of the grid."""
    steps = numpy.asarray(steps, float)
    if not numpy.array_equal(steps, numpy.diag(numpy.diag(steps))):
        raise ValueError(f"steps along other axes: {steps}")
    spacing = numpy.diag(steps)
    return dict(cells=cells, origin=numpy.asarray(centre) - spacing / 2, spacing=spacing)


def read_nrrd(path):
    import nrrd

    cells, head = nrrd.read(str(path))
    assert head["space"] == "left-posterior-superior", head
    return _at_centres(cells, head["space origin"], head["space directions"])


def read_nibabel(path):
    import nibabel

    image = nibabel.load(str(path))
    frames = [image.get_sform(), image.get_qform()]
    assert numpy.allclose(*frames, rtol=1e-6), frames
    assert "".join(nibabel.aff2axcodes(image.affine)) == "LPS", image.affine
    affine = numpy.diag([-1.0, -1.0, 1.0, 1.0]) @ image.affine  # RAS to LPS
    return _at_centres(numpy.asanyarray(image.dataobj), affine[:3, 3], affine[:3, :3])


def read_simpleitk(path):
    import SimpleITK

    image = SimpleITK.ReadImage(str(path))
    cells = SimpleITK.GetArrayFromImage(image).transpose(2, 1, 0)
    steps = numpy.reshape(image.GetDirection(), (3, 3)) * image.GetSpacing()
    return _at_centres(cells, image.GetOrigin(), steps)


def read_vtk(path):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader

    reader = vtkXMLImageDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    array = image.GetCellData().GetScalars()
    shape = numpy.array(image.GetDimensions()) - 1
    values = vtk_to_numpy(array)
    return dict(cells=values.reshape(shape, order="F"), origin=image.GetOrigin(), spacing=image.GetSpacing())


def read_pyvista(path):
    import pyvista

    image = pyvista.read(str(path))
    cells = numpy.asarray(image.cell_data["voxels"]).reshape(numpy.array(image.dimensions) - 1, order="F")
    return dict(cells=cells, origin=image.origin, spacing=image.spacing)
