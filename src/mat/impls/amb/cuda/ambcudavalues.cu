/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Storage of values in AMB on a CUDA device: the device finds the distinct values, the host builds the table, the device stores indices or floats

   ambhost.h has the idea.
*/
#include "mat/impls/amb/cuda/ambcuda.cuh"

#define AMB_VALUES_THREADS  128  /* threads of a block that codes values */
#define AMB_DISTINCT_SLOTS  1024 /* slots of the set of distinct values */
#define AMB_DISTINCT_BLOCKS 1056 /* most thread blocks of the search for distinct values */
#define AMB_DISTINCT_LOADS  8    /* values that a thread loads together */

/* The set of distinct values, by their bits, in a hash table; 0 marks an empty slot and is not entered */
typedef struct {
  unsigned long long slot[AMB_DISTINCT_SLOTS];
  int                used, overflow, not_float;
} AmbDistinct;

/* Enters values into the set until it is full. Each thread block caches the values it entered, so it rarely reads the set. All threads read the
   cache, then add to it, at the same point. */
static __global__ void __launch_bounds__(SYS_THREADS) AmbValuesFind(int64_t nz, const SysScalar *__restrict__ a, const int *__restrict__ from, int table, volatile AmbDistinct *D)
{
  __shared__ unsigned long long entered[AMB_DISTINCT_SLOTS];
  bool                          floats = true;

  for (unsigned k = threadIdx.x; k < AMB_DISTINCT_SLOTS; k += SYS_THREADS) entered[k] = 0;
  __syncthreads();
  for (int64_t first = (int64_t)blockIdx.x * AMB_DISTINCT_LOADS * SYS_THREADS; first < nz; first += (int64_t)gridDim.x * AMB_DISTINCT_LOADS * SYS_THREADS) {
    SysScalar v[AMB_DISTINCT_LOADS];
    unsigned  slot[AMB_DISTINCT_LOADS];
    bool      enter[AMB_DISTINCT_LOADS];

    if (D->overflow) table = 0;
    if (__syncthreads_and(!table && D->not_float)) return;
#pragma unroll
    for (int e = 0; e < AMB_DISTINCT_LOADS; e++) {
      const int64_t k = first + e * SYS_THREADS + threadIdx.x;

      v[e] = k < nz ? a[from ? from[k] : k] : 0;
    }
#pragma unroll
    for (int e = 0; e < AMB_DISTINCT_LOADS; e++) {
      const unsigned long long bits = SysTableBitsOf(&v[e]).word[0];

#if defined(SYS_HAVE_STORAGE_SINGLE)
      floats &= SysIsFloat(&v[e]) != 0;
#else
      floats = false;
#endif
      slot[e]  = (unsigned)SysTableHash(SysTableBitsOf(&v[e])) % AMB_DISTINCT_SLOTS;
      enter[e] = table && bits && entered[slot[e]] != bits;
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < AMB_DISTINCT_LOADS; e++) {
      const unsigned long long bits = SysTableBitsOf(&v[e]).word[0];

      if (!enter[e]) continue;
      (void)atomicExch(&entered[slot[e]], bits);
      for (unsigned h = slot[e];; h = (h + 1) % AMB_DISTINCT_SLOTS) {
        unsigned long long here = D->slot[h];

        if (here == 0) {
          here = atomicCAS((unsigned long long *)&D->slot[h], 0ull, bits);
          if (here == 0 && atomicAdd((int *)&D->used, 1) >= SYS_TABLE_VALUES - 1) D->overflow = 1;
          if (here == 0) break;
        }
        if (here == bits || D->overflow) break;
      }
    }
    if (!floats && !D->not_float) D->not_float = 1;
  }
}

