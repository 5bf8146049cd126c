#!/bin/sh
# Answers the question of examples/churn.ts with git, sort and awk alone, as JSON. A test compares the two.
#
#   scripts/churn.sh [COMMITS]     in a Git repository; the newest 200 commits unless told otherwise
set -eu
LC_ALL=C
export LC_ALL
newest=${1:-200}
top=10
tab=$(printf '\t')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One line `C author` a commit, followed by one line `F added deleted path` for each of its files. Paths may hold tabs,
# and newlines, which travel as \002.
git log -n "$newest" --format="%H$tab%aN" | while IFS="$tab" read -r sha author; do
    printf 'C\t%s\n' "$author"
    git diff-tree --root --no-commit-id -r --no-renames --numstat -z "$sha" </dev/null | tr '\n\0' '\002\n' | sed 's/^/F\t/'
done >"$work/changes"

# Rows for `sort`: kind, count, what else belongs to it, and last the name or names, which may hold anything.
awk -F '\t' '
    function flush(    i, j, swap) {
        if (n > 50) n = 0
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && path[j] < path[j - 1]; j--) { swap = path[j]; path[j] = path[j - 1]; path[j - 1] = swap }
        for (i = 1; i < n; i++)
            for (j = i + 1; j <= n; j++) pairs[path[i] "\001" path[j]]++
        n = 0
    }
    $1 == "C" { flush(); author = substr($0, 3); commits++ }
    $1 == "F" {
        name = $0
        sub(/^F\t[^\t]*\t[^\t]*\t/, "", name)
        path[++n] = name
        changes[name]++
        added[name] += $2
        deleted[name] += $3
        times = ++by[name, author]
        if (times == 1) touched[author]++
        if (times > most[name] || times == most[name] && author < first[name]) { most[name] = times; first[name] = author }
    }
    END {
        flush()
        print "commits\t" commits + 0
        for (name in changes) print "file\t" changes[name] "\t" added[name] "\t" deleted[name] "\t" first[name] "\t" name
        for (pair in pairs) if (pairs[pair] > 1) print "pair\t" pairs[pair] "\t" pair
        for (author in touched) print "touched\t" touched[author] "\t" author
    }
' "$work/changes" >"$work/rows"

git shortlog -sne HEAD </dev/null | sed 's/^ *//; s/ <[^>]*>$//' >"$work/shortlog"
awk -F '\t' '
    NR == FNR { if ($1 == "touched") files[$3] = $2; next }
    { commits[$2] += $1 }
    END { for (name in commits) print "author\t" commits[name] "\t" files[name] + 0 "\t" name }
' "$work/rows" "$work/shortlog" >>"$work/rows"

{
    grep '^commits' "$work/rows"
    grep '^file' "$work/rows" | sort -t "$tab" -k 2,2nr -k 6 | head -n "$top"
    grep '^pair' "$work/rows" | sort -t "$tab" -k 2,2nr -k 3 | head -n "$top"
    grep '^author' "$work/rows" | sort -t "$tab" -k 2,2nr -k 4 | head -n "$top"
} | awk -F '\t' '
    function json(text,    i, c, out) {
        for (i = 1; i <= length(text); i++) {
            c = substr(text, i, 1)
            if (c == "\"" || c == "\\") c = "\\" c
            else if (c == "\t") c = "\\t"
            else if (c == "\002") c = "\\n"
            out = out c
        }
        return "\"" out "\""
    }
    function rest(fields,    text) {
        text = $0
        while (fields-- > 0) sub(/^[^\t]*\t/, "", text)
        return text
    }
    function row(list, text) { rows[list] = rows[list] (rows[list] == "" ? "" : ",") text }
    $1 == "commits" { commits = $2 }
    $1 == "file" {
        row("files", "{\"path\":" json(rest(5)) ",\"changes\":" $2 ",\"added\":" $3 ",\"deleted\":" $4 ",\"top_author\":" json($5) "}")
    }
    $1 == "pair" {
        split(rest(2), pair, "\001")
        row("together", "{\"a\":" json(pair[1]) ",\"b\":" json(pair[2]) ",\"times\":" $2 "}")
    }
    $1 == "author" { row("authors", "{\"name\":" json(rest(3)) ",\"commits\":" $2 ",\"files\":" $3 "}") }
    END {
        print "{\"commits\":" commits ",\"files\":[" rows["files"] "],\"together\":[" rows["together"] "],\"authors\":[" rows["authors"] "]}"
    }
'
