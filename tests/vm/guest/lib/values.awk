# Flattens pretty-printed JSON, one value or bracket a line, into `path value`.
function path(last,    text, level) {
    text = ""
    for (level = 1; level <= depth; level++) if (name[level] != "") text = text name[level] "."
    return text last
}
{
    line = $0
    sub(/^ */, "", line)
    sub(/,$/, "", line)
    key = ""
    if (match(line, /^"[^"]*": /)) {
        key = substr(line, 2, RLENGTH - 4)
        line = substr(line, RLENGTH + 1)
    } else if (list[depth] && line !~ /^[\]}]/) {
        key = count[depth]++
    }
    if (line == "{" || line == "[") {
        depth++
        name[depth] = key
        list[depth] = (line == "[")
        count[depth] = 0
    } else if (line == "}" || line == "]") {
        depth--
    } else if (key != "" || list[depth]) {
        gsub(/^"|"$/, "", line)
        print path(key), line
    }
}
