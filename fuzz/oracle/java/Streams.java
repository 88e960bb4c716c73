import org.apache.flink.table.api.*;
import org.apache.flink.table.api.internal.*;
import org.apache.flink.table.data.*;
import org.apache.flink.table.types.logical.*;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.*;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** JSON-lines in, JSON-lines out: the changes that a query of bounded tables returns, each with its kind. */
public class Streams {
    static void answer(JsonNode q, ObjectNode r) throws Exception {
        TableEnvironment t = Values.environment(q, "streaming");
        for (JsonNode one : q.path("setup")) t.executeSql(one.asText());
        TableResultInternal found = (TableResultInternal) t.executeSql(q.get("sql").asText());
        if (q.path("print").asBoolean()) {
            PrintStream before = System.out;
            ByteArrayOutputStream printed = new ByteArrayOutputStream();
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            try { found.print(); } finally { System.setOut(before); }
            r.put("printed", printed.toString(StandardCharsets.UTF_8));
            return;
        }
        List<LogicalType> types = Values.types(found);
        ArrayNode columns = r.putArray("types");
        for (LogicalType each : types) columns.add(each.asSummaryString());
        ArrayNode changes = r.putArray("changes");
        try (CloseableIterator<RowData> rows = found.collectInternal()) {
            while (rows.hasNext()) {
                RowData row = rows.next();
                ArrayNode change = changes.addArray();
                change.add(row.getRowKind().shortString());
                Values.fields(change, types, row);
            }
        }
    }

    public static void main(String[] a) throws Exception { Values.answerLines(Streams::answer); }
}
