//! Workloads out of a base and what is changed of it.

use serde_json::Value;
use workloads::Workload;

/// The value with these members added, or in place of its own.
pub fn changed(mut value: Value, changes: &Value) -> Value {
    let changes = changes.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(changes);
    value
}

/// A workload. The layouts `dsm-merge` and `dsm-position` are `dsm` with this reconstruction.
pub fn workload(mut value: Value) -> Workload {
    if let Some(how) = value["layout"]
        .as_str()
        .and_then(|name| name.strip_prefix("dsm-"))
    {
        value["reconstruction"] = how.into();
        value["layout"] = "dsm".into();
    }
    serde_json::from_value(value).unwrap()
}
