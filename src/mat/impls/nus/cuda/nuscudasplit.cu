/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Segments of columns on a CUDA device: chooses each column's segment and splits the matrix

   nushost.h has the idea.
*/

#include "sys/syscub.cuh"
#include "mat/impls/nus/cuda/nuscuda.cuh"

static __global__ void NusSplitCountColumns(int64_t nz, const int *j, unsigned *count)
{
  SYS_FOR_EACH(k, nz) atomicAdd(count + j[k], 1);
}

/* Sets the segment of each column by its rank in descending order of entries */
static __global__ void NusSplitSegmentByRank(int64_t n, const int *ranked, const unsigned *count, int64_t s1, int64_t k1, int64_t s2, int64_t k2, unsigned char *segment)
{
  SYS_FOR_EACH(p, n)
  {
    int64_t s = k1 + k2;

    if (p < s1 * k1) s = p / s1;
    else if (p < s1 * k1 + s2 * k2) s = k1 + (p - s1 * k1) / s2;
    if (!count[p]) s = k1 + k2; /* an empty column is not gathered */
    segment[ranked[p]] = (unsigned char)s;
  }
}

static __global__ void NusSplitSegmentByWidth(int64_t n, int64_t width, unsigned char *segment)
{
  SYS_FOR_EACH(j, n) segment[j] = (unsigned char)(j / width);
}

/* Sets each column's position in its segment's vector; an ungathered column keeps its position */
static __global__ void NusSplitPositions(int64_t n, int64_t gathered, const int *order, const unsigned char *sorted, const int *begin, int *position)
{
  SYS_FOR_EACH(p, n) position[order[p]] = p < gathered ? (int)p - begin[sorted[p]] : order[p];
}

static __global__ void NusSplitSegmentsOfEntries(int64_t nz, const int *j, const unsigned char *segment, unsigned char *key)
{
  SYS_FOR_EACH(k, nz) key[k] = segment[j[k]];
}

static __global__ void NusSplitColumns(int64_t nz, const int *j, const int *position, const int *from, int *col)
{
  SYS_FOR_EACH(k, nz) col[k] = position ? position[j[from[k]]] : j[from[k]];
}

/* Finds each segment's first element in a list sorted by segment */
static __global__ void NusSplitBegins(int nsegment, int64_t n, const unsigned char *sorted, int *begin)
{
  SYS_FOR_EACH(s, nsegment + 1) begin[s] = (int)SysCountLess(sorted, n, s);
}

/* Finds each row's first entry in a segment, whose entries are in CSR order */
static __global__ void NusSplitRows(int64_t m, const int *i, int64_t n, const int *from, int *begin)
{
  SYS_FOR_EACH(r, m + 1) begin[r] = (int)SysCountLess(from, n, (int64_t)i[r]);
}

