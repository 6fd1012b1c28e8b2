# SPDX-License-Identifier: BSD-2-Clause
"""For PETSc's configure: copy this file to config/BuildSystem/config/packages/ and give --download-petscamb=FILE.tar.gz

petsc-amb is built after PETSc, and installed where PETSc is. Programs load it by -dll_append.
"""
import os

import config.package


class Configure(config.package.Package):
  def __init__(self, framework):
    config.package.Package.__init__(self, framework)
    self.version         = '0.1.0'
    self.download        = ['https://example.org/petsc-amb/petsc-amb-0.1.0.tar.gz']
    self.downloaddirnames = ['petsc-amb', 'petscamb']
    self.functions       = []
    self.includes        = ['petscamb.h', 'petscambgraph.h']
    self.liblist         = [['libpetscamb.so']]
    self.precisions      = ['single', 'double']
    self.linkedbypetsc   = 0
    self.builtafterpetsc = 1

  def setupDependencies(self, framework):
    config.package.Package.setupDependencies(self, framework)
    self.mpi   = framework.require('config.packages.MPI', self)
    self.cuda  = framework.require('config.packages.CUDA', self)
    self.deps  = [self.mpi]
    self.odeps = [self.cuda]

  def Install(self):
    if not self.checkSharedLibrariesEnabled():
      raise RuntimeError('petsc-amb is a plugin: configure PETSc with shared libraries')
    if self.argDB['prefix'] and 'package-prefix-hash' not in self.argDB:
      prefix = os.path.abspath(os.path.expanduser(self.argDB['prefix']))
      petsc  = 'PETSC_DIR=' + prefix + ' PETSC_ARCH='
    else:
      prefix = os.path.join(self.petscdir.dir, self.arch)
      petsc  = 'PETSC_DIR=' + self.petscdir.dir + ' PETSC_ARCH=' + self.arch
    options = ' '.join(['--name=petsc', '--with-install=0', '--with-cuda=%d' % bool(self.cuda.found), '--prefix=' + prefix, petsc])
    self.include = [os.path.join(self.installDir, 'include')]
    self.lib     = [os.path.join(self.installDir, 'lib', 'libpetscamb.so')]
    self.addPost(self.packageDir, ['${PYTHON} configure.py ' + options, '${OMAKE} BUILD=petsc install'])
    return self.installDir
