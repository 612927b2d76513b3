/// Gives an enumeration its list of values, `ALL`, and their names, `name`, from one table. `ALL`
/// has the order of the table.
///
/// ```
/// #[derive(Clone, Copy)]
/// enum Colour {
///     Red,
///     Blue,
/// }
///
/// stripewise_units::named!(Colour, Red = "red", Blue = "blue");
/// assert_eq!(Colour::ALL.map(Colour::name), ["red", "blue"]);
/// ```
#[macro_export]
macro_rules! named {
    ($name:ident, $($value:ident = $word:literal),+) => {
        impl $name {
            /// All values.
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$value),+];

            /// The name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$value => $word,)+
                }
            }
        }
    };
}
