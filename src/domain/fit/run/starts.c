/* starts.c - commented programs to begin with. */
#include "domain/fit/run/run.h"

#include <string.h>

static const char nist[] =
    "fit 1;\n"
    "\n"
    "# A curve through measurements: y = b1 (1 - exp(-b2 x)).\n"
    "# A table in the text; from a file it would be one of\n"
    "#   table T = nist(\"Misra1a.dat\");                      columns y, x (or y, x1, x2)\n"
    "#   table T = csv(\"points.csv\", header=1, sep=\",\");     columns by their names\n"
    "table T(y, x) = {\n"
    "  10.07  77.6;  14.73 114.9;  17.94 141.1;  23.93 190.8;  29.61 239.9;\n"
    "  35.18 289.0;  40.02 332.8;  44.82 378.4;  50.76 434.8;  55.05 477.3;\n"
    "  61.01 536.8;  66.40 593.1;  75.47 689.1;  81.78 760.0;\n"
    "};\n"
    "\n"
    "# Parameters with start values; --set b1=250 changes a start value.\n"
    "param b1 = 500;\n"
    "param b2 = 0.0001;            # bounds: param b2 = 0.0001 lower 0 upper 1;\n"
    "\n"
    "# One residual for each row of the table. For outliers: ... in T loss huber(0.1) { ... }\n"
    "residual r over i in T { yield i.y - b1*(1 - exp(-b2*i.x)); }\n"
    "\n"
    "solve lm {\n"
    "  max_iterations = 500;\n"
    "  function_tolerance = 1e-18;\n"
    "  parameter_tolerance = 1e-14;\n"
    "  linear_solver = dense_qr;\n"
    "}\n";

static const char mesh[] =
    "fit 1;\n"
    "\n"
    "# A soap film: a sheet of springs under tension, its rim bent up and down and held there.\n"
    "# Your own mesh: mesh M = obj(\"part.obj\");  or ply(\"part.ply\").\n"
    "mesh M = grid(24, 24, 1.0, 1.0);\n"
    "const high = 0.25;            # --set high=0.4 bends the rim more\n"
    "\n"
    "# The parameters: positions of vertices, starting at those of the mesh; the rim is fixed.\n"
    "param x[M.verts] : vec3 =\n"
    "  M.pos + [0, 0, high*self.boundary*cos(2*pi*M.pos[self].x)*cos(2*pi*M.pos[self].y)]\n"
    "  fixed where self.boundary == 1;\n"
    "\n"
    "# Springs of length 0 pull everywhere; folds cost a little.\n"
    "residual spring over e in M.edges { yield x[e.a] - x[e.b]; }\n"
    "residual fold over h in M.hinges weight 1e-4 {\n"
    "  yield dihedral(x[h.a], x[h.b], x[h.c], x[h.d]);\n"
    "}\n"
    "\n"
    "solve lm { max_iterations = 100; }\n"
    "write x to \"film.obj\";\n";

