/* town.c - heat in a street, from an array in memory: sky view, then an hour of a summer day.
 *
 * Run it with the name of a backend ("cpu", "opencl", "cuda"), or with none to let quern choose.
 */
#include <quern/solweig.h>

#include <math.h>
#include <stdio.h>

enum { SIDE = 48, CELLS = SIDE * SIDE };

/* Two rows of houses along a street from west to east. */
static void build(float *dsm)
{
    for (int row = 0; row < SIDE; row++)
        for (int col = 0; col < SIDE; col++) {
            const int is_house = (row >= 10 && row < 20) || (row >= 28 && row < 38);

            dsm[row * SIDE + col] = is_house && col >= 6 && col < SIDE - 6 ? 14.0f : 0.0f;
        }
}

static qn_status run(qn_ctx *ctx, qn_err *err)
{
    static float dsm[CELLS], maps[QN_SW_SVF_MAPS * CELLS];
    qn_sw_layer_options layers;
    qn_sw_run_options options;
    /* 26 July 2006, 13:00. */
    const qn_sw_weather_step noon = { .minutes = 19231980,
                                      .ta = 26,
                                      .rh = 55,
                                      .ws = 2,
                                      .pressure_hpa = 1013,
                                      .global = 800,
                                      .direct = NAN,
                                      .diffuse = NAN };
    const int street = 24 * SIDE + 24, open = 2 * SIDE + 2;
    qn_sw_result *result = NULL;
    qn_status st;

    build(dsm);
    qn_sw_layer_options_init(&layers, sizeof layers);
    layers.rows = layers.cols = SIDE;
    layers.dsm = dsm;
    layers.n_dsm = CELLS;
    qn_sw_run_options_init(&options, sizeof options);
    options.weather = &noon;
    options.n_weather = 1;
    options.latitude = 57.7;
    options.longitude = 12;
    options.utc_offset = 1;
    options.outputs = "tmrt,shadow";
    if ((st = qn_sw_svf(ctx, &layers, NULL, maps, NULL, NULL, err)) != QN_OK ||
        (st = qn_sw_run(ctx, &layers, &options, &result, err)) != QN_OK)
        return st;
    const float *tmrt = qn_sw_result_plane(result, "tmrt");

    printf("sky view %.2f in the street, %.2f in the open\n", (double)maps[street],
           (double)maps[open]);
    printf("mean radiant temperature %.1f in the street, %.1f in the open, %.1f in the mean\n",
           (double)tmrt[street], (double)tmrt[open], qn_sw_result_steps(result)->tmrt_mean);
    qn_sw_result_free(result);
    return QN_OK;
}

int main(int argc, char **argv)
{
    const qn_options options = QN_OPTIONS(.backend = argc > 1 ? argv[1] : "auto");
    qn_ctx *ctx = NULL;
    qn_err err = { .text = "" };
    qn_status st = qn_ctx_open(&options, &ctx, &err);

    if (st == QN_OK)
        st = run(ctx, &err);
    if (st != QN_OK)
        fprintf(stderr, "town: %s\n", err.text);
    qn_ctx_close(ctx);
    return st == QN_OK ? 0 : 1;
}
