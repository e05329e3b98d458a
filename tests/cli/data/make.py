#!/usr/bin/env python3
# Makes the .npy and .npz files of this folder; run by hand with NumPy, the results are checked in.
# SPDX-License-Identifier: MIT
import numpy as np

np.save('f32.npy', np.array([1.5, -2.25, 0, np.inf, np.nan], 'f4'))
np.save('f64.npy', np.array([0.1, 1e300, -3], 'f8'))
np.save('i16_2d.npy', np.arange(6, dtype='i2').reshape(2, 3))
np.save('fortran.npy', np.asfortranarray(np.arange(24, dtype='i4').reshape(2, 3, 4)))
np.save('big_endian.npy', np.array([1, 2, -3], '>i4'))
np.save('bool.npy', np.array([True, False, True]))
np.save('f16.npy', np.array([1, 0.1, 65504, 6e-8], 'f2'))
np.save('u64.npy', np.array([0, 2**63, 2**64 - 1], 'u8'))
np.save('complex.npy', np.array([1 + 2j, -3.5j], 'c8'))
np.save('scalar.npy', np.array(7.5, 'f4'))
np.save('empty.npy', np.zeros((0, 3), 'f4'))
np.save('float4.npy', np.arange(12, dtype='f4').reshape(3, 4))
np.save('struct.npy', np.array([((1, 2, 3, 4), (5, 6, 7, 8)), ((9, 10, 11, 12), (13, 14, 15, 16))],
                               [('pos', 'f4', (4,)), ('vel', 'f4', (4,))]))
np.save('nested.npy', np.array([(1, (2, 3.5))], [('n', 'i4'), ('in', [('a', 'i4'), ('b', 'f4')])]))
np.save('padded.npy', np.zeros(2, np.dtype([('c', 'u1'), ('d', 'f8')], align=True)))
np.save('text.npy', np.array(['abc', 'de']))
np.savez('two.npz', first=np.array([1, 2, 3], 'i4'), second=np.array([4.5], 'f4'))
np.savez_compressed('one.npz', only=np.arange(5, dtype='f4'))
