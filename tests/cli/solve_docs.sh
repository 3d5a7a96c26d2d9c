# The commands in the pages about solving and sessions, with what is printed below them.
#
#   ```text file PATH      a file for the commands
#   ```sh [needs PROGRAM]  lines `$ command`, each with its output; without such lines: not run
. "$(dirname "$0")/lib.sh"
mkdir bin
ln -s "$xlog" bin/xlog
PATH=$work/bin:$PATH
docs=$here/../../docs

# Each command and its output go into files of their own, in the order of the page.
for page in solve sir stable_models sessions; do
  mkdir "$page"
  (
    cd "$page" || exit 1
    awk '
      /^```/ {
        if (in_block) { in_block = 0; file = ""; command = 0; next }
        in_block = 1
        if ($1 == "```text" && $2 == "file") { file = $3; printf "" >file }
        shell = $1 == "```sh"
        needs = shell && $2 == "needs" ? $3 : "sh"
        next
      }
      in_block && file != "" { print >file }
      in_block && shell && /^\$ / {
        command = sprintf("%03d", ++commands)
        print needs >("needs." command)
        print substr($0, 3) >("command." command)
        printf "" >("wanted." command)
        next
      }
      in_block && shell && command { print >("wanted." command) }
    ' "$docs/$page.md"
    for command in command.*; do
      number=${command#command.}
      command -v "$(cat "needs.$number")" >needed || continue
      sh "$command" >out 2>&1
      diff -u "wanted.$number" out && continue
      echo "docs/$page.md: $(cat "$command")"
      echo failed >>../failed
    done
    ls command.* | wc -l >>../ran
  )
done
[ ! -e failed ] || fail "$(wc -l <failed) commands of docs print something else"
[ "$(awk '{ n += $1 } END { print n }' ran)" -ge 20 ] || fail "the pages have fewer commands than they should"

# The table of engines is the one of the help.
run solve --help
awk '/^Engines, / { on = 1; next } on && /^$/ { exit } on' out >table
[ -s table ] || fail "the help has no table of engines"
awk '/^  engine / { on = 1 } /^```/ { on = 0 } on' "$docs/solve.md" >documented
diff -u table documented || fail "docs/solve.md has another table of engines"
finish
