/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Matrix Market files on the processes of a communicator

   Of a plain file each process reads the lines that begin in its share of the bytes. A compressed file is decompressed by the first
   process, which deals pieces of whole lines to the others. Either way the first error that the readers meet is only noted: its line
   number depends on lines that other processes read, so the first process reads the file once more, alone, and explains.
*/
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <errno.h>
#include "mat/io/mtxfile.h"
#include "mat/io/mtxunpack.h"
#include <petscamb.h>

#define TEXT_SIZE  ((size_t)4 << 20) /* bytes read at a time, and bytes of the longest piece of a process */
#define BATCH_SIZE 1024              /* entries parsed at a time; they stay in the first-level cache */

void MtxFileFault(MtxFault *fault, PetscErrorCode code, int64_t line, const char *reason, const char *detail)
{
  fault->code = (PetscInt)code;
  fault->line = line;
  snprintf(fault->reason, sizeof(fault->reason), "%s%s%s", reason, detail ? ": " : "", detail ? detail : "");
}

/* Appends to the unparsed text. Returns 0 if the file cannot be read. */
int MtxFileFill(MtxFile *f, MtxFault *fault, int64_t line)
{
  if (f->begin) memmove(f->text, f->text + f->begin, f->length);
  f->begin = 0;
  while (!f->last && f->length < TEXT_SIZE) {
    size_t  room = TEXT_SIZE - f->length;
    ssize_t got;

    if (f->unpacker) {
      const char *why = NULL;

      got = (ssize_t)MtxUnpackRead(f->unpacker, f->text + f->length, room, &why);
      if (got < 0) {
        MtxFileFault(fault, PETSC_ERR_FILE_UNEXPECTED, line, "the compressed data are damaged or cut off", why);
        return 0;
      }
      f->last = (size_t)got < room;
      f->length += (size_t)got;
      continue;
    }
    if ((int64_t)room > f->stop - f->next) room = (size_t)(f->stop - f->next);
    got = room ? pread(f->fd, f->text + f->length, room, (off_t)f->next) : 0;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || (room && !got)) {
      MtxFileFault(fault, PETSC_ERR_FILE_READ, 0, "reading failed", got ? strerror(errno) : "the file has become shorter");
      return 0;
    }
    f->length += (size_t)got;
    f->next += got;
    f->last = f->next == f->stop;
  }
  return 1;
}

/* The beginning of the first line that begins at or after offset; -1 if the file cannot be read */
static int64_t MtxFileLineBegin(MtxFile *f, int64_t offset, MtxFault *fault)
{
  f->next = offset - 1;
  f->stop = f->size;
  f->last = f->next == f->stop;
  while (1) {
    const char *feed;

    f->begin = f->length = 0;
    if (!MtxFileFill(f, fault, 0)) return -1;
    feed = memchr(f->text, '\n', f->length);
    if (feed) return f->next - (int64_t)f->length + (feed - f->text) + 1;
    if (f->last) return f->size;
  }
}

/* Limits a plain file to the lines that begin in the share of this process */
int MtxFileSetRange(MtxFile *f, int64_t begin, PetscMPIInt rank, PetscMPIInt size, MtxFault *fault)
{
  const int64_t share = (f->size - begin) / size;
  int64_t       first = begin, stop = f->size;

  if (rank && share) first = MtxFileLineBegin(f, begin + share * rank, fault);
  if (first >= 0 && rank < size - 1) stop = share ? MtxFileLineBegin(f, begin + share * (rank + 1), fault) : begin;
  if (first < 0 || stop < 0) return 0;
  f->next  = first;
  f->stop  = PetscMax(stop, first);
  f->begin = f->length = 0;
  f->last              = f->next == f->stop;
  return 1;
}

