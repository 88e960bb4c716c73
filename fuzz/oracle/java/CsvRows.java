import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.connector.*;
import org.apache.flink.table.connector.source.*;
import org.apache.flink.table.data.*;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.Callable;

/** Rows of the tables of files: lines of csv, the numbers of an array separated by spaces, an empty cell is NULL. */
class CsvRows {
    static Object value(LogicalType t, String s) {
        if (s.isEmpty()) return null;
        switch (t.getTypeRoot()) {
            case INTEGER: return Integer.valueOf(s);
            case BIGINT: return Long.valueOf(s);
            case DOUBLE: return Double.valueOf(s);
            case VARCHAR: return StringData.fromString(s);
            case TIMESTAMP_WITHOUT_TIME_ZONE: return TimestampData.fromLocalDateTime(java.time.LocalDateTime.parse(s.replace(' ', 'T')));
            case ARRAY: {
                List<Object> items = new ArrayList<>();
                boolean single = ((ArrayType) t).getElementType().is(LogicalTypeRoot.FLOAT);
                for (String item : s.trim().split(" +")) items.add(item.equals("null") ? null : single ? (Object) Float.valueOf(item) : (Object) Double.valueOf(item));
                return new GenericArrayData(items.toArray());
            }
            default: throw new IllegalArgumentException(t.toString());
        }
    }
    /** The row of the cells from an index on. */
    static GenericRowData row(List<LogicalType> types, String[] cells, int first) {
        GenericRowData row = new GenericRowData(types.size());
        for (int i = 0; i < types.size(); i++) row.setField(i, value(types.get(i), cells[first + i]));
        return row;
    }
    static List<RowData> rows(String path, DataType type) throws Exception {
        List<RowData> r = new ArrayList<>();
        for (String line : Files.readAllLines(Paths.get(path))) r.add(row(type.getLogicalType().getChildren(), line.split(",", -1), 0));
        return r;
    }
    static ScanTableSource.ScanRuntimeProvider scan(Callable<List<RowData>> rows, TypeInformation<RowData> type) {
        return new DataStreamScanProvider() {
            public DataStream<RowData> produceDataStream(ProviderContext pc, StreamExecutionEnvironment env) {
                try { return env.fromData(rows.call(), type).setParallelism(1); } catch (Exception e) { throw new RuntimeException(e); }
            }
            public boolean isBounded() { return true; }
        };
    }
}
