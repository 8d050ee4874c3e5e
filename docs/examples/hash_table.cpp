// A hash table with linear probing that tells memwalk what it does: docs/your-own-program.md.
//
// usage: hash_table [ENTRIES]
//
// Fills a table with ENTRIES keys (a million if none are given), then looks all of them up in another order. Run natively,
// it prints what a look-up takes; what it tells memwalk does nothing then.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "memwalk.h"

namespace {

struct Slot {
    std::uint64_t key; // 0: empty
    std::uint64_t value;
};

// A bijection on 64 bits (the finalizer of splitmix64): distinct numbers give distinct keys, and places.
std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

class HashTable {
  public:
    explicit HashTable(std::uint64_t capacity) : slots_(capacity), mask_(capacity - 1) {}

    void insert(std::uint64_t key, std::uint64_t value) { slots_[find(key)] = {key, value}; }

    std::uint64_t look_up(std::uint64_t key) const { return slots_[find(key)].value; }

    const std::vector<Slot> &slots() const { return slots_; }

  private:
    // The slot that holds `key`, or the empty one where it belongs.
    std::uint64_t find(std::uint64_t key) const {
        std::uint64_t place = mix(key) & mask_;
        while (slots_[place].key != key && slots_[place].key != 0)
            place = (place + 1) & mask_;
        return place;
    }

    std::vector<Slot> slots_;
    std::uint64_t mask_;
};

// Gives a vector's memory a name.
template <typename T> void name(const char *what, const std::vector<T> &data) {
    memwalk_segment(what, data.data(), data.size() * sizeof(T));
}

std::uint64_t power_of_two_above(std::uint64_t number) {
    std::uint64_t power = 1;
    while (power <= number)
        power *= 2;
    return power;
}

} // namespace

int main(int count, char **arguments) {
    const std::uint64_t entries = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1'000'000;
    if (entries == 0 || entries > 1'000'000'000) {
        std::fprintf(stderr, "usage: %s [ENTRIES], between 1 and 1000000000\n", arguments[0]);
        return 2;
    }
    HashTable table(2 * power_of_two_above(entries)); // at most half full
    std::vector<std::uint64_t> queries(entries);
    name("hash table", table.slots());
    name("queries", queries);

    memwalk_phase("build");
    for (std::uint64_t number = 1; number <= entries; ++number)
        table.insert(number, mix(number));

    // Each key once, in the order of a full-period generator modulo a power of two, out of which numbers too large are left.
    memwalk_phase("shuffle");
    const std::uint64_t range = power_of_two_above(entries) - 1;
    std::uint64_t state = 1;
    for (std::uint64_t &query : queries) {
        do
            state = (state * 6364136223846793005 + 1442695040888963407) & range;
        while (state >= entries);
        query = state + 1;
    }

    memwalk_phase("probe");
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t sum = 0;
    for (const std::uint64_t query : queries)
        sum += table.look_up(query);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;

    memwalk_phase("end");
    std::uint64_t expected = 0;
    for (std::uint64_t number = 1; number <= entries; ++number)
        expected += mix(number);
    if (sum != expected) {
        std::fprintf(stderr, "%s: the table lost something\n", arguments[0]);
        return 1;
    }
    std::printf("%.1f ns per look-up\n", time.count() / static_cast<double>(entries));
    return 0;
}
