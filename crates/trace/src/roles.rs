//! The role of a file by its path: data, log or temporary files of databases and other servers. The
//! patterns are in `roles.txt`.

use std::sync::LazyLock;

/// Role of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Role {
    /// The product it belongs to: `PostgreSQL`.
    pub product: &'static str,
    /// Its role: `data`, `log`, `temp`.
    pub role: &'static str,
}

/// Role and pattern, in file order.
static PATTERNS: LazyLock<Vec<(Role, &'static str)>> =
    LazyLock::new(|| patterns(include_str!("roles.txt")).collect());

fn patterns(text: &'static str) -> impl Iterator<Item = (Role, &'static str)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let product = words.next().filter(|word| !word.starts_with('#'))?;
        let role = words.next()?;
        Some((Role { product, role }, words.next()?))
    })
}

impl Role {
    /// The role of a file; None if no pattern matches.
    pub fn of_path(path: &str) -> Option<Role> {
        let path = path.to_lowercase();
        let fits = |(_, pattern): &&(Role, &str)| fits(pattern, &path);
        PATTERNS.iter().find(fits).map(|(role, _)| *role)
    }
}

/// Whether the pattern with `*` wildcards matches the text. Linear: each piece between stars is
/// searched once, from the end of the previous one.
fn fits(pattern: &str, text: &str) -> bool {
    let pieces: Vec<&str> = pattern.split('*').collect();
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else {
        return false;
    };
    if pieces.len() == 1 {
        return pattern == text;
    }
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    for piece in &pieces[1..pieces.len() - 1] {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_servers_are_known_by_their_paths() {
        let of = |path: &str| Role::of_path(path).map(|role| (role.product, role.role));
        for (path, expected) in [
            (
                "/var/lib/postgresql/15/main/pg_wal/000000010000000000000001",
                Some(("PostgreSQL", "log")),
            ),
            (
                "/var/lib/postgresql/15/main/base/5/16384",
                Some(("PostgreSQL", "data")),
            ),
            (
                "/var/lib/postgresql/15/main/base/pgsql_tmp/pgsql_tmp1.0",
                Some(("PostgreSQL", "temp")),
            ),
            (
                "/var/opt/mssql/data/tempdb.mdf",
                Some(("SQL-Server", "temp")),
            ),
            (
                "/var/opt/mssql/data/Sales.MDF",
                Some(("SQL-Server", "data")),
            ),
            (
                "/var/opt/mssql/data/Sales_log.ldf",
                Some(("SQL-Server", "log")),
            ),
            (
                "/var/lib/mysql/#innodb_redo/#ib_redo12",
                Some(("MySQL", "log")),
            ),
            ("/var/lib/mysql/shop/orders.ibd", Some(("MySQL", "data"))),
            ("/u02/oradata/PROD/redo01.log", Some(("Oracle", "log"))),
            ("/u02/oradata/PROD/users01.dbf", Some(("Oracle", "data"))),
            (
                "/var/lib/etcd/member/wal/0000000000000000-0.wal",
                Some(("etcd", "log")),
            ),
            ("/var/lib/etcd/member/snap/db", Some(("etcd", "data"))),
            ("/home/anna/letter.txt", None),
            ("", None),
        ] {
            assert_eq!(of(path), expected, "{path}");
        }
    }

    #[test]
    fn every_line_of_the_file_is_a_pattern_or_a_comment() {
        let text = include_str!("roles.txt");
        let is_line = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
        let lines: Vec<&str> = text.lines().filter(is_line).collect();
        assert_eq!(PATTERNS.len(), lines.len());
        for line in lines {
            assert_eq!(line.split_whitespace().count(), 3, "{line}");
            assert_eq!(
                line.split_whitespace()
                    .last()
                    .map(str::to_lowercase)
                    .as_deref(),
                line.split_whitespace().last(),
                "{line}"
            );
        }
    }

    #[test]
    fn stars_stand_for_anything() {
        assert!(fits("*/a*b", "x/aXXb"));
        assert!(!fits("*/a*b", "x/aXXbc"));
        assert!(fits("a", "a") && !fits("a", "ab"));
        // The end must not overlap a piece already matched.
        assert!(!fits("*ab*b", "ab"));
    }
}
