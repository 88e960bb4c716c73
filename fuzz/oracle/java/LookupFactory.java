import org.apache.flink.configuration.*;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.*;
import org.apache.flink.table.connector.source.lookup.*;
import org.apache.flink.table.data.*;
import org.apache.flink.table.factories.*;
import org.apache.flink.table.functions.*;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.*;
import java.util.*;

/** A table that is read whole or looked up by key: lines of csv in a file, its options those of lookups. */
public class LookupFactory implements DynamicTableSourceFactory {
    static final ConfigOption<String> PATH = ConfigOptions.key("path").stringType().noDefaultValue();
    static final ConfigOption<Boolean> ASYNC = ConfigOptions.key("async").booleanType().defaultValue(false);
    static final ConfigOption<Boolean> SCAN = ConfigOptions.key("scan").booleanType().defaultValue(false);
    public String factoryIdentifier() { return "oracle-lookup"; }
    public Set<ConfigOption<?>> requiredOptions() { return Set.of(PATH); }
    public Set<ConfigOption<?>> optionalOptions() { return Set.of(ASYNC, SCAN, LookupOptions.CACHE_TYPE, LookupOptions.MAX_RETRIES, LookupOptions.PARTIAL_CACHE_EXPIRE_AFTER_ACCESS, LookupOptions.PARTIAL_CACHE_EXPIRE_AFTER_WRITE, LookupOptions.PARTIAL_CACHE_CACHE_MISSING_KEY, LookupOptions.PARTIAL_CACHE_MAX_ROWS); }
    public DynamicTableSource createDynamicTableSource(Context c) {
        FactoryUtil.TableFactoryHelper h = FactoryUtil.createTableFactoryHelper(this, c);
        h.validate();
        DataType t = c.getPhysicalRowDataType();
        boolean a = h.getOptions().get(ASYNC);
        return h.getOptions().get(SCAN) ? new ScanSrc(h.getOptions().get(PATH), t, a) : new Src(h.getOptions().get(PATH), t, a);
    }
    static List<RowData> found(List<RowData> rows, List<LogicalType> types, int[] keys, RowData key) {
        List<RowData> r = new ArrayList<>();
        for (RowData row : rows) {
            boolean ok = true;
            for (int i = 0; i < keys.length && ok; i++) {
                Object x = RowData.createFieldGetter(types.get(keys[i]), keys[i]).getFieldOrNull(row), y = RowData.createFieldGetter(types.get(keys[i]), i).getFieldOrNull(key);
                ok = x != null && x.equals(y);
            }
            if (ok) r.add(row);
        }
        return r;
    }
    public static class Finder extends LookupFunction {
        final String path; final DataType type; final int[] keys; transient List<RowData> rows;
        Finder(String path, DataType type, int[] keys) { this.path = path; this.type = type; this.keys = keys; }
        public Collection<RowData> lookup(RowData key) throws java.io.IOException {
            try { if (rows == null) rows = CsvRows.rows(path, type); } catch (Exception e) { throw new java.io.IOException(e); }
            return found(rows, type.getLogicalType().getChildren(), keys, key);
        }
    }
    public static class AsyncFinder extends AsyncLookupFunction {
        final Finder finder;
        AsyncFinder(Finder finder) { this.finder = finder; }
        public java.util.concurrent.CompletableFuture<Collection<RowData>> asyncLookup(RowData key) {
            try { return java.util.concurrent.CompletableFuture.completedFuture(finder.lookup(key)); } catch (java.io.IOException e) { throw new RuntimeException(e); }
        }
    }
    static class Src implements LookupTableSource {
        final String path; final DataType type; final boolean async;
        Src(String path, DataType type, boolean async) { this.path = path; this.type = type; this.async = async; }
        public DynamicTableSource copy() { return new Src(path, type, async); }
        public String asSummaryString() { return "oracle-lookup"; }
        public LookupRuntimeProvider getLookupRuntimeProvider(LookupContext c) {
            int[] keys = new int[c.getKeys().length];
            for (int i = 0; i < keys.length; i++) keys[i] = c.getKeys()[i][0];
            Finder f = new Finder(path, type, keys);
            return async ? AsyncLookupFunctionProvider.of(new AsyncFinder(f)) : LookupFunctionProvider.of(f);
        }
    }
    static class ScanSrc extends Src implements ScanTableSource {
        ScanSrc(String path, DataType type, boolean async) { super(path, type, async); }
        public ChangelogMode getChangelogMode() { return ChangelogMode.insertOnly(); }
        public DynamicTableSource copy() { return new ScanSrc(path, type, async); }
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext ctx) {
            return CsvRows.scan(() -> CsvRows.rows(path, type), ctx.createTypeInformation(type));
        }
    }
}
