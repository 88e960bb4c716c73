import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;
import org.apache.flink.table.catalog.CatalogManager;
import org.apache.flink.table.catalog.CatalogPropertiesUtil;
import org.apache.flink.table.catalog.CatalogTable;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.expressions.DefaultSqlFactory;

/**
 * Times Flink itself at what bench_property_map.py measures. Arguments: columns, then their types.
 * Prints a line for each task: its name and the shortest of many warm runs in microseconds of
 * processor time.
 */
public class PropertyMaps {
    interface Task { Object run() throws Exception; }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        Schema.Builder builder = Schema.newBuilder();
        for (int i = 0; i < count; i++) {
            builder.column("column_" + i, arguments[1 + i % (arguments.length - 1)]);
        }
        Schema schema = builder.build();
        TableEnvironment environment = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
        CatalogManager manager = ((TableEnvironmentInternal) environment).getCatalogManager();
        Map<String, String> options = new HashMap<>(Map.of("connector", "kafka"));
        ResolvedCatalogTable table = manager.resolveCatalogTable(
            CatalogTable.newBuilder().schema(schema).options(options).build());
        Map<String, String> properties =
            CatalogPropertiesUtil.serializeCatalogTable(table, DefaultSqlFactory.INSTANCE);
        time("encode", () -> CatalogPropertiesUtil.serializeCatalogTable(table, DefaultSqlFactory.INSTANCE));
        time("decode", () -> CatalogPropertiesUtil.deserializeCatalogTable(properties));
        time("resolve", () -> manager.getSchemaResolver().resolve(schema));
        System.exit(0);
    }

    static void time(String name, Task task) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long shortest = Long.MAX_VALUE;
        long until = threads.getCurrentThreadCpuTime() + 5_000_000_000L;
        while (threads.getCurrentThreadCpuTime() < until) {
            long started = threads.getCurrentThreadCpuTime();
            Object result = task.run();
            if (result == null) throw new IllegalStateException();
            shortest = Math.min(shortest, threads.getCurrentThreadCpuTime() - started);
        }
        System.out.println(name + " " + shortest / 1000.0);
    }
}
