//! Plain data between Rust and Python: dicts, lists, texts, numbers, `True`, `False` and `None`, without text between.

use crate::errors::{SpecError, internal};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

/// Plain data.
pub(crate) struct Plain(Value);

impl Plain {
    /// What serde makes of a value. A number that is none, or infinite, is `None`.
    pub(crate) fn of(value: &impl Serialize) -> PyResult<Self> {
        serde_json::to_value(value).map(Self).map_err(internal)
    }

    /// Reads it as what is wanted; what does not fit is named by its path. Raises `SpecError`.
    pub(crate) fn read<T: DeserializeOwned>(self) -> PyResult<T> {
        serde_path_to_error::deserialize(self.0).map_err(|error| {
            let path = error.path().to_string();
            let path = if path == "." { String::new() } else { path };
            SpecError::new_err((path, in_words(&error.inner().to_string())))
        })
    }

    pub(crate) fn value(&self) -> &Value {
        &self.0
    }
}

/// A complaint about data for who never saw its types: with ranges in place of names of types.
fn in_words(complaint: &str) -> String {
    let range = |most: u64| format!("expected a whole number from 0 to {most}");
    complaint
        .replace("expected u32", &range(u32::MAX.into()))
        .replace("expected u64", &range(u64::MAX))
}

impl<'py> IntoPyObject<'py> for Plain {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0)
    }
}

fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into_bound_py_any(py),
            (None, Some(number)) => number.into_bound_py_any(py),
            (None, None) => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            Ok(list.into_any())
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, value) in fields {
                // Rows have the same names.
                dict.set_item(PyString::intern(py, name), to_python(py, value)?)?;
            }
            Ok(dict.into_any())
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Plain {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        from_python(&object).map(Self)
    }
}

fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return number(object);
    }
    if let Ok(text) = object.cast::<PyString>() {
        return text_of(text).map(Value::String);
    }
    if object.is_instance_of::<PyFloat>() {
        let number = Number::from_f64(object.extract()?);
        return number.map(Value::Number).ok_or_else(|| no_data(object));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let fields = dict
            .iter()
            .map(|(name, value)| Ok((text_of(name.cast()?)?, from_python(&value)?)));
        return fields.collect::<PyResult<Map<_, _>>>().map(Value::Object);
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items = object.try_iter()?.map(|item| from_python(&item?));
        return items.collect::<PyResult<Vec<_>>>().map(Value::Array);
    }
    Err(no_data(object))
}

/// A whole number; one that no type of ours holds is kept as near as can be, for messages about it.
fn number(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(number) = object.extract::<u64>() {
        return Ok(number.into());
    }
    if let Ok(number) = object.extract::<i64>() {
        return Ok(number.into());
    }
    let near: f64 = object.extract()?;
    Ok(near.into())
}

/// The text; names of files may have bytes that are none.
fn text_of(text: &Bound<'_, PyString>) -> PyResult<String> {
    text.extract().map_err(|_| {
        let shown = text.to_string_lossy().into_owned();
        SpecError::new_err((String::new(), format!("`{shown}` is no text in Unicode")))
    })
}

fn no_data(object: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("{object} is no plain data"))
}
