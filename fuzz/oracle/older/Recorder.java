import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.catalog.Catalog;
import org.apache.flink.table.catalog.ObjectPath;

/**
 * Records the property maps that a version of Flink writes, whichever is on the class path (1.9 to
 * 2.3). Questions are JSON lines: {"sql": a CREATE statement for an object named t or m}, {"table":
 * {...}} or {"materialized": {...}} for what no statement expresses, {"descriptor": [...]} for the
* descriptors before 1.13. A question that the version cannot
 * be asked is answered with "ok": false. Everything that changed between the versions is called by
 * name, so that one source serves them all.
 */
public class Recorder {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode question = JSON.readTree(line);
            ObjectNode record = JSON.createObjectNode();
            record.set("q", question);
            ObjectNode answer = record.putObject("a");
            try {
                answer(question, answer);
                answer.put("ok", true);
            } catch (Throwable problem) {
                answer.removeAll();
                Throwable cause = problem;
                while (cause.getCause() != null) cause = cause.getCause();
                answer.put("ok", false).put("error", cause.getClass().getSimpleName());
                if (arguments.length > 0) System.err.println(line + "\n  " + cause);
            }
            out.println(JSON.writeValueAsString(record));
        }
        System.exit(0);
    }

    static void answer(JsonNode question, ObjectNode answer) throws Exception {
        TableEnvironment environment = environment();
        if (question.has("table")) {
            describe(resolved(environment, "resolveCatalogTable", table(question.get("table"))), answer);
            return;
        }
        if (question.has("descriptor")) {
            Map<String, String> map = cast(call(descriptor(question.get("descriptor")), "toProperties"));
            ObjectNode properties = answer.putObject("properties");
            new TreeMap<>(map).forEach(properties::put);
            answer.put("kind", "descriptor");
            return;
        }
        if (question.has("materialized")) {
            describe(materialized(environment, question.get("materialized")), answer);
            return;
        }
        String sql = question.get("sql").asText();
        if (question.has("setup")) execute(environment, question.get("setup").asText());
        execute(environment, sql);
        Catalog catalog = environment.getCatalog("default_catalog").get();
        boolean model = sql.startsWith("CREATE MODEL");
        ObjectPath path = new ObjectPath("default_database", model ? "m" : "t");
        Object found = model ? call(catalog, "getModel", path) : catalog.getTable(path);
        describe(found, answer);
    }

    // --- what was kept --------------------------------------------------------------------------

    static void describe(Object object, ObjectNode answer) throws Exception {
        ObjectNode properties = answer.putObject("properties");
        new TreeMap<>(properties(object)).forEach(properties::put);
        answer.put("kind", kind(object));
        if (has(object, "getComment")) answer.put("comment", (String) call(object, "getComment"));
        if (has(object, "getPartitionKeys")) {
            ArrayNode keys = answer.putArray("partition_keys");
            for (Object key : (List<?>) call(object, "getPartitionKeys")) keys.add((String) key);
        }
        if (has(object, "getResolvedSchema")) {
            columns(call(object, "getResolvedSchema"), answer.putArray("columns"));
        } else if (has(object, "getSchema")) {
            oldColumns(call(object, "getSchema"), answer.putArray("columns"));
        } else if (has(object, "getResolvedInputSchema")) {
            columns(call(object, "getResolvedInputSchema"), answer.putArray("columns"));
            columns(call(object, "getResolvedOutputSchema"), answer.putArray("output_columns"));
        }
    }

    static String kind(Object object) {
        String name = object.getClass().getSimpleName();
        if (name.contains("Materialized")) return "materialized_table";
        return name.contains("View") ? "view" : name.contains("Model") ? "model" : "table";
    }

    /** The map: of CatalogPropertiesUtil where there is one (1.13), else the object's own. */
    static Map<String, String> properties(Object object) throws Exception {
        Class<?> writer;
        try {
            writer = Class.forName("org.apache.flink.table.catalog.CatalogPropertiesUtil");
        } catch (ClassNotFoundException missing) {
            return cast(call(object, "toProperties"));
        }
        for (Method method : writer.getMethods()) {
            Class<?>[] parameters = method.getParameterTypes();
            if (!method.getName().startsWith("serialize") || !parameters[0].isInstance(object)) continue;
            if (parameters.length == 1) return cast(method.invoke(null, object));
            Class<?> factory = Class.forName("org.apache.flink.table.expressions.DefaultSqlFactory");
            return cast(method.invoke(null, object, factory.getField("INSTANCE").get(null)));
        }
        throw new NoSuchMethodException("nothing writes " + object.getClass());
    }

    static void columns(Object schema, ArrayNode columns) throws Exception {
        for (Object column : (List<?>) call(schema, "getColumns")) {
            Object type = call(call(column, "getDataType"), "getLogicalType");
            columns.addArray().add((String) call(column, "getName")).add(text(type));
        }
    }

    /** The columns of a TableSchema, which knew no other kinds before 1.10. */
    static void oldColumns(Object schema, ArrayNode columns) throws Exception {
        String[] names = (String[]) call(schema, "getFieldNames");
        Object[] types = (Object[]) call(schema, "getFieldDataTypes");
        for (int i = 0; i < names.length; i++) {
            columns.addArray().add(names[i]).add(text(call(types[i], "getLogicalType")));
        }
    }

    static String text(Object type) throws Exception {
        try {
            return (String) call(type, "asSerializableString");
        } catch (InvocationTargetException problem) {
            return "!" + call(type, "asSummaryString");
        }
    }

    // --- descriptors (until 1.12) ---------------------------------------------------------------

    /** A descriptor of a schema: [method, argument, ...] calls, those of a rowtime nested in one. */
    static Object descriptor(JsonNode calls) throws Exception {
        return called("org.apache.flink.table.descriptors.Schema", calls);
    }

    static Object called(String name, JsonNode calls) throws Exception {
        Object object = Class.forName(name).getConstructor().newInstance();
        for (JsonNode one : calls) {
            Object[] arguments = new Object[one.size() - 1];
            for (int i = 0; i < arguments.length; i++) {
                JsonNode argument = one.get(i + 1);
                arguments[i] = argument.isArray()
                    ? called("org.apache.flink.table.descriptors.Rowtime", argument)
                    : argument.isNumber() ? (Object) argument.asLong() : argument.asText();
            }
            object = call(object, one.get(0).asText(), arguments);
        }
        return object;
    }

    // --- what no statement expresses ------------------------------------------------------------

    static Object schema(JsonNode calls) throws Exception {
        Object builder = Class.forName("org.apache.flink.table.api.Schema").getMethod("newBuilder").invoke(null);
        for (JsonNode call : calls) {
            String kind = call.get("kind").asText();
            if (kind.equals("physical")) call(builder, "column", call.get("name").asText(), call.get("type").asText());
            else named(builder, kind, call.get("name").asText(), strings(call.get("columns")));
            if (call.has("comment")) call(builder, "withComment", call.get("comment").asText());
        }
        return call(builder, "build");
    }

    static void named(Object builder, String kind, String name, List<String> columns) throws Exception {
        String method = kind + "Named";
        Method two = builder.getClass().getMethod(method, String.class, List.class);
        two.invoke(builder, name, columns);
    }

    static Object table(JsonNode wanted) throws Exception {
        Class<?> kind = Class.forName("org.apache.flink.table.catalog.CatalogTable");
        Object builder = kind.getMethod("newBuilder").invoke(null);
        fill(builder, wanted);
        return call(builder, "build");
    }

    static void fill(Object builder, JsonNode wanted) throws Exception {
        call(builder, "schema", schema(wanted.get("schema")));
        call(builder, "options", options(wanted.get("options")));
        if (wanted.has("comment")) call(builder, "comment", wanted.get("comment").asText());
        if (wanted.has("partition_keys")) call(builder, "partitionKeys", strings(wanted.get("partition_keys")));
        if (wanted.has("snapshot")) call(builder, "snapshot", wanted.get("snapshot").asLong());
    }

    static Object materialized(TableEnvironment environment, JsonNode wanted) throws Exception {
        String table = "org.apache.flink.table.catalog.CatalogMaterializedTable";
        Object builder = Class.forName(table).getMethod("newBuilder").invoke(null);
        fill(builder, wanted);
        String query = wanted.get("query").asText();
        if (has(builder, "originalQuery")) {
            call(builder, "originalQuery", wanted.get("original").asText());
            call(builder, "expandedQuery", query);
        } else {
            call(builder, "definitionQuery", query);
        }
        Class<?> freshness = Class.forName("org.apache.flink.table.catalog.IntervalFreshness");
        call(builder, "freshness", freshness.getMethod("ofMinute", String.class).invoke(null, "3"));
        for (String part : new String[] {"logicalRefreshMode", "refreshMode", "refreshStatus"}) {
            String name = table + "$" + Character.toUpperCase(part.charAt(0)) + part.substring(1);
            for (Object constant : Class.forName(name).getEnumConstants()) {
                if (constant.toString().equals(wanted.get(part).asText())) call(builder, part, constant);
            }
        }
        if (wanted.has("handler")) {
            call(builder, "refreshHandlerDescription", "the handler");
            call(builder, "serializedRefreshHandler", (Object) wanted.get("handler").asText().getBytes("UTF-8"));
        }
        return resolved(environment, "resolveCatalogMaterializedTable", call(builder, "build"));
    }

    static Object resolved(TableEnvironment environment, String method, Object object) throws Exception {
        return call(call(environment, "getCatalogManager"), method, object);
    }

    // --- the differences between versions -------------------------------------------------------

    static TableEnvironment environment() throws Exception {
        Object builder = EnvironmentSettings.class.getMethod("newInstance").invoke(null);
        if (has(builder, "useBlinkPlanner")) call(builder, "useBlinkPlanner");
        call(builder, "inStreamingMode");
        return TableEnvironment.create((EnvironmentSettings) call(builder, "build"));
    }

    static void execute(TableEnvironment environment, String sql) throws Exception {
        call(environment, has(environment, "executeSql") ? "executeSql" : "sqlUpdate", sql);
    }

    static boolean has(Object object, String name) {
        for (Method method : object.getClass().getMethods()) if (method.getName().equals(name)) return true;
        return false;
    }

    static Object call(Object object, String name, Object... arguments) throws Exception {
        for (Method method : object.getClass().getMethods()) {
            if (!method.getName().equals(name) || !fits(method.getParameterTypes(), arguments)) continue;
            method.setAccessible(true);
            return method.invoke(object, arguments);
        }
        throw new NoSuchMethodException(object.getClass() + "." + name);
    }

    static boolean fits(Class<?>[] parameters, Object[] arguments) {
        if (parameters.length != arguments.length) return false;
        for (int i = 0; i < parameters.length; i++) {
            boolean number = parameters[i] == long.class && arguments[i] instanceof Long;
            if (!number && !parameters[i].isInstance(arguments[i])) return false;
        }
        return true;
    }

    static List<String> strings(JsonNode node) {
        List<String> texts = new ArrayList<>();
        node.forEach(one -> texts.add(one.asText()));
        return texts;
    }

    static Map<String, String> options(JsonNode node) {
        Map<String, String> map = new HashMap<>();
        node.fields().forEachRemaining(entry -> map.put(entry.getKey(), entry.getValue().asText()));
        return map;
    }

    @SuppressWarnings("unchecked")
    static Map<String, String> cast(Object map) {
        return (Map<String, String>) map;
    }
}
