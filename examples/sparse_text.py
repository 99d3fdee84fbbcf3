"""
Sparse tables: words that tell topics apart
===========================================

Texts counted word by word make a wide table that is nearly empty. It stays sparse: zeros are never
filled in, and time goes with the cells that are not zero.
"""

import time

import numpy as np
import scipy.sparse as sp

from orthoselect import select

# %%
# Made texts: 3000 of them over 20000 words, frequent words first. Each topic uses a few words of
# its own more often; "match" is used by two of the topics.

rng = np.random.default_rng(0)
N, n = 3000, 20000
TOPICS = {
    "cooking": {"oven": 350, "salt": 420, "dough": 900},
    "sports": {"goal": 380, "coach": 700, "match": 520},
    "chess": {"pawn": 640, "bishop": 810, "match": 520},
}
topic = rng.choice(list(TOPICS), N)
word = (n * rng.random(60 * N) ** 4).astype(int)  # most texts share the frequent words
text = rng.integers(0, N, 60 * N)
for name, words in TOPICS.items():
    for column in words.values():
        users = rng.choice(np.flatnonzero(topic == name), 350)
        text, word = np.append(text, users), np.append(word, np.full(350, column))
counts = sp.coo_array((np.ones(len(text)), (text, word)), shape=(N, n)).tocsr()
counts.sum_duplicates()
print(f"{N} texts, {n} words, {counts.nnz / (N * n):.2%} of the cells filled")

# %%
# Eight words are asked for; the table has no names, so they are looked up.

start = time.perf_counter()
path = select(counts, topic, 8)
seconds = time.perf_counter() - start
names = {column: name for words in TOPICS.values() for name, column in words.items()}
for step in path:
    name = names.get(step.feature, f"word {step.feature}")
    print(f"  {name:<8} {step.gain:.4f}  {step.total:.4f}")
print("in less than a second" if seconds < 1 else f"in {seconds:.1f} seconds")
