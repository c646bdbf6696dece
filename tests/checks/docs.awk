# Prints a page with each quoted block taken from its source.

function complain(what) {
    print FILENAME ":" FNR ": " what > "/dev/stderr"
    failed = 1
}

# The tagged lines of a file without their common indentation, or "" when there are none.
function region(file, tag, line, lines, n, i, indent, common, inside, text, status) {
    n = 0
    inside = 0
    closed = 0
    while ((status = (getline line < file)) > 0) {
        if (line ~ "^[ \t]*// \\[/" tag "\\][ \t]*$") {
            closed = inside
            inside = 0
        } else if (line ~ "^[ \t]*// \\[" tag "\\][ \t]*$") {
            inside = 1
        } else if (inside && line !~ /^[ \t]*\/\/ \[\/?[a-z0-9_]+\][ \t]*$/) {
            lines[++n] = line
        }
    }
    close(file)
    if (status < 0) {
        complain("quotes " file ", which is not there")
        return ""
    }
    if (!closed || n == 0) {
        complain("quotes " file "#" tag ", which has no such region")
        return ""
    }
    common = -1
    for (i = 1; i <= n; ++i) {
        if (lines[i] !~ /[^ \t]/)
            continue
        match(lines[i], /^ */)
        if (common < 0 || RLENGTH < common)
            common = RLENGTH
    }
    text = ""
    for (i = 1; i <= n; ++i)
        text = text substr(lines[i], common + 1) "\n"
    return text
}

/^<!-- quoted: .* -->$/ {
    print
    source = $0
    sub(/^<!-- quoted: /, "", source)
    sub(/ -->$/, "", source)
    if (split(source, parts, "#") != 2) {
        complain("does not name FILE#tag")
        next
    }
    expected = region(parts[1], parts[2])
    waiting = 1
    next
}

waiting && /^```/ {
    print
    if (expected != "")
        printf "%s", expected
    waiting = 0
    quoting = 1
    next
}

waiting && /[^ \t]/ {
    complain("no code block follows the comment that quotes")
    waiting = 0
}

quoting && /^```$/ {
    quoting = 0
}

!quoting || expected == "" { print }

END {
    if (waiting || quoting)
        complain("a quoted block is not closed")
    exit failed
}
