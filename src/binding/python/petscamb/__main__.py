# SPDX-License-Identifier: BSD-2-Clause
"""python -m petscamb info|bench|solve|graph ...: the program petscamb of the library in use."""
import os
import sys

from . import _library

try:
    tool = _library.tool_path()
except (ImportError, FileNotFoundError) as error:
    sys.exit(str(error))
os.execv(tool, [tool] + sys.argv[1:])
