//! What the schemas of parameters say is what the kernels do.

use serde_json::{Map, Value, json};
use workloads::{KernelInfo, Workload, WorkloadError, kernels};

/// A parameter, with the map that it stands in.
struct Parameter {
    path: Vec<String>,
    schema: Value,
    /// The schemas of all parameters of the same map.
    beside: Map<String, Value>,
}

impl Parameter {
    fn name(&self) -> String {
        self.path.join(".")
    }

    fn text(&self, key: &str) -> &str {
        self.schema[key].as_str().unwrap_or_default()
    }

    fn is_list(&self) -> bool {
        self.schema["type"] == "array"
    }

    /// What is said about its numbers: those in the list, or beside names.
    fn numbers(&self) -> &Value {
        let mut beside = self.schema["anyOf"].as_array().into_iter().flatten();
        let beside = beside.find(|one| one["type"] == "integer");
        self.schema.get("items").or(beside).unwrap_or(&self.schema)
    }

    /// Conditions on other parameters of the same map, of both kinds.
    fn conditions(&self) -> Vec<(&String, &Vec<Value>)> {
        let kinds = ["x-applies", "x-effect"].map(|kind| self.schema[kind].as_object());
        let conditions = kinds.into_iter().flatten().flatten();
        conditions
            .map(|(other, values)| (other, values.as_array().unwrap()))
            .collect()
    }

    /// Whether it applies to a workload, and has an effect there.
    fn applies(&self, workload: &Value) -> bool {
        let map = self.path[..self.path.len() - 1]
            .iter()
            .fold(workload, |map, step| &map[step]);
        self.conditions()
            .iter()
            .all(|(other, values)| values.contains(&map[other]))
    }

    /// The workload with this value, in a list if it takes lists.
    fn set(&self, workload: &Value, value: &Value) -> Value {
        let mut workload = workload.clone();
        let place = self
            .path
            .iter()
            .fold(&mut workload, |map, step| &mut map[step]);
        *place = if self.is_list() {
            json!([value])
        } else {
            value.clone()
        };
        workload
    }
}

fn parameters(schema: &Value, path: &[String]) -> Vec<Parameter> {
    let beside = schema["properties"].as_object().unwrap();
    let mut found = Vec::new();
    for name in schema["x-order"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        let path = [path, &[name.to_owned()]].concat();
        let schema = beside[name].clone();
        if schema.get("properties").is_some() {
            found.extend(parameters(&schema, &path));
        }
        found.push(Parameter {
            path,
            schema,
            beside: beside.clone(),
        });
    }
    assert_eq!(beside.len(), schema["x-order"].as_array().unwrap().len());
    found
}

fn of(kernel: &KernelInfo) -> Vec<Parameter> {
    parameters(&kernel.schema, &[])
}

