import org.apache.flink.configuration.*;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.*;
import org.apache.flink.table.connector.source.search.*;
import org.apache.flink.table.data.*;
import org.apache.flink.table.factories.*;
import org.apache.flink.table.functions.*;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.*;
import java.util.*;

/** A table whose rows are searched by a vector: lines of csv in a file, the numbers of an array separated by spaces. */
public class VectorFactory implements DynamicTableSourceFactory {
    static final ConfigOption<String> PATH = ConfigOptions.key("path").stringType().noDefaultValue();
    static final ConfigOption<String> METRIC = ConfigOptions.key("metric").stringType().noDefaultValue();
    static final ConfigOption<Boolean> SCAN = ConfigOptions.key("scan").booleanType().defaultValue(true);
    static final ConfigOption<Boolean> ASYNC = ConfigOptions.key("async").booleanType().defaultValue(false);
    public String factoryIdentifier() { return "oracle-vectors"; }
    public Set<ConfigOption<?>> requiredOptions() { return Set.of(PATH, METRIC); }
    public Set<ConfigOption<?>> optionalOptions() { return Set.of(SCAN, ASYNC); }
    public DynamicTableSource createDynamicTableSource(Context c) {
        FactoryUtil.TableFactoryHelper h = FactoryUtil.createTableFactoryHelper(this, c);
        h.validate();
        String path = h.getOptions().get(PATH), metric = h.getOptions().get(METRIC);
        boolean a = h.getOptions().get(ASYNC);
        return h.getOptions().get(SCAN) ? new ScanSrc(path, metric, c.getPhysicalRowDataType(), a) : new Src(path, metric, c.getPhysicalRowDataType(), a);
    }
    static double[] numbers(ArrayData a, LogicalType element) {
        double[] r = new double[a.size()];
        for (int i = 0; i < r.length; i++) r[i] = element.is(LogicalTypeRoot.FLOAT) ? a.getFloat(i) : a.getDouble(i);
        return r;
    }
    static double score(String metric, double[] x, double[] y) {
        double dot = 0, xx = 0, yy = 0, dd = 0;
        for (int i = 0; i < x.length; i++) { dot += x[i] * y[i]; xx += x[i] * x[i]; yy += y[i] * y[i]; dd += (x[i] - y[i]) * (x[i] - y[i]); }
        switch (metric) {
            case "COSINE": return dot / (Math.sqrt(xx) * Math.sqrt(yy));
            case "DOT_PRODUCT": return dot;
            default: return Math.sqrt(dd);
        }
    }
    /** The nearest rows: rows without a vector, or with one of another length, are none. */
    public static class Finder extends VectorSearchFunction {
        final String path, metric; final DataType type; final int column; transient List<RowData> rows;
        Finder(String path, String metric, DataType type, int column) { this.path = path; this.metric = metric; this.type = type; this.column = column; }
        public Collection<RowData> vectorSearch(int k, RowData query) throws java.io.IOException {
            try { if (rows == null) rows = CsvRows.rows(path, type); } catch (Exception e) { throw new java.io.IOException(e); }
            if (query.isNullAt(0)) return List.of();
            List<LogicalType> types = type.getLogicalType().getChildren();
            LogicalType element = ((ArrayType) types.get(column)).getElementType();
            double[] x = numbers(query.getArray(0), element);
            List<RowData> r = new ArrayList<>();
            for (RowData row : rows) {
                if (row.isNullAt(column)) continue;
                double[] y = numbers(row.getArray(column), element);
                if (x.length != y.length) continue;
                GenericRowData made = new GenericRowData(types.size() + 1);
                for (int i = 0; i < types.size(); i++) made.setField(i, ((GenericRowData) row).getField(i));
                made.setField(types.size(), score(metric, x, y));
                r.add(made);
            }
            int n = types.size();
            Comparator<RowData> order = Comparator.comparingDouble(row -> row.getDouble(n));
            r.sort(metric.equals("EUCLIDEAN") ? order : order.reversed());
            return r.subList(0, Math.min(k, r.size()));
        }
    }
    public static class AsyncFinder extends AsyncVectorSearchFunction {
        final Finder finder;
        AsyncFinder(Finder finder) { this.finder = finder; }
        public java.util.concurrent.CompletableFuture<Collection<RowData>> asyncVectorSearch(int k, RowData query) {
            try { return java.util.concurrent.CompletableFuture.completedFuture(finder.vectorSearch(k, query)); } catch (java.io.IOException e) { throw new RuntimeException(e); }
        }
    }
    static class Src implements VectorSearchTableSource {
        final String path, metric; final DataType type; final boolean async;
        Src(String path, String metric, DataType type, boolean async) { this.path = path; this.metric = metric; this.type = type; this.async = async; }
        public DynamicTableSource copy() { return new Src(path, metric, type, async); }
        public String asSummaryString() { return "oracle-vectors"; }
        public VectorSearchRuntimeProvider getSearchRuntimeProvider(VectorSearchContext c) {
            Finder f = new Finder(path, metric, type, c.getSearchColumns()[0][0]);
            return async ? AsyncVectorSearchFunctionProvider.of(new AsyncFinder(f)) : VectorSearchFunctionProvider.of(f);
        }
    }
    static class ScanSrc extends Src implements ScanTableSource {
        ScanSrc(String path, String metric, DataType type, boolean async) { super(path, metric, type, async); }
        public ChangelogMode getChangelogMode() { return ChangelogMode.insertOnly(); }
        public DynamicTableSource copy() { return new ScanSrc(path, metric, type, async); }
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext ctx) {
            return CsvRows.scan(() -> CsvRows.rows(path, type), ctx.createTypeInformation(type));
        }
    }
}
