//! What there is to say of parameters, as JSON Schema.
//!
//! `schemars` makes it of the types of parameters: their names, types, defaults, and what their doc comments say, one sentence each.
//! The type itself has `#[schemars(transform = parameters::<Self>)]`; its fields have `#[schemars(transform = ...)]` with what is true of them:
//!
//! | transform | in the schema | of the parameter |
//! |---|---|---|
//! | [`required`] | no `default` | the user gives it; the default is for kernels that run by themselves |
//! | [`bytes`] | `x-unit: bytes` | is a size; without a unit, it is a count or a share |
//! | [`file`] | `x-file`, `default: null` | is the path of a page file |
//! | [`takes`] | `minimum`, `maximum`; `x-power-of-two` or `enum` | takes these numbers (`bounds.rs`), by which `validate` goes, too |
//! | [`one_of`] | `enum` | takes these names |
//! | [`applies`] | `x-applies` | is part of workloads in which the others of the same map named there have one of these values, and refused in others |
//! | [`has_effect`] | `x-effect` | is part of every workload, and makes a difference to those only |
//!
//! A parameter that applies to some workloads has a `default` that holds there; one without `default` has to be given there. `x-order`
//! lists the parameters of a map as they are declared. Whoever reads user's workloads obeys the schema and needs to know no parameter.

use crate::bounds::Numbers;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value, json};

/// The schema of a family's parameters, with no references in it.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

/// Of a type: which parameters are required, and their order.
pub(crate) fn parameters<T: DeserializeOwned>(schema: &mut Schema) {
    let names = names::<T>();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for property in properties.values_mut().filter_map(Value::as_object_mut) {
        let sentence = property.get("description").and_then(Value::as_str);
        if let Some(sentence) = sentence.map(|text| text.split_whitespace().collect::<Vec<_>>()) {
            property.insert("description".into(), sentence.join(" ").into());
        }
    }
    let required: Vec<&str> = names
        .iter()
        .filter(|&&name| {
            let property = &properties[name];
            property.get("default").is_none() && property.get(APPLIES).is_none()
        })
        .copied()
        .collect();
    schema.insert("required".into(), required.into());
    schema.insert("x-order".into(), names.into());
}

/// Of a parameter: the user has to give it.
pub(crate) fn required(schema: &mut Schema) {
    schema.remove("default");
}

/// Of a number: it is of bytes.
pub(crate) fn bytes(schema: &mut Schema) {
    schema.insert("x-unit".into(), "bytes".into());
}

/// Of a text: it is the path of a page file, none as a rule; what the file decides need not be given besides.
pub(crate) fn file(schema: &mut Schema) {
    schema.insert("x-file".into(), true.into());
    schema.insert("default".into(), Value::Null);
}

/// Of a number, or a list of them: the numbers that it takes.
pub(crate) fn takes(numbers: impl Numbers) -> impl FnMut(&mut Schema) {
    move |schema| numbers.declare(values(schema))
}

/// Of a text, or a list of them: the names that it takes.
pub(crate) fn one_of(names: Vec<String>) -> impl FnMut(&mut Schema) {
    move |schema| {
        values(schema).insert("enum".into(), json!(names));
    }
}

/// Of a parameter: it is part of workloads in which another one has one of these values. Twice: and in which a third has one of those.
pub(crate) fn applies<V: Serialize>(parameter: &str, values: Vec<V>) -> impl FnMut(&mut Schema) {
    move |schema| condition(schema, APPLIES, parameter, &values)
}

/// Of a parameter: it makes a difference to workloads in which another one has one of these values. Twice: as for [`applies`].
pub(crate) fn has_effect<V: Serialize>(parameter: &str, values: Vec<V>) -> impl FnMut(&mut Schema) {
    move |schema| condition(schema, "x-effect", parameter, &values)
}

const APPLIES: &str = "x-applies";

fn condition(schema: &mut Schema, kind: &str, parameter: &str, values: &impl Serialize) {
    let conditions = schema
        .ensure_object()
        .entry(kind)
        .or_insert_with(|| json!({}));
    conditions[parameter] = json!(values);
}

/// The part of a parameter's schema that is about its values: those in the list, if it is one.
fn values(schema: &mut Schema) -> &mut Map<String, Value> {
    let object = schema.ensure_object();
    if object.contains_key("items") {
        object["items"].as_object_mut().expect("items have a type")
    } else {
        object
    }
}

/// The names of a type's fields, in the order of their declaration: what serde asks for.
fn names<T: DeserializeOwned>() -> &'static [&'static str] {
    struct Asked<'a>(&'a mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for Asked<'_> {
        type Error = Error;

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _name: &'static str,
            fields: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Error> {
            *self.0 = fields;
            self.deserialize_any(visitor)
        }

        fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
            Err(serde::de::Error::custom("there are no values"))
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut names: &[&str] = &[];
    let _nothing = T::deserialize(Asked(&mut names));
    names
}
