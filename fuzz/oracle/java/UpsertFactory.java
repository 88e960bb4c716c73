import org.apache.flink.configuration.*;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.*;
import org.apache.flink.table.data.*;
import org.apache.flink.table.factories.*;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.types.RowKind;
import java.nio.file.*;
import java.util.*;

/** A table of changes by key, without rows before updates, and deletions of only the key: lines of csv whose first cell is the kind. */
public class UpsertFactory implements DynamicTableSourceFactory {
    static final ConfigOption<String> PATH = ConfigOptions.key("path").stringType().noDefaultValue();
    public String factoryIdentifier() { return "oracle-upsert"; }
    public Set<ConfigOption<?>> requiredOptions() { return Set.of(PATH); }
    public Set<ConfigOption<?>> optionalOptions() { return Set.of(); }
    public DynamicTableSource createDynamicTableSource(Context c) {
        return new Src(FactoryUtil.createTableFactoryHelper(this, c).getOptions().get(PATH), c.getPhysicalRowDataType());
    }
    static class Src implements ScanTableSource {
        final String path; final DataType type;
        Src(String path, DataType type) { this.path = path; this.type = type; }
        public ChangelogMode getChangelogMode() { return ChangelogMode.upsert(true); }
        public DynamicTableSource copy() { return new Src(path, type); }
        public String asSummaryString() { return "oracle-upsert"; }
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext ctx) {
            return CsvRows.scan(this::rows, ctx.createTypeInformation(type));
        }
        List<RowData> rows() throws Exception {
            List<LogicalType> types = type.getLogicalType().getChildren(); List<RowData> r = new ArrayList<>();
            for (String line : Files.readAllLines(Paths.get(path))) {
                String[] cells = line.split(",", -1); GenericRowData row = CsvRows.row(types, cells, 1);
                for (RowKind kind : RowKind.values()) if (kind.shortString().equals(cells[0])) row.setRowKind(kind);
                r.add(row);
            }
            return r;
        }
    }
}
