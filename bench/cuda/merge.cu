/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Merging two ascending sequences of one length in shared memory, by five methods: the study by which bhSPARSE chose the merge path for long rows. A thread block
   merges one pair; 2^25 keys in all, whatever the length. Of several widths of a block the fastest counts. Speed is that of the whole, with reading and writing the
   sequences, beside a kernel that only copies them.

   References:
.  * - W. Liu and B. Vinter, "A framework for general sparse matrix-matrix multiplication on GPUs and heterogeneous processors", Journal of Parallel and
   Distributed Computing 85, 2015, section 4.2
.  * - K. E. Batcher, "Sorting networks and their applications", AFIPS, 1968
*/
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define TOTAL   (1 << 25)
#define CHECKED ((size_t)1 << 18) /* keys that a check looks at */

#define CallCuda(call) \
  do { \
    const cudaError_t error_ = (call); \
    if (error_ != cudaSuccess) { \
      fflush(stdout); \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_)); \
      exit(2); \
    } \
  } while (0)

struct None { };

/* What goes with a key: nothing, or a number that a check can tell from the key */
template <typename V>
static __host__ __device__ V ValueOf(unsigned key)
{
  return (V)(key * 2654435761u);
}
template <>
__host__ __device__ None ValueOf<None>(unsigned)
{
  return None();
}
static __host__ __device__ bool Same(None, None)
{
  return true;
}
template <typename V>
static __host__ __device__ bool Same(V x, V y)
{
  return x == y;
}

/* Keys and values of a pair of sequences, n in all. Without values nothing is stored. */
template <typename V>
struct Pair {
  unsigned       *key;
  V              *value;
  __device__ void Put(int k, unsigned x, V v) const
  {
    key[k]   = x;
    value[k] = v;
  }
  __device__ V Value(int k) const { return value[k]; }
};
template <>
struct Pair<None> {
  unsigned       *key;
  None           *value;
  __device__ void Put(int k, unsigned x, None) const { key[k] = x; }
  __device__ None Value(int) const { return None(); }
};

template <typename V>
static __device__ __forceinline__ void Order(const Pair<V> &s, int low, int high)
{
  const unsigned x = s.key[low], y = s.key[high];

  if (x > y) {
    const V v = s.Value(low), w = s.Value(high);

    s.Put(low, y, w);
    s.Put(high, x, v);
  }
}

/* How many of the n keys are less than key, or not greater */
static __device__ __forceinline__ int Before(const unsigned *keys, int n, unsigned key, bool equal)
{
  int low = 0;

  while (n > 0) {
    const int  half = n / 2;
    const bool less = equal ? keys[low + half] <= key : keys[low + half] < key;

    low = less ? low + half + 1 : low;
    n   = less ? n - half - 1 : half;
  }
  return low;
}

enum Method {
  COPY,
  RANKING,
  PATH,
  ODDEVEN,
  BITONIC,
  ADVANCED,
  METHODS
};
static const char *const names[] = {"copy alone", "ranking", "merge path", "odd-even", "bitonic", "advanced bitonic"};

/* A key goes to its number in its own sequence and in the other */
template <typename V>
static __device__ void Ranking(const Pair<V> &s, const Pair<V> &to, int l)
{
  for (int k = (int)threadIdx.x; k < 2 * l; k += (int)blockDim.x) {
    const unsigned key  = s.key[k];
    const int      rank = k < l ? k + Before(s.key + l, l, key, false) : k - l + Before(s.key, l, key, true);

    to.Put(rank, key, s.Value(k));
  }
}

/* A thread makes as many keys as the others, from where its diagonal crosses the path, in registers */
template <typename V, int EACH>
static __device__ void Path(const Pair<V> &s, int l)
{
  const int begin = (int)threadIdx.x * EACH;
  unsigned  key[EACH];
  V         value[EACH];

  if (begin < 2 * l) {
    const unsigned *x = s.key, *y = s.key + l;
    int             low = max(0, begin - l), high = min(begin, l);

    while (low < high) {
      const int middle = (low + high) / 2;

      if (x[middle] <= y[begin - 1 - middle]) low = middle + 1;
      else high = middle;
    }
    int i = low, j = begin - low;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      const bool first = j >= l || (i < l && x[i] <= y[j]);
      const int  from  = first ? i : l + j;

      key[e]   = s.key[from];
      value[e] = s.Value(from);
      i += first;
      j += !first;
    }
  }
  __syncthreads();
  if (begin < 2 * l) {
#pragma unroll
    for (int e = 0; e < EACH; e++) s.Put(begin + e, key[e], value[e]);
  }
}

