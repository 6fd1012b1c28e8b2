/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Patterns of matrices on the device, and rows put together and cut apart
*/
#include "hashgemmcuda.h"
#include "spgemmcuda.cuh"

#define THREADS 256
#define EACH    8 /* entries for a thread */

/* Sums: they do not depend on the order in which threads arrive */
typedef struct {
  unsigned long long fingerprint, down, begins;
} Pattern;

/* Another number for every place and column */
static __device__ inline unsigned long long Mix(unsigned place, unsigned value)
{
  unsigned long long x = (unsigned long long)place << 32 | value;

  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

static __device__ inline void Add(unsigned long long sum, unsigned long long *all)
{
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(SPGEMM_ALL, sum, d);
  if (threadIdx.x % SPGEMM_WARP == 0 && sum) atomicAdd(all, sum);
}

/* Columns go down only from one row to the next */
static __global__ void __launch_bounds__(THREADS) Entries(int64_t nz, const int *__restrict__ j, Pattern *all)
{
  unsigned long long sum = 0, down = 0;
  int64_t            k = (int64_t)blockIdx.x * (THREADS * EACH) + threadIdx.x;

  for (int e = 0; e < EACH && k < nz; e++, k += THREADS) {
    sum += Mix((unsigned)k, (unsigned)j[k]);
    down += k && j[k] <= j[k - 1];
  }
  Add(sum, &all->fingerprint);
  Add(down, &all->down);
}

static __global__ void __launch_bounds__(THREADS) Rows(int64_t m, const int *__restrict__ i, const int *__restrict__ j, Pattern *all)
{
  const int64_t      r      = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  unsigned long long sum    = 0;
  bool               begins = false;

  if (r <= m) sum = 3 * Mix((unsigned)r, (unsigned)i[r]);
  if (r && r < m) begins = i[r] > 0 && i[r] < i[r + 1] && j[i[r]] <= j[i[r] - 1];
  Add(sum, &all->fingerprint);
  Add(begins, &all->begins);
}

static SpgemmDeviceStatus Fingerprint(const AmbDeviceCSR *A, Pattern *all, Pattern *host, cudaStream_t stream)
{
  SPGEMM_CUDA(cudaMemsetAsync(all, 0, sizeof(*all), stream));
  SPGEMM_CALL(SpgemmLaunch(Entries, SpgemmBlocks(A->nz, THREADS * EACH), THREADS, 0, stream, A->nz, A->j, all));
  SPGEMM_CALL(SpgemmLaunch(Rows, SpgemmBlocks(A->m + 1, THREADS), THREADS, 0, stream, A->m, A->i, A->j, all));
  SPGEMM_CUDA(cudaMemcpyAsync(host, all, sizeof(*host), cudaMemcpyDeviceToHost, stream));
  SPGEMM_CUDA(cudaStreamSynchronize(stream));
  return SPGEMM_DEVICE_SUCCESS;
}

SpgemmDeviceStatus HashGEMMDeviceFingerprint(SpgemmDeviceContext *context, const AmbDeviceCSR *A, AmbStream stream, uint64_t *fingerprint, int *ascending)
{
  void              *all;
  Pattern            host;
  SpgemmDeviceStatus status;

  SPGEMM_CALL(SpgemmDeviceAllocate(context, sizeof(Pattern), &all, stream));
  status = Fingerprint(A, (Pattern *)all, &host, stream);
  SpgemmDeviceRelease(context, all, stream);
  if (status) return status;
  *fingerprint = host.fingerprint;
  *ascending   = host.down == host.begins;
  return SPGEMM_DEVICE_SUCCESS;
}

/* ---- Rows put together and cut apart: a few threads to each ---- */

#define TEAM 8

static __device__ inline int Begin(const int *i, int64_t r)
{
  return i ? i[r] : 0;
}

static __global__ void __launch_bounds__(THREADS) Merge(int64_t m, AmbDeviceCSR d, AmbDeviceCSR o, int n, const int *__restrict__ map, int *__restrict__ i, int *__restrict__ j, AmbScalar *__restrict__ a)
{
  const int64_t r    = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / TEAM;
  const int     lane = (int)threadIdx.x % TEAM;

  if (r > m) return;
  if (i && !lane) i[r] = Begin(d.i, r) + Begin(o.i, r);
  if (r == m) return;
  for (int k = Begin(d.i, r) + lane, shift = Begin(o.i, r); k < Begin(d.i, r + 1); k += TEAM) {
    if (j) j[shift + k] = d.j[k];
    if (a) a[shift + k] = d.a[k];
  }
  for (int k = Begin(o.i, r) + lane, shift = Begin(d.i, r + 1); k < Begin(o.i, r + 1); k += TEAM) {
    if (j) j[shift + k] = n + (map ? map[o.j[k]] : o.j[k]);
    if (a) a[shift + k] = o.a[k];
  }
}

SpgemmDeviceStatus HashGEMMDeviceMerge(const AmbDeviceCSR *d, const AmbDeviceCSR *o, int n, const int *map, int *i, int *j, AmbScalar *a, AmbStream stream)
{
  return SpgemmLaunch(Merge, SpgemmBlocks((d->m + 1) * TEAM, THREADS), THREADS, 0, stream, d->m, *d, *o, n, map, i, j, a);
}

static __global__ void __launch_bounds__(THREADS) CutValues(HashGEMMDeviceCutRows rows, int64_t m, const int *__restrict__ di, const int *__restrict__ oi, AmbScalar *__restrict__ da, AmbScalar *__restrict__ oa)
{
  const int64_t    r    = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / TEAM;
  const int        lane = (int)threadIdx.x % TEAM;
  const AmbScalar *a;
  int              d, length;

  if (r >= m) return;
  if (rows.from && rows.from[r] >= 0) a = rows.othera + rows.otheri[rows.from[r]];
  else a = rows.a + rows.i[r];
  d      = Begin(di, r);
  length = Begin(di, r + 1) - d;
  for (int k = lane; k < length; k += TEAM) da[d + k] = a[k];
  for (int k = Begin(oi, r) + lane, first = Begin(oi, r); k < Begin(oi, r + 1); k += TEAM) oa[k] = a[length + k - first];
}

SpgemmDeviceStatus HashGEMMDeviceCutValues(const HashGEMMDeviceCutRows *rows, int64_t m, const int *di, const int *oi, AmbScalar *da, AmbScalar *oa, AmbStream stream)
{
  return SpgemmLaunch(CutValues, SpgemmBlocks(m * TEAM, THREADS), THREADS, 0, stream, *rows, m, di, oi, da, oa);
}

static __global__ void __launch_bounds__(THREADS) Scatter(int64_t n, const int *__restrict__ place, const AmbScalar *__restrict__ values, AmbScalar *__restrict__ a)
{
  const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;

  if (k < n) a[place[k]] = values[k];
}

SpgemmDeviceStatus HashGEMMDeviceScatter(int64_t n, const int *place, const AmbScalar *values, AmbScalar *a, AmbStream stream)
{
  return SpgemmLaunch(Scatter, SpgemmBlocks(n, THREADS), THREADS, 0, stream, n, place, values, a);
}

static __global__ void __launch_bounds__(THREADS) TakeRows(int64_t n, const int *__restrict__ rows, const int *__restrict__ begin, const int *__restrict__ i, const AmbScalar *__restrict__ a, AmbScalar *__restrict__ taken)
{
  const int64_t r = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / TEAM;

  if (r >= n) return;
  for (int k = (int)threadIdx.x % TEAM, first = i[rows[r]]; k < i[rows[r] + 1] - first; k += TEAM) taken[begin[r] + k] = a[first + k];
}

SpgemmDeviceStatus HashGEMMDeviceTakeRows(int64_t n, const int *rows, const int *begin, const int *i, const AmbScalar *a, AmbScalar *taken, AmbStream stream)
{
  return SpgemmLaunch(TakeRows, SpgemmBlocks(n * TEAM, THREADS), THREADS, 0, stream, n, rows, begin, i, a, taken);
}
