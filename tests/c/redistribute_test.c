/* Distributions, groups and redistributions. */
#include "check.h"

enum { kRanks = 3, kRows = 7, kColumns = 5 };

/* A transpose of 7 x 5, by rows to by rows: rank r has 3, 3, 1 rows of the input and 2, 2, 1 of the output.
 */
typedef struct {
  float in[kRanks][3 * kColumns], out[kRanks][2 * kRows];
  int64_t in_shapes[kRanks][2], out_shapes[kRanks][2];
  relayout_tensor in_tensors[kRanks], out_tensors[kRanks];
} Transpose;

static void prepare(Transpose* t, const relayout_distribution* rows, const relayout_distribution* columns) {
  memset(t, 0, sizeof *t);
  for (int rank = 0; rank < kRanks; ++rank) {
    int64_t begin[2], end[2];
    CHECK_OK(relayout_distribution_box(rows, rank, begin, end));
    for (int64_t row = begin[0]; row < end[0]; ++row)
      for (int64_t column = 0; column < kColumns; ++column)
        t->in[rank][(row - begin[0]) * kColumns + column] = (float)(row * 100 + column);
    t->in_shapes[rank][0] = end[0] - begin[0];
    t->in_shapes[rank][1] = kColumns;
    CHECK_OK(relayout_distribution_box(columns, rank, begin, end));
    t->out_shapes[rank][0] = end[0] - begin[0];
    t->out_shapes[rank][1] = kRows;
    t->in_tensors[rank] = tensor_of(t->in[rank], kF32, 2, t->in_shapes[rank]);
    t->out_tensors[rank] = tensor_of(t->out[rank], kF32, 2, t->out_shapes[rank]);
  }
}

/* Checks the output, and forgets it. */
static void expect(Transpose* t) {
  int64_t column = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int64_t k = 0; k < t->out_shapes[rank][0]; ++k, ++column)
      for (int64_t row = 0; row < kRows; ++row)
        CHECK(t->out[rank][k * kRows + row] == (float)(row * 100 + column));
    memset(t->out[rank], 0, sizeof t->out[rank]);
  }
}

static void plans(const relayout_group* group, const relayout_distribution* rows,
                  const relayout_distribution* columns) {
  static Transpose t;
  const int32_t axes[] = {1, 0};
  relayout_redistribute_options options;
  relayout_redistribution* plan = NULL;
  prepare(&t, rows, columns);
  CHECK_OK(relayout_redistribute(group, rows, t.in_tensors, axes, 2, columns, t.out_tensors, NULL));
  CHECK_OK(relayout_group_synchronize(group));
  expect(&t);

  CHECK_OK(relayout_redistribute_options_init(&options, sizeof options));
  for (int32_t route = RELAYOUT_REDISTRIBUTE_DIRECT; route <= RELAYOUT_REDISTRIBUTE_JOINED; ++route) {
    const char* const names[] = {"", "Route: direct", "Route: staged", "", "Route: joined"};
    if (route == RELAYOUT_REDISTRIBUTE_COPY_ENGINE) continue; /* which does not permute */
    void* workspaces[kRanks] = {NULL};
    const void* in[kRanks];
    void* out[kRanks];
    const char* text = NULL;
    options.route = route;
    CHECK_OK(relayout_plan_redistribute(group, rows, t.in_tensors, axes, 2, columns, t.out_tensors, &options,
                                        &plan));
    CHECK_OK(relayout_redistribution_explain(plan, &text));
    CHECK(strstr(text, names[route]) != NULL);
    for (int rank = 0; rank < kRanks; ++rank) {
      uint64_t bytes = 0;
      CHECK_OK(relayout_redistribution_workspace_bytes(plan, rank, &bytes));
      if (rank == 0) CHECK((bytes > 0) == (route != RELAYOUT_REDISTRIBUTE_DIRECT));
      workspaces[rank] = aligned_alloc(64, (size_t)(bytes / 64 + 1) * 64);
      in[rank] = t.in[rank];
      out[rank] = t.out[rank];
    }
    CHECK_OK(relayout_redistribution_run(plan, workspaces));
    CHECK_OK(relayout_group_synchronize(group));
    expect(&t);
    CHECK_OK(relayout_redistribution_run_on(plan, in, out, workspaces));
    CHECK_OK(relayout_group_synchronize(group));
    expect(&t);
    if (route != RELAYOUT_REDISTRIBUTE_DIRECT)
      CHECK_FAILS(relayout_redistribution_run(plan, NULL), RELAYOUT_NULL_POINTER, "needs a workspace");
    CHECK_FAILS(relayout_redistribution_run_on(plan, NULL, out, workspaces), RELAYOUT_NULL_POINTER, "in");
    for (int rank = 0; rank < kRanks; ++rank) free(workspaces[rank]);
    relayout_redistribution_destroy(plan);
  }

  plan = (relayout_redistribution*)&plan;
  options.route = 5;
  CHECK_FAILS(
      relayout_plan_redistribute(group, rows, t.in_tensors, axes, 2, columns, t.out_tensors, &options, &plan),
      RELAYOUT_INVALID_ARGUMENT, "route is 5");
  CHECK(plan == NULL);
  CHECK_FAILS(relayout_redistribute(group, rows, NULL, axes, 2, columns, t.out_tensors, NULL),
              RELAYOUT_NULL_POINTER, "in is");
  CHECK_FAILS(relayout_redistribute(group, rows, t.in_tensors, axes, 2, rows, t.out_tensors, NULL),
              RELAYOUT_SHAPE, "global shape");
  CHECK_FAILS(relayout_redistribute(NULL, rows, t.in_tensors, axes, 2, columns, t.out_tensors, NULL),
              RELAYOUT_NULL_POINTER, "group");
}