/* Parses until the batch is full or the file is used up; returns 0 after a fault */
static int MtxFileNextBatch(MtxFile *f, MtxReader *r, MtxBatch *b, MtxFault *fault)
{
  b->count = 0;
  while (1) {
    size_t          used   = 0;
    const MtxStatus status = MtxReadEntries(r, f->text + f->begin, f->length, f->last, b, &used);

    f->begin += used;
    f->length -= used;
    if (status == MTX_BAD) {
      MtxFileFault(fault, PETSC_ERR_FILE_UNEXPECTED, r->line, r->reason, NULL);
      return 0;
    }
    if (status == MTX_FULL || f->last) return 1;
    if (!MtxFileFill(f, fault, r->line + 1)) return 0;
  }
}

PetscErrorCode MtxFileClose(MtxFile *f)
{
  PetscFunctionBegin;
  if (f->unpacker) {
    MtxUnpackClose(f->unpacker);
    f->fd = -1;
  }
  if (f->fd >= 0) (void)close(f->fd);
  f->fd       = -1;
  f->unpacker = NULL;
  PetscCall(PetscFree(f->text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MtxFileBatchCreate(MtxBatch *b)
{
  PetscFunctionBegin;
  b->capacity = BATCH_SIZE;
  b->count    = 0;
  PetscCall(PetscMalloc4(BATCH_SIZE, &b->i, BATCH_SIZE, &b->j, BATCH_SIZE, &b->re, BATCH_SIZE, &b->im));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens a file, and finds out whether it is compressed */
PetscErrorCode MtxFileOpenAll(const char name[], MtxFile *f, MtxFault *fault)
{
  struct stat   status;
  unsigned char magic[MTX_MAGIC] = {0};
  const char   *program;

  PetscFunctionBegin;
  memset(f, 0, sizeof(*f));
  f->fd = open(name, O_RDONLY | O_CLOEXEC);
  if (f->fd < 0) {
    MtxFileFault(fault, PETSC_ERR_FILE_OPEN, 0, "cannot open the file", strerror(errno));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (fstat(f->fd, &status) || !S_ISREG(status.st_mode)) {
    MtxFileFault(fault, PETSC_ERR_FILE_OPEN, 0, S_ISDIR(status.st_mode) ? "this is a folder; name a file in it" : "this is no regular file; copy its content to one", NULL);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  f->size = f->stop = (int64_t)status.st_size;
  f->last           = !f->size;
  PetscCall(PetscMalloc1(TEXT_SIZE, &f->text));
  program = pread(f->fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) ? MtxUnpackProgram(magic) : NULL;
  if (program) {
    int supported;

    f->unpacker = MtxUnpackOpen(f->fd, program, &supported);
    if (!supported) {
      char text[192];

      snprintf(text, sizeof(text), "%s has compressed the file, and this library was built without its decompressor; decompress it with %s -d, or configure again with the library of %s", program, program, program);
      MtxFileFault(fault, PETSC_ERR_SUP_SYS, 0, text, NULL);
    } else if (!f->unpacker) MtxFileFault(fault, PETSC_ERR_MEM, 0, "no memory to decompress the file", NULL);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens a file and reads its header. The file must be closed even if there is a fault. */
PetscErrorCode MtxFileOpen(const char name[], MtxFile *f, MtxReader *r, MtxFault *fault)
{
  MtxStatus status = MTX_MORE;

  PetscFunctionBegin;
  MtxReaderInit(r);
  PetscCall(MtxFileOpenAll(name, f, fault));
  while (!fault->code && status == MTX_MORE) {
    size_t used = 0;

    if (!MtxFileFill(f, fault, r->line + 1)) break;
    status = MtxReadHeader(r, f->text + f->begin, f->length, f->last, &used);
    f->begin += used;
    f->length -= used;
    if (status == MTX_BAD) MtxFileFault(fault, PETSC_ERR_FILE_UNEXPECTED, r->line, r->reason, NULL);
  }
  if (!fault->code && !f->unpacker && MtxFewestBytes(&r->header) > f->size - f->next + (int64_t)f->length) {
    char text[128];

    snprintf(text, sizeof(text), "the file is too short for the %lld entries that the header promises", (long long)r->header.entries);
    MtxFileFault(fault, PETSC_ERR_FILE_UNEXPECTED, r->line, text, NULL);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a whole file to find its first fault; keeps no entries */
PetscErrorCode MtxFileDiagnose(const char name[], MtxFault *fault)
{
  MtxFile   f;
  MtxReader r;
  MtxBatch  b;
  char      text[128];

  PetscFunctionBegin;
  PetscCall(MtxFileBatchCreate(&b));
  PetscCall(MtxFileOpen(name, &f, &r, fault));
  if (!fault->code) {
    do {
      if (!MtxFileNextBatch(&f, &r, &b, fault)) break;
    } while (b.count);
  }
  if (!fault->code && r.entries < r.header.entries) {
    snprintf(text, sizeof(text), "the file ends after %lld of the %lld entries that the header promises", (long long)r.entries, (long long)r.header.entries);
    MtxFileFault(fault, PETSC_ERR_FILE_UNEXPECTED, r.line, text, NULL);
  }
  if (!fault->code) MtxFileFault(fault, PETSC_ERR_FILE_READ, 0, "the file has changed while it was read", NULL);
  PetscCall(MtxFileClose(&f));
  PetscCall(PetscFree4(b.i, b.j, b.re, b.im));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MtxFileReserve(MtxStore *store, size_t capacity)
{
  PetscFunctionBegin;
  if (capacity > store->capacity) {
    PetscCall(PetscRealloc(capacity * sizeof(*store->entries), &store->entries));
    store->capacity = capacity;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MtxFileAppend(MtxStore *store, const MtxHeader *h, const MtxBatch *b)
{
  MtxEntry *e;

  PetscFunctionBegin;
  if (store->count + b->count > store->capacity) PetscCall(MtxFileReserve(store, PetscMax(store->count + b->count, store->capacity + store->capacity / 2)));
  e = store->entries + store->count;
  if (h->format == MTX_COORDINATE) {
    for (size_t k = 0; k < b->count; k++) {
      e[k].i = (PetscInt)b->i[k];
      e[k].j = (PetscInt)b->j[k];
    }
  }
  for (size_t k = 0; k < b->count; k++) e[k].v = (PetscScalar)b->re[k];
#if defined(PETSC_USE_COMPLEX)
  if (h->field == MTX_COMPLEX) {
    for (size_t k = 0; k < b->count; k++) e[k].v = PetscCMPLX(b->re[k], b->im[k]);
  }
#endif
  store->count += b->count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parses the rest of a file, or of a text in memory given as an MtxFile, as one part */
static PetscErrorCode MtxFileReadPart(MtxFile *f, const MtxHeader *h, MtxBatch *b, MtxStore *store, MtxFault *fault)
{
  MtxReader r;

  PetscFunctionBegin;
  MtxReaderInitEntries(&r, h);
  do {
    if (!MtxFileNextBatch(f, &r, b, fault)) break;
    PetscCall(MtxFileAppend(store, h, b));
  } while (b->count);
  if (store->part_count == store->part_capacity) {
    store->part_capacity = 2 * store->part_capacity + 16;
    PetscCall(PetscRealloc(store->part_capacity * sizeof(*store->parts), &store->parts));
  }
  store->parts[store->part_count++] = r.entries;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Sends the rest of a compressed file in pieces of whole lines to the other processes in turn, then an empty piece to each. One piece is on
   its way while the next one is decompressed.
*/
static PetscErrorCode MtxFileDeal(MPI_Comm comm, PetscMPIInt tag, MtxFile *f, MtxFault *fault)
{
  PetscMPIInt size, to = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  char       *piece;
  int         comment = 0; /* the text begins within a comment, which was too long for one piece */

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(TEXT_SIZE, &piece));
  while (f->length || !f->last) {
    const char *text;
    size_t      length, blanks = 0;

    if (!MtxFileFill(f, fault, 0) || !f->length) break;
    text   = f->text + f->begin;
    length = f->length;
    while (!f->last && length && text[length - 1] != '\n') length--;
    if (!length || comment) {
      const char *feed = memchr(text, '\n', f->length);

      if (!comment) {
        while (blanks < MTX_LINE_MAX && (text[blanks] == ' ' || text[blanks] == '\t' || text[blanks] == '\r')) blanks++;
        if (blanks == MTX_LINE_MAX || text[blanks] != '%') {
          MtxFileFault(fault, PETSC_ERR_FILE_UNEXPECTED, 0, "a line is too long", NULL);
          break;
        }
      }
      comment = !feed;
      length  = feed ? (size_t)(feed - text) + 1 : f->length;
    } else {
      PetscCallMPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
      memcpy(piece, text, length);
      PetscCallMPI(MPI_Isend(piece, (PetscMPIInt)length, MPI_CHAR, 1 + to, tag, comm, &request));
      to = (to + 1) % (size - 1);
    }
    f->begin += length;
    f->length -= length;
  }
  PetscCallMPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (PetscMPIInt rank = 1; rank < size; rank++) PetscCallMPI(MPI_Send(NULL, 0, MPI_CHAR, rank, tag, comm));
  PetscCall(PetscFree(piece));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Receives and parses pieces until an empty one comes; after a fault it ignores the rest */
static PetscErrorCode MtxFileReceive(MPI_Comm comm, PetscMPIInt tag, const MtxHeader *h, MtxBatch *b, MtxStore *store, MtxFault *fault)
{
  MtxFile piece;

  PetscFunctionBegin;
  memset(&piece, 0, sizeof(piece));
  PetscCall(PetscMalloc1(TEXT_SIZE, &piece.text));
  while (1) {
    MPI_Status  status;
    PetscMPIInt length;

    PetscCallMPI(MPI_Recv(piece.text, (PetscMPIInt)TEXT_SIZE, MPI_CHAR, 0, tag, comm, &status));
    PetscCallMPI(MPI_Get_count(&status, MPI_CHAR, &length));
    if (!length) break;
    piece.begin  = 0;
    piece.length = (size_t)length;
    piece.last   = 1;
    if (!fault->code) PetscCall(MtxFileReadPart(&piece, h, b, store, fault));
  }
  PetscCall(PetscFree(piece.text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Reads the share of this process. On the first process f is the open file, read up to the end of its header; on the others f is not used.
   Collective. A fault of one process is not known to the others.
*/
PetscErrorCode MtxReadShare(MPI_Comm comm, PetscMPIInt tag, const char name[], const MtxAbout *about, MtxFile *f, MtxStore *store, MtxFault *fault)
{
  PetscMPIInt size, rank;
  MtxBatch    b;
  MtxFile     own;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(MtxFileBatchCreate(&b));
  if (about->compressed) {
    if (size == 1) PetscCall(MtxFileReadPart(f, &about->header, &b, store, fault));
    else if (!rank) PetscCall(MtxFileDeal(comm, tag, f, fault));
    else PetscCall(MtxFileReceive(comm, tag, &about->header, &b, store, fault));
  } else {
    if (rank) {
      PetscCall(MtxFileOpenAll(name, &own, fault));
      f = &own;
      if (!fault->code && f->size != about->size) MtxFileFault(fault, PETSC_ERR_FILE_OPEN, 0, "processes see different files", NULL);
    }
    if (!fault->code && MtxFileSetRange(f, about->begin, rank, size, fault)) {
      const double part = (double)(f->stop - f->next) / (double)PetscMax(about->size - about->begin, 1);

      /* no more than the file can hold: MtxFileOpen() checked that its bytes suffice for the entries */
      PetscCall(MtxFileReserve(store, (size_t)(1.01 * part * (double)about->header.entries) + BATCH_SIZE));
      PetscCall(MtxFileReadPart(f, &about->header, &b, store, fault));
    }
    if (rank) PetscCall(MtxFileClose(&own));
  }
  PetscCall(PetscFree4(b.i, b.j, b.re, b.im));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MtxStoreDestroy(MtxStore *store)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(store->entries));
  PetscCall(PetscFree(store->parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
