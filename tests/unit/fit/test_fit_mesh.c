/* test_fit_mesh.c - generators, files and topology of meshes. */
#include "fit_problems.h"

#include <math.h>

static qn_fit_mesh read_mesh(const char *name)
{
    qn_fit_mesh m = { 0 };
    qn_err err = { .text = "" };
    char path[256], *text = NULL;
    size_t bytes;

    snprintf(path, sizeof path, "fit/mesh/%s", name);
    must_ok(qn_file_read(golden_path(path), &text, &bytes, &err), &err);
    must_ok(
        (strstr(name, ".ply") ? qn_fit_ply_parse : qn_fit_obj_parse)(name, text, bytes, &m, &err),
        &err);
    free(text);
    return m;
}

static void assert_same_mesh(const qn_fit_mesh *a, const qn_fit_mesh *b, double tolerance)
{
    assert_int_equal(a->n_verts, b->n_verts);
    assert_int_equal(a->n_faces, b->n_faces);
    assert_memory_equal(a->faces, b->faces, (size_t)a->n_faces * 3 * sizeof *a->faces);
    for (size_t k = 0; k < (size_t)a->n_verts * 3; k++)
        if (!(fabs(a->pos[k] - b->pos[k]) <= tolerance))
            fail_msg("vertex %zu: %.17g, %.17g", k / 3, a->pos[k], b->pos[k]);
}

static void icospheres_are_the_golden_ones(void **state)
{
    qn_err err = { .text = "" };
    char name[64];

    (void)state;
    need_golden("fit/mesh/icosphere0.obj");
    for (int level = 0; level <= 3; level++) {
        qn_fit_mesh made = { 0 }, read;

        snprintf(name, sizeof name, "icosphere%d.obj", level);
        read = read_mesh(name);
        must_ok(qn_fit_mesh_icosphere(level, 1, &made, &err), &err);
        assert_same_mesh(&made, &read, 2e-15);
        qn_fit_mesh_free(&made);
        qn_fit_mesh_free(&read);
    }
}

static void files_keep_every_digit(void **state)
{
    qn_fit_mesh made = { 0 }, back = { 0 };
    qn_str text = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_mesh_icosphere(2, 1.1, &made, &err), &err);
    qn_fit_obj_print(&made, &text);
    must_ok(qn_fit_obj_parse("t.obj", text.data, text.len, &back, &err), &err);
    assert_same_mesh(&made, &back, 0);
    qn_fit_mesh_free(&back);
    qn_str_free(&text);
    qn_fit_ply_print(&made, &text);
    must_ok(qn_fit_ply_parse("t.ply", text.data, text.len, &back, &err), &err);
    assert_same_mesh(&made, &back, 0);
    qn_fit_mesh_free(&back);
    qn_fit_mesh_free(&made);
    qn_str_free(&text);
}

static void binary_and_text_files_agree(void **state)
{
    qn_fit_mesh a, b;

    (void)state;
    need_golden("fit/mesh/torus.ply");
    a = read_mesh("torus.ply");
    b = read_mesh("torus.obj");
    assert_same_mesh(&a, &b, 1e-15);
    qn_fit_mesh_free(&a);
    qn_fit_mesh_free(&b);
}

static void polygons_and_slashes_are_read(void **state)
{
    const char text[] = "# a square\nvn 0 0 1\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0 1.0\n"
                        "f 1/1/1 2//1 3 -1\n";
    qn_fit_mesh m = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_obj_parse("q.obj", text, sizeof text - 1, &m, &err), &err);
    assert_int_equal(m.n_faces, 2);
    assert_memory_equal(m.faces, ((const uint32_t[]){ 0, 1, 2, 0, 2, 3 }), 24);
    qn_fit_mesh_free(&m);
}

