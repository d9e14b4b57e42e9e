"""Three batches: are they alike, and which is not?"""
import numpy as np

import mercer

rng = np.random.default_rng(0)
batches = {"monday": rng.normal(size=(60, 2)), "tuesday": rng.normal(size=(50, 2)), "friday": 1.8 * rng.normal(size=(70, 2))}
result = mercer.k_sample_test(batches, random_state=0)
print(result)
for pair in result.pairs:
    print(f"{pair['first']:>8} and {pair['second']:<8} adjusted p {pair['adjusted']:.3f}")
