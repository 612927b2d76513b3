//! Enumerations whose values have names, declared in one place.

/// Declares an enumeration with a name for each value: makes the list of values, `ALL`, in this
/// order, `name`, and `from_name`, its inverse. For one that is declared elsewhere,
/// `named!(Type, Value = "name", ...)`.
///
/// ```
/// stripewise_units::named! {
///     #[derive(Clone, Copy)]
///     enum Colour {
///         Red = "red",
///         Blue = "blue",
///     }
/// }
///
/// assert_eq!(Colour::ALL.map(Colour::name), ["red", "blue"]);
/// assert!(matches!(Colour::from_name("blue"), Some(Colour::Blue)));
/// assert!(Colour::from_name("Blue").is_none());
/// ```
#[macro_export]
macro_rules! named {
    ($name:ident, $($value:ident = $word:literal),+) => {
        impl $name {
            /// All values.
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$value),+];

            /// The name.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$value => $word,)+
                }
            }

            /// The value of this name.
            pub fn from_name(name: &str) -> Option<$name> {
                match name {
                    $($word => Some($name::$value),)+
                    _ => None,
                }
            }
        }
    };
    (
        $(#[$of_all:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$of_one:meta])* $value:ident = $word:literal,)+
        }
    ) => {
        $(#[$of_all])*
        $visibility enum $name {
            $($(#[$of_one])* $value,)+
        }

        $crate::named!($name, $($value = $word),+);
    };
}
