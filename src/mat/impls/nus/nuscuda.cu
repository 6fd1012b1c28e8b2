/*
   Segments of columns on a CUDA device: which column goes where, and the matrix cut accordingly
*/
#include <cub/device/device_radix_sort.cuh>
#include <climits>
#include <new>
#include <vector>

#include "ambcuda.cuh"
#include "nuscuda.h"

#define THREADS      256
#define MAX_SEGMENTS 255 /* a byte tells them apart */

#define SEGMENT_PART 0.36 /* of the second-level cache, for x in a segment: measured */

struct Segment {
  AmbDevice *A     = NULL;
  AmbArrays  csr   = {}; /* its pattern; entry k has the value a[from[k]] */
  int64_t    nz    = 0;
  bool       moved = false;    /* it reads what was gathered of x */
  int        first = 0, n = 0; /* where that begins, and how much it is */
};

struct _NusDevice {
  NusDeviceInfo        info = {};
  int64_t              m, n;
  std::vector<Segment> segments;
  int                  ngathered = 0;
  int                 *order     = NULL; /* the columns that are gathered */
  AmbScalar           *xg        = NULL;
  char                *memory    = NULL; /* of all patterns, where there is more than one segment */
  AmbDevice           *whole     = NULL; /* for the transposed product of several segments */
};

/* Memory for the time of a conversion */
struct Scratch {
  char *memory = NULL;

  ~Scratch() { (void)cudaFree(memory); }
};

static unsigned Blocks(int64_t n)
{
  const int64_t blocks = (n + THREADS - 1) / THREADS;

  return (unsigned)(blocks < 1 ? 1 : blocks < 65536 ? blocks : 65536);
}

static size_t Padded(size_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

static AmbDeviceStatus Allocate(void *p, size_t bytes)
{
  const cudaError_t error = cudaMalloc((void **)p, bytes ? bytes : 1);

  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    (void)AmbDeviceFailed(error, "cudaMalloc()");
    return AMB_DEVICE_OUT_OF_MEMORY;
  }
  AMB_CUDA(error);
  return AMB_DEVICE_SUCCESS;
}

#define FOR_EACH(k, n) for (int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; k < (n); k += (int64_t)gridDim.x * blockDim.x)

static __global__ void Iota(int64_t n, int *a)
{
  FOR_EACH(k, n) a[k] = (int)k;
}

static __global__ void CountColumns(int64_t nz, const int *j, unsigned *count)
{
  FOR_EACH(k, nz) atomicAdd(count + j[k], 1);
}

/* The segment of each column: by its place among all, in descending order of entries */
static __global__ void SegmentByRank(int64_t n, const int *ranked, const unsigned *count, int64_t s1, int64_t k1, int64_t s2, int64_t k2, unsigned char *segment)
{
  FOR_EACH(p, n)
  {
    int64_t s = k1 + k2;

    if (p < s1 * k1) s = p / s1;
    else if (p < s1 * k1 + s2 * k2) s = k1 + (p - s1 * k1) / s2;
    if (!count[p]) s = k1 + k2; /* nothing to gather */
    segment[ranked[p]] = (unsigned char)s;
  }
}

static __global__ void SegmentByWidth(int64_t n, int64_t width, unsigned char *segment)
{
  FOR_EACH(j, n) segment[j] = (unsigned char)(j / width);
}

/* Where each column is found: in its segment, or where it was */
static __global__ void Places(int64_t n, int64_t gathered, const int *order, const unsigned char *sorted, const int *begin, int *place)
{
  FOR_EACH(p, n) place[order[p]] = p < gathered ? (int)p - begin[sorted[p]] : order[p];
}

static __global__ void SegmentsOfEntries(int64_t nz, const int *j, const unsigned char *segment, unsigned char *key)
{
  FOR_EACH(k, nz) key[k] = segment[j[k]];
}

static __global__ void Columns(int64_t nz, const int *j, const int *place, const int *from, int *col)
{
  FOR_EACH(k, nz) col[k] = place ? place[j[from[k]]] : j[from[k]];
}

