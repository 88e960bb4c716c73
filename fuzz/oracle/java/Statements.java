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
        if (q.has("write")) { Path f = Paths.get(q.get("write").asText()); Files.createDirectories(f.getParent()); Files.writeString(f, q.get("text").asText()); return; }
        if (q.has("list") || q.has("cat")) {
            Path root = Paths.get(q.get(q.has("list") ? "list" : "cat").asText());
            ArrayNode lines = r.putArray("lines");
            if (!Files.exists(root)) return;
            try (var s = Files.walk(root)) {
                for (Path f : (Iterable<Path>) s.filter(Files::isRegularFile).filter(f -> !f.getFileName().toString().startsWith(".")).sorted()::iterator)
                    if (q.has("list")) lines.add(root.relativize(f).toString()); else for (String l : Files.readString(f).split("\n", -1)) lines.add(l);
            }
            return;
        }
        if (q.has("set")) { q.get("set").fields().forEachRemaining(e -> t.getConfig().set(e.getKey(), e.getValue().asText())); return; }
        TableResultInternal found = (TableResultInternal) t.executeSql(q.isTextual() ? q.asText() : q.get("sql").asText());
        if (found.getJobClient().isPresent() && found.getResultKind() == ResultKind.SUCCESS_WITH_CONTENT && !q.asText().trim().toUpperCase().startsWith("SELECT")) { found.await(); r.put("job", true); return; }
        List<LogicalType> types = Values.types(found);
        ArrayNode columns = r.putArray("columns");
        for (Column each : found.getResolvedSchema().getColumns()) columns.add(each.getName() + " " + each.getDataType().getLogicalType().asSummaryString());
        ArrayNode rows = r.putArray("rows");
        try (CloseableIterator<RowData> it = found.collectInternal()) {
            while (it.hasNext()) Values.fields(rows.addArray(), types, it.next());
        }
    }
    static void answer(JsonNode q, ObjectNode r) throws Exception {
        TableEnvironment t = Values.environment(q, "batch");
        ChangedRowsFactory.ROWS.clear();
        ArrayNode results = r.putArray("results");
        for (JsonNode s : q.get("statements")) {
            ObjectNode x = results.addObject();
            try { one(t, s, x); x.put("ok", true); } catch (Throwable e) { Values.fail(x, e, "run"); }
        }
    }
    public static void main(String[] a) throws Exception { Values.answerLines(Statements::answer); }
}
