import org.apache.flink.configuration.*;
import org.apache.flink.table.factories.*;
import org.apache.flink.table.functions.*;
import org.apache.flink.table.ml.*;
import java.util.*;

/** A model that answers nothing; never executed. */
public class DummyModelFactory implements ModelProviderFactory {
    public ModelProvider createModelProvider(Context c) { return new Provider(); }
    public String factoryIdentifier() { return "dummy"; }
    public Set<ConfigOption<?>> requiredOptions() { return new HashSet<>(); }
    public Set<ConfigOption<?>> optionalOptions() { return new HashSet<>(); }
    static class Provider implements PredictRuntimeProvider, AsyncPredictRuntimeProvider {
        public PredictFunction createPredictFunction(ModelProvider.Context c) { return null; }
        public AsyncPredictFunction createAsyncPredictFunction(ModelProvider.Context c) { return null; }
        public ModelProvider copy() { return this; }
    }
}
