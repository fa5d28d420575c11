//! Objects and arrays that may turn out to be something else.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// An object of the expected form, or nothing if there stands something else.
#[derive(Debug, Clone)]
pub(crate) struct Loose<T>(pub(crate) Option<T>);

impl<T> Default for Loose<T> {
    fn default() -> Loose<T> {
        Loose(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Loose<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Loose<T>, D::Error> {
        let Shape { object, .. } = deserializer.deserialize_any(ShapeVisitor::<T, IgnoredAny>(PhantomData))?;
        Ok(Loose(object))
    }
}

/// The objects of an array, or the text that stands in the array's place.
#[derive(Debug, Clone)]
pub(crate) struct List<T> {
    pub(crate) items: Vec<T>,
    pub(crate) text: String,
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List { items: Vec::new(), text: String::new() }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<List<T>, D::Error> {
        let Shape { items, text, .. } = deserializer.deserialize_any(ShapeVisitor::<IgnoredAny, T>(PhantomData))?;
        Ok(List { items, text })
    }
}

/// Whatever stood there, as far as anybody wants it.
struct Shape<O, I> {
    object: Option<O>,
    items: Vec<I>,
    text: String,
}

impl<O, I> Default for Shape<O, I> {
    fn default() -> Shape<O, I> {
        Shape { object: None, items: Vec::new(), text: String::new() }
    }
}

struct ShapeVisitor<O, I>(PhantomData<(O, I)>);

impl<'de, O: Deserialize<'de>, I: Deserialize<'de>> Visitor<'de> for ShapeVisitor<O, I> {
    type Value = Shape<O, I>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Ok(Shape { object: Some(O::deserialize(MapAccessDeserializer::new(map))?), ..Shape::default() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Loose(item)) = seq.next_element::<Loose<I>>()? {
            items.extend(item);
        }
        Ok(Shape { items, ..Shape::default() })
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Shape { text: text.to_owned(), ..Shape::default() })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Shape::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Shape::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Shape::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Shape::default())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Shape::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    #[derive(Debug, Default, serde::Deserialize)]
    #[serde(default)]
    struct Item<'a> {
        #[serde(borrow)]
        name: Raw<'a>,
        #[serde(borrow)]
        inner: Loose<Box<Item<'a>>>,
        #[serde(borrow)]
        items: List<Item<'a>>,
    }

    #[test]
    fn b07_fields_of_another_type_are_absent_fields() {
        for value in ["null", "1", "-1.5", "true", "\"text\"", "[]", "[1,{\"name\":2}]", "{}", "{\"x\":[{}]}"] {
            let json = format!("{{\"name\":{value},\"inner\":{value},\"items\":{value},\"new\":{value}}}");
            let item: Item<'_> = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{value}: {error}"));
            assert_eq!(item.name.json(), value);
            assert_eq!(item.inner.0.is_some(), value.starts_with('{'), "{value}");
            assert_eq!(item.items.items.len(), usize::from(value.contains("name")), "{value}");
            assert_eq!(item.items.text, if value == "\"text\"" { "text" } else { "" });
        }
    }
}