/// Workloads from which the bounds can be reached: those of some parameters depend on others.
fn workloads_of(kernel: &KernelInfo) -> Vec<Value> {
    let most_keys = json!({"keys": 200_000_000, "word_bytes": 8});
    let external = json!({"tree": {"kind": "b+", "node_lines": 4, "prefetch": true, "jump_pointers": "external"}});
    let changes = match kernel.name {
        "index" => vec![
            json!({}),
            json!({"operation": "insert"}),
            json!({"operation": "scan-and-insert"}),
            json!({"operation": "scan"}),
            json!({"operation": "scan", "line_bytes": 16, "tree": {"kind": "b+", "node_lines": 4}}),
            json!({"operation": "scan", "keys": 200_000_000, "word_bytes": 8}),
            json!({"tree": {"kind": "b+", "node_lines": 2}}),
            external,
            most_keys,
        ],
        "disk-index" => vec![
            json!({}),
            json!({"operation": "scan"}),
            json!({"operation": "scan", "structure": "disk-first"}),
            json!({"operation": "scan", "structure": "cache-first"}),
            json!({"operation": "scan", "keys": 200_000_000}),
            json!({"operation": "scan", "line_bytes": 16}),
            json!({"operation": "scan", "pool_frames": 200_000}),
            json!({"maturity": "mature"}),
            json!({"operation": "insert"}),
            json!({"operation": "scan-and-insert"}),
            json!({"structure": "micro-index"}),
            json!({"structure": "micro-index", "page_bytes": 32768}),
            json!({"structure": "disk-first", "page_bytes": 32768}),
            json!({"structure": "cache-first", "page_bytes": 32768}),
        ],
        "string-index" => vec![
            json!({}),
            json!({"operation": "scan"}),
            json!({"operation": "scan", "keys": 200_000_000}),
            json!({"operation": "scan", "line_bytes": 16}),
            json!({"operation": "insert"}),
            json!({"operation": "scan-and-insert"}),
            json!({"operation": "delete"}),
            json!({"maturity": "mature"}),
            json!({"structure": "prefix-array"}),
            json!({"structure": "in-page-tree", "operation": "scan"}),
            json!({"structure": "in-page-tree", "page_bytes": 32768}),
            json!({"structure": "in-page-tree", "page_bytes": 32768, "keys": 1, "operations": 1, "shortest_key_bytes": 1, "longest_key_bytes": 1}),
            json!({"keys": 1, "operations": 1, "shortest_key_bytes": 1, "longest_key_bytes": 1}),
            json!({"longest_key_bytes": 128, "page_bytes": 32768}),
            json!({"keys": 1, "shortest_key_bytes": 128, "longest_key_bytes": 128}),
        ],
        "pointer-array" | "pointer-chase" => vec![
            json!({}),
            json!({"lines": 1, "pages": 1}),
            json!({"lines": 10, "pages": 10, "line_bytes": 16}),
            json!({"lines": 10_000_000, "pages": 1_000_000, "line_bytes": 16}),
        ],
        "table" => vec![
            json!({}),
            json!({"layout": "dsm"}),
            json!({"operation": "point"}),
            json!({"operation": "point", "caches": "warm"}),
            json!({"layout": "super-column"}),
            json!({"layout": "super-row", "attributes": 1, "attribute_bytes": 4, "header_bytes": 6}),
            json!({"layout": "super-column", "attributes": 1, "attribute_bytes": 4, "header_bytes": 6}),
            json!({"layout": "super-row", "records": 1, "attributes": 1, "attribute_bytes": 4, "level_attributes": [1]}),
            json!({"layout": "super-row", "records": 1_u64 << 31, "attributes": 1, "attribute_bytes": 4, "level_attributes": [1]}),
            json!({"layout": "super-row", "records": 1, "attributes": 1, "abstraction": [1]}),
            json!({"layout": "super-row", "records": 1, "attributes": 512, "abstraction": [1]}),
            json!({"nullable": [1]}),
            json!({"operation": "point", "index_pages": "stored"}),
            json!({"operation": "update", "strings": [2], "first_projected": 2, "page_bytes": 1 << 15}),
            json!({"operation": "update", "layout": "pax", "strings": [2], "first_projected": 2, "page_bytes": 1 << 15}),
            json!({"layout": "pax"}),
            json!({"layout": "pax", "operation": "scatter", "attributes": 1, "page_bytes": 1 << 15}),
            json!({"attributes": 512, "page_bytes": 1 << 15}),
            json!({"attributes": 512, "page_bytes": 1 << 15, "first_predicate": 512, "first_projected": 512}),
        ],
        "tpch" => vec![
            json!({}),
            json!({"query": "q12"}),
            json!({"query": "rs", "page_bytes": 512}),
            json!({"layout": "pax"}),
            json!({"layout": "dsm"}),
            json!({"layout": "dsm", "index_pages": "stored"}),
            json!({"query": "load"}),
            json!({"query": "update"}),
        ],
        "hash-join" => vec![
            json!({"partitions": 1000}),
            json!({"algorithm": "simple"}),
            json!({"algorithm": "group"}),
            json!({"algorithm": "pipelined"}),
            json!({"algorithm": "cache-partitioning"}),
            json!({"algorithm": "enhanced-cache-partitioning"}),
            json!({"algorithm": "inspector"}),
            json!({"algorithm": "choosing-inspector"}),
            json!({"algorithm": "sort-merge"}),
            json!({"order": "nearly-sorted"}),
            json!({"pages_asked_ahead": 8, "output": "stored"}),
            json!({"tuple_lengths": "uniform"}),
            json!({"tuple_lengths": "uniform", "tuple_bytes": 1024}),
        ],
        "hash-partition" => vec![
            json!({"algorithm": "simple"}),
            json!({"algorithm": "group"}),
            json!({"algorithm": "pipelined"}),
            json!({"filter": "single"}),
            json!({"filter": "multiple"}),
            json!({"order": "nearly-sorted"}),
            json!({"tuple_lengths": "uniform"}),
            json!({"tuple_lengths": "uniform", "tuple_bytes": 1024}),
        ],
        "hash-probe" => vec![
            json!({"interleaving": "group"}),
            json!({"interleaving": "amac"}),
            json!({"interleaving": "coroutine"}),
        ],
        "parallel-join" => vec![
            json!({}),
            json!({"passes": 1}),
            json!({"write_combining": true}),
            json!({"algorithm": "no-partitioning"}),
            json!({"tuple_bytes": 8}),
        ],
        // A new family's bounds are tried from its defaults.
        _ => vec![json!({})],
    };
    let with = |change: Value| {
        let mut workload = kernel.defaults.clone();
        workload["kernel"] = kernel.name.into();
        for (name, value) in change.as_object().unwrap() {
            workload[name] = value.clone();
        }
        workload
    };
    let mut workloads: Vec<Value> = changes.into_iter().map(with).collect();
    for parameter in of(kernel).iter().filter(|one| one.path.len() > 1) {
        for workload in &mut workloads {
            let map = &mut workload[&parameter.path[0]];
            if map.get(&parameter.path[1]).is_none() {
                map[&parameter.path[1]] =
                    kernel.defaults[&parameter.path[0]][&parameter.path[1]].clone();
            }
        }
    }
    workloads
}