/* Elements that are only moved: complex numbers of 16 bytes, from everything on rank 0 to boxes. */
static void moves(const relayout_group* group) {
  static double in[2 * 4], out[kRanks][2 * 4];
  const int64_t begins[] = {0, 0, 4}, all_ends[] = {4, 0, 4}, out_begins[] = {0, 1, 1},
                out_ends[] = {1, 1, 4}, shape[] = {4};
  const relayout_dl_dtype complex = {RELAYOUT_DL_COMPLEX, 128, 1};
  relayout_distribution *one = NULL, *many = NULL;
  relayout_tensor from[kRanks], to[kRanks];
  const int32_t axis = 0;
  for (int i = 0; i < 8; ++i) in[i] = i;
  CHECK_OK(relayout_distribution_create(1, shape, kRanks, begins, all_ends, &one));
  CHECK_OK(relayout_distribution_create(1, shape, kRanks, out_begins, out_ends, &many));
  int64_t counts[2][kRanks] = {{4, 0, 0}, {1, 0, 3}};
  for (int rank = 0; rank < kRanks; ++rank) {
    from[rank] = tensor_of(rank == 0 ? in : NULL, complex, 1, &counts[0][rank]);
    to[rank] = tensor_of(out[rank], complex, 1, &counts[1][rank]);
  }
  CHECK_OK(relayout_redistribute(group, one, from, &axis, 1, many, to, NULL));
  CHECK_OK(relayout_group_synchronize(group));
  CHECK(memcmp(out[0], in, 16) == 0 && memcmp(out[2], in + 2, 48) == 0);
  relayout_distribution_destroy(one);
  relayout_distribution_destroy(many);
}

static void all(relayout_device* device, relayout_stream* stream) {
  const int64_t in_shape[] = {kRows, kColumns}, out_shape[] = {kColumns, kRows};
  relayout_distribution *rows = NULL, *columns = NULL, *other = (relayout_distribution*)&other;
  relayout_group *group = NULL, *own = NULL, *none = (relayout_group*)&none;
  int32_t ranks = 0, local_ranks = 0, rank = 0;
  CHECK_OK(relayout_distribution_split(2, in_shape, 0, kRanks, &rows));
  CHECK_OK(relayout_distribution_split(2, out_shape, 0, kRanks, &columns));
  CHECK_OK(relayout_group_emulated(device, kRanks, &group));
  CHECK_OK(relayout_group_ranks(group, &ranks, &local_ranks));
  CHECK(ranks == kRanks && local_ranks == kRanks);
  CHECK_OK(relayout_group_local_rank(group, 2, &rank));
  CHECK(rank == 2);
  CHECK_FAILS(relayout_group_local_rank(group, 3, &rank), RELAYOUT_INVALID_ARGUMENT, "3 ranks");
  CHECK_OK(relayout_group_set_time_limit(group, 10));
  CHECK_FAILS(relayout_group_set_time_limit(group, 0), RELAYOUT_INVALID_ARGUMENT, "more than 0 s");
  CHECK_OK(relayout_group_register_output(group, NULL, 0));
  CHECK_OK(relayout_group_register_workspace(group, NULL, 0));
  CHECK_OK(relayout_group_close(group)); /* of one process, which goes on */
  plans(group, rows, columns);
  moves(group);

  const relayout_stream* streams[kRanks] = {stream, stream, stream};
  CHECK_OK(relayout_group_create(streams, kRanks, &own));
  plans(own, rows, columns);
  CHECK_FAILS(relayout_group_create(NULL, 0, &none), RELAYOUT_INVALID_ARGUMENT, "1 rank or more");
  CHECK(none == NULL);
  CHECK_FAILS(relayout_group_from_nccl(&ranks, stream, &none), RELAYOUT_UNSUPPORTED, "for GPUs");

  CHECK_OK(relayout_distribution_replicated(2, in_shape, kRanks, &other));
  relayout_distribution_destroy(other);
  CHECK_FAILS(relayout_distribution_split(2, in_shape, 2, kRanks, &other), RELAYOUT_INVALID_ARGUMENT,
              "no axis 2");
  CHECK(other == NULL);
  CHECK_FAILS(relayout_distribution_split(-1, in_shape, 0, kRanks, &other), RELAYOUT_RANK, "ndim is -1");
  CHECK_FAILS(relayout_distribution_create(2, in_shape, kRanks, NULL, NULL, &other), RELAYOUT_NULL_POINTER,
              "begins");
  CHECK_FAILS(relayout_distribution_box(rows, 3, NULL, NULL), RELAYOUT_INVALID_ARGUMENT, "no rank 3");
  relayout_distribution_destroy(rows);
  relayout_distribution_destroy(columns);
  relayout_distribution_destroy(NULL);
  relayout_redistribution_destroy(NULL);
  relayout_group_destroy(group);
  relayout_group_destroy(own);
  relayout_group_destroy(NULL);
  CHECK(strcmp(relayout_status_name(RELAYOUT_TIMEOUT), "timeout") == 0);
  CHECK(strcmp(relayout_status_name(RELAYOUT_INTERNAL), "internal") == 0);
  CHECK(strcmp(relayout_status_name(RELAYOUT_TIMEOUT + 1), "unknown") == 0);
}

int main(void) { return run_on_devices(all); }