/* The last stage of Batcher's network: keys that are a stride apart, of neighbouring blocks but for the first step */
template <typename V>
static __device__ void OddEven(const Pair<V> &s, int l)
{
  for (int stride = l; stride > 0; stride /= 2) {
    for (int t = (int)threadIdx.x; t < l; t += (int)blockDim.x) {
      const int low = 2 * t - (t & (stride - 1));

      if (stride == l) Order(s, low, low + stride);
      else if (low + 2 * stride < 2 * l) Order(s, low + stride, low + 2 * stride);
    }
    __syncthreads();
  }
}

/* The second sequence was turned around */
template <typename V>
static __device__ void Bitonic(const Pair<V> &s, int l)
{
  for (int stride = l; stride > 0; stride /= 2) {
    for (int t = (int)threadIdx.x; t < l; t += (int)blockDim.x) {
      const int low = 2 * t - (t & (stride - 1));

      Order(s, low, low + stride);
    }
    __syncthreads();
  }
}

/* STEPS steps at a time, with their 2^STEPS keys in registers */
template <typename V, int STEPS>
static __device__ void BitonicSteps(const Pair<V> &s, int l, int stride)
{
  constexpr int KEYS = 1 << STEPS;
  const int     last = stride >> (STEPS - 1); /* the stride of the last of the steps */

  for (int t = (int)threadIdx.x; t < 2 * l / KEYS; t += (int)blockDim.x) {
    const int begin = (t / last) * last * KEYS + t % last;
    unsigned  key[KEYS];
    V         value[KEYS];

#pragma unroll
    for (int e = 0; e < KEYS; e++) {
      key[e]   = s.key[begin + e * last];
      value[e] = s.Value(begin + e * last);
    }
#pragma unroll
    for (int apart = KEYS / 2; apart > 0; apart /= 2) {
#pragma unroll
      for (int e = 0; e < KEYS; e++) {
        if (!(e & apart) && key[e] > key[e + apart]) {
          const unsigned x = key[e];
          const V        v = value[e];

          key[e]           = key[e + apart];
          value[e]         = value[e + apart];
          key[e + apart]   = x;
          value[e + apart] = v;
        }
      }
    }
#pragma unroll
    for (int e = 0; e < KEYS; e++) s.Put(begin + e * last, key[e], value[e]);
  }
  __syncthreads();
}

template <typename V>
static __device__ void AdvancedBitonic(const Pair<V> &s, int l)
{
  int stride = l;

  for (; stride >= 4; stride /= 8) BitonicSteps<V, 3>(s, l, stride);
  if (stride == 2) BitonicSteps<V, 2>(s, l, stride);
  if (stride == 1) BitonicSteps<V, 1>(s, l, stride);
}

template <typename V, int METHOD, int EACH>
static __global__ void Merge(const unsigned *key, const V *value, unsigned *key_out, V *value_out, int l)
{
  extern __shared__ __align__(16) char shared[];
  constexpr int                        V_BYTES = (int)(sizeof(V) > 1 ? sizeof(V) : 0);
  const size_t                         first   = (size_t)blockIdx.x * 2 * (size_t)l;
  const Pair<V>                        s       = {(unsigned *)(shared + (size_t)2 * l * V_BYTES), (V *)shared};
  Pair<V>                              result  = s;

  for (int k = (int)threadIdx.x; k < 2 * l; k += (int)blockDim.x) {
    const int to = METHOD >= BITONIC && k >= l ? 3 * l - 1 - k : k;

    s.key[to] = key[first + k];
    if (V_BYTES) s.value[to] = value[first + k];
  }
  __syncthreads();
  if (METHOD == RANKING) {
    result.value = (V *)(shared + (size_t)2 * l * (V_BYTES + 4));
    result.key   = (unsigned *)(shared + (size_t)2 * l * (2 * V_BYTES + 4));
    Ranking(s, result, l);
  } else if (METHOD == PATH) Path<V, EACH>(s, l);
  else if (METHOD == ODDEVEN) OddEven(s, l);
  else if (METHOD == BITONIC) Bitonic(s, l);
  else if (METHOD == ADVANCED) AdvancedBitonic(s, l);
  __syncthreads();
  for (int k = (int)threadIdx.x; k < 2 * l; k += (int)blockDim.x) {
    key_out[first + k] = result.key[k];
    if (V_BYTES) value_out[first + k] = result.value[k];
  }
}