static void bad_meshes_are_refused_with_their_line(void **state)
{
    static const struct {
        int is_ply;
        const char *text, *words;
    } bad[] = {
        { 0, "v 0 0\n", "b:1: vertex without z" },
        { 0, "v 0 0 nan\n", "b:1: vertex without z, or it is not finite" },
        { 0, "v 0 0 0\nf 1 1\n", "b:2: face of 2" },
        { 0, "v 0 0 0\nf 1 1 2\n", "b:2: face refers to vertex 2 of 1" },
        { 0, "v 0 0 0\nf 0 1 1\n", "b:2: face refers to vertex 0" },
        { 0, "v 0 0 0\nf 1 1 -2\n", "b:2: face refers to vertex -2" },
        { 1, "plx\n", "no PLY header" },
        { 1, "ply\nformat binary_big_endian 1.0\nend_header\n", "binary_big_endian" },
        { 1, "ply\nformat ascii 1.0\nelement vertex 99999999999\nend_header\n", "2^31" },
        { 1, "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n",
          "lacks" },
        { 1,
          "ply\nformat binary_little_endian 1.0\nelement vertex 2\nproperty double "
          "x\nend_header\n1",
          "within its data" },
    };
    qn_err err;

    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        qn_fit_mesh m = { 0 };

        err.text[0] = 0;
        assert_int_not_equal((bad[k].is_ply ? qn_fit_ply_parse : qn_fit_obj_parse)(
                                 "b", bad[k].text, strlen(bad[k].text), &m, &err),
                             QN_OK);
        if (!strstr(err.text, bad[k].words))
            fail_msg("\"%s\" says nothing of \"%s\"", err.text, bad[k].words);
    }
}

/* Topology. */

static void counts_are_the_golden_ones(void **state)
{
    json_t *root, *one;
    const char *name;

    (void)state;
    need_golden("fit/mesh/golden.json");
    root = golden_json("fit/mesh/golden.json");
    json_object_foreach(root, name, one)
    {
        qn_fit_mesh m = read_mesh(name);
        qn_fit_topology t = { 0 };
        qn_err err = { .text = "" };
        double boundary = 0;

        must_ok(qn_fit_topology_new(&m, &t, &err), &err);
        assert_int_equal(t.n_edges, json_integer_value(golden_member(one, "counts/edges")));
        assert_int_equal(t.n_hinges, json_integer_value(golden_member(one, "counts/hinges")));
        for (uint32_t v = 0; v < m.n_verts; v++)
            boundary += t.boundary[v];
        assert_int_equal((int)boundary,
                         json_integer_value(golden_member(one, "counts/boundary_vertices")));
        assert_int_equal(t.n_bad_edges + t.n_open_rings, 0);
        qn_fit_topology_free(&t);
        qn_fit_mesh_free(&m);
    }
    json_decref(root);
}

static void rings_go_around_their_vertex(void **state)
{
    qn_fit_mesh m = { 0 };
    qn_fit_topology t = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_mesh_grid(4, 3, 1, 1, &m, &err), &err);
    must_ok(qn_fit_topology_new(&m, &t, &err), &err);
    for (uint32_t v = 0; v < m.n_verts; v++)
        for (uint32_t k = t.ring_start[v]; k < t.ring_start[v + 1]; k++) {
            const uint32_t next = k + 1 < t.ring_start[v + 1] ? k + 1 : t.ring_start[v];

            if (k + 1 < t.ring_start[v + 1] || !t.boundary[v])
                assert_int_equal(t.ring_k[k], t.ring_j[next]);
        }
    qn_fit_topology_free(&t);
    qn_fit_mesh_free(&m);
}

static void an_edge_of_three_faces_is_no_hinge(void **state)
{
    const char text[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\n"
                        "f 1 2 3\nf 2 1 4\nf 1 2 5\n";
    qn_fit_mesh m = { 0 };
    qn_fit_topology t = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_obj_parse("n.obj", text, sizeof text - 1, &m, &err), &err);
    must_ok(qn_fit_topology_new(&m, &t, &err), &err);
    assert_int_equal(t.n_hinges, 0);
    assert_int_equal(t.n_bad_edges, 1);
    qn_fit_topology_free(&t);
    qn_fit_mesh_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(icospheres_are_the_golden_ones),
        cmocka_unit_test(files_keep_every_digit),
        cmocka_unit_test(binary_and_text_files_agree),
        cmocka_unit_test(polygons_and_slashes_are_read),
        cmocka_unit_test(bad_meshes_are_refused_with_their_line),
        cmocka_unit_test(counts_are_the_golden_ones),
        cmocka_unit_test(rings_go_around_their_vertex),
        cmocka_unit_test(an_edge_of_three_faces_is_no_hinge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