/// The path of what serde refuses.
const TYPE: &str = "type";

fn check(workload: Value) -> Result<(), WorkloadError> {
    match serde_json::from_value::<Workload>(workload) {
        Ok(workload) => workload.validate(),
        Err(error) => Err(WorkloadError {
            path: TYPE.into(),
            message: error.to_string(),
        }),
    }
}

/// The numbers right beyond a bound.
fn beyond(bound: &Value, up: bool) -> Value {
    match (bound.as_u64(), up) {
        (Some(bound), true) => json!(bound + 1),
        (Some(bound), false) => json!(i64::try_from(bound).unwrap() - 1),
        (None, true) => json!(bound.as_f64().unwrap().next_up()),
        (None, false) => json!(bound.as_f64().unwrap().next_down()),
    }
}

#[test]
fn every_bound_is_the_one_that_validate_enforces() {
    let mut wrong = Vec::new();
    let mut bounds = 0;
    for kernel in kernels() {
        let workloads = workloads_of(&kernel);
        for parameter in of(&kernel) {
            let named = format!("{}: {}", kernel.name, parameter.name());
            let applicable: Vec<&Value> = workloads
                .iter()
                .filter(|workload| parameter.applies(workload))
                .collect();
            if applicable.is_empty() {
                wrong.push(format!("{named} applies nowhere"));
            }
            for (key, up) in [("minimum", false), ("maximum", true)] {
                let Some(bound) = parameter.numbers().get(key) else {
                    continue;
                };
                bounds += 1;
                let beyond = beyond(bound, up);
                for workload in &applicable {
                    let refused = check(parameter.set(workload, &beyond));
                    // A list may not belong to the workload at all.
                    let fits =
                        !parameter.is_list() || check(parameter.set(workload, bound)).is_ok();
                    match refused {
                        Err(error)
                            if !fits || parameter.name() == error.path || error.path == TYPE => {}
                        other => {
                            wrong.push(format!("{named} of {beyond}: {other:?}, in {workload}"))
                        }
                    }
                }
                // Without a maximum, the minimum is the type's: all that is said is that less cannot be.
                if parameter.numbers().get("maximum").is_some() {
                    let all = applicable.iter();
                    let refused: Vec<_> = all
                        .filter_map(|workload| check(parameter.set(workload, bound)).err())
                        .collect();
                    if refused.len() == applicable.len() {
                        wrong.push(format!(
                            "{named} of {bound} is refused everywhere: {refused:?}"
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(bounds > 60, "{bounds} bounds");
}

#[test]
fn numbers_of_a_choice_and_powers_of_two_are_the_only_ones() {
    for kernel in kernels() {
        for parameter in of(&kernel) {
            let listed = parameter.schema["enum"].as_array();
            let listed = listed.filter(|numbers| numbers[0].is_u64());
            let powers = parameter.schema.get("x-power-of-two").is_some();
            if listed.is_none() && !powers {
                continue;
            }
            let bound = |key: &str| parameter.schema[key].as_u64().unwrap();
            let within = bound("minimum")..=bound("maximum");
            // All small numbers, and each power of two with its neighbours.
            let powers_of_two = (7..16).map(|bit| 1_u64 << bit);
            let around = powers_of_two.flat_map(|power| power - 1..=power + 1);
            for number in (0..=100)
                .chain(around)
                .filter(|number| within.contains(number))
            {
                let legal = listed.is_none_or(|numbers| numbers.contains(&json!(number)))
                    && (!powers || number.is_power_of_two());
                let passes = workloads_of(&kernel)
                    .iter()
                    .any(|workload| check(parameter.set(workload, &json!(number))).is_ok());
                assert!(
                    legal || !passes,
                    "{}: {} may be {number}",
                    kernel.name,
                    parameter.name()
                );
                assert!(
                    !legal || passes,
                    "{}: {} may not be {number}",
                    kernel.name,
                    parameter.name()
                );
            }
        }
    }
}

#[test]
fn every_parameter_is_declared_in_full() {
    for kernel in kernels() {
        for parameter in of(&kernel) {
            let named = format!("{}: {}", kernel.name, parameter.name());
            let sentence = parameter.text("description");
            assert!(
                sentence.ends_with('.'),
                "{named}: {sentence:?} is no sentence"
            );
            assert!(
                !sentence.trim_end_matches('.').contains(". "),
                "{named}: {sentence:?} are several"
            );
            let in_bytes = parameter.name().ends_with("_bytes");
            assert_eq!(parameter.text("x-unit") == "bytes", in_bytes, "{named}");
            for (other, values) in parameter.conditions() {
                let schema = parameter.beside.get(other).expect(&named);
                for value in values {
                    if schema["type"] == "boolean" {
                        assert!(value.is_boolean(), "{named}: {other} is never {value}");
                        continue;
                    }
                    if schema["type"] == "integer" {
                        let [least, most] = ["minimum", "maximum"].map(|bound| &schema[bound]);
                        let number = value.as_u64().expect(&named);
                        assert!(
                            least.as_u64() <= Some(number) && Some(number) <= most.as_u64(),
                            "{named}: {other} is never {value}"
                        );
                        continue;
                    }
                    let names = schema["oneOf"].as_array().expect(&named);
                    assert!(
                        names.iter().any(|name| name["const"] == *value),
                        "{named}: {other} is never {value}"
                    );
                }
            }
        }
    }
}

/// Where the user may leave a parameter out, the kernel's default holds.
#[test]
fn defaults_are_the_kernels() {
    for kernel in kernels() {
        for parameter in of(&kernel) {
            if parameter.schema.get("properties").is_some() {
                continue;
            }
            let own = parameter
                .path
                .iter()
                .fold(&kernel.defaults, |map, step| &map[step]);
            if let Some(default) = parameter.schema.get("default").filter(|_| !own.is_null()) {
                assert_eq!(default, own, "{}: {}", kernel.name, parameter.name());
            }
        }
    }
}
