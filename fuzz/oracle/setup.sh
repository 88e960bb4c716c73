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
# With Maven: the formats avro, protobuf, parquet and orc, for fuzz/oracle/files.py and messages.py,
# the connector of Kafka, and the classes of the messages of tests/cases.
if command -v mvn > /dev/null && [ ! -d "$dir/formats" ]; then
  mkdir -p "$dir/formats.part" "$dir/protobuf"
  for artifact in flink-sql-avro flink-sql-avro-confluent-registry flink-protobuf \
    flink-sql-parquet flink-sql-orc; do
    mvn -q -B dependency:copy "-Dartifact=org.apache.flink:$artifact:$version" \
      "-DoutputDirectory=$(realpath "$dir")/formats.part"
  done
  for artifact in org.apache.flink:flink-sql-connector-kafka:4.0.1-2.0 \
    com.google.protobuf:protobuf-java:4.32.1 \
    org.apache.hadoop:hadoop-client-api:3.5.0 org.apache.hadoop:hadoop-client-runtime:3.5.0; do
    mvn -q -B dependency:copy "-Dartifact=$artifact" \
      "-DoutputDirectory=$(realpath "$dir")/formats.part"
  done
  mvn -q -B dependency:copy -Dartifact=com.google.protobuf:protoc:4.32.1:exe:linux-x86_64 \
    "-DoutputDirectory=$(realpath "$dir")/protobuf"
  mv "$dir/formats.part" "$dir/formats"
fi
if [ -d "$dir/formats" ]; then
  (cd "$dir/protobuf" && jar xf ../formats/protobuf-java-4.32.1.jar google/protobuf/timestamp.proto)
  protoc=$(ls "$dir"/protobuf/protoc-*.exe)
  chmod +x "$protoc"
  rm -rf "$dir/protobuf/java"
  mkdir "$dir/protobuf/java"
  for message in shop2 shop3 wares2 wares3; do
    "$protoc" "-I$here/../../tests/cases" "-I$dir/protobuf" "--java_out=$dir/protobuf/java" \
      "$here/../../tests/cases/$message.proto"
  done
  find "$dir/protobuf/java" -name '*.java' > "$dir/sources"
  javac -nowarn -Xlint:none -d "$dir/classes" -cp "$(ls "$dir"/formats/protobuf-java-*.jar)" \
    "@$dir/sources"
fi
classpath=$(ls "$dir"/flink/deps/lib/*.jar | tr '\n' ':')
find "$here/java" -name '*.java' > "$dir/sources"
javac -parameters -nowarn -Xlint:none -d "$dir/classes" -cp "$classpath" "@$dir/sources"
cp -r "$here/java/META-INF" "$dir/classes/"
echo "ready: sh $here/ask.sh $dir < questions.jsonl > answers.jsonl"
