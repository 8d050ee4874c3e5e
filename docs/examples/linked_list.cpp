// A list whose nodes lie anywhere in memory, and the same in order, recorded by memwalk: docs/your-own-program.md.
//
// usage: linked_list [NODES]
//
// Walks along NODES nodes of 64 bytes (a million if none are given), twice. Run natively, it prints what a node takes.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "memwalk.h"

namespace {

struct alignas(64) Node {
    const Node *next;
    std::uint64_t value;
};

// Links the nodes in the order of their numbers, and returns the first.
const Node *link(std::vector<Node> &nodes, const std::vector<std::size_t> &order) {
    const Node *next = nullptr;
    for (auto number = order.rbegin(); number != order.rend(); ++number) {
        nodes[*number] = {next, *number};
        next = &nodes[*number];
    }
    return next;
}

std::uint64_t walk(const char *phase, const Node *node, std::size_t count) {
    memwalk_on();
    memwalk_phase(phase);
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t sum = 0;
    for (; node; node = node->next)
        sum += node->value;
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    memwalk_off();
    std::printf("%s: %.1f ns per node\n", phase, time.count() / static_cast<double>(count));
    return sum;
}

} // namespace

int main(int count, char **arguments) {
    const std::size_t size = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1'000'000;
    if (size == 0 || size > 100'000'000) {
        std::fprintf(stderr, "usage: %s [NODES], between 1 and 100000000\n", arguments[0]);
        return 2;
    }
    std::vector<Node> nodes(size);
    memwalk_segment("nodes", nodes.data(), size * sizeof(Node));
    std::vector<std::size_t> order(size);
    for (std::size_t number = 0; number < size; ++number)
        order[number] = number;
    const std::uint64_t in_order = walk("in order", link(nodes, order), size);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
    const std::uint64_t scattered = walk("scattered", link(nodes, order), size);
    if (in_order != scattered) {
        std::fprintf(stderr, "%s: a walk lost something\n", arguments[0]);
        return 1;
    }
    return 0;
}