SysStatus AmbValuesChoose(SysValuesChoice *V, int64_t nz, const SysScalar *a, const int *from, cudaStream_t stream)
{
  AmbDistinct found;
  SysScratch  s;

  if (!nz || !(SysValuesDepend(V) || V->asked == SYS_VALUES_SINGLE)) {
    SysValuesSelect(V, 0, NULL, 1, 0);
    return SYS_SUCCESS;
  }
  SYS_CALL(SysScratchAllocate(&s, sizeof(found), stream));
  SYS_CUDA(cudaMemsetAsync(s.memory, 0, sizeof(found), stream));
  SYS_CALL(SysLaunch(AmbValuesFind, SysMin(SysBlocks(nz, AMB_DISTINCT_LOADS * SYS_THREADS), AMB_DISTINCT_BLOCKS), SYS_THREADS, 0, stream, nz, a, from, SysValuesDepend(V), (AmbDistinct *)s.memory));
  SYS_CUDA(cudaMemcpyAsync(&found, s.memory, sizeof(found), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  if (found.overflow) SysValuesSelect(V, 0, NULL, 1, !found.not_float);
  else {
    uint64_t slot[SYS_TABLE_VALUES];
    int      n = 0;

    for (int k = 0; k < AMB_DISTINCT_SLOTS; k++) {
      if (found.slot[k]) slot[n++] = found.slot[k];
    }
    SysValuesSelect(V, n, slot, 0, !found.not_float);
  }
  return SYS_SUCCESS;
}

/* The source of values: val[], or a[] through the map */
typedef struct {
  const SysScalar *val, *a;
  const int       *map;
} Source;

static __device__ __forceinline__ SysScalar AmbValueOf(const Source &S, size_t at)
{
  if (!S.map) return S.val[at];
  return S.map[at] < 0 ? 0 : S.a[S.map[at]];
}

#if defined(SYS_HAVE_STORAGE_SINGLE)
static __global__ void __launch_bounds__(SYS_THREADS) AmbValuesRound(int64_t n, const Source S, float *to)
{
  SYS_FOR_EACH(k, n) to[k] = (float)AmbValueOf(S, (size_t)k);
}
#endif

/* Codes one value, and a word of four values */
struct MakePositions {
  typedef uint8_t  Small;
  typedef unsigned Word;
  const SysTable  *table; /* in shared memory */

  __device__ Small Of(SysScalar v) const { return (uint8_t)SysTableFind(table, &v); }
  __device__ Word  Of(const Small *q) const { return q[0] | (unsigned)q[1] << 8 | (unsigned)q[2] << 16 | (unsigned)q[3] << 24; }
};

struct MakeFloats {
  typedef float   Small;
  typedef float4  Word;
  const SysTable *table;

  __device__ Small Of(SysScalar v) const { return (float)v; }
  __device__ Word  Of(const Small *q) const { return make_float4(q[0], q[1], q[2], q[3]); }
};

/* Codes the values of a task in the order of AmbMultQuads(); one warp a task */
template <class Make>
static __global__ void __launch_bounds__(AMB_VALUES_THREADS) AmbValuesQuads(const __grid_constant__ AmbLayout A, const Source S, const SysTable *table, typename Make::Small *small)
{
  __shared__ SysTable   T;
  const Make            make = {&T};
  const unsigned        w = (blockIdx.x * AMB_VALUES_THREADS + threadIdx.x) / SYS_WARP, lane = threadIdx.x % SYS_WARP, b = (unsigned)A.block_size;
  unsigned              n, full;
  size_t                first;
  typename Make::Small *to;

  for (unsigned k = threadIdx.x; table && k < sizeof(T) / sizeof(uint32_t); k += AMB_VALUES_THREADS) ((uint32_t *)&T)[k] = ((const uint32_t *)table)[k];
  __syncthreads();
  if (w >= A.ntask) return;
  n     = AMB_TASK_STEPS(A.task[w].what);
  full  = n / AMB_QUAD * AMB_QUAD;
  first = (size_t)SYS_WARP * b * A.task[w].step;
  to    = small + first;
  for (unsigned k = 0; k < full * b / 4; k++) { /* the lane's words */
    typename Make::Small q[4];

#pragma unroll
    for (unsigned e = 0; e < 4; e++) q[e] = make.Of(AmbValueOf(S, first + (size_t)SYS_WARP * (4 * k + e) + lane));
    ((typename Make::Word *)to)[(size_t)SYS_WARP * k + lane] = make.Of(q);
  }
  for (unsigned k = full * b; k < n * b; k++) to[(size_t)SYS_WARP * k + lane] = make.Of(AmbValueOf(S, first + (size_t)SYS_WARP * k + lane));
}

/* Sets the figures of the storage */
void AmbValuesDescribe(AmbDevice *A)
{
  A->info.stored       = A->values.stored;
  A->info.distinct     = A->values.stored == SYS_STORAGE_PLACES ? A->values.table.n : 0;
  A->info.exact        = A->values.exact;
  A->info.bytes_model  = A->bytes_plain - A->info.stored_values * (double)(sizeof(SysScalar) - SysStorageSize(A->values.stored));
  A->info.bytes_stored = A->bytes_pattern + A->info.stored_values * (double)SysStorageSize(A->values.stored);
  A->info.stencil      = A->stencil.n;
  if (A->stencil.n) A->info.bytes_model = A->info.bytes_stored = sizeof(*A->stencil.mask) * (double)A->stencil.words * A->layout.m;
}

/* Codes the values into the memory of another storage */
static SysStatus AmbValuesWrite(AmbDevice *A, const Source &S, void *small, cudaStream_t stream)
{
  const unsigned blocks = SysBlocks((int64_t)A->layout.ntask * SYS_WARP, AMB_VALUES_THREADS);
#if defined(SYS_HAVE_STORAGE_SINGLE)
  const int64_t n = (int64_t)A->info.stored_values;
#endif

  if (A->values.stored == SYS_STORAGE_PLACES) {
    if (!A->table) SYS_CALL(SysPoolAllocate(sizeof(*A->table), &A->table, A->stream));
    SYS_CUDA(cudaMemcpyAsync(A->table, &A->values.table, sizeof(*A->table), cudaMemcpyHostToDevice, stream));
    return SysLaunch(AmbValuesQuads<MakePositions>, blocks, AMB_VALUES_THREADS, 0, stream, A->layout, S, A->table, (uint8_t *)small);
  }
#if defined(SYS_HAVE_STORAGE_SINGLE)
  if (n && A->layout.block_size < AMB_QUAD_FLOATS) return SysLaunch(AmbValuesRound, SysBlocksLoop(n), SYS_THREADS, 0, stream, n, S, (float *)small);
  return SysLaunch(AmbValuesQuads<MakeFloats>, blocks, AMB_VALUES_THREADS, 0, stream, A->layout, S, (const SysTable *)NULL, (float *)small);
#else
  return SYS_SUCCESS;
#endif
}

/* Allocates plain values if there are none */
SysStatus AmbValuesRoom(AmbDevice *A)
{
  if (A->layout.val) return SYS_SUCCESS;
  SYS_CALL(SysPoolAllocate(sizeof(*A->val) * (size_t)A->info.stored_values, &A->val, A->stream));
  A->layout.val = A->val;
  return SYS_SUCCESS;
}

SysStatus AmbValuesStore(AmbDevice *A, const SysScalar *a, cudaStream_t stream)
{
  AmbLayout   *L     = &A->layout;
  const size_t n     = (size_t)A->info.stored_values;
  const Source S     = {L->val, a, a ? L->map : NULL};
  const bool   same  = A->values.stored == A->stored.stored && A->small;
  void        *small = same ? A->small : NULL;

  if (A->values.stored == SYS_STORAGE_PLAIN) {
    SYS_CALL(AmbValuesRoom(A));
    if (S.map) SYS_CALL(AmbDeviceRefill(L, n, a, stream));
  } else {
    SysStatus status = small ? SYS_SUCCESS : SysPoolAllocate(SysStorageSize(A->values.stored) * n, &small, A->stream);

    if (!status) status = AmbValuesWrite(A, S, small, stream);
    if (status && !same) SysPoolRelease(small, A->stream);
    SYS_CALL(status);
    SysPoolRelease(A->val, A->stream);
    L->val = A->val = NULL;
  }
  if (!same) {
    SysPoolRelease(A->small, A->stream);
    A->small = small;
  }
  A->stored = {A->values.stored, A->small, A->table ? A->table->value : NULL};
  AmbValuesDescribe(A);
  return SYS_SUCCESS;
}

/* Stores the values as a stencil if the matrix has one: every other storage then gives each row one lane, so the bits agree. Otherwise reverts to
   plain values where the table would be slower, unless the caller requested it. */
SysStatus AmbValuesStencil(AmbDevice *A, const AmbArrays *arrays, cudaStream_t stream)
{
  AmbLayout *L = &A->layout;

  AmbStencilDestroy(&A->stencil, A->stream);
  if (A->values.stored != SYS_STORAGE_PLACES) return SYS_SUCCESS;
  if (L->ntask == L->nchunk && !A->info.split) SYS_CALL(AmbStencilCreate(L->m, arrays, L->row_group, stream, &A->stencil));
  if (!A->stencil.n) {
    if (A->values.asked == SYS_VALUES_EXACT && A->info.stored_values < AMB_CUDA_TABLE_VALUES * SYS_WARP * (double)L->ntask) SysValuesSet(&A->values, 0, 0);
    return SYS_SUCCESS;
  }
  SysPoolRelease(A->val, A->stream);
  SysPoolRelease(A->small, A->stream);
  L->val = A->val = NULL;
  A->small        = NULL;
  A->stored       = {A->values.stored, NULL, NULL};
  AmbValuesDescribe(A);
  return SYS_SUCCESS;
}

/* Stores new values. The first call creates the map from values to entries, unless it refills the layout after a stencil. Without memory for the map
   it fills the layout anew. */
SysStatus AmbDeviceRenew(AmbDevice *A, const AmbArrays *arrays, cudaStream_t stream)
{
  const size_t n   = (size_t)A->info.stored_values;
  int         *map = NULL;

  A->written = 1;
  A->values.changes++;
  SYS_CALL(AmbValuesChoose(&A->values, A->layout.nz, arrays->a, arrays->from, stream));
  SYS_CALL(AmbValuesStencil(A, arrays, stream));
  if (A->stencil.n) return SYS_SUCCESS;
  if (!A->filled) {
    SYS_CALL(AmbValuesRoom(A));
    SYS_CALL(AmbDeviceFill(&A->layout, arrays, stream));
    A->filled = 1;
    return AmbValuesStore(A, NULL, stream);
  }
  if (!A->layout.map) {
    const SysStatus status = SysPoolAllocate(sizeof(*map) * n, &map, A->stream);

    if (status == SYS_OUT_OF_MEMORY) {
      SYS_CALL(AmbValuesRoom(A));
      SYS_CALL(AmbDeviceFill(&A->layout, arrays, stream));
      return AmbValuesStore(A, NULL, stream);
    }
    SYS_CALL(status);
    A->layout.map = map;
    A->info.bytes_extra += sizeof(*map) * (double)n;
    SYS_CALL(AmbDeviceFill(&A->layout, arrays, stream));
  }
  return AmbValuesStore(A, arrays->a, stream);
}

SysStatus AmbDeviceLaunch(const AmbDevice *A, int threads, int deep, int early, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  const AmbLaunchers *launchers = A->stored.stored == SYS_STORAGE_PLACES ? &AmbLaunchersPositions : &AmbLaunchersPlain;

  if (A->stencil.n) return AmbStencilLaunch(&A->stencil, A->layout.m, threads, early, csr, alpha, x, beta, y, z, stream);
#if defined(SYS_HAVE_STORAGE_SINGLE)
  if (A->stored.stored == SYS_STORAGE_SINGLE) launchers = &AmbLaunchersSingle;
#endif
  if (!A->layout.ntask) return SYS_SUCCESS;
  SYS_CUDA(((*launchers)[A->layout.block_size - 1][deep])(&A->layout, &A->stored, threads, early, csr, alpha, x, beta, y, z, stream));
  return SYS_SUCCESS;
}