/* Is each pair of the first keys one ascending sequence, the same keys as before, and has each key its value? */
template <typename V>
static const char *Check(const std::vector<unsigned> &before, const unsigned *key_out, const V *value_out, int l)
{
  const size_t          n = (size_t)2 * (size_t)l;
  std::vector<unsigned> sorted(before.begin(), before.begin() + CHECKED), after(CHECKED);
  std::vector<V>        values(CHECKED);

  CallCuda(cudaMemcpy(after.data(), key_out, sizeof(unsigned) * CHECKED, cudaMemcpyDeviceToHost));
  CallCuda(cudaMemcpy(values.data(), value_out, sizeof(V) * CHECKED, cudaMemcpyDeviceToHost));
  for (size_t p = 0; p < CHECKED; p += n) std::sort(sorted.begin() + (int64_t)p, sorted.begin() + (int64_t)(p + n));
  for (size_t k = 0; k < CHECKED; k++) {
    if (after[k] != sorted[k]) return "the keys are wrong";
    if (!Same(values[k], ValueOf<V>(sorted[k]))) return "a value is not that of its key";
  }
  return NULL;
}

template <typename V>
struct Data {
  unsigned             *key, *key_out;
  V                    *value, *value_out;
  std::vector<unsigned> host;
  int                   most; /* bytes of shared memory of a block */
};