static const char bal[] =
    "fit 1;\n"
    "\n"
    "# Bundle adjustment: cameras and points from observations. With a file of the BAL\n"
    "# format the tables below become\n"
    "#   bal B = bal(\"problem.txt.gz\");\n"
    "#   param cam[B.cameras] : real[9] = B.camera;\n"
    "#   param pt[B.points] : vec3 = B.point;\n"
    "# and the observations are B.obs.\n"
    "table C(wx, wy, wz, tx, ty, tz, hold) = {\n"
    "  0 0 0 0 0 -4 1;\n"
    "  -0.11 0.33 -0.06 0.17 0.11 -4.34 0;\n"
    "  0.28 -0.13 0.1 -0.32 0.46 -4.44 0;\n"
    "};\n"
    "table P(x, y, z) = {\n"
    "  -1.01 -1.05 0.05;  0.91 -1.01 0.03;  1.15 0.81 0.12;  -0.92 0.96 0.02;\n"
    "  -0.04 0.13 0.62;  0.48 -0.52 0.88;  -0.51 0.43 0.96;  0.05 0.11 -0.71;\n"
    "};\n"
    "set obs(cam -> C, pt -> P, u, v) = {\n"
    "  (0, 0, -125, -124.6), (0, 1, 124.7, -124.7), (0, 2, 124.9, 124.9), (0, 3, -124.4, 125),\n"
    "  (0, 4, -0, 0.2), (0, 5, 81, -80.7), (0, 6, -77.9, 77.8), (0, 7, 21.2, 42.4),\n"
    "  (1, 0, -81.9, -131.7), (1, 1, 132.5, -109), (1, 2, 133, 108.9), (1, 3, -81.5, 130.8),\n"
    "  (1, 4, 73.1, 0.1), (1, 5, 156, -70.4), (1, 6, 23, 75.9), (1, 7, 21.3, 40),\n"
    "  (2, 0, -123.5, -56), (2, 1, 87.4, -61.8), (2, 2, 97.5, 167.2), (2, 3, -143.8, 163.2),\n"
    "  (2, 4, -33.5, 29), (2, 5, 29.5, -48.3), (2, 6, -110.9, 91.6), (2, 7, 6, 100.3)\n"
    "};\n"
    "\n"
    "# The first camera is fixed; a camera is a rotation (angle-axis) and a translation.\n"
    "param cam[C] : real[6] = [wx, wy, wz, tx, ty, tz] fixed where hold == 1;\n"
    "param pt[P] : vec3 = [x, y, z];\n"
    "const f = 500;\n"
    "\n"
    "residual reproj over o in obs loss huber(5) {\n"
    "  let c = cam[o.cam];\n"
    "  let p = rotate_aa([c[0],c[1],c[2]], pt[o.pt]) + [c[3],c[4],c[5]];\n"
    "  yield -f*p.x/p.z - o.u, -f*p.y/p.z - o.v;\n"
    "}\n"
    "# Images do not determine the size of the scene; one known length does.\n"
    "set base(c -> C, far) = { (1, 4.210701) };\n"
    "residual scale over b in base {\n"
    "  let c = cam[b.c];\n"
    "  yield 100*(length([c[3],c[4],c[5]]) - b.far);\n"
    "}\n"
    "\n"
    "eliminate pt;                 # solve for the points first: the rest is small\n"
    "solve lm { linear_solver = schur; max_iterations = 100; }\n"
    "write pt to \"points.csv\";\n"
    "write cam to \"cameras.csv\";\n";

static const char sketch[] =
    "fit 1;\n"
    "\n"
    "# A rough quadrangle drawn by hand becomes a rectangle of 4 by 2.\n"
    "table P(x0, y0, pin) = { 0 0 1; 3.8 0.3 0; 4.2 2.1 0; -0.2 1.9 0 };\n"
    "\n"
    "# Constraints are lists of points, and of numbers where needed.\n"
    "set horiz(a -> P, b -> P) = { (0,1), (2,3) };\n"
    "set perp(a -> P, b -> P, c -> P, d -> P) = { (0,1,1,2), (0,1,3,0) };\n"
    "set len(a -> P, b -> P, d) = { (0,1,4.0), (1,2,2.0) };\n"
    "\n"
    "param p[P] : vec2 = [x0, y0] fixed where pin == 1;\n"
    "\n"
    "residual h over l in horiz { yield p[l.b].y - p[l.a].y; }\n"
    "residual q over l in perp  { yield dot(normalize(p[l.b]-p[l.a]), normalize(p[l.d]-p[l.c])); "
    "}\n"
    "residual d over l in len   { yield length(p[l.b]-p[l.a]) - l.d; }\n"
    "\n"
    "solve lm { }\n"
    "write p to \"corners.csv\";\n";

const char *qn_fit_start(const char *name)
{
    static const struct {
        const char *name, *text;
    } starts[] = { { "nist", nist }, { "mesh", mesh }, { "bal", bal }, { "sketch", sketch } };

    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++)
        if (!strcmp(starts[k].name, name))
            return starts[k].text;
    return NULL;
}
