/* Reads single bytes of lines drawn at random, some much more often than others: a program for cachegrind to watch.
 *
 * usage: skewed_reads READS
 *
 * The loop keeps everything but the byte in registers. The array begins at a multiple of the cache's size over its ways,
 * so that its lines fall into the same sets as those of an array that begins at 0. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64, LINES = 1 << 20, ALIGNMENT = 1 << 21 };

/* Output `counter` of SplitMix64, seeded by the number of a stream. */
static inline uint64_t random_word(uint64_t stream, uint64_t counter)
{
    uint64_t mixed = (counter + 1) * 0x9e3779b97f4a7c15u + stream * 0xd1342543de82ef95u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: skewed_reads READS\n");
        return 2;
    }
    uint64_t reads = strtoull(arguments[1], NULL, 10);
    volatile uint8_t *array = aligned_alloc(ALIGNMENT, (size_t)LINE * LINES);
    if (!array)
        return 1;
    uint8_t sum = 0;
    for (uint64_t i = 0; i < reads; i++) {
        /* Small numbers are more frequent than large ones, at every scale. */
        uint64_t line = random_word(5, i) % LINES >> random_word(6, i) % 20;
        sum += array[line * LINE];
    }
    return sum > 255;
}
