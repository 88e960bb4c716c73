package com.acme.udf;
import org.apache.flink.table.annotation.*;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;
public class KindsOfRows extends ProcessTableFunction<String> {
    public void eval(@ArgumentHint({ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES}) Row row) {
        collect(row.getKind().shortString() + " " + row.getField("id") + " " + row.getField("n"));
    }
}
