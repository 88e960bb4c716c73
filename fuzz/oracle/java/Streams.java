import org.apache.flink.configuration.*;
import org.apache.flink.table.api.*;
import org.apache.flink.table.api.internal.*;
import org.apache.flink.table.catalog.*;
import org.apache.flink.table.data.*;
import org.apache.flink.table.types.logical.*;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.*;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.*;

/** JSON-lines in, JSON-lines out: the changes that a query of bounded tables returns, each with its kind. */
public class Streams {
    static void answer(JsonNode q, ObjectNode r) throws Exception {
        EnvironmentSettings.Builder settings = EnvironmentSettings.newInstance().withConfiguration(Values.configuration());
        boolean batch = q.path("mode").asText("streaming").equals("batch");
        TableEnvironment t = TableEnvironment.create((batch ? settings.inBatchMode() : settings.inStreamingMode()).build());
        t.getConfig().setLocalTimeZone(ZoneId.of(q.path("zone").asText("UTC")));
        q.path("config").fields().forEachRemaining(e -> t.getConfig().set(e.getKey(), e.getValue().asText()));
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
        List<LogicalType> types = new ArrayList<>();
        ArrayNode columns = r.putArray("types");
        for (Column one : found.getResolvedSchema().getColumns()) {
            types.add(one.getDataType().getLogicalType());
            columns.add(one.getDataType().getLogicalType().asSummaryString());
        }
        ArrayNode changes = r.putArray("changes");
        try (CloseableIterator<RowData> rows = found.collectInternal()) {
            while (rows.hasNext()) {
                RowData row = rows.next();
                ArrayNode change = changes.addArray();
                change.add(row.getRowKind().shortString());
                for (int i = 0; i < types.size(); i++) change.add(Values.out(types.get(i), RowData.createFieldGetter(types.get(i), i).getFieldOrNull(row)));
            }
        }
    }

    public static void main(String[] a) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        Values.start();
        String line;
        while ((line = in.readLine()) != null) {
            if (line.isBlank()) continue;
            JsonNode q = Values.M.readTree(line);
            ObjectNode r = Values.M.createObjectNode();
            try { answer(q, r); r.put("ok", true); } catch (Throwable e) { Values.fail(r, e, "run"); }
            out.println(Values.M.writeValueAsString(r));
        }
        out.flush(); System.exit(0);
    }
}
