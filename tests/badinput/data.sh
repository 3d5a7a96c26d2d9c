# Data files that do not fit.
. "$(dirname "$0")/lib.sh"

echo 'pred p(id: u32, name: symbol). ?- p(X, Y).' >p.xlog
rejects_data() { # NAME TEXT
  printf "$2" >"$1"
  timeout $seconds "$xlog" run p.xlog --input p="$1" >out 2>err
  status=$?
  [ $status -eq 1 ] || fail "$1: exit status $status, not 1"
  grep -q '^error\[E080[13]\]: ' err || fail "$1: no diagnostic"
}
rejects_data open.csv '1,"abc\n'
rejects_data after.csv '1,"abc"d\n'
rejects_data few.csv '1,a\n2\n'
rejects_data many.csv '1,a\n2,b,c\n'
rejects_data type.csv '1,a\nx,b\n'
rejects_data range.csv '1,a\n4294967296,b\n'
rejects_data utf8.csv '1,\377\n'
rejects_data header.csv 'id,title\n1,a\n'
rejects_data twice.csv 'id,name,id\n1,a,2\n'
rejects_data wide.csv 'name,id,more\na,1,x\nb,2\n'
rejects_data short.gz '\037\213\010\000'
rejects_data damaged.gz '\037\213\010\000\000\000\000\000\000\003\377\377\377\377'
rejects_data damaged.zst '\050\265\057\375\377\377\377\377\377\377\377\377'
rejects_data utf16.csv '\377\3761\000,\000a\000'
rejects_data header.db 'SQLite format 3\000'
{ printf 'SQLite format 3\000'; head -c 100000 /dev/urandom; } >random.db
timeout $seconds "$xlog" run p.xlog --input p=random.db >out 2>err
[ $? -eq 1 ] || fail "a database of random bytes"
{ printf '1,"'; repeat 'x' 10000000; echo; } >open_long.csv
timeout $seconds "$xlog" run p.xlog --input p=open_long.csv >out 2>err
[ $? -eq 1 ] || fail "a long open quote"
mkdir folder.csv
timeout $seconds "$xlog" run p.xlog --input p=folder.csv >out 2>err
[ $? -eq 1 ] || fail "a folder as data"
{ printf '1,'; repeat 'x' 10000000; echo; } >long.csv
timeout $seconds "$xlog" run p.xlog --input p=long.csv >out 2>err || fail "a long field is fine"
repeat '"' 1000001 >quotes.csv
timeout $seconds "$xlog" run p.xlog --input p=quotes.csv >out 2>err
[ $? -eq 1 ] || fail "a million quotes"
head -c 1000000 /dev/urandom >random.csv
timeout $seconds "$xlog" run p.xlog --input p=random.csv >out 2>err
[ $? -eq 1 ] || fail "random bytes"
: >empty.csv
timeout $seconds "$xlog" run p.xlog --input p=empty.csv >out 2>err || fail "an empty file has no rows"
finish
