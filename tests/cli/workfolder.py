# The files that the command's tests find in their folder.  SPDX-License-Identifier: MIT
import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = ('by_value.cu', 'globals.cu', 'hello.cu', 'poly.cu', 'scale.cu')


def fill(work):
    """Copies tests/cli/files, data and reported and some of ptx/kernels into the folder `work`."""
    for folder in ('files', 'data'):
        for name in os.listdir(os.path.join(HERE, folder)):
            shutil.copy(os.path.join(HERE, folder, name), work)
    shutil.copytree(os.path.join(HERE, 'reported'), os.path.join(work, 'reported'))
    for name in KERNELS:
        shutil.copy(os.path.join(HERE, '..', '..', 'ptx', 'kernels', name), work)
