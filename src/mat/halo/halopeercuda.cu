/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Exchanges between GPUs that reach each other's memory: a few numbers of all processes, and the entries of a halo. A process stores into the memory of its peers, and waits
   for what they store into its own. One kernel does both, so that a stream, or a graph, holds the whole exchange.
*/
#include "sys/syscuda.cuh"
#include "mat/halo/halocuda.h"

/* ------------------------------------------------- numbers of all processes ------------------------------------------------- */

/* Each 4 bytes travel in a word of 8 with the number of the exchange: a word is stored at once, and the right number says that its bytes are new. There are two sets of
   words. A process that stores to a set again has got the words of all others of the exchange between, and these have read the set before. */
typedef unsigned long long HaloWord;

#define HALO_WORDS (HALO_PEER_BYTES / 4)
struct HaloBox {
  HaloWord word[2][HALO_PEERS][HALO_WORDS];
  unsigned number; /* of the last exchange; the owner's alone */
};
static_assert(sizeof(HaloBox) <= HALO_BOX, "the room of a box");

static __global__ void __launch_bounds__(SYS_THREADS) HaloGatherKernel(const HaloPeers p, int words, const unsigned *mine, unsigned *all, int64_t limit)
{
  HaloBox *const own  = (HaloBox *)p.box[p.rank];
  const unsigned last = *(volatile unsigned *)&own->number, number = last == ~0u ? 2 : last + 1, set = number % 2; /* never 0, and sets take turns */
  const int64_t  before = clock64();

  for (int k = (int)threadIdx.x; k < p.nproc * words; k += SYS_THREADS) {
    const int          to = k / words, w = k % words;
    volatile HaloWord *word = &((HaloBox *)p.box[to])->word[set][p.rank][w];

    if (to != p.rank) *word = (HaloWord)mine[w] << 32 | number;
  }
  for (int k = (int)threadIdx.x; k < p.nproc * words; k += SYS_THREADS) {
    const int                from = k / words, w = k % words;
    const volatile HaloWord *word = &own->word[set][from][w];
    HaloWord                 got;

    if (from == p.rank) {
      all[k] = mine[w];
      continue;
    }
    do got = *word;
    while ((unsigned)got != number && !(limit && clock64() - before > limit));
    all[k] = (unsigned)got == number ? (unsigned)(got >> 32) : 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) own->number = number;
}

SysStatus HaloGather(const HaloPeers *p, size_t bytes, const void *mine, void *all, int64_t limit, SysStream stream)
{
  if (bytes > HALO_PEER_BYTES || bytes % 4) return SysDeviceError("%d bytes cannot be gathered", (int)bytes);
  return SysLaunch(HaloGatherKernel, 1, SYS_THREADS, 0, stream, *p, (int)(bytes / 4), (const unsigned *)mine, (unsigned *)all, limit);
}

/* ------------------------------------------------- entries for neighbours ------------------------------------------------- */

/* The head of a room. A process stores entries in set number % 2 of the rooms of its neighbours, and then the number of the exchange in its flag there. It may store to a set
   again: it has got the flags of all neighbours of the exchange between, and these have emptied the set before. For this, both ends of a neighbourhood exchange flags, even
   where entries go one way only. */
typedef struct {
  unsigned flag[HALO_PEERS];
  unsigned number, done; /* of the last exchange; thread blocks that have stored; the owner's alone */
} HaloRoom;
static_assert(sizeof(HaloRoom) <= HALO_ROOM_HEAD, "the head of a room");

#define HALO_EXCHANGE_BLOCKS 32 /* thread blocks of an exchange, at most: all of them wait, and the product beside them needs the rest of the device */

static __global__ void __launch_bounds__(SYS_THREADS) HaloExchangeKernel(const HaloRoute r, const int *entries, const SysScalar *x, SysScalar *in)
{
  __shared__ bool last;
  HaloRoom *const own    = (HaloRoom *)r.room[r.rank];
  const unsigned  number = *(volatile unsigned *)&own->number + 1;
  const int64_t   set    = number % 2 * r.stride;
  const int       first = (int)(blockIdx.x * SYS_THREADS + threadIdx.x), step = (int)(gridDim.x * SYS_THREADS);

  for (int k = first, p = 0; k < r.offset[r.npeers]; k += step) {
    while (k >= r.offset[p + 1]) p++;
    ((SysScalar *)((char *)r.room[r.peer[p]] + HALO_ROOM_HEAD))[set + r.place[p] + k - r.offset[p]] = x[entries ? entries[k] : k];
  }
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&own->done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence_system();
    if (threadIdx.x == 0) {
      own->done   = 0;
      own->number = number;
    }
    if ((int)threadIdx.x < r.npeers) *(volatile unsigned *)&((HaloRoom *)r.room[r.peer[threadIdx.x]])->flag[r.rank] = number;
  }
  if ((int)threadIdx.x < r.npeers) {
    const volatile unsigned *flag = &own->flag[r.peer[threadIdx.x]];

    while ((int)(*flag - number) < 0)
      ; /* a neighbour may be ahead by one exchange */
    __threadfence_system();
  }
  __syncthreads();
  for (int k = first; k < r.come; k += step) in[k] = __ldcg((const SysScalar *)((const char *)own + HALO_ROOM_HEAD) + set + k);
}

SysStatus HaloExchange(const HaloRoute *r, const int *entries, const SysScalar *x, SysScalar *in, SysStream stream)
{
  const int      most   = r->come > r->offset[r->npeers] ? r->come : r->offset[r->npeers];
  const unsigned blocks = SysBlocks(most > 1 ? most : 1);

  return SysLaunch(HaloExchangeKernel, blocks < HALO_EXCHANGE_BLOCKS ? blocks : HALO_EXCHANGE_BLOCKS, SYS_THREADS, 0, (cudaStream_t)stream, *r, entries, x, in);
}
