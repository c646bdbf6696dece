# The ranks of the layers. A file includes lower ranks and its own folder, and nothing else.

BEGIN {
    rank["base"] = 1
    rank["model"] = 2
    rank["failure"] = rank["schedule"] = rank["workflow"] = 3
    rank["store"] = rank["worker"] = rank["observe"] = 3
    rank["runtime"] = 4
    rank["api"] = 5
    rank["cli"] = rank["testing"] = 6

    # Public headers that stand on the whole library; the others are values and interfaces.
    count = split("pawl scheduler job_builder job_handle enqueue_statement testing", names, " ")
    for (i = 1; i <= count; ++i)
        facade[names[i] ".hpp"] = facade[names[i]] = 1 # and the folder of that name

    count = split("thread mutex condition_variable functional regex iostream", names, " ")
    for (i = 1; i <= count; ++i)
        costly[names[i]] = 1
}

function complain(what) {
    print FILENAME ":" FNR ": " what
}

# The layer of a path from the root: "public", "facade" or the folder's name.
function layer_of(path, parts) {
    split(path, parts, "/")
    if (parts[1] == "src")
        return parts[2]
    return (parts[3] in facade || parts[3] == "testing") ? "facade" : "public"
}

function rank_of(layer) {
    if (layer == "public")
        return 0
    if (layer == "facade")
        return 5
    return rank[layer]
}

function exists(path, line, found) {
    found = (getline line < path) >= 0
    close(path)
    return found
}

function finish_file() {
    if (is_public && code_lines > 200)
        print previous ":1: a public header of " code_lines " lines without comments; at most 200"
}

FNR == 1 {
    finish_file()
    previous = FILENAME
    code_lines = 0
    in_comment = 0
    is_public = FILENAME ~ /^include\//
    layer = layer_of(FILENAME)
    in_pg = FILENAME ~ /^src\/store\/pg\//
    if (!is_public && !(layer in rank))
        complain("src/" layer " has no rank")
}

# Lines that are neither blank nor comment.
{
    text = $0
    if (in_comment) {
        if (text ~ /\*\//) {
            sub(/.*\*\//, "", text)
            in_comment = 0
        } else {
            text = ""
        }
    }
    sub(/^[ \t]*\/\/.*/, "", text)
    if (text ~ /^[ \t]*\/\*/ && text !~ /\*\//)
        in_comment = 1
    if (text ~ /[^ \t]/ && !in_comment)
        ++code_lines
}

/^[ \t]*#[ \t]*include/ {
    quoted = $0 ~ /include[ \t]*"/
    target = $0
    sub(/^[^<"]*[<"]/, "", target)
    sub(/[>"].*/, "", target)

    if (target ~ /\.\.\//) {
        complain("includes " target ": name it from src/")
        next
    }

    if (!quoted && target !~ /^pawl\//) {
        external(target)
        next
    }

    if (!quoted) {
        path = "include/" target
        if (target == "pawl/export.hpp")
            next
    } else if (is_public) {
        complain("a public header includes \"" target "\": public headers are <pawl/...>")
        next
    } else if (exists("src/" target)) {
        path = "src/" target
    } else {
        path = FILENAME
        sub(/[^\/]*$/, target, path)
    }
    if (!exists(path)) {
        complain("includes " target ", which is not in the tree")
        next
    }
    internal(path)
}

END { finish_file() }

function external(target) {
    if (target ~ /^pqxx\// || target ~ /^libpq/) {
        if (!in_pg && !(layer == "testing" && target ~ /^libpq/))
            complain("includes <" target ">: pqxx stays under src/store/pg")
    } else if (target ~ /^spdlog\//) {
        if (layer != "observe" && FILENAME !~ /^src\/base\/log/)
            complain("includes <" target ">: spdlog stays under src/observe and the logging port")
    } else if (target ~ /^nlohmann\//) {
        if (is_public && FILENAME !~ /^include\/pawl\/json/)
            complain("includes <" target ">: of the public headers only json.hpp does")
    } else if (is_public && (target in costly)) {
        complain("a public header includes <" target ">: forward-declare")
    }
}

function internal(path, other) {
    other = layer_of(path)
    if ((layer == "cli" || layer == "testing") && other != layer && other != "public" && other != "facade") {
        complain("includes " path ": src/" layer " stands on public headers alone")
        return
    }
    if (path ~ /^src\/store\/pg\// && !in_pg && layer != "api") {
        complain("includes " path ": only src/api constructs the PostgreSQL store")
        return
    }
    if (other == layer)
        return
    if (rank_of(other) == rank_of(layer) && !(layer == "api" && other == "facade"))
        complain("includes " path ": a sibling of its own rank " rank_of(layer))
    else if (rank_of(other) > rank_of(layer))
        complain("includes " path ": rank " rank_of(other) " from rank " rank_of(layer))
}
