#!/bin/sh
# Fetches Apache Flink's jars (the PyPI package apache-flink-libraries, 330 MB) and compiles the oracle.
# usage: setup.sh [DIR]   DIR: where jars and classes go (default: .oracle in the current directory)
# Needs a JDK (javac). PYTHON names the interpreter whose pip downloads (default: python3).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-.oracle}
version=2.3.0
command -v javac > /dev/null || { echo "setup.sh: a JDK is needed, javac is not on the PATH" >&2; exit 2; }
mkdir -p "$dir/classes"
if [ ! -d "$dir/flink" ]; then
  "${PYTHON:-python3}" -m pip download -q --no-deps --no-binary :all: \
    "apache-flink-libraries==$version" -d "$dir"
  mkdir "$dir/flink.part"
  tar xzf "$dir/apache_flink_libraries-$version.tar.gz" -C "$dir/flink.part" --strip-components=1
  mv "$dir/flink.part" "$dir/flink"
  rm "$dir/apache_flink_libraries-$version.tar.gz"
fi
classpath=$(ls "$dir"/flink/deps/lib/*.jar | tr '\n' ':')
find "$here/java" -name '*.java' > "$dir/sources"
javac -nowarn -Xlint:none -d "$dir/classes" -cp "$classpath" "@$dir/sources"
cp -r "$here/java/META-INF" "$dir/classes/"
echo "ready: sh $here/ask.sh $dir < questions.jsonl > answers.jsonl"
