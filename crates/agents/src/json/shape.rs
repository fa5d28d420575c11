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
        deserializer.deserialize_any(Looser(PhantomData))
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
        deserializer.deserialize_any(Lister(PhantomData))
    }
}

/// What a visitor makes of a value that it does not look for.
macro_rules! anything_else_is_nothing {
    () => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any value")
        }

        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
}

struct Looser<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Looser<T> {
    type Value = Loose<T>;

    anything_else_is_nothing!();

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Loose<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|object| Loose(Some(object)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Loose<T>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose(None))
    }

    fn visit_str<E>(self, _: &str) -> Result<Loose<T>, E> {
        Ok(Loose(None))
    }
}

struct Lister<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Lister<T> {
    type Value = List<T>;

    anything_else_is_nothing!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<List<T>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(List::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
        // Most lists of a stream have one item, and items are large.
        let mut items = Vec::with_capacity(1);
        while let Some(Loose(item)) = seq.next_element::<Loose<T>>()? {
            items.extend(item);
        }
        Ok(List { items, text: String::new() })
    }

    fn visit_str<E>(self, text: &str) -> Result<List<T>, E> {
        Ok(List { items: Vec::new(), text: text.to_owned() })
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