static uint64_t Random(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

template <typename V>
static void Fill(Data<V> &d, int l)
{
  std::vector<V> values((size_t)TOTAL);
  uint64_t       state = 1;

  d.host.resize((size_t)TOTAL);
  for (int64_t first = 0; first < TOTAL; first += l) {
    unsigned key = 0;

    for (int64_t k = first; k < first + l; k++) d.host[(size_t)k] = key += 1 + (unsigned)(Random(&state) % 7);
  }
  for (size_t k = 0; k < (size_t)TOTAL; k++) values[k] = ValueOf<V>(d.host[k]);
  CallCuda(cudaMemcpy(d.key, d.host.data(), sizeof(unsigned) * (size_t)TOTAL, cudaMemcpyHostToDevice));
  CallCuda(cudaMemcpy(d.value, values.data(), sizeof(V) * (size_t)TOTAL, cudaMemcpyHostToDevice));
}

/* Milliseconds, the median of five; 0 if this width cannot serve */
template <typename V, int METHOD, int EACH>
static float Time(const Data<V> &d, int l, int threads)
{
  const size_t bytes = (size_t)2 * l * (4 + (sizeof(V) > 1 ? sizeof(V) : 0)) * (METHOD == RANKING ? 2 : 1);
  float        t[5];
  cudaEvent_t  begin, end;

  if (bytes > (size_t)d.most || threads > 2 * l || (METHOD == PATH && threads * EACH < 2 * l)) return 0;
  CallCuda(cudaFuncSetAttribute(Merge<V, METHOD, EACH>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  CallCuda(cudaEventCreate(&begin));
  CallCuda(cudaEventCreate(&end));
  for (int k = -1; k < 5; k++) {
    CallCuda(cudaEventRecord(begin));
    Merge<V, METHOD, EACH><<<TOTAL / (2 * l), threads, bytes>>>(d.key, d.value, d.key_out, d.value_out, l);
    CallCuda(cudaEventRecord(end));
    CallCuda(cudaEventSynchronize(end));
    CallCuda(cudaGetLastError());
    if (k >= 0) CallCuda(cudaEventElapsedTime(&t[k], begin, end));
  }
  CallCuda(cudaEventDestroy(begin));
  CallCuda(cudaEventDestroy(end));
  std::sort(t, t + 5);
  return t[2];
}

template <typename V, int METHOD, int EACH>
static void Try(const Data<V> &d, int l, float *best, int *width, bool *good)
{
  for (int threads = 32; threads <= 1024; threads *= 2) {
    CallCuda(cudaMemset(d.key_out, 0, sizeof(unsigned) * CHECKED));
    const float t = Time<V, METHOD, EACH>(d, l, threads);

    if (t > 0 && (*best == 0 || t < *best)) {
      *best  = t;
      *width = threads;
    }
    if (t > 0 && METHOD != COPY) {
      const char *wrong = Check(d.host, d.key_out, d.value_out, l);

      if (wrong) {
        printf("WRONG: %s, length %d, %d threads: %s\n", names[METHOD], l, threads, wrong);
        *good = false;
      }
    }
  }
}

template <typename V>
static bool Study(const char *pairs, int most, int longest)
{
  bool    good = true;
  Data<V> d;

  d.most = most;
  CallCuda(cudaMalloc((void **)&d.key, sizeof(unsigned) * (size_t)TOTAL));
  CallCuda(cudaMalloc((void **)&d.key_out, sizeof(unsigned) * (size_t)TOTAL));
  CallCuda(cudaMalloc((void **)&d.value, sizeof(V) * (size_t)TOTAL));
  CallCuda(cudaMalloc((void **)&d.value_out, sizeof(V) * (size_t)TOTAL));
  for (int l = 32; l <= longest; l *= 2) {
    float best[METHODS]  = {0};
    int   width[METHODS] = {0};

    Fill(d, l);
    Try<V, COPY, 1>(d, l, &best[COPY], &width[COPY], &good);
    Try<V, RANKING, 1>(d, l, &best[RANKING], &width[RANKING], &good);
    Try<V, PATH, 2>(d, l, &best[PATH], &width[PATH], &good);
    Try<V, PATH, 4>(d, l, &best[PATH], &width[PATH], &good);
    Try<V, PATH, 8>(d, l, &best[PATH], &width[PATH], &good);
    Try<V, PATH, 16>(d, l, &best[PATH], &width[PATH], &good);
    Try<V, ODDEVEN, 1>(d, l, &best[ODDEVEN], &width[ODDEVEN], &good);
    Try<V, BITONIC, 1>(d, l, &best[BITONIC], &width[BITONIC], &good);
    Try<V, ADVANCED, 1>(d, l, &best[ADVANCED], &width[ADVANCED], &good);
    for (int m = 0; m < METHODS; m++) {
      if (best[m] > 0) printf("%s,%d,%s,%d,%.3f\n", pairs, l, names[m], width[m], TOTAL / (1e6 * best[m]));
    }
    fflush(stdout);
  }
  CallCuda(cudaFree(d.key));
  CallCuda(cudaFree(d.key_out));
  CallCuda(cudaFree(d.value));
  CallCuda(cudaFree(d.value_out));
  return good;
}

int main(int argc, char **argv)
{
  const bool     small   = argc == 2 && !strcmp(argv[1], "-small");
  const int      longest = small ? 64 : 8192;
  cudaDeviceProp device;
  bool           good;

  if (argc > 1 && !small) {
    fprintf(stderr, "merge [-small]: prints a table for bench/thesis.py; -small: does it run?\n");
    return 2;
  }
  CallCuda(cudaGetDeviceProperties(&device, 0));
  printf("# %s\npairs,length,method,threads,Gkeys/s\n", device.name);
  good = Study<None>("32-bit keys", (int)device.sharedMemPerBlockOptin, longest);
  good &= Study<unsigned>("32-bit keys and values", (int)device.sharedMemPerBlockOptin, longest);
  good &= Study<double>("32-bit keys and 64-bit values", (int)device.sharedMemPerBlockOptin, longest);
  return good ? 0 : 1;
}