SysStatus NusDeviceRank(const SysCSR *csr, NusRanking *R, cudaStream_t stream)
{
  const int    n     = (int)csr->n;
  const size_t list  = SysPadded(sizeof(int) * (size_t)n);
  size_t       again = 0;

  SYS_CUDA(SysSortPairsDescending(NULL, R->sort, NULL, NULL, NULL, NULL, n, 32, stream));
  SYS_CUDA(SysSortPairs(NULL, again, (unsigned char *)NULL, (unsigned char *)NULL, NULL, NULL, n, 8, stream));
  if (again > R->sort) R->sort = again;
  SYS_CALL(SysDeviceAllocate(&R->s.memory, 4 * list + R->sort));
  R->count     = (unsigned *)R->s.memory;
  R->counted   = (unsigned *)(R->s.memory + list);
  R->column    = (int *)(R->s.memory + 2 * list);
  R->ranked    = (int *)(R->s.memory + 3 * list);
  R->temporary = R->s.memory + 4 * list;
  SYS_CUDA(cudaMemsetAsync(R->count, 0, sizeof(*R->count) * (size_t)n, stream));
  NusSplitCountColumns<<<SysBlocksLoop(csr->nz), SYS_THREADS, 0, stream>>>(csr->nz, csr->j, R->count);
  SYS_CUDA(SysNumber(n, R->column, stream));
  SYS_CUDA(SysSortPairsDescending(R->temporary, R->sort, R->count, R->counted, R->column, R->ranked, n, 32, stream));
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

/* Chooses each column's segment by its number of entries, and its position; sets A->order to the gathered columns by segment, and first[] to each
   segment's first element there */
static SysStatus NusSplitOrderColumns(NusDevice *A, const SysCSR *csr, NusRanking *R, unsigned char *segment, int *position, int *first, cudaStream_t stream)
{
  const NusParams *p    = &A->params;
  const int        last = (int)(p->count[0] + p->count[1]), n = (int)csr->n;
  SysScratch       s;
  unsigned char   *sorted;
  int             *begin;

  SYS_CALL(SysDeviceAllocate(&s.memory, SysPadded((size_t)n) + sizeof(int) * (NUS_DEVICE_MAX_SEGMENTS + 1)));
  sorted = (unsigned char *)s.memory;
  begin  = (int *)(s.memory + SysPadded((size_t)n));
  NusSplitSegmentByRank<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(n, R->ranked, R->counted, p->width[0], p->count[0], p->width[1], p->count[1], segment);
  SYS_CUDA(SysSortPairs(R->temporary, R->sort, segment, sorted, R->column, R->ranked, n, 8, stream));
  NusSplitBegins<<<1, SYS_THREADS, 0, stream>>>(last, n, sorted, begin);
  SYS_CUDA(cudaMemcpyAsync(first, begin, sizeof(int) * (size_t)(last + 1), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  A->ngathered = first[last];
  SYS_CALL(SysDeviceAllocate(&A->order, sizeof(int) * (size_t)A->ngathered));
  SYS_CALL(SysDeviceAllocate(&A->xg, sizeof(SysScalar) * (size_t)A->ngathered));
  SYS_CUDA(cudaMemcpyAsync(A->order, R->ranked, sizeof(int) * (size_t)A->ngathered, cudaMemcpyDeviceToDevice, stream));
  SYS_CALL(SysLaunch(NusSplitPositions, SysBlocksLoop(n), SYS_THREADS, 0, stream, n, A->ngathered, R->ranked, sorted, begin, position));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the kernels use memory that is freed on return */
  return SYS_SUCCESS;
}

SysStatus NusDeviceSplit(NusDevice *A, const SysCSR *csr, NusRanking *R, int nsegment, cudaStream_t stream)
{
  const bool     nonuniform = A->params.segmentation == NUS_NONUNIFORM;
  const int      bits = SysBits(nsegment - 1), nz = (int)csr->nz;
  const size_t   list = SysPadded(sizeof(int) * (size_t)nz), bytes = SysPadded((size_t)nz), columns = SysPadded(sizeof(int) * (size_t)csr->n);
  size_t         sort = 0, rows = SysPadded(sizeof(int) * ((size_t)csr->m + 1));
  SysScratch     s;
  unsigned char *segment, *key, *sorted;
  int           *position, *number, *from, *col, *begin, first[NUS_DEVICE_MAX_SEGMENTS + 1], gathered[NUS_DEVICE_MAX_SEGMENTS + 1];
  char          *temporary;

  SYS_CUDA(SysSortPairs(NULL, sort, (unsigned char *)NULL, (unsigned char *)NULL, NULL, NULL, nz, bits, stream));
  SYS_CALL(SysDeviceAllocate(&s.memory, 2 * columns + 2 * bytes + list + SysPadded(sizeof(first)) + sort));
  SYS_CALL(SysDeviceAllocate(&A->memory, 2 * list + (size_t)nsegment * rows));
  position  = (int *)s.memory;
  segment   = (unsigned char *)(s.memory + columns);
  key       = (unsigned char *)(s.memory + 2 * columns);
  sorted    = key + bytes;
  number    = (int *)(sorted + bytes);
  begin     = (int *)((char *)number + list);
  temporary = (char *)begin + SysPadded(sizeof(first));
  from      = (int *)A->memory;
  col       = (int *)(A->memory + list);
  if (nonuniform) SYS_CALL(NusSplitOrderColumns(A, csr, R, segment, position, gathered, stream));
  else NusSplitSegmentByWidth<<<SysBlocksLoop(csr->n), SYS_THREADS, 0, stream>>>(csr->n, A->params.width[1], segment);
  NusSplitSegmentsOfEntries<<<SysBlocksLoop(nz), SYS_THREADS, 0, stream>>>(nz, csr->j, segment, key);
  SYS_CUDA(SysNumber(nz, number, stream));
  SYS_CUDA(SysSortPairs(temporary, sort, key, sorted, number, from, nz, bits, stream));
  NusSplitColumns<<<SysBlocksLoop(nz), SYS_THREADS, 0, stream>>>(nz, csr->j, nonuniform ? position : NULL, from, col);
  NusSplitBegins<<<1, SYS_THREADS, 0, stream>>>(nsegment, nz, sorted, begin);
  SYS_CUDA(cudaMemcpyAsync(first, begin, sizeof(int) * (size_t)(nsegment + 1), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  for (int k = 0; k < nsegment; k++) {
    NusSegment S;
    int       *i = (int *)(A->memory + 2 * list + (size_t)k * rows);

    S.nz = first[k + 1] - first[k];
    if (!S.nz) continue;
    S.n = (int)csr->n;
    if (nonuniform && k < nsegment - 1) {
      S.moved = true;
      S.first = gathered[k];
      S.n     = gathered[k + 1] - gathered[k];
    }
    NusSplitRows<<<SysBlocksLoop(csr->m + 1), SYS_THREADS, 0, stream>>>(csr->m, csr->i, S.nz, from + first[k], i);
    S.csr.i    = i;
    S.csr.j    = col + first[k];
    S.csr.from = from + first[k];
    A->segments.push_back(S);
  }
  SYS_CUDA(cudaPeekAtLastError());
  SYS_CUDA(cudaStreamSynchronize(stream));
  A->bytes = (double)(2 * list + (size_t)nsegment * rows);
  return SYS_SUCCESS;
}
