"""quern - graphs of kernels that stay on the machine's best device, from Python.

    import quern

    with quern.Context() as ctx:
        k = ctx.kernels("MAP(twice, INOUT(float, x)) { x[gx] = 2.0f * x[gx]; }")
        x = ctx.array([1, 2, 3], dtype="f4")
        ctx.run(k.twice, x)
        print(x.numpy())

quern.solweig, quern.les, quern.arc and quern.fit are the tools of the command. They take and give
arrays.
"""

from . import arc, fit, les, solweig
from ._lib import VERSION as __version__
from .buffers import Array
from .context import Context, default_context
from .devices import Device, devices
from .errors import Error, FallbackWarning
from .graph import Graph, Kernel, Kernels, builtin

__all__ = ["Array", "Context", "Device", "Error", "FallbackWarning", "Graph", "Kernel", "Kernels",
           "__version__", "arc", "builtin", "default_context", "devices", "fit", "les", "solweig"]
