package com.acme.udf;

import org.apache.flink.table.annotation.*;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/** Numbers the rows of a partition. */
public class CountRows extends ProcessTableFunction<Row> {
    public static class Counter { public int count = 0; }

    @FunctionHint(output = @DataTypeHint("ROW<n INT, w INT>"))
    public void eval(
            @StateHint(name = "counter") Counter counter,
            @ArgumentHint(value = ArgumentTrait.SET_SEMANTIC_TABLE, name = "r") Row r) {
        counter.count++;
        collect(Row.of(counter.count, r.getFieldAs("v")));
    }
}
