/* What compilers differ in. Kernels write these words, and know of no compiler.
 *
 * GCC and Clang have extensions: vectors, several builds of one function, prefetching. Other
 * compilers, and a build with ORTHOSELECT_PLAIN_C defined, get the same functions in C99, with the
 * same results but for rounding. `make native-check` builds both and tests both.
 */
#ifndef ORTHOSELECT_PORTABLE_H
#define ORTHOSELECT_PORTABLE_H

#include <stdint.h>

#if defined(__GNUC__) && !defined(ORTHOSELECT_PLAIN_C)
#define WITH_EXTENSIONS 1
#else
#define WITH_EXTENSIONS 0
#endif

/* Compile a function once for each of these processors, and choose when the module is loaded. The
 * C library has to help with the choice (glibc does, musl does not), and GCC knows these processors
 * by name from version 12 on. */
#if WITH_EXTENSIONS && defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&       \
    __GNUC__ >= 12 && !defined(ONE_PROCESSOR)
#define FOR_EACH_PROCESSOR                                                                         \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

/* Whether a function may be compiled for AVX2 and chosen by hand. */
#if WITH_EXTENSIONS && defined(__x86_64__)
#define CAN_TARGET_AVX2 1
#else
#define CAN_TARGET_AVX2 0
#endif

/* A function that becomes part of its callers, where constant arguments make it several. */
#if WITH_EXTENSIONS
#define INLINE __attribute__((always_inline)) static inline
#elif defined(_MSC_VER)
#define INLINE static __forceinline
#else
#define INLINE static inline
#endif

/* Ask memory for what is needed soon: into the nearest cache, or into the one behind it. */
#if WITH_EXTENSIONS
#define PREFETCH(place) __builtin_prefetch(place)
#define PREFETCH_FAR(place) __builtin_prefetch(place, 0, 2)
#else
#define PREFETCH(place) ((void)(place))
#define PREFETCH_FAR(place) ((void)(place))
#endif

/* *sum = a + b, wrapped around; whether it was too large. */
INLINE int add_overflows(int64_t a, int64_t b, int64_t *sum)
{
#if WITH_EXTENSIONS
    return __builtin_add_overflow(a, b, sum);
#else
    const int over = b >= 0 ? a > INT64_MAX - b : a < INT64_MIN - b;
    *sum = (int64_t)((uint64_t)a + (uint64_t)b);
    return over;
#endif
}

/* How many of the bits are one. */
INLINE int ones_of(uint64_t word)
{
#if WITH_EXTENSIONS
    return __builtin_popcountll(word);
#else
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)(word * 0x0101010101010101u >> 56);
#endif
}

/* VECTOR(Name, REAL, LANES) makes a type of a few numbers in a register, which may be read from
 * wherever numbers of type REAL stand: *(const Name *)place. (Name){0} is all zero. The rest goes
 * by the words below, of which x and y are vectors. Functions take vectors by their address: how they
 * are handed over depends on the processor that one compiles for. */
#if WITH_EXTENSIONS
#define VECTOR(Name, REAL, LANES)                                                                  \
    typedef REAL Name __attribute__((vector_size((LANES) * sizeof(REAL)), aligned(1), may_alias))
#define PLUS(Name, x, y) ((x) + (y))
#define MINUS(Name, x, y) ((x) - (y))
#define TIMES(Name, x, y) ((x) * (y))
#define SCALED(Name, x, number) ((number) * (x))
#define OF_FOUR(Name, a, b, c, d) ((Name){(a), (b), (c), (d)})
#define PART(x, at) (x)[at]
#else
#define VECTOR(Name, REAL, LANES) VECTOR_IN_C(Name, REAL, LANES)
#define VECTOR_IN_C(Name, REAL, LANES)                                                             \
    typedef struct {                                                                               \
        REAL part[LANES];                                                                          \
    } Name;                                                                                        \
    LANE_BY_LANE(Name##_plus, Name, LANES, x.part[at] + y.part[at])                                \
    LANE_BY_LANE(Name##_minus, Name, LANES, x.part[at] - y.part[at])                               \
    LANE_BY_LANE(Name##_times, Name, LANES, x.part[at] * y.part[at])                               \
    INLINE Name Name##_scaled(Name x, REAL number)                                                 \
    {                                                                                              \
        for (int at = 0; at < (int)(LANES); at++)                                                  \
            x.part[at] *= number;                                                                  \
        return x;                                                                                  \
    }                                                                                              \
    INLINE Name Name##_of_four(REAL a, REAL b, REAL c, REAL d)                                     \
    {                                                                                              \
        Name x = {{a, b, c, d}};                                                                   \
        return x;                                                                                  \
    }                                                                                              \
    typedef Name Name##_is_made
#define LANE_BY_LANE(name, Name, LANES, result)                                                    \
    INLINE Name name(Name x, Name y)                                                               \
    {                                                                                              \
        for (int at = 0; at < (int)(LANES); at++)                                                  \
            x.part[at] = result;                                                                   \
        return x;                                                                                  \
    }
#define NAMED(Name, word) NAMED_IN_C(Name, word)
#define NAMED_IN_C(Name, word) Name##_##word
#define PLUS(Name, x, y) NAMED(Name, plus)(x, y)
#define MINUS(Name, x, y) NAMED(Name, minus)(x, y)
#define TIMES(Name, x, y) NAMED(Name, times)(x, y)
#define SCALED(Name, x, number) NAMED(Name, scaled)(x, number)
#define OF_FOUR(Name, a, b, c, d) NAMED(Name, of_four)(a, b, c, d)
#define PART(x, at) (x).part[at]
#endif

/* A few numbers in a register, from where any number may stand. */
VECTOR(Four, double, 4);
VECTOR(Sixteen, float, 16);

#endif
