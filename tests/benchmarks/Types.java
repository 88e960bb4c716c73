import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;

/**
 * Times Flink itself at what bench_types.py measures: types, given as arguments, are parsed and
 * printed. Prints the microseconds of the first time, of the thousandth and of the shortest of all.
 */
public class Types {
    static int length;

    public static void main(String[] types) {
        ClassLoader loader = Types.class.getClassLoader();
        long until = System.nanoTime() + 5_000_000_000L;
        long first = 0, thousandth = 0, shortest = Long.MAX_VALUE;
        for (int round = 1; System.nanoTime() < until; round++) {
            long started = System.nanoTime();
            for (String text : types) {
                LogicalType type = LogicalTypeParser.parse(text, loader);
                length += type.asSerializableString().length();
            }
            long took = System.nanoTime() - started;
            if (round == 1) first = took;
            if (round == 1000) thousandth = took;
            shortest = Math.min(shortest, took);
        }
        if (length == 0) throw new IllegalStateException();
        System.out.println(first / 1000.0 + " " + thousandth / 1000.0 + " " + shortest / 1000.0);
    }
}
