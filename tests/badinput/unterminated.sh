# Programs that stop in the middle.
. "$(dirname "$0")/lib.sh"

n=0
rejects_text() {
  n=$((n + 1))
  printf '%s' "$1" >"text_$n.xlog"
  rejects "text_$n.xlog"
}

rejects_text 'p("abc'
rejects_text 'p("abc
def").'
rejects_text 'p(1). /* no end'
rejects_text 'p(1)'
rejects_text 'p(1'
rejects_text 'p('
rejects_text 'p(1,'
rejects_text 'p(X) :-'
rejects_text 'p(X) :- q(X),'
rejects_text 'p([a, b'
rejects_text 'p([a | '
rejects_text '{ a : b'
rejects_text '1 { a } '
rejects_text 'a ;'
rejects_text '?-'
rejects_text '?- p(X)'
rejects_text ':-'
rejects_text '#pragma'
rejects_text '#pragma magic_sets ='
rejects_text '#const n'
rejects_text 'pred p('
rejects_text 'pred p(x:'
rejects_text 'func f(X) ='
rejects_text 'func f(X) = if X > 1 then'
rejects_text 'use'
rejects_text 'use a/'
rejects_text 'use a::{'
rejects_text 'domain d :'
rejects_text '0.3::'
rejects_text '0.3::a ; 0.2::'
rejects_text 'evidence(a,'
rejects_text 'nn(net, [X'
rejects_text 'learnable(M) ::'
rejects_text 'p(N) :- N = count : {'
rejects_text 'p :- know not'
rejects_text 'p(1 + ).'
rejects_text 'p(-).'
rejects_text '.'
rejects_text ')'
rejects_text '"\u{'
rejects_text 'p("\q").'
rejects_text 'p(0x).'
rejects_text 'p(99999999999999999999999999).'
finish
