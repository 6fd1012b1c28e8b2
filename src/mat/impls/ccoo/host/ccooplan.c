/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Chooses CCOO's open parameters by the bytes of sampled chunks
*/
#include "mat/impls/ccoo/host/ccoolayout.h"

static const SysScalar zero = 0;

static int64_t CcooPlanGroups(const SysCSR *A, int k)
{
  int64_t n = 0;

  for (int64_t r = 0; r < A->m; r++) n += CcooRowGroups(A->i[r + 1] - A->i[r], k);
  return n;
}

/* Finds the rows and entries of ngroup groups from group g on; *r and *before advance from earlier groups */
static void CcooPlanReach(const SysCSR *A, int k, int64_t g, int ngroup, int64_t *r, int64_t *before, CcooReach *R)
{
  int64_t last, to;

  CcooSeekGroup(A, k, g, r, before);
  R->row = last = *r;
  R->begin      = A->i[*r] + (SysInt)(k * (g - *before));
  to            = *before;
  CcooSeekGroup(A, k, g + ngroup - 1, &last, &to);
  R->last = last;
  R->end  = A->i[last] + (SysInt)(k * (g + ngroup - to));
  if (R->end > A->i[last + 1]) R->end = A->i[last + 1];
}

/* Creates the table as the layout does, from sampled chunks */
static SysStatus CcooPlanTable(const SysCSR *A, int padded, int n, CcooReach R[], SysTable *T)
{
  SysStatus status;
  int       ntabled = 0;

  SysTableClear(T);
  if (padded) (void)SysTableAdd(T, &zero);
  status = SysTableAddFrequent(T, A->nz, A->a);
  if (status) return status;
  for (int add = 0; add < 2; add++) {
    if (add && T->n == SYS_TABLE_VALUES) break;
    for (int k = 0; k < n; k++) {
      if (R[k].format & CCOO_TABLE || !SysTableCovers(T, add, R[k].end - R[k].begin, A->a + R[k].begin)) continue;
      R[k].format |= CCOO_TABLE;
      ntabled++;
    }
  }
  if (!ntabled) SysTableClear(T);
  return SYS_SUCCESS;
}

static SysStatus CcooPlanBytes(const SysCSR *A, const CcooParams *p, double *bytes)
{
  const int64_t groups = CcooPlanGroups(A, p->k), ngroup = (groups + CCOO_GROUPS - 1) / CCOO_GROUPS * CCOO_GROUPS, nchunk = (ngroup + p->b - 1) / p->b;
  const int     n = nchunk < CCOO_MODEL_CHUNKS ? (int)nchunk : CCOO_MODEL_CHUNKS;
  int64_t       r = 0, before = 0, seen = 0, sum = 0, nentry[CCOO_MODEL_CHUNKS];
  CcooReach     R[CCOO_MODEL_CHUNKS];
  SysTable      T;
  SysStatus     status = SYS_SUCCESS;

  T.n = 0;
  for (int k = 0; k < n; k++) {
    const int64_t c = n > 1 ? (nchunk - 1) * k / (n - 1) : 0, left = groups - c * p->b;

    CcooPlanReach(A, p->k, c * p->b, left < p->b ? (int)left : p->b, &r, &before, R + k);
    CcooReachSet(A, R + k);
    nentry[k] = (ngroup - c * p->b < p->b ? ngroup - c * p->b : p->b) * p->k;
  }
  if (p->table && A->a) status = CcooPlanTable(A, ngroup * p->k > A->nz, n, R, &T);
  for (int k = 0; k < n; k++) {
    const int here = (int)(nentry[k] / p->k);

    seen += here;
    sum += CcooIndexBytes(R[k].format, here, p->k) + CcooValueBytes(R[k].format, here, p->k);
  }
  *bytes = (double)sum * ((double)ngroup / (double)seen) + (sizeof(CcooChunk) + 2. * sizeof(SysScalar)) * (double)nchunk + sizeof(SysScalar) * (double)T.n;
  return status;
}

/* Without entries there are no chunks */
SysStatus CcooHostPlan(const SysCSR *A, CcooParams *p, double *bytes)
{
  const CcooParams asked  = *p;
  SysStatus        status = SYS_SUCCESS;

  if (!p->b) p->b = CCOO_MAX_B;
  *bytes = A->nz ? -1 : 0;
  if (!A->nz && !p->k) p->k = 1;
  if (!A->nz) return SYS_SUCCESS;
  for (int k = asked.k ? asked.k : 1; k <= (asked.k ? asked.k : CCOO_MAX_K) && !status; k *= 2) {
    CcooParams q = *p;
    double     here;

    q.k    = k;
    status = CcooPlanBytes(A, &q, &here);
    if (status || (*bytes >= 0 && here >= *bytes)) continue;
    *bytes = here;
    p->k   = k;
  }
  return status;
}
