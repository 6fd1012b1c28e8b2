# SPDX-License-Identifier: BSD-2-Clause
"""For PETSc's configure: config/BuildSystem/config/packages/petscamb.py. petsc-amb is built after PETSc, as SLEPc is."""
import config.package
import os


class Configure(config.package.Package):
  def __init__(self, framework):
    config.package.Package.__init__(self, framework)
    self.gitcommit         = 'v0.1.0'
    self.download          = ['https://example.org/petsc-amb/petsc-amb-0.1.0.tar.gz']
    self.functions         = []
    self.includes          = []
    self.skippackagewithoptions = 1
    self.linkedbypetsc     = 0
    self.useddirectly      = 0
    self.precisions        = ['single', 'double']
    self.buildLanguages    = ['C']

  def setupDependencies(self, framework):
    config.package.Package.setupDependencies(self, framework)
    self.python          = framework.require('config.packages.python', self)
    self.setCompilers    = framework.require('config.setCompilers', self)
    self.sharedLibraries = framework.require('PETSc.options.sharedLibraries', self)
    self.petscdir        = framework.require('PETSc.options.petscdir', self.setCompilers)
    self.installdir      = framework.require('PETSc.options.installDir', self)
    self.cuda            = framework.require('config.packages.CUDA', self)

  def Install(self):
    if not self.sharedLibraries.useShared:
      raise RuntimeError('petsc-amb is a plugin: PETSc must be configured with --with-shared-libraries=1')
    self.addDefine('HAVE_PETSCAMB', 1)
    self.addMakeMacro('PETSCAMB', 'yes')
    prefix = self.petscdir.dir
    if self.framework.argDB['prefix']:
      directory, arch, target = os.path.abspath(os.path.expanduser(self.framework.argDB['prefix'])), '', ''
    else:
      directory, arch, target = self.petscdir.dir, self.arch, self.arch
    prefix = os.path.join(directory, target)
    options = '--with-install=0 --prefix=%s --with-cuda=%d PETSC_DIR=%s PETSC_ARCH=%s' % (prefix, bool(self.cuda.found), directory, arch)
    self.addMakeRule('petscambbuild', '', \
                       ['@echo "*** Building and installing petsc-amb ***"',\
                        '@${RM} ${PETSC_ARCH}/lib/petsc/conf/petscamb.errorflg',\
                        '@(cd %s && ${PYTHON} configure.py %s && ${OMAKE} install) > ${PETSC_ARCH}/lib/petsc/conf/petscamb.log 2>&1 || \\\n' % (self.packageDir, options) +\
                        '\t  (echo "**** Error building petsc-amb, see ${PETSC_ARCH}/lib/petsc/conf/petscamb.log ****" && touch ${PETSC_ARCH}/lib/petsc/conf/petscamb.errorflg && exit 1)'])
    if self.framework.argDB['prefix']:
      self.addMakeRule('petscamb-build', '')
      self.addMakeRule('petscamb-install', 'petscambbuild')
    else:
      self.addMakeRule('petscamb-build', 'petscambbuild')
      self.addMakeRule('petscamb-install', '')
    return self.installDir

  def alternateConfigureLibrary(self):
    self.addMakeRule('petscamb-build', '')
    self.addMakeRule('petscamb-install', '')
