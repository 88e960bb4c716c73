import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.sink2.*;
import org.apache.flink.configuration.*;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.connector.*;
import org.apache.flink.table.connector.sink.*;
import org.apache.flink.table.connector.sink.abilities.*;
import org.apache.flink.table.connector.source.*;
import org.apache.flink.table.data.*;
import org.apache.flink.table.factories.*;
import org.apache.flink.table.runtime.typeutils.InternalSerializers;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.*;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;

/** Tables in this JVM whose rows DELETE, UPDATE and TRUNCATE change; INSERT replaces rows by the key. */
public class ChangedRowsFactory implements DynamicTableSourceFactory, DynamicTableSinkFactory {
    static final Map<String, List<RowData>> ROWS = new ConcurrentHashMap<>();
    static final ConfigOption<String> KEY = ConfigOptions.key("data").stringType().noDefaultValue();
    static final ConfigOption<Boolean> UPSERT = ConfigOptions.key("upsert").booleanType().defaultValue(false);
    public String factoryIdentifier() { return "oracle-changed"; }
    public Set<ConfigOption<?>> requiredOptions() { return Set.of(KEY); }
    public Set<ConfigOption<?>> optionalOptions() { return Set.of(UPSERT); }
    public DynamicTableSource createDynamicTableSource(Context c) {
        return new Src(FactoryUtil.createTableFactoryHelper(this, c).getOptions().get(KEY), c.getPhysicalRowDataType());
    }
    public DynamicTableSink createDynamicTableSink(Context c) {
        ReadableConfig o = FactoryUtil.createTableFactoryHelper(this, c).getOptions();
        return new Snk(o.get(KEY), c.getPhysicalRowDataType(), o.get(UPSERT), c.getPrimaryKeyIndexes());
    }
    static class Src implements ScanTableSource {
        final String key; final DataType type;
        Src(String key, DataType type) { this.key = key; this.type = type; }
        public ChangelogMode getChangelogMode() { return ChangelogMode.insertOnly(); }
        public DynamicTableSource copy() { return new Src(key, type); }
        public String asSummaryString() { return "oracle-changed"; }
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext ctx) {
            TypeInformation<RowData> ti = ctx.createTypeInformation(type);
            return new DataStreamScanProvider() {
                public DataStream<RowData> produceDataStream(ProviderContext pc, StreamExecutionEnvironment env) {
                    List<RowData> rows = ROWS.getOrDefault(key, List.of());
                    if (rows.isEmpty()) {
                        rows = List.of(new GenericRowData(((RowType) type.getLogicalType()).getFieldCount()));
                        return env.fromData(rows, ti).setParallelism(1).filter(row -> false);
                    }
                    return env.fromData(rows, ti).setParallelism(1);
                }
                public boolean isBounded() { return true; }
            };
        }
    }
    static class Snk implements DynamicTableSink, SupportsRowLevelDelete, SupportsRowLevelUpdate, SupportsTruncate {
        final String key; final DataType type; final boolean upsert; final int[] primary; boolean replaces, deletes;
        Snk(String key, DataType type, boolean upsert, int[] primary) { this.key = key; this.type = type; this.upsert = upsert; this.primary = primary; }
        public ChangelogMode getChangelogMode(ChangelogMode requested) { return deletes ? ChangelogMode.all() : upsert ? ChangelogMode.upsert() : ChangelogMode.insertOnly(); }
        public DynamicTableSink copy() { Snk s = new Snk(key, type, upsert, primary); s.replaces = replaces; s.deletes = deletes; return s; }
        public String asSummaryString() { return "oracle-changed"; }
        public void executeTruncation() { ROWS.put(key, List.of()); }
        public RowLevelDeleteInfo applyRowLevelDelete(org.apache.flink.table.connector.RowLevelModificationScanContext c) {
            deletes = true;
            return new RowLevelDeleteInfo() { public SupportsRowLevelDelete.RowLevelDeleteMode getRowLevelDeleteMode() { return SupportsRowLevelDelete.RowLevelDeleteMode.DELETED_ROWS; } };
        }
        public RowLevelUpdateInfo applyRowLevelUpdate(List<Column> columns, org.apache.flink.table.connector.RowLevelModificationScanContext c) {
            replaces = true;
            return new RowLevelUpdateInfo() { public SupportsRowLevelUpdate.RowLevelUpdateMode getRowLevelUpdateMode() { return SupportsRowLevelUpdate.RowLevelUpdateMode.ALL_ROWS; } };
        }
        public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
            return SinkV2Provider.of(new Writing(key, replaces, upsert, primary, (RowType) type.getLogicalType()), 1);
        }
    }
    static class Writing implements Sink<RowData> {
        final String key; final boolean replaces, upsert; final int[] primary; final RowType type;
        Writing(String key, boolean replaces, boolean upsert, int[] primary, RowType type) { this.key = key; this.replaces = replaces; this.upsert = upsert; this.primary = primary; this.type = type; }
        public SinkWriter<RowData> createWriter(WriterInitContext context) {
            List<RowData> rows = replaces ? new ArrayList<>() : new ArrayList<>(ROWS.getOrDefault(key, List.of()));
            var serializer = InternalSerializers.create(type);
            return new SinkWriter<RowData>() {
                public void write(RowData row, Context c) {
                    RowData copy = (RowData) serializer.copy(row);
                    if (row.getRowKind() == org.apache.flink.types.RowKind.DELETE) { copy.setRowKind(org.apache.flink.types.RowKind.INSERT); if (upsert) rows.removeIf(other -> same(other, copy)); else rows.remove(rows.indexOf(rows.stream().filter(other -> equal(other, copy)).findFirst().get())); return; }
                    if (upsert) rows.removeIf(other -> same(other, copy));
                    if (row.getRowKind() != org.apache.flink.types.RowKind.DELETE) { copy.setRowKind(org.apache.flink.types.RowKind.INSERT); rows.add(copy); }
                }
                boolean equal(RowData a, RowData b) {
                    for (int i = 0; i < type.getFieldCount(); i++) {
                        RowData.FieldGetter g = RowData.createFieldGetter(type.getTypeAt(i), i);
                        if (!Objects.equals(g.getFieldOrNull(a), g.getFieldOrNull(b))) return false;
                    }
                    return true;
                }
                boolean same(RowData a, RowData b) {
                    for (int i : primary) {
                        RowData.FieldGetter g = RowData.createFieldGetter(type.getTypeAt(i), i);
                        if (!Objects.equals(g.getFieldOrNull(a), g.getFieldOrNull(b))) return false;
                    }
                    return true;
                }
                public void flush(boolean end) { if (end) ROWS.put(key, new ArrayList<>(rows)); }
                public void close() {}
            };
        }
    }
}
