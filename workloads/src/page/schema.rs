//! What the attributes of a relation are.

use super::Value;

/// Type of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// 4-byte integer.
    Int32,
    /// 8-byte integer.
    Int64,
    /// 8-byte floating-point number.
    Float64,
    /// Day, as a 4-byte number of days since 1970-01-01.
    Date,
    /// String of exactly so many bytes; shorter ones are padded with blanks.
    Fixed(u16),
    /// String of at most so many bytes.
    Variable(u16),
}

impl Type {
    /// Bytes of every value; none if they differ.
    #[must_use]
    pub fn fixed_bytes(self) -> Option<usize> {
        match self {
            Self::Int32 | Self::Date => Some(4),
            Self::Int64 | Self::Float64 => Some(8),
            Self::Fixed(bytes) => Some(usize::from(bytes)),
            Self::Variable(_) => None,
        }
    }

    /// Bytes of a value, none of one that is missing.
    #[must_use]
    pub fn bytes_of(self, value: Value<'_>) -> usize {
        if value.is_present() {
            self.fixed_bytes().unwrap_or_else(|| value.bytes().len())
        } else {
            0
        }
    }

    /// Bytes of the longest value.
    #[must_use]
    pub fn most_bytes(self) -> usize {
        match self {
            Self::Variable(bytes) => usize::from(bytes),
            _ => self.fixed_bytes().unwrap_or(0),
        }
    }
}

/// One attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attribute {
    /// Name shown to the user.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// Whether a record may have no value of it.
    pub nullable: bool,
}

impl Attribute {
    /// An attribute that every record has a value of.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: Type) -> Self {
        Self {
            name: name.into(),
            kind,
            nullable: false,
        }
    }

    /// The same attribute, whose values may be missing.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self {
            nullable: true,
            ..self
        }
    }
}

/// The attributes of a relation, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schema {
    attributes: Vec<Attribute>,
}

impl Schema {
    /// A schema of these attributes.
    #[must_use]
    pub fn new(attributes: Vec<Attribute>) -> Self {
        Self { attributes }
    }

    /// `degree` attributes of one type, named a1, a2, and so on.
    #[must_use]
    pub fn uniform(degree: usize, kind: Type) -> Self {
        Self::new(
            (1..=degree)
                .map(|number| Attribute::new(format!("a{number}"), kind))
                .collect(),
        )
    }

    /// The attributes in order.
    #[must_use]
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// How many attributes there are.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.attributes.len()
    }

    /// The place of the attribute of this name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.attributes
            .iter()
            .position(|attribute| attribute.name == name)
    }

    /// Bytes of the fixed-length values of a record.
    #[must_use]
    pub fn fixed_bytes(&self) -> usize {
        self.attributes
            .iter()
            .filter_map(|attribute| attribute.kind.fixed_bytes())
            .sum()
    }

    /// Bytes of the values of the longest record.
    #[must_use]
    pub fn most_bytes(&self) -> usize {
        self.attributes
            .iter()
            .map(|attribute| attribute.kind.most_bytes())
            .sum()
    }
}
