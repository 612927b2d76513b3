//! Splits a command line in a batch file into words.

/// A parsed call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// The words after the program's name.
    pub(crate) words: Vec<String>,
    /// Its output was redirected to a file or another program.
    pub(crate) redirected: bool,
}

/// The words after the program of a call; quotation marks group words, and what follows a `>`, `|`
/// or `&`, or a separate `#`, is not the program's. A `<` begins a placeholder, `<drive>`, and the
/// last word may carry the mark that ends code on a page.
pub(crate) fn words_of_call(call: &str) -> Call {
    let mut taken = Call::default();
    let mut word = String::new();
    let mut quoted = None;
    let mut begun = false;
    let mut signs = call.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            // An apostrophe inside a name is part of it.
            '"' | '\'' if quoted == Some(sign) || quoted.is_none() && (sign == '"' || !begun) => {
                quoted = quoted.is_none().then_some(sign);
                begun = true;
            }
            '#' if !begun && signs.peek().is_none_or(|next| next.is_whitespace()) => break,
            '<' if quoted.is_none() => {
                word.push(sign);
                begun = true;
                for inner in signs.by_ref() {
                    word.push(inner);
                    if inner == '>' {
                        break;
                    }
                }
            }
            '>' | '|' | '&' if quoted.is_none() => {
                taken.redirected = true;
                break;
            }
            sign if sign.is_whitespace() && quoted.is_none() => {
                if begun {
                    taken.words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            sign => {
                word.push(sign);
                begun = true;
            }
        }
    }
    if begun {
        // `code`, but not a separate mark, which continues a line of PowerShell.
        if word.len() > 1 && word.ends_with('`') {
            word.pop();
        }
        taken.words.push(word);
    }
    // `2>` leaves the number as the last word.
    if taken.redirected
        && taken
            .words
            .last()
            .is_some_and(|last| last == "2" || last == "1")
    {
        taken.words.pop();
    }
    // The program's own name is not an argument.
    let program = |word: &String| {
        let lower = word.to_ascii_lowercase();
        let name = lower.rsplit(['\\', '/']).next().unwrap_or_default();
        name.strip_suffix(".exe").unwrap_or(name) == "sqlio"
    };
    if taken.words.first().is_some_and(program) {
        taken.words.remove(0);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_taken_apart_as_a_shell_would() {
        for (call, words, redirected) in [
            ("sqlio -kR -s5 a.dat", "-kR|-s5|a.dat", false),
            (
                "sqlio.exe -kR \"D:\\my file.dat\" > out.txt",
                "-kR|D:\\my file.dat",
                true,
            ),
            ("-kR -s5 2>&1", "-kR|-s5", true),
            ("sqlio -kR -s5>>x", "-kR|-s5", true),
            (
                "-d1 'D:\\my file.dat' bob's.dat",
                "-d1|D:\\my file.dat|bob's.dat",
                false,
            ),
            ("-d1 a.dat # a remark", "-d1|a.dat", false),
            ("-d1 #1", "-d1|#1", false),
            ("-d1 a.dat`", "-d1|a.dat", false),
            ("-d1 `", "-d1|`", false),
            ("-d1 <my drive>:x > y", "-d1|<my drive>:x", true),
        ] {
            let taken = words_of_call(call);
            assert_eq!(taken.words.join("|"), words, "{call}");
            assert_eq!(taken.redirected, redirected, "{call}");
        }
    }
}
