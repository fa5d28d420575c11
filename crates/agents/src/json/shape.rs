//! Objects and arrays that may turn out to be something else.

use super::Raw;
use super::cursor::{Cursor, Value};
use super::string::unescape;

/// An object, by the names of those of its fields that are read.
pub(crate) trait Fields<'a>: Default {
    /// Takes the value that comes next for the field of that name, or passes over it if there is no such field.
    fn take_field(&mut self, name: &[u8], cursor: &mut Cursor<'a>) -> Option<()>;
}

/// Names the fields of objects that are read, each a [`Raw`](super::Raw) unless it says otherwise, and by
/// its own name in the stream unless another one is given. Of a field that stands there twice the last counts.
macro_rules! fields {
    ($($(#[$about:meta])* $vis:vis struct $name:ident<'a> {
        $($(#[$about_field:meta])* $field:ident $(: $type:ty)? $(= $key:literal)?,)*
    })*) => {$(
        $(#[$about])*
        #[derive(Debug, Default)]
        $vis struct $name<'a> {
            $($(#[$about_field])* $vis $field: $crate::json::fields!(@first $($type,)? $crate::json::Raw<'a>),)*
        }

        impl<'a> $crate::json::Fields<'a> for $name<'a> {
            fn take_field(&mut self, name: &[u8], cursor: &mut $crate::json::Cursor<'a>) -> Option<()> {
                $(if name == $crate::json::fields!(@name $field $($key)?).as_bytes() {
                    return $crate::json::Value::take(&mut self.$field, cursor);
                })*
                cursor.pass_over()
            }
        }
    )*};
    (@first $first:ty $(, $second:ty)?) => { $first };
    (@name $field:ident $key:literal) => { $key };
    (@name $field:ident) => { stringify!($field) };
}
pub(crate) use fields;

impl<'a, T: Fields<'a>> Fields<'a> for Box<T> {
    fn take_field(&mut self, name: &[u8], cursor: &mut Cursor<'a>) -> Option<()> {
        (**self).take_field(name, cursor)
    }
}

/// An object of the expected form, or nothing if there stands something else.
#[derive(Debug, Clone, Default)]
pub(crate) struct Loose<T>(pub(crate) Option<T>);

impl<'a, T: Fields<'a>> Value<'a> for Loose<T> {
    fn take(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        self.0 = None;
        if cursor.peek()? != b'{' {
            return cursor.pass_over();
        }
        fill(self.0.insert(T::default()), cursor)
    }
}

/// The objects of an array, or the text that stands in the array's place.
#[derive(Debug, Clone, Default)]
pub(crate) struct List<T> {
    pub(crate) items: Vec<T>,
    pub(crate) text: String,
}

impl<'a, T: Fields<'a>> Value<'a> for List<T> {
    fn take(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        *self = List::default();
        match cursor.peek()? {
            b'[' => cursor.array(|cursor| item(&mut self.items, cursor)),
            b'"' => cursor.string().map(|quoted| self.text = unescape(quoted, usize::MAX)),
            _ => cursor.pass_over(),
        }
    }
}

/// The objects that are the fields of an object, whatever their names.
#[derive(Debug, Default)]
pub(crate) struct Entries<T>(pub(crate) Vec<T>);

impl<'a, T: Fields<'a>> Value<'a> for Entries<T> {
    fn take(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        self.0.clear();
        match cursor.peek()? {
            b'{' => cursor.object(|_, cursor| item(&mut self.0, cursor)),
            _ => cursor.pass_over(),
        }
    }
}

impl<'a> Value<'a> for Vec<Raw<'a>> {
    fn take(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        self.clear();
        if cursor.peek()? != b'[' {
            return cursor.pass_over();
        }
        cursor.array(|cursor| cursor.skip().map(|json| self.push(Raw(json))))
    }
}

fn item<'a, T: Fields<'a>>(items: &mut Vec<T>, cursor: &mut Cursor<'a>) -> Option<()> {
    if cursor.peek()? != b'{' {
        return cursor.pass_over();
    }
    if items.is_empty() {
        // Most lists have one item, and items have many fields.
        items.reserve_exact(1);
    }
    items.push(T::default());
    fill(items.last_mut()?, cursor)
}

fn fill<'a>(object: &mut impl Fields<'a>, cursor: &mut Cursor<'a>) -> Option<()> {
    cursor.object(|name, cursor| object.take_field(name, cursor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    fields! {
        struct Item<'a> {
            name,
            other = "another \"name\"",
            inner: Loose<Box<Item<'a>>>,
            items: List<Item<'a>>,
            entries: Entries<Item<'a>>,
        }
    }

    #[test]
    fn b07_fields_of_another_type_are_absent_fields() {
        for value in
            ["null", "1", "-1.5", "true", "\"text\"", "[]", "[1,{\"name\":2}]", "{}", "{\"x\":[{}]}", "{\"x\":{}}"]
        {
            let fields = ["name", "another \\\"name\\u0022", "inner", "items", "entries", "new"];
            let json = format!("{{{}}}", fields.map(|name| format!("\"{name}\" : {value}")).join(","));
            let Loose(Some(item)): Loose<Item<'_>> = read(&json).unwrap() else { panic!("{json}") };
            assert_eq!((item.name.json(), item.other.json()), (value.as_bytes(), value.as_bytes()));
            assert_eq!(item.inner.0.is_some(), value.starts_with('{'), "{value}");
            assert_eq!(item.items.items.len(), usize::from(value.contains("name")), "{value}");
            assert_eq!(item.items.text, if value == "\"text\"" { "text" } else { "" });
            assert_eq!(item.entries.0.len(), usize::from(value == "{\"x\":{}}"), "{value}");
        }
    }

    #[test]
    fn the_last_of_two_fields_of_one_name_counts() {
        let twice = r#"{"name":1,"inner":{"name":2},"items":[{},{}],"items":"text","inner":3,"name":4}"#;
        let Loose(Some(item)): Loose<Item<'_>> = read(twice).unwrap() else { panic!("it is an object") };
        assert_eq!((item.name.json(), item.inner.0.is_some()), (&b"4"[..], false));
        assert_eq!((item.items.items.len(), item.items.text.as_str()), (0, "text"));
    }
}
