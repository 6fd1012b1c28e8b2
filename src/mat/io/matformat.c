/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatLoadGetFormat(): the format of a file by its first bytes, whatever its name
*/
#include <ctype.h>
#include <strings.h>
#include <petsc/private/petscimpl.h>
#include <petscamb.h>
#include "mat/io/mtxfile.h"

/* Returns the format of a file from its first bytes. A banner of Matrix Market with a mistake counts: the reader then reports the mistake. */
static MatLoadFormat FormatOfText(const char *text, size_t length)
{
  static const char          banner[]  = "MatrixMarket";
  static const unsigned char classid[] = {0, 0, 0, 0, 0x00, 0x12, 0x7b}; /* MAT_FILE_CLASSID and VEC_FILE_CLASSID as PETSc writes them, with four bytes, or eight for 64-bit indices */
  size_t                     at        = 0;

  for (size_t bytes = 3; bytes <= 7; bytes += 4) {
    if (length > bytes && !memcmp(text, classid + 7 - bytes, bytes) && (text[bytes] == 0x50 || text[bytes] == 0x4e)) return MAT_LOAD_PETSC;
  }
  if (length >= 3 && !memcmp(text, MTX_BYTE_ORDER_MARK, 3)) at = 3;
  while (at < length && isspace((unsigned char)text[at])) at++;
  if (at < length && !isprint((unsigned char)text[at])) return MAT_LOAD_OTHER;
  while (at < length && text[at] == '%') at++;
  return length - at >= sizeof(banner) - 1 && !strncasecmp(text + at, banner, sizeof(banner) - 1) ? MAT_LOAD_MATRIX_MARKET : MAT_LOAD_EDGE_LIST;
}

/*@C
   MatLoadGetFormat - Gets the format of a file by its first bytes

   Collective

   Input Parameters:
+  comm - the processes
-  file - the name of the file; it may be compressed by gzip, xz or bzip2

   Output Parameter:
.  format - the format, see `MatLoadFormat`

   Level: intermediate

   Note:
   The name of the file does not matter. The first process reads the file.

   Errors:
+  `PETSC_ERR_FILE_OPEN`       - the file cannot be opened, or is no regular file
.  `PETSC_ERR_FILE_READ`       - reading failed
.  `PETSC_ERR_FILE_UNEXPECTED` - the compressed data are damaged
.  `PETSC_ERR_SUP_SYS`         - the library was built without the decompressor of the file
-  `PETSC_ERR_ARG_NULL`        - `file` or `format` is `NULL`

.seealso: `MatLoadFormat`, `MatLoadMatrixMarket()`, `MatLoadEdgeList()`, `MatLoad()`
@*/
PetscErrorCode MatLoadGetFormat(MPI_Comm comm, const char file[], MatLoadFormat *format)
{
  MtxFault    fault = {.code = 0};
  PetscMPIInt rank;
  int         found = MAT_LOAD_OTHER;

  PetscFunctionBegin;
  PetscCheck(file && format, comm, PETSC_ERR_ARG_NULL, "%s is NULL", file ? "The place for the format" : "The name of the file");
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    MtxFile f;

    PetscCall(MtxFileOpenAll(file, &f, &fault));
    if (!fault.code && MtxFileFill(&f, &fault, 1)) {
      found = FormatOfText(f.text, f.length);
      if (f.unpacker && found == MAT_LOAD_PETSC) found = MAT_LOAD_OTHER; /* PETSc reads no compressed file */
    }
    PetscCall(MtxFileClose(&f));
  }
  PetscCallMPI(MPI_Bcast(&fault, (PetscMPIInt)sizeof(fault), MPI_BYTE, 0, comm));
  PetscCallMPI(MPI_Bcast(&found, 1, MPI_INT, 0, comm));
  PetscCheck(!fault.code || !fault.line, comm, (PetscErrorCode)fault.code, "%s:%lld: %s", file, (long long)fault.line, fault.reason);
  PetscCheck(!fault.code, comm, (PetscErrorCode)fault.code, "%s: %s", file, fault.reason);
  *format = (MatLoadFormat)found;
  PetscFunctionReturn(PETSC_SUCCESS);
}
