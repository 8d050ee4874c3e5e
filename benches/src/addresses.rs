//! Address traces for counts mode: the four patterns of `tests/oracles/address_traces.py`, from the beginning.

/// First address.
pub const BASE: u64 = 0x1000_0000;
const LINE: u64 = 64;
const REGION: u64 = 256 << 20;
const ZIPF_LINES: u64 = 1 << 20;
/// Nodes of a tree of ten million keys, 8 to a node, root first.
const TREE_NODES: [u64; 8] = [1, 5, 39, 306, 2442, 19_532, 156_250, 1_250_000];

/// Output `counter` of `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014), seeded by the number of a stream.
fn random(stream: u64, counter: u64) -> u64 {
    let seed = stream.wrapping_mul(0xd134_2543_de82_ef95);
    let mut mixed = (counter + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(seed);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

fn below(stream: u64, counter: u64, bound: u64) -> u64 {
    ((random(stream, counter) >> 32) * bound) >> 32
}

/// `count` addresses of each pattern, by name.
#[must_use]
pub fn traces(count: u64) -> Vec<(&'static str, Vec<u64>)> {
    vec![
        ("seq", (0..count).map(|i| BASE + i * 8 % REGION).collect()),
        (
            "rand",
            (0..count)
                .map(|i| BASE + below(1, i, REGION / 8) * 8)
                .collect(),
        ),
        ("zipf", zipf(count)),
        ("btree", walks(count)),
    ]
}

/// Lines by frequency: the k-th in proportion to k^-0.99, scattered over memory.
fn zipf(count: u64) -> Vec<u64> {
    let mut sum = 0.0;
    let cumulated: Vec<f64> = (1..=ZIPF_LINES)
        .map(|rank| {
            sum += (rank as f64).powf(-0.99);
            sum
        })
        .collect();
    let mut places: Vec<u64> = (0..ZIPF_LINES).collect();
    places.sort_by_key(|&place| random(3, place));
    (0..count)
        .map(|i| {
            let drawn = (random(2, i) >> 11) as f64 / 2_f64.powi(53) * sum;
            let rank = cumulated.partition_point(|&c| c <= drawn);
            BASE + places[rank.min(places.len() - 1)] * LINE
        })
        .collect()
}

/// Walks from the root of a tree to random leaves.
fn walks(count: u64) -> Vec<u64> {
    let depth = TREE_NODES.len();
    let mut addresses = Vec::with_capacity(count as usize);
    for search in 0..count.div_ceil(depth as u64) {
        let leaf = below(4, search, TREE_NODES[depth - 1]);
        let mut first = 0;
        for (level, nodes) in TREE_NODES.iter().enumerate() {
            let node = leaf >> (3 * (depth - 1 - level));
            addresses.push(BASE + (first + node) * LINE);
            first += nodes;
        }
    }
    addresses.truncate(count as usize);
    addresses
}
