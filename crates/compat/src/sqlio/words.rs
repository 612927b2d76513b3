//! The words of a command line in a batch file.

/// A call taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// What follows the program's name.
    pub(crate) words: Vec<String>,
    /// Its output went to a file or another program.
    pub(crate) redirected: bool,
}

/// The words behind the program of a call; quotation marks hold words together,
/// and what follows a `>`, `|` or `&` is not the program's.
pub(crate) fn words_of_call(call: &str) -> Call {
    let mut taken = Call::default();
    let mut word = String::new();
    let mut quoted = false;
    let mut begun = false;
    for sign in call.chars() {
        match sign {
            '"' => {
                quoted = !quoted;
                begun = true;
            }
            '>' | '|' | '&' if !quoted => {
                taken.redirected = true;
                break;
            }
            sign if sign.is_whitespace() && !quoted => {
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
        taken.words.push(word);
    }
    // `2>` leaves the number behind.
    if taken.redirected
        && taken
            .words
            .last()
            .is_some_and(|last| last == "2" || last == "1")
    {
        taken.words.pop();
    }
    // The name of the program itself is no word of it.
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
        ] {
            let taken = words_of_call(call);
            assert_eq!(taken.words.join("|"), words, "{call}");
            assert_eq!(taken.redirected, redirected, "{call}");
        }
    }
}
