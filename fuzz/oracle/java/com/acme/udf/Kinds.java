package com.acme.udf;
import org.apache.flink.table.annotation.*;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;
public class Kinds extends ProcessTableFunction<String> {
    public static class Seen { public int rows = 0; }
    public void eval(@StateHint(name = "seen") Seen seen, @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES}) Row row) {
        seen.rows++;
        collect(seen.rows + " " + row.getKind().shortString() + " " + row.getField("id") + " " + row.getField("n"));
    }
}
