# Nesting 100,000 deep, of everything that nests.
. "$(dirname "$0")/lib.sh"

depth=100000

nested() { # NAME BEFORE OPEN MIDDLE CLOSE AFTER
  { printf '%s' "$2"; repeat "$3" $depth; printf '%s' "$4"; repeat "$5" $depth; printf '%s\n' "$6"; } >"$1.xlog"
  rejects "$1.xlog"
}
# Without the closing half: the error is found at the end of the text.
half() { # NAME BEFORE OPEN
  { printf '%s' "$2"; repeat "$3" $depth; } >"$1.xlog"
  rejects "$1.xlog"
}

nested parens 'p(X) :- X = ' '(' 1 ')' '.'
nested lists 'p(' '[' '' ']' ').'
nested terms 'p(' 'f(' a ')' ').'
nested tails 'p(' '[a | ' '[]' ']' ').'
nested minus 'p(X) :- q(Y), X = ' '-' Y '' '.'
nested ifs 'func f(X) = ' 'if X > 1 then 1 else ' 0 '' '.'
nested then_ifs 'func f(X) = ' 'if X > 1 then ' 0 ' else 1' '.'
nested types 'pred p(' 'list<' u32 '>' ').'
nested aggregates 'p(N) :- ' 'N = count : { ' 'q' ' }' '.'
nested choice '' '{ ' a ' }' '.'
half open_parens 'p(X) :- X = ' '('
half open_lists 'p(' '['
half open_terms 'p(' 'f('
half open_braces '' '{'
half open_aggregates 'p(N) :- ' 'N = count : { '
half open_strings 'p(' '"'
half open_comments '' '/*'

# Chains of prefixes are not nesting for the reader, but must not overflow anything.
{ printf 'p :- '; repeat 'not ' $depth; echo 'q.'; } >nots.xlog
survives nots.xlog
{ printf 'p :- '; repeat 'know ' $depth; echo 'q.'; } >knows.xlog
survives knows.xlog
{ printf 'p :- '; repeat 'not possible not know ' $depth; echo 'q.'; } >chain.xlog
survives chain.xlog
{ printf 'p(X) :- q(Y), X = '; repeat 'Y + ' $depth; echo 'Y.'; } >sum.xlog
survives sum.xlog
{ printf 'p(X) :- q(Y), X = '; repeat 'Y * 2 - ' $depth; echo 'Y.'; } >product.xlog
survives product.xlog
finish
