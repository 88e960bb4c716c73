import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;
import org.apache.flink.table.catalog.CatalogManager;
import org.apache.flink.table.catalog.CatalogPropertiesUtil;
import org.apache.flink.table.catalog.CatalogTable;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.delegation.Parser;
import org.apache.flink.table.expressions.DefaultSqlFactory;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;

/**
 * Runs what core.py measures in Flink. The argument is a file with the inputs, each a kind and a
 * text in a line. For each line of standard input, a task and seconds, it prints the shortest and
 * the median processor time of a run in microseconds.
 */
public class Flink {
    interface Task { Object run() throws Exception; }

    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static final Map<String, Task> TASKS = new LinkedHashMap<>();

    public static void main(String[] arguments) throws Exception {
        Map<String, List<String>> given = new HashMap<>();
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String[] parts = line.split("\t", 2);
            given.computeIfAbsent(parts[0], kind -> new ArrayList<>()).add(parts[1]);
        }
        TableEnvironmentInternal environment = (TableEnvironmentInternal)
            TableEnvironment.create(EnvironmentSettings.inStreamingMode());
        CatalogManager manager = environment.getCatalogManager();
        Parser parser = environment.getParser();
        tables(manager, "columns", schema(given.get("column"), List.of()));
        tables(manager, "computed", schema(given.get("base"), given.get("computed")));
        List<String> types = given.get("type");
        ClassLoader loader = Flink.class.getClassLoader();
        List<LogicalType> parsed = new ArrayList<>();
        for (String type : types) parsed.add(LogicalTypeParser.parse(type, loader));
        TASKS.put("parse types", () -> {
            int length = 0;
            for (String type : types) length += LogicalTypeParser.parse(type, loader).getChildren().size();
            return length;
        });
        TASKS.put("print types", () -> {
            int length = 0;
            for (LogicalType type : parsed) length += type.asSerializableString().length();
            return length;
        });
        RowType row = (RowType) manager.getSchemaResolver().resolve(schema(given.get("base"), List.of()))
            .toPhysicalRowDataType().getLogicalType();
        List<String> expressions = given.get("expression");
        TASKS.put("parse and type expressions", () -> {
            Object last = null;
            for (String one : expressions) last = parser.parseSqlExpression(one, row, null);
            return last;
        });
        String statement = given.get("statement").get(0);
        TASKS.put("validate statement", () -> parser.parse(statement));
        Object syntax = syntax(parser);
        TASKS.put("parse statement", one(syntax, "parse", statement));
        TASKS.put("parse script", one(syntax, "parseSqlList", String.join("\n", given.get("script"))));
        Method expression = syntax.getClass().getMethod("parseExpression", String.class);
        TASKS.put("parse expressions", () -> {
            Object last = null;
            for (String one : expressions) last = expression.invoke(syntax, one);
            return last;
        });
        List<String> columns = given.get("column");
        TASKS.put("build columns", () -> schema(columns, List.of()));
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] parts = line.split("\t");
            System.out.println(time(TASKS.get(parts[0]), Double.parseDouble(parts[1])));
        }
        System.exit(0);
    }

    /** The planner's parser of syntax, which its class loader hides. */
    static Object syntax(Parser parser) throws Exception {
        Field field = parser.getClass().getDeclaredField("calciteParserSupplier");
        field.setAccessible(true);
        return ((Supplier<?>) field.get(parser)).get();
    }

    static Task one(Object syntax, String method, String text) throws Exception {
        Method parse = syntax.getClass().getMethod(method, String.class);
        return () -> parse.invoke(syntax, text);
    }

    static Schema schema(List<String> columns, List<String> more) {
        Schema.Builder builder = Schema.newBuilder();
        for (String column : columns) {
            String[] parts = column.split(" ", 2);
            builder.column(parts[0], parts[1]);
        }
        for (String column : more) {
            String[] parts = column.split(" ", 2);
            builder.columnByExpression(parts[0], parts[1]);
        }
        if (!more.isEmpty()) builder.watermark("ts", "ts - INTERVAL '5' SECOND").primaryKey("id");
        return builder.build();
    }

    static void tables(CatalogManager manager, String name, Schema schema) throws Exception {
        Map<String, String> options = new HashMap<>(Map.of("connector", "kafka"));
        ResolvedCatalogTable table = manager.resolveCatalogTable(
            CatalogTable.newBuilder().schema(schema).options(options).build());
        Map<String, String> properties =
            CatalogPropertiesUtil.serializeCatalogTable(table, DefaultSqlFactory.INSTANCE);
        TASKS.put("resolve " + name, () -> manager.getSchemaResolver().resolve(schema));
        TASKS.put("encode " + name,
            () -> CatalogPropertiesUtil.serializeCatalogTable(table, DefaultSqlFactory.INSTANCE));
        TASKS.put("decode " + name, () -> CatalogPropertiesUtil.deserializeCatalogTable(properties));
        TASKS.put("decode and resolve " + name, () -> manager.resolveCatalogTable(
            CatalogPropertiesUtil.deserializeCatalogTable(properties)));
    }

    static String time(Task task, double seconds) throws Exception {
        long until = THREADS.getCurrentThreadCpuTime() + (long) (seconds * 1e9);
        int runs = 1;
        List<Double> took = new ArrayList<>();
        while (THREADS.getCurrentThreadCpuTime() < until) {
            long started = THREADS.getCurrentThreadCpuTime();
            for (int i = 0; i < runs; i++) {
                if (task.run() == null) throw new IllegalStateException();
            }
            long passed = THREADS.getCurrentThreadCpuTime() - started;
            took.add(passed / 1000.0 / runs);
            if (passed < 100_000) runs *= 2;
        }
        double[] sorted = took.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted[0] + " " + sorted[sorted.length / 2];
    }
}
