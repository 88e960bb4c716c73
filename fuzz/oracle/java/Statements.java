import org.apache.flink.table.api.*;
import org.apache.flink.table.api.internal.*;
import org.apache.flink.table.catalog.*;
import org.apache.flink.table.catalog.stats.*;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.*;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.*;
import org.apache.flink.table.data.*;
import org.apache.flink.table.types.logical.*;
import org.apache.flink.util.CloseableIterator;
import java.io.*;
import java.lang.reflect.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.ZoneId;
import java.util.*;

/** JSON-lines in, JSON-lines out: statements that run one after the other, with the rows that they return and what they leave. */
public class Statements {
    static void put(ObjectNode o, String name, Object v) {
        if (v == null) o.putNull(name); else o.put(name, v instanceof org.apache.flink.table.catalog.stats.Date ? String.valueOf(((org.apache.flink.table.catalog.stats.Date) v).getDaysSinceEpoch()) : String.valueOf(v));
    }
    static void getters(ObjectNode o, Object v) throws Exception {
        for (Method m : v.getClass().getMethods())
            if (m.getName().startsWith("get") && m.getParameterCount() == 0 && !m.getName().equals("getClass") && !m.getName().equals("getProperties"))
                put(o, m.getName().substring(3), m.invoke(v));
    }
    static void statistics(TableEnvironment t, JsonNode q, ObjectNode r) throws Exception {
        Catalog c = t.getCatalog("default_catalog").get();
        ObjectPath p = new ObjectPath("default_database", q.get("statistics").asText());
        CatalogTableStatistics s; CatalogColumnStatistics d;
        if (q.has("partition")) {
            Map<String, String> spec = new LinkedHashMap<>();
            q.get("partition").fields().forEachRemaining(e -> spec.put(e.getKey(), e.getValue().asText()));
            s = c.getPartitionStatistics(p, new CatalogPartitionSpec(spec)); d = c.getPartitionColumnStatistics(p, new CatalogPartitionSpec(spec));
        } else { s = c.getTableStatistics(p); d = c.getTableColumnStatistics(p); }
        getters(r.putObject("table"), s);
        ObjectNode cols = r.putObject("columns");
        for (Map.Entry<String, CatalogColumnStatisticsDataBase> e : d.getColumnStatisticsData().entrySet()) {
            ObjectNode o = cols.putObject(e.getKey()); o.put("kind", e.getValue().getClass().getSimpleName()); getters(o, e.getValue());
        }
    }
    static void one(TableEnvironment t, JsonNode q, ObjectNode r) throws Exception {
        if (q.has("statistics")) { statistics(t, q, r); return; }
        if (q.has("cat")) {
            ArrayNode lines = r.putArray("lines");
            try (var s = Files.walk(Paths.get(q.get("cat").asText()))) {
                for (Path f : (Iterable<Path>) s.filter(Files::isRegularFile).filter(f -> !f.getFileName().toString().startsWith(".")).sorted()::iterator) for (String l : Files.readString(f).split("\n", -1)) lines.add(l);
            }
            return;
        }
        if (q.has("set")) { q.get("set").fields().forEachRemaining(e -> t.getConfig().set(e.getKey(), e.getValue().asText())); return; }
        TableResultInternal found = (TableResultInternal) t.executeSql(q.isTextual() ? q.asText() : q.get("sql").asText());
        if (found.getJobClient().isPresent() && found.getResultKind() == ResultKind.SUCCESS_WITH_CONTENT && !q.asText().trim().toUpperCase().startsWith("SELECT")) { found.await(); r.put("job", true); return; }
        List<LogicalType> types = new ArrayList<>();
        ArrayNode columns = r.putArray("columns");
        for (Column each : found.getResolvedSchema().getColumns()) { types.add(each.getDataType().getLogicalType()); columns.add(each.getName() + " " + each.getDataType().getLogicalType().asSummaryString()); }
        ArrayNode rows = r.putArray("rows");
        try (CloseableIterator<RowData> it = found.collectInternal()) {
            while (it.hasNext()) {
                RowData row = it.next(); ArrayNode out = rows.addArray();
                for (int i = 0; i < types.size(); i++) out.add(Values.out(types.get(i), RowData.createFieldGetter(types.get(i), i).getFieldOrNull(row)));
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
            EnvironmentSettings.Builder settings = EnvironmentSettings.newInstance().withConfiguration(Values.configuration());
            TableEnvironment t = TableEnvironment.create((q.path("mode").asText("batch").equals("batch") ? settings.inBatchMode() : settings.inStreamingMode()).build());
            t.getConfig().setLocalTimeZone(ZoneId.of(q.path("zone").asText("UTC")));
            ChangedRowsFactory.ROWS.clear();
            ObjectNode r = Values.M.createObjectNode();
            if (q.has("id")) r.set("id", q.get("id"));
            ArrayNode results = r.putArray("results");
            for (JsonNode s : q.get("statements")) {
                ObjectNode x = results.addObject();
                try { one(t, s, x); x.put("ok", true); } catch (Throwable e) { Values.fail(x, e, "run"); }
            }
            out.println(Values.M.writeValueAsString(r));
        }
        out.flush(); System.exit(0);
    }
}
