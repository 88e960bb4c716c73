#!/bin/sh
# Asks the real Apache Flink: questions as JSON lines on standard input, answers on standard output.
# usage: ask.sh [DIR] [Oracle|Values|Streams]
#   DIR: what setup.sh filled (default: .oracle in the current directory)
#   Oracle: everything of PROTOCOL.md; Values: what expressions evaluate to;
#   Streams: the changes that queries return
set -eu
dir=${1:-.oracle}
[ -d "$dir/classes" ] || { echo "ask.sh: nothing in $dir, run setup.sh first" >&2; exit 2; }
classpath=$(ls "$dir"/flink/deps/lib/*.jar "$dir"/formats/*.jar 2> /dev/null | tr "\n" ":")$dir/classes
exec java -Xmx2g -XX:+UseSerialGC -Duser.timezone=UTC -Dlog4j2.level=OFF \
  --add-opens java.base/java.util=ALL-UNNAMED \
  --add-opens java.base/java.lang=ALL-UNNAMED \
  --add-opens java.base/java.time=ALL-UNNAMED \
  -cp "$classpath" "${2:-Oracle}"
