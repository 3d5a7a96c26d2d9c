# Holds #include "folder/..." lines to layers.txt.
# usage: awk -f tools/layers.awk layers.txt FILE...
# Prints file:line for each include that breaks the table; exits 1 if there is one.

function complain(place, text) {
  print place ": " text
  bad = 1
}

# "src/lang/lexer.cc" -> "lang"; "include/xlog/api.h" -> "xlog".
function folder_of(path, part) {
  split(path, part, "/")
  return part[2]
}

FNR == 1 { reading_table = (NR == 1) }

reading_table {
  sub(/#.*/, "")
  if (!match($0, /^[a-z_]+:/)) next
  folder = substr($0, 1, RLENGTH - 1)
  for (i = 2; i <= NF; i++) {
    if (!($i in known)) complain(FILENAME ":" FNR, "'" $i "' must stand above '" folder "'")
    allowed[folder, $i] = 1
  }
  known[folder] = 1
  allowed[folder, folder] = 1
  next
}

FNR == 1 {
  from = folder_of(FILENAME)
  is_test = (FILENAME ~ /_test\.cc$/)
  if (!(from in known) && !(from in unlisted)) {
    unlisted[from] = 1
    complain(FILENAME, "folder '" from "' has no row in layers.txt")
  }
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
  split($0, quoted, "\"")
  header = quoted[2]
  slash = index(header, "/")
  if (slash == 0) {
    complain(FILENAME ":" FNR, "write the folder too: \"" from "/" header "\"")
    next
  }
  to = substr(header, 1, slash - 1)
  if (to == "tests" && !is_test) complain(FILENAME ":" FNR, "only *_test.cc may include " header)
  if ((to in known) && !((from, to) in allowed))
    complain(FILENAME ":" FNR, from " may not include " header)
}

END { exit bad }
