//! Plain data between Rust and Python: dicts, lists, texts, numbers, `True`, `False` and `None`, without text between.

use crate::errors::{SpecError, internal};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use serde_path_to_error::{Path, Segment};

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
            let path = dotted(error.path());
            SpecError::new_err((path, in_words(&error.inner().to_string())))
        })
    }

    pub(crate) fn value(&self) -> &Value {
        &self.0
    }
}

/// The path as checks of values write it: `caches.0.ways`.
fn dotted(path: &Path) -> String {
    let steps = path.iter().filter_map(|step| match step {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { variant } => Some(variant.clone()),
        Segment::Unknown => None,
    });
    steps.collect::<Vec<_>>().join(".")
}

/// A complaint about data for who never saw its types: with ranges in place of names of types.
fn in_words(complaint: &str) -> String {
    let range = |most: u64| format!("expected a whole number from 0 to {most}");
    complaint
        .replace("expected u32", &range(u32::MAX.into()))
        .replace("expected u64", &range(u64::MAX))
        .replace("expected f64", "expected a number")
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
        from_python(&object, MOST_NESTED)
            .map(Self)
            .map_err(Misfit::into_error)
    }
}

/// Data within data; what lies deeper is a circle, or would use up the stack.
const MOST_NESTED: u32 = 128;

/// What is no plain data, and where it lies.
enum Misfit {
    /// The steps to it, the last one first, and what is wrong.
    At(Vec<String>, String),
    Raised(PyErr),
}

impl Misfit {
    fn of(object: &Bound<'_, PyAny>) -> Self {
        let name = object.get_type().name();
        let kind = name.map_or_else(|_| "thing".to_owned(), |name| name.to_string());
        let expected = "dicts, lists, texts, finite numbers, True, False and None are";
        Self::At(
            Vec::new(),
            format!("{object} ({kind}) is no plain data; {expected}"),
        )
    }

    /// The same within something, behind this step.
    fn within(mut self, step: impl ToString) -> Self {
        if let Self::At(steps, _) = &mut self {
            steps.push(step.to_string());
        }
        self
    }

    fn into_error(self) -> PyErr {
        match self {
            Self::At(steps, message) if steps.is_empty() => PyTypeError::new_err(message),
            Self::At(mut steps, message) => {
                steps.reverse();
                // Of a circle the first steps say enough.
                steps.truncate(8);
                PyTypeError::new_err(format!("{}: {message}", steps.join(".")))
            }
            Self::Raised(error) => error,
        }
    }
}

impl From<PyErr> for Misfit {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// Reads data that has at most `depth` levels of data within.
fn from_python(object: &Bound<'_, PyAny>, depth: u32) -> Result<Value, Misfit> {
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(number(object)?);
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(text_of(text).map(Value::String)?);
    }
    if object.is_instance_of::<PyFloat>() {
        let number = Number::from_f64(object.extract()?);
        return number.map(Value::Number).ok_or_else(|| Misfit::of(object));
    }
    let Some(within) = depth.checked_sub(1) else {
        let message = format!("data within data, more than {MOST_NESTED} times");
        return Err(Misfit::At(Vec::new(), message));
    };
    if let Ok(dict) = object.cast::<PyDict>() {
        let fields = dict.iter().map(|(name, value)| {
            let name = name.cast().map_err(|_| Misfit::of(&name))?;
            let name = text_of(name)?;
            let value = from_python(&value, within).map_err(|misfit| misfit.within(&name))?;
            Ok((name, value))
        });
        return fields.collect::<Result<Map<_, _>, _>>().map(Value::Object);
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items = object.try_iter()?.enumerate();
        let items = items.map(|(number, item)| {
            from_python(&item?, within).map_err(|misfit| misfit.within(number))
        });
        return items.collect::<Result<Vec<_>, _>>().map(Value::Array);
    }
    of_numpy(object).ok_or_else(|| Misfit::of(object))?
}

/// A truth value or a whole number of `NumPy`, which are none of Python's, though floating-point numbers are.
fn of_numpy(object: &Bound<'_, PyAny>) -> Option<Result<Value, Misfit>> {
    let name = object.get_type().fully_qualified_name().ok()?;
    if matches!(name.to_str().ok()?, "numpy.bool" | "numpy.bool_") {
        let flag = object.is_truthy().map(Value::Bool);
        return Some(flag.map_err(Misfit::Raised));
    }
    let whole = object.call_method0("__index__").ok()?;
    Some(number(&whole).map_err(Misfit::Raised))
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
