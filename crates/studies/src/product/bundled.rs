//! The bundled products.

use super::Product;

/// Includes the file of a product.
macro_rules! product {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../products/", $name, ".toml")),
        )
    };
}

/// Their names and files, in the order of the alphabet.
pub const BUNDLED: [(&str, &str); 16] = [
    product!("appdynamics"),
    product!("cockroachdb"),
    product!("consul"),
    product!("etcd"),
    product!("exchange"),
    product!("gitaly"),
    product!("mysql"),
    product!("openshift-etcd"),
    product!("oracle"),
    product!("postgresql"),
    product!("sap-hana"),
    product!("sqlite"),
    product!("sqlserver"),
    product!("tikv"),
    product!("vault"),
    product!("vault-large"),
];

/// The bundled product of this name.
pub fn bundled(name: &str) -> Option<Product> {
    let (_, text) = BUNDLED.iter().find(|(known, _)| *known == name)?;
    // A test parses every one of them.
    text.parse().ok()
}