template <typename T>
static __device__ int64_t CountLess(const T *a, int64_t n, int64_t v)
{
  int64_t lo = 0, hi = n;

  while (lo < hi) {
    const int64_t mid = lo + (hi - lo) / 2;

    if (a[mid] < v) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/* Where each of the segments begins among things that are sorted by them */
static __global__ void Begins(int nsegment, int64_t n, const unsigned char *sorted, int *begin)
{
  FOR_EACH(s, nsegment + 1) begin[s] = (int)CountLess(sorted, n, s);
}

/* Where each row begins among the entries of one segment, which are in their old order */
static __global__ void Rows(int64_t m, const int *i, int64_t n, const int *from, int *begin)
{
  FOR_EACH(r, m + 1) begin[r] = (int)CountLess(from, n, i[r]);
}

static __global__ void Gather(int64_t n, const int *order, const AmbScalar *x, AmbScalar *xg)
{
  FOR_EACH(k, n) xg[k] = x[order[k]];
}

static int Bits(int64_t n)
{
  int bits = 1;

  while (bits < 31 && n >> bits) bits++;
  return bits;
}

/* The columns in descending order of their entries; all arrays have a place for each column */
struct Ranking {
  Scratch   s;
  unsigned *count, *counted;
  int      *column, *ranked;
  char     *temporary; /* room to sort columns */
  size_t    sort = 0;
};

static AmbDeviceStatus RankColumns(const AmbDeviceCSR *csr, Ranking *R, cudaStream_t stream)
{
  const int    n     = (int)csr->n;
  const size_t list  = Padded(sizeof(int) * (size_t)n);
  size_t       again = 0;

  AMB_CUDA(cub::DeviceRadixSort::SortPairsDescending(NULL, R->sort, (unsigned *)NULL, (unsigned *)NULL, (int *)NULL, (int *)NULL, n, 0, 32, stream));
  AMB_CUDA(cub::DeviceRadixSort::SortPairs(NULL, again, (unsigned char *)NULL, (unsigned char *)NULL, (int *)NULL, (int *)NULL, n, 0, 8, stream));
  if (again > R->sort) R->sort = again;
  AMB_CALL(Allocate(&R->s.memory, 4 * list + R->sort));
  R->count     = (unsigned *)R->s.memory;
  R->counted   = (unsigned *)(R->s.memory + list);
  R->column    = (int *)(R->s.memory + 2 * list);
  R->ranked    = (int *)(R->s.memory + 3 * list);
  R->temporary = R->s.memory + 4 * list;
  AMB_CUDA(cudaMemsetAsync(R->count, 0, sizeof(*R->count) * (size_t)n, stream));
  CountColumns<<<Blocks(csr->nz), THREADS, 0, stream>>>(csr->nz, csr->j, R->count);
  Iota<<<Blocks(n), THREADS, 0, stream>>>(n, R->column);
  AMB_CUDA(cub::DeviceRadixSort::SortPairsDescending(R->temporary, R->sort, R->count, R->counted, R->column, R->ranked, n, 0, 32, stream));
  AMB_CUDA(cudaPeekAtLastError());
  return AMB_DEVICE_SUCCESS;
}

/* Chooses the segment of each column, by its number of entries, and where it is then found; A->order gets those that are gathered, segment by segment,
   first[] where each of these begins */
static AmbDeviceStatus OrderColumns(NusDevice *A, const AmbDeviceCSR *csr, Ranking *R, unsigned char *segment, int *place, int *first, cudaStream_t stream)
{
  const NusParams *p    = &A->info.params;
  const int        last = (int)(p->count[0] + p->count[1]), n = (int)csr->n;
  Scratch          s;
  unsigned char   *sorted;
  int             *begin;

  AMB_CALL(Allocate(&s.memory, Padded((size_t)n) + sizeof(int) * (MAX_SEGMENTS + 1)));
  sorted = (unsigned char *)s.memory;
  begin  = (int *)(s.memory + Padded((size_t)n));
  SegmentByRank<<<Blocks(n), THREADS, 0, stream>>>(n, R->ranked, R->counted, p->width[0], p->count[0], p->width[1], p->count[1], segment);
  AMB_CUDA(cub::DeviceRadixSort::SortPairs(R->temporary, R->sort, segment, sorted, R->column, R->ranked, n, 0, 8, stream));
  Begins<<<1, THREADS, 0, stream>>>(last, n, sorted, begin);
  AMB_CUDA(cudaMemcpyAsync(first, begin, sizeof(int) * (size_t)(last + 1), cudaMemcpyDeviceToHost, stream));
  AMB_CUDA(cudaStreamSynchronize(stream));
  A->ngathered = first[last];
  AMB_CALL(Allocate(&A->order, sizeof(int) * (size_t)A->ngathered));
  AMB_CALL(Allocate(&A->xg, sizeof(AmbScalar) * (size_t)A->ngathered));
  AMB_CUDA(cudaMemcpyAsync(A->order, R->ranked, sizeof(int) * (size_t)A->ngathered, cudaMemcpyDeviceToDevice, stream));
  Places<<<Blocks(n), THREADS, 0, stream>>>(n, A->ngathered, R->ranked, sorted, begin, place);
  AMB_CUDA(cudaPeekAtLastError());
  AMB_CUDA(cudaStreamSynchronize(stream)); /* what is used here is freed */
  return AMB_DEVICE_SUCCESS;
}

/* Cuts the matrix: entries sorted by segment, those of a row in their old order, and the rows of every segment */
static AmbDeviceStatus Split(NusDevice *A, const AmbDeviceCSR *csr, Ranking *R, int nsegment, cudaStream_t stream)
{
  const bool     nonuniform = A->info.params.segmentation == NUS_NONUNIFORM;
  const int      bits = Bits(nsegment - 1), nz = (int)csr->nz;
  const size_t   list = Padded(sizeof(int) * (size_t)nz), bytes = Padded((size_t)nz), columns = Padded(sizeof(int) * (size_t)csr->n);
  size_t         sort = 0, rows = Padded(sizeof(int) * ((size_t)csr->m + 1));
  Scratch        s;
  unsigned char *segment, *key, *sorted;
  int           *place, *number, *from, *col, *begin, first[MAX_SEGMENTS + 1], gathered[MAX_SEGMENTS + 1];
  char          *temporary;

  AMB_CUDA(cub::DeviceRadixSort::SortPairs(NULL, sort, (unsigned char *)NULL, (unsigned char *)NULL, (int *)NULL, (int *)NULL, nz, 0, bits, stream));
  AMB_CALL(Allocate(&s.memory, 2 * columns + 2 * bytes + list + Padded(sizeof(first)) + sort));
  AMB_CALL(Allocate(&A->memory, 2 * list + (size_t)nsegment * rows));
  place     = (int *)s.memory;
  segment   = (unsigned char *)(s.memory + columns);
  key       = (unsigned char *)(s.memory + 2 * columns);
  sorted    = key + bytes;
  number    = (int *)(sorted + bytes);
  begin     = (int *)((char *)number + list);
  temporary = (char *)begin + Padded(sizeof(first));
  from      = (int *)A->memory;
  col       = (int *)(A->memory + list);
  if (nonuniform) AMB_CALL(OrderColumns(A, csr, R, segment, place, gathered, stream));
  else SegmentByWidth<<<Blocks(csr->n), THREADS, 0, stream>>>(csr->n, A->info.params.width[1], segment);
  SegmentsOfEntries<<<Blocks(nz), THREADS, 0, stream>>>(nz, csr->j, segment, key);
  Iota<<<Blocks(nz), THREADS, 0, stream>>>(nz, number);
  AMB_CUDA(cub::DeviceRadixSort::SortPairs(temporary, sort, key, sorted, number, from, nz, 0, bits, stream));
  Columns<<<Blocks(nz), THREADS, 0, stream>>>(nz, csr->j, nonuniform ? place : NULL, from, col);
  Begins<<<1, THREADS, 0, stream>>>(nsegment, nz, sorted, begin);
  AMB_CUDA(cudaMemcpyAsync(first, begin, sizeof(int) * (size_t)(nsegment + 1), cudaMemcpyDeviceToHost, stream));
  AMB_CUDA(cudaStreamSynchronize(stream));
  for (int k = 0; k < nsegment; k++) {
    Segment S;
    int    *i = (int *)(A->memory + 2 * list + (size_t)k * rows);

    S.nz = first[k + 1] - first[k];
    if (!S.nz) continue;
    S.n = (int)csr->n;
    if (nonuniform && k < nsegment - 1) {
      S.moved = true;
      S.first = gathered[k];
      S.n     = gathered[k + 1] - gathered[k];
    }
    Rows<<<Blocks(csr->m + 1), THREADS, 0, stream>>>(csr->m, csr->i, S.nz, from + first[k], i);
    S.csr.i    = i;
    S.csr.j    = col + first[k];
    S.csr.from = from + first[k];
    A->segments.push_back(S);
  }
  AMB_CUDA(cudaPeekAtLastError());
  AMB_CUDA(cudaStreamSynchronize(stream));
  A->info.bytes_extra += (double)(2 * list + (size_t)nsegment * rows);
  return AMB_DEVICE_SUCCESS;
}

/* Widths that are left open follow from the caches; numbers that are left open are none */
static AmbDeviceStatus Choose(const AmbDeviceCSR *csr, NusParams *p, int *nsegment)
{
  int64_t n = 1;
  int     device, l1, l2;

  AMB_CUDA(cudaGetDevice(&device));
  AMB_CUDA(cudaDeviceGetAttribute(&l1, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)); /* it is the same memory */
  AMB_CUDA(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
  if (!p->width[0]) {
    for (p->width[0] = 1024; 2 * p->width[0] * (int64_t)sizeof(AmbScalar) <= l1; p->width[0] *= 2) { }
  }
  if (!p->width[1]) p->width[1] = (int64_t)(SEGMENT_PART * l2) / (int64_t)sizeof(AmbScalar);
  p->c     = AMB_WARP;
  p->sigma = AMB_SCOPE;
  if (p->segmentation == NUS_NONUNIFORM) {
    for (int k = 0; k < 2; k++) {
      if (p->count[k] < 0) p->count[k] = 0;
      n += p->count[k] < MAX_SEGMENTS ? p->count[k] : MAX_SEGMENTS;
    }
  } else {
    n           = p->segmentation == NUS_UNIFORM ? (csr->n + p->width[1] - 1) / p->width[1] : 0;
    p->count[0] = 0;
    p->count[1] = n;
  }
  *nsegment = n > 1 ? (int)n : 1;
  return n > MAX_SEGMENTS ? AMB_DEVICE_TOO_LARGE : AMB_DEVICE_SUCCESS;
}

static AmbDeviceStatus Convert(NusDevice *A, const AmbDeviceCSR *csr, int measure, cudaStream_t stream)
{
  int     nsegment = 1;
  Ranking R;

  A->m = csr->m;
  A->n = csr->n;
  AMB_CALL(Choose(csr, &A->info.params, &nsegment));
  if (nsegment > 1 && csr->nz) {
    if (A->info.params.segmentation == NUS_NONUNIFORM) AMB_CALL(RankColumns(csr, &R, stream));
    AMB_CALL(Split(A, csr, &R, nsegment, stream));
    A->whole = (AmbDevice *)calloc(1, sizeof(*A->whole)); /* nothing but the place for the transposed matrix */
    if (!A->whole) return AMB_DEVICE_OUT_OF_MEMORY;
  } else {
    Segment S;

    S.csr.i = csr->i;
    S.csr.j = csr->j;
    S.nz    = csr->nz;
    S.n     = (int)csr->n;
    A->segments.push_back(S);
  }
  for (Segment &S : A->segments) {
    const AmbDeviceCSR    part   = {csr->m, S.n, S.nz, S.csr.i, S.csr.j, csr->a};
    const AmbDeviceParams params = {1, 0, 0, measure};

    AMB_CALL(AmbDeviceConvert(&part, S.csr.from, &params, stream, &S.A));
    A->info.bytes_stored += S.A->info.bytes_stored;
    A->info.bytes_extra += S.A->info.bytes_extra;
    A->info.stored_values += S.A->info.stored_values;
  }
  A->info.segments = (int64_t)A->segments.size();
  A->info.gathered = A->ngathered;
  A->info.bytes_stored += (double)(sizeof(int) + 2 * sizeof(AmbScalar)) * A->ngathered;
  return AMB_DEVICE_SUCCESS;
}

AmbDeviceStatus NusDeviceCreate(const AmbDeviceCSR *csr, const NusParams *params, int measure, AmbStream stream, NusDevice **out, NusDeviceInfo *info)
{
  NusDevice      *A = new (std::nothrow) NusDevice;
  AmbDeviceStatus status;

  *out = NULL;
  if (!A) return AMB_DEVICE_OUT_OF_MEMORY;
  if (csr->m >= INT_MAX || csr->n >= INT_MAX || csr->nz >= INT_MAX) {
    delete A;
    return AMB_DEVICE_TOO_LARGE;
  }
  A->info.params = *params;
  status         = Convert(A, csr, measure, stream);
  if (status != AMB_DEVICE_SUCCESS) NusDeviceDestroy(&A);
  else *info = A->info;
  *out = A;
  return status;
}

/* The arrays that rows go back to which meet a NaN or an infinity: those of the only segment are those of the matrix */
static AmbArrays Arrays(const Segment &S, const AmbDeviceCSR *csr)
{
  AmbArrays arrays = S.csr;

  arrays.a = csr->a;
  if (!arrays.from) {
    arrays.i = csr->i;
    arrays.j = csr->j;
  }
  return arrays;
}

AmbDeviceStatus NusDeviceUpdate(NusDevice *A, const AmbDeviceCSR *csr, AmbStream stream)
{
  for (Segment &S : A->segments) {
    const AmbArrays arrays = Arrays(S, csr);

    AMB_CALL(AmbDeviceRenew(S.A, &arrays, stream));
    S.A->transposed_stale = 1;
  }
  if (A->whole) A->whole->transposed_stale = 1;
  return AMB_DEVICE_SUCCESS;
}

AmbDeviceStatus NusDeviceMult(NusDevice *A, const AmbDeviceCSR *csr, AmbScalar alpha, const AmbScalar *x, AmbScalar beta, const AmbScalar *y, AmbScalar *z, AmbStream stream)
{
  bool first = true;

  if (A->ngathered) Gather<<<Blocks(A->ngathered), THREADS, 0, stream>>>(A->ngathered, A->order, x, A->xg);
  AMB_CUDA(cudaPeekAtLastError());
  for (Segment &S : A->segments) {
    const AmbArrays arrays = Arrays(S, csr);

    AMB_CALL(AmbDeviceProduct(S.A, &arrays, alpha, S.moved ? A->xg + S.first : x, first ? beta : 1, first ? y : z, z, stream));
    first = false;
  }
  return AMB_DEVICE_SUCCESS;
}

AmbDeviceStatus NusDeviceMultTranspose(NusDevice *A, const AmbDeviceCSR *csr, AmbScalar alpha, const AmbScalar *x, AmbScalar beta, const AmbScalar *y, AmbScalar *z, AmbStream stream)
{
  return AmbDeviceMultTranspose(A->whole ? A->whole : A->segments[0].A, csr, alpha, x, beta, y, z, stream);
}

void NusDeviceDestroy(NusDevice **A)
{
  if (!*A) return;
  for (Segment &S : (*A)->segments) AmbDeviceDestroy(&S.A);
  AmbDeviceDestroy(&(*A)->whole);
  (void)cudaFree((*A)->order);
  (void)cudaFree((*A)->xg);
  (void)cudaFree((*A)->memory);
  delete *A;
  *A = NULL;
}
