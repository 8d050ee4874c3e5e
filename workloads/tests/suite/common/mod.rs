//! What several tests share: random relations, workloads, one workload of every kind, the events of one, and a digest of what a kernel does.

pub mod digest;
pub mod every_workload;
pub mod stream;
pub mod workload;

use proptest::collection::vec;
use proptest::prelude::*;
use workloads::page::{Attribute, Schema, Type, Value};

/// A value that owns its string.
#[derive(Clone, Debug, PartialEq)]
pub enum Owned {
    Null,
    Int(i64),
    Float(f64),
    Bytes(Vec<u8>),
}

impl Owned {
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

impl From<Value<'_>> for Owned {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(value) => Self::Int(value),
            Value::Float(value) => Self::Float(value),
            Value::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
        }
    }
}

pub type Tuple = Vec<Owned>;

pub fn borrowed(tuple: &Tuple) -> Vec<Value<'_>> {
    tuple.iter().map(Owned::value).collect()
}

fn kind(fixed_only: bool) -> BoxedStrategy<Type> {
    let fixed = prop_oneof![
        Just(Type::Int32),
        Just(Type::Int64),
        Just(Type::Float64),
        Just(Type::Date),
        (1..12_u16).prop_map(Type::Fixed),
    ];
    if fixed_only {
        fixed.boxed()
    } else {
        prop_oneof![3 => fixed, 2 => (0..40_u16).prop_map(Type::Variable)].boxed()
    }
}

/// Up to six attributes of any type.
pub fn schema(fixed_only: bool) -> impl Strategy<Value = Schema> {
    vec((kind(fixed_only), any::<bool>()), 1..6).prop_map(move |attributes| {
        let named = attributes
            .into_iter()
            .enumerate()
            .map(|(number, (kind, nullable))| {
                let attribute = Attribute::new(format!("a{number}"), kind);
                if nullable && !fixed_only {
                    attribute.nullable()
                } else {
                    attribute
                }
            });
        Schema::new(named.collect())
    })
}

fn value(attribute: &Attribute) -> BoxedStrategy<Owned> {
    let present = match attribute.kind {
        Type::Int32 | Type::Date => any::<i32>()
            .prop_map(|value| Owned::Int(value.into()))
            .boxed(),
        Type::Int64 => any::<i64>().prop_map(Owned::Int).boxed(),
        Type::Float64 => (-1e9..1e9).prop_map(Owned::Float).boxed(),
        Type::Fixed(bytes) => vec(any::<u8>(), usize::from(bytes))
            .prop_map(Owned::Bytes)
            .boxed(),
        Type::Variable(most) => vec(any::<u8>(), 0..=usize::from(most))
            .prop_map(Owned::Bytes)
            .boxed(),
    };
    if attribute.nullable {
        prop_oneof![1 => Just(Owned::Null), 2 => present].boxed()
    } else {
        present
    }
}

pub fn tuple(schema: &Schema) -> impl Strategy<Value = Tuple> + use<> {
    schema.attributes().iter().map(value).collect::<Vec<_>>()
}
