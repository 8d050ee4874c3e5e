// Counts rows by group in several threads, recorded by memwalk: docs/your-own-program.md.
//
// usage: group_by [ROWS]
//
// Four groups, as query 1 of TPC-H has, and four threads of OpenMP, three times: all threads count in one table; each in its own, and the tables
// lie one behind the other; each in its own, and these lie apart.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <omp.h>

#include "memwalk.h"

namespace {

constexpr int threads = 4, groups = 4;

using Counts = std::uint64_t[groups];
struct alignas(128) Apart { // Not 64: a prefetcher that fetches the next line too would take it from its thread.
    Counts counts;
};

alignas(64) std::atomic<std::uint64_t> shared[groups];
alignas(64) volatile Counts near[threads];
Apart apart[threads];

// Each thread counts its part of the rows.
template <typename Count> void count_all(const char *phase, const std::vector<std::uint8_t> &rows, Count count) {
#pragma omp parallel num_threads(threads)
    {
        memwalk_phase(phase);
#pragma omp for
        for (std::size_t row = 0; row < rows.size(); ++row)
            count(omp_get_thread_num(), rows[row]);
    }
}

} // namespace

int main(int count, char **arguments) {
    const std::size_t size = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100'000;
    if (size == 0 || size > 100'000'000) {
        std::fprintf(stderr, "usage: %s [ROWS], between 1 and 100000000\n", arguments[0]);
        return 2;
    }
    std::vector<std::uint8_t> rows(size);
    memwalk_segment("rows", rows.data(), size);
    memwalk_segment("shared", shared, sizeof shared);
    memwalk_segment("near by", const_cast<Counts *>(near), sizeof near);
    memwalk_segment("apart", apart, sizeof apart);
    std::mt19937 random(1);
    for (std::uint8_t &row : rows)
        row = static_cast<std::uint8_t>(random() % groups);

    count_all("shared", rows, [](int, int group) { ++shared[group]; });
    count_all("near by", rows, [](int thread, int group) { near[thread][group] = near[thread][group] + 1; });
    count_all("apart", rows, [](int thread, int group) {
        volatile std::uint64_t &own = apart[thread].counts[group];
        own = own + 1;
    });

    memwalk_phase("check");
    for (int group = 0; group < groups; ++group) {
        std::uint64_t in_near = 0, in_apart = 0;
        for (int thread = 0; thread < threads; ++thread) {
            in_near += near[thread][group];
            in_apart += apart[thread].counts[group];
        }
        std::printf("group %d: %llu rows\n", group, static_cast<unsigned long long>(shared[group]));
        if (in_near != shared[group] || in_apart != shared[group]) {
            std::fprintf(stderr, "%s: a thread lost something\n", arguments[0]);
            return 1;
        }
    }
    return 0;
}
