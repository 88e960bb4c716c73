#!/bin/sh
# Records the property maps that another version of Flink writes.
# usage: record.sh VERSION [DIR] | gzip -n > properties/corpus/maps/flink-VERSION.jsonl.gz
#   DIR: where jars and classes go (default: .oracle-VERSION); remove it afterwards (300 MB)
# From 1.13 on the jars come from the package apache-flink-libraries, before from apache-flink itself.
# Needs a JDK (javac). PYTHON names the interpreter whose pip downloads (default: python3).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=$1
dir=${2:-.oracle-$version}
mkdir -p "$dir/classes"
pip="${PYTHON:-python3} -m pip download -q --no-deps -d $dir"
if [ -z "$(find -L "$dir" -name 'flink-dist*.jar')" ]; then
  case $version in
    1.9.*|1.10.*)
      $pip --no-binary apache-flink "apache-flink==$version" >&2 ;;
    1.11.*|1.12.*)
      $pip --only-binary :all: --python-version 3.7 --platform manylinux1_x86_64 --platform any \
        "apache-flink==$version" >&2 ;;
    *)
      $pip --no-binary :all: "apache-flink-libraries==$version" >&2 ;;
  esac
  for package in "$dir"/*.tar.gz "$dir"/*.whl; do
    case $package in
      *'*'*) ;;
      *.whl) unzip -q -o "$package" '*/lib/*.jar' -d "$dir" && rm "$package" ;;
      *) tar xzf "$package" -C "$dir" --wildcards '*/lib/*.jar' && rm "$package" ;;
    esac
  done
fi
classpath=$(find -L "$dir" -name '*.jar' | tr '\n' ':')$dir/classes
javac -nowarn -Xlint:none -d "$dir/classes" -cp "$classpath" "$here/Recorder.java" >&2
exec java -Xmx1g -XX:+UseSerialGC -Duser.timezone=UTC -Dlog4j2.level=OFF -Dlog4j.rootLogger=OFF \
  --add-opens java.base/java.util=ALL-UNNAMED \
  --add-opens java.base/java.lang=ALL-UNNAMED \
  --add-opens java.base/java.time=ALL-UNNAMED \
  -cp "$classpath" Recorder < "$here/questions.jsonl"
