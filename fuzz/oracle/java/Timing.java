import org.apache.flink.table.api.*;
import org.apache.flink.table.catalog.*;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.*;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.*;
import java.io.*;

/**
 * JSON-lines in, JSON-lines out: how long Flink takes to resolve a schema, without the pipe around it.
 *
 * A question holds builder calls as Oracle has them ("schema"), a "mode", and how often to do it ("rounds");
 * the answer is the nanoseconds of every round.
 */
public class Timing {
    public static void main(String[] a) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8");
        System.setOut(System.err);
        String line;
        while ((line = in.readLine()) != null) {
            JsonNode q = Oracle.M.readTree(line);
            TableEnvironment t = Oracle.env(q.path("mode").asText("streaming"));
            Schema schema = Oracle.schema(q.get("schema"));
            ObjectNode r = Oracle.M.createObjectNode();
            ArrayNode nanos = r.putArray("nanos");
            for (int i = 0; i < q.path("rounds").asInt(1); i++) {
                long started = System.nanoTime();
                schema.resolve(Oracle.cm(t).getSchemaResolver());
                nanos.add(System.nanoTime() - started);
            }
            out.println(Oracle.M.writeValueAsString(r));
        }
    }
}
